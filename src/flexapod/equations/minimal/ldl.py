r"""Symmetric positive definite solve by :math:`A = L D L^T`, unrolled: six reciprocals, no roots."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.equations.minimal.vectors import Scalar
from flexapod.kernels.tape.program import Program


def ldl_solve(b: Program, A: Sequence[Sequence[Scalar]], rhs: Sequence[Scalar]) -> list[Scalar]:
    """Solution of A x = rhs; only the lower triangle of A is read.

    No pivoting: for a positive definite matrix the pivots are positive and elements do not grow.
    Checked by: tests/equations/test_minimal.py.
    """
    n = len(rhs)
    work = [[A[i][j] for j in range(i + 1)] for i in range(n)]
    x, factor = list(rhs), [[0] * n for _ in range(n)]
    inverses = []
    for j in range(n):
        pivot = work[j][j]
        inverses.append(1 / pivot)
        for i in range(j + 1, n):
            factor[i][j] = work[i][j] * inverses[j]
            x[i] = x[i] - factor[i][j] * x[j]
        for i in range(j + 1, n):
            for k in range(j + 1, i + 1):
                work[i][k] = work[i][k] - factor[i][j] * work[k][j]
    b.fail_if(ca.logic_not(work[n - 1][n - 1] > 0), "the mass matrix is not positive definite")
    for j in reversed(range(n)):
        x[j] = x[j] * inverses[j]
        for i in range(j + 1, n):
            x[j] = x[j] - factor[i][j] * x[i]
    return x
