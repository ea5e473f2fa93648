r"""Equilibrium of a robot with a flexible platform, and its exact derivative: what holds the robot, and how stiffly.

At rest, with actuator forces Gamma, in platform axes and for displacements dx = (dp, dtheta, de) of frame and shape:

.. math:: \rho = c(x) - B(x)\,\Gamma - \text{load}(x),\qquad K_T = \frac{\partial\rho}{\partial x}

A leg gives l = R^T (F - a Gamma) at its joint r = r_0 + Phi e, with Y = [1, -r^, Phi]:

.. math:: \rho_i = Y^T l,\qquad
          K_i = Y^T\Big(R^T\frac{\partial (F - a\Gamma)}{\partial S} R\, Y + [\,0,\ \hat l,\ 0\,]\Big)
                - [\,0;\ \hat l\,\Phi\,de;\ 0\,]

With quadratic shapes (`joint_shapes`) Phi is Phi(e), and the elastic block gains the geometric stiffness :math:`\sum_a l_a Q_a`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.equations.flexible_platform.generalized_newton_euler import first_moments
from flexapod.equations.flexible_platform.joint_shapes import JointShapes, joint_shapes
from flexapod.equations.flexible_platform.stretching import platform_force, platform_tangent
from flexapod.equations.platform_motion import FrameMotion, PointMotion, pose_inputs, wrench_input
from flexapod.equations.universal_leg import actuator_direction
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.closed_form_leg import force_at_joint
from flexapod.kernels.tape.checks import SX
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.program import Program
from flexapod.robot.flexible_platform import UNROLLED, FlexibleShape
from flexapod.robot.model import Leg
from flexapod.robot.robot import Robot
from flexapod.spatial import Rot, Vec
from flexapod.spatial.vector import zero


def flexible_tangent(robot: Robot) -> Program:
    """The program: pose, `elastic`, `force` and loads in; `residual` (n,), `stiffness` (n, n), `actuator_map` (n, actuators) out.

    n = 6 + N, platform axes. The load is a wrench that keeps its direction in the world: `wrench` on the frame at its origin, and
    `point_wrench` at a material point of the platform, given by `point_position`, `point_shape`, `point_rotation`. The
    derivative of the legs' forces is CasADi's, the rest is written out; nothing is differenced.

    Checked by: tests/equations/test_flexible_platform.py.
    """
    b = Program("flexible_tangent")
    shape, letters = robot.flexible_shape
    N, actuators = shape.modes, len(robot.actuators)
    p, R = pose_inputs(b)
    e = b.input("elastic", (N,), doc="elastic coordinates")
    force = b.input("force", (actuators,), unit="N or N m", doc="actuator forces")
    values = Values(b)
    gravity = values.vector("gravity", "W")
    rho, K = _platform(values.of("platform"), shape, e, ca.mtimes(R.T, gravity.expr))
    still, columns, springs = zero("W"), [], []
    frame = FrameMotion(p=Vec(p, "W"), R=Rot(R, "W", "P"), v=still, w=still, a=still, alpha=still)
    for k, (leg, form) in enumerate(zip(robot.legs, robot.closed_forms, strict=True)):
        assert form is not None
        own = values.of(f"legs.{leg.name}")
        shapes = joint_shapes(own, shape, letters)
        Phi, r = shapes.columns(e), own.vector("S", "P").expr + shapes.shift(e)
        S = p + ca.mtimes(R, r)
        at_rest = {"gravity": gravity, "force": force[k]}
        pull, a = _pull(b, own, leg, form.sign, frame, S=S, **at_rest)
        moved = ca.SX.sym("S", 3)
        near, _ = _pull(Program("derivative"), own, leg, form.sign, frame, S=moved, **at_rest)
        derivative = ca.jacobian(near, moved)
        l, a = ca.mtimes(R.T, pull), ca.mtimes(R.T, a)
        G = ca.mtimes(R.T, ca.mtimes(ca.substitute(derivative, moved, S), R))
        Y = ca.horzcat(ca.SX.eye(3), -ca.skew(r), Phi)
        turn = ca.horzcat(ca.SX.zeros(3, 3), ca.skew(l), ca.SX.zeros(3, N))
        rho = rho + ca.mtimes(Y.T, l)
        springs.append(_Spring(Y=Y, G=G, turn=turn))
        K[3:6, 6:] = K[3:6, 6:] - ca.mtimes(ca.skew(l), Phi)
        if shapes.Q:
            K[6:, 6:] = K[6:, 6:] + shapes.weighted(l)
        columns.append(ca.mtimes(Y.T, a))
    K = K + _held(b, springs)
    load, K_load = _loads(b, shape, R, e)
    n = 6 + N
    b.output("residual", rho - load, shape=(n,), dims=("coordinate",))
    b.output("stiffness", K - K_load, shape=(n, n), dims=("coordinate", "coordinate_"))
    b.output("actuator_map", ca.horzcat(*columns), shape=(n, actuators), dims=("coordinate", "actuator"))
    return b


@dataclass(frozen=True, kw_only=True)
class _Spring:
    """What a leg adds to the stiffness, Y^T (G Y + turn): Y, turn (3, n), G (3, 3)."""

    Y: Any
    G: Any
    turn: Any


def _held(b: Program, springs: Sequence[_Spring]) -> Any:
    """Stiffness (n, n) of all legs; a loop over its columns where there are many modes: n^2 products are not written out."""
    n = springs[0].Y.shape[1]
    if n <= 6 + UNROLLED:
        return sum((ca.mtimes(own.Y.T, ca.mtimes(own.G, own.Y) + own.turn) for own in springs), ca.SX.zeros(n, n))
    Y, turn, G = (ca.densify(ca.vertcat(*[getattr(own, name) for own in springs])) for name in ("Y", "turn", "G"))

    def column(_: Builder, y: SX, t: SX, Y: SX, G: SX) -> tuple[Any]:
        parts = [slice(3 * k, 3 * k + 3) for k in range(len(springs))]
        return (ca.mtimes(Y.T, ca.vertcat(*[ca.mtimes(G[part, :], y[part]) for part in parts]) + t),)

    (found,) = b.map(column, n, each=[Y, turn], shared=[Y, G], unroll=False)
    return found


def _pull(
    b: Program, values: Values, leg: Leg, sign: int, frame: FrameMotion, *, gravity: Vec, force: SX, S: SX
) -> tuple[Any, Any]:
    """F - a Gamma (3,) of a leg at rest with its joint at S, and a (3,), world axes."""
    point = PointMotion(p=Vec(S, "W"), v=zero("W"), a=zero("W"))
    demand, motion = force_at_joint(b, values, leg, sign, frame, gravity, S=point)
    a = actuator_direction(values, leg, motion).expr
    return demand.expr - a * force, a


def _platform(values: Values, shape: Any, e: SX, g: SX) -> tuple[Any, Any]:
    """Weight and elastic force of the platform, and their derivative; g turns with dg = g x dtheta in platform axes."""
    N = shape.modes
    S = first_moments(values, shape)
    mass = values.scalar("mass")
    c = ca.vertcat(*[values.scalar(f"first_moment.{a}") for a in "xyz"]) + ca.mtimes(S, e)
    K_ee = platform_tangent(values, shape, e)
    hat = ca.skew(g)
    rho = ca.vertcat(-mass * g, -ca.cross(c, g), platform_force(values, shape, e) - ca.mtimes(S.T, g))
    first = ca.horzcat(ca.SX.zeros(3, 3), -mass * hat, ca.SX.zeros(3, N))
    second = ca.horzcat(ca.SX.zeros(3, 3), -ca.mtimes(ca.skew(c), hat), ca.mtimes(hat, S))
    third = ca.horzcat(ca.SX.zeros(N, 3), -ca.mtimes(S.T, hat), K_ee)
    return rho, ca.vertcat(first, second, third)


def _loads(b: Program, shape: FlexibleShape, R: SX, e: SX) -> tuple[Any, Any]:
    """Generalized load (n,) and its derivative (n, n)."""
    N = shape.modes
    wrench = wrench_input(b)
    at_point = b.input("point_wrench", (6,), unit="N, N m", doc="external force and moment at a material point, world")
    r0 = b.input("point_position", (3,), unit="m", doc="the undeformed point, platform frame")
    linear = b.input("point_shape", (3, N), doc="displacement shapes at the point")
    Phi_r = b.input("point_rotation", (3, N), doc="rotation shapes at the point")
    shapes = JointShapes(Phi=linear, Q={})
    if shape.quadratic:
        Q = b.input("point_curving", (3 * N, N), doc="matrices of the quadratic displacement at the point, x, y, z")
        shapes = JointShapes(Phi=linear, Q={a: Q[a * N : (a + 1) * N, :] for a in range(3)})
    r, Phi = r0 + shapes.shift(e), shapes.columns(e)
    f0, m0 = ca.mtimes(R.T, wrench[:3]), ca.mtimes(R.T, wrench[3:])
    f, m = ca.mtimes(R.T, at_point[:3]), ca.mtimes(R.T, at_point[3:])
    load = ca.vertcat(f0 + f, m0 + m + ca.cross(r, f), ca.mtimes(Phi.T, f) + ca.mtimes(Phi_r.T, m))
    none = ca.SX.zeros(3, 3)
    turned = ca.mtimes(ca.skew(r), ca.skew(f)) + ca.skew(m0) + ca.skew(m)
    first = ca.horzcat(none, ca.skew(f0) + ca.skew(f), ca.SX.zeros(3, N))
    second = ca.horzcat(none, turned, -ca.mtimes(ca.skew(f), Phi))
    elastic = ca.mtimes(Phi.T, ca.skew(f)) + ca.mtimes(Phi_r.T, ca.skew(m))
    third = ca.horzcat(ca.SX.zeros(N, 3), elastic, shapes.weighted(f))
    return load, ca.vertcat(first, second, third)
