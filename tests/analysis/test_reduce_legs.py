"""`reduce_legs` on DualEMPS: bounds hold over frequency and poses, estimates of frequencies are near the truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import flexapod as fp

FINE = Path(__file__).parents[1] / "data" / "elastodynamics" / "dualemps-8.yaml"
ROUNDING = 1e-8
"""Of the static stiffness, and of frequencies, whose eigenproblem has a condition of 1e8 with eight elements (found 2e-9)."""
ESTIMATE = 0.5
"""Of the error of a frequency, by an estimate of first order."""
EXCESS = 1e-6
"""Relative errors of frequencies below which the estimate need not be right."""


def poses() -> fp.ActuatorMotion:
    q = np.array([[0.0, 0.0], [0.05, -0.05], [0.1, 0.1]])
    return fp.ActuatorMotion(time=[0.0, 1.0, 2.0], position=q, velocity=0 * q, acceleration=0 * q)


def check(robot: fp.Robot, limit: float, method: str = "craig-bampton") -> None:
    found = fp.reduce_legs(robot, poses(), limit=limit, method=method)
    assert (found.reduced_coordinates < found.coordinates).all()
    assert (found.error_bound.values >= found.error.values - ROUNDING).all()
    high = (found.frequency / found.full_frequency - 1).values
    known = np.isfinite(high)
    assert (high[known] > -ROUNDING).all(), "a reduced model is too stiff"
    assert (found.frequency_excess.values[known] > high[known] - 0.1 * np.abs(high[known]) - ROUNDING).all()
    if method == "craig-bampton":
        low = known & (found.frequency.values < 0.5 * limit)
        assert found.frequency_excess.values[low] == pytest.approx(high[low], rel=ESTIMATE, abs=EXCESS)
    truth = fp.natural_frequencies(robot, poses()).frequency.values
    assert found.full_frequency.values[known] == pytest.approx(truth[:, : known.shape[1]][known], rel=ROUNDING)


def test_bounds_and_estimates() -> None:
    check(fp.load("dualemps"), 250.0)


@pytest.mark.full
@pytest.mark.parametrize("method", ["craig-bampton", "krylov"])
def test_many_elements(method: str) -> None:
    """Eight elements per beam, 72 coordinates: 13 remain up to 600 Hz."""
    robot = fp.load(FINE)
    found = fp.reduce_legs(robot, poses(), limit=600.0)
    assert found.coordinates.values.tolist() == [72, 72, 72]
    assert found.reduced_coordinates.values.tolist() == [13, 13, 13]
    check(robot, 600.0, method)


def test_refused() -> None:
    with pytest.raises(fp.InputError, match="has no flexible legs"):
        fp.reduce_legs(fp.load("stewart-3-3"), poses(), limit=100.0)
    with pytest.raises(fp.InputError, match="positive frequency"):
        fp.reduce_legs(fp.load("dualemps"), poses(), limit=-1.0)
    with pytest.raises(fp.InputError, match=r"frequencies: expected \[Hz\] from 0 on, got -1"):
        fp.reduce_legs(fp.load("dualemps"), poses(), limit=100.0, frequencies=[-1.0])
