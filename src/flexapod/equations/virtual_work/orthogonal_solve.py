r"""Solves of the virtual motions by modified Gram-Schmidt, with a measure of how near to singular they are.

The height of a column is the square of its part normal to the columns before it, relative to its whole square: 1 for
orthogonal columns, 0 for dependent ones.
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX

SMALLEST = 1e-20
"""Height (a squared sine) below which columns count as dependent: sine 1e-10, where rounding leaves about six digits."""


def orthogonal_solve(A: SX, b: SX) -> tuple[SX, SX]:
    """Solution (n, k) of a square system A x = b with b (n, k), and the smallest height of its columns."""
    n = A.shape[1]
    columns, right = [A[:, j] for j in range(n)], b
    upper, lines, height = ca.SX.zeros(n, n), [], ca.SX(1)
    for j in range(n):
        square = ca.dot(columns[j], columns[j])
        reciprocal = 1 / square
        height = ca.fmin(height, square / ca.dot(A[:, j], A[:, j])) if j else height
        for k in range(j + 1, n):
            upper[j, k] = ca.dot(columns[j], columns[k]) * reciprocal
            columns[k] = columns[k] - columns[j] * upper[j, k]
        line = ca.mtimes(columns[j].T, right) * reciprocal
        right = right - ca.mtimes(columns[j], line)
        lines.append(line)
    for j in reversed(range(n)):
        for k in range(j + 1, n):
            lines[j] = lines[j] - upper[j, k] * lines[k]
    return ca.vertcat(*lines), height


def minimum_norm(A: SX, b: SX) -> tuple[SX, SX]:
    """Smallest x with A x = b for A (m, n), m <= n, b (m,); and the smallest height of the rows of A.

    The rows are made orthogonal; x is built from them backwards, each time less what is already there (Bjorck's stable order).
    """
    m = A.shape[0]
    rows, upper, height = [A[i, :].T for i in range(m)], ca.SX.zeros(m, m), ca.SX(1)
    reciprocals: list[SX] = []
    steps: list[SX] = []
    for j in range(m):
        square = ca.dot(rows[j], rows[j])
        reciprocals.append(1 / square)
        height = ca.fmin(height, square / ca.dot(A[j, :], A[j, :])) if j else height
        for k in range(j + 1, m):
            upper[j, k] = ca.dot(rows[j], rows[k])
            rows[k] = rows[k] - rows[j] * (upper[j, k] * reciprocals[j])
        steps.append((b[j] - sum(upper[i, j] * steps[i] for i in range(j))) * reciprocals[j])
    x = ca.SX.zeros(A.shape[1], 1)
    for j in reversed(range(m)):
        x = x + rows[j] * (steps[j] - ca.dot(rows[j], x) * reciprocals[j])
    return x, height
