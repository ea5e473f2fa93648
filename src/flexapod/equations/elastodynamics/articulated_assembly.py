"""Direct elastodynamic model of a whole robot by articulated bodies: legs, platform and closing rows put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.articulated import leg_accelerations, leg_forms, solve_rest
from flexapod.equations.elastodynamics.articulated_form import Form
from flexapod.equations.elastodynamics.link_assembly import other_forces, rows_met_alone
from flexapod.equations.elastodynamics.link_beams import link_beams
from flexapod.equations.elastodynamics.link_loops import link_rows, row_wrenches
from flexapod.equations.elastodynamics.link_motion import LinkMotion, link_motions
from flexapod.equations.elastodynamics.loops import independent_rows
from flexapod.equations.elastodynamics.program_state import RobotAt, TreeMotion, tree_motion
from flexapod.equations.elastodynamics.tree_forces import platform_terms
from flexapod.equations.values import Values
from flexapod.errors import InputError
from flexapod.robot.build import has_inner_loops
from flexapod.robot.elastic_plan import driven_columns
from flexapod.robot.robot import Robot

LONG_LEG = 10
"""Coordinates of a leg from which articulated bodies take fewer operations than mass matrix and elimination (measured)."""


def prefers_articulated(robot: Robot) -> bool:
    """Whether some leg is so long that articulated bodies are cheaper, and they apply."""
    return max(len(leg.moving) for leg in robot.legs) >= LONG_LEG and not_articulated(robot) is None


def not_articulated(robot: Robot) -> str | None:
    """The reason why articulated bodies do not apply; None where they do: every leg closes once, by rows that can be used as they
    are."""
    if has_inner_loops(robot.legs):
        return "it takes legs that close once, and there are loops inside or between the legs"
    if independent_rows(robot.elastic_plan) is None:
        return "only combinations of the conditions that close the legs are independent"
    return None


def articulated_forward(at: RobotAt, force: SX, friction: bool = False, wrench: SX | None = None) -> SX:
    """Accelerations (z,) under actuator forces.

    Source: Briot 2014 Eq. (44), solved by elimination link by link. Checked by: tests/equations/test_articulated.py.
    """
    acting = {column: force[k] for k, column in enumerate(driven_columns(at.robot))}
    return _solved(at, acting, {}, friction, wrench)[0]


def articulated_inverse(at: RobotAt, wanted: SX, friction: bool = False, wrench: SX | None = None) -> tuple[SX, SX]:
    """Actuator forces and accelerations (z,) at wanted accelerations of the actuators, all of which are independent.

    Source: Briot 2014 Eq. (43), solved by elimination link by link. Checked by: tests/equations/test_articulated.py.
    """
    driven = driven_columns(at.robot)
    known = {column: wanted[k] for k, column in enumerate(driven)}
    z, forces = _solved(at, {}, known, friction, wrench)
    return ca.vertcat(*[forces[column] for column in driven]), z


def _solved(
    at: RobotAt, acting: Mapping[int, SX], known: Mapping[int, SX], friction: bool, wrench: SX | None
) -> tuple[SX, dict[int, SX]]:
    values, robot, state = at.values, at.robot, at.state
    plan, gravity, size = robot.elastic_plan, values.vector("gravity", "W").expr, len(robot.elastic_plan.columns)
    if (why := not_articulated(robot)) is not None:
        raise InputError(f"articulated: does not apply to {robot.name}: {why}; link axes and world axes do")
    used = independent_rows(plan)
    assert used is not None
    still = tree_motion(values, robot, state)
    given = other_forces(values, robot, state, still, friction, wrench)
    for column, value in acting.items():
        given[column] = given[column] - value
    legs = [
        link_motions(values.of(f"legs.{leg.name}"), leg, state.q[i], state.qd[i], gravity) for i, leg in enumerate(robot.legs)
    ]
    first_row = [size + sum(len(rows) for rows in used[:i]) for i in range(len(used) + 1)]
    placed = _placed_rows(values, robot, legs, still, used, first_row)
    forms = []
    for i, leg in enumerate(robot.legs):
        own = at.leg(i)
        forces = {plan.first[i] + k: given[plan.first[i] + k] for k in range(len(leg.moving))}
        forms.append(leg_forms(own, legs[i], link_beams(own, legs[i]), forces, placed[i], known))
    head = _head(at, still, legs, used, first_row, given)
    alone = rows_met_alone(robot, used, list(known))
    early = {row for i, met in enumerate(alone) if met for row in range(first_row[i], first_row[i + 1])}
    x = solve_rest([*(f.rest for f in forms), head], size, range(size, first_row[-1]), early) | dict(known)
    held: dict[int, SX] = {}
    for i, leg in enumerate(robot.legs):
        held |= leg_accelerations(leg, legs[i], forms[i], plan.first[i], x)
    return ca.vertcat(*[x[k] for k in range(size)]), held


def _placed_rows(
    values: Values, robot: Robot, legs: Sequence[Sequence[LinkMotion]], still: TreeMotion,
    used: Sequence[Sequence[int]], first_row: Sequence[int],
) -> list[dict[int, dict[int, SX]]]:  # fmt: skip
    """Per leg: link -> row -> coefficients of the link's acceleration."""
    plan = robot.elastic_plan
    placed: list[dict[int, dict[int, SX]]] = [{} for _ in robot.legs]
    for i, rows in enumerate(used):
        if not rows:
            continue
        own, carried = row_wrenches(values, robot, i, legs, still)
        for k, row in enumerate(rows):
            if robot.legs[i].closing.link >= 0:
                placed[i].setdefault(robot.legs[i].closing.link, {})[first_row[i] + k] = own[row]
            if plan.carrier is not None:
                link = robot.legs[plan.carrier].closing.link
                placed[plan.carrier].setdefault(link, {})[first_row[i] + k] = carried[row]
    return placed


def _head(
    at: RobotAt, still: TreeMotion, legs: Sequence[Sequence[LinkMotion]], used: Sequence[Sequence[int]], first_row: Sequence[int],
    given: SX,
) -> Form:  # fmt: skip
    """Terms that the platform, if it is a body of its own, and the drift of the rows add to the last system."""
    form, plan = Form(), at.robot.elastic_plan
    matrices, drifts = link_rows(at.values, at.robot, legs, still)
    head = plan.first[0]
    if plan.carrier is None:
        h, M = platform_terms(at, still, ca.SX.zeros(len(plan.columns)))
        for i in range(head):
            form.add_p(i, h[i] + given[i])
            for j in range(i + 1):
                form.add_entry(i, j, M[i, j])
    for i, rows in enumerate(used):
        for k, row in enumerate(rows):
            form.add_p(first_row[i] + k, drifts[i][row])
            for j in range(head if plan.carrier is None else 0):
                if matrices[i].sparsity().has_nz(row, j):
                    form.add_entry(first_row[i] + k, j, matrices[i][row, j])
    return form
