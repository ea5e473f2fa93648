"""A flexible platform on held actuators: the pose-held equilibrium found from the other side, and the compliance it has."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp

SAME = 1e-9
"""Two Newton searches for one equilibrium, of the platform's size and of the largest elastic coordinate."""
FORCES = 1e-8
"""Relative: the stiffness of the legs times SAME."""


@pytest.mark.full
def test_the_actuators_of_a_held_pose_give_that_pose_back() -> None:
    """Pose held under weight and load, its actuator coordinates held instead: same pose, deflection and forces."""
    robot = fp.load("gough-stewart-flexible")
    state = fp.State(position=robot.home.position + np.array([0.02, -0.01, 0.03]), rotation=robot.home.rotation)
    wrench = [200.0, -100.0, 300.0, 20.0, 10.0, -5.0]
    posed = fp.static_deflection(robot, state, wrench=wrench)
    e = np.atleast_2d(posed.elastic.values)
    q = np.atleast_2d(fp.inverse_kinematics(robot, state, elastic=e).actuator_position.values)
    held = fp.ActuatorMotion(time=[0.0], position=q, velocity=0 * q, acceleration=0 * q)
    found = fp.static_deflection(robot, held, wrench=wrench)
    assert np.abs(found.position.values[0] - state.position).max() < SAME
    assert np.abs(found.rotation.values[0] - state.rotation).max() < SAME
    assert np.abs(found.elastic.values - e).max() < SAME * np.abs(e).max()
    assert found.force.values[0] == pytest.approx(np.ravel(posed.force.values), rel=FORCES)
