"""Quaternions as arrays (..., 4), scalar part first, real or complex."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]


def product(a: Numbers, b: Numbers) -> Numbers:
    """Hamilton's product."""
    return np.asarray((left(a) @ b[..., None])[..., 0])


def left(q: Numbers) -> Numbers:
    """Matrix (..., 4, 4) of the product with q on the left: left(q) @ r = q r."""
    return np.asarray(q[..., _PLACE] * _LEFT)


def right(q: Numbers) -> Numbers:
    """Matrix (..., 4, 4) of the product with q on the right: right(q) @ r = r q."""
    return np.asarray(q[..., _PLACE] * _RIGHT)


_PLACE = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])
_LEFT = np.array([[1.0, -1, -1, -1], [1, 1, -1, 1], [1, 1, 1, -1], [1, -1, 1, 1]])
_RIGHT = np.array([[1.0, -1, -1, -1], [1, 1, 1, -1], [1, -1, 1, 1], [1, 1, -1, 1]])


def conjugate(q: Numbers) -> Numbers:
    """The quaternion with the opposite vector part."""
    return np.asarray(q * np.array([1.0, -1.0, -1.0, -1.0]))


def pure(v: Numbers) -> Numbers:
    """A vector (..., 3) as a quaternion without scalar part."""
    return np.concatenate([np.zeros_like(v[..., :1]), v], axis=-1)


def matrix(q: Numbers) -> Numbers:
    """Rotation matrix (..., 3, 3) of a quaternion of any length: left(q) right(q)^-1, divided by its squared norm."""
    full = left(q) @ right(conjugate(q))
    return np.asarray(full[..., 1:, 1:] / (q * q).sum(axis=-1)[..., None, None])


def random_unit(random: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Uniformly distributed rotations (count, 4)."""
    q = random.normal(size=(count, 4))
    return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))
