"""Legs with a closed form, and their geometry in the notation of the papers.

`recognise` names legs whose whole motion is one, `reach` those whose joint positions follow from their end alone.

A universal joint (axis1 a, centre U) and the direction n to S fix the leg frame L without any angle:
z = n, y = s n x a / |n x a| (the second axis), x = y x z; the cross frame C has x = a, y as L. Bodies of such legs are
constant in C or L, so their inertial data is brought there once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.geometry import about, frozen, snap
from flexapod.robot.leg_positions import link_poses
from flexapod.robot.model import Architecture, Closing, Leg, Link, RigidBody

Z = np.array([0.0, 0.0, 1.0])

EXACT = 1e-12
"""Axes and centres that coincide or are perpendicular to this (m or radian) count as designed so."""


Reach = Literal["UPS", "PUS", "RUS", "PSR", "RSR", "PRR", "RR", "PR", "RP", "general"]
"""Joints whose positions follow from the place of the leg's end: a drive and a universal joint, a drive and a ball before a
hinge, two joints in a plane, or two hinges on a slide across their plane."""


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
    """The architecture of a leg by its links: a closed form of its whole motion, or `general`."""
    if len(links) != 3 or closing.type != "spherical" or closing.link != 2 or not _plain(links):
        return "general"
    found = _geometry(links, closing.on_link.position)
    driven = tuple(link.actuated for link in links)
    if found == "UPS":
        return found if driven == (False, False, True) else "general"
    return found if found in ("PUS", "RUS") and driven == (True, False, False) else "general"


def reach(leg: Leg) -> Reach:
    """The joints of a leg by which its end S is met in closed form, whatever joint is there and whichever is driven.

    Checked by: tests/equations/test_leg_positions.py.
    """
    if leg.architecture != "general":
        return leg.architecture
    links, n, closing = leg.links, len(leg.moving), leg.closing
    if n not in (2, 3, 4) or leg.moving[-1] != n - 1 or leg.cuts or leg.couplings or closing.to is not None:
        return "general"
    if closing.link != len(links) - 1 or closing.type not in ("spherical", "universal", "revolute", "fixed") or not _plain(links):
        return "general"
    tip = tip_of(leg)
    if n == 4:
        return _ball(links, closing, tip)
    found = _geometry(links[:n], tip)
    if found != "UPS":
        return found
    R, p = link_poses(leg, leg.home)[2]  # a leg that is folded the other way has the other root
    return found if (p + R @ tip - links[0].placement.position) @ R[:, 2] > 0.0 else "general"


def closes(leg: Leg, rows: Sequence[int], axes: Array | None = None) -> bool:
    """The reach of a leg meets just the closing rows that a plan solves, also where the platform leaves the leg's plane.

    Args:
        rows: of the plan; axes: (3, 3) directions, in columns, of the rows that hold a point; world axes if left out.
    """
    kind, missing = reach(leg), {0, 1, 2} - set(rows)
    if kind in ("PSR", "RSR"):
        return not missing and len(rows) == 4
    if kind == "general" or len(rows) != len(leg.moving) or len(missing) + len(rows) != 3:
        return False
    if len(rows) == 3:
        return True
    poses = link_poses(leg, leg.home)
    normal, across = poses[1 if kind == "PR" else 0][0][:, 2], (np.eye(3) if axes is None else axes)[:, missing.pop()]
    return bool(abs(abs(across @ normal) - 1.0) < EXACT)


def roots(leg: Leg) -> tuple[int, int]:
    """Roots that a leg with a reach has at home: of its drive (0: U-P-S has one), of its first universal angle (0: none), which
    for a ball is the first of its three."""
    kind, n = reach(leg), len(leg.moving)
    q = leg.home + np.array([leg.links[i].zero for i in leg.moving])
    R, p = ([getattr(link.placement, part) for link in leg.links] for part in ("rotation", "position"))
    R_end, p_end = link_poses(leg, leg.home)[n - 1]
    tip, c, s = tip_of(leg), np.cos(q[0]), np.sin(q[0])
    d = R[0].T @ (p_end + R_end @ tip - p[0])
    drive, first = 0, 0
    if kind == "PRR":  # two hinges where the slide has brought them
        d = R[1].T @ (d - p[1] - np.array([0.0, 0.0, q[0]]))
        c, s = np.cos(q[1]), np.sin(q[1])
        across, along = p[2][0] * d[1] - p[2][1] * d[0], p[2][0] * d[0] + p[2][1] * d[1]
        return (1 if s * along - c * across > 0 else -1), 0
    if kind in ("RUS", "RSR", "RR"):
        across, along = p[1][0] * d[1] - p[1][1] * d[0], p[1][0] * d[0] + p[1][1] * d[1]
        drive = 1 if s * along - c * across > 0 else -1
        d = R[1].T @ (np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ d - p[1])
    elif kind in ("PUS", "PSR", "PR"):
        d = R[1].T @ (d - p[1] - np.array([0.0, 0.0, q[0]]))
        drive = 1 if d @ R[1][2] < 0.0 else -1
    elif kind == "RP":
        drive = 1 if q[1] + (p[1] + R[1] @ tip) @ R[1][:, 2] > 0.0 else -1
    if n == 2:
        return drive, 0
    if kind != "UPS":
        first = 1
    if n == 4:  # the ball's last axis takes the place of the rod
        d = about(Z, q[1]) @ R[2] @ about(Z, q[2]) @ R[3][:, 2]
    k, angle = R[first + 1][:, 2], q[first]
    x, y = k[0] * d[0] + k[1] * d[1], k[0] * d[1] - k[1] * d[0]
    return drive, 1 if np.cos(angle) * y - np.sin(angle) * x > 0 else -1


def tip_of(leg: Leg) -> Array:
    """(3,) where the leg ends, in axes of its last moving link."""
    tip = leg.closing.on_link.position
    for link in reversed(leg.links[len(leg.moving) :]):
        tip = link.placement.position + link.placement.rotation @ tip
    return np.asarray(tip)


def _plain(links: tuple[Link, ...]) -> bool:
    """One rigid link after the other."""
    return all(k.parent == i - 1 and not k.elastic and not (k.body and k.body.flexible) for i, k in enumerate(links))


def _geometry(links: tuple[Link, ...], tip: Array) -> Reach:
    """Joints by which a tip (3,), in axes of the last link, is placed."""
    kinds, wide, last = "".join(link.kind for link in links), np.hypot(*tip[:2]) > EXACT, links[-1].placement
    lean = abs(last.rotation[2, 2])  # cosine between the last axis and the one before
    if kinds == "RR" and abs(lean - 1.0) < EXACT and wide and np.hypot(*last.position[:2]) > EXACT:
        return "RR"
    if kinds == "PRR" and all(abs(abs(k.placement.rotation[2, 2]) - 1.0) < EXACT for k in links[1:]):
        return "PRR" if wide and np.hypot(*last.position[:2]) > EXACT else "general"
    if lean >= EXACT:
        return "general"
    if kinds == "RP" or (kinds == "PR" and wide):
        return "RP" if kinds == "RP" else "PR"
    if kinds in ("PRR", "RRR") and _universal(links[2]) and wide and abs(tip[2]) < EXACT:
        return "PUS" if kinds == "PRR" else "RUS"
    through = np.linalg.norm(np.cross(last.position, last.rotation[:, 2])) < EXACT  # the universal joint's centre
    return "UPS" if kinds == "RRP" and _universal(links[1]) and through and not wide else "general"


def _ball(links: tuple[Link, ...], closing: Closing, tip: Array) -> Reach:
    """A drive, a ball as three rotations about one point, and a hinge at the platform whose axis is not the rod's."""
    kinds, axis = "".join(link.kind for link in links), closing.on_link.rotation[:, 2]
    if kinds not in ("PRRR", "RRRR") or closing.type != "revolute" or not all(_universal(link) for link in links[2:]):
        return "general"
    if np.linalg.norm(np.cross(axis, tip)) < EXACT or (kinds == "RRRR" and np.hypot(*links[1].placement.position[:2]) < EXACT):
        return "general"
    return "PSR" if kinds == "PRRR" else "RSR"


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
    rotation_back = about(at_rest[first][0][:, 2], -q1)
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
        y0=frozen(snap(rotation_back @ at_rest[first + 1][0][:, 2])),
        n0=frozen(snap(R_WC.T @ n0_W)),
        cross=cross.seen_from(snap(R_WC.T @ at_home[first][0])) if cross else None,
        bodies=tuple(b.seen_from(R) if b else None for b, R in zip([k.body for k in links[first + 1 :]], into_L, strict=True)),
        carrier=carrier,
    )
