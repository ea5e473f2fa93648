"""Rows one after the other: a recurrence is the same as in plain Python, in both backends."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.sequence import sequence
from support.plain import compile_kernel

DOUBLES = 1e-15
"""Relative: a rounding at first, twice as much with every row."""


def logistic() -> Program:
    b = Program("logistic")
    r, x = b.input("r"), b.input("x")
    b.fail_if(r < 0, "the rate is negative")
    b.output("next_x", b.parameter("gain") * r * x * (1 - x))
    b.output("square", ca.vertcat(x * x, r))
    return b


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize("count", [1, 3, 4, 9])
def test_a_recurrence_follows_its_own_results(backend, count):
    r = np.linspace(2.5, 3.5, count)
    batch = sequence(compile_kernel(logistic(), backend=backend), {"r": r}, {"next_x": "x"}, {"x": 0.3}, np.array([1.0]))
    x, expected = 0.3, []
    for rate in r:
        expected.append((rate * x * (1 - x), x * x))
        x = expected[-1][0]
    assert np.all(batch.status == 0)
    assert np.allclose(batch.outputs["next_x"], [e[0] for e in expected], rtol=DOUBLES * 2**count, atol=0)
    assert np.allclose(batch.outputs["square"][:, 0], [e[1] for e in expected], rtol=DOUBLES * 2**count, atol=0)


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_rows_after_a_failure_have_a_status(backend):
    r = np.array([2.0, 2.0, -1.0, 2.0, 2.0])
    batch = sequence(compile_kernel(logistic(), backend=backend), {"r": r}, {"next_x": "x"}, {"x": 0.3}, np.array([1.0]))
    assert list(batch.status) == [0, 0, 1, -1, -1]
