"""Interval backend: every operation of the tape is bounded from outside, in every backend."""

from __future__ import annotations

from fractions import Fraction

import casadi as ca
import numpy as np
import pytest
from kernel_programs import PARAMETERS, functions, map_looped, scan, selections, straight_line

from flexapod.kernels.errors import ProgramError
from flexapod.kernels.intervals.backend import IntervalKernel, interval_tape
from flexapod.kernels.numpy_backend import evaluate
from flexapod.kernels.packing import kernel_from_tape
from flexapod.kernels.tape.graph import ARITY, Graph
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.signature import Input, Output, Signature
from flexapod.kernels.tape.tape import Tape
from support.plain import compile_kernel

BACKENDS = ["llvm", "numpy"]
WIDTHS = (0.0, 1e-12, 1e-3, 0.3, 3.0)


def tape_of(op: str) -> Tape:
    """One operation on inputs x0, x1, ..."""
    arity = ARITY[op]
    graph = Graph(arity=arity, ops=["arg"] * arity + [op], args=[(k,) for k in range(arity)] + [tuple(range(0, 2 * arity, 2))])
    graph.values[len(graph.ops)] = 0.0
    graph.ops.append("const")
    graph.args.append(())
    graph.outputs = [2 * arity, 2 * arity + 2]
    names = tuple(Input(name=f"x{k}") for k in range(arity))
    return Tape(
        signature=Signature(name=op, inputs=names, parameters=(), outputs=(Output(name="y"),), statuses={}),
        zeros=(), setup=Graph(arity=0), main=graph,
    )  # fmt: skip


def bounds_of(op: str, low: list[np.ndarray], high: list[np.ndarray], backend: str):
    kernel = kernel_from_tape(interval_tape(tape_of(op)), backend)[0]
    limit = np.finfo(float).max
    given = {f"x{k}_low": np.maximum(values, -limit) for k, values in enumerate(low)}
    given |= {f"x{k}_high": np.minimum(values, limit) for k, values in enumerate(high)}
    out = kernel.batch(given).outputs
    lower, upper = out["y_low"], out["y_high"]
    return np.where(lower <= -limit, -np.inf, lower), np.where(upper >= limit, np.inf, upper), out["defined"]


def random_boxes(rng: np.random.Generator, arity: int, count: int):
    """Boxes of all sizes about numbers of all sizes, zeros and equal ends among them; and a point in each."""
    low, high, at = [], [], []
    for _ in range(arity):
        middle = rng.normal(size=count) * 10.0 ** rng.integers(-3, 3, count)
        middle[rng.random(count) < 0.1] = 0.0
        width = rng.choice(WIDTHS, count) * np.abs(rng.normal(size=count))
        a, b = middle - width * rng.random(count), middle + width * rng.random(count)
        low.append(a)
        high.append(b)
        at.append(np.clip(a + (b - a) * rng.choice([0.0, 1.0, rng.random()], count), a, b))
    return low, high, at


def contradictions(op: str, count: int, seed: int, backend: str) -> int:
    rng = np.random.default_rng([seed, sum(map(ord, op))])
    low, high, at = random_boxes(rng, ARITY[op], count)
    lower, upper, _ = bounds_of(op, low, high, backend)
    with np.errstate(all="ignore"):
        value = np.asarray(evaluate(tape_of(op).main, at)[0], dtype=float)
    return int(np.sum(np.isfinite(value) & ~((lower <= value) & (value <= upper))))


@pytest.mark.parametrize("op", sorted(ARITY))
def test_points_lie_in_their_bounds(op):
    assert contradictions(op, 5_000, 1, "llvm") == 0
    assert contradictions(op, 1_000, 2, "numpy") == 0


@pytest.mark.full
@pytest.mark.parametrize("op", sorted(ARITY))
def test_a_million_points_lie_in_their_bounds(op):
    assert sum(contradictions(op, 100_000, seed, "llvm") for seed in range(10)) == 0


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("op", ["add", "mul", "div", "sqrt"])
def test_bounds_hold_the_exact_value_where_rounding_is_worst(op, backend):
    """Exact halves between two doubles, numbers next to powers of two, and numbers that underflow: by exact fractions."""
    rng = np.random.default_rng(3)
    n = 3000
    a = np.ldexp(1.0 + rng.integers(0, 2**52, n) / 2**52, rng.integers(-30, 30, n)) * rng.choice([-1, 1], n)
    b = np.ldexp(1.0 + rng.integers(0, 2**52, n) / 2**52, rng.integers(-30, 30, n)) * rng.choice([-1, 1], n)
    a[:500] = rng.integers(2**52, 2**53, 500).astype(float)
    b[:500] = 0.5  # sums that are exact halves
    a[500:700], b[500:700] = 1.0 + 2.0**-52 * rng.integers(0, 9, 200), 1.0 - 2.0**-53 * rng.integers(0, 9, 200)
    a[700:900], b[700:900] = 1e-200 * a[700:900], 1e-120 * b[700:900]  # products underflow
    inputs = [np.abs(a)] if op == "sqrt" else [a, b]
    lower, upper, _ = bounds_of(op, inputs, inputs, backend)
    for i in range(n):
        x = [Fraction(float(v[i])) for v in inputs]
        if op == "sqrt":
            assert lower[i] >= 0
            assert Fraction(lower[i]) ** 2 <= x[0] <= Fraction(upper[i]) ** 2
            continue
        exact = {"add": x[0] + x[-1], "mul": x[0] * x[-1], "div": x[0] / x[-1]}[op]
        assert Fraction(lower[i]) <= exact <= Fraction(upper[i])
    width = (upper - lower) / np.maximum(np.abs(upper), 1e-290)
    assert width.max() < 8 * 2.0**-52, "bounds of points are a few roundings wide"


@pytest.mark.parametrize("backend", BACKENDS)
def test_infinities_and_division_by_zero(backend):
    inf = np.inf

    def one(op, *pairs):
        low, high = [np.array([p[0]], float) for p in pairs], [np.array([p[1]], float) for p in pairs]
        lower, upper, defined = bounds_of(op, low, high, backend)
        return lower[0], upper[0], bool(defined[0])

    assert one("div", (1, 2), (-1, 1)) == (-inf, inf, False)
    assert one("div", (1, 2), (0, 1)) == (-inf, inf, False)
    low, high, defined = one("div", (1, 2), (4, 8))
    assert (low, high, defined) == (pytest.approx(0.125), pytest.approx(0.5), True)
    assert one("add", (-inf, 1), (2, 3))[0] == -inf
    assert one("mul", (-inf, inf), (1e-300, 1e-300))[:2] == (-inf, inf)
    assert one("mul", (0, 1), (2, inf))[1] == inf
    assert one("mul", (0, 1), (2, inf))[0] <= 0
    assert one("mul", (1e200, 1e200), (1e200, 1e200))[1] == inf  # overflow
    assert one("sqrt", (-1, 4)) == (0.0, pytest.approx(2.0), False)
    assert one("sqrt", (4, inf))[1] == inf
    assert one("sin", (0, 100))[:2] == (-1.0, 1.0)
    assert one("cos", (-0.1, 0.1))[1] == 1.0
    assert one("atan2", (-0.1, 0.1), (-1, -1))[1] == pytest.approx(np.pi)  # the cut
    assert one("log", (-1, 1))[2] is False


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("make", [straight_line, functions, selections, map_looped, scan])
def test_programs_with_parameters_loops_and_checks_are_bounded(make, backend):
    program = make()
    kernel = compile_kernel(program, backend=backend)
    rng = np.random.default_rng(4)
    n = 400
    at = {i.name: rng.normal(size=(n, *i.shape)) for i in kernel.signature.inputs}
    low = {k: v - 0.05 * rng.random(v.shape) for k, v in at.items()}
    high = {k: v + 0.05 * rng.random(v.shape) for k, v in at.items()}
    found = IntervalKernel.of(kernel, backend).batch(low, high, PARAMETERS)
    points = kernel.batch(at, PARAMETERS)
    for name, values in points.outputs.items():
        good = np.isfinite(values)
        assert np.all((found.low[name] <= values)[good] & (values <= found.high[name])[good]), name
    assert np.all(points.status[found.sound] == 0)
    assert np.all(points.status[found.failing] != 0)
    assert found.sound.any() or make is selections  # where a root of the branch not taken counts as undefined


def test_an_iteration_is_refused_with_the_reason():
    b = Program("root")
    x = b.input("x")
    (y,), _, _ = b.iterate(lambda _, y: ([(y + x / y) / 2], ca.fabs(y * y - x)), start=[ca.SX(1)], limit=9, tolerance=1e-9)
    b.output("y", y)
    with pytest.raises(ProgramError, match="an iteration has no bounds of its own"):
        IntervalKernel.of(compile_kernel(b))
