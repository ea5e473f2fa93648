r"""One step of the classical Runge-Kutta method of order 4, stages in a loop so that the equations are compiled once.

.. math:: k_j = f(y_0 + a_j h\,k_{j-1}),\qquad y_1 = y_0 + h\,(k_1 + 2k_2 + 2k_3 + k_4)/6

Joint loads with friction are extrapolated from stage to stage and from step to step, :math:`l + l'` half a step later with the
change l' of the last half step, and corrected in every stage to the tolerance of the equations: one pass is enough as a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.kernels.tape.program import Program
from flexapod.simulation.system.increments import rates_of_row
from flexapod.simulation.system.layout import Layout
from flexapod.simulation.system.scope import Scope

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.kernels.tape.control_flow import Builder

ARGUMENT = [0.0, 0.5, 0.5, 1.0]
WEIGHT = [1 / 6, 1 / 3, 1 / 3, 1 / 6]
NODE = [0, 1, 1, 2]
LATER = [0.0, 1.0, 0.0, 1.0]
"""Half steps from a stage to the next: stages 1 and 3 are at the time of the stage before them."""


MEMORY = ("loads", "trend")
"""Joint loads of the last stage, and their change in the last half of a step: friction by loads is searched from there on."""


@dataclass(frozen=True, kw_only=True)
class RowStep:
    """Increments after a step, status, forces and acceleration at its start, and what it remembers, by name."""

    increments: SX
    code: SX
    force: SX
    acceleration: SX
    memory: dict[str, SX]


def rk4_step(root: Program, b: Builder, layout: Layout, parts: dict[str, SX], h: SX, table: SX) -> RowStep:
    """One step of the classical fourth-order Runge-Kutta method.

    Args:
        b: builder of the enclosing body.
        h: length of the step.
        table: (width, 3) signals at its start, middle and end.

    Checked by: tests/simulation/test_orders.py.
    """
    size = layout.increments

    def stage(inner: Builder, _: SX, *carried: SX) -> tuple[list[SX], list[SX]]:
        k, total, code, *memory, weights, column = carried
        scope = Scope(root, inner)
        now = parts | ({"loads": memory[0] + weights[2] * memory[1]} if memory else {})
        found = rates_of_row(scope, layout, now, (h * weights[0]) * k, column)
        first = ca.if_else(code != 0, code, scope.code)
        if memory:
            assert found.loads is not None
            memory = [found.loads, found.loads - memory[0] + (1 - weights[2]) * memory[1]]
        return [found.dy, total + weights[1] * found.dy, first, *memory], [ca.vertcat(found.force, found.acceleration)]

    weights = ca.SX(ca.DM([ARGUMENT, WEIGHT, LATER]))
    memory = [parts[name] for name in MEMORY if name in parts]
    columns = ca.horzcat(*[table[:, j] for j in NODE]) if layout.width else ca.SX(0, 4)
    (_, total, code, *memory), (stages,) = b.scan(
        stage, 4, carry=[ca.SX.zeros(size), ca.SX.zeros(size), ca.SX(0), *memory], each=[weights, columns]
    )
    return RowStep(
        increments=h * total, code=code, force=stages[: layout.actuators, 0], acceleration=stages[layout.actuators :, 0],
        memory=dict(zip(MEMORY, memory, strict=False)),
    )  # fmt: skip
