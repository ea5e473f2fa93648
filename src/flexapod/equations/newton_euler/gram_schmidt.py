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
    """

    def __init__(self, columns: Sequence[SX]) -> None:
        self.q = [ca.densify(ca.SX(column)) for column in columns]
        n = len(self.q)
        self.r: dict[tuple[int, int], SX] = {}
        self.inverse: list[SX] = []
        self.pivots: list[SX] = []
        for j in range(n):
            size = ca.dot(self.q[j], self.q[j])
            self.pivots.append(size / ca.dot(columns[j], columns[j]) if j else ca.SX(1))
            self.inverse.append(1 / size)
            for k in range(j + 1, n):
                self.r[j, k] = ca.dot(self.q[j], self.q[k]) * self.inverse[j]
                self.q[k] = self.q[k] - self.q[j] * self.r[j, k]

    @property
    def smallest_pivot(self) -> SX:
        """Square of the smallest sine between a column and those before it; 0 where the matrix loses rank."""
        result = ca.SX(1)
        for pivot in self.pivots:
            result = ca.fmin(result, pivot)
        return result

    def solve(self, b: SX) -> list[SX]:
        """x with A x = b, by least squares for a tall matrix."""
        y, rest = [], b
        for q, inverse in zip(self.q, self.inverse, strict=True):
            y.append(ca.dot(q, rest) * inverse)
            rest = rest - q * y[-1]
        n = len(y)
        x = [ca.SX(0)] * n
        for j in reversed(range(n)):
            x[j] = y[j] - sum((self.r[j, k] * x[k] for k in range(j + 1, n)), ca.SX(0))
        return x

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
