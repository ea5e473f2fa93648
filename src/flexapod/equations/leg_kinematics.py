"""Motion of a leg from the motion of the platform, whatever its architecture: coordinates and body frames."""

from __future__ import annotations

from dataclasses import dataclass

from flexapod.equations.platform_motion import FrameMotion
from flexapod.equations.universal_leg import LegMotion, Scalar, leg_motion
from flexapod.equations.values import Values
from flexapod.kernels.program import Program
from flexapod.robot.model import Leg
from flexapod.spatial import Vec


@dataclass(frozen=True, kw_only=True)
class LegKinematics:
    """Coordinates of a leg's links in order, and the frames of its bodies (axes as in the robot file)."""

    coordinates: tuple[Scalar, ...]
    bodies: dict[str, FrameMotion]


def leg_kinematics(b: Program, values: Values, leg: Leg, sign: int, platform: FrameMotion) -> LegKinematics:
    """Coordinates and body motions of a closed-form leg."""
    motion = leg_motion(b, values, leg, sign, platform)
    first = (motion.actuator,)
    coordinates = motion.angles + first if leg.architecture == "UPS" else first + motion.angles
    return LegKinematics(coordinates=coordinates, bodies=_bodies(values, leg, motion))


def _bodies(values: Values, leg: Leg, motion: LegMotion) -> dict[str, FrameMotion]:
    """Frames of the bodies: constant in the cross frame C, in the leg frame L at U or S, or in the carrier."""
    frames: list[tuple[str, FrameMotion]]
    if leg.architecture == "UPS":
        offset = motion.tip.point(Vec([0, 0, -values.scalar("tip")], "L"))
        tip = FrameMotion(R=motion.tip.R, p=offset.p, v=offset.v, w=motion.tip.w, a=offset.a, alpha=motion.tip.alpha)
        frames = [("in_C.0", motion.cross), ("in_L.0", motion.leg), ("in_L.1", tip)]
    else:
        assert motion.carrier is not None
        frames = [("carrier", motion.carrier), ("in_C.0", motion.cross), ("in_L.0", motion.leg)]
    result = {}
    for link, (name, frame) in zip(leg.links, frames, strict=True):
        if link.body is not None:
            axes = values.rotation(f"{name}.axes", frame.R.from_, "B")
            result[link.body.name] = FrameMotion(
                R=frame.R @ axes, p=frame.p, v=frame.v, w=frame.w, a=frame.a, alpha=frame.alpha
            )
    return result
