r"""Accelerations of all coordinates from mass matrix and closing rows, by symmetric elimination that keeps zeros.

.. math::
   \begin{pmatrix} M & A^T\\ A & 0\end{pmatrix}\begin{pmatrix}\ddot z\\ -\lambda\end{pmatrix}
   = \begin{pmatrix} f - h\\ -\gamma\end{pmatrix}

Legs meet only through the rows, so that each is eliminated by itself, tips inwards; a leg's rows follow when its own coordinates
can meet them all, else at the end. Pivots of coordinates are positive, those of rows negative: no exchange is needed.
Cheaper than projecting M on independent coordinates and factorising that, dense, matrix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from flexapod.arrays import SX


def bordered_solve(M: SX, A: SX, right: SX, gamma: SX, after: Sequence[Sequence[int]]) -> tuple[SX, SX]:
    """Accelerations (z,) and multipliers (m,) with M z'' - A^T lambda = right, A z'' + gamma = 0.

    Args:
        M: (z, z) symmetric, sparse.
        A: (m, z) independent rows, sparse.
        right: (z,); gamma: (m,).
        after: per row, coordinates that must be eliminated before it.

    Source: Briot 2014 Eqs. (41)-(44), solved without the projection. Checked by: tests/equations/test_link_axes.py.
    """
    n, m = M.shape[0], A.shape[0]
    entries: dict[tuple[int, int], SX] = {}
    for i, j in zip(*_places(M), strict=True):
        if j <= i:
            entries[i, j] = M[i, j]
    for i, j in zip(*_places(A), strict=True):
        entries[n + i, j] = A[i, j]
    b = [right[i] for i in range(n)] + [-gamma[i] for i in range(m)]
    x = eliminate(entries, b, {n + k: set(first) for k, first in enumerate(after)})
    return ca.vertcat(*x[:n]), -ca.vertcat(ca.SX(0, 1), *x[n:])


def _places(matrix: SX) -> tuple[list[int], list[int]]:
    rows, columns = matrix.sparsity().get_triplet()
    return list(rows), list(columns)


def eliminate(entries: Mapping[tuple[int, int], SX], right: Sequence[SX], after: Mapping[int, set[int]]) -> list[SX]:
    """Solution of a symmetric system by LDL^T in an order of few products.

    Args:
        entries: (row, column) -> value with row >= column; others are zero.
        right: right-hand side.
        after: unknowns that may be pivots only when others have been.
    """
    work, b, n = dict(entries), list(right), len(right)
    left, steps = set(range(n)), []
    while left:
        allowed = [k for k in left if not after.get(k, set()) & left]
        near = {k: [i for i in left if i != k and (max(i, k), min(i, k)) in work] for k in allowed}
        pivot = min(allowed, key=lambda k: (len(near[k]), -k))
        left.remove(pivot)
        others, inverse = sorted(near[pivot]), 1 / work[pivot, pivot]
        column = {i: work[max(i, pivot), min(i, pivot)] for i in others}
        factor = {i: column[i] * inverse for i in others}
        for i in others:
            b[i] = b[i] - factor[i] * b[pivot]
            for j in others:
                if j <= i:
                    product = factor[i] * column[j]
                    work[i, j] = work[i, j] - product if (i, j) in work else -product
        steps.append((pivot, inverse, factor))
    x = [ca.SX(0)] * n
    for pivot, inverse, factor in reversed(steps):
        value = b[pivot] * inverse
        for i, f in factor.items():
            value = value - f * x[i]
        x[pivot] = value
    return x
