"""The compiled simulation: rows of time in a loop, each with controller, integrator, closure and watch, without leaving the
kernel.

Row i returns the state at its start with the forces there; a simulation of n steps is n rows and one of length zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from flexapod.kernels.tape.program import Program
from flexapod.simulation.integrators.collocation import METHODS
from flexapod.simulation.integrators.dopri import adaptive_row, polynomial
from flexapod.simulation.integrators.implicit_row import implicit_row
from flexapod.simulation.integrators.independent_row import independent_row
from flexapod.simulation.integrators.rk4 import rk4_step
from flexapod.simulation.system.closure import determinant
from flexapod.simulation.system.increments import sampled, state_after, state_now
from flexapod.simulation.system.independent import IndependentLayout, drive_determinant
from flexapod.simulation.system.layout import Layout
from flexapod.simulation.system.scope import Scope

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.kernels.tape.control_flow import Builder
    from flexapod.simulation.system.plant import Moment

LOST_CONTROL = "the actuators lose control of the platform: their Jacobian is singular"
NEAR = 1e-9
"""Share of the determinant at the start of a simulation below which the actuators count as having lost control."""


def step_program(layout: Layout, single: bool = True) -> Program:
    """The program of a chunk: input `state` and `table` (rows), outputs `rows` and `final`; `single`: for one trajectory.

    Checked by: tests/simulation/test_simulate.py.
    """
    root = Program("simulation", single=single and layout.method in METHODS, factored=isinstance(layout, IndependentLayout))
    state = root.input("state", (layout.size,), doc="carried numbers")
    table = root.input("table", (layout.rows, layout.columns), doc="per row: length, tick, signals at the nodes")

    def row(b: Builder, _: SX, carried: SX, column: SX) -> tuple[list[SX], list[SX]]:
        parts = layout.split(carried)
        h, tick = column[0], column[1]
        signals = ca.reshape(column[2:], layout.width, len(layout.nodes)) if layout.width else ca.SX(0, len(layout.nodes))
        scope = Scope(root, b)
        if layout.memory:
            begin = _at_start(layout, signals) if layout.method == "dopri" else signals[:, 0]
            parts = parts | sampled(scope, layout, parts, tick, root.parameter("controller.period"), begin)
        parts = parts | _watched(scope, layout, parts)
        if layout.method == "dopri":
            after, code, force, acceleration = adaptive_row(root, b, layout, parts, h, signals)
        elif isinstance(layout, IndependentLayout) and layout.method != "rk4":
            after, code, force, acceleration = independent_row(root, b, layout, parts, h, signals)
        elif layout.method == "rk4":
            step = rk4_step(root, b, layout, parts, h, signals)
            code, force, acceleration = step.code, step.force, step.acceleration
            after = state_after(scope, layout, parts, step.increments, signals[:, -1]) | step.memory
        else:
            y, code, force, acceleration = implicit_row(root, b, layout, parts, h, signals)
            after = state_after(scope, layout, parts, y, signals[:, -1])
        code = ca.if_else(parts["code"] != 0, parts["code"], ca.if_else(scope.code != 0, scope.code, code))
        kept = finite(layout.joined(parts))
        stopped = finite(layout.joined(parts | {"code": code}))
        following = ca.if_else(code == 0, layout.joined(after), stopped)
        return [following], [ca.vertcat(kept, finite(force), finite(acceleration))]

    (final,), (rows,) = root.scan(row, layout.rows, carry=[state], each=[table.T])
    root.output("rows", rows.T, shape=(layout.rows, layout.row_width))
    root.output("final", final, shape=(layout.size,))
    return root


def finite(column: SX) -> SX:
    """Zero for what is no finite number: a kernel returns nothing of a sample that has such numbers."""
    return ca.vertcat(*[ca.if_else(ca.fabs(column[i]) < 1e300, column[i], 0) for i in range(column.numel())])


def _at_start(layout: Layout, table: SX) -> SX:
    return polynomial(layout, table, ca.SX(0))


def _watched(scope: Scope, layout: Layout, parts: dict[str, SX]) -> dict[str, SX]:
    """Stop outside strokes, and where the determinant of the Jacobian vanishes or changes its sign."""
    robot = layout.robot
    if not (any(layout.strokes) or "singular" in layout.watch):
        return {}
    scope, moment, c = state_now(scope, layout, parts)
    if any(layout.strokes):
        q = c.q
        for k, (name, has) in enumerate(zip(robot.actuators, layout.strokes, strict=True)):
            if has:
                low, high = (scope.root.parameter(f"stroke.{name}.{end}") for end in ("low", "high"))
                scope.fail_if(ca.logic_or(q[k] < low, q[k] > high), "leg {leg} leaves its stroke", leg=name)
    if "singular" not in layout.watch:
        return {}
    now, before = _determinant(scope, layout, parts, moment), parts["determinant"]
    lost = ca.logic_or(now * before < 0, ca.fabs(now) <= NEAR * scope.root.parameter("determinant.start"))
    scope.fail_if(lost, LOST_CONTROL)
    return {"determinant": ca.if_else(ca.fabs(now) < 1e300, now, before)}


def _determinant(scope: Scope, layout: Layout, parts: dict[str, SX], moment: Moment) -> SX:
    if isinstance(layout, IndependentLayout):
        return drive_determinant(scope.root, layout, parts)
    return determinant(scope, layout.robot, moment)
