"""Quaternions as arrays (..., 4), scalar part first, real or complex."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]


def product(a: Numbers, b: Numbers) -> Numbers:
    """Hamilton's product."""
    a0, a1, a2, a3 = np.moveaxis(a, -1, 0)
    b0, b1, b2, b3 = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            a0 * b0 - a1 * b1 - a2 * b2 - a3 * b3,
            a0 * b1 + a1 * b0 + a2 * b3 - a3 * b2,
            a0 * b2 - a1 * b3 + a2 * b0 + a3 * b1,
            a0 * b3 + a1 * b2 - a2 * b1 + a3 * b0,
        ],
        axis=-1,
    )


def conjugate(q: Numbers) -> Numbers:
    """The quaternion with the opposite vector part."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def pure(v: Numbers) -> Numbers:
    """A vector (..., 3) as a quaternion without scalar part."""
    return np.concatenate([np.zeros_like(v[..., :1]), v], axis=-1)


def matrix(q: Numbers) -> Numbers:
    """Rotation matrix (..., 3, 3) of a quaternion of any length: divided by its squared norm."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    full = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    return np.asarray(full / (w * w + x * x + y * y + z * z)[..., None, None])


def random_unit(random: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Uniformly distributed rotations (count, 4)."""
    q = random.normal(size=(count, 4))
    return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))
