"""Block Lanczos: closed forms, frequencies more often equal than a block is wide, restart, masses without inertia."""

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from flexapod.flexible.block_lanczos import BLOCK, lowest_modes
from flexapod.flexible.checked_arrays import Floats

SHAPES = 1e-8
"""Of M-orthonormal modes: the residual 1e-10 over the distance to the next frequency, a hundredth of it here."""
FREQUENCIES = 1e-11
"""omega^2 by the Rayleigh quotient: rounding of a chain of condition 1e6."""


def chain(n: int) -> sparse.csc_array:
    """Stiffness of n points joined by unit springs, the first one to the ground."""
    K = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tolil()
    K[n - 1, n - 1] = 1.0
    return sparse.csc_array(K)


def found(K: sparse.csc_array, M: sparse.csc_array, count: int, *, definite: bool = False) -> tuple[Floats, Floats]:
    """omega^2 by the Rayleigh quotient, and the modes."""
    V = lowest_modes(M, splu(K).solve, count, definite=definite)
    return np.einsum("nk,nk->k", V, K @ V) / np.einsum("nk,nk->k", V, M @ V), V


@pytest.mark.parametrize(("n", "count"), [(400, 1), (400, 30), (1500, 3)])
@pytest.mark.parametrize("definite", [True, False])
def test_a_chain(n: int, count: int, definite: bool) -> None:
    """omega_k = 2 sin((2k - 1) pi / (4n + 2)), modes sin((2k - 1) pi j / (2n + 1)); few modes of many points restart."""
    omega2, V = found(chain(n), sparse.csc_array(sparse.eye_array(n)), count, definite=definite)
    k = 2 * np.arange(count) + 1
    assert np.allclose(omega2, 4.0 * np.sin(k * np.pi / (4 * n + 2)) ** 2, rtol=FREQUENCIES, atol=0.0)
    exact = np.sin(np.arange(1, n + 1)[:, None] * k * np.pi / (2 * n + 1)) * 2.0 / np.sqrt(2 * n + 1)
    assert np.allclose(np.abs(exact.T @ V), np.eye(count), rtol=0.0, atol=SHAPES)


def test_frequencies_more_often_equal_than_a_block_is_wide() -> None:
    """Equal chains side by side: every frequency of one of them, as many times."""
    copies, n, count = BLOCK + 3, 60, 2 * (BLOCK + 3)
    K = sparse.csc_array(sparse.block_diag([chain(n)] * copies))
    omega2, V = found(K, sparse.csc_array(sparse.eye_array(n * copies)), count)
    exact = 4.0 * np.sin(np.array([1, 3]) * np.pi / (4 * n + 2)) ** 2
    assert np.allclose(omega2, np.repeat(exact, copies), rtol=FREQUENCIES, atol=0.0)
    assert np.allclose(V.T @ V, np.eye(count), rtol=0.0, atol=SHAPES)


def test_points_without_mass_follow_statically() -> None:
    """Every second point has no mass: the modes satisfy K x = omega^2 M x there too, and frequencies are the condensed ones."""
    n, count = 400, 12
    K, heavy = chain(n), np.arange(n) % 2 == 1
    M = sparse.csc_array(sparse.diags_array(heavy.astype(float)))
    omega2, V = found(K, M, count)
    dense = K.toarray()
    light = ~heavy
    static = dense[np.ix_(heavy, heavy)] - dense[np.ix_(heavy, light)] @ np.linalg.solve(
        dense[np.ix_(light, light)], dense[np.ix_(light, heavy)]
    )
    assert np.allclose(omega2, linalg.eigvalsh(static)[:count], rtol=FREQUENCIES, atol=0.0)
    assert np.allclose((K @ V)[light], 0.0, rtol=0.0, atol=SHAPES)


def test_no_more_modes_than_masses() -> None:
    """Three points have mass: three modes, however many are asked for."""
    masses = np.zeros(50)
    masses[[10, 20, 49]] = 1.0
    assert lowest_modes(sparse.csc_array(sparse.diags_array(masses)), splu(chain(50)).solve, 7).shape == (50, 3)
