"""Names of the joints whose reactions are given: for every leg its links in order, then the closing joint."""

from __future__ import annotations

from flexapod.robot.robot import Robot


def reaction_names(robot: Robot) -> tuple[str, ...]:
    """`A.hip.1` (base on cross), `A.hip.2` (cross on leg), `A.slide`, ..., `A.ball` (leg on platform), leg by leg."""
    return tuple(
        f"{leg.name}.{joint}" for leg in robot.legs for joint in (*[link.coordinate for link in leg.links], leg.closing.joint)
    )
