"""Positions of a leg's links and the closing of its loop, in numbers: used to put a robot together and to count its mobility.

A closing row is a pair (linear, angular) acting on the velocity of the link half relative to the platform half, taken at
the joint centre; J_leg and J_platform are its derivatives with respect to coordinates and platform twist (v, omega).
"""

from __future__ import annotations

import numpy as np

from flexapod.robot.geometry import Array, Pose, skew
from flexapod.robot.model import Closing, Leg


def link_poses(leg: Leg, coordinates: Array) -> list[tuple[Array, Array]]:
    """World rotation and origin of every link frame.

    Args:
        coordinates: (n,) of the links that move, in order.
    """
    result: list[tuple[Array, Array]] = []
    values = iter(coordinates)
    for link in leg.links:
        R, p = (np.eye(3), np.zeros(3)) if link.parent < 0 else result[link.parent]
        p = p + R @ link.placement.position
        R = R @ link.placement.rotation
        if link.kind == "R":
            angle = float(next(values)) + link.zero
            c, s = np.cos(angle), np.sin(angle)
            R = R @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        elif link.kind == "P":
            p = p + R[:, 2] * (float(next(values)) + link.zero)
        result.append((R, p))
    return result


def ancestors(leg: Leg, link: int) -> list[int]:
    """Links from `link` down to the base."""
    chain = []
    while link >= 0:
        chain.append(link)
        link = leg.links[link].parent
    return chain


def closure(leg: Leg, coordinates: Array, platform: Pose) -> tuple[Array, Array, Array]:
    """Residual of the closing joint and its derivatives.

    Returns:
        residual (m,), J_leg (m, n), J_platform (m, 6).
    """
    poses = link_poses(leg, coordinates)
    closing = leg.closing
    R_l, p_l = poses[closing.link] if closing.link >= 0 else (np.eye(3), np.zeros(3))
    p_l = p_l + R_l @ closing.on_link.position
    R_l = R_l @ closing.on_link.rotation
    p_p = platform.point(closing.on_platform.position)
    R_p = platform.rotation @ closing.on_platform.rotation
    residual, rows = closing_rows(closing, R_l, p_l, R_p, p_p)
    moving = leg.moving
    J_leg = np.zeros((len(rows), len(moving)))
    for i in ancestors(leg, closing.link):
        if leg.links[i].kind == "fixed":
            continue
        R, p = poses[i]
        z = R[:, 2]
        twist = np.concatenate([z, np.zeros(3)]) if leg.links[i].kind == "P" else np.concatenate([np.cross(z, p_l - p), z])
        J_leg[:, moving.index(i)] = rows @ twist
    arm = p_l - platform.position
    transfer = np.block([[np.eye(3), -skew(arm)], [np.zeros((3, 3)), np.eye(3)]])
    return residual, J_leg, -rows @ transfer


POINT = ("point", 0), ("point", 1), ("point", 2)
SLIDING = ("along", 0), ("along", 1)
PARALLEL = ("axes", 0, 2), ("axes", 1, 2)
ALIGNED = ("axes", 1, 2), ("axes", 2, 0), ("axes", 0, 1)

ROWS: dict[str, tuple[tuple[str | int, ...], ...]] = {
    "spherical": POINT,
    "universal": (*POINT, ("axes", 2, 2)),
    "revolute": (*POINT, *PARALLEL),
    "cylindrical": (*SLIDING, *PARALLEL),
    "prismatic": (*SLIDING, *ALIGNED),
    "fixed": (*POINT, *ALIGNED),
}
"""What each joint forbids, as scalars that vanish when it is closed. With e from the platform half to the link half:
`point i` is e along world axis i, `along i` is e along axis i of the platform half, `axes i j` is axis i of the platform
half times axis j of the link half."""


def closing_rows(closing: Closing, R_l: Array, p_l: Array, R_p: Array, p_p: Array) -> tuple[Array, Array]:
    """Residual (m,) and rows (m, 6) on the relative twist (linear, angular) at the joint."""
    e, none = p_l - p_p, np.zeros(3)
    residual, rows = [], []
    for row in ROWS[closing.type]:
        i = int(row[1])
        if row[0] == "axes":
            a, c = R_p[:, i], R_l[:, int(row[2])]
            residual.append(a @ c)
            rows.append(np.concatenate([none, np.cross(c, a)]))
        else:
            direction = np.eye(3)[i] if row[0] == "point" else R_p[:, i]
            residual.append(direction @ e)
            rows.append(np.concatenate([direction, none]))
    return np.array(residual), np.array(rows)
