"""Motion of a leg from the motion of the platform, whatever its architecture: coordinates and body frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.chain import scalars
from flexapod.equations.closing import ClosedLeg, close_leg
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.universal_leg import LegMotion, Scalar, leg_motion
from flexapod.equations.values import Values
from flexapod.kernels.tape.roles import Equations, TakesChecks
from flexapod.robot.model import Leg, Link
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec


@dataclass(frozen=True, kw_only=True)
class LegKinematics:
    """Motion of a leg for a motion of the platform.

    Args:
        coordinates: of its links in order.
        bodies: frames of its bodies, axes as in the robot file.
        leftover: residuals, rates and accelerations of the rows that constrain the platform.
    """

    coordinates: tuple[Scalar, ...]
    bodies: dict[str, FrameMotion]
    leftover: tuple[SX, SX, SX]


def robot_legs(
    b: Equations, robot: Robot, platform: FrameMotion, guess: SX | None = None, closed_form: bool = True
) -> list[LegKinematics]:
    """Kinematics of all legs.

    Args:
        guess: column of all coordinates to start general legs from; their home values if left out.
        closed_form: use closed forms where they exist (False: close every leg by Newton).
    """
    values, at, result = Values(b), 0, []
    for i, leg in enumerate(robot.legs):
        own = values.of(f"legs.{leg.name}")
        form = robot.closed_forms[i]
        if form is not None and closed_form:
            result.append(leg_kinematics(b, own, leg, form.sign, platform))
        else:
            n = len(leg.moving)
            start = [guess[at + k] for k in range(n)] if guess is not None else home_guess(own, leg)
            result.append(
                _general(own, leg, close_leg(b, own, leg, robot.plan.legs[i], platform, start, closed_form=closed_form))
            )
        at += len(leg.moving)
    return result


def home_guess(values: Values, leg: Leg) -> Sequence[SX]:
    """Coordinates of a leg at home."""
    return [values.scalar(f"{leg.links[i].coordinate}.home") for i in leg.moving]


def leg_kinematics(b: TakesChecks, values: Values, leg: Leg, sign: int, platform: FrameMotion) -> LegKinematics:
    """Coordinates and body motions of a closed-form leg."""
    motion = leg_motion(b, values, leg, sign, platform)
    first = (motion.actuator,)
    coordinates = motion.angles + first if leg.architecture == "UPS" else first + motion.angles
    none = ca.SX.zeros(0, 1)
    return LegKinematics(coordinates=coordinates, bodies=_bodies(values, leg, motion), leftover=(none, none, none))


def _general(values: Values, leg: Leg, closed: ClosedLeg) -> LegKinematics:
    bodies = {}
    for link, frame in zip(leg.links, closed.links, strict=True):
        if link.body is not None:
            bodies[link.body.name] = body_frame(values, link, frame)
    return LegKinematics(coordinates=scalars(closed.q, closed.qd, closed.qdd), bodies=bodies, leftover=closed.leftover)


def body_frame(values: Values, link: Link, frame: FrameMotion) -> FrameMotion:
    """Motion of a link's body, axes as in the robot file; values of its leg."""
    R = frame.R.renamed("W", "B") @ values.rotation(f"{link.coordinate}.body.axes", "B", "B")
    return FrameMotion(R=R, p=frame.p, v=frame.v, w=frame.w, a=frame.a, alpha=frame.alpha)


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
            result[link.body.name] = FrameMotion(R=frame.R @ axes, p=frame.p, v=frame.v, w=frame.w, a=frame.a, alpha=frame.alpha)
    return result
