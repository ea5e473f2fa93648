"""Joint reactions: the wrench that crosses a joint less actuator, rotor and friction along its free directions."""

from __future__ import annotations

from collections.abc import Sequence

from flexapod.arrays import SX
from flexapod.equations.newton_euler.leg import LegForces, LegModel
from flexapod.equations.newton_euler.wrench import Wrench
from flexapod.equations.values import Values
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec
from flexapod.spatial.vector import zero


def leg_reactions(model: LegModel, values: Values, forces: LegForces, friction: Sequence[Wrench]) -> list[Wrench]:
    """Reactions of a leg's joints, exerted by the base-side body on the next one, about the joint centres.

    Args:
        values: below ``legs.<name>.``.
        forces: actuator forces and whole joint wrenches.
        friction: per joint (links, closing), on the next body; of a universal joint with friction along its relative
            angular velocity the whole moment at both of its axes, because it acts between the bodies outside.
    """
    result, actuators = [], iter(forces.actuators)
    for link, joint, whole, own in zip(model.leg.links, model.joints, forces.joints, friction, strict=False):
        rest = whole - own
        if joint.kind != "fixed":
            driven = -values.scalar(f"{link.coordinate}.rotor") * joint.acceleration
            if link.actuated:
                driven = driven + next(actuators)
            rest = rest - _along(joint.kind, joint.axis, driven)
        result.append(rest)
    return [*result, forces.joints[-1] - friction[-1]]


def _along(kind: str, axis: Vec, size: SX) -> Wrench:
    moment = kind == "R"
    return Wrench(force=zero("W") if moment else axis * size, moment=axis * size if moment else zero("W"))


def reaction_names(robot: Robot) -> tuple[str, ...]:
    """Names of the joints whose reactions are given, leg by leg its links in order, then the closing joint: `A.hip.1` (base on
    cross), `A.hip.2` (cross on leg), `A.slide`, ..., `A.ball` (leg on platform)."""
    return tuple(
        f"{leg.name}.{joint}" for leg in robot.legs for joint in (*[link.coordinate for link in leg.links], leg.closing.joint)
    )
