"""Runs that several tests look at: the peers' PD simulation, springs near home."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

import flexapod as fp
from flexapod.motions import one_minus_cos
from flexapod.robot.robot import Robot

HEIGHT = 2.5 * math.tan(math.pi / 3)
SAG = {"gough-stewart": 0.004}
"""How far springs give way under the weight, in sizes of the robot; gough-stewart tips over on softer ones."""
PD_CONTROL = fp.PD(kp=1.0e5, kd=2.0e3)


@functools.cache
def robot_named(name: str) -> Robot:
    return fp.load(name)


def pd_motion() -> fp.Motion:
    """Motion of the peers' PD simulation: 0.15 m down and 15 degrees about z, times 1 - cos(2 pi t / 3), for 3 s."""
    return one_minus_cos([0, 0, HEIGHT, 0, 0, 0], [0, 0, -0.15, 0, 0, math.radians(15.0)], 2 * math.pi / 3, 3.0)


def pd_simulation(**options: Any) -> Any:
    return fp.simulate(robot_named("bench-6ups"), pd_motion(), controller=PD_CONTROL, **{"output_step": 0.05, **options})


def at_home(robot: Robot) -> fp.State:
    return fp.State(position=robot.home.position, rotation=robot.home.rotation)


def springs_near_home(robot: Robot, share: float = 0.2) -> fp.Springs:
    """Springs that let the robot swing by a share of what they give way under its weight, started with a pull."""
    hold = fp.inverse_dynamics(robot, at_home(robot), friction=False).force.values
    q = fp.inverse_kinematics(robot, at_home(robot), joints=False).actuator_position.values
    size = np.where(np.array(robot.actuator_units) == "m", robot.characteristic_length, 1.0)
    # stiff against the weight of the robot, so that it stays near home
    weight = max(float(np.max(np.abs(hold))), 0.2 * 9.81 * sum(b.mass for b in robot.bodies_by_name.values()))
    stiffness = weight / (SAG.get(robot.name, 0.02) * size)
    pull = share * SAG.get(robot.name, 0.02) * size * np.cos(1.0 + np.arange(len(q)))
    return fp.Springs(stiffness=stiffness, free=q + hold / stiffness + pull)
