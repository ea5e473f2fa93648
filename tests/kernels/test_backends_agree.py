"""LLVM, NumPy and exported C give the same numbers on the same tape."""

from __future__ import annotations

import ctypes
import subprocess

import casadi as ca
import numpy as np
import pytest
from kernel_programs import ALL, PARAMETERS, inputs_for, map_looped, map_unrolled

from flexapod.kernels.c.export import export_c
from support.plain import compile_kernel

# Products and sums fuse in LLVM and not elsewhere, and the mathematical functions of NumPy and of the C library may
# differ in the last place: some tens of operations of rounding 1.1e-16, relative to the largest entry.
ROUNDING = 1e-12
"""Of the largest output, or of 1: the same operations, fused or not."""
CANCELS = 1e-13
"""Of numbers of size 1 to 10 whose sums may vanish, Kepler's equation among them; found 9e-16."""


def assert_same(one, other):
    np.testing.assert_array_equal(one.status, other.status)
    for name, expected in one.outputs.items():
        scale = np.nanmax(np.abs(expected), initial=1.0)
        np.testing.assert_allclose(other.outputs[name], expected, rtol=0, atol=ROUNDING * scale, err_msg=name)


@pytest.mark.parametrize("make", ALL)
def test_llvm_and_numpy_agree(make):
    inputs = inputs_for(make().signature)
    llvm, arrays = (compile_kernel(make(), backend=backend).batch(inputs, PARAMETERS) for backend in ("llvm", "numpy"))
    assert_same(arrays, llvm)
    assert (llvm.status == 0).sum() > 200


@pytest.mark.parametrize("make", ALL)
def test_exported_c_agrees(make, tmp_path):
    kernel = compile_kernel(make(), backend="numpy")
    inputs = inputs_for(kernel.signature)
    expected = kernel.batch(inputs, PARAMETERS)
    files = export_c(kernel, tmp_path, name="unit", golden_inputs=inputs, parameters=PARAMETERS)
    library = tmp_path / "unit.so"
    strict = ["cc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*strict, "-shared", "-fPIC", files["source"], "-o", library, "-lm"], check=True)
    assert_same(expected, _run_c(ctypes.CDLL(library), kernel, inputs, expected))


def _run_c(library, kernel, inputs, like):
    def address(array):
        return ctypes.c_void_p(array.ctypes.data)

    constants = np.empty(max(kernel.tape.constants, 1))
    library.unit_setup(address(PARAMETERS), address(constants))
    outputs = {name: np.empty_like(values) for name, values in like.outputs.items()}
    status = np.empty_like(like.status)
    rows_in = [np.ascontiguousarray(inputs[i.name]) for i in kernel.signature.inputs]
    for k in range(len(status)):
        given = [ctypes.c_void_p(a.ctypes.data + k * a.strides[0]) for a in rows_in]
        gives = [ctypes.c_void_p(a.ctypes.data + k * a.strides[0]) for a in outputs.values()]
        status[k] = library.unit(*given, address(constants), *gives)
    return type(like)(outputs=outputs, status=status)


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_loop_and_repeated_code_agree(backend):
    inputs = inputs_for(map_looped().signature)
    looped, unrolled = (compile_kernel(make(), backend=backend).batch(inputs, PARAMETERS) for make in (map_looped, map_unrolled))
    assert_same(looped, unrolled)
    assert {0, 1, 3}.issubset(looped.status.tolist())


def test_statuses_are_the_same_looped_and_unrolled():
    assert map_looped().signature.statuses == map_unrolled().signature.statuses
    texts = [status.text for status in map_looped().signature.statuses.values()]
    assert texts[:3] == ["leg A cannot reach", "a leg is short", "leg B cannot reach"]


def test_straight_line_agrees_with_casadi():
    from kernel_programs import straight_line

    program = straight_line()
    function = ca.Function("f", [program.input_symbols, program.parameter_symbols], [program.results])
    kernel = compile_kernel(program)
    inputs = inputs_for(kernel.signature, 20)
    batch = kernel.batch(inputs, PARAMETERS)
    for k in range(20):
        flat = np.concatenate([inputs[i.name][k].ravel() for i in kernel.signature.inputs])
        expected = np.array(function(flat, PARAMETERS)).ravel()[:-1]
        got = np.concatenate([batch.outputs[o.name][k].ravel() for o in kernel.signature.outputs])
        np.testing.assert_allclose(got, expected, rtol=ROUNDING, atol=CANCELS)


def test_kepler_is_solved():
    from kernel_programs import kepler

    kernel = compile_kernel(kepler())
    inputs = inputs_for(kernel.signature)
    batch = kernel.batch(inputs, PARAMETERS)
    good = batch.status == 0
    E, e = batch.outputs["E"][good], 0.9 * inputs["e"][good]
    np.testing.assert_allclose(E - e * np.sin(E), inputs["mean"][good], rtol=0, atol=CANCELS)
    texts = {kernel.signature.status(code).text for code in batch.status[~good]}
    assert texts == {"not an ellipse", "Kepler's equation does not converge"}
