"""Flexible parts that cannot be made are refused while the robot is built, with their lines of the robot file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexapod.robot.beams import BeamError
from flexapod.robot.build import placed

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


def refuse_unmade(robot: Robot) -> None:
    """Report beams that cannot be made, and a platform without interfaces at its joints.

    Checked by: tests/robot/test_files_of_modes.py.
    """
    description = robot.description
    try:
        _ = robot.beams
    except BeamError as error:
        with placed(description, description.addresses.merged[error.leg].origins.get(("bodies", error.body), ("legs",))):
            raise
    with placed(description, ("platform", "flexible")):
        _ = robot.joint_shapes
