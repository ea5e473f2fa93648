r"""Projection of a mass matrix on independent coordinates, without products with structural zeros.

With :math:`\dot z_b = X\dot u`, C = M_ub and D = M_bb,

.. math:: M = M_{uu} + Z X + X^T C^T,\quad Z = C + X^T D,\qquad
          c = h_u + C\beta + X^T(h_b + D\beta)

One triangle is computed, in the way that takes fewer products. A bound coordinate of another leg has no C in this one: one
product instead of two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

from flexapod.arrays import SX, Mask


def projected_mass(M_z: SX, X: SX, free: Sequence[int], bound: Sequence[int]) -> SX:
    """(u, u), symmetric.

    Args:
        M_z: (z, z) symmetric, sparse: entries that are not there are zero.
        X: (b, u) sparse.

    Source: Briot 2014 Eq. (44). Checked by: tests/equations/test_link_axes.py.
    """
    C, D = M_z[list(free), list(bound)], M_z[list(bound), list(bound)]
    own, found = M_z[list(free), list(free)], [way(C, D, X) for way in (_by_rows, _by_halves)]
    added = min(found, key=lambda way: way[0])[1]
    M = ca.SX.zeros(len(free), len(free))
    for i in range(len(free)):
        for j in range(i + 1):
            M[i, j] = M[j, i] = sum(added(i, j), own[i, j])
    return M


Way = tuple[int, Callable[[int, int], list[SX]]]
"""Number of products, and what bound coordinates add to entry (i, j), one after another."""


def _by_rows(C: SX, D: SX, X: SX) -> Way:
    """Z_ib X_bj + X_ib C_jb of every bound coordinate b."""
    Xt, count = X.T, C.shape[1]
    Z = C + ca.mtimes(Xt, D)
    has_C, has_X, has_Z, has_D = (_there(x) for x in (C, Xt, Z, D))
    alone = [has_D[b].sum() == has_D[b, b] for b in range(count)]

    def added(i: int, j: int) -> list[SX]:
        found = []
        for b in range(count):
            swapped = alone[b] and has_C[j, b] and not has_C[i, b]  # symmetric in i and j: the one without C comes last
            k, m = (j, i) if swapped else (i, j)
            value = Z[k, b] * Xt[m, b] if has_Z[k, b] and has_X[m, b] else ca.SX(0)
            found.append(value + Xt[k, b] * C[m, b] if has_X[k, b] and has_C[m, b] else value)
        return found

    products = (has_X.astype(int) @ has_D).sum()
    for b in range(count):
        c, x, z = has_C[:, b], has_X[:, b], has_Z[:, b]
        each = np.outer(z, x).astype(int) + np.outer(x, c)
        products += np.tril(np.where(alone[b] & np.outer(~c, c), each.T, each)).sum()
    return int(products), added


def _by_halves(C: SX, D: SX, X: SX) -> Way:
    r"""Sum :math:`X^TY + Y^TX` with D = L + L^T, :math:`Y = C^T + L X`: fewer products where most of C is there."""
    half = ca.tril(D)
    count = D.shape[0]
    for b in range(count):
        half[b, b] = D[b, b] / 2
    Y = C.T + ca.mtimes(ca.sparsify(half), X)
    has_X, has_Y, has_D = (_there(x) for x in (X, Y, D))

    def products(i: int, j: int) -> list[SX]:
        return [X[b, i] * Y[b, j] for b in range(count) if has_X[b, i] and has_Y[b, j]]

    def added(i: int, j: int) -> list[SX]:
        return [2 * sum(products(i, i), ca.SX(0))] if i == j else [*products(i, j), *products(j, i)]

    return int((np.tril(has_D).astype(int) @ has_X).sum() + count + has_X.sum(axis=1) @ has_Y.sum(axis=1)), added


def _there(matrix: SX) -> Mask:
    """Entries that are not structurally zero."""
    found = np.zeros(matrix.shape, dtype=bool)
    found[tuple(matrix.sparsity().get_triplet())] = True
    return found


def projected_force(M_z: SX, h: SX, X: SX, beta: SX, free: Sequence[int], bound: Sequence[int]) -> SX:
    """c (u,) from the forces h (z,) at zero accelerations and the accelerations beta (b,) of the bound coordinates."""
    if not bound:
        return h[list(free)]
    C, D = M_z[list(free), list(bound)], M_z[list(bound), list(bound)]
    return h[list(free)] + ca.mtimes(C, beta) + ca.mtimes(X.T, h[list(bound)] + ca.mtimes(D, beta))
