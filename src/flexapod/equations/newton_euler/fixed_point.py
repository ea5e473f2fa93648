r"""Fixed point y = g(y) by Anderson's acceleration with two differences, inside a kernel.

With f = g(y) - y and the last two differences of f and g,

.. math:: \min_{t}|f-t_1\Delta f_1-t_2\Delta f_2|,\qquad y\leftarrow g(y)-t_1\Delta g_1-t_2\Delta g_2

Plain repetition diverges where friction feeds back strongly, at poses where a solution exists and Newton finds it; with two
differences the same solutions are found in half the passes, without derivatives.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from flexapod.arrays import SX
from flexapod.kernels.tape.control_flow import Builder

CONVERGED = 1e-13
"""Largest last change of a load over the largest load; one more pass follows, so that the error is below 1e-12."""

LIMIT = 60
"""Passes after which friction counts as not converging: joints then lock themselves."""

DEPENDENT = 1e-20
"""Square of the sine between the two differences below which the older one says nothing new."""


def fixed_point(b: Builder, g: Callable[[Builder, SX], SX], count: int, *, limit: int, tolerance: float) -> tuple[SX, SX]:
    """Solve y = g(y) from y = 0.

    Args:
        g: map of a column of `count` entries, given the body of the loop and the column.
        limit: most passes.
        tolerance: of the last change over the largest entry.
    Returns:
        y and whether it converged (1 or 0).

    Checked by: tests/equations/test_friction.py.
    """
    zeros = ca.SX.zeros(count)

    def step(body: Builder, y: SX, *last: SX) -> tuple[list[SX], SX]:
        g0, f0, dg_old, df_old, first = last
        value = g(body, y)
        f = value - y
        dg, df = ca.if_else(first, zeros, value - g0), ca.if_else(first, zeros, f - f0)
        following = value - _correction(f, (df, dg), (df_old, dg_old))
        error = ca.mmax(ca.fabs(f)) / ca.fmax(ca.mmax(ca.fabs(value)), 1e-300)
        return [following, value, f, dg, df, ca.SX(0)], error

    start = [zeros, zeros, zeros, zeros, zeros, ca.SX(1)]
    (y, *_), converged, _ = b.iterate(step, start=start, limit=limit, tolerance=tolerance)
    return y, converged


def _correction(f: SX, new: tuple[SX, SX], old: tuple[SX, SX]) -> SX:
    """Least squares of f by the differences, newest first, applied to those of g."""
    size = ca.dot(new[0], new[0])
    inverse = ca.if_else(size > 0, 1 / size, 0)
    overlap = ca.dot(new[0], old[0]) * inverse
    rest = old[0] - new[0] * overlap
    left = ca.dot(rest, rest)
    t_old = ca.if_else(left > DEPENDENT * ca.dot(old[0], old[0]), ca.dot(rest, f) / left, 0)
    t_new = ca.dot(new[0], f) * inverse - overlap * t_old
    return new[1] * t_new + old[1] * t_old
