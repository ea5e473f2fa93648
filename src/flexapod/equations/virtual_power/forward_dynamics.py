r"""Mass matrix and forward dynamics by virtual power.

.. math:: h = A\dot V + c,\quad \dot V = N\dot u + \beta,\quad
          (N^T A N)\,\dot u = (J_a N)^T\Gamma + N^T(w - c - A\beta)

A is the exact derivative of h with respect to the acceleration, leg by leg symmetric; beta is the acceleration that the
constraints force at u' = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.equations.platform_motion import FrameMotion
from flexapod.equations.virtual_power.inverse_dynamics import guess_input
from flexapod.equations.virtual_power.platform_equation import PlatformEquation, platform_equation
from flexapod.kernels.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial import Rot, Vec
from flexapod.spatial.linear import solve, solve_symmetric


@dataclass(frozen=True, kw_only=True)
class StateEquation:
    """A (6, 6), c (6,) and beta (6,) at a state, with the equation's other terms."""

    A: Any
    c: Any
    beta: Any
    equation: PlatformEquation


def state_inputs(b: Program) -> tuple[FrameMotion, Any]:
    """Inputs of a state, and the platform's acceleration as a symbol to differentiate by."""
    acceleration = ca.SX.sym("acceleration", 6)
    frame = FrameMotion(
        p=Vec(b.input("position", (3,), unit="m", doc="platform frame origin, world"), "W"),
        R=Rot(b.input("rotation", (3, 3), doc="world-from-platform"), "W", "P"),
        v=Vec(b.input("velocity", (3,), unit="m/s", doc="of the platform frame origin, world"), "W"),
        w=Vec(b.input("angular_velocity", (3,), unit="rad/s", doc="of the platform, world"), "W"),
        a=Vec(acceleration[:3], "W"),
        alpha=Vec(acceleration[3:], "W"),
    )
    return frame, acceleration


def state_equation(b: Program, robot: Robot, massless_legs: bool = False) -> StateEquation:
    """The equation of motion at a state: h is affine in the acceleration, so two evaluations of its parts suffice."""
    frame, acceleration = state_inputs(b)
    equation = platform_equation(b, robot, frame, guess_input(b, robot), massless_legs)
    A = ca.jacobian(equation.h, acceleration)
    rest = ca.SX.zeros(6)
    c, r = ca.substitute([equation.h, equation.residual], [acceleration], [rest])
    beta = ca.SX.zeros(6)
    bound = list(robot.plan.platform_dependents)
    if bound:
        # G Vdot + r(0) = 0 with the independent accelerations zero
        X = -solve(ca.densify(equation.constraint[:, bound]), r)
        for k, i in enumerate(bound):
            beta[i] = X[k]
    A = ca.substitute(A, acceleration, rest)
    return StateEquation(A=A, c=c, beta=beta, equation=equation)


def forward_dynamics(robot: Robot, massless_legs: bool = False) -> Program:
    """The program: inputs state, `force` (actuators,), `wrench` (6,); outputs `acceleration`, `angular_acceleration`.

    Source: Long 2014 Eq. (46), Briot 2014 Eq. (44). Checked by: tests/equations/test_formulations_agree.py.
    """
    b = Program("forward_dynamics")
    state = state_equation(b, robot, massless_legs)
    force = b.input("force", (len(robot.actuators),), unit="N or N m", doc="actuator forces")
    wrench = b.input("wrench", (6,), unit="N, N m", doc="external force and moment on the platform at its frame origin, world")
    N = state.equation.basis
    M = ca.mtimes(N.T, ca.mtimes(state.A, N))
    right = wrench - state.c - ca.mtimes(state.A, state.beta) + ca.mtimes(state.equation.jacobian.T, force)
    V = ca.mtimes(N, solve_symmetric(M, ca.mtimes(N.T, right))) + state.beta
    b.output("acceleration", V[:3], shape=(3,), unit="m/s^2", dims=("axis",))
    b.output("angular_acceleration", V[3:], shape=(3,), unit="rad/s^2", dims=("axis",))
    return b


def mass_matrix(robot: Robot, massless_legs: bool = False) -> Program:
    """The program: `mass_matrix` (6, 6) and bias `coriolis_force`, `gravity_force` (6,) in platform coordinates, basis N."""
    b = Program("mass_matrix")
    state = state_equation(b, robot, massless_legs)
    gravity = ca.vertcat(*[b.parameter(f"gravity.{k}") for k in "xyz"])
    weight = ca.mtimes(ca.jacobian(state.c, gravity), gravity)
    m = state.equation.basis.shape[1]
    b.output("mass_matrix", state.A, shape=(6, 6), dims=("twist", "twist_"))
    b.output("gravity_force", weight, shape=(6,), dims=("twist",))
    b.output("coriolis_force", state.c - weight, shape=(6,), dims=("twist",))
    b.output("basis", state.equation.basis, shape=(6, m), dims=("twist", "independent"))
    b.output("beta", state.beta, shape=(6,), dims=("twist",))
    b.output("jacobian", state.equation.jacobian, shape=(len(robot.actuators), 6), dims=("actuator", "twist"))
    return b
