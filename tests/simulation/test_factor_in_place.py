"""Factorisations where the matrix lies, against NumPy's solutions."""

import numpy as np
import pytest

from flexapod.simulation.integrators.factor_in_place import Factor

SOLVED = 1e-12
"""Of the solution: roundings of well-conditioned systems of a few unknowns."""


@pytest.mark.parametrize("kind", [float, complex])
def test_solutions_are_those_of_numpy(kind: type) -> None:
    random, n = np.random.default_rng(3), 7
    matrix, right = np.zeros((n, n), order="F", dtype=kind), np.zeros(n, dtype=kind)
    system = Factor(matrix, right)
    for _ in range(3):
        A = random.normal(size=(n, n)) + (1j * random.normal(size=(n, n)) if kind is complex else 0.0)
        A = A if kind is complex else A @ A.T + np.eye(n)
        b = random.normal(size=n).astype(kind)
        matrix[...], right[...] = A, b
        assert system.factor() == 0
        assert system.solve() == 0
        wanted = np.linalg.solve(A, b)
        assert np.abs(right - wanted).max() <= SOLVED * np.abs(wanted).max()


def test_what_cannot_be_factored_has_a_status() -> None:
    matrix = np.array([[1.0, 0.0], [0.0, -1.0]], order="F")
    assert Factor(matrix, np.zeros(2)).factor() == 2
    assert Factor(np.zeros((2, 2), order="F", dtype=complex), np.zeros(2, dtype=complex)).factor() == 1
    with pytest.raises(ValueError, match="in column order"):
        Factor(np.ones((2, 2)), np.zeros(2))
