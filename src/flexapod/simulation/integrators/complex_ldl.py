r"""Symmetric systems with real or complex entries, factorised once and solved many times, as expressions.

.. math:: A = L\,D\,L^T

without pivots: safe for M + h l D + (h l)^2 K with M positive definite and D, K positive semidefinite, whose field of values
lies in a cone that does not contain zero. Complex numbers are pairs (real part, imaginary part); None represents no imaginary
part.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX

Number = tuple[SX, SX | None]


def times(a: Number, b: Number) -> Number:
    """Product of two numbers."""
    if a[1] is None:
        return a[0] * b[0], None if b[1] is None else a[0] * b[1]
    if b[1] is None:
        return a[0] * b[0], a[1] * b[0]
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def minus(a: Number, b: Number) -> Number:
    """Difference of two numbers."""
    if a[1] is None and b[1] is None:
        return a[0] - b[0], None
    zero = ca.SX(0)
    return a[0] - b[0], (zero if a[1] is None else a[1]) - (zero if b[1] is None else b[1])


def inverse(a: Number) -> Number:
    """Reciprocal of a number."""
    if a[1] is None:
        return 1 / a[0], None
    scale = 1 / (a[0] * a[0] + a[1] * a[1])
    return a[0] * scale, -(a[1] * scale)


@dataclass(frozen=True, kw_only=True)
class Factors:
    """L below its diagonal, row by row, and the reciprocals of D."""

    L: list[list[Number]]
    inverse: list[Number]


def factorise(real: SX, imaginary: SX | None = None) -> Factors:
    """Factors of a symmetric matrix (n, n); only its lower triangle is read.

    Args:
        imaginary: (n, n), or None for a real matrix.

    Checked by: tests/simulation/test_collocation.py.
    """
    n = real.shape[0]
    L: list[list[Number]] = [[] for _ in range(n)]
    reciprocals: list[Number] = []
    d: list[Number] = []
    for i in range(n):
        scaled: list[Number] = []  # row i of L D
        for j in range(i + 1):
            value: Number = (real[i, j], None if imaginary is None else imaginary[i, j])
            for k in range(j):
                value = minus(value, times(scaled[k], L[j][k] if j < i else L[i][k]))
            if j < i:
                scaled.append(value)
                L[i].append(times(value, reciprocals[j]))
            else:
                d.append(value)
                reciprocals.append(inverse(value))
    return Factors(L=L, inverse=reciprocals)


def solve_factorised(factors: Factors, real: SX, imaginary: SX | None = None) -> Number:
    """Real and imaginary part (n,) of the solution for a right-hand side (n,); imaginary part None where all is real."""
    n = len(factors.inverse)
    y: list[Number] = []
    for i in range(n):
        value: Number = (real[i], None if imaginary is None else imaginary[i])
        for k in range(i):
            value = minus(value, times(factors.L[i][k], y[k]))
        y.append(value)
    x: list[Number] = [times(y[i], factors.inverse[i]) for i in range(n)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            x[i] = minus(x[i], times(factors.L[k][i], x[k]))
    parts = [v[1] for v in x if v[1] is not None]
    return ca.vertcat(*[v[0] for v in x]), ca.vertcat(*parts) if parts else None
