"""Positions of a leg's links and the closing of its loop, in numbers: used to put a robot together and to count its mobility.

A closing row is a pair (linear, angular) acting on the velocity of the link half relative to the platform half, taken at
the joint centre; J_leg and J_platform are its derivatives with respect to coordinates and platform twist (v, omega).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.geometry import Pose
from flexapod.robot.model import Closing, Coupling, Leg, Link
from flexapod.rotation_arrays import cross, skew


def link_poses(leg: Leg, coordinates: Array) -> list[tuple[Array, Array]]:
    """World rotation and origin of every link frame of a leg; see `link_frames`."""
    return link_frames(leg.links, coordinates)


OWN_LINK = "platform"
"""Name of the fixed joint between the platform and the link that is the platform."""


def link_frames(links: Sequence[Link], coordinates: Array) -> list[tuple[Array, Array]]:
    """World rotation and origin of every link frame of a tree.

    Args:
        coordinates: (n,) of the links that move, in order.
    """
    result: list[tuple[Array, Array]] = []
    values = iter(coordinates)
    for link in links:
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
    """Residual of the joints at which a leg that closes alone is cut, and its derivatives.

    Returns:
        residual (m,), J_leg (m, n), J_platform (m, 6).
    """
    return closures((leg,), [coordinates], platform)[0]


def closes_alone(legs: Sequence[Leg]) -> bool:
    """Every loop runs through one leg, nothing couples joints: the platform's pose closes each leg by itself."""
    alone = all(closing.to is None or closing.to[0] == i for i, leg in enumerate(legs) for closing in leg.closings)
    return alone and not any(leg.couplings for leg in legs)


def free_joints(leg: Leg) -> set[int]:
    """Last links of free joints that connect to the world."""
    found = set()
    for k, link in enumerate(leg.links):
        joint = leg.links[k : k + 6]
        if link.parent < 0 and [each.kind for each in joint] == list("PPPRRR") and {each.joint for each in joint} == {link.joint}:
            found.add(k + 5)
    return found


def follows_platform(legs: Sequence[Leg]) -> bool:
    """Whether each leg closes by itself, and the same rows of it decide at every pose.

    Not so where the platform is a link in a loop: the pin of a crank moves along x here and along y there, so that all loops are
    closed together from the actuators.
    """
    carried = any(leg.cuts and leg.closing.joint == OWN_LINK and leg.closing.type == "fixed" for leg in legs)
    return closes_alone(legs) and not carried


def leg_rows(leg: Leg) -> tuple[tuple[str | int, ...], ...]:
    """Constraints of the joints at which a leg is cut, one after the other; see `ROWS`."""
    return tuple(row for closing in leg.closings for row in ROWS[closing.type])


def closures(legs: Sequence[Leg], coordinates: Sequence[Array], platform: Pose) -> list[tuple[Array, Array, Array]]:
    """Closing equations of every leg: residual (m,) of all joints at which it is cut, derivatives (m, n) by the coordinates of
    all legs, (m, 6) by the platform's twist. One leg alone: its inner loops are its own."""
    poses, result = [link_poses(leg, q) for leg, q in zip(legs, coordinates, strict=True)], []
    for i, leg in enumerate(legs):
        found = [_closure(legs, poses, i, closing, platform) for closing in leg.closings]
        found += [_coupled(legs, coordinates, coupling) for coupling in leg.couplings]
        r, J, P = (np.concatenate([part[k] for part in found]) for k in range(3))
        result.append((r, J, P))
    return result


def _coupled(legs: Sequence[Leg], coordinates: Sequence[Array], coupling: Coupling) -> tuple[Array, Array, Array]:
    """Residual and derivatives of a coupling, as `_closure` has them of a joint."""
    first = [sum(len(leg.moving) for leg in legs[:k]) for k in range(len(legs) + 1)]
    J = np.zeros((1, first[-1]))
    for leg, k, factor in coupling.terms:
        J[0, first[leg] + k] = factor
    residual = J @ np.concatenate(coordinates) - coupling.home
    return residual, J, np.zeros((1, 6))


def _closure(
    legs: Sequence[Leg], poses: Sequence[list[tuple[Array, Array]]], i: int, closing: Closing, platform: Pose
) -> tuple[Array, Array, Array]:
    """Residual of one joint of leg i, its derivatives by the coordinates of all legs and by the platform's twist."""
    R_l, p_l = _frame(poses[i], closing.link)
    p_l, R_l = p_l + R_l @ closing.on_link.position, R_l @ closing.on_link.rotation
    k, link = closing.to or (i, -1)
    k = k if len(legs) > 1 else 0
    R_t, p_t = (platform.rotation, platform.position) if closing.to is None else _frame(poses[k], link)
    p_p, R_p = p_t + R_t @ closing.on_platform.position, R_t @ closing.on_platform.rotation
    residual, rows = closing_rows(closing, R_l, p_l, R_p, p_p)
    first = [sum(len(leg.moving) for leg in legs[:k]) for k in range(len(legs) + 1)]
    J = np.zeros((len(rows), first[-1]))
    J[:, first[i] : first[i + 1]] += rows @ _twists(legs[i], poses[i], closing.link, p_l)
    if closing.to is not None:
        J[:, first[k] : first[k + 1]] -= rows @ _twists(legs[k], poses[k], link, p_l)
        return residual, J, np.zeros((len(rows), 6))
    transfer = np.eye(6)
    transfer[:3, 3:] = -skew(p_l - platform.position)
    return residual, J, -rows @ transfer


def _frame(poses: list[tuple[Array, Array]], link: int) -> tuple[Array, Array]:
    """Frame of a link; of the world below zero."""
    return poses[link] if link >= 0 else (np.eye(3), np.zeros(3))


def _twists(leg: Leg, poses: list[tuple[Array, Array]], link: int, point: Array) -> Array:
    """(6, n) twist (linear at a world point, angular) of a link per coordinate of its leg."""
    moving, T = leg.moving, np.zeros((6, len(leg.moving)))
    for i in ancestors(leg, link):
        R, p = poses[i]
        z = R[:, 2]
        if leg.links[i].kind == "P":
            T[:3, moving.index(i)] = z
        elif leg.links[i].kind == "R":
            k = moving.index(i)
            T[:3, k], T[3:, k] = cross(z, point - p), z
    return T


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
"""Constraints of each joint, as scalars that vanish when it is closed. With e from the platform half to the link half: `point i`
is e along world axis i, `along i` is e along axis i of the platform half, `axes i j` is axis i of the platform half times axis j
of the link half."""


def closing_rows(closing: Closing, R_l: Array, p_l: Array, R_p: Array, p_p: Array) -> tuple[Array, Array]:
    """Residual (m,) and rows (m, 6) on the relative twist (linear, angular) at the joint."""
    e, kinds = p_l - p_p, ROWS[closing.type]
    residual, rows = np.empty(len(kinds)), np.zeros((len(kinds), 6))
    for k, row in enumerate(kinds):
        i = int(row[1])
        if row[0] == "axes":
            a, c = R_p[:, i], R_l[:, int(row[2])]
            residual[k], rows[k, 3:] = a @ c, cross(c, a)
        elif row[0] == "point":
            residual[k], rows[k, i] = e[i], 1.0
        else:
            residual[k], rows[k, :3] = R_p[:, i] @ e, R_p[:, i]
    return residual, rows
