"""Vectors and rotations that check their frames, and the small solves, against NumPy."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from flexapod.errors import FlexapodError
from flexapod.robot.geometry import rotation_from_vector
from flexapod.rotation_arrays import rotation_vector
from flexapod.spatial import FrameError, Rot, Vec, axis_angle, cross, dot, norm, rotation_z
from flexapod.spatial.linear import LARGEST, inverse, solve, solve3, solve_gram_schmidt, solve_reflected, solve_symmetric
from flexapod.spatial.rotation import from_columns
from flexapod.spatial.vector import minus, negative, plus, times, zero

PRODUCTS = 1e-15
"""Entries of products of two rotations: a few roundings of numbers below 1."""
ENTRY = 3e-16
"""Entries of a rotation: two roundings of numbers below 1."""
SMALL_SYSTEMS = 1e-13
"""Of numbers of size 1: rotations by way of their vectors, and solves of up to eight equations; found 1e-15."""
PERMUTED = 1e-14
"""Relative: one product and one quotient per unknown."""

random = np.random.default_rng(0)


def value(expression) -> np.ndarray:
    return np.array(ca.evalf(expression.expr if isinstance(expression, Vec | Rot) else expression)).squeeze()


def test_algebra_agrees_with_numpy() -> None:
    a, b = random.normal(size=(2, 3))
    R = rotation_from_vector(random.normal(size=3))
    A, B, R_WB = Vec(a, "W"), Vec(b, "W"), Rot(R, "W", "B")
    np.testing.assert_allclose(value(A + B), a + b)
    np.testing.assert_allclose(value(A - B * 2 + 3 * A), a - 2 * b + 3 * a)
    np.testing.assert_allclose(value(-A), -a)
    np.testing.assert_allclose(value(cross(A, B)), np.cross(a, b))
    np.testing.assert_allclose(value(dot(A, B)), a @ b)
    np.testing.assert_allclose(value(norm(A)), np.linalg.norm(a))
    np.testing.assert_allclose(value(R_WB @ Vec(a, "B")), R @ a)
    np.testing.assert_allclose(value(R_WB @ R_WB.T.renamed("B", "C")), np.eye(3), rtol=0, atol=PRODUCTS)
    np.testing.assert_allclose(value(R_WB.column(1)), R[:, 1])
    np.testing.assert_allclose(value(from_columns(*[R_WB.column(k) for k in range(3)], "B")), R)
    np.testing.assert_allclose(value(rotation_z(0.3, "A", "B")), rotation_from_vector(np.array([0, 0, 0.3])))
    assert A[1].is_constant()
    np.testing.assert_array_equal(value(zero("W")), np.zeros(3))


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        (lambda: Vec([1, 0, 0], "W") + Vec([1, 0, 0], "P"), "add: axes W and P do not match"),
        (lambda: Vec([1, 0, 0], "W") - Vec([1, 0, 0], "P"), "subtract: axes W and P do not match"),
        (lambda: cross(Vec([1, 0, 0], "W"), Vec([1, 0, 0], "P")), "cross: axes W and P do not match"),
        (lambda: dot(Vec([1, 0, 0], "W"), Vec([1, 0, 0], "P")), "dot: axes W and P do not match"),
        (lambda: Rot(np.eye(3), "W", "P") @ Vec([1, 0, 0], "W"), "R_WP cannot turn a vector in axes W"),
        (lambda: Rot(np.eye(3), "W", "P") @ Rot(np.eye(3), "W", "P"), "R_WP @ R_WP: frames do not chain"),
        (lambda: Vec([1, 0, 0], "W") + 1.0, "add: expected a vector in axes W, got float"),
        (lambda: from_columns(Vec([1, 0, 0], "W"), Vec([0, 1, 0], "W"), Vec([0, 0, 1], "P"), "B"), "columns: axes W and P"),
    ],
)
def test_wrong_frames_are_errors_while_building(mistake, text: str) -> None:
    with pytest.raises(FrameError, match=text):
        mistake()


def test_operations_are_those_of_casadi() -> None:
    """The same expressions, node by node, as by its operators: of columns, of a column and a number, of zeros and ones."""
    a, b, k = ca.SX.sym("a", 3), ca.SX.sym("b", 3), ca.SX.sym("k")
    for x, y in ((a, b), (a, k), (k, b), (a, ca.SX(0)), (a, ca.SX(1)), (ca.SX.zeros(3), b), (a, a)):
        for ours, theirs in ((plus(x, y), x + y), (minus(x, y), x - y), (times(x, y), x * y), (negative(x), -x)):
            assert ours.shape == theirs.shape
            assert ca.is_equal(ours, theirs, 2)


def test_wrong_shapes() -> None:
    with pytest.raises(ValueError, match="3 entries"):
        Vec([1, 2], "W")
    with pytest.raises(ValueError, match="3 x 3"):
        Rot(np.eye(2), "W", "P")


@pytest.mark.parametrize("angle", [0.0, 1e-300, 1e-9, 9.99e-5, 1.001e-4, 0.1, 1.0, 3.0, np.pi, 6.0])
def test_axis_angle_is_smooth_through_zero(angle: float) -> None:
    axis = np.array([0.6, -0.48, 0.64])
    R = value(axis_angle(ca.SX(axis * angle)))
    K = np.cross(np.eye(3), axis)
    np.testing.assert_allclose(R, np.eye(3) + np.sin(angle) * K + 2 * np.sin(angle / 2) ** 2 * K @ K, rtol=0, atol=ENTRY)
    np.testing.assert_allclose(R.T @ R, np.eye(3), rtol=0, atol=PRODUCTS)


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-7, 0.3, 2.0, np.pi - 1e-4, np.pi - 1e-7, np.pi - 1e-9, np.pi])
def test_rotation_vector_is_the_inverse(angle: float) -> None:
    for _ in range(20):
        axis = random.normal(size=3)
        axis /= np.linalg.norm(axis)
        again = rotation_from_vector(rotation_vector(rotation_from_vector(axis * angle)))
        np.testing.assert_allclose(again, rotation_from_vector(axis * angle), rtol=0, atol=SMALL_SYSTEMS)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6])
def test_solves_agree_with_lapack(size: int) -> None:
    for _ in range(20):
        A, b = random.normal(size=(size, size)), random.normal(size=(size, 2))
        exact = np.linalg.solve(A, b)
        bound = 1e-14 * np.linalg.cond(A) * np.abs(exact).max()
        np.testing.assert_allclose(value(solve(ca.SX(A), ca.SX(b))).reshape(exact.shape), exact, rtol=0, atol=bound)
        np.testing.assert_allclose(value(inverse(ca.SX(A))).reshape(A.shape), np.linalg.inv(A), rtol=0, atol=bound)
        S = A @ A.T + np.eye(size)
        np.testing.assert_allclose(
            value(solve_symmetric(ca.SX(S), ca.SX(b))).reshape(exact.shape), np.linalg.solve(S, b), rtol=0, atol=SMALL_SYSTEMS
        )


def test_no_pivot_is_needed() -> None:
    """Zeros on the diagonal stop elimination without pivoting; these solves do not mind."""
    for size in (2, 3, 4, 6):
        A = np.roll(np.diag(np.arange(1.0, size + 1)), 1, axis=0)
        b = np.arange(1.0, size + 1)[:, None]
        np.testing.assert_allclose(value(solve(ca.SX(A), ca.SX(b))), np.linalg.solve(A, b).squeeze(), rtol=PERMUTED)
    np.testing.assert_allclose(value(solve3(ca.SX(np.eye(3)[[2, 0, 1]]), ca.SX([1, 2, 3]))), [2, 3, 1])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 6])
def test_reflections_solve_and_find_lost_rank(size: int) -> None:
    """Also with zeros in the first column; the pivots are those of Gram-Schmidt's columns, and one vanishes with the rank."""
    A, b = random.normal(size=(size, size)), random.normal(size=(size, 2))
    A[3:, 0] = 0.0
    x, pivots = solve_reflected(ca.SX(A), ca.SX(b))
    np.testing.assert_allclose(value(x).reshape(b.shape), np.linalg.solve(A, b), rtol=0, atol=SMALL_SYSTEMS * np.linalg.cond(A))
    squares = [float(value(ca.SX(p.square)) / value(ca.SX(p.unit))) for p in pivots]
    expected = np.diag(np.linalg.qr(A[:, [p.column for p in pivots]])[1]) ** 2
    np.testing.assert_allclose(squares, expected, rtol=SMALL_SYSTEMS * np.linalg.cond(A), atol=0)
    if size > 1:
        A[:, -1] = A[:, 0]
        lost = [p for p in solve_reflected(ca.SX(A), ca.SX(b))[1] if p.column in (0, size - 1)][-1]
        assert value(ca.SX(lost.square)) < SMALL_SYSTEMS * value(ca.SX(lost.unit))


def test_tall_systems_are_solved_in_the_least_squares_sense() -> None:
    A, b = random.normal(size=(8, 6)), random.normal(size=(8, 1))
    found = value(solve_gram_schmidt(ca.SX(A), ca.SX(b)))
    np.testing.assert_allclose(found, np.linalg.lstsq(A, b)[0].squeeze(), rtol=0, atol=SMALL_SYSTEMS)


def test_systems_that_would_take_hours_are_refused() -> None:
    n = LARGEST + 1
    with pytest.raises(FlexapodError, match=f"too large: {n} coordinates follow from loops that are closed together"):
        solve(ca.SX.sym("A", n, n), ca.SX.sym("b", n))
