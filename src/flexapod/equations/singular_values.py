r"""Singular values of a small matrix inside a kernel: one-sided Jacobi rotations (Hestenes 1958).

Columns a_p, a_q of A are turned in their plane until they are orthogonal, pair after pair; then their lengths are the
singular values. Convergence is quadratic at the end, and small values are as exact as the matrix itself (no A^T A).

.. math:: t = \frac{2\gamma}{\beta-\alpha\pm\sqrt{(\beta-\alpha)^2+4\gamma^2}},\quad
          \alpha = a_p\cdot a_p,\ \beta = a_q\cdot a_q,\ \gamma = a_p\cdot a_q
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX

if TYPE_CHECKING:
    from flexapod.kernels.tape.control_flow import Builder
    from flexapod.kernels.tape.program import Program

ORTHOGONAL = 1e-5
"""Cosine between columns before a sweep that was the last: it leaves about its square, and values are off by that squared."""

SWEEPS = 15
"""Six columns need five or six."""

TINY = 1e-300
"""Keeps 0/0 away from columns that are zero."""


def singular_values(b: Program, A: SX) -> SX:
    """Singular values of A (m, n), m >= n, as a column (n,), not in order.

    Args:
        b: the program, which takes the iteration.

    Checked by: tests/analysis/test_workspace.py.
    """
    m, n = A.shape
    if n == 1:
        return ca.sqrt(ca.dot(A, A))

    def sweep(_: Builder, flat: SX) -> tuple[list[SX], SX]:
        columns = [flat[j * m : (j + 1) * m] for j in range(n)]
        largest = ca.SX(0)
        for p in range(n):
            for q in range(p + 1, n):
                columns[p], columns[q], cosine2 = _rotated(columns[p], columns[q])
                largest = ca.fmax(largest, cosine2)
        return [ca.vertcat(*columns)], largest

    (flat,), _, _ = b.iterate(sweep, start=[ca.vec(ca.densify(A))], limit=SWEEPS, tolerance=ORTHOGONAL**2)
    return ca.vertcat(*[ca.sqrt(ca.dot(column, column)) for column in (flat[j * m : (j + 1) * m] for j in range(n))])


def _rotated(u: SX, v: SX) -> tuple[SX, SX, SX]:
    """Two columns made orthogonal, and the square of the cosine between them before."""
    alpha, beta, gamma = ca.dot(u, u), ca.dot(v, v), ca.dot(u, v)
    half = (beta - alpha) / 2
    root = ca.sqrt(half * half + gamma * gamma)
    # the smaller root, so that columns rotate by at most 45 degrees
    t = gamma / (half + ca.if_else(half < 0, -root, root) + ca.if_else(root > 0, 0, 1))
    c = 1 / ca.sqrt(1 + t * t)
    s = c * t
    return u * c - v * s, u * s + v * c, gamma * gamma / ca.fmax(alpha * beta, TINY)


def extremes(values: SX) -> tuple[SX, SX]:
    """Smallest and largest of a column."""
    low = high = values[0]
    for k in range(1, values.numel()):
        low, high = ca.fmin(low, values[k]), ca.fmax(high, values[k])
    return low, high
