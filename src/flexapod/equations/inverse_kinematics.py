"""Inverse kinematics: from the platform's pose, twist and acceleration to actuators, joints and bodies.

One program per robot structure; the robot's numbers are parameters. `detail` chooses what is computed.
"""

from __future__ import annotations

from typing import Literal

import casadi as ca

from flexapod.equations.leg_kinematics import LegKinematics, leg_kinematics
from flexapod.equations.platform_motion import FrameMotion, platform_motion
from flexapod.equations.values import Values
from flexapod.kernels.program import Program
from flexapod.robot.robot import Robot

Detail = Literal["actuators", "joints", "bodies"]


def inverse_kinematics(robot: Robot, detail: Detail = "actuators") -> Program:
    """The program.

    Args:
        robot: any robot; only its structure is used.
        detail: actuator coordinates with rates and accelerations; all joint coordinates as well; or body motions.

    Checked by: tests/equations/test_inverse_kinematics.py.
    """
    b = Program("inverse_kinematics")
    values = Values(b)
    platform = platform_motion(b)
    legs = [
        leg_kinematics(b, values.of(f"legs.{leg.name}"), leg, form.sign if form else 0, platform)
        for leg, form in zip(robot.legs, robot.closed_forms, strict=True)
    ]
    _actuators(b, robot, legs)
    if detail == "joints":
        _joints(b, legs)
    elif detail == "bodies":
        _bodies(b, legs, platform)
    return b


def _actuators(b: Program, robot: Robot, legs: list[LegKinematics]) -> None:
    driven = [
        legs[i].coordinates[k]
        for i, leg in enumerate(robot.legs)
        for k, index in enumerate(leg.moving)
        if leg.links[index].actuated
    ]
    unit = robot.actuator_units[0] if len(set(robot.actuator_units)) == 1 else "m or rad"
    for name, key, per in (("position", "q", ""), ("velocity", "qd", "/s"), ("acceleration", "qdd", "/s^2")):
        column = ca.vertcat(*[getattr(c, key) for c in driven])
        b.output(f"actuator_{name}", column, shape=(len(driven),), unit=unit + per, dims=("actuator",))


def _joints(b: Program, legs: list[LegKinematics]) -> None:
    scalars = [c for leg in legs for c in leg.coordinates]
    for name, key, per in (("position", "q", ""), ("velocity", "qd", "/s"), ("acceleration", "qdd", "/s^2")):
        column = ca.vertcat(*[getattr(c, key) for c in scalars])
        b.output(f"joint_{name}", column, shape=(len(scalars),), unit="m or rad" + per, dims=("joint",))


def _bodies(b: Program, legs: list[LegKinematics], platform: FrameMotion) -> None:
    frames = [platform, *[frame for leg in legs for frame in leg.bodies.values()]]
    n = len(frames)
    for name, key, unit in (
        ("position", "p", "m"),
        ("velocity", "v", "m/s"),
        ("angular_velocity", "w", "rad/s"),
        ("acceleration", "a", "m/s^2"),
        ("angular_acceleration", "alpha", "rad/s^2"),
    ):
        rows = ca.vertcat(*[getattr(f, key).expr.T for f in frames])
        b.output(f"body_{name}", rows, shape=(n, 3), unit=unit, dims=("body", "axis"))
    rotations = ca.vertcat(*[ca.reshape(f.R.expr.T, 1, 9) for f in frames])
    b.output("body_rotation", rotations, shape=(n, 3, 3), unit="", dims=("body", "axis", "body_axis"))
