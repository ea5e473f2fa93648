"""Physical consistency: bodies that exist, by eigenvalues and by point masses."""

from __future__ import annotations

import numpy as np

from flexapod.identification.physical_consistency import is_physical, physical_estimate

INSIDE = 1e-6
"""Of the largest parameter: an interior-point solver stops at 1e-8 of a square."""


def cloud(seed: int, count: int = 6) -> np.ndarray:
    """Ten parameters of point masses: they exist by construction."""
    random = np.random.default_rng(seed)
    m, x = random.uniform(0.1, 1.0, count), random.normal(size=(count, 3)) * 0.2
    I = sum(mi * (xi @ xi * np.eye(3) - np.outer(xi, xi)) for mi, xi in zip(m, x, strict=True))
    return np.array([m.sum(), *(m @ x), I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def test_point_masses_exist_and_others_do_not() -> None:
    for seed in range(20):
        theta = cloud(seed)
        assert is_physical(theta)
        broken = theta.copy()
        broken[4] = -0.01
        assert not is_physical(broken)
        light = theta.copy()
        light[0] = -light[0]
        assert not is_physical(light)


def test_estimates_outside_are_brought_to_the_boundary() -> None:
    bodies, none = {"a": np.arange(10)}, np.array([], dtype=np.int64)
    for seed in range(5):
        true = cloud(seed)
        wrong = true + np.random.default_rng(seed).normal(size=10) * np.abs(true).max()
        found = physical_estimate(wrong, np.eye(10), np.eye(10), true, bodies, none)
        assert is_physical(found)
        inside = physical_estimate(true, 1e6 * np.eye(10), np.eye(10), true, bodies, none)
        np.testing.assert_allclose(inside, true, rtol=0, atol=INSIDE * np.abs(true).max())
        if not is_physical(wrong):
            assert np.linalg.norm(found - wrong) <= np.linalg.norm(true - wrong) * 1.001, "no farther than a body that exists"
