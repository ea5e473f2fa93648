r"""Closing of all loops: every coordinate from the independent ones.

Each leg's rows :math:`A_i z + \gamma_i = 0` are solved for its own passive joints; what remains is solved for the rest that
the plan names:

.. math:: \dot z = N\dot u,\qquad \ddot z = N\ddot u + \beta \qquad\text{(Briot 2014 Eqs. 28-40)}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from flexapod.equations.chain import chain_columns
from flexapod.equations.closing import closing_rows
from flexapod.equations.elastodynamics.elastic_state import TreeMotion, platform_columns, platform_modes
from flexapod.equations.values import Values
from flexapod.robot.elastic_plan import ElasticPlan, LegLoop
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec, cross, dot
from flexapod.spatial.linear import solve

SLIDES = ("prismatic", "cylindrical")


def loop_rows(values: Values, robot: Robot, motion: TreeMotion) -> tuple[list[Any], list[Any], list[Any]]:
    """Of every leg: its rows by all coordinates (m, z), their second derivative at zero accelerations (m,), residual (m,).

    Source: Briot 2014 Eqs. (28)-(33). Checked by: tests/equations/test_elastodynamics.py.
    """
    plan = robot.elastic_plan
    matrices, drifts, residuals = [], [], []
    for i, leg in enumerate(robot.legs):
        if i == plan.carrier:
            matrices.append(ca.SX(0, len(plan.columns)))
            drifts.append(ca.SX(0, 1))
            residuals.append(ca.SX(0, 1))
            continue
        end, half = motion.ends[i], motion.halves[i]
        rows = closing_rows(leg, end, half)
        slides = leg.closing.type in SLIDES
        point = end.p if slides else half.p
        own = {plan.first[i] + k: t for k, t in chain_columns(leg, motion.poses[i], leg.closing.link, point).items()}
        A = ca.SX(len(rows), len(plan.columns))
        for k, row in enumerate(rows):
            turn = cross(end.p - half.p, row.linear) + row.angular if slides and row.turning else row.angular
            for j, (v, w) in platform_columns(robot, plan, motion, half.p).items():
                A[k, j] = -(dot(row.linear, v) + dot(turn, w))
            for j, (v, w) in own.items():
                A[k, j] = A[k, j] + dot(row.linear, v) + dot(row.angular, w)
            for j, (v, turned) in mode_columns(robot, motion, i).items():
                A[k, j] = -(dot(row.linear, v) + (0 if turned is None else dot(turn, turned)))
        matrices.append(A)
        drifts.append(ca.vertcat(*[row.rdd for row in rows]))
        residuals.append(ca.vertcat(*[row.r for row in rows]))
    return matrices, drifts, residuals


def mode_columns(robot: Robot, motion: TreeMotion, i: int) -> dict[int, tuple[Vec, Vec | None]]:
    """Velocity and angular velocity (None for spherical joints) of a joint on a flexible platform per mode, world axes."""
    N = platform_modes(robot)
    if not N:
        return {}
    Phi = motion.shapes[i]
    start = 0 if robot.elastic_plan.carrier is not None else 6
    turns = motion.turns[i]
    return {
        start + k: (motion.platform.R @ Vec(Phi[:, k], "P"), None if turns is None else Vec(turns[:, k], "W")) for k in range(N)
    }


def solve_loops(plan: ElasticPlan, matrices: Sequence[Any], right: Sequence[Any]) -> tuple[Any, Any]:
    r"""N and beta with :math:`z = N u + \beta` from the rows :math:`A_i z + r_i = 0`.

    Args:
        matrices: A_i (m_i, z); right: r_i (m_i, 1).
    Returns:
        N (bound, independent): rows of ``plan.bound``, columns of ``plan.independent``; beta (bound, 1).
    """
    size = len(plan.columns)
    solved: dict[int, Any] = {}
    left = []
    for A, r, loop in zip(matrices, right, plan.legs, strict=True):
        whole = ca.horzcat(A, r)
        X = _leg_solution(whole, loop)
        for k, column in enumerate(loop.dependents):
            solved[column] = X[k, :]
        left.append(_left(whole, loop, X))
    bound, free = list(plan.dependents), list(plan.independent)
    if bound:
        rest = ca.vertcat(*left)[list(plan.kept), :]
        X = -_solve_sparse(ca.densify(rest[:, bound]), rest[:, [*free, size]])
    else:
        X = ca.SX(0, len(free) + 1)
    lines = []
    for loop in plan.legs:
        for column in loop.dependents:
            line = solved[column]
            lines.append(line[:, [*free, size]] + (ca.mtimes(line[:, bound], X) if bound else 0))
    whole = ca.vertcat(*lines, X)
    return whole[:, : len(free)], whole[:, len(free)]


def _leg_solution(whole: Any, loop: LegLoop) -> Any:
    """Dependents of a leg by the other columns (and the last one, the right side)."""
    if not loop.dependents:
        return ca.SX(0, whole.shape[1])
    rows, dependents = list(loop.rows), list(loop.dependents)
    others = ca.SX(whole[rows, :])
    for k in dependents:
        others[:, k] = 0
    return -_solve_sparse(ca.densify(whole[rows, dependents]), ca.sparsify(others))


def _left(whole: Any, loop: LegLoop, X: Any) -> Any:
    """Rows of a leg that its passive joints cannot meet, with these eliminated."""
    if loop.crossed:
        rows, B = list(loop.rows), ca.densify(whole[list(loop.rows), list(loop.dependents)])
        c = ca.vertcat(-B[1], B[0]) if len(rows) == 2 else ca.cross(B[:, 0], B[:, 1])
        others = ca.SX(whole[rows, :])
        for k in loop.dependents:
            others[:, k] = 0
        return ca.mtimes(c.T, ca.sparsify(others))
    left = list(loop.leftover)
    rest = ca.SX(whole[left, :])
    if not loop.dependents or not left:
        return rest
    B = ca.SX(rest[:, list(loop.dependents)])
    for k in loop.dependents:
        rest[:, k] = 0
    return ca.sparsify(rest) + ca.mtimes(B, X)


def _solve_sparse(A: Any, right: Any) -> Any:
    """A^-1 right (least squares where A is tall), computed for the columns of `right` that have entries only."""
    used = [k for k in range(right.shape[1]) if right[:, k].nnz()]
    X = ca.SX(A.shape[1], right.shape[1])
    if used:
        X[:, used] = solve(A, ca.densify(right[:, used]))
    return X
