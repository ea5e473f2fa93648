r"""Motion of a point of any body of a robot with flexible legs, and its derivatives by the independent coordinates.

.. math:: V = J\dot u,\qquad \dot V = J\ddot u + b
"""

from __future__ import annotations

import casadi as ca

from flexapod.equations.chain import chain_columns
from flexapod.equations.elastodynamics.loops import loop_rows, solve_loops
from flexapod.equations.elastodynamics.program_state import TreeMotion, platform_columns, read_state, tree_motion
from flexapod.equations.inverse_kinematics import body_outputs
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec


def elastic_point(robot: Robot, leg: str = "", link: int = -1) -> Program:
    """The program: a state and `point` (3,) in axes of a link frame in; pose, twist, `jacobian` (6, n) and `drift` (6,) out.

    Args:
        leg, link: whose point; the platform's where `leg` is empty (`point` in platform axes).

    Checked by: tests/equations/test_elastodynamics.py.
    """
    b = Program("elastic_point")
    values, plan = Values(b), robot.elastic_plan
    state = read_state(b, robot)
    place = b.input("point", (3,), unit="m", doc="in axes of the body's frame")
    still = tree_motion(values, robot, state)
    rows, drifts, _ = loop_rows(values, robot, still)
    X, drift = solve_loops(plan, rows, drifts)
    beta = ca.SX(len(plan.columns), 1)
    beta[list(plan.bound)] = drift
    motion = tree_motion(values, robot, state, ca.densify(beta))
    frame = _frame(robot, motion, leg, link)
    point = frame.point(Vec(place, frame.R.from_))
    J = ca.SX(6, len(plan.columns))
    for k, (v, w) in _columns(robot, motion, leg, link, point.p).items():
        J[:3, k], J[3:, k] = v.expr, w.expr
    whole = J[:, list(plan.independent)] + ca.mtimes(J[:, list(plan.bound)], X)
    b.output("point_position", point.p.expr, shape=(3,), unit="m", dims=("axis",))
    b.output("point_rotation", frame.R.expr, shape=(3, 3), dims=("axis", "body_axis"))
    b.output("point_velocity", point.v.expr, shape=(3,), unit="m/s", dims=("axis",))
    b.output("point_angular_velocity", frame.w.expr, shape=(3,), unit="rad/s", dims=("axis",))
    b.output("jacobian", ca.densify(whole), shape=(6, len(plan.independent)), dims=("component", "independent"))
    b.output("drift", ca.vertcat(point.a.expr, frame.alpha.expr), shape=(6,), dims=("component",))
    return b


def elastic_bodies(robot: Robot) -> Program:
    """The program: a state and `coordinate_acceleration` (z,) in; motion of the frames that carry bodies out, in the order of
    ``robot.bodies_by_name``: the platform's, then of every link with a body.

    Checked by: tests/analysis/test_flexible_legs.py.
    """
    b = Program("elastic_bodies")
    values, state = Values(b), read_state(b, robot)
    zdd = b.input("coordinate_acceleration", (len(robot.elastic_plan.columns),), doc="of all coordinates")
    motion = tree_motion(values, robot, state, zdd)
    links = [motion.links[i][k] for i, leg in enumerate(robot.legs) for k, link in enumerate(leg.links) if link.body is not None]
    body_outputs(b, [motion.platform, *links])
    return b


def _frame(robot: Robot, motion: TreeMotion, leg: str, link: int) -> FrameMotion:
    if not leg:
        return motion.platform
    i = [other.name for other in robot.legs].index(leg)
    frame = motion.links[i][link]
    return FrameMotion(R=frame.R.renamed("W", "B"), p=frame.p, v=frame.v, w=frame.w, a=frame.a, alpha=frame.alpha)


def _columns(robot: Robot, motion: TreeMotion, leg: str, link: int, point: Vec) -> dict[int, tuple[Vec, Vec]]:
    plan = robot.elastic_plan
    if not leg:
        return platform_columns(robot, plan, motion, point)
    i = [other.name for other in robot.legs].index(leg)
    return {plan.first[i] + k: twist for k, twist in chain_columns(robot.legs[i], motion.poses[i], link, point).items()}
