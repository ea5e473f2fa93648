"""Elastic coordinates along a motion: rest, order, an adaptive integrator of another library, motions without a formula."""

import dataclasses

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import flexapod as fp
from flexapod.analysis.model import elastic_motion
from flexapod.motions import through_poses
from flexapod.motions.rotations import rotvec_rotation
from support.flexible_robots import at_home, plate_robot, run

KEYS = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
ADAPTIVE = 1e-8
"""Of the largest deflection: DOP853 with rtol 1e-10 against RK4 with the default step."""
BETWEEN = 1e-6
"""Of the largest deflection: quintics between 41 samples of a quintic-law motion against its formula."""
STILL = 1e-14
"""Elastic coordinates of 4e-2 and less that stay: nothing but rounding of the equilibrium; found 3e-18."""
BACK = 1e-11
"""Accelerations [m/s^2] given back by another solve; found 3e-14."""
ELASTIC_BACK = 1e-10
"""The same of elastic coordinates [1/s^2], where terms of 1e3 cancel; found 7e-13."""


def moved(samples: int = 41) -> fp.Motion:
    """A fifth-order motion with rests: there and back, 0.4 s each way (chosen; the paper prints none)."""
    home = plate_robot().home
    there = home.position + np.array([0.03, 0.02, 0.04])
    rotation = rotvec_rotation(np.array([0.05, -0.04, 0.06])) @ home.rotation
    return through_poses(
        positions=np.array([home.position, there]), orientations=np.array([home.rotation, rotation]), durations=0.3,
        rests=[0.03, 0.07], samples=samples,
    )  # fmt: skip


def test_a_robot_at_rest_stays_deflected() -> None:
    robot = plate_robot()
    none = np.zeros((5, 3))
    motion = fp.Motion(
        time=np.linspace(0, 0.2, 5), position=np.tile(robot.home.position, (5, 1)),
        rotation=np.tile(robot.home.rotation, (5, 1, 1)), velocity=none, angular_velocity=none, acceleration=none,
        angular_acceleration=none,
    )  # fmt: skip
    found = fp.inverse_dynamics(robot, motion, elastic="simulate")
    still = fp.static_deflection(robot, at_home(robot))
    np.testing.assert_allclose(found.elastic, np.tile(still.elastic, (5, 1)), rtol=0, atol=STILL)
    assert found.attrs["elastic"] == "simulate"


def test_against_an_adaptive_integrator() -> None:
    robot, motion = plate_robot(), moved()
    N = len(robot.elastic_names)
    found = fp.inverse_dynamics(robot, motion, elastic="simulate")
    formula = motion.formula
    assert formula is not None

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        at = formula(np.array([t]))
        inputs = {key: getattr(at, key) for key in KEYS}
        inputs |= {"elastic": x[None, :N], "elastic_velocity": x[None, N:]}
        inputs |= {"wrench": np.zeros((1, 6)), "elastic_load": np.zeros((1, N))}
        return np.concatenate([x[N:], run(robot, "flexible_inverse_dynamics", inputs)["elastic_acceleration"][0]])

    start = np.concatenate([found.elastic.values[0], np.zeros(N)])
    end = 12  # the first 0.12 s: rest, start of the motion
    other = solve_ivp(rate, (0, motion.time[end]), start, method="DOP853", rtol=1e-10, atol=1e-12, t_eval=motion.time[: end + 1])
    size = np.abs(found.elastic.values).max()
    assert np.abs(other.y[:N].T - found.elastic.values[: end + 1]).max() < ADAPTIVE * size
    assert np.abs(found.elastic - fp.inverse_dynamics(robot, motion).elastic).max() > 1e-4, "vibration is more than quasi-static"


def test_order_four(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, motion = plate_robot(), moved()
    runs = []
    for step in (1.6, 0.8, 0.1):
        monkeypatch.setattr(elastic_motion, "STEP", step)
        runs.append(fp.inverse_dynamics(robot, motion, elastic="simulate").elastic.values)
    ratio = np.abs(runs[0] - runs[2]).max() / np.abs(runs[1] - runs[2]).max()
    assert 10.0 < ratio < 32.0, "halving the step divides the error by sixteen"


def test_a_motion_without_formula() -> None:
    robot, motion = plate_robot(), moved()
    exact = fp.inverse_dynamics(robot, motion, elastic="simulate").elastic.values
    sampled = fp.inverse_dynamics(robot, dataclasses.replace(motion), elastic="simulate").elastic.values
    assert np.abs(sampled - exact).max() < BETWEEN * np.abs(exact).max()


def test_direct_model_follows() -> None:
    """Forces of the simulated motion give the motion's accelerations back (the loop of Fig. 3, pointwise)."""
    robot, motion = plate_robot(), moved()
    found = fp.inverse_dynamics(robot, motion, elastic="simulate")
    direct = fp.forward_dynamics(
        robot, motion, found.force.values, elastic=found.elastic.values, elastic_velocity=found.elastic_velocity.values
    )
    assert np.abs(direct.acceleration.values - motion.acceleration).max() < BACK
    assert np.abs(direct.elastic_acceleration - found.elastic_acceleration).max() < ELASTIC_BACK


def test_messages() -> None:
    robot = plate_robot()
    with pytest.raises(fp.InputError, match="elastic='simulate' integrates along a Motion, not a State"):
        fp.inverse_dynamics(robot, at_home(robot), elastic="simulate")
    with pytest.raises(fp.InputError, match="takes a wrench on the platform frame, not at a named point"):
        fp.inverse_dynamics(robot, moved(), elastic="simulate", wrench=np.ones(6), point="tool")
