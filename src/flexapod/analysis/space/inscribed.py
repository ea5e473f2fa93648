"""The largest ball and the largest box inside a set that is given by a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.errors import InputError

Inside = Callable[[Array], NDArray[np.bool_]]

GRID = 17
"""Points along each side of the grid on which centres are searched."""


def _grid(inside: Inside, low: Array, high: Array) -> tuple[Array, NDArray[np.bool_], Array]:
    axes = [np.linspace(a, b, GRID) for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    return points, inside(points.reshape(-1, 3)).reshape(points.shape[:3]), (high - low) / (GRID - 1)


def largest_ball(vertices: Array, faces: NDArray[np.int64], inside: Inside, low: Array, high: Array) -> tuple[Array, float]:
    """Centre and radius: the distance to the surface is largest there, by a search from the best point of a grid."""
    from scipy.optimize import minimize
    from scipy.spatial import cKDTree

    middles = vertices[faces].mean(axis=1)
    tree = cKDTree(np.concatenate([vertices, middles]))
    points, valid, spacing = _grid(inside, vertices.min(axis=0), vertices.max(axis=0))
    own = points[valid]
    if len(own) == 0:
        raise InputError("ball: no point of the search grid is inside; the solid is too thin")
    start = own[np.argmax(tree.query(own)[0])]
    size = float(spacing.max())

    def depth(point: Array) -> float:
        return -float(tree.query(point)[0])

    simplex = start + size * np.vstack([np.zeros(3), np.eye(3)])
    options: Any = {"xatol": 1e-6 * size, "fatol": 1e-9 * size, "initial_simplex": simplex}
    best = minimize(depth, start, method="Nelder-Mead", options=options)
    centre = best.x if inside(best.x[None])[0] else start
    return np.asarray(centre), float(tree.query(centre)[0])


def largest_box(inside: Inside, low: Array, high: Array, aspect: Array) -> tuple[Array, Array]:
    """Corners of the largest box of given aspect: from the deepest points of a grid, grown while its samples are inside."""
    from scipy.ndimage import distance_transform_cdt

    if np.any(aspect <= 0):
        raise InputError("aspect: three positive numbers are needed")
    shape = aspect / aspect.max()
    side = float(np.max((high - low) / shape))
    axes = [np.arange(a, b + s * side / (2 * GRID), s * side / (2 * GRID)) for a, b, s in zip(low, high, shape, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    valid = np.pad(inside(points.reshape(-1, 3)).reshape(points.shape[:3]), 1)
    depth = distance_transform_cdt(valid, metric="chessboard")[1:-1, 1:-1, 1:-1]
    if depth.max() < 1:
        raise InputError("box: no point of the search grid is inside; the solid is too thin")
    t = np.linspace(-1.0, 1.0, 13)
    probe = np.stack(np.meshgrid(t, t, t, indexing="ij"), axis=-1).reshape(-1, 3)

    def fits(centre: Array, size: float) -> bool:
        return bool(np.all(inside(centre + probe * shape * size)))

    best, chosen = 0.0, points[np.unravel_index(np.argmax(depth), depth.shape)]
    step = side / (2 * GRID)
    for centre in points[depth >= depth.max() - 1].reshape(-1, 3)[:40]:
        a, b = best, (float(depth.max()) + 2) * step
        if best and not fits(centre, best * 1.001):
            continue
        while b - a > 1e-4 * b:
            a, b = ((a + b) / 2, b) if fits(centre, (a + b) / 2) else (a, (a + b) / 2)
        if a > best:
            best, chosen = a, centre
    return chosen - best * shape, chosen + best * shape
