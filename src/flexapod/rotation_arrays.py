r"""Vectors and rotations as NumPy arrays, one or a batch along leading axes: what every folder needs of them, said once.

Letters: R rotation, r rotation vector (axis times angle) [rad], q unit quaternion, w first, [v] matrix of the product v x.
Arguments are arrays of the right shape; the functions of `flexapod.motions` check what users give.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array

Numbers = NDArray[Any]
"""Real or complex."""


def cross(a: Numbers, b: Numbers) -> Numbers:
    """a x b of vectors (..., 3), to the same bits as `np.cross`, whose handling of axes costs more than the products.

    Checked by: tests/spatial/test_rotation_arrays.py.
    """
    if a.ndim == b.ndim == 1:
        (a0, a1, a2), (b0, b1, b2) = a.tolist(), b.tolist()
        return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


def skew(v: Array) -> Array:
    """Matrices (..., 3, 3) of the cross product: skew(v) @ w = v x w."""
    if v.ndim == 1:
        return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    S = np.zeros((*v.shape[:-1], 3, 3))
    S[..., 0, 1], S[..., 0, 2], S[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    return S - np.swapaxes(S, -1, -2)


def axial(A: Array) -> Array:
    """Axial vectors (..., 3) of A - A^T; of a rotation 2 sin(angle) along its axis, of skew(v) twice v."""
    return np.stack([A[..., 2, 1] - A[..., 1, 2], A[..., 0, 2] - A[..., 2, 0], A[..., 1, 0] - A[..., 0, 1]], axis=-1)


def quaternion_rotation(q: Array) -> Array:
    r"""Rotations (..., 3, 3) of unit quaternions (..., 4): :math:`R = 1 + 2 w [v] + 2 [v]^2`."""
    w, S = q[..., 0, None, None], skew(q[..., 1:])
    return np.asarray(np.eye(3) + 2 * (w * S + S @ S))


def cayley_rotation(v: Array) -> Array:
    r"""Rotations (..., 3, 3) of Cayley's vectors (..., 3), twice the tangent of half the angle along the axis.

    .. math:: R = 1 + \frac{2}{1 + h\cdot h}([h] + [h]^2),\quad h = v/2
    """
    half = v / 2.0
    S = skew(half)
    factor = 2.0 / (1.0 + np.sum(half * half, axis=-1))
    return np.asarray(np.eye(3) + factor[..., None, None] * (S + S @ S))


def rotation_quaternion(R: Array) -> Array:
    """Unit quaternions (..., 4) of rotations, the largest component positive (Shepperd: no loss of digits)."""
    # 4 q q^T, of which the column with the largest diagonal is used
    Q = np.empty((*R.shape[:-2], 4, 4))
    d, across = np.diagonal(R, axis1=-2, axis2=-1), axial(R)
    trace = d.sum(axis=-1)
    Q[..., 0, 0] = 1 + trace
    for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        Q[..., i + 1, i + 1] = 1 + 2 * d[..., i] - trace
        Q[..., 0, i + 1] = Q[..., i + 1, 0] = across[..., i]
        Q[..., j + 1, k + 1] = Q[..., k + 1, j + 1] = R[..., j, k] + R[..., k, j]
    largest = np.argmax(np.diagonal(Q, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(Q, largest[..., None, None], axis=-1)[..., 0]
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True))


def rotation_vector(R: Array) -> Array:
    """Rotation vectors (..., 3) [rad] of rotations, angle in [0, pi]; NaN where the rotation is.

    Checked by: tests/spatial/test_spatial.py, tests/motions/test_motion_rotations.py.
    """
    q = rotation_quaternion(R)
    q = np.where(q[..., :1] < 0, -q, q)
    sine = np.linalg.norm(q[..., 1:], axis=-1)
    angle = 2 * np.arctan2(sine, q[..., 0])
    small = sine < 1e-8  # there 2 asin(x) / x is 2 to rounding
    return np.asarray(np.where(small, 2.0, angle / np.where(small, 1.0, sine))[..., None] * q[..., 1:])
