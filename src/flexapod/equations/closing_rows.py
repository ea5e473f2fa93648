"""Closing rows of a leg: scalars that vanish where its joints are closed, with their derivatives (Briot 2014 Eqs. 28-40)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.chain import LinkPose, chain_columns
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.robot.leg_positions import ROWS
from flexapod.robot.model import Closing, Leg
from flexapod.spatial import Rot, Vec, cross, dot
from flexapod.spatial.vector import zero

WORLD = [Vec([1.0 if i == j else 0.0 for j in range(3)], "W") for i in range(3)]


@dataclass(frozen=True, kw_only=True)
class ClosingRow:
    """One closing row: residual, its first and second derivative, and its action on the relative twist at the joint.

    `rotating`: its direction turns with the platform half (world axes do not), which matters where the joint is not closed.
    """

    r: SX
    rd: SX
    rdd: SX
    linear: Vec
    angular: Vec
    rotating: bool


def half_on_platform(values: Values, leg: Leg, platform: FrameMotion, closing: Closing | None = None) -> FrameMotion:
    """Motion of a joint's half frame on the platform: of the leg's first closing joint, or of the one named."""
    name = f"{(closing or leg.closing).joint}.on_platform"
    point = platform.point(values.vector(f"{name}.p", "P"))
    R = platform.R @ values.rotation(f"{name}.R", "P", "H")
    return FrameMotion(R=R, p=point.p, v=point.v, w=platform.w, a=point.a, alpha=platform.alpha)


def half_on_link(values: Values, leg: Leg, links: Sequence[FrameMotion], closing: Closing | None = None) -> FrameMotion:
    """Motion of a joint's half frame on its link: of the leg's first closing joint, or of the one named."""
    closing = closing or leg.closing
    name = f"{closing.joint}.on_link"
    return placed_half(values.vector(f"{name}.p", "B"), values.rotation(f"{name}.R", "B", "H"), links, closing.link)


def placed_half(p: Vec, R: Rot, links: Sequence[FrameMotion], index: int) -> FrameMotion:
    """Motion of a frame placed at p, R of a link; an index below zero is the world."""
    if index < 0:
        still = zero("W")
        return FrameMotion(R=R.renamed("W", "H"), p=Vec(p.expr, "W"), v=still, w=still, a=still, alpha=still)
    link = links[index]
    frame = FrameMotion(R=link.R.renamed("W", "B"), p=link.p, v=link.v, w=link.w, a=link.a, alpha=link.alpha)
    point = frame.point(p)
    return FrameMotion(R=frame.R @ R, p=point.p, v=point.v, w=link.w, a=point.a, alpha=link.alpha)


def closing_rows(leg: Leg, link: FrameMotion, platform: FrameMotion, closing: Closing | None = None) -> list[ClosingRow]:
    """All rows of a closing joint (the leg's first, or the one named) with their derivatives, by the product rule."""
    e = (link.p - platform.p, link.v - platform.v, link.a - platform.a)
    rows = []
    for kind, i, *rest in ROWS[(closing or leg.closing).type]:
        if kind == "axes":
            a, c = _axis(platform, int(i)), _axis(link, int(rest[0]))
            rows.append(_product(a, c, zero("W"), cross(c[0], a[0]), True))
        else:
            a = (WORLD[int(i)], zero("W"), zero("W")) if kind == "point" else _axis(platform, int(i))
            rows.append(_product(a, e, a[0], zero("W"), kind != "point"))
    return rows


def _axis(frame: FrameMotion, i: int) -> tuple[Vec, Vec, Vec]:
    """An axis of a frame with its derivatives."""
    u = frame.R.column(i)
    ud = cross(frame.w, u)
    return u, ud, cross(frame.alpha, u) + cross(frame.w, ud)


def _product(a: tuple[Vec, Vec, Vec], c: tuple[Vec, Vec, Vec], linear: Vec, angular: Vec, rotating: bool) -> ClosingRow:
    return ClosingRow(
        r=dot(a[0], c[0]),
        rd=dot(a[1], c[0]) + dot(a[0], c[1]),
        rdd=dot(a[2], c[0]) + 2 * dot(a[1], c[1]) + dot(a[0], c[2]),
        linear=linear,
        angular=angular,
        rotating=rotating,
    )


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A closing joint of a leg at a state: its halves on the link and on the far side, and its rows."""

    closing: Closing
    end: FrameMotion
    half: FrameMotion
    rows: list[ClosingRow]


def leg_gaps(values: Values, leg: Leg, links: Sequence[FrameMotion], halves: Sequence[FrameMotion]) -> list[Gap]:
    """All closing joints of a leg that closes alone.

    Args:
        links: motion of its links; halves: of its joints on the platform, in order.
    """
    result, given = [], iter(halves)
    for closing in leg.closings:
        end = half_on_link(values, leg, links, closing)
        if closing.to is None:
            half = next(given)
        else:
            name = f"{closing.joint}.on_platform"
            half = placed_half(values.vector(f"{name}.p", "B"), values.rotation(f"{name}.R", "B", "H"), links, closing.to[1])
        result.append(Gap(closing=closing, end=end, half=half, rows=closing_rows(leg, end, half, closing)))
    return result


def platform_halves(values: Values, leg: Leg, platform: FrameMotion) -> list[FrameMotion]:
    """The halves of a leg's joints on a rigid platform."""
    return [half_on_platform(values, leg, platform, closing) for closing in leg.closings if closing.to is None]


def leg_block(leg: Leg, poses: Sequence[LinkPose], gaps: Sequence[Gap]) -> SX:
    """B (m, n): derivative of the rows of all gaps with respect to the leg's coordinates."""
    blocks = []
    for gap in gaps:
        B = ca.SX.zeros(len(gap.rows), len(leg.moving))
        for j, (v, w) in chain_columns(leg, poses, gap.closing.link, gap.end.p).items():
            for i, row in enumerate(gap.rows):
                B[i, j] = dot(row.linear, v) + dot(row.angular, w)
        if gap.closing.to is not None:
            for j, (v, w) in chain_columns(leg, poses, gap.closing.to[1], gap.half.p).items():
                for i, row in enumerate(gap.rows):
                    B[i, j] = B[i, j] - dot(row.linear, v) - dot(rotated_row(row, gap.end.p - gap.half.p), w)
        blocks.append(B)
    return ca.vertcat(*blocks)


def rotated_row(row: ClosingRow, arm: Vec) -> Vec:
    """Row of the angular velocity of the far half; `arm` from there to the link half."""
    return cross(arm, row.linear) + row.angular if row.rotating else row.angular


def pick(matrix: SX, rows: Sequence[int], columns: Sequence[int]) -> SX:
    """Rows and columns of a matrix, dense."""
    rows, columns = list(rows), list(columns)
    if not rows or not columns:
        return ca.SX.zeros(len(rows), len(columns))
    return ca.densify(matrix[rows, columns])
