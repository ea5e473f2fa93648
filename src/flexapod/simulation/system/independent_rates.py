r"""Right-hand side of simulations in independent coordinates, for explicit and adaptive methods.

.. math:: \ddot u = M^{-1}(A^T\Gamma - c),\qquad M = N^TM_zN,\qquad y = (x, v, z)

Increments y of a row: x of the unknown coordinates, v of their rates, z of what is integrated beside. Loops are closed at every
evaluation. Where actuators follow a motion, their coordinates are those of the signal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from flexapod.equations.values import Values
from flexapod.robot.elastic_plan import chosen_drives
from flexapod.simulation.system.independent import (
    CarriedLoops,
    acting,
    carried_loops,
    carried_parts,
    completed,
    coordinate_rates,
    placed,
    shown_accelerations,
)
from flexapod.simulation.system.loaded_joints import acting_freely
from flexapod.simulation.system.right_hand_side import Rates
from flexapod.spatial.linear import solve_symmetric

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.simulation.system.independent import IndependentLayout
    from flexapod.simulation.system.scope import Scope

CORRECTIONS = 2
"""Newton's steps on the loops after a predicted one: a step that resolves the vibrations needs no more."""


def moved_loops(scope: Scope, layout: IndependentLayout, parts: dict[str, SX], y: SX, column: SX) -> CarriedLoops:
    """The closed state after increments y of a row's start, at given signals."""
    robot, values, n = layout.robot, Values(scope.root), len(layout.unknown)
    signals, start = layout.at_node(column), carried_loops(scope.root, layout, parts)
    step = ca.SX.zeros(len(robot.elastic_plan.independent))
    step[layout.unknown, :] = y[:n]
    if layout.follows:
        own, places = chosen_drives(robot)
        step[places] = (signals["driven"][: layout.actuators] - parts["joints"][list(robot.driven)])[own]
    rates = completed(layout, parts["ud"][layout.unknown, :] + y[n : 2 * n], signals, 1)
    return placed(values, robot, start, step, CORRECTIONS, rates)


def independent_rates(scope: Scope, layout: IndependentLayout, parts: dict[str, SX], y: SX, column: SX) -> Rates:
    """Derivative of the increments y, forces and accelerations (platform, elastic, actuators).

    Checked by: tests/simulation/test_explicit_simulations.py.
    """
    unknown = layout.unknown
    n, signals = len(unknown), layout.at_node(column)
    at = moved_loops(scope, layout, parts, y, column)
    now, M = acting_freely(scope, layout, parts, at, y[2 * n :], column)
    a = solve_symmetric(M[unknown, unknown], (now.driving - now.felt)[unknown, :])
    scope.fail_if(ca.logic_not(ca.dot(a, a) < 1e200), "the acceleration is not finite: a loop is singular")
    if layout.follows or layout.feels:  # forces of followed actuators and what accelerometers feel depend on it
        now = acting(scope, layout, parts, at, a, y[2 * n :], column=column, loaded=now.loaded)
    second = completed(layout, a, signals, 2)
    dy = ca.vertcat(coordinate_rates(layout, at), a, now.beside)
    return Rates(dy=dy, force=now.force, acceleration=shown_accelerations(layout, at, now, second))


def independent_advanced(scope: Scope, layout: IndependentLayout, parts: dict[str, SX], y: SX, column: SX) -> dict[str, SX]:
    """The parts of the state after increments y, loops closed."""
    after = parts | carried_parts(layout, moved_loops(scope, layout, parts, y, column))
    at = 2 * len(layout.unknown)
    for name, size in layout.extra.items():
        after[name] = parts[name] + y[at : at + size]
        at += size
    return after


def independent_norm(layout: IndependentLayout, parts: dict[str, SX], error: SX, rtol: SX, atol: SX) -> SX:
    """Weighted error of coordinates and rates; actuators and deformations each against the largest of their kind."""
    n, robot = len(layout.unknown), layout.robot
    driven = set(chosen_drives(robot)[1])
    first = len(robot.elastic_plan.columns) - len(robot.coordinates)
    z = ca.vertcat(ca.SX.zeros(first - parts["modes"].numel()), parts["modes"], parts["joints"])
    position, total = z[list(robot.elastic_plan.independent)], ca.SX(0)
    for group in ([k for k in layout.unknown if k in driven], [k for k in layout.unknown if k not in driven]):
        if not group:
            continue
        rows = [layout.unknown.index(k) for k in group]
        for offset, values in ((0, position[group]), (n, parts["ud"][group])):
            scale = atol + rtol * ca.mmax(ca.fabs(values))
            total = total + ca.sumsqr(ca.vertcat(*[error[offset + k] for k in rows]) / scale)
    return ca.sqrt(total / max(2 * n, 1))  # actuators that follow a motion may leave nothing to integrate
