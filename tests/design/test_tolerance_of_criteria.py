"""Tolerances of forces and frequencies: first order against built robots, Monte-Carlo against first order."""

import numpy as np
import pytest

import flexapod as fp

SAMPLES = 4000


@pytest.fixture(scope="module")
def robot() -> fp.Robot:
    return fp.load("stewart-3-3")


@pytest.mark.parametrize("k", [0, pytest.param(1, marks=pytest.mark.full)], ids=["force", "frequency"])
def test_forces_and_frequencies_scatter(robot: fp.Robot, k: int) -> None:
    criterion = ["peak_force", {"name": "lowest_frequency", "stiffness": 2e7}][k]
    at = fp.State(position=robot.home.position + np.array([0.2, 0.1, 0.0]))
    found = fp.tolerance(robot, {"platform.mass": 0.5, "legs.A.hip.at": "1 mm"}, at, criteria=criterion, samples=SAMPLES)
    values = []
    for s in (1, -1):
        variant = robot.with_parameters({"platform.mass": 50.0 + s * 0.05})
        frequency = fp.natural_frequencies(variant, at, actuators=np.full(6, 2e7), prestress=False).frequency.values.min()
        values.append([np.abs(fp.inverse_dynamics(variant, at).force.values).max(), frequency])
    slope = (np.array(values[0]) - np.array(values[1])) / 0.1
    assert found.criterion_derivative.sel(source="platform.mass").values == pytest.approx(slope[k], rel=1e-5)  # second order
    scatter = 5.0 / np.sqrt(2 * SAMPLES)  # five standard errors of a standard deviation
    assert found.sampled_criterion_deviation.values == pytest.approx(found.criterion_deviation.values, rel=scatter)
    assert np.all(found.criterion_worst_case >= 3.0 * found.criterion_deviation)
    assert int(found.criterion_failed) == 0


def test_criteria_that_a_robot_lacks_are_named(robot: fp.Robot) -> None:
    with pytest.raises(fp.InputError, match="did you mean 'peak_force'"):
        fp.tolerance(robot, {"platform.mass": 0.5}, criteria="peak_forse")
