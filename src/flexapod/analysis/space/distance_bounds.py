r"""Lower bounds of the distance to type 2 singularities over regions of poses.

The distance is the smallest singular value of [J; G], columns over (1/L, 1), rows of length 1 (marked by a hat). Where rows M at
the middle of a region change by at most E in it,

.. math:: \sigma(\hat M + \Delta) \ge \sigma(\hat M) - \|\Delta\|_F,\qquad
          \|\Delta_i\| \le \frac{2\,\|E_i\|}{2\,\|M_i\| - \|E_i\|}

(Weyl; Dunkl and Williams for rows of length 1). Of legs that are closed by iteration, with B the block that is solved for the
coordinates, P the derivatives by the platform's twist and X = B^{-1} P,

.. math:: |\Delta X| \le (1 - |B^{-1}|\,|\Delta B|)^{-1}\,|B^{-1}|\,(|\Delta P| + |\Delta B|\,|X|)

Checked by: tests/analysis/test_path_between.py, tests/analysis/test_path_tube.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.poses.closing_curvature import Curvature
from flexapod.arrays import Array

if TYPE_CHECKING:
    from flexapod.analysis.space.contraction import Balls, Contraction


ROUNDING = 1e-11
"""Rounding of rows of length 1 and of their singular values: a thousand times that of double precision sums."""

FARTHEST = 1e9
"""Half width [rad or characteristic lengths] of a region in which nothing is proven."""


def least_distance(rows: Array, change: Array) -> tuple[Array, Array]:
    """Lower bound of the distance in regions (n,), and the distance at their middles.

    Args:
        rows: (n, m, 6) at the middles, columns scaled; change: (n, m, 6) the most that they change.
    """
    good = np.all(np.isfinite(rows), axis=(1, 2))
    rows = np.where(good[:, None, None], rows, 0.0)
    size, moved = np.linalg.norm(rows, axis=2), np.linalg.norm(np.nan_to_num(change, nan=FARTHEST), axis=2)
    middle = np.zeros(len(rows))
    if rows.shape[1] >= 6:
        unit = rows / np.where(size > 0.0, size, 1.0)[..., None]
        middle = np.where(good, np.linalg.svd(unit, compute_uv=False)[:, 5], 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rotated = np.where(moved < size, 2.0 * moved / (2.0 * size - moved), np.inf)
    return middle - np.linalg.norm(rotated, axis=1) * (1.0 + ROUNDING) - ROUNDING, middle


def tube_distance(balls: Contraction, found: Balls) -> Array:
    """Lower bound (n,) of the distance in the regions of `found`, on its branch; negative where nothing is known."""
    J, G, changed_J, changed_G = [], [], [], []
    robot = balls.robot
    for i, leg in enumerate(robot.legs):
        plan, driven = robot.plan.legs[i], [k for k, number in enumerate(leg.moving) if leg.links[number].actuated]
        if sorted(plan.dependents) != list(range(len(leg.moving))):
            return np.full(len(found.q), -1.0)
        A, P, dA, dP = _leg_rows(balls, found, i)
        rows, left = list(plan.rows), list(plan.leftover)
        X, dX = _solved(A[:, rows], P[:, rows], dA[:, rows], dP[:, rows])
        J.append(X[:, driven])
        changed_J.append(dX[:, driven])
        G.append(P[:, left] - A[:, left] @ X)
        changed_G.append(dP[:, left] + dA[:, left] @ (np.abs(X) + dX) + np.abs(A[:, left]) @ dX)
    kept = list(robot.plan.constraints)
    every = np.concatenate([*J, np.concatenate(G, axis=1)[:, kept]], axis=1)
    change = np.concatenate([*changed_J, np.concatenate(changed_G, axis=1)[:, kept]], axis=1)
    return least_distance(every, change)[0]


def _leg_rows(balls: Contraction, found: Balls, i: int) -> tuple[Array, Array, Array, Array]:
    """Closing rows of a leg by its coordinates and by the twist, and the most that both change in the regions."""
    from flexapod.analysis.poses.complex_loops import leg_closure
    from flexapod.analysis.space.contraction import LoopBlock

    leg, cut = balls.robot.legs[i], balls.columns[i]
    _, by_leg, by_platform, _ = leg_closure(leg, found.q[:, cut], found.p, found.R, balls.length)
    A, P = by_leg.real * balls.scale[cut], by_platform.real
    r, spin = np.minimum(found.radius[:, cut], FARTHEST), np.minimum(found.rotated, FARTHEST)[:, None]
    block = LoopBlock(legs=(i,), rows=np.arange(A.shape[1]), columns=np.arange(cut.start, cut.stop), dependent=())
    second = Curvature(balls, block, found.q)
    dA, dP, unit = np.zeros_like(A), np.zeros_like(P), np.eye(r.shape[1])
    for k in range(r.shape[1]):
        e = np.tile(unit[k], (len(r), 1))
        dA[:, :, k] = second.product(r, e) + second.along(e) * spin
    dP[:, :, 3:] = (second.arms * spin + np.where(second.points, 0.0, second.along(r)))[..., None]
    return A, P, dA + ROUNDING, dP + ROUNDING


def _solved(B: Array, P: Array, dB: Array, dP: Array) -> tuple[Array, Array]:
    """X = B^-1 P (n, k, 6), and the most that it changes; `FARTHEST` where B may be singular."""
    from flexapod.analysis.space.contraction import inverses

    if B.shape[1] == 0:  # a leg without joints of its own
        return np.zeros((len(B), 0, 6)), np.zeros((len(B), 0, 6))
    inverse = inverses(B)
    with np.errstate(invalid="ignore", over="ignore"):
        X, size = inverse @ P, np.abs(inverse)
        K = np.nan_to_num(size @ dB, nan=np.inf)
        good = (K.sum(axis=2).max(axis=1) < 1.0) & np.all(np.isfinite(X), axis=(1, 2))
        first = size @ (dP + dB @ np.abs(X))
    one = np.eye(B.shape[1])
    spread = np.linalg.inv(one - np.where(good[:, None, None], K, 0.0)) @ np.where(good[:, None, None], first, 0.0)
    return np.where(good[:, None, None], X, 0.0), np.where(good[:, None, None], spread * (1.0 + ROUNDING), FARTHEST)
