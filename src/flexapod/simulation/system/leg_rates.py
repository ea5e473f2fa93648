r"""Rates of robots whose rigid legs have loops inside or between them, as a program: independent coordinates u and u' in.

.. math:: M\ddot u = S^T\Gamma - c,\qquad M = N^TM_zN,\qquad N = \begin{pmatrix}1\\X\end{pmatrix}

One pass closes the loops and evaluates everything from the same rows and their one elimination: Newton's step, X and beta of the
bound coordinates, accelerations. Memory has the coordinates of the last call with X, beta and u' there, so that the loops are
predicted to second order,

.. math:: z_b \leftarrow z_b + X\,\delta u + \tfrac12\tau^2\beta,\qquad \tau = \delta u\cdot\dot u/\dot u\cdot\dot u

and the first pass is the last one wherever its step is below `SMALL`. Further passes follow where the prediction is worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import casadi as ca

from flexapod.equations.elastodynamics.closing import LARGEST_STEP, LIMIT, NEWTON_STEP, at_coordinates, moved, units
from flexapod.equations.elastodynamics.elastic_state import RobotAt, tree_motion
from flexapod.equations.elastodynamics.link_assembly import tree_terms
from flexapod.equations.elastodynamics.loops import loop_rows, solve_loops, whole
from flexapod.equations.elastodynamics.projection import projected_force, projected_mass
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.elastic_plan import driven_columns
from flexapod.simulation.system.independent import spread
from flexapod.simulation.system.leg_terms import margin_output, placed
from flexapod.spatial.linear import solve_symmetric

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.kernels.tape.control_flow import Builder
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.independent import IndependentLayout

SMALL = 1e-11
"""Newton's step [rad, or times the characteristic length] below which what was evaluated before it holds after it too."""


@dataclass(frozen=True, kw_only=True)
class _Memory:
    """Coordinates y of the last call, slope X and drift beta of the bound ones, rates u' there."""

    y: Any
    X: Any
    beta: Any
    rates: Any

    @staticmethod
    def sizes(robot: Robot) -> list[int]:
        plan, pose = robot.elastic_plan, 12 if robot.elastic_plan.carrier is None else 0
        n, bound = len(plan.independent), len(plan.bound)
        return [len(robot.coordinates) + pose, bound * n, bound, n]

    @staticmethod
    def read(robot: Robot, column: SX) -> _Memory:
        ends = [sum(_Memory.sizes(robot)[:k]) for k in range(5)]
        y, X, beta, rates = (column[a:b] for a, b in pairwise(ends))
        return _Memory(y=y, X=ca.reshape(X, beta.numel(), rates.numel()), beta=beta, rates=rates)

    @property
    def written(self) -> Any:
        return ca.vertcat(self.y, ca.vec(ca.densify(self.X)), ca.densify(self.beta), self.rates)


def memory_start(robot: Robot, y: list[float]) -> list[float]:
    """Memory before the first call: coordinates, and nothing known of their slope."""
    return [*y, *[0.0] * sum(_Memory.sizes(robot)[1:])]


def leg_rates(layout: IndependentLayout) -> Program:
    """The program: `state` (u, u'), `memory` and `signals` in; `derivative`, `result` (q, q', p, R by rows, v, w, q''), `closed`
    (memory of the next call), `settled`, `margin` out.

    Checked by: tests/bridges/test_fmu_catalogue.py.
    """
    root, robot = Program("rates", factored=True), layout.robot
    values, n = Values(root), len(robot.elastic_plan.independent)
    x = root.input("state", (2 * n,))
    memory = root.input("memory", (sum(_Memory.sizes(robot)),))
    signals = root.input("signals", (layout.width,))

    def pass_(_: Builder, y: SX, before: SX, *__: SX) -> tuple[list[Any], Any]:
        following, largest, found = _evaluated(root, values, layout, y, x[n:], layout.at_node(signals))
        return [following, largest, *found], ca.if_else(before <= NEWTON_STEP, 0, largest)

    start = _predicted(robot, _Memory.read(robot, memory), x[:n])
    none = [ca.SX.zeros(size) for size in (n, 2 * len(robot.actuators) + 18, sum(_Memory.sizes(robot)[1:]), len(robot.actuators))]
    found, converged, _ = root.iterate(pass_, start=[start, ca.SX(1e300), *none], limit=LIMIT, tolerance=SMALL)
    y, _, a, result, slopes, driven = found
    root.fail_if(1 - converged, "the loops cannot be closed from here: out of reach or singular")
    root.fail_if(ca.logic_not(ca.dot(a, a) < 1e200), "the acceleration is no finite number: a loop is singular")
    root.output("derivative", ca.vertcat(x[n:], a))
    root.output("result", ca.vertcat(result, driven))
    root.output("closed", ca.vertcat(y, slopes))
    root.output("settled", x)
    margin_output(root, layout, result[: len(robot.actuators)])
    return root


def _predicted(robot: Robot, last: _Memory, u: SX) -> Any:
    """All coordinates, the independent ones as given, the bound ones to second order from the last call."""
    plan, n = robot.elastic_plan, len(robot.coordinates)
    at = len(plan.columns) - n
    was = [last.y[c - at] if c >= at else last.y[n + c] for c in plan.independent]
    step = u - ca.vertcat(*was)
    square = ca.dot(last.rates, last.rates)
    tau = ca.dot(step, last.rates) / ca.if_else(square > 0, square, 1)
    z = whole(robot, step, ca.mtimes(last.X, step) + (tau * tau / 2) * last.beta)
    return placed(robot, moved(robot, last.y, z, range(z.numel())), u)[0]


def _evaluated(
    root: Program, values: Values, layout: IndependentLayout, y: SX, ud: SX, signals: dict[str, SX]
) -> tuple[Any, Any, list[Any]]:
    """Coordinates after one step of Newton's method on the loops, its size (no less than its largest entry), and accelerations,
    results and slopes before it."""
    robot, none = layout.robot, ca.SX.zeros(0)
    plan, n = robot.elastic_plan, len(robot.coordinates)
    free, bound = list(plan.independent), list(plan.bound)
    rows, _, residual = loop_rows(values, robot, tree_motion(values, robot, at_coordinates(robot, y, none)))
    X, delta = solve_loops(plan, rows, residual)
    largest = ca.norm_2(delta / units(robot, values.scalar("characteristic_length"), bound))
    following = moved(robot, y, delta * ca.fmin(1, LARGEST_STEP / ca.if_else(largest > 0, largest, 1)), bound)
    state = at_coordinates(robot, y, none, *spread(robot, X, ud))
    motion = tree_motion(values, robot, state)
    at = RobotAt(b=root, values=values, robot=robot, state=state)
    beta = solve_loops(plan, rows, loop_rows(values, robot, motion)[1])[1]
    M_z, h, _ = tree_terms(at, motion, friction=layout.sliding, wrench=signals.get("wrench"))
    for k, column in enumerate(driven_columns(robot)):
        h[column] = h[column] - signals["force"][k]
    a = solve_symmetric(projected_mass(M_z, X, free, bound), -projected_force(M_z, h, X, beta, free, bound))
    second = whole(robot, a, ca.mtimes(X, a) + beta)
    q, qd = (ca.vertcat(*[each for leg in part for each in leg])[list(robot.driven)] for part in (state.q, state.qd))
    frame, own = motion.platform, plan.carrier is None
    p, R = (following[n : n + 3], ca.reshape(following[n + 3 :], 3, 3)) if own else (frame.p.expr, frame.R.expr)
    result = ca.vertcat(q, qd, p, ca.vec(R.T), frame.v.expr, frame.w.expr)
    slopes = ca.vertcat(ca.vec(ca.densify(X)), ca.densify(beta), ud)
    return following, largest, [a, result, slopes, second[driven_columns(robot)]]
