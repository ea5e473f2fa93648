"""Determinants of block matrices in symbols."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import flexapod as fp
from flexapod.equations.model.algebra import determinant

SAME = 1e-12
"""Relative to the product of the columns' lengths: some hundred operations; 1e-15 to 1e-14 was measured."""


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6, 9, 20])
def test_determinant_has_size_and_sign(size: int) -> None:
    """Of full matrices, one block of 20 as in robots with loops through several legs."""
    X, random = ca.SX.sym("X", size, size), np.random.default_rng(size)
    f = ca.Function("f", [X], [determinant(X)])
    assert f.n_instructions() < 40 + 3 * size**3
    for A in random.normal(size=(20, size, size)):
        assert abs(float(f(A)) - np.linalg.det(A)) < SAME * np.prod(np.linalg.norm(A, axis=0))
    assert float(f(np.zeros((size, size)))) == 0.0


def test_determinant_of_blocks_in_another_order() -> None:
    """Rows and columns are permuted, blocks beside the diagonal are empty."""
    random = np.random.default_rng(1)
    A = np.zeros((9, 9))
    for part in (slice(0, 4), slice(4, 5), slice(5, 7), slice(7, 9)):
        A[part, part] = random.normal(size=(part.stop - part.start,) * 2)
    A = A[random.permutation(9)][:, random.permutation(9)]
    assert float(ca.DM(ca.evalf(determinant(ca.sparsify(ca.SX(A)))))) == pytest.approx(np.linalg.det(A), rel=SAME)


@pytest.mark.full
def test_a_robot_with_many_loops_is_simulated() -> None:
    """The closing rows of `h4` are one large block; its minors could never be written out."""
    robot = fp.load("h4")
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    force = 1.1 * fp.inverse_dynamics(robot, home).force.values
    result = fp.simulate(robot, home, drive="force", force=force, duration=2e-3, step=1e-3)
    assert np.abs(result.velocity.values[-1]).max() > 1e-3
