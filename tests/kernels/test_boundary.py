"""What does not fit the signature is refused in words that name the input, what was expected and what came."""

from __future__ import annotations

import numpy as np
import pytest

from flexapod.kernels.errors import BackendError, KernelInputError
from flexapod.kernels.kernel import choose_backend
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.signature import Parameter
from support.plain import compile_kernel


@pytest.fixture(scope="module")
def kernel():
    b = Program("push")
    p = b.parameters([Parameter(name="mass"), Parameter(name="offset")])
    x, s = b.input("position", (3,)), b.input("scale")
    b.output("force", x * s * p[0] + p[1], (3,))
    return compile_kernel(b, zeros=["offset"])


GOOD = {"position": np.ones((2, 3)), "scale": np.ones(2)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"positoin": np.ones((2, 3))}, "push: unknown input 'positoin'; did you mean 'position'? (inputs: position, scale)"),
        ({"xyz": 1}, "push: unknown input 'xyz' (inputs: position, scale)"),
        ({"scale": None}, "push: missing input 'scale'"),
        ({"position": np.ones((2, 4))}, "push: input 'position': expected shape (n, 3), got (2, 4)"),
        ({"position": np.ones(3)}, "push: input 'position': expected shape (n, 3), got (3,)"),
        ({"scale": np.ones(3)}, "push: input 'scale': 3 samples, but 'position' has 2"),
        ({"scale": np.ones(2) * 1j}, "push: input 'scale': expected real numbers (float64), got dtype complex128"),
        ({"scale": np.array(["a", "b"])}, "push: input 'scale': expected real numbers (float64), got dtype <U1"),
        ({"scale": np.array([1, None])}, "push: input 'scale': expected real numbers (float64), got dtype object"),
        ({"scale": [True, False]}, "push: input 'scale': expected real numbers (float64), got dtype bool"),
        ({"scale": [1, [2]]}, "push: input 'scale': expected numbers; the rows have different lengths"),
        ({"scale": [2**60 + 1, 0]}, "push: input 'scale': whole numbers beyond 2^53 are not exact in float64"),
    ],
)
def test_wrong_inputs(kernel, change, message):
    given = {name: value for name, value in (GOOD | change).items() if value is not None}
    with pytest.raises(KernelInputError) as caught:
        kernel.batch(given, [2.0, 0.0])
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (None, "push: parameters: missing, expected 2 values"),
        ([1.0], "push: parameters: expected shape (2,), got (1,)"),
        (np.ones((3, 2)), "push: parameters: expected shape (2,) or (2, 2), got (3, 2)"),
        ([np.nan, 0], "push: parameters: not a finite number: 'mass'"),
        ([1.0, 0.5], "push: parameters: this kernel is specialised on zeros, but 'offset' is not zero"),
        (["1", "2"], "push: parameters: expected real numbers (float64), got dtype <U1"),
    ],
)
def test_wrong_parameters(kernel, parameters, message):
    with pytest.raises(KernelInputError) as caught:
        kernel.batch(GOOD, parameters)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ({}, "push: out must hold force, got "),
        ({"force": np.ones((2, 3), dtype=np.float32)}, "push: out 'force': expected a float64 array"),
        ({"force": np.ones((3, 3))}, "push: out 'force': expected shape (2, 3), got (3, 3)"),
        ({"force": np.ones((2, 6))[:, ::2]}, "push: out 'force': must be C-contiguous and writeable"),
    ],
)
def test_wrong_out(kernel, out, message):
    with pytest.raises(KernelInputError) as caught:
        kernel.batch(GOOD, [1.0, 0.0], out=out)
    assert str(caught.value) == message


def test_one_sample_has_no_batch_axis(kernel):
    with pytest.raises(KernelInputError, match=r"push: input 'position': expected shape \(3,\), got \(2, 3\)"):
        kernel(**GOOD, parameters=[1.0, 0.0])


def test_whole_numbers_are_converted(kernel):
    result = kernel(position=[1, 2, 3], scale=np.int64(2), parameters=np.array([3, 0]))
    assert result["force"].tolist() == [6.0, 12.0, 18.0]


def test_backend_is_chosen_by_name_or_environment(monkeypatch):
    assert choose_backend() == "llvm"
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")
    assert choose_backend() == "numpy"
    assert choose_backend("llvm") == "llvm"
    with pytest.raises(BackendError, match="unknown backend 'fortran'; choose llvm or numpy"):
        choose_backend("fortran")


def test_numpy_is_used_where_llvmlite_is_missing(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert choose_backend() == "numpy"
    with pytest.raises(BackendError, match="needs the package llvmlite"):
        choose_backend("llvm")
