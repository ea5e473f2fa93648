"""Tolerances of forces and frequencies: against differences and samples of robots that are built one by one."""

from typing import Any

import numpy as np
import pytest

import flexapod as fp
from support.usual_run import counted

SAMPLES = 20_000
MASS, HIP = 0.5, 1e-3
"""Tolerances [kg, m], three standard deviations."""
STIFFNESS = 2e7
SECOND_ORDER = 1e-5
"""Central differences over a tenth of the tolerance: squares of 1e-3 of the numbers, and rounding of frequencies."""
ERRORS = 5
"""Standard errors of means and deviations of samples."""


@pytest.fixture(scope="module")
def robot() -> fp.Robot:
    return fp.load("stewart-3-3")


def built(robot: fp.Robot, at: fp.State, kind: str, deviation: np.ndarray) -> float:
    """Peak force or lowest frequency of a robot with deviations of the platform's mass and of one hip's place."""
    place = robot.parameter("legs.A.hip.at") + deviation[1:]
    variant = robot.with_parameters({"platform.mass": 50.0 + deviation[0], "legs.A.hip.at": place})
    if kind == "force":
        return float(np.abs(fp.inverse_dynamics(variant, at).force.values).max())
    found = fp.natural_frequencies(variant, at, actuators=np.full(6, STIFFNESS), prestress=False)
    return float(found.frequency.values.min())


@pytest.mark.parametrize("kind", ["force", pytest.param("frequency", marks=pytest.mark.full)])
def test_forces_and_frequencies_scatter(robot: fp.Robot, kind: str) -> None:
    criterion: Any = {"force": "peak_force", "frequency": {"name": "lowest_frequency", "stiffness": STIFFNESS}}[kind]
    at = fp.State(position=robot.home.position + np.array([0.2, 0.1, 0.0]))
    found = fp.tolerance(robot, {"platform.mass": MASS, "legs.A.hip.at": "1 mm"}, at, criteria=criterion, samples=SAMPLES)
    t = np.array([MASS, HIP, HIP, HIP])
    slope = np.array([(built(robot, at, kind, d) - built(robot, at, kind, -d)) / (2 * d.max()) for d in np.diag(0.1 * t)])
    derivative = found.criterion_derivative.squeeze().values
    np.testing.assert_allclose(derivative * t, slope * t, rtol=0, atol=SECOND_ORDER * np.abs(slope * t).max())
    deviation = found.criterion_deviation.item()
    assert deviation == pytest.approx(np.linalg.norm(slope * t) / 3, rel=SECOND_ORDER)
    assert found.criterion_worst_case.item() == pytest.approx(np.abs(slope * t).sum(), rel=SECOND_ORDER)
    number = counted(120, 300)
    own = np.random.default_rng(11).normal(size=(number, 4)) * t / 3
    values = np.array([built(robot, at, kind, d) for d in own])
    for count, drawn in ((SAMPLES, found.sampled_criterion_deviation.item()), (number, float(values.std(ddof=1)))):
        assert drawn == pytest.approx(deviation, rel=ERRORS / np.sqrt(2 * count)), f"{count}: standard errors of a deviation"
    error = deviation * np.sqrt(1 / SAMPLES + 1 / number)
    assert abs(found.sampled_criterion_mean.item() - values.mean()) < ERRORS * error
    assert int(found.criterion_failed) == 0


def test_criteria_that_a_robot_lacks_are_named(robot: fp.Robot) -> None:
    with pytest.raises(fp.InputError, match="did you mean 'peak_force'"):
        fp.tolerance(robot, {"platform.mass": 0.5}, criteria="peak_forse")
