"""The whole robot as a linear map from loads to forces: legs, platform, and the system between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flexapod.equations.newton_euler.leg import LegForces, LegLoads, LegModel
from flexapod.equations.newton_euler.platform_system import PlatformSystem
from flexapod.equations.newton_euler.wrench import Wrench, none
from flexapod.spatial import Vec


@dataclass(frozen=True, kw_only=True)
class Loads:
    """Loads of the robot.

    Args:
        platform: what the platform needs to follow its motion, less the external wrench, about its frame origin.
        legs: per leg.
    """

    platform: Wrench
    legs: tuple[LegLoads, ...]

    def __add__(self, other: Loads) -> Loads:
        legs = tuple(
            LegLoads(
                bodies=tuple(p + q for p, q in zip(a.bodies, b.bodies, strict=True)),
                axial=tuple(p + q for p, q in zip(a.axial, b.axial, strict=True)),
                closing=a.closing + b.closing,
            )
            for a, b in zip(self.legs, other.legs, strict=True)
        )
        return Loads(platform=self.platform + other.platform, legs=legs)


def unloaded(legs: Sequence[LegModel]) -> Loads:
    """No loads at all."""
    return Loads(platform=none(), legs=tuple(unloaded_leg(leg) for leg in legs))


def unloaded_leg(leg: LegModel) -> LegLoads:
    """No loads on a leg."""
    return LegLoads(bodies=(none(),) * len(leg.joints), axial=(0,) * len(leg.joints), closing=none())


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """A robot at its motion.

    Args:
        legs: models of the legs.
        origin: of the platform frame.
        system: the platform's equations.
    """

    legs: tuple[LegModel, ...]
    origin: Vec
    system: PlatformSystem

    def forces(self, loads: Loads) -> list[LegForces]:
        """Actuator forces and joint wrenches of every leg: linear in the loads.

        Source: Kim 2002 Eqs. (25)-(29). Checked by: tests/equations/test_newton_euler.py.
        """
        missing = loads.platform
        for leg, load in zip(self.legs, loads.legs, strict=True):
            missing = missing - leg.particular(load).seen_from(leg.closing.centre - self.origin)
        unknowns = self.system.solve(missing)
        return [leg.finish(load, x) for leg, load, x in zip(self.legs, loads.legs, unknowns, strict=True)]
