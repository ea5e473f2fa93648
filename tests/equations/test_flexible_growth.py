"""Flexible platforms with many modes: the code grows no faster than the modes, and the benchmark finds growth."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from flexapod.analysis.model.kernels import make_program
from flexapod.kernels import make_tape
from flexapod.kernels.llvm.module import module_text


@pytest.fixture(scope="module")
def benchmark():
    """The script benchmarks/flexible.py as a module."""
    path = Path(__file__).parents[2] / "benchmarks" / "flexible.py"
    spec = importlib.util.spec_from_file_location("flexible_benchmark", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lines_of(robot):
    """Lines of LLVM text, set-up and main part, of direct dynamics."""
    program = make_program(robot, "flexible_forward_dynamics", {})
    zeros = {p.name for p in program.signature.parameters} & set(robot.zeros)
    text = module_text(make_tape(program, zeros), per_sample=False)
    return text.count("\n")


@pytest.mark.parametrize("modes", [10, pytest.param(20, marks=pytest.mark.full)])
def test_twice_the_modes_are_at_most_twice_the_code(benchmark, modes):
    """Moments of pairs of modes are N^2 parameters: they are read and copied in loops, never one by one."""
    assert lines_of(benchmark.robot_with(2 * modes)) <= 2 * lines_of(benchmark.robot_with(modes))


def rows(power):
    costs = {n: {"ns": 3.0 * n**power, "operations": 7.0 * n**power, "compile_s": n / 10} for n in (5, 10, 20)}
    rigid = {"ns": 2.0, "operations": 5.0, "compile_s": 0.5}
    return {0: {"direct": rigid, "inverse": rigid}} | {n: {"direct": c, "inverse": c} for n, c in costs.items()}


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_exponents_of_powers_are_found(benchmark, power):
    found = benchmark.exponents(rows(power), "direct", "ns")
    assert list(found) == ["5-10", "10-20"]
    assert list(found.values()) == pytest.approx([power, power], rel=1e-12)  # logarithms of exact powers


def test_tables_have_a_row_per_number_of_modes(benchmark):
    text = benchmark.report(rows(1.0))
    assert "| 10 | 70 | 30 ns | 15.00 | 1.0 s | 70 | 30 ns | 1.0 s |" in text
    assert "| direct dynamics, time | 1.00 | 1.00 |" in text
