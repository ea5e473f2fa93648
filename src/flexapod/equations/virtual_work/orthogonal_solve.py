r"""Solves of the virtual motions by modified Gram-Schmidt, with a measure of how near to singular they are.

The height of a column is the square of its part normal to the columns before it, relative to its whole square: 1 for
orthogonal columns, 0 for dependent ones.
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX
from flexapod.spatial.gram_schmidt import GramSchmidt

SMALLEST = 1e-20
"""Height (a squared sine) below which columns count as dependent: sine 1e-10, where rounding leaves about six digits."""


def orthogonal_solve(A: SX, b: SX) -> tuple[SX, SX]:
    """Solution (n, k) of a square system A x = b with b (n, k), and the smallest height of its columns."""
    factor = GramSchmidt(ca.horzsplit(A))
    return factor.solve(b), factor.smallest_pivot


def minimum_norm(A: SX, b: SX) -> tuple[SX, SX]:
    """Smallest x with A x = b for A (m, n), m <= n, b (m,); and the smallest height of the rows of A.

    The rows are made orthogonal; x is built from them backwards, each time less what is already there (Bjorck's stable order).
    """
    factor, steps = GramSchmidt([row.T for row in ca.vertsplit(A)]), list[SX]()
    for j in range(A.shape[0]):
        steps.append((b[j] - sum(factor.products[i, j] * steps[i] for i in range(j))) * factor.inverse[j])
    x = ca.SX.zeros(A.shape[1], 1)
    for row, step, inverse in reversed(list(zip(factor.q, steps, factor.inverse, strict=True))):
        x = x + row * (step - ca.dot(row, x) * inverse)
    return x, factor.smallest_pivot
