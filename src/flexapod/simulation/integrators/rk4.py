r"""One step of the classical Runge-Kutta method of order 4, stages in a loop so that the equations are compiled once.

.. math:: k_j = f(y_0 + a_j h\,k_{j-1}),\qquad y_1 = y_0 + h\,(k_1 + 2k_2 + 2k_3 + k_4)/6
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca

from flexapod.kernels.tape.program import Program
from flexapod.simulation.system.layout import Layout
from flexapod.simulation.system.scope import Scope

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.kernels.tape.control_flow import Builder

ARGUMENT = [0.0, 0.5, 0.5, 1.0]
WEIGHT = [1 / 6, 1 / 3, 1 / 3, 1 / 6]
NODE = [0, 1, 1, 2]


def rk4_step(root: Program, b: Builder, layout: Layout, parts: dict[str, SX], h: SX, table: SX) -> tuple[Any, Any, Any, Any]:
    """Increments after a step, status, and forces and acceleration at its start.

    Args:
        b: builder of the enclosing body.
        h: length of the step.
        table: (width, 3) signals at its start, middle and end.

    Checked by: tests/simulation/test_orders.py.
    """
    size = layout.increments

    def stage(inner: Builder, _: SX, *carried: SX) -> tuple[list[Any], list[Any]]:
        k, total, code, weights, column = carried
        scope = Scope(root, inner)
        found = layout.rates(scope, parts, (h * weights[0]) * k, column)
        first = ca.if_else(code != 0, code, scope.code)
        return [found.dy, total + weights[1] * found.dy, first], [ca.vertcat(found.force, found.acceleration)]

    weights = ca.SX(ca.DM([ARGUMENT, WEIGHT]))
    columns = ca.horzcat(*[table[:, j] for j in NODE]) if layout.width else ca.SX(0, 4)
    (_, total, code), (stages,) = b.scan(
        stage, 4, carry=[ca.SX.zeros(size), ca.SX.zeros(size), ca.SX(0)], each=[weights, columns]
    )
    return h * total, code, stages[: layout.actuators, 0], stages[layout.actuators :, 0]
