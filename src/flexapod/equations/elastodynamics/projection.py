r"""Projection of a mass matrix on independent coordinates, product by product where something is to multiply.

With :math:`\dot z_b = X\dot u`, C = M_ub and D = M_bb,

.. math:: M = M_{uu} + Z X + X^T C^T,\quad Z = C + X^T D,\qquad
          c = h_u + C\beta + X^T(h_b + D\beta)

One triangle is computed. A bound coordinate of another leg has no C in this one: one product instead of two.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.arrays import SX


def projected_mass(M_z: SX, X: SX, free: Sequence[int], bound: Sequence[int]) -> SX:
    """(u, u), symmetric.

    Args:
        M_z: (z, z) symmetric, sparse: entries that are not there are zero.
        X: (b, u) sparse.

    Source: Briot 2014 Eq. (44). Checked by: tests/equations/test_link_axes.py.
    """
    C, D, Xt = M_z[list(free), list(bound)], M_z[list(bound), list(bound)], X.T
    Z = C + ca.mtimes(Xt, D)
    alone = [all(not _has(D, b, other) for other in range(len(bound)) if other != b) for b in range(len(bound))]

    def term(i: int, j: int, b: int) -> SX:
        """Z_ib X_bj + X_ib C_jb."""
        if alone[b] and _has(C, j, b) and not _has(C, i, b):
            i, j = j, i  # symmetric in i and j: the one without C comes last
        value = Z[i, b] * Xt[j, b] if _has(Z, i, b) and _has(Xt, j, b) else ca.SX(0)
        return value + Xt[i, b] * C[j, b] if _has(Xt, i, b) and _has(C, j, b) else value

    n = len(free)
    M = ca.SX.zeros(n, n)
    for i in range(n):
        for j in range(i + 1):
            value = M_z[free[i], free[j]]
            for b in range(len(bound)):
                value = value + term(i, j, b)
            M[i, j] = M[j, i] = value
    return M


def _has(matrix: SX, i: int, j: int) -> bool:
    return bool(matrix.sparsity().has_nz(i, j))


def projected_force(M_z: SX, h: SX, X: SX, beta: SX, free: Sequence[int], bound: Sequence[int]) -> SX:
    """c (u,) from the forces h (z,) at zero accelerations and the accelerations beta (b,) of the bound coordinates."""
    if not bound:
        return h[list(free)]
    C, D = M_z[list(free), list(bound)], M_z[list(bound), list(bound)]
    return h[list(free)] + ca.mtimes(C, beta) + ca.mtimes(X.T, h[list(bound)] + ca.mtimes(D, beta))
