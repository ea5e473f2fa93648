"""Gram matrices in blocks against NumPy, for every remainder of tiles, rows and actuators."""

from __future__ import annotations

import numpy as np
import pytest

from flexapod.kernels import gram
from flexapod.kernels.gram import Gram

ROUNDING = 1e-13
"""Sums of a few hundred products, in another order."""


@pytest.mark.parametrize("P", [1, 4, 11, 12, 25])
def test_same_as_numpy(P: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gram, "WORTH", 0)
    random = np.random.default_rng(P)
    scale, about, expected = random.uniform(0.5, 2.0, 3), random.normal(size=P), np.zeros((P + 1, P + 1))
    found = Gram(P, 3, scale, about)
    for n in (1, 37, 64, 130):
        Y, y = random.normal(size=(n, 3, P)), random.normal(size=(n, 3))
        found.add(Y, y)
        rows = (np.concatenate([Y, (y - Y @ about)[:, :, None]], axis=2) * scale[:, None]).reshape(-1, P + 1)
        expected += rows.T @ rows
    np.testing.assert_allclose(found.matrix(), expected, rtol=0, atol=ROUNDING * np.abs(expected).max())


def test_small_blocks_and_other_backends_use_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    Y, y = np.ones((5, 2, 3)), np.full((5, 2), 2.0)
    one = Gram(3, 2, np.array([1.0, 3.0]))
    one.add(Y, y)
    monkeypatch.setattr(gram, "WORTH", 0)
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")
    two = Gram(3, 2, np.array([1.0, 3.0]))
    two.add(Y, y)
    np.testing.assert_array_equal(one.matrix(), two.matrix())
    assert one.matrix()[0, 3] == 5 * (1 + 9) * 2.0
