r"""Rotations in NumPy, one or a batch: Euler sequences and rotation vectors, with their exact rates.

Letters: R world-from-body, w and alpha angular velocity and acceleration in world axes, r rotation vector (axis times
angle). Leading axes are a batch. Quaternions are in `quaternions`.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import by_name
from flexapod.errors import InputError
from flexapod.motions.argument_checks import real_array
from flexapod.motions.quaternions import RotationMotion, checked_rotation, last_axis
from flexapod.rotation_arrays import cross, rotation_vector, skew

_SERIES = 12
"""Terms of the series below one radian: the first one left out is under 1e-27."""


def check_sequence(sequence: str) -> str:
    """A sequence of one to three axes: `XYZ` about the rotated axes (intrinsic), `xyz` about the fixed ones."""
    letters = str(sequence)
    upper, lower = set(letters) <= set("XYZ"), set(letters) <= set("xyz")
    if not letters or len(letters) > 3 or not (upper or lower):
        raise InputError(
            f"sequence: expected up to three letters of XYZ (about rotated axes) or of xyz (about fixed axes), got {sequence!r}"
        )
    if any(a == b for a, b in pairwise(letters)):
        raise InputError(f"sequence: {letters!r} rotates about the same axis twice in a row")
    return letters


@by_name
def euler_rotation(sequence: str, angles: ArrayLike) -> Array:
    """World-from-body rotation; angles (..., len(sequence)) [rad], one for each letter, in the order of the letters.

    Args:
        sequence: one to three letters, as for `euler_motion`.
        angles: (..., len(sequence)) [rad].
    Returns:
        (..., 3, 3) world-from-body.
    """
    value = np.asarray(angles)
    zero = np.zeros(value.shape)
    return euler_motion(sequence, angles, zero, zero)[0]


@by_name
def euler_motion(sequence: str, angles: ArrayLike, rates: ArrayLike, accelerations: ArrayLike) -> RotationMotion:
    r"""Rotation, angular velocity and acceleration from Euler angles and their derivatives.

    .. math:: z_k = R_{k-1}e_k,\quad \omega_k = \omega_{k-1} + z_k\dot\theta_k,\quad
              \alpha_k = \alpha_{k-1} + z_k\ddot\theta_k + \omega_{k-1}\times z_k\dot\theta_k

    Args:
        sequence: `XYZ`: R = Rx Ry Rz, each rotation about the axes already rotated; `xyz`: R = Rz Ry Rx, about the fixed
            axes; any one to three letters, as SciPy has them.
        angles, rates, accelerations: (..., len(sequence)) in the order of the letters [rad, rad/s, rad/s^2].

    Never singular. Checked by: tests/motions/test_motion_rotations.py.
    """
    letters = check_sequence(sequence)
    shape = np.shape(angles)
    if not shape or shape[-1] != len(letters):
        raise InputError(f"angles: expected shape (..., {len(letters)}) for the sequence {letters!r}, got {shape}")
    th = real_array("angles", angles, shape)
    thd, thdd = real_array("rates", rates, shape), real_array("accelerations", accelerations, shape)
    rotations = range(len(letters))
    # rotations about fixed axes equal those about rotated axes in reverse order
    order = list(rotations) if letters.isupper() else list(reversed(rotations))
    batch = shape[:-1]
    R = np.broadcast_to(np.eye(3), (*batch, 3, 3)).copy()
    w, alpha = np.zeros((*batch, 3)), np.zeros((*batch, 3))
    for k in order:
        i = "XYZ".index(letters[k].upper())
        z, rate = R[..., :, i].copy(), thd[..., k, None]
        alpha = alpha + z * thdd[..., k, None] + cross(w, z * rate)
        w = w + z * rate
        R = R @ axis_rotation(i, th[..., k])
    return R, w, alpha


def axis_rotation(axis: int, angle: Array) -> Array:
    """Rotation about a coordinate axis (0, 1, 2); angle (...) [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    R = np.zeros((*np.shape(angle), 3, 3))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R[..., axis, axis] = 1.0
    R[..., j, j] = R[..., k, k] = c
    R[..., j, k], R[..., k, j] = -s, s
    return R


@by_name
def rotvec_rotation(rotvec: ArrayLike) -> Array:
    r"""Exponential of a rotation vector: :math:`R = 1 + \frac{\sin\theta}{\theta}[r] + \frac{1-\cos\theta}{\theta^2}[r]^2`.

    Args:
        rotvec: (..., 3) [rad].
    Returns:
        (..., 3, 3) rotation matrices.
    """
    r = last_axis("rotvec", rotvec, 3)
    S = skew(r)
    A = _coefficients(np.sum(r * r, axis=-1))[0][..., None, None]
    sinc = np.sinc(np.linalg.norm(r, axis=-1) / np.pi)[..., None, None]
    return np.asarray(np.eye(3) + sinc * S + A * (S @ S))


@by_name
def rotvec_motion(rotvec: ArrayLike, rates: ArrayLike, accelerations: ArrayLike) -> RotationMotion:
    r"""Rotation, angular velocity and acceleration (world axes) of R = exp(r) from r and its derivatives.

    .. math:: \omega = \dot r + A\,r\times\dot r + B\,r\times(r\times\dot r),\quad
              A = \frac{1-\cos\theta}{\theta^2},\ B = \frac{\theta-\sin\theta}{\theta^3}

    and alpha is its derivative term by term; series below one radian.

    Args:
        rotvec: (..., 3) r [rad]; rates, accelerations: its derivatives [rad/s, rad/s^2].

    Checked by: tests/motions/test_motion_rotations.py.
    """
    r, rd, rdd = last_axis("rotvec", rotvec, 3), last_axis("rates", rates, 3), last_axis("accelerations", accelerations, 3)
    A, B, dA, dB = (c[..., None] for c in _coefficients(np.sum(r * r, axis=-1)))
    half = np.sum(r * rd, axis=-1)[..., None]  # theta theta'
    c1, c2 = cross(r, rd), cross(r, cross(r, rd))
    w = rd + A * c1 + B * c2
    c1d, c2d = cross(r, rdd), cross(rd, c1) + cross(r, cross(r, rdd))
    alpha = rdd + A * c1d + B * c2d + half * (dA * c1 + dB * c2)
    return rotvec_rotation(r), w, alpha


def rotvec_rates(rotvec: ArrayLike, w: ArrayLike, alpha: ArrayLike) -> tuple[Array, Array]:
    """Derivatives r', r'' of the rotation vector from w and alpha (world axes): the inverse of `rotvec_motion`.

    Singular where the angle is a whole number of revolutions, zero excepted. Checked by: tests/motions/test_motion_rotations.py.
    """
    r, w, alpha = last_axis("rotvec", rotvec, 3), last_axis("w", w, 3), last_axis("alpha", alpha, 3)
    A, B, _, _ = (c[..., None, None] for c in _coefficients(np.sum(r * r, axis=-1)))
    S = skew(r)
    J = np.eye(3) + A * S + B * (S @ S)
    rd = _solved(J, w)
    bias = rotvec_motion(r, rd, np.zeros_like(rd))[2]
    return rd, _solved(J, alpha - bias)


def _solved(J: Array, right: Array) -> Array:
    return np.asarray(np.linalg.solve(J, right[..., None])[..., 0], dtype=np.float64)


@by_name
def rotation_rotvec(rotation: ArrayLike) -> Array:
    """Logarithm of a rotation: the rotation vector of at most half a revolution.

    Args:
        rotation: (..., 3, 3).
    Returns:
        (..., 3) rotation vectors [rad].
    """
    return rotation_vector(checked_rotation(rotation))


def _coefficients(x: Array) -> tuple[Array, Array, Array, Array]:
    """A, B of `rotvec_motion` and A', B' divided by the angle, from x = angle squared."""
    k = np.arange(_SERIES)
    signs = (-1.0) ** k
    a = signs / np.cumprod(np.concatenate([[2.0], (2 * k[1:] + 1) * (2 * k[1:] + 2)]))  # (-1)^k / (2k+2)!
    b = a / (2 * k + 3)  # (-1)^k / (2k+3)!
    near = x < 1.0
    low = np.where(near, x, 0.0)[..., None] ** k
    series = (low @ a, low @ b, low[..., :-1] @ (2 * k[1:] * a[1:]), low[..., :-1] @ (2 * k[1:] * b[1:]))
    far = np.where(near, 1.0, x)
    th = np.sqrt(far)
    c, s = np.cos(th), np.sin(th)
    closed = (
        2 * np.sin(th / 2) ** 2 / far,
        (th - s) / (th * far),
        (th * s - 2 * (1 - c)) / far**2,
        (th * (1 - c) - 3 * (th - s)) / (th * far**2),
    )
    values = [np.where(near, p, q) for p, q in zip(series, closed, strict=True)]
    return values[0], values[1], values[2], values[3]
