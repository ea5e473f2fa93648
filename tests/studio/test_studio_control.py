"""Simulations of the studio: controllers with gains, disturbance, wrong model; the tracking error that is shown."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.studio.panel_motion import CONTROLLERS, SimulationSettings, controller_of, disturbance, simulated
from flexapod.views.studio.plots import QUANTITIES
from flexapod.views.studio.recording import motion_of, recorded

SMALL_ERROR = 1e-6
"""Computed torque with the right model follows to the integration's error, far below this [m]."""
SETTLED = 0.05
"""The offset under a constant force is not quite reached within a third of the motion, and the motion moves the robot."""


def test_the_disturbance_acts_during_the_middle_third() -> None:
    motion = motion_of(fp.load("stewart-3-3"), "circle", start_at_home=True)
    times, wrench = disturbance(motion, (5.0, 0.0, -2.0))
    span = motion.time[-1] - motion.time[0]
    x = np.interp(motion.time[0] + span * np.array([0.1, 0.5, 0.9]), times, wrench[:, 0])
    assert x.tolist() == [0.0, 5.0, 0.0]
    assert np.all(wrench[:, 3:] == 0)


def test_tracking_error_of_computed_torque() -> None:
    """Nothing with the right model; under a force F the offset F / (m kp) of a point mass that the platform's x axis is near."""
    robot = fp.load("stewart-3-3")
    motion = motion_of(robot, "circle", start_at_home=True)
    exact = recorded(robot, simulated(robot, motion, SimulationSettings()), "circle", followed=motion)
    assert exact.tracking.max() < SMALL_ERROR
    wrong = recorded(robot, simulated(robot, motion, SimulationSettings(wrong=30.0)), "circle", followed=motion)
    assert wrong.tracking.max() > 100 * exact.tracking.max()
    pushed = recorded(robot, simulated(robot, motion, SimulationSettings(push=(200.0, 0.0, 0.0))), "circle", followed=motion)
    M = fp.mass_matrix(robot, fp.State(position=robot.home.position, rotation=robot.home.rotation)).values
    expected = np.linalg.norm(np.linalg.solve(M, [200.0, 0, 0, 0, 0, 0])[:3]) / 400.0
    assert pushed.tracking.max() == pytest.approx(expected, rel=SETTLED)
    label, names, values = QUANTITIES["tracking error"](pushed)
    assert label == "tracking error [mm]"
    assert values.max() == pytest.approx(1e3 * pushed.tracking.max())
    assert names == ("error",)


@pytest.mark.parametrize("name", CONTROLLERS)
def test_every_controller_can_be_made(name: str) -> None:
    controller = controller_of(fp.load("stewart-3-3"), SimulationSettings(name=name, kp=10.0, kd=2.0, wrong=10.0))
    assert controller.kp == 10.0
    assert controller.kd == 2.0
    model = getattr(controller, "model", None)
    if model is not None:
        assert model.platform.mass == pytest.approx(1.1 * fp.load("stewart-3-3").platform.mass)


def test_a_motion_without_controller_has_no_tracking_error() -> None:
    robot = fp.load("stewart-3-3")
    motion = motion_of(robot, "circle", start_at_home=True)
    result = simulated(robot, motion, SimulationSettings())
    assert np.isnan(recorded(robot, result, "circle").tracking).all()
