r"""Three rotations in a row, of spherical and free joints: counted from home where their own axes are singular.

.. math:: R = P\,R_x(a)\,R_y(b)\,R_z(c),\qquad P' = R_h R_0^T P

Two of the axes meet where b is a right angle: there the three rates do not make every angular velocity, and a spring about each
axis is none about the joint. With P' the orientation R_h of home is that of zero angles, whose axes are at right angles.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.geometry import pose, snap
from flexapod.robot.leg_positions import link_frames
from flexapod.robot.model import Leg

NEAR = 0.2
"""Sine of the angle between the first and the last axis below which a joint is near its lock, 12 degrees from it."""


def away_from_lock(leg: Leg, q: Array) -> tuple[Leg, Array]:
    """The leg, and its coordinates at home, with sprung spherical joints and those near their lock counted from home.

    Checked by: tests/robot/test_joint_types.py.
    """
    for rows in _triples(leg):
        own = [leg.moving.index(i) for i in rows]
        first, middle = leg.links[rows[0]], leg.links[rows[1]]
        near = abs(float(np.cos(q[own[1]] + middle.zero))) < NEAR
        if not (first.spring or near) or not q[own].any():
            continue
        still = q.copy()
        still[own] = 0.0
        home, zero = link_frames(leg.links, q)[rows[2]][0], link_frames(leg.links, still)[rows[2]][0]
        parent = link_frames(leg.links, q)[first.parent][0] if first.parent >= 0 else np.eye(3)
        rotated = snap(parent.T @ home @ zero.T @ parent @ first.placement.rotation)
        links = list(leg.links)
        links[rows[0]] = replace(first, placement=pose(first.placement.position, rotated))
        leg, q = replace(leg, links=tuple(links)), still
    return leg, q


def _triples(leg: Leg) -> list[tuple[int, int, int]]:
    """Links of every three rotations of one joint in a row."""
    found = []
    for k in range(len(leg.links) - 2):
        three = leg.links[k : k + 3]
        same = len({link.joint for link in three}) == 1 and all(link.kind == "R" and not link.elastic for link in three)
        if same and three[1].parent == k and three[2].parent == k + 1:
            found.append((k, k + 1, k + 2))
    return found
