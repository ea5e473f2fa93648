"""Home of a variant: for limited mobility, the pose nearest to the former home that its changed lengths allow.

A platform with fewer than six DOF cannot keep its whole pose when a length changes (a five-bar's link turns). All loops
are closed together from the old home by Newton with the smallest steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.description.read import Description
from flexapod.robot.build import draft_legs, robot_size
from flexapod.robot.geometry import Pose
from flexapod.robot.leg_tree import RobotBuildError
from flexapod.robot.mobility import RANK, loop_jacobian, move
from flexapod.robot.model import Leg

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


def variant(robot: Robot, changes: Mapping[str, ArrayLike]) -> Robot:
    """The robot with other values by dotted path; see `Robot.with_parameters`."""
    from flexapod.description.parameters import set_parameters
    from flexapod.robot.robot import build_robot

    description = set_parameters(robot.description, dict(changes))
    named = any(path.split(".")[0] == "home" for path in changes)
    home = None if named or robot.home_from_file else robot.home
    try:
        result = build_robot(description, robot.zeros, robot.plan, home, robot)
    except RobotBuildError:
        found = moved_home(description, robot.legs, robot.home) if robot.plan.constraints and not named else None
        if found is None:
            raise
        result = build_robot(description, robot.zeros, robot.plan, found)
    if robot.flexible_platform is not None and robot.given_body:
        result = replace(result.with_flexible_body("platform", robot.flexible_platform), zeros=robot.zeros)
    object.__setattr__(result, "origin", robot.origin or robot)
    return result


def moved_home(description: Description, legs: tuple[Leg, ...], home: Pose) -> Pose | None:
    """Home pose of a variant, or None where none is found near the old one.

    Args:
        description: of the variant.
        legs, home: of the robot that it is a variant of.
    """
    if any(joint.direction == "home" for leg in description.legs.values() for joint in leg.joints.values()):
        return None
    drafts = tuple(leg for leg, _ in draft_legs(description, home))
    if [len(a.moving) for a in drafts] != [len(b.moving) for b in legs]:
        return None
    q = [
        np.array([old.home[k] + old.links[i].zero - new.links[i].zero for k, i in enumerate(old.moving)])
        for old, new in zip(legs, drafts, strict=True)
    ]
    size = max(robot_size(description), 1.0)
    for _ in range(60):
        r, J = loop_jacobian(drafts, q, home)
        if float(np.linalg.norm(r)) < 1e-14 * size:
            return home
        step = -np.linalg.pinv(J, rcond=RANK) @ r
        largest = float(np.abs(step).max(initial=0.0))
        q, home = move(q, home, step * min(1.0, 0.3 / largest) if largest > 0.0 else step)
    return home if float(np.linalg.norm(loop_jacobian(drafts, q, home)[0])) < 1e-12 * size else None
