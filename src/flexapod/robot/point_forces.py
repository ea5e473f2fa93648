"""Springs, dampers and constant forces between two points of a robot, as the robot file names them (`forces:`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.build import placed
from flexapod.robot.flexible_platform import SAME_POINT
from flexapod.robot.geometry import Pose, frozen
from flexapod.robot.leg_positions import link_poses
from flexapod.robot.leg_tree import RobotBuildError
from flexapod.robot.model import Leg

if TYPE_CHECKING:
    from flexapod.description.read import Description

WORLD, PLATFORM = (-1, -1), (-1, 0)
"""Places that are no link: the world, and a platform that is a body of its own."""


@dataclass(frozen=True, kw_only=True)
class End:
    """A point: (leg, link) that it is fixed to, `WORLD` or `PLATFORM`, and where in that frame [m]."""

    on: tuple[int, int]
    at: Array


@dataclass(frozen=True, kw_only=True)
class ForceElement:
    """A force element: tension T = k (l - l0) + d l' + T0 along the line from its first to its second point.

    Args:
        stiffness, length, damping, preload: k [N/m], l0 [m], d [N s/m], T0 [N].
    """

    name: str
    first: End
    second: End
    stiffness: float
    length: float
    damping: float
    preload: float


def build_forces(description: Description, legs: Sequence[Leg], home: Pose) -> tuple[ForceElement, ...]:
    """All force elements of a robot file whose legs are built.

    Raises:
        RobotBuildError: an element on a flexible body, or one whose points coincide at home: its force has no direction.

    Checked by: tests/elastodynamics/test_point_forces.py.
    """
    found = []
    for name, spec in description.file.forces.items():
        with placed(description, ("forces", name)):
            first, second = (_end(description, legs, name, *end) for end in ((spec.from_, spec.at), (spec.to, spec.on)))
            if float(np.linalg.norm(_point(legs, first, home) - _point(legs, second, home))) < SAME_POINT:
                why = f"forces.{name}: its points on {spec.from_} and {spec.to} coincide at home: its force has no direction"
                raise RobotBuildError(f"{why}; change `at`, `on` or home")
        found.append(ForceElement(
            name=name, first=first, second=second,
            stiffness=spec.stiffness, length=spec.length, damping=spec.damping, preload=spec.preload,
        ))  # fmt: skip
    return tuple(found)


def _point(legs: Sequence[Leg], end: End, home: Pose) -> Array:
    """Position of a point at home, in the world (3,) [m]."""
    if end.on == WORLD:
        return end.at
    if end.on == PLATFORM:
        return home.point(end.at)
    leg, link = end.on
    R, p = link_poses(legs[leg], legs[leg].home)[link]
    return p + R @ end.at


def _end(description: Description, legs: Sequence[Leg], force: str, body: str, at: Sequence[float]) -> End:
    """A point of a named body in the frame of its link."""
    carried = description.file.platform.body
    if body == "base":
        return End(on=WORLD, at=frozen(np.array(at)))
    if body == "platform" and description.file.platform.flexible is not None:
        raise RobotBuildError(f"forces.{force}: acts on a flexible platform, which is not supported; attach it to a rigid body")
    if body == "platform" and carried is None:
        return End(on=PLATFORM, at=frozen(np.array(at)))
    leg, _, name = (carried or "" if body == "platform" else body).partition(".")
    i = [other.name for other in legs].index(leg)
    link = next(k for k, other in enumerate(legs[i].links) if other.body is not None and other.body.name == name)
    found = legs[i].links[link].body
    assert found is not None
    if found.flexible is not None and float(np.linalg.norm(at)) > 1e-9:
        why = f"forces.{force}: {leg}.{name} is flexible, and a force element acts at its root alone"
        raise RobotBuildError(f"{why}; fix a rigid body to it at {list(at)} and attach the element there")
    return End(on=(i, link), at=frozen(found.body_axes @ np.array(at)))
