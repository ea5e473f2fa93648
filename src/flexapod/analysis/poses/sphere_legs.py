r"""Robots whose platform points lie on spheres once the actuators are at rest: the six-leg equations of a robot.

A UPS, PUS or RUS leg keeps its spherical joint on a sphere about its universal joint. A leg with one passive revolute joint
before the spherical one (RPS, PRS, RRS) keeps it on a circle, which is where two spheres about points of the joint's axis meet;
a leg with a revolute joint behind the spherical one (RSR) does the same, seen from the platform. Each rod of a parallelogram has
a sphere of its own. Six spheres in all determine the platform.

Letters: a centre of a sphere (world), b platform point (platform axes), s squared radius.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.poses.chain_spheres import chain_spheres, sphere_count
from flexapod.analysis.poses.pose_certificate import DATA_ERROR
from flexapod.arrays import Array
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.robot.architecture import ClosedFormLeg
    from flexapod.robot.model import Leg
    from flexapod.robot.robot import Robot


CHAIN_ERROR = 2.0**-48
"""Relative error of spheres that come from chains of rotations."""

MEET = 1e-12
"""Joint centres nearer than this, relative to the robot's size, are one."""


@dataclass(frozen=True, kw_only=True)
class Spheres:
    """Six spheres per sample.

    Args:
        a: (k, 6, 3) centres; b: (k, 6, 3) platform points; s: (k, 6) squared radii.
        family: start system: ``"six_legs"``, or ``"six_three"`` where platform points (or centres) meet in pairs.
        swapped: a and b have changed their places (the motion of the base seen from the platform is solved for).
        leg: (6,) leg of each sphere.
        data_error: relative error of a, b and s that the certificate allows for.
    """

    a: Array
    b: Array
    s: Array
    family: str
    swapped: bool
    leg: tuple[int, ...]
    data_error: float = DATA_ERROR

    @property
    def bound(self) -> int:
        """Proven largest number of isolated complex poses."""
        return BOUNDS[self.family]


BOUNDS = {"six_legs": 40, "six_three": 16}
"""40: F. Ronga, T. Vust (1992), B. Mourrain (1993), M. Husty (1996). 16 where the platform hangs at three points: C. Innocenti,
V. Parenti-Castelli, Direct position analysis of the Stewart platform mechanism (1990); J.-P. Merlet, Parallel Robots (2006)."""


def is_on_spheres(robot: Robot) -> bool:
    """Whether six spheres determine the platform of a robot."""
    counts = [sphere_count(leg) for leg in robot.legs]
    return 0 not in counts and sum(counts) == 6


def spheres(robot: Robot, q: Array, *, arrange: bool = True) -> Spheres:
    """The spheres of actuator coordinates (k, actuators); in the order of the legs, unless they may be arranged."""
    parts: list[tuple[Array, Array, Array]] = []
    legs: list[int] = []
    for i, leg in enumerate(robot.legs):
        column = actuators_of(robot)[i]
        form = robot.closed_forms[i]
        own = [_sphere(robot, leg, form, q[:, column[0]])] if form is not None else chain_spheres(leg, q[:, list(column)])
        parts += own
        legs += [i] * len(own)
    a, s = np.stack([p[0] for p in parts], axis=1), np.stack([p[2] for p in parts], axis=1)
    b = np.stack([np.broadcast_to(p[1], p[0].shape) for p in parts], axis=1)
    error = DATA_ERROR if None not in robot.closed_forms else CHAIN_ERROR
    found = Spheres(a=a, b=b, s=s, family="six_legs", swapped=False, leg=tuple(legs), data_error=error)
    return arranged(found) if arrange else found


def arranged(given: Spheres) -> Spheres:
    """The spheres with legs in the order that the smallest family of start systems needs."""
    size = float(np.abs(given.a).max() + np.abs(given.b).max())
    for points, swapped in ((given.b, False), (given.a, True)):
        order = _pairs(points, MEET * size)
        if order is not None:
            a, b = (given.b, given.a) if swapped else (given.a, given.b)
            legs = tuple(given.leg[i] for i in order)
            b = b[:, order].copy()
            b[:, 1::2] = b[:, ::2]
            return replace(given, a=a[:, order], b=b, s=given.s[:, order], family="six_three", swapped=swapped, leg=legs)
    return given


def _pairs(points: Array, tolerance: float) -> list[int] | None:
    """Order of the legs in which the points of all samples meet in pairs 0-1, 2-3, 4-5; None if they do not."""
    near = np.all(np.linalg.norm(points[:, :, None] - points[:, None], axis=3) <= tolerance, axis=0)
    left, order = list(range(6)), []
    while left:
        first = left.pop(0)
        other = next((j for j in left if near[first, j]), None)
        if other is None:
            return None
        left.remove(other)
        order += [first, other]
    return order


def actuators_of(robot: Robot) -> list[tuple[int, ...]]:
    """Actuators of each leg."""
    result, k = [], 0
    for leg in robot.legs:
        count = sum(leg.links[i].actuated for i in leg.moving)
        result.append(tuple(range(k, k + count)))
        k += count
    return result


def _sphere(robot: Robot, leg: Leg, form: ClosedFormLeg, q: Array) -> tuple[Array, Array, Array]:
    """Centre, platform point and squared radius of a closed-form leg."""
    drive = next(leg.links[i] for i in leg.moving if leg.links[i].actuated)
    d = q + drive.zero
    if leg.architecture == "UPS":
        length = form.length + d
        if np.any(length <= 0.0):
            raise InputError(f"actuator_position: leg {leg.name} of {robot.name} would have no length or a negative one")
        return np.broadcast_to(form.U, (len(q), 3)), form.S, length**2
    radius = np.full(len(q), form.length**2)
    if leg.architecture == "PUS":
        return form.U + d[:, None] * form.drive, form.S, radius
    arm, z = form.U - form.pivot, form.drive
    along = z * (z @ arm)
    across, side = arm - along, np.cross(z, arm)
    return form.pivot + along + np.cos(d)[:, None] * across + np.sin(d)[:, None] * side, form.S, radius
