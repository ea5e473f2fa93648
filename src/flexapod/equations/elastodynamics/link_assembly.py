r"""Equation of motion of a robot with flexible legs, every leg in link axes.

Letters: z all coordinates, u independent ones, :math:`\dot z = N\dot u`. Forces h at :math:`\ddot z = 0`,

.. math:: M_z\ddot z + h = E^T\Gamma + A^T\lambda,\qquad A\ddot z + \gamma = 0

is either projected on u (`projected`) or solved as it is (`solved`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.bordered_solve import bordered_solve
from flexapod.equations.elastodynamics.joint_forces import Friction, joint_forces
from flexapod.equations.elastodynamics.link_beams import link_beams
from flexapod.equations.elastodynamics.link_loops import link_rows
from flexapod.equations.elastodynamics.link_motion import LinkMotion, link_motions
from flexapod.equations.elastodynamics.link_tree import leg_bias, leg_mass_matrix
from flexapod.equations.elastodynamics.loops import independent_rows, solve_loops
from flexapod.equations.elastodynamics.program_state import ElasticState, RobotAt, TreeMotion, robot_at, tree_motion
from flexapod.equations.elastodynamics.projection import projected_force, projected_mass
from flexapod.equations.elastodynamics.tree_forces import platform_load, platform_terms
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.elastic_plan import driven_columns, loop_matrix
from flexapod.robot.robot import Robot

INDEPENDENT = 1e-3
"""Smallest singular value of a leg's dimensionless rows by its own coordinates at which they may be eliminated with the leg."""


@dataclass(frozen=True, kw_only=True)
class LinkEquation:
    """Terms by all coordinates z.

    Args:
        robot: whose.
        M, h: (z, z), (z,) mass matrix and all other forces at z'' = 0, loops cut.
        A, gamma: per leg, closing rows (m, z) and their second derivative at z'' = 0.
        rates: (actuators,).
    """

    robot: Robot
    M: SX
    h: SX
    A: list[SX]
    gamma: list[SX]
    rates: SX


def link_equation(b: Program, robot: Robot, friction: bool = False, wrench: SX | None = None) -> LinkEquation:
    """Declare the inputs of a state and assemble the equation.

    Args:
        friction: of the joints, as in the file (Eq. 27).
        wrench: (6,) on the platform frame at its origin, world axes.

    Source: Briot 2014 Eqs. (28)-(44). Checked by: tests/equations/test_link_axes.py.
    """
    return link_equation_at(robot_at(b, robot), friction, wrench)


def link_equation_at(at: RobotAt, friction: Friction = False, wrench: SX | None = None) -> LinkEquation:
    """The equation at a state given as expressions."""
    values, robot, state = at.values, at.robot, at.state
    still = tree_motion(values, robot, state)
    M, h, legs = tree_terms(at, still, friction=friction, wrench=wrench)
    A, gamma = link_rows(values, robot, legs, still)
    return LinkEquation(robot=robot, M=M, h=h, A=A, gamma=gamma, rates=driven_rates(robot, state))


def tree_terms(at: RobotAt, still: TreeMotion, *, friction: Friction, wrench: SX | None) -> tuple[SX, SX, list[list[LinkMotion]]]:
    """M (z, z) and h (z,) with the loops cut, and the links of every leg in their axes; `still`: motion at z'' = 0."""
    values, robot, state = at.values, at.robot, at.state
    plan, gravity = robot.elastic_plan, values.vector("gravity", "W").expr
    size = len(plan.columns)
    M, h = ca.SX(size, size), ca.SX.zeros(size)
    if plan.carrier is None:
        head = platform_terms(at, still, ca.SX.zeros(size))
        h[: head[0].numel()] = head[0]
        M[: head[0].numel(), : head[0].numel()] = head[1]
    legs = []
    for i, leg in enumerate(robot.legs):
        own, place = at.leg(i), slice(plan.first[i], plan.first[i] + len(leg.moving))
        links = link_motions(own.values, leg, own.q, own.qd, gravity)
        beams = link_beams(own, links)
        M[place, place] = leg_mass_matrix(own.values, leg, links, beams)
        h[place] = leg_bias(own.values, leg, links, beams)
        legs.append(links)
    return M, h + other_forces(values, robot, state, still, friction, wrench), legs


def other_forces(
    values: Values, robot: Robot, state: ElasticState, still: TreeMotion, friction: Friction, wrench: SX | None
) -> SX:
    """Forces (z,) of springs, friction and load."""
    forces = joint_forces(values, robot, state, still, friction)
    return forces if wrench is None else forces - platform_load(robot, still, wrench)


def driven_rates(robot: Robot, state: ElasticState) -> SX:
    """Rates (actuators,) of the actuators."""
    driven = [[k for k, i in enumerate(leg.moving) if leg.links[i].actuated] for leg in robot.legs]
    return ca.vertcat(*[state.qd[i][k] for i, own in enumerate(driven) for k in own])


@dataclass(frozen=True, kw_only=True)
class Projected:
    """Terms in independent coordinates u: M u'' + c, and z'' = N u'' + beta."""

    M: SX
    c: SX
    N: SX
    beta: SX


def projected(q: LinkEquation) -> Projected:
    """The equation in independent coordinates.

    Source: Briot 2014 Eqs. (34)-(44). Checked by: tests/equations/test_link_axes.py.
    """
    plan, size = q.robot.elastic_plan, q.M.shape[0]
    X, drift = solve_loops(plan, q.A, q.gamma)
    free, bound = list(plan.independent), list(plan.bound)
    N, beta = ca.SX(size, len(free)), ca.SX(size, 1)
    N[free, :] = ca.SX.eye(len(free))
    N[bound, :], beta[bound] = X, drift
    return Projected(
        M=projected_mass(q.M, X, free, bound),
        c=projected_force(q.M, q.h, X, drift, free, bound),
        N=N,
        beta=ca.densify(beta),
    )


def closing_system(q: LinkEquation, known: Sequence[int] = ()) -> tuple[SX, SX, list[list[int]]]:
    """Independent closing rows (m, z), their second derivative (m,), and per row the coordinates to eliminate before it.

    Args:
        known: columns whose acceleration is given.
    """
    robot, plan, size = q.robot, q.robot.elastic_plan, q.M.shape[0]
    used = independent_rows(plan)
    everything = [k for k in range(size) if k not in known]
    if used is None:
        X, beta = solve_loops(plan, q.A, q.gamma)
        A = ca.SX(len(plan.bound), size)
        A[:, list(plan.independent)] = -X
        for k, column in enumerate(plan.bound):
            A[k, column] = 1
        return A, -beta, [everything] * len(plan.bound)
    after = []
    for i, (rows, alone) in enumerate(zip(used, rows_met_alone(robot, used, known), strict=True)):
        own = [k for k in everything if plan.first[i] <= k < plan.first[i] + len(robot.legs[i].moving)]
        after += [own if alone else everything] * len(rows)
    A = ca.vertcat(ca.SX(0, size), *[q.A[i][rows, :] for i, rows in enumerate(used)])
    return A, ca.vertcat(ca.SX(0, 1), *[q.gamma[i][rows] for i, rows in enumerate(used)]), after


def rows_met_alone(robot: Robot, used: Sequence[Sequence[int]], known: Sequence[int] = ()) -> list[bool]:
    """Per leg: its own coordinates, without the known ones, can meet all its rows."""
    plan, result = robot.elastic_plan, []
    numbers = loop_matrix(robot, plan.carrier, plan.first, len(plan.columns))
    for i, rows in enumerate(used):
        first = plan.first[i]
        own = [k for k in range(first, first + len(robot.legs[i].moving)) if k not in known]
        block = numbers[i][np.ix_(list(rows), own)]
        result.append(bool(rows) and len(own) >= len(rows) and bool(np.linalg.svd(block, compute_uv=False)[-1] > INDEPENDENT))
    return result


def solved(q: LinkEquation, force: SX) -> SX:
    """Accelerations (z,) under actuator forces.

    Source: Briot 2014 Eq. (44). Checked by: tests/equations/test_link_axes.py.
    """
    right = -q.h
    for k, column in enumerate(driven_columns(q.robot)):
        right[column] = right[column] + force[k]
    A, gamma, after = closing_system(q)
    return bordered_solve(q.M, A, right, gamma, after)[0]


def solved_inverse(q: LinkEquation, wanted: SX) -> tuple[SX, SX]:
    """Actuator forces and accelerations (z,) at wanted accelerations of the actuators, all of which are independent.

    Source: Briot 2014 Eq. (43). Checked by: tests/equations/test_link_axes.py.
    """
    driven = driven_columns(q.robot)
    others = [k for k in range(q.M.shape[0]) if k not in driven]
    if not others:
        z = ca.SX.zeros(q.M.shape[0])
        z[driven] = wanted
        return (ca.mtimes(q.M, z) + q.h)[driven], z
    A, gamma, after = closing_system(q, driven)
    x, multiplier = bordered_solve(
        q.M[others, others],
        A[:, others],
        -(q.h[others] + ca.mtimes(q.M[others, driven], wanted)),
        gamma + ca.mtimes(A[:, driven], wanted),
        [[others.index(k) for k in first] for first in after],
    )
    z = ca.SX.zeros(q.M.shape[0])
    z[others], z[driven] = x, wanted
    return ca.mtimes(q.M[driven, :], z) + q.h[driven] - ca.mtimes(A[:, driven].T, multiplier), z
