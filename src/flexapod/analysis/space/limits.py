"""Limits of a robot's file as arrays: strokes, deflections of passive joints, speeds, forces, powers; and how poses keep them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.equations.deflections import Swivel, swivels

if TYPE_CHECKING:
    from flexapod.robot.model import Link
    from flexapod.robot.robot import Robot


SLACK = 1e-9
"""Excess [m, rad] that does not count: a motion may end at a limit, to rounding."""


@dataclass(frozen=True, kw_only=True)
class RobotLimits:
    """Limits of a robot; infinite where its file has none.

    Args:
        low, high: (actuators,) strokes [m or rad].
        speed: (actuators,) largest rates.
        force, power: (actuators,) largest forces or torques, and powers, by size.
        joints: columns of passive joints that have a stroke, among all joint coordinates.
        joint_low, joint_high: their strokes.
        swivels: passive joints that bend.
        angle: (swivels,) largest deflections [rad].
    """

    robot: Robot
    low: Array
    high: Array
    speed: Array
    force: Array
    power: Array
    joints: NDArray[np.int64]
    joint_low: Array
    joint_high: Array
    swivels: tuple[Swivel, ...]
    angle: Array

    @cached_property
    def swivel_names(self) -> list[str]:
        """`leg.joint` of the passive joints that bend."""
        return [f"{self.robot.legs[s.leg].name}.{s.joint}" for s in self.swivels]

    @cached_property
    def joint_names(self) -> list[str]:
        """Names of the passive joints that have a stroke."""
        return [self.robot.coordinates[i] for i in self.joints]

    @cached_property
    def joint_units(self) -> list[str]:
        """Units of the joint limits."""
        kinds = [leg.links[i].kind for leg in self.robot.legs for i in leg.moving]
        return ["m" if kinds[i] == "P" else "rad" for i in self.joints]

    def stroke_margin(self, actuators: Array) -> Array:
        """Margin (n, actuators) to the ends of the stroke; negative beyond them."""
        return np.minimum(actuators - self.low, self.high - actuators)

    def joint_margin(self, joints: Array) -> Array:
        """(n, limited joints) the same of passive joints; from all joint coordinates (n, joints)."""
        own = joints[:, self.joints]
        return np.minimum(own - self.joint_low, self.joint_high - own)

    def angle_margin(self, deflection: Array) -> Array:
        """Margin (n, swivels) to the largest deflection; negative beyond it."""
        return self.angle - deflection


def limits_of(robot: Robot) -> RobotLimits:
    """The limits in a robot's file."""
    links = [leg.links[i] for leg in robot.legs for i in leg.moving]
    driven = [link for link in links if link.actuated]
    strokes = np.array([_stroke(link) for link in driven]).reshape(-1, 2)
    passive = [i for i, link in enumerate(links) if not link.actuated and link.limits and link.limits.stroke]
    bounds = np.array([_stroke(links[i]) for i in passive]).reshape(-1, 2)
    deflected = swivels(robot)
    return RobotLimits(
        robot=robot,
        low=strokes[:, 0],
        high=strokes[:, 1],
        speed=_largest(driven, "speed"),
        force=_largest(driven, "force"),
        power=_largest(driven, "power"),
        joints=np.array(passive, dtype=np.int64),
        joint_low=bounds[:, 0],
        joint_high=bounds[:, 1],
        swivels=deflected,
        angle=np.array([np.inf if s.limit is None else s.limit for s in deflected]),
    )


def _largest(links: list[Link], name: str) -> Array:
    given = [getattr(link.limits, name, None) for link in links]
    return np.array([np.inf if value is None else float(value) for value in given])


def _stroke(link: object) -> tuple[float, float]:
    limits = getattr(link, "limits", None)
    if limits is None or limits.stroke is None:
        return -np.inf, np.inf
    low, high = limits.stroke
    return float(low), float(high)
