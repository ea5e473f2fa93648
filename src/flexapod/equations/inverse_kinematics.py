"""Inverse kinematics: from the platform's pose, twist and acceleration to actuators, joints and bodies.

One program per robot structure; the robot's numbers are parameters. `detail` chooses what is computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.leg_kinematics import LegKinematics, robot_legs
from flexapod.equations.platform_inputs import FrameMotion, guess_input, platform_motion_inputs
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot

if TYPE_CHECKING:
    from flexapod.equations.universal_leg import Scalar

Detail = Literal["rates", "actuators", "joints", "bodies"]


def inverse_kinematics(robot: Robot, detail: Detail = "actuators", closed_form: bool = True) -> Program:
    """The program.

    Args:
        robot: any robot; only its structure is used.
        detail: actuator rates alone; actuator coordinates with rates and accelerations; all joint coordinates as well; or body
            motions.
        closed_form: use closed forms where they exist; False closes every leg by Newton.

    Robots with general legs have the further input `guess`, all joint coordinates to start from, and the outputs
    `constraint`, `constraint_rate`, `constraint_acceleration`: what is left over and must vanish if the robot is to
    follow the motion.

    Checked by: tests/equations/test_inverse_kinematics.py, tests/equations/test_closing.py.
    """
    b = Program("inverse_kinematics")
    platform = platform_motion_inputs(b)
    guess = guess_input(b, robot, needed=None if closed_form else True)
    legs = robot_legs(b, robot, platform, guess, closed_form)
    actuator_outputs(b, robot, columns_of(driven_coordinates(robot, legs)), only_rates=detail == "rates")
    if detail == "joints":
        joint_outputs(b, columns_of([c for leg in legs for c in leg.coordinates]))
    elif detail == "bodies":
        body_outputs(b, [platform, *[frame for leg in legs for frame in leg.bodies.values()]])
    _leftover(b, legs)
    return b


def _leftover(b: Program, legs: list[LegKinematics]) -> None:
    """Rows that constrain the platform, all legs in order."""
    count = sum(leg.leftover[0].numel() for leg in legs)
    if count:
        for k, name in enumerate(("constraint", "constraint_rate", "constraint_acceleration")):
            column = ca.vertcat(*[leg.leftover[k] for leg in legs])
            b.output(name, column, shape=(count,), dims=("constraint_row",), doc="must vanish for a motion the robot can follow")


def columns_of(coordinates: Sequence[Scalar]) -> list[SX]:
    """Positions, rates and accelerations of coordinates as columns."""
    return [ca.vertcat(*[getattr(c, key) for c in coordinates]) for key in ("q", "qd", "qdd")]


def driven_coordinates(robot: Robot, legs: list[LegKinematics]) -> list[Scalar]:
    """Coordinates of the actuators."""
    return [
        legs[i].coordinates[k]
        for i, leg in enumerate(robot.legs)
        for k, index in enumerate(leg.moving)
        if leg.links[index].actuated
    ]


def actuator_outputs(b: Program, robot: Robot, columns: Sequence[SX], only_rates: bool = False) -> None:
    """Outputs `actuator_position`, ... from columns of positions, rates and accelerations."""
    unit = robot.actuator_units[0] if len(set(robot.actuator_units)) == 1 else "m or rad"
    every = list(zip(("position", "velocity", "acceleration"), columns, ("", "/s", "/s^2"), strict=True))
    for name, column, per in every[1:2] if only_rates else every:
        b.output(f"actuator_{name}", column, shape=(len(robot.actuators),), unit=unit + per, dims=("actuator",))


def joint_outputs(b: Program, columns: Sequence[SX]) -> None:
    """Outputs `joint_position`, ... from columns of positions, rates and accelerations."""
    for name, column, per in zip(("position", "velocity", "acceleration"), columns, ("", "/s", "/s^2"), strict=True):
        b.output(f"joint_{name}", column, shape=(column.numel(),), unit="m or rad" + per, dims=("joint",))


def body_outputs(b: Program, frames: Sequence[FrameMotion]) -> None:
    """Outputs `body_position`, ... of frames, the platform's first."""
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
