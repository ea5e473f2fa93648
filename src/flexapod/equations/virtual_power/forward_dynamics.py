r"""Mass matrix and forward dynamics by virtual power.

.. math:: h = A\dot V + c,\quad \dot V = N\dot u + \beta,\quad
          (N^T A N)\,\dot u = (J_a N)^T\Gamma + N^T(w - c - A\beta)

A is the exact derivative of h with respect to the acceleration, leg by leg symmetric; beta is the acceleration that the
constraints force at u' = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.platform_inputs import FrameMotion, guess_input, platform_state, wrench_input
from flexapod.equations.universal_leg import actuator_direction
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.closed_form_leg import projected_leg
from flexapod.equations.virtual_power.inertia_wrench import inertia_wrench, tensor
from flexapod.equations.virtual_power.platform_equation import platform_equation
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec, cross
from flexapod.spatial.linear import solve, solve_symmetric
from flexapod.spatial.vector import zero


@dataclass(frozen=True, kw_only=True)
class StateEquation:
    """A (6, 6), c (6,), beta (6,), basis N (6, mobility) and J_a (actuators, 6) at a state."""

    A: SX
    c: SX
    beta: SX
    basis: SX
    jacobian: SX


def state_inputs(b: Program) -> tuple[FrameMotion, SX]:
    """Inputs of a state, and the platform's acceleration as a symbol to differentiate by."""
    acceleration = ca.SX.sym("acceleration", 6)
    return platform_state(b, acceleration), acceleration


def state_equation(b: Program, robot: Robot, massless_legs: bool = False) -> StateEquation:
    """The equation of motion at a state: A and c, summed over platform and legs."""
    frame, acceleration = state_inputs(b)
    return state_equation_at(b, robot, frame, acceleration, guess_input(b, robot), massless_legs)


def state_equation_at(
    b: Program, robot: Robot, frame: FrameMotion, acceleration: SX, guess: SX | None, massless_legs: bool = False
) -> StateEquation:
    """The equation of motion with given inputs; `acceleration` is the symbol that `frame` moves with."""
    if all(form is not None for form in robot.closed_forms):
        return _from_projected_legs(b, robot, frame, massless_legs)
    equation = platform_equation(b, robot, frame, guess, massless_legs)
    rest = ca.SX.zeros(6)
    A = ca.substitute(ca.jacobian(equation.h, acceleration), acceleration, rest)
    c, r = ca.substitute([equation.h, equation.residual], [acceleration], [rest])
    beta = ca.SX.zeros(6)
    bound = list(robot.plan.platform_dependents)
    if bound:
        # G Vdot + r(0) = 0 with the independent accelerations zero
        X = -solve(ca.densify(equation.constraint[:, bound]), r)
        for k, i in enumerate(bound):
            beta[i] = X[k]
    return StateEquation(A=A, c=c, beta=beta, basis=equation.basis, jacobian=equation.jacobian)


def _from_projected_legs(b: Program, robot: Robot, frame: FrameMotion, massless_legs: bool) -> StateEquation:
    """A = A_p + sum W^T A_x W, c = c_p + sum W^T (A_x h + c_x) with W = [1, -r^] (Long 2014 Eqs. 38-49, rigid part)."""
    values = Values(b)
    gravity = values.vector("gravity", "W")
    still = FrameMotion(R=frame.R, p=frame.p, v=frame.v, w=frame.w, a=zero("W"), alpha=zero("W"))
    A, c = platform_inertia(values, frame), inertia_wrench(values, "platform", still, gravity).column
    rows = []
    for leg, form in zip(robot.legs, robot.closed_forms, strict=True):
        assert form is not None
        own = values.of(f"legs.{leg.name}")
        part = projected_leg(b, own, leg, form.sign, still, gravity)
        r, d = part.motion.tip.p - frame.p, actuator_direction(own, leg, part.motion)
        rows.append(ca.horzcat(d.expr.T, cross(r, d).expr.T))
        if not massless_legs:
            h = cross(frame.w, cross(frame.w, r))
            force = Vec(ca.mtimes(part.A_x, h.expr) + part.c_x, "W")
            c = c + ca.vertcat(force.expr, cross(r, force).expr)
            A = A + _at_platform(part.A_x, r)
    return StateEquation(A=A, c=c, beta=ca.SX.zeros(6), basis=ca.SX.eye(6), jacobian=ca.vertcat(*rows))


def _at_platform(A_x: SX, r: Vec) -> SX:
    """W^T A_x W with W = [1, -r^]; blocks A_x, r^ A_x and r^ A_x r^T^, the whole symmetric."""
    hat = ca.skew(r.expr)
    low = ca.mtimes(hat, A_x)
    return ca.vertcat(ca.horzcat(A_x, low.T), ca.horzcat(low, ca.mtimes(low, hat.T)))


def platform_inertia(values: Values, frame: FrameMotion) -> SX:
    """(6, 6) inertia of the platform about its origin, world axes."""
    mass = values.scalar("platform.mass")
    c = (frame.R @ values.vector("platform.first_moment", "P")).expr
    I = ca.mtimes(frame.R.expr, ca.mtimes(tensor(values, "platform.inertia"), frame.R.expr.T))
    hat = ca.skew(c)
    return ca.vertcat(ca.horzcat(mass * ca.SX.eye(3), -hat), ca.horzcat(hat, I))


def forward_dynamics(robot: Robot, massless_legs: bool = False) -> Program:
    """The program: inputs state, `force` (actuators,), `wrench` (6,); outputs `acceleration`, `angular_acceleration`.

    Source: Long 2014 Eq. (46), Briot 2014 Eq. (44). Checked by: tests/equations/test_formulations_agree.py.
    """
    b = Program("forward_dynamics")
    state = state_equation(b, robot, massless_legs)
    force = b.input("force", (len(robot.actuators),), unit="N or N m", doc="actuator forces")
    wrench = wrench_input(b)
    N = state.basis
    M = ca.mtimes(N.T, ca.mtimes(state.A, N))
    right = wrench - state.c - ca.mtimes(state.A, state.beta) + ca.mtimes(state.jacobian.T, force)
    V = ca.mtimes(N, solve_symmetric(M, ca.mtimes(N.T, right))) + state.beta
    b.output("acceleration", V[:3], shape=(3,), unit="m/s^2", dims=("axis",))
    b.output("angular_acceleration", V[3:], shape=(3,), unit="rad/s^2", dims=("axis",))
    return b


def mass_matrix(robot: Robot, massless_legs: bool = False) -> Program:
    """The program: `mass_matrix` (6, 6) and bias `coriolis_force`, `gravity_force` (6,) in platform coordinates, basis N."""
    b = Program("mass_matrix")
    state = state_equation(b, robot, massless_legs)
    weight = _weight(b, state)
    m = state.basis.shape[1]
    b.output("mass_matrix", state.A, shape=(6, 6), dims=("twist", "twist_"))
    b.output("gravity_force", weight, shape=(6,), dims=("twist",))
    b.output("coriolis_force", state.c - weight, shape=(6,), dims=("twist",))
    b.output("basis", state.basis, shape=(6, m), dims=("twist", "independent"))
    b.output("beta", state.beta, shape=(6,), dims=("twist",))
    b.output("jacobian", state.jacobian, shape=(len(robot.actuators), 6), dims=("actuator", "twist"))
    return b


def gravity_force(robot: Robot, massless_legs: bool = False) -> Program:
    """The program: `gravity_force` (6,) of `mass_matrix` alone.

    Checked by: tests/generator/test_matlab_and_cpp.py.
    """
    b = Program("gravity_force")
    b.output("gravity_force", _weight(b, state_equation(b, robot, massless_legs)), shape=(6,), dims=("twist",))
    return b


def coriolis_force(robot: Robot, massless_legs: bool = False) -> Program:
    """The program: `coriolis_force` (6,) of `mass_matrix` alone.

    Checked by: tests/generator/test_matlab_and_cpp.py.
    """
    b = Program("coriolis_force")
    state = state_equation(b, robot, massless_legs)
    b.output("coriolis_force", state.c - _weight(b, state), shape=(6,), dims=("twist",))
    return b


def _weight(b: Program, state: StateEquation) -> SX:
    """Part of the bias that is linear in gravity."""
    gravity = ca.vertcat(*[b.parameter(f"gravity.{k}") for k in "xyz"])
    return ca.mtimes(ca.jacobian(state.c, gravity), gravity)
