r"""Rates of robots whose rigid legs have loops inside or between them, as a program: independent coordinates u and u' in.

.. math:: N^TM_zN\,\ddot v = N^T(S^T\Gamma - h - M_z\beta),\qquad \ddot z = N\ddot v + \beta

One pass closes the loops and evaluates everything from the same rows and their one elimination: Newton's step, N and beta,
accelerations. The loops are predicted from the last call (`loop_states`), and the first pass is the last one wherever its step
is below `SMALL`; further passes follow where the prediction is worse. v are the states u, or components of the platform's twist
where legs close by the platform's motion alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.closing import LARGEST_STEP, LIMIT, NEWTON_STEP, at_coordinates, units
from flexapod.equations.elastodynamics.link_assembly import tree_terms
from flexapod.equations.elastodynamics.loops import loop_rows, solve_loops
from flexapod.equations.elastodynamics.program_state import RobotAt, tree_motion
from flexapod.equations.elastodynamics.projection import projected_force, projected_mass
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.elastic_plan import TWIST, ElasticPlan, driven_columns, elastic_plan
from flexapod.robot.leg_positions import follows_platform
from flexapod.simulation.system.leg_terms import margin_output
from flexapod.simulation.system.loop_states import LoopStates, moved_pose
from flexapod.spatial.linear import solve_symmetric

if TYPE_CHECKING:
    from collections.abc import Callable

    from flexapod.kernels.tape.control_flow import Builder
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.independent import IndependentLayout
    from flexapod.simulation.system.layout import Layout

SMALL = 1e-11
"""Newton's step [rad, or times the characteristic length] below which what was evaluated before it holds after it too."""


def solving_plan(robot: Robot) -> ElasticPlan:
    """Plan by which the loops are solved: by components of the platform's twist where these close every leg by itself, else by
    the states."""
    plan = robot.elastic_plan
    if plan.carrier is not None or not follows_platform(robot.legs):
        return plan
    twist = [TWIST[k] for k in robot.plan.platform_independent]
    by = elastic_plan(robot, solved=[name for name in plan.columns if name not in twist])
    decided = len(by.independent) == len(plan.independent) == len(twist) and max(by.independent) < len(TWIST)
    return by if decided else plan


def loop_states(robot: Robot, by: ElasticPlan) -> LoopStates:
    """The states of a robot and the plan by which its loops are solved."""
    return LoopStates(independent=by.independent, bound=by.bound, states=robot.elastic_plan.independent)


def memory_start(robot: Robot, y: list[float]) -> list[float]:
    """Memory before the first call: coordinates, and nothing known of their slope."""
    return [*y, *[0.0] * sum(loop_states(robot, solving_plan(robot)).remembered)]


def leg_rates(layout: IndependentLayout) -> Program:
    """The program: `state` (u, u'), `memory` and `signals` in; `derivative`, `result` (q, q', p, R by rows, v, w, q''), `closed`
    (memory of the next call), `settled`, `margin` out.

    Checked by: tests/bridges/test_fmu_catalogue.py.
    """
    root, robot = Program("rates", factored=True), layout.robot
    n, by = len(robot.elastic_plan.independent), solving_plan(robot)
    remembered, size = sum(loop_states(robot, by).remembered), len(robot.coordinates)
    size += 12 if robot.elastic_plan.carrier is None else 0
    x = root.input("state", (2 * n,))
    memory = root.input("memory", (size + remembered,))
    signals = root.input("signals", (layout.width,))

    def evaluated(_: Builder, y: SX) -> Evaluated:
        return _evaluated(root, layout, by, y, x[n:], layout.at_node(signals))

    closing_passes(root, layout, x, _predicted(robot, by, memory[:size], memory[size:], x[:n]), evaluated, remembered)
    return root


Evaluated = tuple[SX, SX, list[SX]]
"""Coordinates after a step of Newton's method, its size, and what was found before it: u'', results, memory, drives' q''."""


def closing_passes(
    root: Program, layout: Layout, x: SX, start: SX, evaluated: Callable[[Builder, SX], Evaluated], remembered: int
) -> None:
    """Passes from a start until Newton's step is small, and the outputs of the program from the last one."""
    n, actuators = x.numel() // 2, len(layout.robot.actuators)

    def pass_(b: Builder, y: SX, before: SX, *_: SX) -> tuple[list[SX], SX]:
        following, largest, found = evaluated(b, y)
        return [following, largest, *found], ca.if_else(before <= NEWTON_STEP, 0, largest)

    none = [ca.SX.zeros(size) for size in (n, 2 * actuators + 18, remembered, actuators)]
    found, converged, _ = root.iterate(pass_, start=[start, ca.SX(1e300), *none], limit=LIMIT, tolerance=SMALL)
    y, _, a, result, slopes, driven = found
    root.fail_if(1 - converged, "the loops cannot be closed from here: out of reach or singular")
    root.fail_if(ca.logic_not(ca.dot(a, a) < 1e200), "the acceleration is not finite: a loop is singular")
    root.output("derivative", ca.vertcat(x[n:], a))
    root.output("result", ca.vertcat(result, driven))
    root.output("closed", ca.vertcat(y, slopes))
    root.output("settled", x)
    margin_output(root, layout, result[:actuators])


def _predicted(robot: Robot, by: ElasticPlan, y: SX, memory: SX, u: SX) -> SX:
    """All coordinates, the independent ones as given, the bound ones predicted from the last call."""
    plan, n = robot.elastic_plan, len(robot.coordinates)
    at = len(plan.columns) - n
    was = [y[c - at] if c >= at else y[n + c] for c in plan.independent]
    z = loop_states(robot, by).predicted(memory, u - ca.vertcat(*was))
    parts = ca.vertsplit(_moved(robot, y, z, second=True))
    for k, column in enumerate(plan.independent):
        parts[column - at if column >= at else n + column] = u[k]
    return ca.vertcat(*parts)


def _moved(robot: Robot, y: SX, z: SX, second: bool = False) -> SX:
    """Coordinates, position and rotation after a step of all columns."""
    n = len(robot.coordinates)
    pose = moved_pose(y[n:], z[:6], second) if y.numel() > n else ca.SX(0, 1)
    return ca.vertcat(y[:n] + z[z.numel() - n :], pose)


def _evaluated(
    root: Program, layout: IndependentLayout, by: ElasticPlan, y: SX, ud: SX, signals: dict[str, SX]
) -> tuple[SX, SX, list[SX]]:
    """Coordinates after one step of Newton's method on the loops, its size (no less than its largest entry), and accelerations,
    results and slopes before it."""
    robot, none, values = layout.robot, ca.SX.zeros(0), Values(root)
    plan, n, states = robot.elastic_plan, len(robot.coordinates), loop_states(layout.robot, by)
    rows, _, residual = loop_rows(values, robot, tree_motion(values, robot, at_coordinates(robot, y, none)))
    X, missed = solve_loops(by, rows, residual)
    slope = states.slope(X)
    delta, rates = states.held(slope, missed), states.rates(slope, ud)
    bound = list(plan.bound)
    largest = ca.norm_2(delta[bound] / units(robot, values.scalar("characteristic_length"), bound))
    following = _moved(robot, y, delta * ca.fmin(1, LARGEST_STEP / ca.if_else(largest > 0, largest, 1)))
    first, own = len(plan.columns) - n, plan.carrier is None
    state = at_coordinates(robot, y, none, rates[first:], rates[:6] if own else None)
    motion = tree_motion(values, robot, state)
    at = RobotAt(b=root, values=values, robot=robot, state=state)
    beta = solve_loops(by, rows, loop_rows(values, robot, motion)[1])[1]
    M_z, h, _ = tree_terms(at, motion, friction=layout.sliding, wrench=signals.get("wrench"))
    driven = driven_columns(robot)
    for k, column in enumerate(driven):
        h[column] = h[column] - signals["force"][k]
    places = list(by.independent), list(by.bound)
    v = solve_symmetric(projected_mass(M_z, X, *places), -projected_force(M_z, h, X, beta, *places))
    second = ca.densify(ca.mtimes(slope.N, v) + states.bound_only(beta))
    q, qd = (ca.vertcat(*[each for leg in part for each in leg])[list(robot.driven)] for part in (state.q, state.qd))
    frame = motion.platform
    p, R = (following[n : n + 3], ca.reshape(following[n + 3 :], 3, 3)) if own else (frame.p.expr, frame.R.expr)
    result = ca.vertcat(q, qd, p, ca.vec(R.T), frame.v.expr, frame.w.expr)
    a = second[list(plan.independent)]
    return following, largest, [a, result, states.written(slope, second, ud), second[driven]]
