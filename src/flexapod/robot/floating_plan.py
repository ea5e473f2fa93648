"""Hexapods on a floating body: six telescopic legs between a body that floats in the world and the platform.

Each leg has a universal joint on the floating body, a driven slide and a ball on the platform; its two bodies are symmetric about
the line of the joints. Such a leg needs no coordinates of its own (`equations.rods.telescopic`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.geometry import Pose, pose
from flexapod.robot.leg_positions import free_joints, link_poses
from flexapod.robot.model import Closing, Leg
from flexapod.robot.rod_plan import SYMMETRIC, NoRodsError, is_passive, is_symmetric, refuse

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

LEGS = 6
"""Legs that decide where the platform is."""


@dataclass(frozen=True, kw_only=True)
class Telescope:
    """A leg: links of its universal joint (the second is the cylinder) and of its slide, its ball, and the fixed joint that holds
    its first frame to the floating body; None: its universal joint is on that body itself."""

    cross: int
    cylinder: int
    piston: int
    ball: Closing
    seat: Closing | None


@dataclass(frozen=True, kw_only=True)
class FloatingPlan:
    """The floating body (leg, link), whose joint has the six links up to it, and the telescopic legs in the robot's order."""

    body: tuple[int, int]
    legs: tuple[Telescope, ...]


def floating_plan(robot: Robot) -> FloatingPlan | str:
    """The plan of a robot, or why it has none.

    Checked by: tests/bridges/test_floating_hexapod.py.
    """
    try:
        refuse(robot)
        afloat = [(i, k) for i, leg in enumerate(robot.legs) for k in free_joints(leg) if leg.links[k].body is not None]
        if len(robot.legs) != LEGS or len(afloat) != 1:
            raise NoRodsError("it has no six legs on one floating body")
        legs = tuple(_telescope(leg, i, afloat[0]) for i, leg in enumerate(robot.legs))
    except NoRodsError as reason:
        return str(reason)
    if robot.independent != (*robot.actuators, *float_names(robot, afloat[0])):
        return "its states are not the slides and the coordinates of the floating body"
    return FloatingPlan(body=afloat[0], legs=legs)


def float_names(robot: Robot, body: tuple[int, int]) -> tuple[str, ...]:
    """Names of the six coordinates of a floating body."""
    leg, last = robot.legs[body[0]], body[1]
    return tuple(f"{leg.name}.{link.coordinate}" for link in leg.links[last - 5 : last + 1])


def _telescope(leg: Leg, i: int, body: tuple[int, int]) -> Telescope:
    """Leg i as a telescope on the body."""
    own, links = i == body[0], leg.links
    first = body[1] + 1 if own else 6
    seats = [closing for closing in leg.closings if closing.type == "fixed" and closing.to == body and closing.link == first - 1]
    balls = [closing for closing in leg.closings if closing.type == "spherical" and closing.to is None]
    shaped = len(links) == first + 3 and [link.kind for link in links[first:]] == ["R", "R", "P"]
    shaped = shaped and [link.parent for link in links[first:]] == [first - 1, first, first + 1]
    held = len(seats) == (0 if own else 1) and len(balls) == 1 and len(leg.closings) == len(seats) + 1
    if not (shaped and held and balls[0].link == first + 2 and (own or first - 1 in free_joints(leg))):
        raise NoRodsError(f"leg {leg.name} is not a telescopic leg between the floating body and the platform")
    cross, cylinder, piston = links[first:]
    line, ball = cylinder_line(leg, first + 1), balls[0].on_link.position
    straight = abs(cylinder.placement.rotation[2, 2]) < SYMMETRIC and not np.any(cylinder.placement.position)
    straight = straight and _along(piston.placement.position, line) and _along(ball, np.array([0.0, 0.0, 1.0]))
    light = cross.body is None and all(link.body is None for link in ([] if own else links[:first]))
    bodies = cylinder.body is not None and is_symmetric(cylinder.body, line)
    bodies = bodies and piston.body is not None and is_symmetric(piston.body, np.array([0.0, 0.0, 1.0]), across=False)
    if not (straight and light and bodies and piston.actuated and is_passive(leg, (first, first + 1))):
        raise NoRodsError(f"leg {leg.name} is not symmetric about the line of its joints")
    return Telescope(cross=first, cylinder=first + 1, piston=first + 2, ball=balls[0], seat=seats[0] if seats else None)


def cylinder_line(leg: Leg, cylinder: int) -> Array:
    """(3,) direction of the slide in axes of the cylinder."""
    return leg.links[cylinder + 1].placement.rotation[:, 2]


def _along(x: Array, line: Array) -> bool:
    return bool(np.linalg.norm(np.cross(x, line)) <= SYMMETRIC)


def relative_pose(robot: Robot, plan: FloatingPlan, q: Array, platform: Pose) -> Pose:
    """The platform's pose in the floating body's frame, at coordinates of its leg."""
    R, p = link_poses(robot.legs[plan.body[0]], q)[plan.body[1]]
    return pose(R.T @ (platform.position - p), R.T @ platform.rotation)
