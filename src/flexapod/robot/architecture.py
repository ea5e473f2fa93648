"""Which legs have a closed form, and their geometry in the words of the papers.

A universal joint (axis1 a, centre U) and the direction n to S fix the leg frame L without any angle:
z = n, y = s n x a / |n x a| (the second axis), x = y x z; the cross frame C has x = a, y as L. Bodies of such legs are
constant in C or L, so their inertial data is brought there once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexapod.robot.chain import link_poses
from flexapod.robot.geometry import Array, about, frozen, snap
from flexapod.robot.model import Architecture, Closing, Leg, Link, RigidBody

EXACT = 1e-12
"""Axes and centres that coincide or are perpendicular to this (m or radian) count as designed so."""


@dataclass(frozen=True, kw_only=True)
class ClosedFormLeg:
    """Geometry of a U-P-S, P-U-S or R-U-S leg, world axes unless said otherwise.

    Args:
        U: (3,) universal centre at actuator displacement zero.
        axis1: (3,) first universal axis at displacement zero.
        drive: (3,) direction of the rail (PUS) or axis of the crank (RUS); zero for UPS.
        pivot: (3,) centre of the crank (RUS); zero otherwise.
        S: (3,) spherical centre in the platform frame.
        length: U to S less the actuator displacement (UPS), or the rod length (PUS, RUS).
        sign: s in y = s n x a / |n x a|.
        y0: (3,) second axis at coordinate zero (crank at zero).
        n0: (3,) leg direction at coordinate zero, in the cross frame C.
        cross, bodies: inertial data in C and, for the bodies along the leg, in L about their own origins.
        carrier: slider or crank, about U (PUS) in world axes or about the pivot (RUS) in world axes at displacement zero.
    """

    U: Array
    axis1: Array
    drive: Array
    pivot: Array
    S: Array
    length: float
    sign: int
    y0: Array
    n0: Array
    cross: RigidBody | None
    bodies: tuple[RigidBody | None, ...]
    carrier: RigidBody | None


def recognise(links: tuple[Link, ...], closing: Closing) -> Architecture:
    """The architecture of a leg by its links: a closed form, or `general`."""
    if len(links) != 3 or closing.type != "spherical" or closing.link != 2:
        return "general"
    if [link.parent for link in links] != [-1, 0, 1] or any(link.body and link.body.flexible for link in links):
        return "general"
    kinds = "".join(link.kind for link in links)
    end = closing.on_link.position
    if kinds == "RRP" and links[2].actuated and not links[0].actuated and not links[1].actuated:
        z3 = links[2].placement.rotation[:, 2]
        straight = np.linalg.norm(np.cross(links[2].placement.position, z3)) < EXACT and np.hypot(*end[:2]) < EXACT
        return "UPS" if straight and abs(z3[2]) < EXACT and _universal(links[1]) else "general"
    if kinds in ("PRR", "RRR") and links[0].actuated and not links[1].actuated and not links[2].actuated:
        rod = abs(end[2]) < EXACT and np.hypot(*end[:2]) > EXACT
        if rod and _universal(links[2]):
            return "PUS" if kinds == "PRR" else "RUS"
    return "general"


def _universal(second: Link) -> bool:
    """The second of two revolute links meets the first at one point and a right angle."""
    return bool(np.linalg.norm(second.placement.position) < EXACT and abs(second.placement.rotation[2, 2]) < EXACT)


def leg_frame(n: Array, a: Array, sign: int) -> Array:
    """Axes of L in the world: z = n, y = s n x a / |n x a|, x = y x z."""
    y = np.cross(n, a)
    y = sign * y / np.linalg.norm(y)
    return np.column_stack([np.cross(y, n), y, n])


def closed_form(leg: Leg) -> ClosedFormLeg:
    """The geometry of a leg that `recognise` named."""
    links, closing = leg.links, leg.closing
    first = 0 if leg.architecture == "UPS" else 1
    at_home = link_poses(leg, leg.home)
    displaced = leg.home.copy()
    if first == 1:
        displaced[0] = -links[0].zero
    at_rest = link_poses(leg, displaced)  # actuator displacement zero, passive joints as at home
    S_home = at_home[2][1] + at_home[2][0] @ closing.on_link.position
    n = S_home - at_home[first][1]
    n = n / np.linalg.norm(n)
    a, axis2 = at_home[first][0][:, 2], at_home[first + 1][0][:, 2]
    sign = 1 if float(axis2 @ np.cross(n, a)) > 0 else -1
    R_WL = leg_frame(n, a, sign)
    R_WC = np.column_stack([a, axis2, np.cross(a, axis2)])
    into_L = [snap(R_WL.T @ at_home[i][0]) for i in range(first + 1, 3)]
    q1, q2 = leg.home[first], leg.home[first + 1]
    turn_back = about(at_rest[first][0][:, 2], -q1)
    n0_W = about(axis2, -q2) @ n
    rest_R = at_rest[0][0] if first == 1 else np.eye(3)
    carrier = links[0].body.seen_from(rest_R) if first == 1 and links[0].body else None
    offset = closing.on_link.position
    length = (
        float(np.linalg.norm(offset))
        if first == 1
        else float(links[2].placement.position @ links[2].placement.rotation[:, 2] + offset[2])
    )
    cross = links[first].body
    return ClosedFormLeg(
        U=frozen(snap(at_rest[first][1])),
        axis1=frozen(snap(at_rest[first][0][:, 2])),
        drive=frozen(snap(at_rest[0][0][:, 2]) if first == 1 else np.zeros(3)),
        pivot=frozen(snap(at_rest[0][1]) if leg.architecture == "RUS" else np.zeros(3)),
        S=closing.on_platform.position,
        length=length,
        sign=sign,
        y0=frozen(snap(turn_back @ at_rest[first + 1][0][:, 2])),
        n0=frozen(snap(R_WC.T @ n0_W)),
        cross=cross.seen_from(snap(R_WC.T @ at_home[first][0])) if cross else None,
        bodies=tuple(b.seen_from(R) if b else None for b, R in zip([k.body for k in links[first + 1 :]], into_L, strict=True)),
        carrier=carrier,
    )
