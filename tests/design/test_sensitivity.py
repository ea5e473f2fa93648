"""Sensitivities: Sobol indices of the Ishigami function in closed form, of a robot, derivatives against exact ones."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.design.sensitivity import sobol_indices

SCATTER = 0.02
"""Error of indices from 2048 points of a scrambled Sobol sequence, measured below 0.01."""
EXACT = 1e-9
"""Relative: derivatives of sums of masses, and of forces that are linear in a mass."""
ROUNDING = 1e-12
"""Relative: a derivative times a range."""


def test_ishigami() -> None:
    a, b = 7.0, 0.1

    def f(u: np.ndarray) -> np.ndarray:
        x = np.pi * (2 * u - 1)
        return (np.sin(x[:, 0]) + a * np.sin(x[:, 1]) ** 2 + b * x[:, 2] ** 4 * np.sin(x[:, 0]))[:, None]

    v1, v2, v13 = 0.5 * (1 + b * np.pi**4 / 5) ** 2, a**2 / 8, b**2 * np.pi**8 * 8 / 225
    total = v1 + v2 + v13
    first, whole, invalid = sobol_indices(f, 3, 2048, 1)
    assert first[0] == pytest.approx([v1 / total, v2 / total, 0.0], abs=SCATTER)
    assert whole[0] == pytest.approx([(v1 + v13) / total, v2 / total, v13 / total], abs=SCATTER)
    assert invalid == 0


def test_a_robot() -> None:
    robot = fp.load("stewart-3-3")
    found = fp.sensitivity(robot, {"platform.mass": (40, 60), "legs.piston.mass": (9, 11)}, ["mass", "peak_force"], samples=256)
    assert found.derivative.sel(criterion="mass").values == pytest.approx([1.0, 6.0], rel=EXACT)  # six pistons
    assert found.change.sel(criterion="mass").values == pytest.approx([20.0, 12.0], rel=ROUNDING)
    linear = np.array([20.0**2, 12.0**2])
    assert found.first_order.sel(criterion="mass").values == pytest.approx(linear / linear.sum(), abs=SCATTER)
    assert found.total.sel(criterion="mass").values == pytest.approx(linear / linear.sum(), abs=SCATTER)
    values = [
        fp.inverse_dynamics(robot.with_parameters({"platform.mass": m}), fp.State(position=robot.home.position)) for m in (50, 51)
    ]
    slope = float(np.abs(values[1].force).max() - np.abs(values[0].force).max())  # linear in the mass
    assert float(found.derivative.sel(criterion="peak_force", variable="platform.mass")) == pytest.approx(slope, rel=EXACT)
