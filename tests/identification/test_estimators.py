"""Estimators on small problems: against NumPy's least squares, against the theory of their errors, and with outliers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from flexapod.identification.estimators import METHODS, Block, essential, estimate, whitening

N, A, P = 600, 3, 5
TRUE = np.array([3.0, -2.0, 0.5, 10.0, 0.02])
SAME = 1e-10
"""Normal equations of a matrix with condition below 100."""
INVERSE = 1e-8
"""Relative: inverses of normal equations."""
VANISHES = 1e-12
"""Of the largest entry, and of ones: entries that are zero but for rounding."""
SPREAD = 0.15
"""Of a standard deviation of 300 values, right to 4 %: four of these."""


def problem(seed: int, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    Y = np.random.default_rng(5).normal(size=(N, A, P)) * [1.0, 2.0, 5.0, 0.1, 20.0]
    root = np.linalg.cholesky(noise)
    return Y, Y @ TRUE + random.normal(size=(N, A)) @ root.T


def blocks(Y: np.ndarray, y: np.ndarray, Z: np.ndarray | None = None):
    def give(wanted: int | None) -> Iterator[Block]:
        for k in range(0, len(Y), 128):
            part = slice(k, k + 128)
            yield Y[part], y[part], None if Z is None else Z[part]

    return give


def test_least_squares_in_blocks_is_numpys() -> None:
    Y, y = problem(1, np.eye(A))
    found = estimate(blocks(Y, y), "ols")
    expected, left, *_ = np.linalg.lstsq(Y.reshape(-1, P), y.ravel(), rcond=None)
    np.testing.assert_allclose(found.beta, expected, rtol=SAME)
    s2 = left[0] / (N * A - P)
    covariance = s2 * np.linalg.inv(Y.reshape(-1, P).T @ Y.reshape(-1, P))
    np.testing.assert_allclose(found.covariance, covariance, rtol=INVERSE, atol=VANISHES * covariance.max())


def test_weights_take_noise_and_correlation_into_account() -> None:
    noise = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 100.0]])
    errors = {method: [] for method in ("ols", "wls")}
    ratios = []
    for seed in range(60):
        Y, y = problem(seed, noise)
        for method, values in errors.items():
            found = estimate(blocks(Y, y), method)  # type: ignore[arg-type]
            values.append(found.beta - TRUE)
        ratios.append((found.beta - TRUE) / found.sigma)
    spread = {method: np.std(values, axis=0) for method, values in errors.items()}
    assert np.all(spread["wls"] < 0.5 * spread["ols"]), "weighting pays"
    assert np.std(ratios) == pytest.approx(1.0, abs=SPREAD)


def test_instruments_remove_the_bias_of_noisy_regressors() -> None:
    random = np.random.default_rng(3)
    exact, y = problem(2, 0.01 * np.eye(A))
    scale = 0.7 * np.array([1.0, 2.0, 5.0, 0.1, 20.0])
    first, second = (exact + scale * random.normal(size=exact.shape) for _ in range(2))
    least = estimate(blocks(first, y), "wls")
    iv = estimate(blocks(first, y, second), "iv")
    assert np.abs(least.beta / TRUE - 1)[0] > 0.25, "least squares shrinks what noisy columns multiply, by 1 / (1 + 0.7^2)"
    assert np.all(np.abs(iv.beta - TRUE) < 4 * iv.sigma)
    assert np.abs(iv.beta / TRUE - 1)[0] < 0.15


def test_robust_regression_shrugs_off_outliers() -> None:
    Y, y = problem(4, 0.01 * np.eye(A))
    wild = y.copy()
    wild[::20] += np.random.default_rng(8).choice([-50.0, 50.0], size=wild[::20].shape)
    plain, robust = estimate(blocks(Y, wild), "wls"), estimate(blocks(Y, wild), "robust")
    good = estimate(blocks(Y, y), "wls")
    assert np.abs(robust.beta - TRUE).max() < 0.1 * np.abs(plain.beta - TRUE).max()
    assert np.all(np.abs(robust.beta - TRUE) < 8 * good.sigma), "5 % outliers on one side shift Huber's estimate by a few errors"


def test_essential_parameters() -> None:
    Y, y = problem(6, np.eye(A))
    found = estimate(blocks(Y, y - Y[:, :, 1] * TRUE[1]), "wls")  # the second parameter is zero now
    assert essential(found, 3.0) == [0, 2, 3, 4]


def test_whitening() -> None:
    noise = np.array([[4.0, 3.0], [3.0, 9.0]])
    root = whitening(noise)
    np.testing.assert_allclose(root @ noise @ root.T, np.eye(2), rtol=0, atol=VANISHES)
    assert np.count_nonzero(whitening(np.diag([1.0, 4.0]))) == 2
    assert set(METHODS) == {"ols", "wls", "iv", "robust"}
