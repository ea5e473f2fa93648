"""Block triangular form: small blocks where a pattern has them, mechanisms that are no legs and platform included."""

import numpy as np
import pytest

from flexapod.robot.block_triangular import StructurallySingularError, blocks


def of_loops(loops: list[tuple[int, list[str]]], known: list[str]) -> list[int]:
    """Sizes of the blocks of loops given as (rows, coordinates)."""
    names = sorted({c for _, cs in loops for c in cs if c not in known})
    pattern = [[n in cs for n in names] for rows, cs in loops for _ in range(rows)]
    return sorted(len(rows) for rows, _ in blocks(pattern))


def test_a_triangular_matrix_is_solved_one_by_one() -> None:
    pattern = np.tril(np.ones((5, 5), dtype=bool))
    order = np.random.default_rng(1).permutation(5)
    found = blocks(pattern[order][:, order].tolist())
    assert [len(rows) for rows, _ in found] == [1] * 5
    known: set[int] = set()
    for rows, columns in found:  # each block needs only columns of earlier ones
        needed = {int(c) for r in rows for c in np.flatnonzero(pattern[order][:, order][r])}
        known |= set(columns)
        assert needed <= known


def test_random_patterns_are_block_triangular() -> None:
    random = np.random.default_rng(2)
    for _ in range(50):
        n = int(random.integers(1, 9))
        pattern = (random.random((n, n)) < 0.3) | np.eye(n, dtype=bool)[random.permutation(n)]
        known: set[int] = set()
        found = blocks(pattern.tolist())
        assert sorted(r for rows, _ in found for r in rows) == list(range(n))
        for rows, columns in found:
            known |= set(columns)
            assert {int(c) for r in rows for c in np.flatnonzero(pattern[r])} <= known


def test_mechanisms() -> None:
    """Andrews' squeezer with its crank given, forty four-bars, six U-P-S legs with the platform given."""
    squeezer = [(2, ["be", "th", "ga"]), (2, ["be", "th", "ph", "de"]), (2, ["be", "th", "om", "ep"])]
    assert of_loops(squeezer, ["be"]) == [2, 2, 2]
    chain = [(2, [f"c{k}", f"r{k}", f"c{k + 1}"]) for k in range(40)]
    assert of_loops(chain, ["c0"]) == [2] * 40
    assert of_loops([(3, [f"{leg}1", f"{leg}2", f"{leg}3"]) for leg in "ABCDEF"], []) == [3] * 6


def test_a_row_without_a_column() -> None:
    with pytest.raises(StructurallySingularError):
        blocks([[True, False], [True, False]])
