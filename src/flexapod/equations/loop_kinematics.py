r"""Kinematics of robots whose loops run through several legs: all loops closed together, by Newton's method.

With z all coordinates and u the independent ones, each pass solves the closing rows and what is wanted at once,

.. math:: \delta z = N\delta u + \beta,\qquad P = W N,\qquad P\,\delta u = e - W\beta

W: platform twist per rate of z; e: twist that leads to the wanted pose. Rates and accelerations follow from the same matrices.
Inputs and outputs are those of the programs that close the legs one by one (`inverse_kinematics`, `forward_kinematics`,
`jacobian`). Length and radian are weighed by the characteristic length where a pose has components that the robot cannot follow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.closing import LIMIT, NEWTON_STEP, at_coordinates, limited, moved
from flexapod.equations.elastodynamics.loops import all_coordinates, loop_rows, solve_loops
from flexapod.equations.elastodynamics.program_state import tree_motion
from flexapod.equations.forward_kinematics import check_iterations, departure, determinant
from flexapod.equations.inverse_kinematics import Detail, actuator_outputs, body_outputs, joint_outputs
from flexapod.equations.leg_kinematics import body_frame
from flexapod.equations.loop_closing import (
    NONE,
    Closed,
    by_twist,
    carried_start,
    closed_loops,
    dependent_components,
    dimensionless_twists,
    from_pose_columns,
    pose_gap,
    rates_from_twist,
    twist_from_bound,
    twist_scale,
)
from flexapod.equations.platform_inputs import guess_input, platform_motion_inputs, pose_inputs
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.elastic_plan import chosen_drives
from flexapod.robot.robot import Robot
from flexapod.spatial.gram_schmidt import GramSchmidt

if TYPE_CHECKING:
    from flexapod.kernels.tape.control_flow import Builder

MISSED = 1e-7
"""Distance from the wanted pose, of the characteristic length or in rad, beyond which the closed loops do not meet it."""
OUT_OF_POSE = "the closed loops miss this pose: the robot cannot reach it, or the guess is too far from it"
OUT_OF_REACH = "the loops cannot be closed at this pose: out of reach, singular, or too far from the guess"


def loop_inverse_kinematics(robot: Robot, detail: Detail = "actuators") -> Program:
    """The program; arguments, inputs and outputs as `inverse_kinematics` of robots with general legs.

    `constraint`: pose, twist and acceleration less those that the robot can take, in the components that follow from the others.
    A pose that is missed by more than `MISSED` is a failure.

    Checked by: tests/equations/test_loop_kinematics.py.
    """
    b = Program("inverse_kinematics")
    values, goal = Values(b), platform_motion_inputs(b)
    x, pose = _at_pose(b, values, robot, goal.p.expr, goal.R.expr)
    at = closed_loops(values, robot, x)
    twist, acceleration = ca.vertcat(goal.v.expr, goal.w.expr), ca.vertcat(goal.a.expr, goal.alpha.expr)
    first = from_pose_columns(robot, at, rates_from_twist(values, at, twist))
    moving = at_coordinates(robot, x, NONE, *_parts(robot, first))
    still = tree_motion(values, robot, moving)
    beta = solve_loops(robot.elastic_plan, at.rows, loop_rows(values, robot, still)[1])[1]
    rest = acceleration - ca.vertcat(still.platform.a.expr, still.platform.alpha.expr)
    second = from_pose_columns(robot, at, rates_from_twist(values, at, rest - twist_from_bound(robot, at, beta)), beta)
    n = len(robot.coordinates)
    joints = [x[:n], _parts(robot, first)[0], _parts(robot, second)[0]]
    actuator_outputs(b, robot, [column[list(robot.driven)] for column in joints], only_rates=detail == "rates")
    if detail == "joints":
        joint_outputs(b, joints)
    elif detail == "bodies":
        motion = tree_motion(values, robot, moving, second)
        links = [
            body_frame(values.of(f"legs.{leg.name}"), link, motion.links[i][k])
            for i, leg in enumerate(robot.legs)
            for k, link in enumerate(leg.links)
            if link.body is not None
        ]
        body_outputs(b, [motion.platform, *links])
    left = (pose, twist - ca.mtimes(at.W, first), rest - ca.mtimes(at.W, second))
    for name, error in zip(("constraint", "constraint_rate", "constraint_acceleration"), left, strict=True):
        _constraint(b, robot, name, error)
    return b


def loop_jacobian(robot: Robot, joints: bool = True) -> Program:
    r"""The program; inputs and outputs as `jacobian` of robots with general legs.

    .. math:: J = A P^+,\qquad G = 1 - P P^+

    G: rows of the components that follow from the others. `margin`, the same for all legs: how independent the columns of P are
    (`independence`), zero where the independent coordinates move and the platform is at rest.

    Args:
        joints: also `joint_position`.

    Checked by: tests/equations/test_loop_kinematics.py.
    """
    b = Program("jacobian")
    values = Values(b)
    p, R = pose_inputs(b)
    x, error = _at_pose(b, values, robot, p, R)
    at, count = closed_loops(values, robot, x), len(robot.legs)
    (J, G), q = by_twist(values, robot, at), x[: len(robot.coordinates)]
    b.output("jacobian", J, shape=J.shape, dims=("actuator", "twist"))
    if G.shape[0]:
        b.output("constraint_jacobian", G, shape=G.shape, dims=("constraint_row", "twist"))
    _constraint(b, robot, "constraint", error)
    margin = GramSchmidt(ca.horzsplit(dimensionless_twists(values, at.P))).smallest_pivot
    b.output("margin", ca.vertcat(*[margin] * count), shape=(count,), dims=("leg",))
    b.output("actuator_position", q[list(robot.driven)], shape=(len(robot.actuators),), dims=("actuator",))
    if joints:
        b.output("joint_position", q, shape=(q.numel(),), dims=("joint",))
    return b


def loop_forward_kinematics(robot: Robot, iterations: int = 60, joints: bool = True) -> Program:
    """The program; arguments, inputs and outputs as `forward_kinematics` of robots with general legs.

    `constraint` are all closing rows. Actuators are not compared within a
    rotation: screws and gears know full revolutions. Actuators that the loops tie to others have a `residual`.

    Checked by: tests/equations/test_loop_kinematics.py.
    """
    b = Program("forward_kinematics")
    check_iterations(iterations)
    values, plan, n = Values(b), robot.elastic_plan, len(robot.coordinates)
    target = b.input("actuator_position", (len(robot.actuators),), unit="m or rad")
    p = b.input("guess_position", (3,), unit="m", doc="guess of the platform frame origin")
    R = b.input("guess_rotation", (3, 3), doc="guess of world-from-platform")
    q = b.input("guess", (n,), unit="m or rad", doc="joint coordinates to start from")
    own, places = chosen_drives(robot)

    def step(y: SX, wanted: SX) -> tuple[SX, Closed]:
        at = closed_loops(values, robot, y)
        free = ca.SX.zeros(len(plan.independent))
        free[places] = (wanted - y[list(robot.driven)])[own]
        return all_coordinates(robot, free, ca.mtimes(at.X, free) + at.beta), at

    def iteration(_: Builder, y: SX, wanted: SX) -> tuple[list[SX], SX]:
        return limited(values, robot, y, step(y, wanted)[0], range(len(plan.columns)))

    start = carried_start(robot, q, p, R)
    (x,), converged, passes = b.iterate(iteration, start=[start], shared=[target], limit=iterations, tolerance=NEWTON_STEP)
    x = moved(robot, x, ca.if_else(converged, step(x, target)[0], 0), range(len(plan.columns)))
    (first, before), at = step(start, target), closed_loops(values, robot, x)
    frame, gap, rest = at.motion.platform, x[list(robot.driven)] - target, ca.vertcat(*at.residual)
    b.output("position", frame.p.expr, shape=(3,), unit="m")
    b.output("rotation", frame.R.expr, shape=(3, 3))
    b.output("joint_position", x[:n], shape=(n,), unit="m or rad", dims=("joint",))
    b.output("residual", gap, shape=(gap.numel(),), unit="m or rad", dims=("actuator",))
    if rest.numel():
        b.output("constraint", rest, shape=(rest.numel(),))
    b.output("converged", converged, shape=())
    b.output("passes", passes, shape=())
    rows = [ca.mtimes(ca.vertcat(*by_twist(values, robot, loops)), ca.diag(twist_scale(values))) for loops in (before, at)]
    b.output("determinant", ca.vertcat(*map(determinant, rows)), shape=(2,), doc="at the guess and at the result")
    start, end = [ca.vertcat(loops.motion.platform.p.expr, ca.vec(loops.motion.platform.R.expr)) for loops in (before, at)]
    way = departure(start, end, twist_scale(values), dimensionless_twists(values, ca.mtimes(before.W, first)))
    b.output("departure", way, shape=(), doc="way from the guess less the first Newton step, relative to that step")
    return b


def _at_pose(b: Program, values: Values, robot: Robot, p: SX, R: SX) -> tuple[SX, SX]:
    """Coordinates at a pose, from the input `guess`, and the residual of the pose (6,)."""
    q = guess_input(b, robot, needed=True)
    assert q is not None
    columns = range(len(robot.elastic_plan.columns))

    def step(y: SX, goal: SX) -> SX:
        at = closed_loops(values, robot, y)
        error = pose_gap(at.motion, goal) - twist_from_bound(robot, at, at.beta)
        return from_pose_columns(robot, at, rates_from_twist(values, at, error), at.beta)

    def iteration(_: Builder, y: SX, goal: SX) -> tuple[list[SX], SX]:
        return limited(values, robot, y, step(y, goal), columns)

    wanted = ca.vertcat(p, ca.vec(R))
    start = carried_start(robot, q, p, R)
    (x,), converged, _ = b.iterate(iteration, start=[start], shared=[wanted], limit=LIMIT, tolerance=NEWTON_STEP)
    b.fail_if(1 - converged, OUT_OF_REACH)
    x = moved(robot, x, step(x, wanted), columns)
    gap = pose_gap(tree_motion(values, robot, at_coordinates(robot, x, NONE)), wanted)
    b.fail_if(ca.logic_not(ca.mmax(ca.fabs(dimensionless_twists(values, gap))) <= MISSED), OUT_OF_POSE)
    return x, gap


def _parts(robot: Robot, z: SX) -> tuple[SX, SX | None]:
    """Joints, and the platform's twist unless a link is the platform."""
    return z[z.numel() - len(robot.coordinates) :], z[:6] if robot.elastic_plan.carrier is None else None


def _constraint(b: Program, robot: Robot, name: str, error: SX) -> None:
    """Output of the residual in the components that follow from the others."""
    kept = dependent_components(robot)
    if kept:
        doc = "must vanish for a motion the robot can follow"
        b.output(name, error[kept], shape=(len(kept),), dims=("constraint_row",), doc=doc)
