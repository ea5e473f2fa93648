"""Sparse systems front by front: equal to dense solutions on looped robots and random patterns, regular where these are."""

import casadi as ca
import numpy as np
import pytest

import flexapod as fp
from flexapod.equations.elastodynamics.front_solve import solve_fronts
from flexapod.equations.elastodynamics.loops import independent_rows
from flexapod.robot.elastic_plan import loop_matrix
from flexapod.spatial.linear import solve_gram_schmidt

LOOPED = [
    "delta-flexible", "delta-parallelograms", "dualemps", "dualemps-8", "gough-stewart-flexible-legs", "h4", "hexapod-floating",
    "orthoglide", "par4", "planar-3-rrr-flexible",
]  # fmt: skip
"""Robots of the catalogue that are moved by their actuators and have bound coordinates."""
ROUNDING = 1e-12
"""Of the largest entry: roundings of a few hundred products in matrices of condition below 1e3."""


def solved(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.array(ca.DM(ca.evalf(solve_fronts(ca.SX(ca.DM(A)), ca.SX(ca.DM(B))))))


@pytest.mark.parametrize("name", LOOPED)
def test_closing_of_loops(name: str) -> None:
    """Bound coordinates by independent ones: fronts, one dense orthogonal solution, and LAPACK."""
    robot = fp.load(name)
    plan, used = robot.elastic_plan, independent_rows(robot.elastic_plan)
    assert used is not None
    numbers = loop_matrix(robot, plan.carrier, plan.first, len(plan.columns))
    A = np.vstack([block[rows] for block, rows in zip(numbers, used, strict=True)])
    left, right = A[:, list(plan.bound)], A[:, list(plan.independent)]
    dense, exact = ca.DM(ca.evalf(solve_gram_schmidt(ca.SX(ca.DM(left)), ca.SX(ca.DM(right))))), np.linalg.solve(left, right)
    found = solved(left, right)
    assert np.abs(found - exact).max() <= ROUNDING * np.abs(exact).max()
    assert np.abs(found - np.array(dense)).max() <= ROUNDING * np.abs(exact).max()


@pytest.mark.full
def test_no_robot_is_missing() -> None:
    found = {name for name in fp.catalogue() if fp.load(name).moved_by == "actuators" and fp.load(name).elastic_plan.bound}
    assert found == {*LOOPED}


@pytest.mark.parametrize("seed", range(6))
def test_random_patterns(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, pattern = 14, random.random((14, 14)) < 0.08 + 0.08 * seed
    A = random.normal(size=(n, n)) * (pattern | (np.arange(n) == random.permutation(n)[:, None]))
    B = random.normal(size=(n, 3)) * (random.random((n, 3)) < 0.5)
    exact = np.linalg.solve(A, B)
    assert np.abs(solved(A, B) - exact).max() <= ROUNDING * np.linalg.cond(A) * np.abs(exact).max()


def test_no_row_is_preferred() -> None:
    """A rod along a world axis: two of its three rows, the same two everywhere, would be singular."""
    for axis in range(3):
        rod = np.eye(3)[:, [k for k in range(3) if k != axis]]
        A = np.hstack([rod, np.ones((3, 1))])
        B = np.array([[1.0], [2.0], [3.0]])
        assert np.abs(solved(A, B) - np.linalg.solve(A, B)).max() <= ROUNDING
