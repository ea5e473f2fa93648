r"""Modified Gram-Schmidt of a few columns: solves, dual solves and a complement from one factorization.

.. math:: A = Q R,\quad Q^T Q = D,\qquad A x \approx b,\qquad A^T w = c \Rightarrow w = Q D^{-1} R^{-T} c\;(\text{shortest } w)

Unpivoted elimination fails at harmless poses; this does not, and its pivots show how near a singularity is.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.arrays import SX


class GramSchmidt:
    """Factor of a tall or square matrix.

    Args:
        columns: n columns of d entries, d >= n, linearly independent.

    Attributes:
        q: orthogonal columns (d,); squares: D; inverse: their reciprocals; products: D R above its diagonal, by row and column;
            r: R above its diagonal.

    Checked by: tests/spatial/test_spatial.py.
    """

    def __init__(self, columns: Sequence[SX]) -> None:
        self.columns = list(columns)
        self.q = list(columns)
        self.products, self.r = dict[tuple[int, int], SX](), dict[tuple[int, int], SX]()
        self.squares: list[SX] = []
        self.inverse: list[SX] = []
        for j, column in enumerate(self.q):
            self.squares.append(ca.dot(column, column))
            self.inverse.append(1 / self.squares[j])
            for k in range(j + 1, len(self.q)):
                self.products[j, k] = ca.dot(column, self.q[k])
                self.r[j, k] = self.products[j, k] * self.inverse[j]
                self.q[k] = self.q[k] - column * self.r[j, k]

    @property
    def smallest_pivot(self) -> SX:
        """Square of the smallest sine between a column and those before it; 0 where the matrix loses rank."""
        result = ca.SX(1)
        for column, square in list(zip(self.columns, self.squares, strict=True))[1:]:
            result = ca.fmin(result, square / ca.dot(column, column))
        return result

    def solve(self, b: SX) -> SX:
        """x (n, k) with A x = b for b (d, k), by least squares for a tall matrix."""
        x: list[SX] = []
        for q, inverse in zip(self.q, self.inverse, strict=True):
            x.append(ca.mtimes(q.T, b) * inverse)
            b = b - ca.mtimes(q, x[-1])
        n = len(x)
        for j in reversed(range(n)):
            for k in range(j + 1, n):
                x[j] = x[j] - self.r[j, k] * x[k]
        return ca.vertcat(*x)

    def inverse_of(self) -> SX:
        """(n, d) R^-1 D^-1 Q^T, which takes b to the x of `solve`; for many right-hand sides, less exact than `solve`."""
        n = len(self.q)
        rows = [(q * inverse).T for q, inverse in zip(self.q, self.inverse, strict=True)]
        for j in reversed(range(n)):
            for k in range(j + 1, n):
                rows[j] = rows[j] - rows[k] * self.r[j, k]
        return ca.vertcat(*rows)

    def dual(self, c: Sequence[SX]) -> SX:
        """The shortest w (d,) with A^T w = c."""
        z: list[SX] = []
        for j, value in enumerate(c):
            z.append(value - sum((self.r[k, j] * z[k] for k in range(j)), ca.SX(0)))
        w = ca.SX.zeros(self.q[0].numel()) if self.q else ca.SX(0, 1)
        for q, inverse, value in zip(self.q, self.inverse, z, strict=True):
            w = w + q * (inverse * value)
        return w

    def shortest(self, c: SX) -> SX:
        """The w of `dual` for c (n,), built from the columns backwards, each time less what is already there (Bjorck's stable
        order)."""
        steps: list[SX] = []
        for j, inverse in enumerate(self.inverse):
            steps.append((c[j] - sum(self.products[i, j] * steps[i] for i in range(j))) * inverse)
        w = ca.SX.zeros(self.q[0].numel(), 1)
        for q, step, inverse in reversed(list(zip(self.q, steps, self.inverse, strict=True))):
            w = w + q * (step - ca.dot(q, w) * inverse)
        return w

    def complement(self, candidates: Sequence[SX]) -> list[SX]:
        """Candidates (d,) made orthogonal to all columns and to each other."""
        basis, inverse, result = list(self.q), list(self.inverse), []
        for candidate in candidates:
            column = ca.SX(candidate)
            for q, scale in zip(basis, inverse, strict=True):
                column = column - q * (ca.dot(q, column) * scale)
            basis.append(column)
            inverse.append(1 / ca.dot(column, column))
            result.append(column)
        return result


def unit_column(k: int) -> SX:
    """Column k of the unit matrix of six."""
    column = ca.SX.zeros(6)
    column[k] = 1
    return column
