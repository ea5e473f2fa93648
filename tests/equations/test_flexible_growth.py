"""Flexible platforms with many modes: the code grows no faster than the modes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from flexapod.analysis.model.kernels import make_program
from flexapod.kernels.llvm.module import module_text
from flexapod.kernels.tape.tape import make_tape


@pytest.fixture(scope="module")
def robot_with():
    """Robot with so many modes, as benchmarks/growth.py measures it."""
    folder = str(Path(__file__).parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        from growth_cases import robot_with
    finally:
        sys.path.remove(folder)
    return robot_with


def lines_of(robot):
    """Lines of LLVM text, set-up and main part, of direct dynamics."""
    program = make_program(robot, "flexible_forward_dynamics", {})
    zeros = {p.name for p in program.signature.parameters} & set(robot.zeros)
    text = module_text(make_tape(program, zeros), per_sample=False)
    return text.count("\n")


@pytest.mark.parametrize("modes", [10, pytest.param(20, marks=pytest.mark.full)])
def test_twice_the_modes_are_at_most_twice_the_code(robot_with, modes):
    """Moments of pairs of modes are N^2 parameters: they are read and copied in loops, never one by one."""
    assert lines_of(robot_with(2 * modes)) <= 2 * lines_of(robot_with(modes))
