"""Robots with a flexible platform, and runs of them, that several tests look at."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import flexapod as fp
from flexapod.motions import rotvec_rotation, through_poses
from flexapod.robot.robot import Robot
from support.flexible_robots import at_home, plate_robot

UNDAMPED = 1e-12
"""Part of the damping that an undamped robot keeps, so that it shares the compiled code of the damped one."""


STIFF = 100.0
"""Stiffness, of the plate's, at which a rigid model controls the robot; the paper's plate buckles with its actuators locked."""


@cache
def small_robot(damping: float = 1.0, factor: float = 1.0) -> Robot:
    """The catalogue's robot with two modes only, to compile quickly; with less damping or more stiffness on request."""
    body = plate_robot().flexible_platform
    assert body is not None
    body = body.truncated([0, 2])
    return plate_robot().with_flexible_body("platform", replace(body, K_ee=body.K_ee * factor, D_ee=body.D_ee * damping))


def poses_with_rests() -> fp.Motion:
    """Three poses around home with rests, 5th-order polynomials between them: 1.1 s (chosen; the paper prints none)."""
    home = plate_robot().home
    positions = home.position + np.array([[0, 0, 0], [0.03, 0.01, 0.03], [-0.01, 0.02, -0.02]])
    rotations = rotvec_rotation(np.array([[0, 0, 0], [0.06, -0.02, 0.05], [0.0, 0.05, -0.03]])) @ home.rotation
    return through_poses(positions=positions, orientations=rotations, durations=0.4, rests=[0.05, 0.1, 0.15], samples=111)


def exchanged(result: Any) -> float:
    """Energy that went through the robot: what actuators gave and took, and damping turned into heat."""
    supplied = result.supplied_work.values
    return float(np.abs(np.diff(supplied, axis=0)).sum() + result.dissipated_energy.values[-1])


def ringing(robot: Robot, stiffness: float = 2e6, share: float = 1.3) -> tuple[fp.State, fp.Springs]:
    """A start in motion, bent more than at rest, on springs that hold the weight."""
    still = fp.static_deflection(robot, at_home(robot))
    q = fp.inverse_kinematics(robot, at_home(robot), joints=False).actuator_position.values
    start = at_home(
        robot, velocity=[0.02, -0.01, 0.03], angular_velocity=[0.1, -0.05, 0.2], elastic=share * still.elastic.values,
        elastic_velocity=np.zeros(len(robot.elastic_names)),
    )  # fmt: skip
    return start, fp.Springs(stiffness=stiffness, free=q + still.force.values / stiffness)
