"""Triangle meshes of polygon plates: thin layers along free edges, then a core.

A Mindlin plate has an edge layer of about the plate's thickness, in which the twisting moment vanishes; without
elements inside it the frequencies of a thin plate are good to a few parts in a thousand only. So every loop of the
boundary gets layers of long, thin triangles; the core inside is a symmetric fan for regular polygons (degenerate
modes stay degenerate), else a Delaunay mesh.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from flexapod.errors import FlexapodWarning
from flexapod.flexible.checked_arrays import Floats, Integers
from flexapod.flexible.mesh_core import NotConforming, delaunay_core, fan_core
from flexapod.flexible.polygon import area, distance, inside, is_simple, loops_cross

LARGEST_FAN = 8
"""Regular polygons up to this number of sides get a fan; beyond, its sectors become slivers."""

SHARP = np.pi / 3
"""Corners sharper than this have their sides divided alike."""

NO_LAYERS = "The outline is too sharp or too narrow for layers at its edges: see plate_convergence before trusting Mindlin modes."

ROUNDS = 12
MOST_SEGMENTS = 1200
"""Boundary segments beyond which the outline is given up."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TriangleMesh:
    """Points (n, 2) [m], triangles (m, 3), counter-clockwise, and boundary segments (s, 2), the plate to their left."""

    points: Floats
    triangles: Integers
    boundary: Integers


def plate_mesh(loops: Sequence[Floats], size: float, depths: Sequence[float] = ()) -> TriangleMesh:
    """Mesh of a plate.

    Args:
        loops: outline counter-clockwise, holes clockwise, corners (n, 2) [m].
        size: length of the sides of the triangles [m].
        depths: distances of the layers from the boundary, ascending [m]; halved where the plate is too narrow for them,
            and left out with a warning where it is too sharp.

    Checked by: tests/flexible/test_plate_mesh.py.
    """
    fan = len(loops) == 1 and is_regular(loops[0]) and len(loops[0]) <= LARGEST_FAN
    chosen = _fitting(loops, depths)
    if chosen:
        try:
            return _conforming(loops, size, chosen, fan=fan)
        except NotConforming:
            pass
    if depths:
        warnings.warn(NO_LAYERS, FlexapodWarning, stacklevel=2)
    return _conforming(loops, size, (), fan=fan)


def _conforming(loops: Sequence[Floats], size: float, depths: Sequence[float], *, fan: bool) -> TriangleMesh:
    """The mesh; sides of the outline that it misses are divided until it has them all. With layers it gives up early."""
    counts = [_subdivisions(loop, size, equal=fan) for loop in loops]
    most = 3 * sum(int(n.sum()) for n in counts) if depths else MOST_SEGMENTS
    for _ in range(ROUNDS):
        rings = [[_sample(_offset(loop, d), n) for d in (0.0, *depths)] for loop, n in zip(loops, counts, strict=True)]
        try:
            inner = [ring[-1] for ring in rings]
            core = fan_core(inner[0], len(loops[0])) if fan else delaunay_core(inner, size)
            return _with_layers(core, rings, counts)
        except NotConforming as missing:
            hit = {(k, int(np.searchsorted(np.cumsum(counts[k]), segment, side="right"))) for k, segment in missing.where}
            for k, side in hit:
                counts[k][side] *= 2
            counts = [_matched(loop, n) for loop, n in zip(loops, counts, strict=True)]
            if sum(int(n.sum()) for n in counts) > most:
                raise
    raise NotConforming([])


def is_regular(loop: Floats) -> bool:
    """Whether a polygon is regular: equal sides and equal distances from the middle."""
    middle = loop.mean(axis=0)
    sides = np.linalg.norm(np.roll(loop, -1, axis=0) - loop, axis=1)
    radii = np.linalg.norm(loop - middle, axis=1)
    return bool(np.ptp(sides) < 1e-9 * sides.max() and np.ptp(radii) < 1e-9 * radii.max())


def _subdivisions(loop: Floats, size: float, *, equal: bool) -> Integers:
    """Segments per side."""
    sides = np.linalg.norm(np.roll(loop, -1, axis=0) - loop, axis=1)
    counts = np.maximum(1, np.round(sides / size)).astype(np.int64)
    return np.full_like(counts, max(2, counts.max())) if equal else _matched(loop, counts)


def _matched(loop: Floats, counts: Integers) -> Integers:
    """Segments per side such that the sides of a sharp corner are divided alike: only then does a Delaunay mesh keep them."""
    along = np.roll(loop, -1, axis=0) - loop
    length = np.linalg.norm(along, axis=1)
    before = np.roll(along / length[:, None], 1, axis=0)
    sharp = np.einsum("nx,nx->n", -before, along) / length > np.cos(SHARP)
    counts = counts.copy()
    for _ in range(len(loop)):
        old = counts.copy()
        for k in np.flatnonzero(sharp):
            for coarse, fine in ((k, k - 1), (k - 1, k)):
                wanted = length[coarse] * counts[fine] / length[fine]
                if counts[coarse] < wanted / 1.3:
                    counts[coarse] = min(int(np.ceil(wanted)), MOST_SEGMENTS)
        if np.array_equal(old, counts):
            break
    return counts


def _offset(loop: Floats, depth: float) -> Floats:
    """Corners moved into the plate so that every side moves by `depth`."""
    along = np.roll(loop, -1, axis=0) - loop
    normal = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.linalg.norm(along, axis=1)[:, None]
    before = np.roll(normal, 1, axis=0)
    shift: Floats = loop + depth * (before + normal) / (1.0 + np.einsum("nx,nx->n", before, normal))[:, None]
    return shift


def _sample(loop: Floats, counts: Integers) -> Floats:
    """Points along the sides of a loop, each side in equal parts, every corner once."""
    ends = np.roll(loop, -1, axis=0)
    return np.concatenate(
        [a + (np.arange(n) / n)[:, None] * (b - a) for a, b, n in zip(loop, ends, counts, strict=True)]
    )  # fmt: skip


def _fitting(loops: Sequence[Floats], depths: Sequence[float]) -> list[float]:
    """The depths, halved until the layers fit into the plate; no layers if they do not fit after a few halvings."""
    chosen = list(depths)
    for _ in range(6):
        if not chosen or _fits(loops, [_offset(loop, chosen[-1]) for loop in loops], chosen[-1]):
            return chosen
        chosen = [0.5 * d for d in chosen]
    return []


def _fits(loops: Sequence[Floats], inner: Sequence[Floats], depth: float) -> bool:
    """Whether the inner loops keep their sides and orientation, stay simple and in the plate, and leave a wide core."""
    for loop, moved in zip(loops, inner, strict=True):
        old = np.roll(loop, -1, axis=0) - loop
        new = np.roll(moved, -1, axis=0) - moved
        if (np.einsum("nx,nx->n", old, new) < 0.25 * np.einsum("nx,nx->n", old, old)).any() or area(loop) * area(moved) <= 0.0:
            return False
        if not is_simple(moved) or not inside(moved, loops).all() or any(loops_cross(moved, other) for other in loops):
            return False
    outline, holes = inner[0], inner[1:]
    for i, hole in enumerate(holes):
        others = [outline, *holes[:i]]
        if not inside(hole, [outline]).all() or any(loops_cross(hole, other) for other in others):
            return False
        if min(distance(hole, others).min(), distance(np.concatenate(others), [hole]).min()) < depth:
            return False
        if any(inside(hole[:1], [other[::-1]]).any() or inside(other[:1], [hole[::-1]]).any() for other in holes[:i]):
            return False
    return True


def _with_layers(core: tuple[Floats, Integers], rings: list[list[Floats]], counts: Sequence[Integers]) -> TriangleMesh:
    """The core, whose first points are the innermost rings in order, with the layers around it."""
    points, triangles = [core[0]], [core[1]]
    boundary = []
    first = 0
    total = len(core[0])
    for loop, n in zip(rings, counts, strict=True):
        length = len(loop[0])
        numbers = [np.arange(first, first + length)]
        first += length
        for ring in reversed(loop[:-1]):
            numbers.append(np.arange(total, total + length))
            points.append(ring)
            total += length
        flip = np.concatenate([np.arange(k) < k / 2 for k in n])
        for inner, outer in pairwise(numbers):
            triangles.append(_strip(outer, inner, flip))
        boundary.append(np.stack([numbers[-1], np.roll(numbers[-1], -1)], axis=1))
    return TriangleMesh(points=np.concatenate(points), triangles=np.concatenate(triangles), boundary=np.concatenate(boundary))


def _strip(outer: Integers, inner: Integers, flip: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Integers:
    """Triangles between two rings; the diagonals of a side mirror each other."""
    a, b, c, d = outer, np.roll(outer, -1), np.roll(inner, -1), inner
    one = np.where(flip[:, None], np.stack([a, b, c], axis=1), np.stack([a, b, d], axis=1))
    two = np.where(flip[:, None], np.stack([a, c, d], axis=1), np.stack([b, c, d], axis=1))
    return np.concatenate([one, two])
