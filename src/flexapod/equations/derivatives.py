r"""Derivatives of inverse dynamics with respect to the motion and to the robot's numbers, exact, as kernels.

.. math:: \frac{\partial\Gamma}{\partial x}\,\delta \quad\text{for each unit direction } \delta

One directional derivative is written once and looped over the directions; what does not depend on the direction leaves
the loop. A rotation is varied by a small rotation vector in world axes, :math:`R(\delta) = \exp(\hat\delta)R`.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.flexible_platform.assembly import flexible_equation, state_of
from flexapod.equations.flexible_platform.dynamics import inverse_solution
from flexapod.equations.platform_inputs import FrameMotion, guess_input, platform_motion_inputs, wrench_input
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inverse_dynamics import actuator_forces
from flexapod.equations.virtual_power.platform_equation import platform_equation
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot

MOTION = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
"""Arguments of the motion, three directions each."""


def _force(b: Program, robot: Robot) -> tuple[FrameMotion, SX]:
    """The motion's inputs and the force as an expression of them."""
    platform = platform_motion_inputs(b)
    wrench = wrench_input(b)
    if robot.flexible_platform is not None:
        return platform, _flexible_force(b, robot, platform, wrench)
    equation = platform_equation(b, robot, platform, guess_input(b, robot))
    A = ca.densify(ca.mtimes(equation.jacobian, equation.basis))
    return platform, actuator_forces(b, A, ca.mtimes(equation.basis.T, equation.h - wrench))


def _flexible_force(b: Program, robot: Robot, platform: FrameMotion, wrench: SX) -> SX:
    """The force of a flexible platform on closed-form legs; elastic coordinates and rates are inputs and stay as they are."""
    shape, letters = robot.flexible_shape
    e, ed = (b.input(name, (shape.modes,)) for name in ("elastic", "elastic_velocity"))
    R = platform.R.expr
    state = state_of(platform.p.expr, R, platform.v.expr, platform.w.expr, e, ed)
    q = flexible_equation(b, robot, shape, letters, state, values=Values(b))
    wanted = ca.vertcat(ca.mtimes(R.T, platform.a.expr), ca.mtimes(R.T, platform.alpha.expr))
    load = ca.vertcat(ca.mtimes(R.T, wrench[:3]), ca.mtimes(R.T, wrench[3:]), ca.SX.zeros(shape.modes))
    return inverse_solution(q, wanted, load).force


def _along(b: Program, force: SX, x: SX, seeds: SX) -> SX:
    """(actuators, k) derivative of the force along each column of `seeds` (n, k): one loop over the columns."""

    def direction(_: Builder, seed: SX) -> tuple[SX]:
        return (ca.densify(ca.jtimes(force, x, seed)),)

    (columns,) = b.map(direction, seeds.shape[1], each=[seeds], unroll=False)
    return columns


def motion_derivatives(robot: Robot) -> Program:
    """The program: `tau_D_position`, `tau_D_rotation`, ... (actuators, 3) by every argument of the motion.

    General legs are differentiated through the last Newton step of their closing, which is exact at a closed loop.

    Checked by: tests/equations/test_derivatives.py.
    """
    b = Program("motion_derivatives")
    at, force = _force(b, robot)
    x = ca.vertcat(at.p.expr, ca.vec(at.R.expr), at.v.expr, at.w.expr, at.a.expr, at.alpha.expr)
    rotations = ca.horzcat(*[ca.vec(ca.mtimes(ca.skew(ca.DM.eye(3)[:, k]), at.R.expr)) for k in range(3)])
    seeds = ca.SX.zeros(24, 18)
    seeds[:3, :3] = ca.SX.eye(3)
    seeds[3:12, 3:6] = rotations
    seeds[12:, 6:] = ca.SX.eye(12)
    J = _along(b, force, x, seeds)
    for k, name in enumerate(MOTION):
        b.output(f"tau_D_{name}", J[:, 3 * k : 3 * k + 3], shape=(len(robot.actuators), 3), dims=("actuator", "axis"))
    return b


def value_derivatives(robot: Robot, values: Sequence[str]) -> Program:
    """The program: `tau_D_values` (actuators, k) by named values of the robot (see `flexapod.robot.named_values`).

    Checked by: tests/equations/test_derivatives.py.
    """
    b = Program("value_derivatives")
    _, force = _force(b, robot)
    x = ca.vertcat(*[b.parameter(name) for name in values])
    J = _along(b, force, x, ca.SX.eye(len(values)))
    b.output("tau_D_values", J, shape=(len(robot.actuators), len(values)), dims=("actuator", "value"))
    return b
