r"""Rates of robots of rods as a program: coordinates u and u' of the drives in.

Loops are solved for the drives and what hangs on the platform by components v of the platform's motion (`rod_plan`), so that each
drive meets its own rods alone; states are the drives' nevertheless (`loop_states`):

.. math:: N^TM_wN\,\ddot v = N^T(\Gamma - h - M_w\beta),\qquad \ddot w = N\ddot v + \beta

As in `leg_rates`, one pass closes the loops and evaluates everything from one elimination.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from flexapod.equations.closing_rows import closing_rows, rotated_row
from flexapod.equations.elastodynamics.closing import LARGEST_STEP
from flexapod.equations.elastodynamics.front_solve import solve_fronts
from flexapod.equations.model.algebra import LinkValues, mul
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.rods.in_loops import RodsInLoops, have_same_joints
from flexapod.equations.rods.rod import RodsOneByOne, RodValues, rod_values
from flexapod.equations.rods.tree_without_rods import Frames, NodeMotion, RodTree
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.program import Program
from flexapod.robot.geometry import pose
from flexapod.robot.rods import Rod, RodPlan, start_coordinates
from flexapod.simulation.system.leg_rates import Evaluated, closing_passes
from flexapod.simulation.system.loop_states import LoopStates, moved_pose
from flexapod.spatial import Rot, Vec
from flexapod.spatial.linear import solve_symmetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flexapod.arrays import SX
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.independent import IndependentLayout


def memory_start(robot: Robot, plan: RodPlan, y: Sequence[float]) -> list[float]:
    """Memory before the first call: pose and coordinates, and nothing known of their slope. y: joints, position, rotation by
    columns."""
    n = len(robot.coordinates)
    at, joints = 0, []
    for leg in robot.legs:
        joints.append(np.array(y[at : at + len(leg.moving)]))
        at += len(leg.moving)
    p, R = np.array(y[n : n + 3]), np.array(y[n + 3 :]).reshape(3, 3).T
    return [*y[n:], *start_coordinates(robot, plan, joints, pose(p, R)), *[0.0] * sum(loop_states(plan).remembered)]


def loop_states(plan: RodPlan) -> LoopStates:
    """States of a plan, and what its loops are solved by."""
    return LoopStates(independent=plan.independent, bound=plan.bound, states=plan.states)


def rod_rates(layout: IndependentLayout, plan: RodPlan) -> Program:
    """The program; inputs and outputs as of `leg_rates`.

    Checked by: tests/bridges/test_fmu_catalogue.py, tests/equations/test_rods.py.
    """
    root, robot = Program("rates", factored=True), layout.robot
    n, count = len(plan.independent), len(plan.moving)
    tree = RodTree(LinkValues(root), robot, plan)
    rods = [(rod, rod_values(root, tree, rod)) for rod in plan.rods]
    x = root.input("state", (2 * n,))
    states = loop_states(plan)
    memory = root.input("memory", (12 + count + sum(states.remembered),))
    signals = root.input("signals", (layout.width,))

    def evaluated(b: Builder, y: SX) -> Evaluated:
        return _evaluated(b, tree, rods, y, x[n:], layout.at_node(signals))

    closing_passes(root, layout, x, _predicted(plan, memory, x[:n]), evaluated, sum(states.remembered))
    return root


def _predicted(plan: RodPlan, memory: SX, u: SX) -> SX:
    """Pose and coordinates, the states as given, the others predicted from the last call."""
    count, places = len(plan.moving), [column - 6 for column in plan.states]
    q = memory[12 : 12 + count]
    w = loop_states(plan).predicted(memory[12 + count :], u - q[places])
    y = ca.vertcat(moved_pose(memory[:12], w[:6], second=True), q + w[6:])
    for k, place in enumerate(places):
        y[12 + place] = u[k]
    return y


Ends = RodsOneByOne | RodsInLoops


def _evaluated(
    b: Builder, tree: RodTree, rods: Sequence[tuple[Rod, RodValues]], y: SX, ud: SX, signals: Mapping[str, SX]
) -> Evaluated:
    """One pass; see `Evaluated`."""
    plan, by, states = tree.plan, loop_states(tree.plan), list(tree.plan.states)
    at = tree.frames(y[:3], ca.reshape(y[3:12], 3, 3), [y[12 + k] for k in range(len(plan.moving))])
    ends: Ends = RodsInLoops(b, tree, rods, at) if have_same_joints(tree, rods) else RodsOneByOne(tree, rods, at)
    rows, residual, _ = _rows(tree, at, ends, None)
    X, missed = _solved(plan, rows, residual)
    slope = by.slope(X)
    delta, rates = by.held(slope, missed), by.rates(slope, ud)
    motion = tree.motion(at, rates)
    beta = by.bound_only(_solved(plan, rows, _rows(tree, at, ends, motion)[2])[1])
    M, h = _terms(tree, at, motion, rods, ends)
    h[:6] -= signals.get("wrench", 0)
    for k, column in enumerate(plan.driven):
        h[column] = h[column] - signals["force"][k]
    P, right = ends.projected(M, h, slope.N, beta)
    second = ca.densify(mul(slope.N, solve_symmetric(P, -right)) + beta)
    length = tree.values.scalar("characteristic_length")
    units = ca.vertcat(*[length] * 3, 1, 1, 1, *[length if plan.nodes[k].kind == "P" else 1 for k in plan.moving])
    largest = ca.norm_2(delta / units)
    step = delta * ca.fmin(1, LARGEST_STEP / ca.if_else(largest > 0, largest, 1))
    following = ca.vertcat(moved_pose(y[:12], step[:6]), y[12:] + step[6:])
    driven = list(plan.driven)
    q = ca.vertcat(*[y[12 + column - 6] for column in driven])
    result = ca.vertcat(q, rates[driven], following[:3], ca.vec(ca.reshape(following[3:12], 3, 3).T), rates[:6])
    return following, largest, [second[states], result, by.written(slope, second, ud), second[driven]]


def _solved(plan: RodPlan, rows: SX, right: SX) -> tuple[SX, SX]:
    """Bound columns by the independent ones (bound, v), and by the right side of rows w + right = 0."""
    kept = list(plan.kept)
    X = -solve_fronts(rows[kept, list(plan.bound)], ca.horzcat(rows[kept, list(plan.independent)], right[kept]))
    return X[:, : len(plan.independent)], X[:, len(plan.independent)]


def _rows(tree: RodTree, at: Frames, ends: Ends, motion: NodeMotion | None) -> tuple[SX, SX, SX]:
    """Rows (m, w) of rods and cut joints, residuals and, where there is a motion, second derivatives (m,)."""
    rows, residuals = ends.rows()
    drifts = [] if motion is None else ends.drifts(motion)
    for i, closing, near, far in tree.plan.cuts:
        name = closing.joint
        link, platform = (
            _half(tree, at, motion, node, tree.legs[i].vec(f"{name}.on_{side}.p"), tree.legs[i].rot(f"{name}.on_{side}.R"))
            for node, side in ((near, "link"), (far, "platform"))
        )
        both = set(tree.plan.path(near)) & set(tree.plan.path(far))  # moves both halves: no part of a row where it is closed
        (J_l, W_l), (J_p, W_p) = (tree.columns(at, node, half.p.expr, both) for node, half in ((near, link), (far, platform)))
        for row in closing_rows(tree.robot.legs[i], link, platform, closing):
            other = rotated_row(row, link.p - platform.p)
            own = mul(row.linear.expr.T, J_l) + mul(row.angular.expr.T, W_l)
            rows.append(own - mul(row.linear.expr.T, J_p) - mul(other.expr.T, W_p))
            residuals.append(row.r)
            drifts.append(row.rdd)
    return ca.vertcat(*rows), ca.vertcat(*residuals), ca.vertcat(*drifts)


def _half(tree: RodTree, at: Frames, motion: NodeMotion | None, node: int | None, p: SX, R: SX) -> FrameMotion:
    """A half of a cut joint; without a motion at rest."""
    still = Vec(ca.SX.zeros(3), "W")
    if node is None:
        return FrameMotion(R=Rot(ca.densify(R), "W", "H"), p=Vec(ca.densify(p), "W"), v=still, w=still, a=still, alpha=still)
    x, axes = tree.seats[node].point(p), ca.densify(mul(at.R[node], tree.seats[node].axes(R)))
    where = at.p[node] + ca.densify(mul(at.R[node], x))
    if motion is None:
        return FrameMotion(R=Rot(axes, "W", "H"), p=Vec(where, "W"), v=still, w=still, a=still, alpha=still)
    w, alpha = (ca.densify(mul(at.R[node], part)) for part in (motion.w[node], motion.alpha[node]))
    if (rotating := motion.rotating[node]) is not None:
        w, alpha, _ = rotating
    v, a = motion.velocity(at, node, x, tree.columns(at, node, where)[0]), motion.acceleration(at, node, x)
    moved = {name: Vec(x, "W") for name, x in {"p": where, "v": v, "w": w, "a": a, "alpha": alpha}.items()}
    return FrameMotion(R=Rot(axes, "W", "H"), **moved)


def _terms(tree: RodTree, at: Frames, motion: NodeMotion, rods: Sequence[tuple[Rod, RodValues]], ends: Ends) -> tuple[SX, SX]:
    """M (w, w) without the part of rods between their ends, and the forces (w,) that a motion needs."""
    masses: list[list[tuple[SX, SX]]] = [[] for _ in tree.plan.nodes]
    for rod, values in rods:
        masses[rod.near].append((values.m_UU, values.near))
        masses[rod.far].append((values.m_SS, values.far))
    bodies, (pulls, h) = tree.bodies(masses), ends.forces(motion)
    return tree.mass_matrix(at, bodies), tree.forces(at, motion, bodies, pulls) + h
