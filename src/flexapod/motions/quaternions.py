r"""Unit quaternions in NumPy, one or a batch, always named by the order of their components: `quat_wxyz`, `quat_xyzw`.

Letters: R world-from-body, w and alpha angular velocity and acceleration in world axes, q quaternion, q* its conjugate.
Leading axes are a batch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.arrays import real_array

RotationMotion = tuple[Array, Array, Array]
"""R (..., 3, 3), w (..., 3), alpha (..., 3)."""

UNIT = 1e-6
"""Largest distance of a quaternion's norm from 1: single precision data passes."""


def skew(v: Array) -> Array:
    """Matrix of the cross product: skew(v) x = v x x."""
    S = np.zeros((*v.shape[:-1], 3, 3))
    S[..., 0, 1], S[..., 0, 2], S[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    return S - np.swapaxes(S, -1, -2)


def quat_wxyz_rotation(quat_wxyz: ArrayLike) -> Array:
    """Rotation of a unit quaternion (w, x, y, z), normalised; refused where its norm is off by more than 1e-6.

    Args:
        quat_wxyz: (..., 4), w first.
    Returns:
        (..., 3, 3) rotation matrices.
    """
    q = unit_quaternions("quat_wxyz", quat_wxyz)
    w, v = q[..., 0, None, None], q[..., 1:]
    S = skew(v)
    return np.eye(3) + 2 * (w * S + S @ S)


def quat_xyzw_rotation(quat_xyzw: ArrayLike) -> Array:
    """Rotation of a unit quaternion (x, y, z, w).

    Args:
        quat_xyzw: (..., 4), w last.
    Returns:
        (..., 3, 3) rotation matrices.
    """
    return quat_wxyz_rotation(np.roll(unit_quaternions("quat_xyzw", quat_xyzw), 1, axis=-1))


def rotation_quat_wxyz(rotation: ArrayLike) -> Array:
    """Unit quaternion (w, x, y, z) of a rotation, the largest component positive (Shepperd: no loss of digits).

    Args:
        rotation: (..., 3, 3).
    Returns:
        (..., 4) unit quaternions, w first.
    """
    R = real_array("rotation", rotation, np.shape(rotation))
    if R.shape[-2:] != (3, 3):
        raise InputError(f"rotation: expected shape (..., 3, 3), got {R.shape}")
    # 4 q q^T, of which the column with the largest diagonal is used
    Q = np.empty((*R.shape[:-2], 4, 4))
    d = np.diagonal(R, axis1=-2, axis2=-1)
    trace = d.sum(axis=-1)
    Q[..., 0, 0] = 1 + trace
    for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        Q[..., i + 1, i + 1] = 1 + 2 * d[..., i] - trace
        Q[..., 0, i + 1] = Q[..., i + 1, 0] = R[..., k, j] - R[..., j, k]
        Q[..., j + 1, k + 1] = Q[..., k + 1, j + 1] = R[..., j, k] + R[..., k, j]
    largest = np.argmax(np.diagonal(Q, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(Q, largest[..., None, None], axis=-1)[..., 0]
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True))


def rotation_quat_xyzw(rotation: ArrayLike) -> Array:
    """Unit quaternion (x, y, z, w) of a rotation, the largest component positive.

    Args:
        rotation: (..., 3, 3).
    Returns:
        (..., 4) unit quaternions, w last.
    """
    return np.roll(rotation_quat_wxyz(rotation), -1, axis=-1)


def quat_wxyz_motion(quat_wxyz: ArrayLike, rates: ArrayLike, accelerations: ArrayLike) -> RotationMotion:
    r"""Rotation, angular velocity and acceleration from a quaternion (any norm) and its derivatives.

    .. math:: \omega = 2\,\mathrm{vec}(\dot q\,q^*)/|q|^2,\qquad
              \alpha = \frac{d\omega}{dt} = 2\,\mathrm{vec}(\ddot q\,q^*)/|q|^2 - 2\,\frac{q\cdot\dot q}{|q|^2}\,\omega

    The norm drops out: only the direction of q counts. Checked by: tests/motions/test_motion_rotations.py.

    Args:
        quat_wxyz: (..., 4), w first; rates, accelerations: its derivatives [1/s, 1/s^2].
    """
    q, qd, qdd = last_axis("quat_wxyz", quat_wxyz, 4), last_axis("rates", rates, 4), last_axis("accelerations", accelerations, 4)
    n2 = np.sum(q * q, axis=-1, keepdims=True)
    w = 2 * _vector_of_product(qd, q) / n2
    alpha = 2 * _vector_of_product(qdd, q) / n2 - 2 * np.sum(q * qd, axis=-1, keepdims=True) / n2 * w
    return quat_wxyz_rotation(q / np.sqrt(n2)), w, alpha


def _vector_of_product(a: Array, b: Array) -> Array:
    """Vector part of a b* (quaternions w, x, y, z)."""
    return b[..., :1] * a[..., 1:] - a[..., :1] * b[..., 1:] - np.cross(a[..., 1:], b[..., 1:])


def continuous_quaternions(quaternions: Array) -> Array:
    """(n, 4) with signs chosen so that neighbours are near: q and -q are the same rotation."""
    flip = np.sum(quaternions[1:] * quaternions[:-1], axis=-1) < 0
    sign = np.concatenate([[1.0], np.where(flip, -1.0, 1.0)]).cumprod()
    return np.asarray(quaternions * sign[:, None])


def unit_quaternions(name: str, value: ArrayLike) -> Array:
    """Quaternions made exactly unit; refused where they are not nearly so."""
    q = last_axis(name, value, 4)
    norm = np.linalg.norm(q, axis=-1, keepdims=True)
    off = np.abs(norm - 1.0)
    if np.any(~(off <= UNIT)):
        worst = float(norm.reshape(-1)[np.argmax(np.where(np.isnan(off), np.inf, off))])
        raise InputError(f"{name}: expected unit quaternions, but a norm is {worst:.9g}; divide each by its norm")
    return np.asarray(q / norm)


def last_axis(name: str, value: ArrayLike, size: int) -> Array:
    """A float64 array (..., size) of any batch."""
    shape = np.shape(value)
    if not shape or shape[-1] != size:
        raise InputError(f"{name}: expected shape (..., {size}), got {shape}")
    return real_array(name, value, shape)
