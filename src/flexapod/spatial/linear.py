"""Small dense solves written out as expressions: safe without pivoting, counted to the last operation.

Unpivoted elimination fails at harmless poses, so square and tall systems go through modified Gram-Schmidt
(backward stable as a solve: Q is applied to the right-hand side along with the columns); 3 x 3 systems use Cramer.
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX
from flexapod.errors import FlexapodError

LARGEST = 100
"""Unknowns of a solve that is written out; it has 2 n^3 operations, two million at this size."""


def solve3(A: SX, b: SX) -> SX:
    """Solve a 3 x 3 system by Cramer's rule with one reciprocal.

    Args:
        A: (3, 3).
        b: (3, k).
    Returns:
        (3, k); infinite where A is singular.
    """
    r0, r1, r2 = A[:, 0], A[:, 1], A[:, 2]
    c12, c20, c01 = ca.cross(r1, r2), ca.cross(r2, r0), ca.cross(r0, r1)
    inverse = 1 / ca.dot(r0, c12)
    rows = ca.vertcat(c12.T, c20.T, c01.T)
    return ca.mtimes(rows, b) * inverse


def solve_gram_schmidt(A: SX, b: SX) -> SX:
    """Least-squares solution of A x = b by modified Gram-Schmidt on [A | b].

    Args:
        A: (m, n) with m >= n and full column rank.
        b: (m, k).
    Returns:
        (n, k). For m = n the exact solution; for m > n the least-squares one.
    """
    n = A.shape[1]
    if n > LARGEST:
        raise FlexapodError(
            f"the robot is too large: {n} coordinates follow from loops that are closed together, and equations are written out "
            f"for {LARGEST} at most; remove joints and bodies that it does not need"
        )
    columns = [A[:, j] for j in range(n)]
    right = b
    R = ca.SX.zeros(n, n)
    y: list[SX] = []
    inverse: list[SX] = []
    for j in range(n):
        diagonal = ca.dot(columns[j], columns[j])
        reciprocal = 1 / diagonal
        inverse.append(reciprocal)
        for k in range(j + 1, n):
            R[j, k] = ca.dot(columns[j], columns[k]) * reciprocal
            columns[k] = columns[k] - columns[j] * R[j, k]
        row = ca.mtimes(columns[j].T, right) * reciprocal
        right = right - ca.mtimes(columns[j], row)
        y.append(row)
    x: list[SX] = [None] * n
    for j in reversed(range(n)):
        value = y[j]
        for k in range(j + 1, n):
            value = value - R[j, k] * x[k]
        x[j] = value
    return ca.vertcat(*x)


def independence(A: SX) -> SX:
    """How independent the columns of A (m, n) are: smallest part of a column, squared, that the columns before it do not span.

    One for orthogonal columns, zero for a singular matrix; the columns' lengths do not matter. The same Gram-Schmidt steps
    as `solve_gram_schmidt`, so that both together cost little more than one.
    """
    columns = [A[:, j] for j in range(A.shape[1])]
    lengths = [ca.dot(c, c) for c in columns]
    smallest = ca.SX(1)
    for j, column in enumerate(columns):
        rest = ca.dot(column, column)
        smallest = ca.fmin(smallest, rest / lengths[j])
        reciprocal = 1 / rest
        for k in range(j + 1, len(columns)):
            columns[k] = columns[k] - column * (ca.dot(column, columns[k]) * reciprocal)
    return smallest


def solve(A: SX, b: SX) -> SX:
    """Solve a small square or tall system by the cheapest safe rule for its size."""
    m, n = A.shape
    if (m, n) == (1, 1):
        return b / A[0, 0]
    if (m, n) == (2, 2):
        inverse = 1 / (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])
        adjugate = ca.vertcat(ca.horzcat(A[1, 1], -A[0, 1]), ca.horzcat(-A[1, 0], A[0, 0]))
        return ca.mtimes(adjugate, b) * inverse
    if (m, n) == (3, 3):
        return solve3(A, b)
    return solve_gram_schmidt(A, b)


def solve_symmetric(A: SX, b: SX) -> SX:
    """Solve a symmetric positive definite system by LDL^T without square roots.

    Args:
        A: (n, n), only the lower triangle is read.
        b: (n, k).
    """
    n = A.shape[0]
    L = ca.SX.eye(n)
    d: list[SX] = []
    for j in range(n):
        scaled = [L[j, k] * d[k] for k in range(j)]
        d.append(A[j, j] - sum(L[j, k] * scaled[k] for k in range(j)))
        for i in range(j + 1, n):
            L[i, j] = (A[i, j] - sum(L[i, k] * scaled[k] for k in range(j))) / d[j]
    y: list[SX] = []
    for i in range(n):
        y.append(b[i, :] - sum((L[i, k] * y[k] for k in range(i)), ca.SX.zeros(1, b.shape[1])))
    x: list[SX] = [None] * n
    for i in reversed(range(n)):
        x[i] = y[i] / d[i] - sum((L[k, i] * x[k] for k in range(i + 1, n)), ca.SX.zeros(1, b.shape[1]))
    return ca.vertcat(*x)
