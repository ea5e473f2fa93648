"""Outlines of plates: simple polygons with holes, their checks and measures. Corners (n, 2) in the plate's plane [m]."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Mask
from flexapod.calls import checked
from flexapod.flexible.checked_arrays import Floats, checked_integer, floats, positive
from flexapod.flexible.errors import FlexibleBodyError

CLOSE = 1e-9
"""Distances below this part of the outline's size are zero."""


@checked
def regular_outline(sides: int, radius: float) -> Floats:
    """Corners (sides, 2) of a regular polygon in a circle about the origin, the first at (radius, 0), counter-clockwise.

    Args:
        sides: number of corners.
        radius: of the circle [m].
    Returns:
        (sides, 2) corners [m].

    Checked by: tests/flexible/test_polygon.py.
    """
    checked_integer("sides", sides, 3)
    positive("radius", radius, "metres")
    angle = 2.0 * np.pi * np.arange(sides) / sides
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def area(corners: Floats) -> float:
    """Signed area, positive for counter-clockwise corners. Checked by: tests/flexible/test_polygon.py."""
    x, y = (corners - corners[0]).T
    return float(0.5 * np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))


def simple_polygon(name: str, corners: ArrayLike, *, clockwise: bool = False) -> Floats:
    """The corners as an array, in the asked direction of rotation.

    Raises:
        FlexibleBodyError: fewer than 3 corners, repeated corners, sides that cross or touch, no area.

    Checked by: tests/flexible/test_polygon.py.
    """
    points = np.array(floats(name, corners, (None, 2)))
    n = len(points)
    if n < 3:
        raise FlexibleBodyError(f"{name} must have at least 3 corners, has {n}.")
    size = float(np.ptp(points, axis=0).max())
    ends = np.roll(points, -1, axis=0)
    short = np.linalg.norm(ends - points, axis=1) <= CLOSE * size
    if short.any():
        i = int(np.argmax(short))
        raise FlexibleBodyError(f"{name}: corners {i} and {(i + 1) % n} are the same point; list every corner once.")
    for i in range(n):
        others = [k for k in range(i + 1, n) if k not in ((i + 1) % n, (i - 1) % n)]
        hit = _crossing(points[i], ends[i], points[others], ends[others], CLOSE * size)
        if hit.any():
            k = others[int(np.argmax(hit))]
            raise FlexibleBodyError(
                f"{name} crosses itself: side {i} (from corner {i}) and side {k} meet. List the corners in order."
            )
        before = points[i - 1] - points[i]
        along = ends[i] - points[i]
        fold = abs(before[0] * along[1] - before[1] * along[0]) <= CLOSE * size * np.linalg.norm(before) and before @ along > 0.0
        if fold:
            raise FlexibleBodyError(f"{name} crosses itself: it folds back at corner {i}.")
    if abs(area(points)) <= CLOSE * size * size:
        raise FlexibleBodyError(f"{name} encloses no area.")
    return points[::-1].copy() if (area(points) > 0.0) == clockwise else points


def is_simple(corners: Floats) -> bool:
    """Whether a polygon neither crosses nor touches itself."""
    try:
        simple_polygon("polygon", corners)
    except FlexibleBodyError:
        return False
    return True


def plate_loops(outline: ArrayLike, holes: Sequence[ArrayLike]) -> list[Floats]:
    """The outline, counter-clockwise, and the holes, clockwise: the plate lies to the left of every loop.

    Raises:
        FlexibleBodyError: a polygon that is not simple, or a hole that is not inside the outline and clear of the other holes.

    Checked by: tests/flexible/test_polygon.py.
    """
    loops = [simple_polygon("outline", outline)]
    for number, hole in enumerate(holes):
        name = f"hole {number}"
        loop = simple_polygon(name, hole, clockwise=True)
        if not inside(loop, loops[:1]).all():
            raise FlexibleBodyError(f"{name} must lie inside the outline, but some of its corners do not.")
        for other, boundary in enumerate(loops):
            what = "the outline" if other == 0 else f"hole {other - 1}"
            if loops_cross(loop, boundary):
                raise FlexibleBodyError(f"{name} must not touch {what}, but they meet.")
            if other and (inside(loop[:1], [boundary[::-1]]).any() or inside(boundary[:1], [loop[::-1]]).any()):
                raise FlexibleBodyError(f"{name} and {what} must lie apart, but one is inside the other.")
        loops.append(loop)
    return loops


def loops_cross(a: Floats, b: Floats) -> bool:
    """Whether the sides of two polygons meet."""
    size = float(max(np.ptp(a, axis=0).max(), np.ptp(b, axis=0).max()))
    ends = np.roll(b, -1, axis=0)
    return any(bool(_crossing(p, q, b, ends, CLOSE * size).any()) for p, q in zip(a, np.roll(a, -1, axis=0), strict=True))


def inside(points: Floats, loops: Sequence[Floats]) -> Mask:
    """Whether each point (p, 2) lies inside the loops, by the winding number; holes run the other way round than the outline."""
    winding = np.zeros(len(points))
    for loop in loops:
        for part in _blocks(len(points), len(loop)):
            start = loop[None, :, :] - points[part, None, :]
            end = np.roll(start, -1, axis=1)
            cross = start[..., 0] * end[..., 1] - start[..., 1] * end[..., 0]
            winding[part] += np.arctan2(cross, np.einsum("pnx,pnx->pn", start, end)).sum(axis=1)
    result: Mask = winding > np.pi
    return result


def distance(points: Floats, loops: Sequence[Floats]) -> Floats:
    """Distance of points (p, 2) from the nearest side, (p,) [m]."""
    best = np.full(len(points), np.inf)
    for loop in loops:
        side = np.roll(loop, -1, axis=0) - loop
        square = np.einsum("nx,nx->n", side, side)
        for part in _blocks(len(points), len(loop)):
            offset = points[part, None, :] - loop[None, :, :]
            along = np.clip(np.einsum("pnx,nx->pn", offset, side) / square, 0.0, 1.0)
            best[part] = np.minimum(best[part], np.linalg.norm(offset - along[..., None] * side, axis=2).min(axis=1))
    return best


def _blocks(points: int, sides: int) -> list[slice]:
    """Ranges of points, so that points times sides stay within a hundred megabytes."""
    step = max(1, 1_000_000 // max(sides, 1))
    return [slice(k, k + step) for k in range(0, points, step)]


def _crossing(p: Floats, q: Floats, a: Floats, b: Floats, close: float) -> Mask:
    """Whether each of the segments a-b (n, 2) meets the segment p-q, touching included."""

    def side(u: Floats, v: Floats, w: Floats) -> Floats:
        along = v - u
        cross = along[..., 0] * (w - u)[..., 1] - along[..., 1] * (w - u)[..., 0]
        far = cross / np.maximum(np.linalg.norm(along, axis=-1), close)
        return np.where(np.abs(far) <= close, 0.0, np.sign(cross))

    apart = (side(p, q, a) * side(p, q, b) > 0.0) | (side(a, b, p) * side(a, b, q) > 0.0)
    low = np.maximum(np.minimum(a, b), np.minimum(p, q))
    high = np.minimum(np.maximum(a, b), np.maximum(p, q))
    boxes = (low <= high + close).all(axis=-1)
    result: Mask = ~apart & boxes
    return result
