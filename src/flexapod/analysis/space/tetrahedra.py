r"""Surface of a set on a grid: marching tetrahedra, with corners on the grid's edges moved to where the set ends.

Every cell is cut into six tetrahedra along its diagonal, the same way everywhere, so that the surface has no gaps. Area is the
sum of the triangles, volume that of the tetrahedra from the origin:

.. math:: A = \tfrac12\sum|(b-a)\times(c-a)|,\qquad V = \tfrac16\sum a\cdot(b\times c)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array

Inside = Callable[[Array], NDArray[np.bool_]]

TETRAHEDRA = np.array([[0, 5, 1, 6], [0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6]])
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])

CASES: dict[int, list[tuple[tuple[int, int], ...]]] = {
    1: [((0, 1), (0, 2), (0, 3))],
    2: [((1, 0), (1, 3), (1, 2))],
    4: [((2, 0), (2, 1), (2, 3))],
    8: [((3, 0), (3, 2), (3, 1))],
    3: [((0, 3), (0, 2), (1, 3)), ((0, 2), (1, 2), (1, 3))],
    5: [((0, 1), (2, 1), (0, 3)), ((2, 1), (2, 3), (0, 3))],
    9: [((0, 1), (3, 1), (0, 2)), ((3, 1), (3, 2), (0, 2))],
}
"""Corners inside (bits) -> triangles by the edges that they cut; the other cases are complements."""

HALVINGS = 12
"""Halvings of an edge, to find where the set ends on it."""


@dataclass(frozen=True)
class SurfaceMesh:
    """A surface: vertices (n, 3), faces (m, 3) counterclockwise from outside."""

    vertices: Array
    faces: NDArray[np.int64]

    @property
    def area(self) -> float:
        """[unit of the axes squared]."""
        a, b, c = (self.vertices[self.faces[:, k]] for k in range(3))
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)

    @property
    def volume(self) -> float:
        """[unit of the axes cubed]."""
        if len(self.vertices) == 0:
            return 0.0
        centre = self.vertices.mean(axis=0)
        a, b, c = (self.vertices[self.faces[:, k]] - centre for k in range(3))
        return float(np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6)


def surface(values: NDArray[np.bool_], axes: tuple[Array, Array, Array], inside: Inside) -> SurfaceMesh:
    """Surface of {inside} from its values on a grid with a border of points outside.

    Checked by: tests/analysis/test_workspace_solid.py.
    """
    shape = values.shape
    cells = np.stack(np.meshgrid(*(np.arange(n - 1) for n in shape), indexing="ij"), axis=-1).reshape(-1, 3)
    number = np.ravel_multi_index(tuple((cells[:, None] + CORNERS).reshape(-1, 3).T), shape).reshape(-1, 8)
    flat = values.ravel()
    mixed = number[flat[number].any(axis=1) & ~flat[number].all(axis=1)]
    corners = mixed[:, TETRAHEDRA].reshape(-1, 4)
    code = flat[corners] @ np.array([1, 2, 4, 8])
    triangles: list[NDArray[np.int64]] = []
    for case, cuts in CASES.items():
        for value, flipped in ((case, False), (15 - case, True)):
            own = corners[code == value]
            for cut in cuts:
                edges = np.stack([own[:, list(pair)] for pair in (cut[::-1] if flipped else cut)], axis=1)
                triangles.append(edges)
    every = np.concatenate(triangles) if triangles else np.zeros((0, 3, 2), dtype=np.int64)
    every = np.sort(every, axis=2)
    edges, back = np.unique(every.reshape(-1, 2), axis=0, return_inverse=True)
    points = _ends(edges, flat, shape, axes, inside)
    return _oriented(points, back.reshape(-1, 3), every, flat, shape, axes)


def _position(numbers: NDArray[np.int64], shape: tuple[int, ...], axes: tuple[Array, Array, Array]) -> Array:
    index = np.unravel_index(numbers, shape)
    return np.stack([axis[i] for axis, i in zip(axes, index, strict=True)], axis=-1)


def _ends(
    edges: NDArray[np.int64], flat: NDArray[np.bool_], shape: tuple[int, ...], axes: tuple[Array, Array, Array], inside: Inside
) -> Array:
    """Points at which the set ends on each edge, by bisection."""
    if len(edges) == 0:
        return np.zeros((0, 3))
    first = flat[edges[:, 0]]
    own = np.where(first, edges[:, 0], edges[:, 1])
    other = np.where(first, edges[:, 1], edges[:, 0])
    p, q = _position(own, shape, axes), _position(other, shape, axes)
    for _ in range(HALVINGS):
        middle = (p + q) / 2
        keep = inside(middle)[:, None]
        p, q = np.where(keep, middle, p), np.where(keep, q, middle)
    return (p + q) / 2


def _oriented(
    points: Array, faces: NDArray[np.int64], edges: NDArray[np.int64], flat: NDArray[np.bool_], shape: tuple[int, ...],
    axes: tuple[Array, Array, Array],
) -> SurfaceMesh:  # fmt: skip
    """Faces that look outwards: away from the inner ends of their edges; flat ones are left out."""
    if len(faces) == 0:
        return SurfaceMesh(points, faces)
    ends = np.where(flat[edges[:, :, 0]], edges[:, :, 0], edges[:, :, 1])
    inner = _position(ends.ravel(), shape, axes).reshape(-1, 3, 3).mean(axis=1)
    outer_ends = np.where(flat[edges[:, :, 0]], edges[:, :, 1], edges[:, :, 0])
    outer = _position(outer_ends.ravel(), shape, axes).reshape(-1, 3, 3).mean(axis=1)
    a, b, c = (points[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    wrong = np.einsum("ni,ni->n", normal, outer - inner) < 0
    faces = np.where(wrong[:, None], faces[:, [0, 2, 1]], faces)
    good = np.linalg.norm(normal, axis=1) > 0
    return SurfaceMesh(points, faces[good])
