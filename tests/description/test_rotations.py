"""The rotation forms of the robot file agree with SciPy."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation as ScipyRotation

from flexapod.description.rotations import rotation_matrix
from flexapod.description.schema import Rotation

LOWER = ["".join(s) for n in (1, 2, 3) for s in product("xyz", repeat=n) if all(a != b for a, b in pairwise(s))]
ANGLE = st.floats(-7, 7)
EXACT = 1e-15
"""Entries up to 1: products of three rotations."""
ROUNDING = 1e-14
"""Entries up to 1: a few roundings of normalised axes and quaternions, angles up to 7 rad."""


@pytest.mark.parametrize("sequence", LOWER + [s.upper() for s in LOWER])
def test_euler_sequences(sequence: str) -> None:
    angles = [0.3, -1.1, 2.0][: len(sequence)]
    expected = ScipyRotation.from_euler(sequence, angles if len(sequence) > 1 else angles[0]).as_matrix()
    np.testing.assert_allclose(rotation_matrix(Rotation.model_validate({sequence: angles})), expected, rtol=0, atol=EXACT)


@settings(deadline=None)
@given(st.tuples(ANGLE, ANGLE, ANGLE).filter(lambda v: np.linalg.norm(v) > 1e-3), ANGLE)
def test_axis_and_quaternion(axis: tuple[float, float, float], angle: float) -> None:
    expected = ScipyRotation.from_rotvec(np.array(axis) / np.linalg.norm(axis) * angle)
    given_axis = rotation_matrix(Rotation(axis=list(axis), angle=angle))
    np.testing.assert_allclose(given_axis, expected.as_matrix(), rtol=0, atol=ROUNDING)
    x, y, z, w = expected.as_quat()
    given_quat = rotation_matrix(Rotation(quat_wxyz=[w, x, y, z]))
    np.testing.assert_allclose(given_quat, expected.as_matrix(), rtol=0, atol=ROUNDING)
    given_matrix = rotation_matrix(Rotation(matrix=expected.as_matrix().tolist()))
    np.testing.assert_allclose(given_matrix, expected.as_matrix(), rtol=0, atol=0)


def test_toward() -> None:
    R = np.array(rotation_matrix(Rotation(toward_x=[1, 0, 5], toward_z=[0, 0, -2])))
    np.testing.assert_allclose(R, [[1, 0, 0], [0, -1, 0], [0, 0, -1]], rtol=0, atol=EXACT)


def test_no_rotation_is_the_identity() -> None:
    np.testing.assert_array_equal(rotation_matrix(None), np.eye(3))
