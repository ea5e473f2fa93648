"""Rotations and placed frames as NumPy arrays: the orientations of a robot file as matrices.

Letters: R_AB turns vectors from B to A; p is a position [m]; K is a frame whose z axis is a joint axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flexapod.arrays import Array
from flexapod.description.rotations import rotation_matrix as rotation_of_file
from flexapod.description.schema import Rotation
from flexapod.rotation_arrays import cross, skew

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


def about(axis: Array, angle: float) -> Array:
    """Rotation by `angle` [rad] about a unit axis (Rodrigues)."""
    k = skew(axis)
    return snap(np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k))


def rotation_from_vector(rotation_vector: Array) -> Array:
    """Rotation matrix of a rotation vector [rad]."""
    angle = float(np.linalg.norm(rotation_vector))
    return np.eye(3) if angle == 0.0 else about(rotation_vector / angle, angle)


def rotation_matrix(rotation: Rotation | None) -> Array:
    """Parent-from-child matrix of a rotation in a robot file (identity where it is left out), orthogonal to rounding."""
    R = np.array(rotation_of_file(rotation))
    if rotation is not None and rotation.matrix is not None:
        for _ in range(3):  # nearest rotation: Newton's method for the polar factor, from a matrix that is one to 1e-6
            R = 1.5 * R - 0.5 * R @ R.T @ R
    return snap(R)


def frame_along(axis: Array) -> Array:
    """A rotation whose z column is `axis`; a permutation where the axis is a coordinate axis."""
    index = int(np.argmax(np.abs(axis)))
    x = np.eye(3)[(index + 1) % 3]
    x = unit(x - (x @ axis) * axis)
    return np.column_stack([x, snap(cross(axis, x)), axis])


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
        """Whether the poses are the same to the last bit."""
        return bool(np.array_equal(self.position, other.position) and np.array_equal(self.rotation, other.rotation))

    def point(self, p: Array) -> Array:
        """A point given in this frame, seen from the parent."""
        return np.asarray(self.position + self.rotation @ p)


def pose(position: object = (0.0, 0.0, 0.0), rotation: object = None) -> Pose:
    """A pose from anything array-like."""
    return Pose(position=frozen(position), rotation=frozen(np.eye(3) if rotation is None else rotation))
