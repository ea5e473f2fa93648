"""Modes of matrices: chains of masses with known frequencies, dense and sparse, and the exactness of component modes."""

import numpy as np
import pytest
from scipy import sparse

from flexapod.flexible import FlexibleBodyError
from flexapod.flexible.normal_modes import DENSE, craig_bampton, normal_modes, residual_modes

ROUNDING = 1e-12
"""Factorised systems of a few hundred unknowns with condition numbers up to 1e6."""


def chain(n: int, *, fixed: bool = False) -> tuple[sparse.csc_array, sparse.csc_array]:
    """n unit masses joined by unit springs, free at both ends or with the first spring to the ground."""
    K = sparse.lil_array((n, n))
    for k in range(n - 1):
        K[k, k] += 1.0
        K[k + 1, k + 1] += 1.0
        K[k, k + 1] -= 1.0
        K[k + 1, k] -= 1.0
    if fixed:
        K[0, 0] += 1.0
    return sparse.csc_array(K), sparse.csc_array(sparse.eye_array(n))


@pytest.mark.parametrize("n", [20, DENSE + 100], ids=["dense", "sparse"])
def test_free_chain(n: int) -> None:
    """omega_k = 2 sin(k pi / 2n), modes cos((j + 1/2) k pi / n)."""
    K, M = chain(n)
    omega2, V = normal_modes(K, M, np.ones((n, 1)), 5)
    k = np.arange(1, 6)
    assert np.allclose(np.sqrt(omega2), 2.0 * np.sin(k * np.pi / (2 * n)), rtol=ROUNDING, atol=0)
    exact = np.sqrt(2.0 / n) * np.cos((np.arange(n)[:, None] + 0.5) * k * np.pi / n)
    assert np.allclose(np.abs(np.sum(V * exact, axis=0)), 1.0, rtol=ROUNDING, atol=0)
    assert np.abs(V.sum(axis=0)).max() < ROUNDING
    assert np.allclose(V.T @ V, np.eye(5), rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("n", [20, DENSE + 100], ids=["dense", "sparse"])
def test_supported_chain(n: int) -> None:
    """omega_k = 2 sin((2k - 1) pi / (4n + 2))."""
    K, M = chain(n, fixed=True)
    omega2, _ = normal_modes(K, M, np.zeros((n, 0)), 4)
    k = np.arange(1, 5)
    assert np.allclose(np.sqrt(omega2), 2.0 * np.sin((2 * k - 1) * np.pi / (4 * n + 2)), rtol=ROUNDING, atol=0)


def test_masses_may_be_zero() -> None:
    """Every second mass is zero: springs in series, half the chain with half the stiffness."""
    n = 21
    K, _ = chain(n)
    M = sparse.csc_array(sparse.diags_array((np.arange(n) % 2 == 0).astype(float)))
    omega2, _ = normal_modes(K, M, np.ones((n, 1)), 4)
    assert np.allclose(np.sqrt(omega2), np.sqrt(0.5) * 2.0 * np.sin(np.arange(1, 5) * np.pi / 22.0), rtol=ROUNDING, atol=0)
    with pytest.raises(FlexibleBodyError, match="modes must be at most 10, the elastic degrees of freedom with inertia"):
        normal_modes(K, M, np.ones((n, 1)), 11)


def test_too_many_modes() -> None:
    K, M = chain(10)
    with pytest.raises(FlexibleBodyError, match="modes must be at most 9, the number of elastic degrees of freedom, is 10"):
        normal_modes(K, M, np.ones((10, 1)), 10)


def test_all_modes_of_a_small_body() -> None:
    K, M = chain(10)
    omega2, _ = normal_modes(K, M, np.ones((10, 1)), 9, extra=3)
    assert np.allclose(np.sqrt(omega2), 2.0 * np.sin(np.arange(1, 10) * np.pi / 20.0), rtol=ROUNDING, atol=0)


def test_a_mechanism_is_named() -> None:
    """Two chains that are not joined have a second rigid motion."""
    K, M = chain(10)
    both = sparse.block_diag([K, K], format="csc")
    mass = sparse.block_diag([M, M], format="csc")
    with pytest.raises(FlexibleBodyError, match="motion without energy that is not a rigid one"):
        normal_modes(both, mass, np.ones((20, 1)), 3)


def test_component_modes_are_statically_exact() -> None:
    """Opposite forces at the two interfaces: the reduced body deflects as the whole one, without any fixed-interface mode."""
    n = 30
    K, M = chain(n)
    C = np.zeros((2, n))
    C[0, 3] = C[1, 25] = 1.0
    omega2, V = craig_bampton(K, M, np.ones((n, 1)), C, 0)
    assert len(omega2) == 1
    force = np.zeros(n)
    force[3], force[25] = -1.0, 1.0
    x = V @ ((V.T @ force) / omega2)
    assert x[25] - x[3] == pytest.approx(22.0, rel=ROUNDING)
    omega2, V = normal_modes(K, M, np.ones((n, 1)), 1)
    x = V @ ((V.T @ force) / omega2)
    assert abs(x[25] - x[3] - 22.0) > 0.1, "one normal mode is not statically exact, so the check can fail"


def test_component_modes_approach_the_normal_modes_from_above() -> None:
    n = 60
    K, M = chain(n)
    C = np.zeros((2, n))
    C[0, 0] = C[1, -1] = 1.0
    exact = normal_modes(K, M, np.ones((n, 1)), 3)[0]
    errors = [craig_bampton(K, M, np.ones((n, 1)), C, count)[0][:3] / exact - 1.0 for count in (2, 4, 8)]
    assert all((e > -ROUNDING).all() for e in errors)
    assert errors[0].max() > 5.0 * errors[1].max()
    assert errors[1].max() > 5.0 * errors[2].max()


def test_component_modes_need_interfaces_that_hold() -> None:
    K, M = chain(10)
    R = np.stack([np.ones(10), np.arange(10.0)], axis=1)
    with pytest.raises(FlexibleBodyError, match="needs interfaces that hold the body"):
        craig_bampton(K, M, R, np.eye(10)[:1], 2)
    with pytest.raises(FlexibleBodyError, match="at least one interface"):
        craig_bampton(K, M, R[:, :1], np.zeros((0, 10)), 2)
    with pytest.raises(FlexibleBodyError, match="at most 9, the degrees of freedom beside the interfaces"):
        craig_bampton(K, M, R[:, :1], np.eye(10)[:1], 10)


@pytest.mark.parametrize("n", [40, DENSE + 100], ids=["dense", "sparse"])
def test_residual_flexibility(n: int) -> None:
    """Free modes as they are, and the deflection under loads at both ends exact, which free modes alone miss."""
    K, M = chain(n)
    C = np.eye(n)[[0, -1]]
    free, V = normal_modes(K, M, np.ones((n, 1)), 3)
    omega2, W = residual_modes(K, M, np.ones((n, 1)), C, 3)
    assert len(omega2) == 5
    assert np.allclose(omega2[:3], free, rtol=ROUNDING, atol=0)
    assert np.allclose(W.T @ (M @ W), np.eye(5), rtol=0, atol=ROUNDING)
    load = C.T @ [1.0, -1.0]  # in balance: a pull at both ends
    exact = n - 1.0  # unit springs in series
    found, poor = (float(load @ X @ ((X.T @ load) / w)) for w, X in ((omega2, W), (free, V)))
    assert found == pytest.approx(exact, rel=ROUNDING)
    assert poor < 0.95 * exact
    with pytest.raises(FlexibleBodyError, match="method residual needs at least one interface"):
        residual_modes(K, M, np.ones((n, 1)), np.zeros((0, n)), 3)
