"""Small dense solves written out as expressions: safe without pivoting, counted to the last operation.

Unpivoted elimination fails at harmless poses, so square and tall systems go through modified Gram-Schmidt
(backward stable as a solve: Q is applied to the right-hand side along with the columns) or Householder's reflections, which
take a quarter fewer operations; 3 x 3 systems use Cramer.
"""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, kw_only=True)
class Pivot:
    """Part of a column, squared, that the columns eliminated before it do not span: `square` / `unit`."""

    column: int
    square: SX
    unit: SX


def solve_reflected(A: SX, b: SX) -> tuple[SX, list[Pivot]]:
    r"""Solve a square system by Householder's reflections until three columns are left, and these by Cramer's rule.

    .. math:: H = 1 - v v^T/(\sigma v_1),\quad \sigma = \operatorname{copysign}(|x|, x_1),\quad v = x + \sigma e_1,\quad
              H x = -\sigma e_1

    Columns with more zeros are taken first; rows in which a column is zero are not touched.

    Args:
        A: (n, n); b: (n, k).
    Returns:
        (n, k), infinite where A is singular; and the pivots of the columns.

    Checked by: tests/spatial/test_spatial.py.
    """
    columns = {j: _entries(A[:, j]) for j in range(A.shape[1])}
    right = {~k: _entries(b[:, k]) for k in range(b.shape[1])}
    upper, pivots = [], []
    while len(columns) > 3:
        j = min(columns, key=lambda k: len(columns[k]))
        first = columns.pop(j)
        row, others = min(first), columns | right
        square = _dot(first, first)
        corner = ca.copysign(ca.sqrt(square), first[row])
        v = first | {row: first[row] + corner}
        inverse = 1 / (corner * v[row])
        for other in others.values():
            if v.keys() & other.keys():
                factor = _dot(v, other) * inverse
                for i, x in v.items():
                    other[i] = other[i] - x * factor if i in other else -x * factor
        upper.append((j, corner, {k: other.pop(row) for k, other in others.items() if row in other}))
        pivots.append(Pivot(column=j, square=square, unit=1))
    x, last = _by_cramer(columns, right)
    for j, corner, entries in reversed(upper):
        known = sum((value * x[k] for k, value in entries.items() if k >= 0), ca.SX.zeros(1, b.shape[1]))
        given = ca.horzcat(*[entries.get(~k, ca.SX(0)) for k in range(b.shape[1])])
        x[j] = (known - given) / corner
    return ca.vertcat(*[x[j] for j in range(A.shape[1])]), pivots + last


def _entries(column: SX) -> dict[int, SX]:
    """Entries that are not structurally zero, by row."""
    entries: list[SX] = ca.densify(column).elements()
    return {i: x for i, x in enumerate(entries) if not x.is_zero()}


def _dot(a: dict[int, SX], b: dict[int, SX]) -> SX:
    return sum((x * b[i] for i, x in a.items() if i in b), ca.SX(0))


def _by_cramer(columns: dict[int, dict[int, SX]], right: dict[int, dict[int, SX]]) -> tuple[dict[int, SX], list[Pivot]]:
    """Solution of the last block, rows by column, and its pivots."""
    rows = sorted(set().union(*columns.values()))
    block, b = (ca.horzcat(*[ca.vertcat(*[c.get(i, ca.SX(0)) for i in rows]) for c in x.values()]) for x in (columns, right))
    found, names = solve(block, b), list(columns)
    squares = [ca.SX(1), ca.dot(block[:, 0], block[:, 0])]
    if len(names) == 3:
        area = ca.cross(block[:, 0], block[:, 1])
        squares += [ca.dot(area, area), ca.dot(block[:, 0], ca.cross(block[:, 1], block[:, 2])) ** 2]
    elif len(names) == 2:
        squares.append((block[0, 0] * block[1, 1] - block[0, 1] * block[1, 0]) ** 2)
    pivots = [Pivot(column=j, square=squares[k + 1], unit=squares[k]) for k, j in enumerate(names)]
    return {j: found[k, :] for k, j in enumerate(names)}, pivots


def independence(A: SX) -> SX:
    """Independence of the columns of A (m, n): smallest part of a column, squared, that the columns before it do not span.

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


def inverse(A: SX) -> SX:
    """A^-1 (n, n); of four rows by their 2 x 2 minors (Laplace), a third of the operations of Gram-Schmidt."""
    n = A.shape[0]
    if n != 4:
        return solve(A, ca.SX.eye(n))
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    upper, lower = ({(i, j): A[r, i] * A[r + 1, j] - A[r, j] * A[r + 1, i] for i, j in pairs} for r in (0, 2))
    signs = {(0, 1): 1, (0, 2): -1, (0, 3): 1, (1, 2): 1, (1, 3): -1, (2, 3): 1}
    rest = {pair: next(other for other in pairs if not set(pair) & set(other)) for pair in pairs}
    scale = 1 / sum(signs[pair] * upper[pair] * lower[rest[pair]] for pair in pairs)
    result = ca.SX(4, 4)
    for row, minors in ((0, lower), (1, lower), (2, upper), (3, upper)):
        partner = row ^ 1
        for column in range(4):
            i, j, k = (other for other in range(4) if other != column)
            minor = A[partner, i] * minors[j, k] - A[partner, j] * minors[i, k] + A[partner, k] * minors[i, j]
            result[column, row] = (-1) ** (row + column) * minor * scale
    return result


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


class Reflected:
    """Factors of a square matrix by Householder's reflections until three columns are left, whose block is inverted: what
    `solve_reflected` does, kept for right sides that come later.

    Args:
        numbers: (`Reflected.size(n)`,) factors as a vector.

    Checked by: tests/bridges/test_floating_hexapod.py.
    """

    def __init__(self, numbers: SX, n: int) -> None:
        self.numbers, self.n = numbers, n

    @staticmethod
    def size(n: int) -> int:
        """Length of the factors of (n, n): vectors, scales, rows of the triangle, inverse of the last block."""
        return sum((n - k) + 2 + (n - k - 1) for k in range(n - 3)) + 9

    @staticmethod
    def of(A: SX) -> Reflected:
        """Factors of a dense matrix (n, n), n > 3."""
        n, A, found = A.shape[0], ca.SX(A), []
        for k in range(n - 3):
            x = A[k:, k]
            sigma = ca.copysign(ca.norm_2(x), x[0])
            v = ca.vertcat(x[0] + sigma, x[1:])
            scale = 1 / (sigma * v[0])
            for j in range(k + 1, n):
                A[k:, j] = A[k:, j] - (scale * ca.dot(v, A[k:, j])) * v
            found += [v, scale, -scale * v[0], A[k, k + 1 :].T]
        return Reflected(ca.vertcat(*found, ca.vec(solve3(A[n - 3 :, n - 3 :], ca.SX.eye(3)))), n)

    def solve(self, b: SX) -> SX:
        """A^-1 b for b (n,)."""
        n, at, rows, b = self.n, 0, [], ca.SX(b)
        for k in range(n - 3):
            v, at = self.numbers[at : at + n - k], at + n - k
            b[k:] = b[k:] - (self.numbers[at] * ca.dot(v, b[k:])) * v
            rows.append((self.numbers[at + 1], self.numbers[at + 2 : at + 1 + n - k]))
            at += 1 + n - k
        x = ca.mtimes(ca.reshape(self.numbers[at:], 3, 3), b[n - 3 :])
        for k in reversed(range(n - 3)):
            reciprocal, row = rows[k]
            x = ca.vertcat(reciprocal * (b[k] - ca.dot(row, x)), x)
        return x
