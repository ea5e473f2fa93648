"""The interface of every leg to the platform equations: loads in, forces and joint wrenches out.

All maps from loads to forces are linear, so that parts (gravity, inertia, friction) may be computed one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from flexapod.arrays import SX
from flexapod.equations.newton_euler.wrench import Wrench
from flexapod.robot.model import Leg
from flexapod.spatial import Vec

if TYPE_CHECKING:
    from flexapod.equations.values import Values


@dataclass(frozen=True, kw_only=True)
class LinkJoint:
    """The elementary joint in front of a link, at a state.

    Args:
        kind: R, P or fixed.
        axis: unit vector; of no meaning for fixed ones.
        centre: where its wrench is taken: the origin of the link's frame.
        rate, acceleration: of its coordinate, zero for fixed ones.
        guide: the axes u, v of a prismatic joint's guide; None where its friction does not need them.
    """

    kind: str
    axis: Vec
    centre: Vec
    rate: SX
    acceleration: SX
    guide: tuple[Vec, Vec] | None = None


@dataclass(frozen=True, kw_only=True)
class ClosingJoint:
    """The joint to the platform, at a state.

    Args:
        axes: (linear, angular) unit twists that it leaves free, platform relative to leg.
        centre: where its wrench is taken.
        angular: angular velocity of the platform relative to the leg.
        rates: along `axes`; empty for spherical joints, whose axes are the world's.
        frame: axes x, y, z of its half on the platform.
        guide: as in `LinkJoint`.
    """

    axes: tuple[tuple[Vec, Vec], ...]
    centre: Vec
    angular: Vec
    rates: tuple[SX, ...]
    frame: tuple[Vec, Vec, Vec]
    guide: tuple[Vec, Vec] | None = None


@dataclass(frozen=True, kw_only=True)
class LegLoads:
    """Loads of a leg.

    Args:
        bodies: per link, what its body needs to follow its motion, about the link's origin.
        axial: per link, friction and rotor inertia along its coordinate: force or moment on the link.
        closing: friction of the closing joint on the platform, about its centre.
    """

    bodies: tuple[Wrench, ...]
    axial: tuple[SX | float, ...]
    closing: Wrench


@dataclass(frozen=True, kw_only=True)
class LegForces:
    """Result of a leg: actuator forces, and the whole wrench that crosses each joint, about its centre (links, then closing)."""

    actuators: tuple[SX, ...]
    joints: tuple[Wrench, ...]


class LegModel(Protocol):
    """A leg at its motion."""

    leg: Leg
    joints: tuple[LinkJoint, ...]
    closing: ClosingJoint

    def body_loads(self, gravity: Vec | None, moves: Sequence[bool]) -> tuple[Wrench, ...]:
        """Per link, the wrench that its body needs: against gravity (None: without), to follow its motion (where it moves)."""

    def columns(self) -> Sequence[SX]:
        """Wrenches (6,) on the platform about the closing centre per unit of the leg's unknowns."""

    def particular(self, loads: LegLoads) -> Wrench:
        """Wrench on the platform about the closing centre with all unknowns zero."""

    def finish(self, loads: LegLoads, unknowns: Sequence[SX]) -> LegForces:
        """Actuator forces and joint wrenches for given unknowns."""


def rotor_loads(model: LegModel, values: Values) -> tuple[SX | float, ...]:
    """Per link, minus rotor inertia times acceleration (Khalil's IA)."""
    return tuple(
        0 if joint.kind == "fixed" else -values.scalar(f"{link.coordinate}.rotor") * joint.acceleration
        for link, joint in zip(model.leg.links, model.joints, strict=True)
    )
