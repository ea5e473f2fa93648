r"""Unit quaternions in NumPy, one or a batch, always named by the order of their components: `quat_wxyz`, `quat_xyzw`.

Letters: R world-from-body, w and alpha angular velocity and acceleration in world axes, q quaternion, q* its conjugate.
Leading axes are a batch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import by_name
from flexapod.errors import InputError
from flexapod.motions.argument_checks import real_array
from flexapod.rotation_arrays import cross, quaternion_rotation, rotation_quaternion

RotationMotion = tuple[Array, Array, Array]
"""R (..., 3, 3), w (..., 3), alpha (..., 3)."""

UNIT = 1e-6
"""Largest distance of a quaternion's norm from 1: single precision data passes."""


@by_name
def quat_wxyz_rotation(quat_wxyz: ArrayLike) -> Array:
    """Rotation of a unit quaternion (w, x, y, z), normalised; refused where its norm is off by more than 1e-6.

    Args:
        quat_wxyz: (..., 4), w first.
    Returns:
        (..., 3, 3) rotation matrices.
    """
    return quaternion_rotation(unit_quaternions("quat_wxyz", quat_wxyz))


@by_name
def quat_xyzw_rotation(quat_xyzw: ArrayLike) -> Array:
    """Rotation of a unit quaternion (x, y, z, w).

    Args:
        quat_xyzw: (..., 4), w last.
    Returns:
        (..., 3, 3) rotation matrices.
    """
    return quat_wxyz_rotation(np.roll(unit_quaternions("quat_xyzw", quat_xyzw), 1, axis=-1))


@by_name
def rotation_quat_wxyz(rotation: ArrayLike) -> Array:
    """Unit quaternion (w, x, y, z) of a rotation, the largest component positive (Shepperd: no loss of digits).

    Args:
        rotation: (..., 3, 3).
    Returns:
        (..., 4) unit quaternions, w first.
    """
    return rotation_quaternion(checked_rotation(rotation))


@by_name
def rotation_quat_xyzw(rotation: ArrayLike) -> Array:
    """Unit quaternion (x, y, z, w) of a rotation, the largest component positive.

    Args:
        rotation: (..., 3, 3).
    Returns:
        (..., 4) unit quaternions, w last.
    """
    return np.roll(rotation_quat_wxyz(rotation), -1, axis=-1)


@by_name
def quat_wxyz_motion(quat_wxyz: ArrayLike, rates: ArrayLike, accelerations: ArrayLike) -> RotationMotion:
    r"""Rotation, angular velocity and acceleration from a quaternion (any norm) and its derivatives.

    .. math:: \omega = 2\,\mathrm{vec}(\dot q\,q^*)/|q|^2,\qquad
              \alpha = \frac{d\omega}{dt} = 2\,\mathrm{vec}(\ddot q\,q^*)/|q|^2 - 2\,\frac{q\cdot\dot q}{|q|^2}\,\omega

    The norm drops out: only the direction of q counts. Checked by: tests/motions/test_motion_rotations.py.

    Args:
        quat_wxyz: (..., 4), w first; rates, accelerations: derivatives of the quaternion [1/s, 1/s^2].
    """
    q, qd, qdd = last_axis("quat_wxyz", quat_wxyz, 4), last_axis("rates", rates, 4), last_axis("accelerations", accelerations, 4)
    n2 = np.sum(q * q, axis=-1, keepdims=True)
    w = 2 * _vector_of_product(qd, q) / n2
    alpha = 2 * _vector_of_product(qdd, q) / n2 - 2 * np.sum(q * qd, axis=-1, keepdims=True) / n2 * w
    return quat_wxyz_rotation(q / np.sqrt(n2)), w, alpha


def _vector_of_product(a: Array, b: Array) -> Array:
    """Vector part of a b* (quaternions w, x, y, z)."""
    return b[..., :1] * a[..., 1:] - a[..., :1] * b[..., 1:] - cross(a[..., 1:], b[..., 1:])


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


def checked_rotation(rotation: ArrayLike) -> Array:
    """A float64 array (..., 3, 3) of any batch."""
    R = real_array("rotation", rotation, np.shape(rotation))
    if R.shape[-2:] != (3, 3):
        raise InputError(f"rotation: expected shape (..., 3, 3), got {R.shape}")
    return R
