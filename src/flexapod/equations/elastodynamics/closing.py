r"""Positions and rates of all coordinates from the independent ones: Newton on all loops together.

.. math:: z_b \leftarrow z_b - (\text{solution of } A\,\delta z + r = 0,\ \delta u = 0),\qquad \dot z = N\dot u

The same elimination as in the equation of motion; steps are limited so that the assembly mode is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.loops import loop_rows, solve_loops
from flexapod.equations.elastodynamics.program_state import ElasticState, by_leg, platform_modes, tree_motion
from flexapod.equations.values import Values
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot

NEWTON_STEP = 1e-9
"""Largest last step [rad, or times the characteristic length] at which Newton stops; one more squares it, below rounding."""

LARGEST_STEP = 0.4
"""Steps are held below this [rad, or times the characteristic length]: the assembly mode is followed, not jumped."""

LIMIT = 40


def elastic_closing(robot: Robot) -> Program:
    """The program: `joint_position` (independent entries as wanted, others to start from), pose to start from unless a link is
    the platform, `modes`, `independent_velocity` in; `closed_position`, `closed_velocity` of all joints, platform pose and
    twist out.

    Source: Briot 2014 Eqs. (28)-(40). Checked by: tests/equations/test_elastodynamics.py.
    """
    b = Program("elastic_closing")
    plan, values, n = robot.elastic_plan, Values(b), len(robot.coordinates)
    q = b.input("joint_position", (n,), unit="m or rad", doc="independent ones as wanted, others to start from")
    ud = b.input("independent_velocity", (len(plan.independent),), doc="rates in the order of robot.independent")
    N = platform_modes(robot)
    e = b.input("modes", (N,)) if N else ca.SX.zeros(0)
    p: SX = ca.SX.zeros(0)
    R: SX = ca.SX.zeros(0)
    if plan.carrier is None:
        p = b.input("position", (3,), unit="m", doc="platform frame origin to start from")
        R = ca.vec(b.input("rotation", (3, 3), doc="world-from-platform to start from"))

    def iteration(_: Builder, x: SX, modes: SX) -> tuple[list[SX], SX]:
        return newton_step(values, robot, x, modes)

    start = ca.vertcat(q, p, R)
    if plan.bound:
        (x,), converged, _ = b.iterate(iteration, start=[start], shared=[e], limit=LIMIT, tolerance=NEWTON_STEP)
        b.fail_if(1 - converged, "the loops cannot be closed from here: out of reach, singular, or too far from the start")
        x = moved(robot, x, _step(values, robot, x, e), plan.bound)
    else:
        x = start
    _outputs(b, values, robot, x, e, ud)
    return b


def newton_step(values: Values, robot: Robot, x: SX, modes: SX) -> tuple[list[SX], SX]:
    """All coordinates after one pass of Newton's method on the loops, held below `LARGEST_STEP`, and the largest step."""
    step = _step(values, robot, x, modes)
    return limited(values, robot, x, step, robot.elastic_plan.bound)


def limited(values: Values, robot: Robot, x: SX, step: SX, columns: Sequence[int]) -> tuple[list[SX], SX]:
    """The carried numbers after a step of some columns of z, held below `LARGEST_STEP`, and the step's largest entry."""
    largest = ca.mmax(ca.fabs(step / units(robot, values.scalar("characteristic_length"), columns)))
    return [moved(robot, x, step * ca.fmin(1, LARGEST_STEP / ca.fmax(largest, 1e-300)), columns)], largest


def _step(values: Values, robot: Robot, x: SX, modes: SX) -> SX:
    """Step of the bound coordinates."""
    rows, _, residuals = loop_rows(values, robot, tree_motion(values, robot, at_coordinates(robot, x, modes)))
    return solve_loops(robot.elastic_plan, rows, residuals)[1]


def at_coordinates(
    robot: Robot, x: SX, modes: SX, qd: SX | None = None, twist: SX | None = None, modes_rate: SX | None = None
) -> ElasticState:
    """A state from the carried numbers: joints, position, rotation by columns."""
    n = len(robot.coordinates)
    rates = ca.SX.zeros(n) if qd is None else qd
    own = robot.elastic_plan.carrier is None
    still = ca.SX.zeros(6) if twist is None else twist
    return ElasticState(
        q=by_leg(robot, x[:n]), qd=by_leg(robot, rates), e=modes,
        ed=ca.SX.zeros(modes.numel()) if modes_rate is None else modes_rate,
        p=x[n : n + 3] if own else None, R=ca.reshape(x[n + 3 :], 3, 3) if own else None,
        v=still[:3] if own else None, w=still[3:] if own else None,
    )  # fmt: skip


def units(robot: Robot, length: SX, columns: Sequence[int]) -> SX:
    """Scales that make some columns of z dimensionless."""
    plan = robot.elastic_plan
    at = len(plan.columns) - len(robot.coordinates)
    kinds = [leg.links[i].kind for leg in robot.legs for i in leg.moving]
    linear = [k < 3 if k < at else kinds[k - at] == "P" for k in columns]
    return ca.vertcat(*[length if is_linear else 1 for is_linear in linear])


def moved(robot: Robot, x: SX, step: SX, columns: Sequence[int]) -> SX:
    """The carried numbers after a step of some columns of z; modes are not carried."""
    plan, n = robot.elastic_plan, len(robot.coordinates)
    at = len(plan.columns) - n
    parts, twist = [x[k] for k in range(n)], [ca.SX(0)] * 6
    for k, column in enumerate(columns):
        if column >= at:
            parts[column - at] = parts[column - at] + step[k]
        elif column < 6 and plan.carrier is None:
            twist[column] = step[k]
    if plan.carrier is not None:
        return ca.vertcat(*parts)
    p, R = x[n : n + 3] + ca.vertcat(*twist[:3]), ca.mtimes(_rotation(ca.vertcat(*twist[3:])), ca.reshape(x[n + 3 :], 3, 3))
    return ca.vertcat(*parts, p, ca.vec(R))


def _rotation(v: SX) -> SX:
    """Rotation by Rodrigues' vector v/2 (Cayley): orthogonal whatever v is, equal to exp(v) to second order."""
    half = v / 2
    s = ca.skew(half)
    return ca.SX.eye(3) + (2 / (1 + ca.dot(half, half))) * (s + ca.mtimes(s, s))


def _outputs(b: Program, values: Values, robot: Robot, x: SX, e: SX, ud: SX) -> None:
    """Closed coordinates, their rates, pose and twist of the platform."""
    plan, n = robot.elastic_plan, len(robot.coordinates)
    at = len(plan.columns) - n
    motion = tree_motion(values, robot, at_coordinates(robot, x, e))
    rows, drifts, _ = loop_rows(values, robot, motion)
    X, _ = solve_loops(plan, rows, drifts)
    zd = ca.SX(len(plan.columns), 1)
    zd[list(plan.independent)] = ud
    zd[list(plan.bound)] = ca.mtimes(X, ud)
    zd = ca.densify(zd)
    moving = tree_motion(values, robot, at_coordinates(robot, x, e, zd[at:], zd[:6] if plan.carrier is None else None))
    b.output("closed_position", x[:n], shape=(n,), unit="m or rad", dims=("joint",))
    b.output("closed_velocity", zd[at:], shape=(n,), unit="m/s or rad/s", dims=("joint",))
    frame = moving.platform
    b.output("platform_position", frame.p.expr, shape=(3,), unit="m", dims=("axis",))
    b.output("platform_rotation", frame.R.expr, shape=(3, 3), dims=("axis", "platform_axis"))
    b.output("platform_velocity", frame.v.expr, shape=(3,), unit="m/s", dims=("axis",))
    b.output("platform_angular_velocity", frame.w.expr, shape=(3,), unit="rad/s", dims=("axis",))
