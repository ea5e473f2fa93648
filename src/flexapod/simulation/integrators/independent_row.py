r"""One row of a simulation in independent coordinates by an implicit method: the robot as a system of second order.

.. math:: r = N^T(M_z(N\ddot u + \beta) + h) - A^T\Gamma,\qquad r_x = 0

See `independent` for the coordinates; `implicit_row` is that of platforms whose legs follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from flexapod.equations.elastodynamics.dissipation import tangent_matrices
from flexapod.equations.values import Values
from flexapod.kernels.tape.control_flow import Builder
from flexapod.robot.elastic_plan import chosen_drives
from flexapod.simulation.integrators.collocation import METHODS
from flexapod.simulation.integrators.implicit import Evaluation, SecondOrder, implicit_step
from flexapod.simulation.system.independent import (
    acting,
    carried_loops,
    carried_parts,
    completed,
    coordinate_rates,
    driving_forces,
    placed,
    rotates_freely,
    shown_accelerations,
)
from flexapod.simulation.system.loaded_joints import acting_freely
from flexapod.simulation.system.scope import Scope
from flexapod.spatial.linear import solve_symmetric

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.kernels.tape.program import Program
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.independent import Action, CarriedLoops, IndependentLayout


def independent_row(
    root: Program, b: Builder, layout: IndependentLayout, parts: dict[str, SX], h: SX, table: SX
) -> tuple[dict[str, SX], SX, SX, SX]:
    """Carried numbers after a row, status, and forces and accelerations (platform, elastic, actuators) at its start.

    Args:
        table: (width, stages + 2) signals at the start, the stages and the end.

    Source: Briot 2014 Eqs. (28)-(44). Checked by: tests/simulation/test_leg_simulation.py, test_independent_simulation.py.
    """
    robot, values, unknown, scope = layout.robot, Values(root), layout.unknown, Scope(root, b)
    start, none = carried_loops(root, layout, parts), ca.SX.zeros(sum(layout.extra.values()))
    now, M = acting_freely(scope, layout, parts, start, none, table[:, 0])
    a0 = solve_symmetric(M[unknown, unknown], (now.driving - now.felt)[unknown, :])
    K, D = tangent_matrices(values, robot, start.state, start.motion, start.X, layout.sliding)
    K, D = _with_gains(scope, layout, start, K, D)

    def evaluate(inner: Builder, x: SX, v: SX, a: SX, z: SX, column: SX) -> Evaluation:
        own, signals = Scope(root, inner), layout.at_node(column)
        step, rates = _increment(layout, x, column, table[:, 0]), completed(layout, parts["ud"][unknown, :] + v, signals, 1)
        at = placed(values, robot, start, step, layout.corrections, rates)
        loaded = acting_freely(own, layout, parts, at, z, column)[0].loaded if layout.friction == "load" else None
        found = acting(own, layout, parts, at, a, z, column=column, loaded=loaded)
        residual = (found.felt - found.driving)[unknown, :]
        return Evaluation(residual=residual, rate=coordinate_rates(layout, at), beside=found.beside, code=own.code)

    system = SecondOrder(
        evaluate=evaluate, velocity=parts["ud"][unknown, :], acceleration=a0, mass=ca.densify(M[unknown, unknown]),
        damping=ca.densify(D[unknown, unknown]), stiffness=ca.densify(K[unknown, unknown]), beside=none.numel(),
        plain=not rotates_freely(robot),
    )  # fmt: skip
    columns = table[:, 1:-1] if layout.width else ca.SX(0, METHODS[layout.method].stages)
    found = implicit_step(root, b, METHODS[layout.method], system, h, columns)
    end = layout.at_node(table[:, -1])
    step = _increment(layout, found.x, table[:, -1], table[:, 0])
    rates = completed(layout, parts["ud"][unknown, :] + found.v, end, 1)
    last = placed(values, robot, start, step, layout.corrections + 1, rates)
    after = parts | carried_parts(layout, last)
    at = 0
    for name, size in layout.extra.items():
        after[name] = parts[name] + found.z[at : at + size]
        at += size
    second = completed(layout, a0, layout.at_node(table[:, 0]), 2)
    force = now.force if not layout.follows else held_forces(robot, now, M, unknown, a0)
    return after, ca.if_else(scope.code != 0, scope.code, found.code), force, shown_accelerations(layout, start, now, second)


def held_forces(robot: Robot, now: Action, M: SX, unknown: list[int], a0: SX) -> SX:
    """Forces of actuators that follow, with the accelerations of the unknowns."""
    own, places = chosen_drives(robot)
    force = ca.SX(now.force)
    force[own] = (now.felt + ca.mtimes(M[:, unknown], a0))[places]
    return force


def _increment(layout: IndependentLayout, x: SX, column: SX, first: SX) -> SX:
    """Increment of u since the start of the row."""
    return completed(layout, x, layout.at_node(column - first), 0)


def _with_gains(scope: Scope, layout: IndependentLayout, start: CarriedLoops, K: SX, D: SX) -> tuple[SX, SX]:
    """The tangent with what a continuous controller adds at the actuators."""
    gains = layout.controller.stiffness_at(scope, layout.robot) if layout.controller is not None else None
    if gains is None or layout.follows:
        return K, D
    count = len(layout.robot.elastic_plan.independent)
    A = ca.horzcat(*[driving_forces(layout.robot, start.X, ca.SX.eye(layout.actuators)[:, k]) for k in range(layout.actuators)]).T
    assert A.shape == (layout.actuators, count)
    return K + ca.mtimes(A.T, ca.mtimes(ca.diag(gains[0]), A)), D + ca.mtimes(A.T, ca.mtimes(ca.diag(gains[1]), A))
