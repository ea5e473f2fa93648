"""Many trajectories at once are the runs that one would make one by one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pd_simulations import PD_CONTROL, at_home, pd_motion, robot_named

import flexapod as fp

DATA = Path(__file__).parents[1] / "data" / "elastodynamics"
SAME = 1e-13
"""[m] The same steps, compiled for many."""
FORCES = 1e-11
"""[N] The same, times gains of 2e5 N/m."""
BY_ROBOT = 1e-12
"""[m], and of the largest of each quantity: robots with their own numbers."""
STILL = 1e-12
"""[m] In balance for 1 s."""
STARTS = 1e-12
"""[m] Poses of a start, through actuators."""


def test_trajectories_are_those_of_single_runs() -> None:
    robot = robot_named("bench-6ups")
    masses, gains = np.linspace(40.0, 70.0, 7), np.linspace(5e4, 2e5, 7)
    values = {"platform.mass": masses} | {f"controller.kp.{a}": gains for a in robot.actuators}
    study = fp.simulate_study(robot, pd_motion(), values=values, controller=PD_CONTROL, duration=0.3, step=2e-3, output_step=0.1)
    assert not np.any(study.reason != "")
    for k in (0, 3, 6):
        one = fp.simulate(
            robot.with_parameters({"platform.mass": masses[k]}), pd_motion(), controller=fp.PD(kp=gains[k], kd=2e3), duration=0.3,
            step=2e-3, output_step=0.1, watch=(),
        )  # fmt: skip
        assert np.allclose(study.position[k], one.position, rtol=0, atol=SAME)
        assert np.allclose(study.force[k], one.force, rtol=0, atol=FORCES)


def test_robots_and_starts_may_differ() -> None:
    robot = robot_named("bench-6ups")
    robots = [robot.with_parameters({"legs.piston.mass": m}) for m in (8.0, 10.0, 12.0)]
    study = fp.simulate_study(robot, pd_motion(), robots=robots, controller=PD_CONTROL, duration=0.2, step=2e-3, output_step=0.1)
    for k, own in enumerate(robots):
        one = fp.simulate(own, pd_motion(), controller=PD_CONTROL, duration=0.2, step=2e-3, output_step=0.1, watch=())
        assert np.allclose(study.position[k], one.position, rtol=0, atol=BY_ROBOT)
    starts = fp.State(position=robot.home.position + np.linspace(0, 0.02, 5)[:, None] * [1.0, 0.0, 0.0])
    away = fp.simulate_study(robot, pd_motion(), starts=starts, controller=PD_CONTROL, duration=0.5, step=2e-3, output_step=0.1)
    assert np.array_equal(away.position[:, 0], starts.position)
    spread = np.ptp(away.position.values, axis=0)[:, 0]
    assert spread[-1] < 0.1 * spread[0]


def test_a_bad_trajectory_does_not_harm_the_others() -> None:
    robot = robot_named("hexapod")
    hold = fp.inverse_dynamics(robot, at_home(robot), friction=False).force.values
    mass = float(robot.values["platform.mass"])
    study = fp.simulate_study(
        robot, at_home(robot), values={"platform.mass": [mass, 5 * mass, mass]}, force=hold, duration=1.0, step=1e-3,
    )  # fmt: skip
    assert study.reason.values[0] == study.reason.values[2] == ""
    assert "leg" in study.reason.values[1]
    assert np.allclose(study.position[0], robot.home.position, rtol=0, atol=STILL)
    assert np.array_equal(study.position[0], study.position[2])
    assert np.all(np.isfinite(study.position))


def test_robots_that_deform_one_by_one() -> None:
    """Each trajectory is the simulation that `simulate` makes, with its own mass and gains; one that cannot start has its
    reason."""
    robot = fp.load(DATA / "spring-drive.yaml")
    t = np.linspace(0.0, 0.05, 6)[:, None]
    swing = fp.ActuatorMotion(
        time=t[:, 0], position=0.01 * np.sin(60 * t), velocity=0.6 * np.cos(60 * t), acceleration=-36 * np.sin(60 * t)
    )
    masses, gains = np.array([1.0, 2.0, 3.0]), np.array([1e3, 2e3, 4e3])
    values = {"legs.A.rail.s.body.mass": masses, "controller.kp.A": gains}
    given = {"duration": 0.05, "step": 1e-3, "output_step": 0.01}
    study = fp.simulate_study(robot, swing, values=values, controller=fp.PD(kp=1e3, kd=20.0), **given)
    assert list(study.reason.values) == ["", "", ""]
    for k in range(3):
        own = robot.with_parameters({"legs.A.slider.mass": masses[k]})
        one = fp.simulate(own, swing, controller=fp.PD(kp=gains[k], kd=20.0), watch=(), **given)
        for name in ("position", "force", "elastic", "velocity"):
            assert np.allclose(study[name][k], one[name], rtol=0, atol=BY_ROBOT * max(1.0, float(np.abs(one[name]).max()))), name
    starts = fp.State.from_actuators(robot, np.array([[0.0], [0.01]]))
    away = fp.simulate_study(robot, swing, starts=starts, controller=fp.PD(kp=1e3, kd=20.0), **given)
    assert np.allclose(away.position[:, 0], starts.position, rtol=0, atol=STARTS)
    assert np.ptp(away.position.values[:, 0, 2]) > 5e-3


def test_refusals() -> None:
    robot = robot_named("bench-6ups")
    with pytest.raises(fp.InputError, match="nothing varies"):
        fp.simulate_study(robot, pd_motion(), controller=PD_CONTROL)
    with pytest.raises(fp.InputError, match="starts: there is no state; give one per trajectory"):
        fp.simulate_study(robot, pd_motion(), controller=PD_CONTROL, starts=fp.State(position=np.zeros((0, 3))))
    with pytest.raises(fp.InputError, match="no number called 'mass'"):
        fp.simulate_study(robot, pd_motion(), controller=PD_CONTROL, values={"mass": [1.0]})


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"platform.mass": [-50.0, 50.0]}, r"platform\.mass: must not be below 0; trajectory 0 has -50"),
        ({"platform.inertia.xx": [-5.0, 5.0]}, "trajectory 0: platform: no body has this inertia"),
        ({"platform.inertia.xx": [60.0, 1e9]}, "trajectory 1: platform: no body has this inertia"),
        ({"platform.mass": [50.0, np.nan]}, "expected finite numbers; trajectory 1 has nan"),
        ({"platform.mass": [np.inf, 50.0]}, "expected finite numbers; trajectory 0 has inf"),
        ({"platform.mass": ["a", 50.0]}, r"platform\.mass: expected numbers, got texts"),
        ({"platform.mass": [True, False]}, "expected numbers, got bool"),
        ({"platform.mass": [[1.0], [1.0, 2.0]]}, "rows have different lengths"),
        ({"platform.mass": []}, r"platform\.mass: is empty"),
        ({"controller.kp.A": [-1.0]}, r"controller\.kp\.A: must not be below 0"),
        ({"platform.axes.xx": [2.0]}, "follows from other numbers"),
    ],
)
def test_numbers_that_no_robot_has_are_refused(values: dict[str, Any], text: str) -> None:
    with pytest.raises(fp.InputError, match=text):
        fp.simulate_study(fp.load("stewart-3-3"), pd_motion(), controller=PD_CONTROL, values=values)
