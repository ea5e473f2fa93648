"""Bounds, valid everywhere, of the second derivatives of the closing equations of legs.

Joints only rotate and slide. A row that keeps a point changes with two rotations by the distance of the point from the later
joint, with a rotation and a later slide by 1; a row of axes changes with two rotations by 1. Letters as in
`flexapod.analysis.space.contraction`: L characteristic length, H second derivatives by two coordinates, T by a coordinate and the
platform's rotation.

Checked by: tests/analysis/test_tube_bounds.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.leg_positions import ROWS

if TYPE_CHECKING:
    from flexapod.analysis.space.contraction import Contraction, LoopBlock
    from flexapod.robot.model import Leg


LONGER = 0.25
"""Strokes may be longer than at the middle by this part of the characteristic length: radii are held below it."""


class Curvature:
    """Bounds of second derivatives of the rows of a block: H and T of the module."""

    def __init__(self, balls: Contraction, block: LoopBlock, q: Array) -> None:
        robot, length, self.legs = balls.robot, balls.length, []
        dependent = len(block.columns) + np.flatnonzero([k > 2 for k in block.dependent])
        arms, points, first = [], [], 0
        for i in block.legs:
            leg = robot.legs[i]
            kinds = ROWS[leg.closing.type]
            own, cut = np.arange(first, first + len(leg.moving)), balls.columns[i]
            rotations = own[[leg.links[k].kind == "R" for k in leg.moving]]
            arm = float(np.linalg.norm(leg.closing.on_platform.position)) / length
            rotating = np.concatenate([rotations, dependent])
            self.legs.append((own, leg, _distances(leg, q[:, cut], length), rotating, arm, len(kinds)))
            points += [row[0] == "point" for row in kinds]
            arms += [arm if row[0] == "point" else 1.0 for row in kinds]
            first += len(leg.moving)
        self.dependent, self.chosen = dependent, block.rows
        self.points, self.arms = np.array(points)[block.rows], np.array(arms)[block.rows]
        ones = np.ones((len(q), len(block.columns) + len(block.dependent)))
        self.size = 1.0 + self.product(ones, ones)

    def product(self, a: Array, b: Array) -> Array:
        """H(a, b) of half widths (n, unknowns) each; (n, rows)."""
        found = []
        for own, leg, far, rotating, arm, count in self.legs:
            keeps, before = np.zeros(len(a)), np.zeros((2, len(a)))
            for k, number in enumerate(leg.moving):
                x, y = a[:, own[k]], b[:, own[k]]
                crossed = x * before[1] + y * before[0]
                if leg.links[number].kind == "R":
                    keeps += far[:, k] * (x * y + crossed)
                    before = before + np.stack([x, y])
                else:
                    keeps += crossed
            keeps = keeps + arm * a[:, self.dependent].sum(axis=1) * b[:, self.dependent].sum(axis=1)
            pair = np.stack([keeps, a[:, rotating].sum(axis=1) * b[:, rotating].sum(axis=1)], axis=1)
            found.append(pair[:, None].repeat(count, 1))
        both = np.concatenate(found, axis=1)[:, self.chosen]
        return np.where(self.points, both[..., 0], both[..., 1])

    def along(self, r: Array) -> Array:
        """T r (n, rows) for a rotation of the platform by 1 rad."""
        found = []
        for _, _, _, rotating, arm, count in self.legs:
            pair = np.stack([arm * r[:, self.dependent].sum(axis=1), r[:, rotating].sum(axis=1)], axis=1)
            found.append(pair[:, None].repeat(count, 1))
        both = np.concatenate(found, axis=1)[:, self.chosen]
        return np.where(self.points, both[..., 0], both[..., 1])

    def change(self, r: Array, spin: Array) -> Array:
        """Change of the rows of passive joints and platform (n, rows), summed over columns: three columns are rotations."""
        ones, spin = np.ones_like(r), spin[:, None]
        rotations = self.arms * spin + np.where(self.points, 0.0, self.along(r))
        return self.product(r, ones) + self.along(ones) * spin + 3.0 * rotations


def _distances(leg: Leg, q: Array, length: float) -> Array:
    """Largest distance (n, joints) of a leg's closing joint from each of its joints over L, strokes `LONGER` than they are."""
    far = np.full(len(q), float(np.linalg.norm(leg.closing.on_link.position)))
    found, k = np.zeros((len(q), len(leg.moving))), len(leg.moving)
    for link in reversed(leg.links):
        if link.kind != "fixed":
            k -= 1
            found[:, k] = far / length
            far = far + (np.abs(q[:, k] + link.zero) + LONGER * length if link.kind == "P" else 0.0)
        far = far + float(np.linalg.norm(link.placement.position))
    return found
