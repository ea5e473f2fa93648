"""Unit meshes that drawings are made of, and how they are placed: cylinder, sphere, plate, and the arrow of a moment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array

Faces = NDArray[np.int64]

SIDES = 18


def cylinder() -> tuple[Array, Faces]:
    """Radius 1, from z = -1/2 to 1/2; the caps have vertices of their own, so that edges stay sharp."""
    angle = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    low, high = np.full((SIDES, 1), -0.5), np.full((SIDES, 1), 0.5)
    side = np.vstack([np.hstack([ring, low]), np.hstack([ring, high])])
    vertices = np.vstack([side, side, [[0.0, 0.0, -0.5], [0.0, 0.0, 0.5]]])
    k = np.arange(SIDES)
    n = (k + 1) % SIDES
    walls = np.vstack([np.column_stack([k, n, n + SIDES]), np.column_stack([k, n + SIDES, k + SIDES])])
    first, bottom, top = 2 * SIDES, 4 * SIDES, 4 * SIDES + 1
    caps = np.vstack(
        [
            np.column_stack([n + first, k + first, np.full(SIDES, bottom)]),
            np.column_stack([k + first + SIDES, n + first + SIDES, np.full(SIDES, top)]),
        ]
    )
    return vertices, np.vstack([walls, caps])


def sphere(rings: int = 9) -> tuple[Array, Faces]:
    """Radius 1, of meridians and rings."""
    theta = np.linspace(0.0, np.pi, rings + 2)[1:-1]
    phi = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    grid = np.array([[np.sin(t) * np.cos(f), np.sin(t) * np.sin(f), np.cos(t)] for t in theta for f in phi])
    vertices = np.vstack([grid, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]])
    top, bottom = len(grid), len(grid) + 1
    faces = []
    for j in range(SIDES):
        k = (j + 1) % SIDES
        faces.append((top, j, k))
        for i in range(rings - 1):
            a, b = i * SIDES, (i + 1) * SIDES
            faces += [(a + j, b + j, b + k), (a + j, b + k, a + k)]
        last = (rings - 1) * SIDES
        faces.append((last + j, bottom, last + k))
    return vertices, np.array(faces)


def plate(outline: Array, thickness: float) -> tuple[Array, Faces]:
    """A convex outline (k, 3) in order, thickened to both sides along its normal; faces have vertices of their own."""
    count, middle = len(outline), outline.mean(axis=0)
    normal = np.linalg.svd(outline - middle)[2][2]
    rotation = np.cross(outline[0] - middle, outline[1] - middle)
    normal = normal if np.dot(rotation, normal) >= 0 else -normal
    top, bottom = outline + 0.5 * thickness * normal, outline - 0.5 * thickness * normal
    fan = np.array([(0, i, i + 1) for i in range(1, count - 1)])
    vertices, faces = [top, bottom], [fan, fan[:, ::-1] + count]
    for i in range(count):
        j, first = (i + 1) % count, sum(len(v) for v in vertices)
        vertices.append(np.array([bottom[i], bottom[j], top[j], top[i]]))
        faces.append(np.array([(first, first + 1, first + 2), (first, first + 2, first + 3)]))
    return np.vstack(vertices), np.vstack(faces)


def cylinder_placements(start: Array, end: Array, radius: Array) -> tuple[Array, Array, Array]:
    """Placement of unit cylinders between points: quaternions (n, 4) scalar first, centres (n, 3), scales (n, 3)."""
    way = end - start
    length = np.linalg.norm(way, axis=1)
    z = np.where(length[:, None] > 0, way / np.where(length > 0, length, 1.0)[:, None], np.array([0.0, 0.0, 1.0]))
    half = np.column_stack([1.0 + z[:, 2], -z[:, 1], z[:, 0], np.zeros(len(z))])  # rotates the z axis to the direction
    half[half[:, 0] < 1e-9] = (0.0, 1.0, 0.0, 0.0)  # straight down
    quat = half / np.linalg.norm(half, axis=1, keepdims=True)
    return quat, 0.5 * (start + end), np.column_stack([radius, radius, np.maximum(length, 1e-9)])
