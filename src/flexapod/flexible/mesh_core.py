"""The core of a plate's mesh: a symmetric fan of a regular polygon, or a graded Delaunay mesh between given loops.

Both return points whose first entries are the loops' points in their order, so that layers can be put around them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flexapod.flexible.checked_arrays import Floats, Integers
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.polygon import distance, inside

GROWTH = 0.35
"""Growth of the triangles' size per distance from small features."""

ROTATION = 0.2617
"""Angle of the lattice, unlike any usual outline's: no four points on a circle, so the mesh does not depend on rounding."""

SMOOTHING = 4


class NotConforming(FlexibleBodyError):
    """Segments of the boundary are not sides of the mesh; `where` are their loops and numbers."""

    def __init__(self, where: list[tuple[int, int]]) -> None:
        super().__init__("The outline could not be meshed: it has features far finer than the mesh. Give a smaller mesh_size.")
        self.where = where


def fan_core(ring: Floats, sides: int) -> tuple[Floats, Integers]:
    """Mesh of a regular polygon with n segments per side: rings of 1, ..., n segments about the centre, fully symmetric.

    Checked by: tests/flexible/test_plate_mesh.py.
    """
    n = len(ring) // sides
    middle = ring.mean(axis=0)
    corners = ring[::n]
    points = [ring]
    rings: list[Integers] = [np.zeros(0, dtype=np.int64)] * (n + 1)
    rings[n] = np.arange(len(ring))
    total = len(ring)
    for j in range(n - 1, 0, -1):
        here = middle + (j / n) * (corners - middle)
        along = np.roll(here, -1, axis=0) - here
        points.append((here[:, None, :] + (np.arange(j) / j)[None, :, None] * along[:, None, :]).reshape(-1, 2))
        rings[j] = np.arange(total, total + sides * j)
        total += sides * j
    points.append(middle[None, :])
    rings[0] = np.full(sides, total)
    triangles = [_fan_sector(rings[j], rings[j + 1], j, s, sides) for j in range(n) for s in range(sides)]
    return np.concatenate(points), np.concatenate(triangles)


def _fan_sector(low: Integers, high: Integers, j: int, sector: int, sides: int) -> Integers:
    """Triangles of one sector between ring j (j segments per side) and ring j + 1."""
    inner = low[(sector * j + np.arange(j + 1)) % (sides * j)] if j else low[:1]
    outer = high[(sector * (j + 1) + np.arange(j + 2)) % (sides * (j + 1))]
    up = np.stack([inner, outer[:-1], outer[1:]], axis=1)
    down = np.stack([inner[:-1], outer[1:-1], inner[1:]], axis=1)
    return np.concatenate([up, down])


def delaunay_core(loops: Sequence[Floats], size: float) -> tuple[Floats, Integers]:
    """Delaunay mesh between loops of points (outline counter-clockwise, holes clockwise), graded from their spacing to `size`.

    Raises:
        NotConforming: a segment of a loop is not in the mesh, and must be divided.

    Checked by: tests/flexible/test_plate_mesh.py.
    """
    fixed = np.concatenate(loops)
    spacing = np.concatenate([_spacing(loop) for loop in loops])
    free = _lattice(loops, fixed, spacing, size)
    for _ in range(SMOOTHING):
        triangles = _triangulate(fixed, free, loops)
        free = _smoothed(np.concatenate([fixed, free]), triangles, len(fixed))
    triangles = _triangulate(fixed, free, loops)
    _check_segments(triangles, loops)
    return np.concatenate([fixed, free]), triangles


def _spacing(loop: Floats) -> Floats:
    after: Floats = np.linalg.norm(np.roll(loop, -1, axis=0) - loop, axis=1)
    return 0.5 * (after + np.roll(after, 1))


def _lattice(loops: Sequence[Floats], fixed: Floats, spacing: Floats, size: float) -> Floats:
    """Points inside: triangular lattices of size, size/2, size/4, ..., each where the wanted size is near its own."""
    levels = max(0, int(np.ceil(np.log2(size / max(float(spacing.min()), 1e-4 * size)))))
    chosen = [np.zeros((0, 2))]
    for level in range(levels + 1):
        step = size / 2.0**level
        low = 0.0 if level == levels else step * np.sqrt(0.5)
        high = np.inf if level == 0 else step * np.sqrt(2.0)
        reach = (min(high, 1e3 * size) - spacing) / GROWTH
        lattice = _lattice_everywhere(fixed, step) if level == 0 else _lattice_near(fixed[reach > 0.0], step, reach.max())
        lattice = lattice[inside(lattice, loops)]
        wanted = _wanted(lattice, fixed, spacing, size)
        chosen.append(lattice[(wanted >= low) & (wanted < high) & (distance(lattice, loops) > 0.55 * wanted)])
    found: Floats = np.concatenate(chosen)
    return found


def _lattice_points(i: Integers, j: Integers, step: float) -> Floats:
    """Points of the rotated triangular lattice: rows j, places i in the row."""
    rotation = np.array([[np.cos(ROTATION), -np.sin(ROTATION)], [np.sin(ROTATION), np.cos(ROTATION)]])
    points: Floats = step * np.stack([i + 0.5 * (j % 2), j * np.sqrt(0.75)], axis=-1).reshape(-1, 2) @ rotation.T
    return points


def _lattice_everywhere(fixed: Floats, step: float) -> Floats:
    """Lattice points over the whole plate, about its middle."""
    middle = 0.5 * (fixed.min(axis=0) + fixed.max(axis=0))
    radius = 0.5 * float(np.linalg.norm(np.ptp(fixed, axis=0)))
    n = int(radius / step) + 2
    i, j = np.meshgrid(np.arange(-n, n + 1), np.arange(-2 * n, 2 * n + 1))
    points = _lattice_points(i, j, step)
    found: Floats = points[np.linalg.norm(points, axis=1) <= radius] + middle
    return found


def _lattice_near(places: Floats, step: float, reach: float) -> Floats:
    """Lattice points within reach of some of the places: every place looks at a few rows around it."""
    middle = 0.5 * (places.min(axis=0) + places.max(axis=0)) if len(places) else np.zeros(2)
    back = np.array([[np.cos(ROTATION), np.sin(ROTATION)], [-np.sin(ROTATION), np.cos(ROTATION)]])
    local = (places - middle) @ back.T / step
    n = int(np.ceil(max(reach, 0.0) / step / np.sqrt(0.75))) + 1
    di, dj = (grid.ravel() for grid in np.meshgrid(np.arange(-n, n + 1), np.arange(-n, n + 1)))
    j = np.round(local[:, 1] / np.sqrt(0.75)).astype(np.int64)[:, None] + dj
    i = np.round(local[:, 0]).astype(np.int64)[:, None] + di
    numbers = np.unique(np.stack([i.ravel(), j.ravel()], axis=1), axis=0)
    return _lattice_points(numbers[:, 0], numbers[:, 1], step) + middle


def _wanted(points: Floats, fixed: Floats, spacing: Floats, size: float) -> Floats:
    """Wanted size at points: the spacing of the nearest boundary points, growing with the distance, at most `size`."""
    wanted = np.full(len(points), size)
    rows = max(1, 1_000_000 // len(fixed))
    for start in range(0, len(points), rows):
        part = slice(start, start + rows)
        far = np.linalg.norm(points[part, None, :] - fixed[None, :, :], axis=2)
        wanted[part] = np.minimum(size, (spacing + GROWTH * far).min(axis=1))
    return wanted


def _triangulate(fixed: Floats, free: Floats, loops: Sequence[Floats]) -> Integers:
    """Delaunay triangles inside the loops, counter-clockwise."""
    from scipy.spatial import Delaunay

    points = np.concatenate([fixed, free])
    triangles = Delaunay(points).simplices.astype(np.int64)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    doubled = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    longest = np.maximum.reduce([np.sum((b - a) ** 2, axis=1), np.sum((c - b) ** 2, axis=1), np.sum((a - c) ** 2, axis=1)])
    keep = inside((a + b + c) / 3.0, loops) & (np.abs(doubled) > 1e-10 * longest)
    triangles[doubled < 0.0] = triangles[doubled < 0.0][:, [0, 2, 1]]
    result: Integers = triangles[keep]
    return result


def _smoothed(points: Floats, triangles: Integers, fixed: int) -> Floats:
    """Free points moved to the mean of their neighbours."""
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    total = np.zeros_like(points)
    np.add.at(total, pairs[:, 0], points[pairs[:, 1]])
    count = np.bincount(pairs[:, 0], minlength=len(points))
    mean = np.where(count[:, None] > 0, total / np.maximum(count, 1)[:, None], points)
    moved: Floats = mean[fixed:]
    return moved


def _check_segments(triangles: Integers, loops: Sequence[Floats]) -> None:
    """Every segment of every loop must be a side of a triangle."""
    sides = {(int(t[i]), int(t[(i + 1) % 3])) for t in triangles for i in range(3)}
    first = 0
    missing = []
    for number, loop in enumerate(loops):
        n = len(loop)
        missing += [(number, i) for i in range(n) if (first + i, first + (i + 1) % n) not in sides]
        first += n
    if missing:
        raise NotConforming(missing)
