r"""Limits of a pose as functions that are not negative within the limits, for bounds over boxes of poses.

Written for interval arithmetic: roots and quotients only where they are needed, every coordinate as few times as possible.

.. math:: g_{low} = |d|^2 - l_{min}^2,\quad g_{high} = l_{max}^2 - |d|^2,\quad
          g_{angle} = d\cdot a - \cos\lambda\,|d|\,|a|,\quad g_{reach} = l^2 - |d_\perp|^2

d from the universal to the spherical centre of a leg, a where its direction at home would be carried, lambda the largest
deflection. Rows of the lines, (d, r x d) with r from the platform's origin to the spherical centre, are dependent where the
actuators do not hold the platform (type 2). Charts of poses: `position` (x, y, z at a given orientation), `orientation` (tilt,
azimuth, torsion at a given position), `segment` (a straight line with a rotation about one axis).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.deflections import directions, swivels, without_checks
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.universal_leg import LegMotion, leg_motion
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.model import Leg
from flexapod.robot.robot import Robot
from flexapod.spatial import Rot, Vec, cross, dot
from flexapod.spatial.vector import zero

CHARTS = {"position": ("x", "y", "z"), "orientation": ("tilt", "azimuth", "torsion"), "segment": ("t",)}


@dataclass(frozen=True)
class Limit:
    """One limit: its function, and what is wrong where it is negative."""

    margin: SX
    text: str


def pose_limits(robot: Robot, chart: str = "position", strokes: bool = True, angles: bool = True) -> Program:
    """The program.

    Inputs `at` (k,) [m or rad, chart]; of a segment also `start`, `way` (3,), `base` (3, 3), `axis` (3,), `angle`. Outputs
    `margin` (m,), `gradient` (m, k), `lines` (6, 6), `ends` (legs, 6): universal and spherical centres.

    Checked by: tests/analysis/test_pave.py.
    """
    b = Program("pose_limits")
    at = b.input("at", (len(CHARTS[chart]),), unit="m or rad")
    values = Values(b)
    frame = _pose(b, chart, at, values)
    legs = _legs(robot, values, frame)
    limits = _limits(b, robot, values, frame, legs, strokes=strokes, angles=angles)
    margin = ca.vertcat(*[limit.margin for limit in limits]) if limits else ca.SX.ones(1)
    b.output("margin", margin)
    b.output("gradient", ca.densify(ca.jacobian(margin, at)), shape=(margin.numel(), at.numel()))
    rows, ends = [], []
    for leg, motion in zip(robot.legs, legs, strict=True):
        d = motion.tip.p - motion.leg.p
        r = frame.R @ values.of(f"legs.{leg.name}").vector("S", "P")
        rows.append(ca.horzcat(d.expr.T, cross(r, d).expr.T))
        ends.append(ca.horzcat(motion.leg.p.expr.T, motion.tip.p.expr.T))
    b.output("lines", ca.vertcat(*rows), shape=(len(rows), 6))
    b.output("ends", ca.vertcat(*ends), shape=(len(ends), 6))
    return b


def limit_texts(robot: Robot, chart: str = "position", strokes: bool = True, angles: bool = True) -> list[str]:
    """Messages for negative margins of `pose_limits`."""
    b = Program("pose_limits")
    at, values = b.input("at", (len(CHARTS[chart]),)), Values(b)
    frame = _pose(b, chart, at, values)
    limits = _limits(b, robot, values, frame, _legs(robot, values, frame), strokes=strokes, angles=angles)
    return [limit.text for limit in limits]


def _pose(b: Program, chart: str, at: SX, values: Values) -> FrameMotion:
    """The platform at coordinates of a chart, at rest."""
    if chart == "segment":
        position = b.input("start", (3,), unit="m") + at * b.input("way", (3,), unit="m")
        angle, axis = at * b.input("angle", unit="rad"), b.input("axis", (3,))
        K, c, s = ca.skew(axis), ca.cos(angle), ca.sin(angle)
        rotation = (ca.SX.eye(3) + s * K + (1 - c) * ca.mtimes(K, K)) @ b.input("base", (3, 3))
    elif chart == "position":
        position, rotation = at, values.rotation("pose.rotation", "W", "P").expr
    else:
        position = values.vector("pose.position", "W").expr
        relative = _about(2, at[1]) @ _about(1, at[0]) @ _about(2, at[2] - at[1])
        rotation = relative @ values.rotation("pose.rotation", "W", "P").expr
    still = zero("W")
    return FrameMotion(p=Vec(position, "W"), R=Rot(rotation, "W", "P"), v=still, w=still, a=still, alpha=still)


def _about(k: int, angle: SX) -> SX:
    """Rotation about coordinate axis k."""
    i, j, c, s = (k + 1) % 3, (k + 2) % 3, ca.cos(angle), ca.sin(angle)
    R = ca.SX.eye(3)
    R[i, i], R[j, j], R[i, j], R[j, i] = c, c, -s, s
    return R


def _legs(robot: Robot, values: Values, frame: FrameMotion) -> list[LegMotion]:
    forms = zip(robot.legs, robot.closed_forms, strict=True)
    return [
        leg_motion(without_checks(), values.of(f"legs.{leg.name}"), leg, form.sign, frame)
        for leg, form in forms
        if form is not None
    ]


def _limits(
    b: Program, robot: Robot, values: Values, frame: FrameMotion, legs: list[LegMotion], *, strokes: bool, angles: bool
) -> list[Limit]:
    found: list[Limit] = []
    for leg, motion in zip(robot.legs, legs, strict=True):
        own = values.of(f"legs.{leg.name}")
        found += _reach(own, leg, frame)
        if strokes:
            found += _strokes(b, own, leg, motion, robot)
    if angles:
        pairs = directions(robot, values, frame)
        for swivel, (expected, _) in zip(swivels(robot), pairs, strict=True):
            if swivel.limit is None:
                continue
            motion, name = legs[swivel.leg], f"{robot.legs[swivel.leg].name}.{swivel.joint}"
            d = motion.tip.p - motion.leg.p
            sizes = ca.sqrt(dot(d, d)) * ca.sqrt(dot(expected, expected))
            margin = dot(d, expected) - ca.cos(b.parameter(f"limit.{name}.angle")) * sizes
            found.append(Limit(margin, f"joint {name} is beyond its angle limit"))
    return found


def _reach(own: Values, leg: Leg, frame: FrameMotion) -> list[Limit]:
    """Limits at which a rod no longer reaches its rail or crank."""
    if leg.architecture == "UPS":
        return []
    S, e, l = frame.point(own.vector("S", "P")).p, own.vector("drive", "W"), own.scalar("length")
    if leg.architecture == "PUS":
        across = cross(S - own.vector("U", "W"), e)
        return [Limit(l * l - dot(across, across), f"leg {leg.name} cannot reach")]
    O = own.vector("pivot", "W")
    crank, d0 = own.vector("U", "W") - O, S - O
    along = dot(e, crank)
    A, B = dot(d0, crank - e * along), dot(d0, cross(e, crank))
    C = (dot(d0, d0) + dot(crank, crank) - l * l) / 2 - along * dot(e, d0)
    return [Limit(A * A + B * B - C * C, f"leg {leg.name} cannot reach")]


def _strokes(b: Program, own: Values, leg: Leg, motion: LegMotion, robot: Robot) -> list[Limit]:
    link = next(link for link in leg.links if link.actuated)
    stroke = link.limits.stroke if link.limits and link.limits.stroke else None
    if stroke is None:
        return []
    name = next(a for a in robot.actuators if a.split(".")[0] == leg.name)
    low, high = (b.parameter(f"limit.{name}.{side}") for side in ("low", "high"))
    texts = (f"actuator {name} is below its stroke", f"actuator {name} is above its stroke")
    if leg.architecture == "UPS":
        d = motion.tip.p - motion.leg.p
        offset = own.scalar("length") + own.scalar("zero")
        shortest, longest = ca.fmax(low + offset, 0), high + offset
        square = dot(d, d)
        return [Limit(square - shortest * shortest, texts[0]), Limit(longest * longest - square, texts[1])]
    q = motion.actuator.q
    return [Limit(q - low, texts[0]), Limit(high - q, texts[1])]
