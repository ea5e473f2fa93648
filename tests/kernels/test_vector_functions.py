"""Sine, cosine and hyperbolic tangent of the vector kernels: accuracy over the range, the C library beyond it."""

import functools

import casadi as ca
import numpy as np
import pytest

from flexapod.kernels.kernel import Kernel
from flexapod.kernels.llvm.functions import HALF_PI, LN2, SINE_RANGE
from flexapod.kernels.tape.program import Program
from support.plain import compile_kernel

TWO_UNITS = 4e-16
"""Relative: two units in the last place."""
FEW_UNITS = 1e-15
"""Relative: the C library's functions, each with an error of its own."""

WORST = {"sin": 0.8, "cos": 0.8, "tanh": 2.5}
"""Units in the last place against long doubles, which are exact to 5e-4 of one; found 0.78, 0.76 and 2.4 on 4e5 numbers each."""

SAMPLES = 100_000


@functools.cache
def kernel() -> Kernel:
    b = Program("functions")
    x = b.input("x", ())
    for name in WORST:
        b.output(name, getattr(ca, name)(x), shape=())
    return compile_kernel(b, backend="llvm")


def errors(x: np.ndarray) -> dict[str, float]:
    """Largest error of each function in units in the last place."""
    found, exact = kernel().batch({"x": x}).outputs, x.astype(np.longdouble)
    result = {}
    for name in WORST:
        reference = getattr(np, name)(exact)
        unit = np.spacing(np.abs(reference).astype(np.float64))
        result[name] = float((np.abs(found[name] - reference) / unit).max())
    return result


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="long doubles are no wider than doubles here")
@pytest.mark.parametrize("largest", [1.0, 10.0, 1e3, SINE_RANGE])
def test_accuracy(largest: float) -> None:
    x = np.random.default_rng(1).uniform(-largest, largest, SAMPLES)
    assert all(error <= WORST[name] for name, error in errors(x).items())


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="long doubles are no wider than doubles here")
def test_small_numbers() -> None:
    x = 10.0 ** np.random.default_rng(2).uniform(-300, 0, SAMPLES)
    assert all(error <= WORST[name] for name, error in errors(x).items())


def test_nearest_to_multiples_of_half_pi() -> None:
    """What is left of x there are the digits of pi beyond double precision: sin(fl(k pi)) = k pi - fl(k pi) up to sign."""
    mpmath = pytest.importorskip("mpmath")
    mpmath.mp.dps = 60
    k = np.random.default_rng(3).integers(1, 300_000, 500)
    x = k * np.pi
    found = kernel().batch({"x": x}).outputs["sin"]
    exact = np.array([float(mpmath.sin(mpmath.mpf(float(v)))) for v in x])
    assert np.abs(found / exact - 1).max() < TWO_UNITS


def test_beyond_the_range_and_special_values() -> None:
    """The C library's values, also where only one of four samples is beyond the range; infinities and NaN are statuses."""
    x = np.array([1e7, 0.5, -1e22, 3.0, 1e300, 0.1, 30.0, -800.0, 0.0])
    found = kernel().batch({"x": x}).outputs
    assert np.allclose(found["sin"], np.sin(x), rtol=FEW_UNITS, atol=0)
    assert np.allclose(found["cos"], np.cos(x), rtol=FEW_UNITS, atol=0)
    assert np.allclose(found["tanh"], np.tanh(x), rtol=FEW_UNITS, atol=0)
    assert kernel().batch({"x": np.array([np.inf, np.nan, 1.0])}).status.tolist()[2] == 0
    assert all(kernel().batch({"x": np.array([np.inf, np.nan, 1.0])}).status[:2] != 0)


def test_parts_of_the_constants_add_up() -> None:
    assert sum(HALF_PI) == np.pi / 2
    assert sum(LN2) == np.log(2)
    assert all(float(part * 2**k).is_integer() for part, k in zip(HALF_PI[:2], (33, 66), strict=True))
