r"""Dormand and Prince's embedded method of order 5(4) with step control, from one output time to the next.

The stages run in a loop that compiles the equations once: a queue holds the increments of the stages to come, and each new
derivative is added to all of them. Local extrapolation: the fifth-order result is kept, the fourth-order one gives the error

.. math:: \epsilon = \sqrt{\frac1{12}\sum_i\left(\frac{e_i}{a + r\,|y_i|}\right)^2},\qquad
          h \leftarrow h\,\min(5,\max(0.2,\ 0.9\,\epsilon^{-1/5}))

of position, rotation, velocity and angular velocity, and of the elastic coordinates and rates of a flexible platform. Signals
(references, loads) are polynomials within a row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from flexapod.kernels.tape.program import Program
from flexapod.simulation.system.increments import error_norm, rates_of_row, state_after
from flexapod.simulation.system.layout import Layout
from flexapod.simulation.system.scope import Scope

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.kernels.tape.control_flow import Builder

C = np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])
A = np.zeros((7, 7))
A[1, :1] = [1 / 5]
A[2, :2] = [3 / 40, 9 / 40]
A[3, :3] = [44 / 45, -56 / 15, 32 / 9]
A[4, :4] = [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729]
A[5, :5] = [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]
A[6, :6] = [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]
E = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])

PASSES = 100_000
TOO_MANY = (
    f"more than {PASSES} adaptive steps within one output step; shorten output_step, loosen rtol, or use method='implicit' for "
    "stiff vibrations"
)
SMALLEST = 1e-10
"""Steps below this share of the row end the simulation: something is singular or jumps."""

STALLED = "the step of the adaptive method became too small: the motion is singular or discontinuous"


def adaptive_row(
    root: Program, b: Builder, layout: Layout, parts: dict[str, SX], H: SX, table: SX
) -> tuple[dict[str, SX], SX, SX, SX]:
    """The parts of the state at the end of a row, status, and forces and acceleration at its start.

    Args:
        H: length of the row.
        table: (width, nodes) coefficients of the signals as polynomials in s = -1 .. 1, lowest first.

    Checked by: tests/simulation/test_orders.py.
    """
    moving = layout.moving
    rtol, atol = root.parameter("tolerance.relative"), root.parameter("tolerance.absolute")

    def attempt(inner: Builder, *carried: SX) -> tuple[list[SX], SX]:
        *values, s, step, taken, rejected, failed, begin = carried
        now = dict(parts, **dict(zip(moving, values, strict=True)))
        left = H - s
        last = step * (1 + 1e-6) >= left
        h = ca.if_else(last, left, step)
        where = s / long
        y1, error, code, first = _stages(
            root, inner, layout, now, h, lambda c: polynomial(layout, table, where + c * h / long)
        )  # fmt: skip
        begin = ca.if_else(s == 0, first, begin)
        scope = Scope(root, inner)
        after = state_after(scope, layout, now, y1, polynomial(layout, table, (s + h) / long))
        code = ca.if_else(code != 0, code, scope.code)
        size = error_norm(layout, now, y1, error, rtol, atol)
        good = ca.logic_and(size <= 1, code == 0)
        factor = ca.if_else(size < 1e300, ca.fmin(5, ca.fmax(0.2, 0.9 * ca.fmax(size, 1e-10) ** -0.2)), 0.2)
        factor = ca.if_else(code == 0, factor, 0.2)
        wanted = ca.if_else(ca.logic_and(last, good), ca.fmax(step, h * factor), h * factor)
        stuck = ca.logic_and(ca.logic_not(good), wanted < SMALLEST * H)
        new = [ca.if_else(good, after[name], now[name]) for name in moving]
        s1 = ca.if_else(good, ca.if_else(last, H, s + h), s)
        failed = ca.if_else(stuck, ca.if_else(code != 0, code, stalled), 0)
        following = [*new, s1, wanted, taken + good, rejected + 1 - good, failed, begin]
        return following, ca.if_else(failed != 0, 0, H - s1)

    stalled = root.fail_if(ca.SX(0), STALLED)
    long = ca.if_else(H > 0, H, 1)
    nothing = ca.SX.zeros(layout.actuators + layout.accelerations)
    start = [*[parts[name] for name in moving], ca.SX(0), parts["step"], parts["taken"], parts["rejected"], ca.SX(0), nothing]
    final, _, _ = b.iterate(attempt, start=start, limit=PASSES, tolerance=0.0)
    *values, s, step, taken, rejected, failed, begin = final
    many = root.fail_if(ca.SX(0), TOO_MANY)
    code = ca.if_else(failed != 0, failed, ca.if_else(s < H, many, 0))
    end = dict(parts, **dict(zip(moving, values, strict=True)), step=step, taken=taken, rejected=rejected)
    return end, code, begin[: layout.actuators], begin[layout.actuators :]


def polynomial(layout: Layout, table: SX, where: SX) -> SX:
    """Signals at a place 0 .. 1 of the row, by Horner's rule."""
    if not layout.width:
        return ca.SX(0, 1)
    s = 2 * where - 1
    value = table[:, -1]
    for j in reversed(range(table.shape[1] - 1)):
        value = value * s + table[:, j]
    return value


def _stages(
    root: Program, b: Builder, layout: Layout, parts: dict[str, SX], h: SX, signal: Callable[[SX], SX]
) -> tuple[SX, SX, SX, SX]:
    """Fifth-order increments, their error estimate, a status, and forces and acceleration at the start.

    Args:
        signal: of the part of the step that has passed, 0 .. 1.
    """
    size = layout.increments
    # queue[:, 0] is the argument of the next stage; column j of the coefficients is what stage i adds to stage i + 1 + j
    ahead = np.zeros((6, 7))
    for i in range(7):
        for j in range(6 - i):
            ahead[j, i] = A[i + 1 + j, i]
    coefficients = ca.SX(ca.DM(np.vstack([ahead, C, E])))

    def stage(inner: Builder, _: SX, *carried: SX) -> tuple[list[SX], list[SX]]:
        y, queue, error, code, c = carried
        scope = Scope(root, inner)
        found = rates_of_row(scope, layout, parts, y, signal(c[6]))
        queue = queue + h * ca.mtimes(found.dy, c[:6].T)
        following = queue[:, 0]
        shifted = ca.horzcat(queue[:, 1:], ca.SX.zeros(size, 1))
        first = ca.if_else(code != 0, code, scope.code)
        return [following, shifted, error + (h * c[7]) * found.dy, first], [ca.vertcat(y, found.force, found.acceleration)]

    zero = ca.SX.zeros(size)
    (_, _, error, code), (stages,) = b.scan(stage, 7, carry=[zero, ca.SX.zeros(size, 6), zero, ca.SX(0)], each=[coefficients])
    return stages[:size, 6], error, code, stages[size:, 0]
