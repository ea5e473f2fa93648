"""Contribution of a leg to the virtual work: the interface between its connectivity conditions and the platform."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.virtual_work.recursion import acceleration_matrix, apply
from flexapod.spatial import Rot, Vec, cross

SMALLEST = 1e-20
"""Square of a sine between columns below which they count as dependent: sine 1e-10, where rounding leaves about six digits."""


@dataclass(frozen=True, kw_only=True)
class PlatformState:
    """Motion of the platform in world axes; `a` is less `gravity`, `matrix` as in `acceleration_matrix`."""

    R: Rot
    p: Vec
    v: Vec
    w: Vec
    a: Vec
    alpha: Vec
    matrix: SX
    gravity: Vec

    def velocity(self, r: Vec) -> Vec:
        """Velocity of a point at r from the frame origin (right-hand side of Staicu Eq. 14)."""
        return self.v + cross(self.w, r)

    def acceleration(self, r: Vec) -> Vec:
        """Acceleration of a point at r, less gravity (right-hand side of Staicu Eq. 17)."""
        return self.a + apply(self.matrix, r)


def platform_state(motion: FrameMotion, gravity: Vec) -> PlatformState:
    """The platform's motion with gravity taken off its acceleration."""
    return PlatformState(
        R=motion.R, p=motion.p, v=motion.v, w=motion.w, a=motion.a - gravity, alpha=motion.alpha,
        matrix=acceleration_matrix(motion.w, motion.alpha), gravity=gravity,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class LegWork:
    """A leg in the virtual work of the robot.

    Args:
        rates: joint rates in the actual motion.
        works: per joint, work of the leg's wrenches at unit rate of that joint alone (`recursion.inward`).
        actuators: indices of the actuated joints.
        rows: (actuators, 6), scales: per actuator: row . (platform twist) = scale * actuator rate.
        own: per actuator, work per unit of its rate with the platform at rest.
        load: (6,) work of the passive joints per unit of the platform twist with the actuators at rest.
        constraint: (k, 6) what the leg forbids the platform: constraint . twist = 0.
        virtual_rates: joint rates in a virtual motion of the platform, given as a twist (6,).
    """

    rates: list[SX]
    works: list[SX]
    actuators: list[int]
    rows: SX
    scales: list[SX]
    own: list[SX]
    load: SX
    constraint: SX
    virtual_rates: Callable[[SX], list[SX]]


def wrench(force: Vec, arm: Vec) -> SX:
    """A force at `arm` as a column (force, moment)."""
    return ca.vertcat(force.expr, cross(arm, force).expr)
