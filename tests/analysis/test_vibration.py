"""Vibration from matrices: closed forms of small systems, constraints, damping, instability, neutral modes."""

import numpy as np
import pytest
import scipy.linalg

from flexapod.analysis.model.vibration import vibration

ROUNDING = 1e-12
"""Relative: eigenvalues of well-conditioned matrices of size up to 8."""

UNITS = 1e-8
"""Relative: rounding of the largest of eigenvalues that are 1e5 apart, found 4e-11; by a null space in the given units 7."""


def test_two_masses_on_springs() -> None:
    """m = 1, 1; springs k to the wall and between: omega^2 = k (3 -+ sqrt 5) / 2."""
    K = 7.0 * np.array([[2.0, -1.0], [-1.0, 1.0]])
    found = vibration(np.eye(2)[None], K[None], np.zeros((1, 2, 2)))
    np.testing.assert_allclose(found.omega_squared[0], 7.0 * (3 + np.array([-1, 1]) * np.sqrt(5)) / 2, rtol=ROUNDING)
    np.testing.assert_allclose(found.frequency[0], np.sqrt(found.omega_squared[0]) / (2 * np.pi), rtol=ROUNDING)


def test_random_systems_with_constraints() -> None:
    """Against SciPy's generalized eigenvalues on another basis of the null space."""
    random = np.random.default_rng(1)
    A, S, C = random.normal(size=(5, 8, 8)), random.normal(size=(5, 8, 8)), random.normal(size=(5, 3, 8))
    M, K = A @ np.swapaxes(A, 1, 2) + np.eye(8), S + np.swapaxes(S, 1, 2)
    found = vibration(M, K, np.zeros_like(M), C)
    for i in range(5):
        Z = scipy.linalg.null_space(C[i]) @ random.normal(size=(5, 5))
        np.testing.assert_allclose(found.omega_squared[i], scipy.linalg.eigh(Z.T @ K[i] @ Z, Z.T @ M[i] @ Z)[0], rtol=ROUNDING)
        shapes = found.shapes[i]
        assert np.abs(C[i] @ shapes).max() < ROUNDING * np.abs(shapes).max() * 10
        np.testing.assert_allclose(shapes.T @ M[i] @ shapes, np.eye(5), rtol=0, atol=ROUNDING)


def test_units_do_not_matter() -> None:
    """Coordinates as far apart as metres, radians and root kg times metres of a plate of 1 mg and 1 mm."""
    random = np.random.default_rng(2)
    A, B, C = random.normal(size=(8, 8)), random.normal(size=(8, 8)), random.normal(size=(1, 3, 8))
    M, K = (A @ A.T + np.eye(8))[None], (B @ np.diag(10.0 ** np.arange(-4, 4)) @ B.T)[None]
    units = np.array([3e-5] * 2 + [3e-8] * 2 + [1.0] * 4)
    even = vibration(M, K, np.zeros_like(M), C)
    other = vibration(units[:, None] * M * units, units[:, None] * K * units, np.zeros_like(M), C / 7e3 * units)
    np.testing.assert_allclose(other.omega_squared, even.omega_squared, rtol=UNITS)
    shapes = np.abs(units[:, None] * other.shapes)  # their largest entry, which is positive, may be another
    np.testing.assert_allclose(shapes, np.abs(even.shapes), rtol=0, atol=UNITS * np.abs(even.shapes).max())


def test_damping_of_one_mass() -> None:
    """x'' + 2 zeta w x' + w^2 x = 0: eigenvalues w (-zeta -+ i sqrt(1 - zeta^2))."""
    w, zeta = 30.0, 0.25
    found = vibration(np.full((1, 1, 1), 2.0), np.full((1, 1, 1), 2 * w * w), np.full((1, 1, 1), 4 * zeta * w))
    assert found.damping[0, 0] == pytest.approx(zeta, rel=ROUNDING)
    expected = w * (-zeta + np.array([-1j, 1j]) * np.sqrt(1 - zeta**2))
    np.testing.assert_allclose(found.eigenvalues[0], expected, rtol=ROUNDING)


def test_unstable_and_neutral_modes() -> None:
    """An inverted pendulum grows, a free mass is neutral: neither is NaN, and only the free mass is 0."""
    found = vibration(np.eye(3)[None], np.diag([-4.0, 0.0, 9.0])[None], np.zeros((1, 3, 3)))
    np.testing.assert_allclose(found.omega_squared[0], [-4.0, 0.0, 9.0], rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(found.frequency[0] * 2 * np.pi, [-2.0, 0.0, 3.0], rtol=ROUNDING)
    assert found.eigenvalues[0].real.max() == pytest.approx(2.0)
    assert np.all(np.isfinite(found.damping))
