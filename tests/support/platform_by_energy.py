r"""The flexible platform by the general virtual-power assembly: a second derivation, to check the closed form of the paper.

Legs: joint coordinates closed by Newton on the deformed half frames, generalized forces of each chain by recursion, projected
with the closing Jacobian (Briot 2014 Eqs. 9, 23-44). Platform: from its kinetic energy T in body axes,

.. math:: f = \frac{d}{dt}\frac{\partial T}{\partial v} + \omega\times\frac{\partial T}{\partial v},\quad
          n = \frac{d}{dt}\frac{\partial T}{\partial\omega} + \omega\times\frac{\partial T}{\partial\omega}
              + v\times\frac{\partial T}{\partial v},\quad
          s = \frac{d}{dt}\frac{\partial T}{\partial\dot e} - \frac{\partial T}{\partial e} + K e + D\dot e

World axes outside. Slower than the closed form; it also takes general legs, as long as they end in a spherical joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.equations.closing import close_at
from flexapod.equations.flexible_platform.generalized_newton_euler import (
    elastic_moments,
    first_moments,
    symmetric_matrix,
)
from flexapod.equations.flexible_platform.joint_shapes import joint_shapes
from flexapod.equations.flexible_platform.kinematics import joint_at
from flexapod.equations.flexible_platform.stretching import platform_energy
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.general_leg import tree_forces
from flexapod.equations.virtual_power.inertia_wrench import tensor
from flexapod.errors import InputError
from flexapod.kernels.tape.program import Program
from flexapod.robot.flexible_platform import FlexibleShape
from flexapod.robot.robot import Robot
from flexapod.spatial import Rot, Vec
from flexapod.spatial.linear import solve_gram_schmidt
from flexapod.spatial.vector import zero


@dataclass(frozen=True, kw_only=True)
class GeneralEquation:
    """M (n, n), c (n,), B (n, actuators) in (v, omega of world axes, e'), and actuator rates (actuators,)."""

    M: Any
    c: Any
    B: Any
    rates: Any
    R: Any


def general_equation(b: Program, robot: Robot) -> GeneralEquation:
    """Assemble platform and legs.

    Source: Briot 2014 Eqs. (9), (23)-(44). Checked by: tests/equations/test_flexible_platform.py.
    """
    shape, letters = robot.flexible_shape
    N, values = shape.modes, Values(b)
    gravity = values.vector("gravity", "W")
    p, R = b.input("position", (3,), unit="m"), b.input("rotation", (3, 3))
    v, w = b.input("velocity", (3,), unit="m/s"), b.input("angular_velocity", (3,), unit="rad/s")
    e, ed = b.input("elastic", (N,)), b.input("elastic_velocity", (N,))
    guess = b.input("guess", (len(robot.coordinates),), unit="m or rad", doc="joint coordinates to start from")
    still = zero("W")
    frame = FrameMotion(p=Vec(p, "W"), R=Rot(R, "W", "P"), v=Vec(v, "W"), w=Vec(w, "W"), a=still, alpha=still)
    M, c = platform_by_energy(values.of("platform"), shape, R, v, w, e, ed, gravity.expr)
    columns, rates, at = [], [], 0
    for i, leg in enumerate(robot.legs):
        if leg.closing.type != "spherical":
            kind = leg.closing.type
            raise InputError(f"leg {leg.name} of {robot.name} ends in a {kind} joint; a flexible platform needs spherical ones")
        own, n = values.of(f"legs.{leg.name}"), len(leg.moving)
        shapes = joint_shapes(own, shape, letters)
        r0 = own.vector(f"{leg.closing.joint}.on_platform.p", "P")
        joint = joint_at(frame, r0, shapes, [e, ed, ca.SX.zeros(N)])
        acceleration = ca.SX.sym("acceleration", 3)
        half_R = frame.R @ own.rotation(f"{leg.closing.joint}.on_platform.R", "P", "H")
        half = FrameMotion(R=half_R, p=joint.p, v=joint.v, w=frame.w, a=Vec(acceleration, "W"), alpha=still)
        start = [guess[at + k] for k in range(n)]
        closed = close_at(b, own, leg, robot.plan.legs[i], [half], start)
        J = closed.jacobian[:, :3]  # a spherical joint passes no moment
        force = ca.mtimes(J.T, tree_forces(own, leg, closed.links, closed.qdd, gravity))
        A = ca.substitute(ca.jacobian(force, acceleration), acceleration, ca.SX.zeros(3))
        bias = ca.substitute(force, acceleration, joint.a.expr)
        W = ca.horzcat(ca.SX.eye(3), -ca.skew((joint.p - frame.p).expr), ca.mtimes(R, shapes.columns(e)))
        M = M + ca.mtimes(W.T, ca.mtimes(A, W))
        c = c + ca.mtimes(W.T, bias)
        driven = [k for k, index in enumerate(leg.moving) if leg.links[index].actuated]
        columns += [ca.mtimes(W.T, J[k, :].T) for k in driven]
        rates += [closed.qd[k] for k in driven]
        at += n
    return GeneralEquation(M=M, c=c, B=ca.horzcat(*columns), rates=ca.vertcat(*rates), R=R)


def platform_by_energy(
    values: Values, shape: FlexibleShape, R: Any, v: Any, w: Any, e: Any, ed: Any, gravity: Any
) -> tuple[Any, Any]:
    """M (n, n) and c (n,) of the free platform from its energies, world axes.

    Args:
        R: (3, 3) world-from-platform; v, w, gravity (3,) in world axes.

    Checked by: tests/equations/test_flexible_platform.py.
    """
    N = shape.modes
    u, q, qd = ca.SX.sym("u", 6), ca.SX.sym("q", N), ca.SX.sym("qd", N)  # twist in body axes, elastic state
    S, m = first_moments(values, shape), values.scalar("mass")
    c = ca.vertcat(*[values.scalar(f"first_moment.{a}") for a in "xyz"]) + ca.mtimes(S, q)
    beta, extra = elastic_moments(values, shape, q)
    x = ca.vertcat(u, qd)
    blocks = ca.vertcat(
        ca.horzcat(m * ca.SX.eye(3), -ca.skew(c), S),
        ca.horzcat(ca.skew(c), tensor(values, "inertia") + extra, beta),
        ca.horzcat(S.T, beta.T, symmetric_matrix(values, "flex.M", N, shape.normal)),
    )
    momentum = ca.mtimes(blocks, x)  # dT/d(v, omega, e')
    # d/dt at a = alpha = e'' = 0: v' = -omega x v in body axes, and M changes with e
    drift = ca.mtimes(blocks, ca.vertcat(-ca.cross(u[3:], u[:3]), ca.SX.zeros(3 + N))) + ca.mtimes(ca.jacobian(momentum, q), qd)
    rotation = ca.vertcat(
        ca.cross(u[3:], momentum[:3]),
        ca.cross(u[3:], momentum[3:6]) + ca.cross(u[:3], momentum[:3]),
        -ca.mtimes(ca.jacobian(momentum, q).T, x) / 2,
    )
    D = symmetric_matrix(values, "flex.D", N, shape.normal)
    spring = ca.vertcat(ca.SX.zeros(6), ca.jacobian(platform_energy(values, shape, q), q).T + ca.mtimes(D, qd))
    g = ca.mtimes(R.T, gravity)
    weight = ca.vertcat(m * g, ca.cross(c, g), ca.mtimes(S.T, g))
    at = [ca.vertcat(ca.mtimes(R.T, v), ca.mtimes(R.T, w)), e, ed]
    M, bias = ca.substitute([blocks, drift + rotation + spring - weight], [u, q, qd], at)
    T = rotated(R, N)
    return ca.mtimes(T, ca.mtimes(M, T.T)), ca.mtimes(T, bias)


def rotated(R: Any, N: int) -> Any:
    """(6 + N, 6 + N): coordinates in platform axes to world axes."""
    return ca.diagcat(R, R, ca.SX.eye(N))


def _load(b: Program, N: int) -> Any:
    wrench = b.input("wrench", (6,), unit="N, N m", doc="external force and moment on the platform frame at its origin, world")
    return ca.vertcat(wrench, b.input("elastic_load", (N,), doc="external generalized force on the elastic coordinates"))


def general_inverse_dynamics(robot: Robot) -> Program:
    """Inverse dynamics, as `flexible_inverse_dynamics`: one system for forces and elastic accelerations together."""
    b = Program("general_inverse_dynamics")
    q = general_equation(b, robot)
    N, n = len(robot.elastic_names), len(robot.actuators)
    a, alpha = b.input("acceleration", (3,), unit="m/s^2"), b.input("angular_acceleration", (3,), unit="rad/s^2")
    right = ca.mtimes(q.M[:, :6], ca.vertcat(a, alpha)) + q.c - _load(b, N)
    x = solve_gram_schmidt(ca.densify(ca.horzcat(q.B, -q.M[:, 6:])), right)
    b.output("force", x[:n], shape=(n,), unit="N or N m", dims=("actuator",))
    b.output("power", x[:n] * q.rates, shape=(n,), unit="W", dims=("actuator",))
    b.output("elastic_acceleration", x[n:], shape=(N,), dims=("elastic_coordinate",))
    return b


def general_forward_dynamics(robot: Robot) -> Program:
    """Forward dynamics, as `flexible_forward_dynamics`."""
    b = Program("general_forward_dynamics")
    q = general_equation(b, robot)
    N, n = len(robot.elastic_names), len(robot.actuators)
    force = b.input("force", (n,), unit="N or N m", doc="actuator forces")
    x = solve_gram_schmidt(ca.densify(q.M), ca.mtimes(q.B, force) + _load(b, N) - q.c)
    b.output("acceleration", x[:3], shape=(3,), unit="m/s^2", dims=("axis",))
    b.output("angular_acceleration", x[3:6], shape=(3,), unit="rad/s^2", dims=("axis",))
    b.output("elastic_acceleration", x[6:], shape=(N,), dims=("elastic_coordinate",))
    return b


def general_mass_matrix(robot: Robot) -> Program:
    """`mass_matrix`, `bias`, `actuator_map` in (v, omega) of **world** axes and elastic coordinates."""
    b = Program("general_mass_matrix")
    q = general_equation(b, robot)
    n = q.c.numel()
    b.output("mass_matrix", q.M, shape=(n, n), dims=("coordinate", "coordinate_"))
    b.output("bias", q.c, shape=(n,), dims=("coordinate",))
    b.output("actuator_map", q.B, shape=(n, len(robot.actuators)), dims=("coordinate", "actuator"))
    return b
