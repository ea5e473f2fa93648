r"""All loops of a robot at some coordinates, closed and moved together, and the platform's motion by them.

.. math:: \delta z = N\delta u + \beta,\qquad P = W N

z: all coordinates; u: independent ones; W: platform twist per rate of z. The platform is rigid, and nothing deforms.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.closing import at_coordinates
from flexapod.equations.elastodynamics.loops import all_coordinates, loop_rows, platform_rates, solve_loops
from flexapod.equations.elastodynamics.program_state import TreeMotion, tree_motion
from flexapod.equations.values import Values
from flexapod.robot.elastic_plan import driven_columns, pose_columns
from flexapod.robot.robot import Robot
from flexapod.spatial.linear import solve

NONE = ca.SX.zeros(0)
"""Modes of the platform: it is rigid here."""


@dataclass(frozen=True, kw_only=True)
class Closed:
    """Loops at some coordinates.

    Args:
        motion: of all frames.
        rows, residual: closing rows by all coordinates and what is left of them, leg by leg.
        X, beta: rates of the bound coordinates per independent one, step that closes the loops.
        W, P: platform twist per rate of z (6, z), per rate of the coordinates that the pose determines (6, r).
    """

    motion: TreeMotion
    rows: list[SX]
    residual: list[SX]
    X: SX
    beta: SX
    W: SX
    P: SX


def dependent_components(robot: Robot) -> list[int]:
    """Components of the platform's motion (0-2 translation, 3-5 rotation) that follow from the others."""
    return [k for k in range(6) if k not in robot.plan.platform_independent]


def closed_loops(values: Values, robot: Robot, x: SX) -> Closed:
    """Loops at carried numbers x: joints, position, rotation by columns."""
    plan, motion = robot.elastic_plan, tree_motion(values, robot, at_coordinates(robot, x, NONE))
    rows, _, residual = loop_rows(values, robot, motion)
    X, beta = solve_loops(plan, rows, residual)
    W = platform_rates(robot, motion)
    P = W[:, list(plan.independent)] + ca.mtimes(W[:, list(plan.bound)], X)
    return Closed(motion=motion, rows=rows, residual=residual, X=X, beta=beta, W=W, P=P[:, pose_columns(robot)])


def pose_gap(motion: TreeMotion, goal: SX) -> SX:
    """Twist (6,) from the platform's pose to a wanted one (position, rotation by columns); the rotation as `moved` has it."""
    back = ca.mtimes(ca.reshape(goal[3:], 3, 3), motion.platform.R.expr.T)
    return ca.vertcat(goal[:3] - motion.platform.p.expr, 2 * ca.inv_skew(back - back.T) / ca.fmax(1 + ca.trace(back), 1e-3))


def carried_start(robot: Robot, q: SX, p: SX, R: SX) -> SX:
    """Carried numbers: joints, and the pose unless a link is the platform."""
    return q if robot.elastic_plan.carrier is not None else ca.vertcat(q, p, ca.vec(R))


def twist_scale(values: Values) -> SX:
    """(6,) sizes of a twist's components."""
    return ca.vertcat(*[values.scalar("characteristic_length")] * 3, 1, 1, 1)


def rates_from_twist(values: Values, at: Closed, twist: SX) -> SX:
    """P^+ twist (r, k): least squares in dimensionless components, exact for twists that the robot can follow."""
    return solve(dimensionless_twists(values, at.P), dimensionless_twists(values, twist))


def dimensionless_twists(values: Values, twists: SX) -> SX:
    """Twists (6, k) in dimensionless components."""
    return ca.densify(ca.mtimes(ca.diag(1 / twist_scale(values)), twists))


def from_pose_columns(robot: Robot, at: Closed, own: SX, beta: SX | None = None) -> SX:
    """(z,) from the coordinates that the pose determines; others stay."""
    free = ca.SX.zeros(len(robot.elastic_plan.independent))
    free[pose_columns(robot)] = own
    bound = ca.mtimes(at.X, free)
    return all_coordinates(robot, free, bound if beta is None else bound + beta)


def twist_from_bound(robot: Robot, at: Closed, beta: SX) -> SX:
    """Twist (6,) that bound coordinates give the platform."""
    return ca.mtimes(at.W[:, list(robot.elastic_plan.bound)], beta)


def by_twist(values: Values, robot: Robot, at: Closed) -> tuple[SX, SX]:
    """Actuator rates (actuators, 6) and constraint rows (c, 6) per twist: J = A P^+, G = 1 - P P^+."""
    inverse, unit = rates_from_twist(values, at, ca.SX.eye(6)), ca.SX.eye(at.P.shape[1])
    N = ca.horzcat(*[from_pose_columns(robot, at, unit[:, k]) for k in range(unit.shape[0])])
    G = ca.SX.eye(6) - ca.mtimes(at.P, inverse)
    return ca.densify(ca.mtimes(N[driven_columns(robot), :], inverse)), ca.densify(G[dependent_components(robot), :])
