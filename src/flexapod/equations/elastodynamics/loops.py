r"""Closing of all loops: every coordinate from the independent ones.

The rows :math:`A_i z + \gamma_i = 0` of all legs that the plan keeps are solved for the coordinates that it binds, front by front
(`front_solve`):

.. math:: \dot z = N\dot u,\qquad \ddot z = N\ddot u + \beta \qquad\text{(Briot 2014 Eqs. 28-40)}
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.chain import chain_columns
from flexapod.equations.closing_rows import ClosingRow, closing_rows
from flexapod.equations.elastodynamics.front_solve import solve_fronts
from flexapod.equations.elastodynamics.program_state import (
    Cut,
    TreeMotion,
    platform_columns,
    platform_modes,
    read_state,
    tree_motion,
)
from flexapod.equations.model.algebra import determinant
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.elastic_plan import ElasticPlan, LegLoop
from flexapod.robot.model import Closing
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec, cross, dot
from flexapod.spatial.linear import solve

SLIDES = ("prismatic", "cylindrical")


def loop_rows(values: Values, robot: Robot, motion: TreeMotion) -> tuple[list[SX], list[SX], list[SX]]:
    """Closing rows of every leg by all coordinates (m, z), their second derivative at zero accelerations (m,), residual (m,).

    Source: Briot 2014 Eqs. (28)-(33). Checked by: tests/equations/test_elastodynamics.py.
    """
    matrices, drifts, residuals, first = [], [], [], robot.elastic_plan.first[0]
    for i in range(len(robot.legs)):
        found = [_cut_rows(values, robot, motion, i, cut) for cut in motion.cuts[i]]
        coupled = coupling_rows(values, robot, i)
        lines = [*[A for A, _ in found], *[A for A, _ in coupled]]
        matrices.append(ca.vertcat(ca.SX(0, len(robot.elastic_plan.columns)), *lines))
        rows = [row for _, own in found for row in own]
        drifts.append(ca.vertcat(ca.SX(0, 1), *[row.rdd for row in rows], *[ca.SX(0) for _ in coupled]))
        kept = [ca.mtimes(A[:, first:], motion.joints) - home for A, home in coupled]
        residuals.append(ca.vertcat(ca.SX(0, 1), *[row.r for row in rows], *kept))
    return matrices, drifts, residuals


def coupling_rows(values: Values, robot: Robot, i: int) -> list[tuple[SX, SX]]:
    """Row (1, z) of every coupling of a leg, and the value of its sum at home."""
    plan, result = robot.elastic_plan, []
    for coupling in robot.legs[i].couplings:
        A, own = ca.SX(1, len(plan.columns)), values.of(f"couplings.{coupling.name}")
        for k, (leg, index, _) in enumerate(coupling.terms):
            A[0, plan.first[leg] + index] = own.scalar(str(k))
        result.append((A, own.scalar("home")))
    return result


def _cut_rows(values: Values, robot: Robot, motion: TreeMotion, i: int, cut: Cut) -> tuple[SX, list[ClosingRow]]:
    """Rows (m, z) of one cut joint of leg i by all coordinates, and the rows themselves."""
    plan, leg, closing, end, half = robot.elastic_plan, robot.legs[i], cut.closing, cut.end, cut.half
    rows, slides = closing_rows(leg, end, half, closing), closing.type in SLIDES
    point = end.p if slides else half.p
    own = {plan.first[i] + k: t for k, t in chain_columns(leg, motion.poses[i], closing.link, point).items()}
    A = ca.SX(len(rows), len(plan.columns))
    for k, row in enumerate(rows):
        angular = cross(end.p - half.p, row.linear) + row.angular if slides and row.rotating else row.angular
        for j, (v, w) in far_columns(robot, motion, closing, half.p).items():
            A[k, j] = -(dot(row.linear, v) + dot(angular, w))
        for j, (v, w) in own.items():
            A[k, j] = A[k, j] + dot(row.linear, v) + dot(row.angular, w)
        for j, (v, rotated) in (mode_columns(robot, motion, i) if closing.to is None else {}).items():
            A[k, j] = -(dot(row.linear, v) + (0 if rotated is None else dot(angular, rotated)))
    return A, rows


def far_columns(robot: Robot, motion: TreeMotion, closing: Closing, point: Vec) -> dict[int, tuple[Vec, Vec]]:
    """Unit twists of the coordinates that move the far half of a cut joint: of the rigid platform, or of the link it is on."""
    plan = robot.elastic_plan
    if closing.to is None:
        return platform_columns(robot, plan, motion, point)
    k, link = closing.to
    return {plan.first[k] + j: t for j, t in chain_columns(robot.legs[k], motion.poses[k], link, point).items()}


def mode_columns(robot: Robot, motion: TreeMotion, i: int) -> dict[int, tuple[Vec, Vec | None]]:
    """Velocity and angular velocity (None for spherical joints) of a joint on a flexible platform per mode, world axes."""
    N = platform_modes(robot)
    if not N:
        return {}
    Phi = motion.shapes[i]
    start = 0 if robot.elastic_plan.carrier is not None else 6
    spins = motion.rotations[i]
    return {
        start + k: (motion.platform.R @ Vec(Phi[:, k], "P"), None if spins is None else Vec(spins[:, k], "W")) for k in range(N)
    }


def solve_loops(plan: ElasticPlan, matrices: Sequence[SX], right: Sequence[SX]) -> tuple[SX, SX]:
    r"""N and beta with :math:`z = N u + \beta` from the rows :math:`A_i z + r_i = 0`.

    Args:
        matrices: A_i (m_i, z); right: r_i (m_i, 1).
    Returns:
        N (bound, independent): rows of ``plan.bound``, columns of ``plan.independent``; beta (bound, 1).
    """
    size = len(plan.columns)
    used = independent_rows(plan)
    if used is not None and plan.bound:
        rows = ca.vertcat(*[ca.horzcat(A, r)[own, :] for A, r, own in zip(matrices, right, used, strict=True)])
        X = -solve_fronts(rows[:, list(plan.bound)], rows[:, [*plan.independent, size]])
        return X[:, : len(plan.independent)], X[:, len(plan.independent)]
    solved: dict[int, SX] = {}
    left = []
    for A, r, loop in zip(matrices, right, plan.legs, strict=True):
        whole = ca.horzcat(A, r)
        X = _leg_solution(whole, loop)
        for k, column in enumerate(loop.dependents):
            solved[column] = X[k, :]
        left.append(_left(whole, loop, X))
    bound, free = list(plan.dependents), list(plan.independent)
    if bound:
        stacked: SX = ca.vertcat(*left)
        rest = stacked[list(plan.kept), :]
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


def independent_rows(plan: ElasticPlan) -> list[list[int]] | None:
    """Rows of every leg that together are independent; None where only combinations of them are."""
    used, at = [], 0
    for loop in plan.legs:
        count = 1 if loop.crossed else len(loop.leftover)
        kept = [k - at for k in plan.kept if at <= k < at + count]
        at += count
        if loop.crossed and not kept:
            return None
        used.append([*loop.rows, *([] if loop.crossed else [loop.leftover[k] for k in kept])])
    return used


def loop_multipliers(plan: ElasticPlan, matrices: Sequence[SX], rest: SX) -> SX:
    r"""Multipliers (m,) of all rows, :math:`A_b^T\lambda = r` at the bound coordinates; zero of repeated rows.

    The solution of the rows for the bound coordinates is linear in their right sides; this is its transpose.

    Args:
        matrices: A_i (m_i, z); rest: (bound,) forces that the loops must bear.
    """
    right = [ca.SX.sym("right", A.shape[0]) for A in matrices]
    _, beta = solve_loops(plan, matrices, right)
    return -ca.densify(ca.jtimes(beta, ca.vertcat(*right), rest, True))


def all_coordinates(robot: Robot, free: SX, bound: SX) -> SX:
    """(z,) from independent and bound entries."""
    z = ca.SX(len(robot.elastic_plan.columns), 1)
    z[list(robot.elastic_plan.independent)] = free
    z[list(robot.elastic_plan.bound)] = bound
    return ca.densify(z)


def platform_rates(robot: Robot, motion: TreeMotion) -> SX:
    """Platform twist (6, z) per rate of every coordinate."""
    J = ca.SX(6, len(robot.elastic_plan.columns))
    for k, (v, w) in platform_columns(robot, robot.elastic_plan, motion, motion.platform.p).items():
        J[:3, k], J[3:, k] = v.expr, w.expr
    return J


def closing_determinant(plan: ElasticPlan, matrices: Sequence[SX]) -> SX:
    """Determinant of the blocks that the loops are solved by: zero where the independent coordinates lose control of the rest.

    A leg whose rows are met as a whole (`crossed`) has no square block, and none that could change its sign.
    """
    result, left = ca.SX(1), []
    for A, loop in zip(matrices, plan.legs, strict=True):
        if loop.dependents and not loop.crossed:
            result = result * determinant(ca.densify(A[list(loop.rows), list(loop.dependents)]))
        left.append(_left(A, loop, _leg_solution(A, loop)))
    if plan.dependents:
        rest: SX = ca.vertcat(*left)
        result = result * determinant(ca.densify(rest[list(plan.kept), list(plan.dependents)]))
    return result


def elastic_control(robot: Robot) -> Program:
    """The program: a closed state in; `determinant` out, see `closing_determinant`."""
    b = Program("elastic_control")
    values = Values(b)
    matrices, _, _ = loop_rows(values, robot, tree_motion(values, robot, read_state(b, robot)))
    b.output("determinant", closing_determinant(robot.elastic_plan, matrices), shape=())
    return b


def _leg_solution(whole: SX, loop: LegLoop) -> SX:
    """Dependents of a leg by the other columns (and the last one, the right side)."""
    if not loop.dependents:
        return ca.SX(0, whole.shape[1])
    rows, dependents = list(loop.rows), list(loop.dependents)
    others = ca.SX(whole[rows, :])
    for k in dependents:
        others[:, k] = 0
    return -_solve_sparse(ca.densify(whole[rows, dependents]), ca.sparsify(others))


def _left(whole: SX, loop: LegLoop, X: SX) -> SX:
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


def _solve_sparse(A: SX, right: SX) -> SX:
    """A^-1 right (least squares where A is tall), computed for the columns of `right` that have entries only."""
    used = [k for k in range(right.shape[1]) if right[:, k].nnz()]
    X = ca.SX(A.shape[1], right.shape[1])
    if used:
        X[:, used] = solve(A, ca.densify(right[:, used]))
    return X
