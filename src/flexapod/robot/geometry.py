"""Rotations and placed frames as NumPy arrays: the orientations of a robot file as matrices.

Letters: R_AB turns vectors from B to A; p is a position [m]; K is a frame whose z axis is a joint axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flexapod.arrays import Array
from flexapod.description.schema import Rotation

SNAP = 1e-14
"""Entries of unit vectors and rotations this near to 0 or 1 are that number: a product of a few rotations rounds by less."""

ROUNDING = 1e-13
"""Numbers below this part of the scale of their kind (see `tidy`) are rounding of an exact zero, whatever the processor."""


def frozen(values: object) -> Array:
    """A read-only float64 array."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def snap(matrix: Array) -> Array:
    """Rounding noise next to 0 and 1 removed, so that structural zeros of a symmetric robot stay zeros."""
    result = np.where(np.abs(matrix) < SNAP, 0.0, matrix)
    return np.where(np.abs(np.abs(result) - 1.0) < SNAP, np.sign(result), result)


def tidy(values: Array, scale: float | Array) -> Array:
    """Values with rounding made zero: entries of at most `ROUNDING` times the scale of their kind.

    This is the one rule that makes structural zeros. The scale is 1 for directions and angles, the robot's size for lengths,
    and the body's own moments for inertial data. Sums of products of such numbers differ between processors (fused operations,
    order of sums in linear algebra) by a few units of 1e-16 of the scale, Newton's method at home by at most 1e-14 of it.

    Checked by: tests/robot/test_structure.py.
    """
    return np.where(np.abs(values) <= ROUNDING * scale, 0.0, values) + 0.0


def unit(vector: Sequence[float] | Array) -> Array:
    """The unit vector along `vector`; entries at rounding level become exact zeros."""
    v = np.asarray(vector, dtype=np.float64)
    length = float(np.linalg.norm(v))
    if length == 0.0:
        raise ValueError("a direction must not be zero")
    return v.copy() if abs(length - 1.0) < SNAP else snap(v / length)


def cross(a: Array, b: Array) -> Array:
    """a x b of two vectors, to the same bits as `np.cross`, whose handling of axes takes ten times as long as the products."""
    (a0, a1, a2), (b0, b1, b2) = a.tolist(), b.tolist()
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def skew(v: Array) -> Array:
    """Matrix of the cross product: skew(v) @ w = v x w."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def about(axis: Array, angle: float) -> Array:
    """Rotation by `angle` [rad] about a unit axis (Rodrigues)."""
    k = skew(axis)
    return snap(np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k))


def rotation_from_vector(rotation_vector: Array) -> Array:
    """Rotation matrix of a rotation vector [rad]."""
    angle = float(np.linalg.norm(rotation_vector))
    return np.eye(3) if angle == 0.0 else about(rotation_vector / angle, angle)


def rotation_vector(R: Array) -> Array:
    """Rotation vector [rad] of a rotation matrix, angle in [0, pi]; through the largest entry of its quaternion."""
    largest = int(np.argmax([np.trace(R), *np.diag(R)]))
    skewed = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    if largest == 0:
        w, v = 1.0 + float(np.trace(R)), skewed
    else:
        i = largest - 1
        w, v = float(skewed[i]), (R + R.T)[i].copy()
        v[i] = 1.0 + 2.0 * R[i, i] - np.trace(R)
    length = float(np.linalg.norm(v))
    if length == 0.0:
        return np.zeros(3)
    return np.asarray(v * (2.0 * np.arctan2(length, abs(w)) / length * (-1.0 if w < 0.0 else 1.0)))


def euler(sequence: str, angles: Sequence[float]) -> Array:
    """Rotation of an Euler sequence: `XYZ` intrinsic (moving axes), `xyz` extrinsic (fixed axes)."""
    result = np.eye(3)
    for letter, angle in zip(sequence, angles, strict=True):
        step = about(np.eye(3)["xyz".index(letter.lower())], angle)
        result = result @ step if letter.isupper() else step @ result
    return snap(result)


def rotation_matrix(rotation: Rotation | None) -> Array:
    """Parent-from-child matrix of a rotation in a robot file (identity where it is left out)."""
    if rotation is None:
        return np.eye(3)
    if rotation.matrix is not None:
        R = np.array(rotation.matrix, dtype=np.float64)
        for _ in range(3):  # nearest rotation: Newton's method for the polar factor, from a matrix that is one to 1e-6
            R = 1.5 * R - 0.5 * R @ R.T @ R
        return snap(R)
    if rotation.quat_wxyz is not None:
        w, x, y, z = unit(rotation.quat_wxyz)
        v = np.array([x, y, z])
        return snap((w * w - v @ v) * np.eye(3) + 2.0 * np.outer(v, v) + 2.0 * w * skew(v))
    if rotation.axis is not None and rotation.angle is not None:
        return about(unit(rotation.axis), rotation.angle)
    if rotation.toward_z is not None and rotation.toward_x is not None:
        z = unit(rotation.toward_z)
        y = unit(np.cross(z, rotation.toward_x))
        return np.column_stack([snap(np.cross(y, z)), y, z])
    for key, angles in (rotation.model_extra or {}).items():
        values = angles if isinstance(angles, list | tuple) else [angles]
        return euler(key, [float(a) for a in values])
    return np.eye(3)


def frame_along(axis: Array) -> Array:
    """A rotation whose z column is `axis`; a permutation where the axis is a coordinate axis."""
    index = int(np.argmax(np.abs(axis)))
    x = np.eye(3)[(index + 1) % 3]
    x = unit(x - (x @ axis) * axis)
    return np.column_stack([x, snap(np.cross(axis, x)), axis])


@dataclass(frozen=True, kw_only=True)
class Pose:
    """A placed frame: origin [m] and axes, seen from a parent frame."""

    position: Array
    rotation: Array

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(
            position=frozen(self.position + self.rotation @ other.position),
            rotation=frozen(snap(self.rotation @ other.rotation)),
        )

    def inverse(self) -> Pose:
        """The parent frame, seen from this one."""
        return Pose(position=frozen(-self.rotation.T @ self.position), rotation=frozen(self.rotation.T))

    def equals(self, other: Pose) -> bool:
        """The same to the last bit."""
        return bool(np.array_equal(self.position, other.position) and np.array_equal(self.rotation, other.rotation))

    def point(self, p: Array) -> Array:
        """A point given in this frame, seen from the parent."""
        return np.asarray(self.position + self.rotation @ p)


def pose(position: object = (0.0, 0.0, 0.0), rotation: object = None) -> Pose:
    """A pose from anything array-like."""
    return Pose(position=frozen(position), rotation=frozen(np.eye(3) if rotation is None else rotation))
