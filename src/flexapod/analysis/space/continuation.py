r"""Curves f(x, y) = 0 in a rectangle, followed by prediction along the tangent and correction along the gradient.

Seeds are zeros on the edges of a grid; a curve that passes a seed takes it out of the list. Coordinates are scaled so that the
rectangle is the unit square.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flexapod.arrays import Array

Function = Callable[[Array], Array]

GRADIENT = 1e-6
"""Step of central differences."""

CONVERGED = 1e-12
"""Newton step of a point on a curve."""

LONGEST = 20_000
"""Points of one curve."""


@dataclass(frozen=True)
class Curve:
    """Points (n, 2) of a curve in order; a closed one ends where it starts."""

    points: Array
    closed: bool


def zero_curves(f: Function, cells: int = 48, step: float = 1 / 150) -> list[Curve]:
    """Curves f = 0 in the unit square.

    Args:
        f: values (n,) at points (n, 2); NaN where it is not defined, which ends a curve.
        cells: of the grid along each side; closed curves smaller than a cell may be missed.
        step: largest distance of neighbouring points.

    Checked by: tests/analysis/test_singularities.py.
    """
    seeds = _seeds(f, cells)
    curves: list[Curve] = []
    while len(seeds):
        curve = _follow(f, seeds[0], step)
        if len(curve.points) > 1:
            curves.append(curve)
        seeds = seeds[_distances(seeds, np.vstack([curve.points, seeds[:1]])) > 0.75 * step]
    return curves


def _distances(points: Array, curve: Array) -> Array:
    """Distance of points to the segments of a polyline."""
    if len(curve) < 2:
        return np.asarray(np.linalg.norm(points - curve[0], axis=1))
    a, d = curve[:-1], np.diff(curve, axis=0)
    d[-1] = 0.0  # the seed itself, which is not joined to the curve
    size = np.maximum(np.sum(d * d, axis=1), 1e-300)
    t = np.clip(np.einsum("pkj,kj->pk", points[:, None] - a, d) / size, 0.0, 1.0)
    own = np.linalg.norm(points[:, None] - a - t[..., None] * d, axis=2).min(axis=1)
    return np.asarray(np.minimum(own, np.linalg.norm(points - curve[-1], axis=1)))


def _seeds(f: Function, cells: int) -> Array:
    """Zeros on the edges of a grid, by bisection between points of different sign."""
    x = np.linspace(0.0, 1.0, cells + 1)
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)
    values = f(grid.reshape(-1, 2)).reshape(cells + 1, cells + 1)
    low, high = [], []
    for a, b in ((np.s_[:-1, :], np.s_[1:, :]), (np.s_[:, :-1], np.s_[:, 1:])):
        with np.errstate(invalid="ignore"):
            change = values[a] * values[b] < 0
        low.append(grid[a][change])
        high.append(grid[b][change])
    p, q = np.concatenate(low), np.concatenate(high)
    if len(p) == 0:
        return np.zeros((0, 2))
    fp = f(p)
    for _ in range(50):
        middle = (p + q) / 2
        fm = f(middle)
        same = np.sign(fm) == np.sign(fp)
        p, q = np.where(same[:, None], middle, p), np.where(same[:, None], q, middle)
    return np.asarray((p + q) / 2)


def _gradient(f: Function, at: Array) -> tuple[float, Array]:
    h = GRADIENT
    stencil = at + np.array([[0, 0], [h, 0], [-h, 0], [0, h], [0, -h]])
    values = f(stencil)
    return float(values[0]), np.array([values[1] - values[2], values[3] - values[4]]) / (2 * h)


def _corrected(f: Function, at: Array, reach: float) -> tuple[Array, Array] | None:
    """The point of the curve near `at`, and the gradient there."""
    point = at.copy()
    for _ in range(12):
        value, g = _gradient(f, point)
        size = float(g @ g)
        if not np.isfinite(value) or not np.isfinite(size) or size == 0.0:
            return None
        move = value * g / size
        point = point - move
        if np.linalg.norm(point - at) > reach:
            return None
        if np.linalg.norm(move) < CONVERGED:
            return point, g
    return (point, g) if np.linalg.norm(move) < 1e3 * CONVERGED else None


def _follow(f: Function, seed: Array, step: float) -> Curve:
    """The curve through a seed, both ways."""
    start = _corrected(f, seed, step)
    if start is None:
        return Curve(seed[None], False)
    forth, closed = _one_way(f, start, 1.0, step)
    if closed:
        return Curve(np.array([start[0], *forth, start[0]]), True)
    back, _ = _one_way(f, start, -1.0, step)
    return Curve(np.array([*back[::-1], start[0], *forth]), False)


def _one_way(f: Function, start: tuple[Array, Array], sign: float, step: float) -> tuple[list[Array], bool]:
    """Points after the start until the curve leaves the square, ends or closes."""
    point, g = start
    tangent = sign * np.array([-g[1], g[0]]) / np.linalg.norm(g)
    points: list[Array] = []
    h = step / 4
    while len(points) < LONGEST:
        found = _corrected(f, point + h * tangent, h)
        new = None if found is None else np.array([-found[1][1], found[1][0]]) / max(float(np.linalg.norm(found[1])), 1e-300)
        if new is not None and new @ tangent < 0:
            new = -new
        if found is None or new is None or new @ tangent < 0.9:
            h /= 2
            if h < 1e-6:
                return points, False
            continue
        if np.any((found[0] < 0.0) | (found[0] > 1.0)):
            points.append(_on_border(point, found[0]))
            return points, False
        point, tangent = found[0], new
        points.append(point)
        if len(points) > 3 and np.linalg.norm(point - start[0]) < h and (start[0] - points[-2]) @ tangent > 0:
            return points, True
        h = min(1.5 * h, step) if new @ tangent > 0.98 else h
    return points, False


def _on_border(inside: Array, outside: Array) -> Array:
    """Point at which a short segment leaves the unit square."""
    way = outside - inside
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(way > 0, (1.0 - inside) / way, np.where(way < 0, -inside / way, np.inf))
    return np.clip(inside + way * min(1.0, float(t.min())), 0.0, 1.0)
