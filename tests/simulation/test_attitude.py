"""Cayley's vector against rotation matrices and finite differences."""

import casadi as ca
import numpy as np

from flexapod.robot.geometry import rotation_from_vector
from flexapod.rotation_arrays import rotation_quaternion
from flexapod.simulation.system.attitude import (
    matrix,
    rotated,
    rotation_error,
    spin_per_theta,
    theta_rate,
)
from flexapod.spatial.rotation import normalised

DIFFERENCES = 1e-9
"""Central differences over 1e-5: its square, and 1e-16 over it in rounding."""
ROUNDING = 1e-15
"""Entries up to 1 of products of rotations: a few roundings."""
VECTOR = 1e-9
"""Of the rotation vector; small ones come from differences of entries."""
SMALL = 1e-3
"""[rad]: rounding is divided by the angle, but by no smaller one."""


def test_theta_rate_is_the_derivative_of_the_rotation() -> None:
    """R(theta + h theta') = exp(h w) R(theta) to second order in h."""
    random = np.random.default_rng(4)
    theta, w, q0 = random.normal(size=3), random.normal(size=3), random.normal(size=4)
    q0 /= np.linalg.norm(q0)
    rate = np.array(ca.DM(theta_rate(ca.SX(theta), ca.SX(w)))).ravel()

    def at(t: np.ndarray) -> np.ndarray:
        return np.array(ca.DM(matrix(rotated(ca.SX(t), ca.SX(q0)))))

    h = 1e-5
    central = (at(theta + h * rate) - at(theta - h * rate)) / (2 * h)
    hat = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    assert np.allclose(central @ at(theta).T, hat, rtol=0, atol=DIFFERENCES)
    assert np.allclose(at(theta) @ at(theta).T, np.eye(3), rtol=0, atol=ROUNDING)


def test_spin_per_theta_undoes_theta_rate() -> None:
    random = np.random.default_rng(7)
    theta, w = random.normal(size=3), random.normal(size=3)
    back = ca.mtimes(spin_per_theta(ca.SX(theta)), theta_rate(ca.SX(theta), ca.SX(w)))
    assert np.allclose(np.array(ca.DM(back)).ravel(), w, rtol=0, atol=ROUNDING)


def test_quaternion_and_matrix_agree() -> None:
    random = np.random.default_rng(5)
    for vector in random.normal(size=(20, 3)):
        R = rotation_from_vector(vector)
        q = rotation_quaternion(R[None])[0]
        assert np.allclose(np.array(ca.DM(matrix(ca.SX(3.0 * q)))), R, rtol=0, atol=ROUNDING)
        assert np.isclose(float(ca.norm_2(ca.DM(normalised(ca.SX(3.0 * q))))), 1.0, rtol=0, atol=ROUNDING)


def test_rotation_error_is_the_rotation_vector() -> None:
    random = np.random.default_rng(6)
    for scale in (1e-9, 1e-4, 0.3, 2.5):
        vector = random.normal(size=3)
        vector *= scale / np.linalg.norm(vector)
        R = rotation_from_vector(random.normal(size=3))
        found = np.array(ca.DM(rotation_error(ca.SX(rotation_from_vector(vector) @ R), ca.SX(R)))).ravel()
        assert np.allclose(found, vector, rtol=VECTOR, atol=ROUNDING / max(10 * scale, 10 * SMALL) + ROUNDING)
