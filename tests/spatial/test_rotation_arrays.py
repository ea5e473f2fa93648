"""Vectors and rotations in numbers: against NumPy to the last bit, against SciPy, and one as of a batch."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from flexapod.rotation_arrays import (
    axial,
    cayley_rotation,
    cross,
    quaternion_rotation,
    rotation_quaternion,
    rotation_vector,
    skew,
)

ROUNDING = 4e-15
"""Entries of rotations and angles up to pi: a few roundings of products and square roots."""


def vectors(seed: int) -> np.ndarray:
    """Vectors of many sizes (500, 2, 3), zeros among their entries."""
    random = np.random.default_rng(seed)
    v = random.normal(size=(500, 2, 3)) * 10.0 ** random.uniform(-8, 8, (500, 2, 1))
    v[np.arange(500), 0, random.integers(3, size=500)] *= random.integers(2, size=500)
    return v


def test_the_bits_of_products_are_those_of_numpy() -> None:
    """Structural zeros of robots follow them."""
    a, b = vectors(3).swapaxes(0, 1)
    np.testing.assert_array_equal(cross(a, b), np.cross(a, b))
    for one, other, whole in zip(a, b, cross(a, b), strict=True):
        np.testing.assert_array_equal(cross(one, other), whole)


def test_complex_vectors_and_other_shapes_are_multiplied() -> None:
    a, b = vectors(4).swapaxes(0, 1)
    np.testing.assert_array_equal(cross(1j * a[:, None], b[None, :5]), np.cross(1j * a[:, None], b[None, :5]))


def test_skew_and_axial_are_of_the_product() -> None:
    a, b = vectors(5).swapaxes(0, 1)
    np.testing.assert_array_equal(skew(a), np.array([skew(one) for one in a]))
    np.testing.assert_array_equal(axial(skew(a)), 2.0 * a)
    bound = ROUNDING * np.abs(a).max() * np.abs(b).max()
    np.testing.assert_allclose((skew(a) @ b[..., None])[..., 0], cross(a, b), rtol=0, atol=bound)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-5, 1.0, 2.0, 3.0, np.pi - 1e-6])
def test_conversions_are_those_of_scipy(angle: float) -> None:
    axes = np.random.default_rng(6).normal(size=(200, 3))
    r = angle * axes / np.linalg.norm(axes, axis=1, keepdims=True)
    R = Rotation.from_rotvec(r).as_matrix()
    assert np.abs(rotation_vector(R) - r).max() <= ROUNDING
    q = rotation_quaternion(R)
    assert np.abs(quaternion_rotation(q) - R).max() <= ROUNDING
    assert np.abs(cayley_rotation(2.0 * q[:, 1:] / q[:, :1]) - R).max() <= ROUNDING
    for one, whole in zip(R[:5], rotation_vector(R), strict=False):
        assert np.abs(rotation_vector(one) - whole).max() <= ROUNDING


def test_no_rotation_has_no_vector() -> None:
    R = np.full((2, 3, 3), np.nan)
    R[1] = np.eye(3)
    assert np.isnan(rotation_vector(R)[0]).all()
    assert not rotation_vector(R)[1].any()
