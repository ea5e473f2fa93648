"""Set-up part: thousands of plain parameters are copied in blocks, the rest is computed; and outputs written on the way."""

from __future__ import annotations

import ctypes
import subprocess

import casadi as ca
import numpy as np
import pytest

from flexapod.kernels.c.export import export_c
from flexapod.kernels.llvm.module import module_text
from flexapod.kernels.tape.graph import Graph
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.signature import Parameter
from flexapod.kernels.tape.strides import Run, copied_runs, progression, ranges_outside_runs
from flexapod.kernels.tape.tape import make_tape
from support.plain import compile_kernel

LAST_PLACE = 2.3e-16
"""Relative: one unit, for the sine."""

ROWS = [1, 2, 3, 4, 5, 9]
COLUMNS = 7  # of the table that the programs read in a loop


def table_program(rows):
    """A loop reads a table of parameters; beside it plain, negative and computed ones."""
    b = Program("table")
    p = b.parameters([Parameter(name=f"p{k}") for k in range(rows * COLUMNS + 6)])
    x = b.input("x", (COLUMNS,))
    table, rest = ca.reshape(p[: rows * COLUMNS], COLUMNS, rows), p[rows * COLUMNS :]

    def row(_, t, scale):
        return (ca.vertcat(ca.dot(t, x), (t[0] - t[1]) * scale),)

    (y,) = b.map(row, rows, each=[table, rest[0] * ca.SX.ones(1, rows)], unroll=False)
    b.output("y", y.T, (rows, 2))
    b.output("z", ca.vertcat(x[0] * rest[1] / rest[2], x[1] - rest[3], rest[4] * x[2] + ca.sin(rest[5]), rest[2]))
    return b


def numbers(program, sets, seed=5):
    count = len(program.signature.parameters)
    return np.random.default_rng(seed).uniform(0.5, 1.5, size=(sets, count))


def test_runs_and_the_outputs_between_them():
    graph = Graph(arity=9, ops=["arg"] * 9, args=[(k,) for k in range(9)])
    graph.outputs = [2 * k for k in (8, 0, 1, 2, 3, 4)] + [2 * 5 + 1] + [2 * k for k in (5, 6, 7, 2, 4, 6, 8)]
    one, two = Run(output=1, argument=0, stride=1, length=5), Run(output=10, argument=2, stride=2, length=4)
    assert copied_runs(graph) == [one, two]  # 5 is negative, (5, 6, 7) is short
    assert ranges_outside_runs([one, two], 15) == [range(0, 1), range(6, 10), range(14, 15)]
    assert ranges_outside_runs([], 3) == [range(3)]
    assert ranges_outside_runs([one], 6) == [range(0, 1)]


def test_progressions():
    assert progression([4]) == (4, 1)
    assert progression([4, 5, 6]) == (4, 1)
    assert progression([4, 7, 10]) == (4, 3)
    assert progression([6, 5, 4]) == (6, -1)
    assert [progression(x) for x in ([4, 5, 7], [4, 4, 4])] == [None, None]


@pytest.mark.parametrize("sets", ROWS)
def test_constants_are_the_same_in_llvm_and_numpy(sets):
    program = table_program(6)
    parameters = numbers(program, sets)
    llvm, arrays = (compile_kernel(program, backend=backend) for backend in ("llvm", "numpy"))
    assert copied_runs(llvm.tape.setup)
    # single products and differences are rounded alike everywhere, the sine may differ in the last place
    np.testing.assert_allclose(llvm.executable.setup(parameters), arrays.executable.setup(parameters), rtol=LAST_PLACE, atol=0)


def test_a_large_table_against_numpy_arrays():
    rows = 300
    program = table_program(rows)
    (p,), rng = numbers(program, 1), np.random.default_rng(6)
    x = rng.normal(size=(11, COLUMNS))
    table, rest = p[: rows * COLUMNS].reshape(rows, COLUMNS), p[rows * COLUMNS :]
    for parameters in (p, np.tile(p, (11, 1))):
        got = compile_kernel(program, backend="llvm").batch({"x": x}, parameters).outputs
        rounding = 1e-14  # sums of seven products of size one
        np.testing.assert_allclose(got["y"][:, :, 0], x @ table.T, rtol=0, atol=rounding)
        second = np.tile((table[:, 0] - table[:, 1]) * rest[0], (11, 1))
        np.testing.assert_allclose(got["y"][:, :, 1], second, rtol=0, atol=rounding)
        np.testing.assert_array_equal(got["z"][:, 1], x[:, 1] - rest[3])


def test_code_of_the_setup_does_not_grow_with_the_table():
    def lines(rows):
        return module_text(make_tape(table_program(rows)), per_sample=False).split("define internal void @setup4")[1].count("\n")

    grown = lines(400) - lines(200)
    assert grown <= 10 * 200, f"{grown} lines for 200 rows of {COLUMNS} parameters: plain parameters are not copied in blocks"


def test_exported_setup_copies_in_loops(tmp_path):
    program = table_program(200)
    (p,) = numbers(program, 1)
    kernel = compile_kernel(program, backend="numpy")
    golden = {"x": np.random.default_rng(7).normal(size=(3, COLUMNS))}
    files = export_c(kernel, tmp_path, name="unit", golden_inputs=golden, parameters=p)
    text = files["source"].read_text()
    assert text.count("constants[") < 1000 < len(p)
    library = tmp_path / "unit.so"
    subprocess.run(["cc", "-std=c99", "-O1", "-shared", "-fPIC", files["source"], "-o", library, "-lm"], check=True)
    constants = np.empty(kernel.tape.constants)
    ctypes.CDLL(library).unit_setup(ctypes.c_void_p(p.ctypes.data), ctypes.c_void_p(constants.ctypes.data))
    np.testing.assert_allclose(constants, kernel.constants(p), rtol=LAST_PLACE, atol=0)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7, 8, 13])
def test_only_the_rows_of_failing_samples_are_lost(size):
    """Outputs are written before the status is known: a sample with a status loses all of its own, and nothing else."""
    b = Program("rows")
    x = b.input("x", (size,))
    b.output("same", x, (size,))
    b.output("first", 1 / x[0])
    b.fail_if(x[size - 1] > 10, "the last one is large")
    kernel = compile_kernel(b, backend="llvm")
    for failing in range(9):
        given = np.random.default_rng(failing).uniform(1, 2, size=(9, size))
        given[failing, -1] = 11.0
        batch = kernel.batch({"x": given})
        assert batch.status.tolist() == [int(k == failing) for k in range(9)]
        expected = np.where((np.arange(9) == failing)[:, None], np.nan, given)
        np.testing.assert_array_equal(batch.outputs["same"], expected)
        np.testing.assert_array_equal(np.isnan(batch.outputs["first"]), np.arange(9) == failing)
