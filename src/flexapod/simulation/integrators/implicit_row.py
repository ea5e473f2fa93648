r"""One row of a simulation by an implicit method: the robot as a system of second order for `implicit_step`.

x: position, Cayley's vector, elastic coordinates; v: velocity, angular velocity (world axes), elastic rates; z: what is
integrated beside. The tangent holds the mass matrix, the elastic matrices and the gains of the actuators,

.. math:: K = K_{ee} + B\,k_p B^T,\qquad D = D_{ee} + B\,k_d B^T,\qquad \dot q = B^T (v, \omega, \dot e)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from flexapod.equations.flexible_platform.generalized_newton_euler import symmetric_matrix
from flexapod.equations.values import Values
from flexapod.kernels.tape.control_flow import Builder
from flexapod.simulation.integrators.collocation import METHODS
from flexapod.simulation.integrators.implicit import Evaluation, SecondOrder, implicit_step
from flexapod.simulation.system.attitude import theta_rate
from flexapod.simulation.system.flexible_plant import equation_at, generalized_load, in_platform, in_world
from flexapod.simulation.system.layout import MOTION
from flexapod.simulation.system.load_friction import loaded_acceleration
from flexapod.simulation.system.plant import model_equation
from flexapod.simulation.system.right_hand_side import Situation, accelerometer_signals, rates_of, situation
from flexapod.simulation.system.scope import Scope

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.kernels.tape.program import Program
    from flexapod.simulation.system.layout import Layout


def implicit_row(root: Program, b: Builder, layout: Layout, parts: dict[str, SX], h: SX, table: SX) -> tuple[SX, SX, SX, SX]:
    """Increments after a step, status, and forces and acceleration at its start.

    Args:
        b: builder of the enclosing body.
        table: (width, stages + 2) signals at the start, the stages and the end.

    Checked by: tests/simulation/test_implicit_steps.py.
    """
    method, N = METHODS[layout.method], layout.elastic
    outer = Scope(root, b)
    scope, now = situation(outer, layout, parts, ca.SX.zeros(layout.increments), table[:, 0])
    begin = rates_of(scope, layout, now, ca.SX.zeros(layout.increments))
    M, D, K = _tangent(scope, layout, now)
    beside = [name for name in layout.extra if name not in ("e", "ed")]

    def evaluate(inner: Builder, x: SX, v: SX, a: SX, z: SX, column: SX) -> Evaluation:
        y = increments(x, v, z)
        own, at = situation(Scope(root, inner), layout, parts, y, column)
        rate = ca.vertcat(at.moment.v, theta_rate(y[3:6], at.moment.w), *([at.moment.elastic[1]] if N else []))
        felt = {"integral": at.beside["integral"] + accelerometer_signals(layout, at.signals, a[6:])} if layout.feels else {}
        residual, lost = _residual(own, layout, at, a)
        rates = ca.vertcat(*[(at.beside | felt | lost)[name] for name in beside])
        return Evaluation(residual=residual, rate=rate, beside=rates, code=own.code)

    system = SecondOrder(
        evaluate=evaluate, velocity=ca.vertcat(parts["v"], parts["w"], *([parts["ed"]] if N else [])),
        acceleration=begin.acceleration, mass=M, damping=D, stiffness=K, beside=layout.increments - MOTION - 2 * N,
    )  # fmt: skip
    columns = table[:, 1:-1] if layout.width else ca.SX(0, method.stages)
    step = implicit_step(root, b, method, system, h, columns)
    code = ca.if_else(scope.code != 0, scope.code, step.code)
    return increments(step.x, step.v, step.z), code, begin.force, begin.acceleration


def increments(x: SX, v: SX, z: SX) -> SX:
    """Increments in the order of a layout."""
    return ca.vertcat(x[:6], v[:6], x[6:], v[6:], z)


def _residual(scope: Scope, layout: Layout, now: Situation, a: SX) -> tuple[SX, dict[str, SX]]:
    """M a - f (6 + N,), world axes, and the power lost to friction by joint loads where there is some: f is then that of the
    acceleration with it, which passes of Newton's method take as it was."""
    robot, moment = layout.robot, now.moment
    if not layout.elastic:
        state = model_equation(scope, robot, moment)
        if layout.friction == "load":
            sliding = loaded_acceleration(scope, robot, moment, now.force, now.wrench)
            return ca.mtimes(state.A, a - sliding.acceleration), {"dissipated": sliding.heat}
        load = ca.SX.zeros(6) if now.wrench is None else now.wrench
        return ca.mtimes(state.A, a) + state.c - ca.mtimes(state.jacobian.T, now.force) - load, {}
    q = equation_at(scope, robot, moment)
    local = ca.vertcat(in_platform(moment.R, a), a[6:])
    total = ca.mtimes(q.body.M, local) + q.body.c - generalized_load(moment, now.wrench)
    for k, leg in enumerate(q.legs):
        demand = ca.mtimes(leg.inertia, ca.mtimes(leg.Y, local)) + leg.bias - leg.direction * now.force[k]
        total = total + ca.mtimes(leg.Y.T, demand)
    return in_world(moment.R, total), {}


def _tangent(scope: Scope, layout: Layout, now: Situation) -> tuple[SX, SX, SX]:
    """M, D, K (6 + N, 6 + N) at the start of a step, world axes."""
    robot, N = layout.robot, layout.elastic
    D, K = ca.SX.zeros(6 + N, 6 + N), ca.SX.zeros(6 + N, 6 + N)
    if N:
        q, R, (shape, _) = equation_at(scope, robot, now.moment), now.moment.R, robot.flexible_shape
        B = in_world(R, q.B)
        M = in_world(R, in_world(R, q.M).T)
        platform = Values(scope).of("platform")
        D[6:, 6:], K[6:, 6:] = (symmetric_matrix(platform, f"flex.{name}", N, shape.normal) for name in "DK")
    else:
        state = model_equation(scope, robot, now.moment)
        M, B = state.A, state.jacobian.T
    gains = layout.controller.stiffness_at(scope, robot) if layout.controller is not None else None
    if gains is not None:
        K, D = K + ca.mtimes(B, ca.mtimes(ca.diag(gains[0]), B.T)), D + ca.mtimes(B, ca.mtimes(ca.diag(gains[1]), B.T))
    return ca.densify(M), ca.densify(D), ca.densify(K)
