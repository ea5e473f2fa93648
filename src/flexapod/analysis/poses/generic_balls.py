r"""Spherical joints inside a leg, with axes in general position.

A spherical joint before the cut of a leg is three revolute joints, E = Rz(a) P_j Rz(b) P_k Rz(c). Where the first and the third
axis coincide, the coordinates are singular although the joint is not, and a whole operation mode can lie there: the platform of
a 3-RSR that is folded onto its base keeps each ball in its plane. With fixed rotations A and B in general position,

.. math:: E = A\,R_z(a') P_j R_z(b') P_k R_z(c')\,B

reaches the same rotations, and no mode of a mechanism is singular by its coordinates alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.poses.chain_spheres import axes_meet
from flexapod.arrays import Array
from flexapod.robot.geometry import about

if TYPE_CHECKING:
    from flexapod.robot.model import Leg


BEFORE = about(np.array([0.36, -0.48, 0.8]), 1.1)
BEHIND = about(np.array([0.64, 0.6, -0.48]), 0.7)
"""The rotations A and B: any that are not special for a robot would do."""


def with_generic_balls(leg: Leg) -> Leg:
    """The same leg with other coordinates of its inner spherical joints; its home coordinates follow.

    Checked by: tests/analysis/test_loop_poses.py.
    """
    for i in range(len(leg.links) - 2):
        if _is_ball(leg, i):
            leg = _rotated(leg, i)
    return leg


def _is_ball(leg: Leg, i: int) -> bool:
    """Whether links i, i + 1, i + 2 are the three axes of a spherical joint."""
    links = leg.links[i : i + 3]
    passive = all(link.kind == "R" and not link.actuated and not link.elastic for link in links)
    return passive and all(leg.links[j].parent == j - 1 and axes_meet(leg, j) for j in (i + 1, i + 2))


def _rotated(leg: Leg, i: int) -> Leg:
    links, k = list(leg.links), i + 2
    P_j, P_k = links[i + 1].placement.rotation, links[k].placement.rotation
    places = [leg.moving.index(n) for n in (i, i + 1, k)]
    zero = np.array([links[n].zero for n in (i, i + 1, k)])
    a, b, c = leg.home[places] + zero
    M = BEFORE.T @ _rz(a) @ P_j @ _rz(b) @ P_k @ _rz(c) @ BEHIND.T
    home = leg.home.copy()
    home[places] = np.array(ball_angles(M, P_j, P_k)) - zero
    links[i] = replace(links[i], placement=replace(links[i].placement, rotation=links[i].placement.rotation @ BEFORE))
    for n, link in enumerate(links):
        if link.parent == k:
            place = replace(link.placement, position=BEHIND @ link.placement.position, rotation=BEHIND @ link.placement.rotation)
            links[n] = replace(link, placement=place)
    closing = leg.closing
    if closing.link == k:
        on = replace(closing.on_link, position=BEHIND @ closing.on_link.position, rotation=BEHIND @ closing.on_link.rotation)
        closing = replace(closing, on_link=on)
    return replace(leg, links=tuple(links), closing=closing, home=home)


def ball_angles(M: Array, P_j: Array, P_k: Array) -> tuple[float, float, float]:
    """Angles of M = Rz(a) P_j Rz(b) P_k Rz(c) with the z axes of P_j and P_k at right angles to those before them."""
    w, u = P_k[:, 2], P_j[2, :]
    b = _angle(u) - _angle(w) + float(np.arccos(np.clip(M[2, 2], -1.0, 1.0)))
    a = _angle(M[:, 2]) - _angle(P_j @ _rz(b) @ w)
    rest = (_rz(a) @ P_j @ _rz(b) @ P_k).T @ M
    return a, b, _angle(rest[:, 0])


def _angle(v: Array) -> float:
    return float(np.arctan2(v[1], v[0]))


def _rz(angle: float) -> Array:
    return about(np.array([0.0, 0.0, 1.0]), angle)
