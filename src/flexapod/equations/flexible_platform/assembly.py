r"""Equation of motion of a robot with a flexible platform and rigid closed-form legs, in platform axes.

.. math:: M\,\dot w + c = B\,\Gamma + \text{load},\qquad w = (v, \omega, \dot e),\qquad
          M = M_p + \sum_i Y_i^T A_{xi} Y_i,\quad Y_i = [\,1,\; -\hat r_i,\; \Phi_i\,]

with r_i = r_0i + Phi_i e, the legs projected to their joints (Long 2014 Eqs. 36-45). Vectors are in platform axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.equations.flexible_platform.elastic_block import DenseBlock, JointBlock, JointStructure
from flexapod.equations.flexible_platform.generalized_newton_euler import flexible_model
from flexapod.equations.flexible_platform.joint_shapes import JointShapes, joint_shapes
from flexapod.equations.flexible_platform.stretching import platform_force
from flexapod.equations.platform_motion import FrameMotion, PointMotion
from flexapod.equations.universal_leg import actuator_direction
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.closed_form_leg import force_at_joint
from flexapod.kernels.program import Program
from flexapod.robot.flexible_platform import FlexibleShape
from flexapod.robot.robot import Robot
from flexapod.spatial import Rot, Vec
from flexapod.spatial.vector import zero

THROUGH_JOINTS = 8
"""Modes from which solving through the joints takes fewer operations than an elimination of all modes (counted)."""


@dataclass(frozen=True, kw_only=True)
class FlexibleState:
    """Inputs of a state: R (3, 3) world-from-platform, motion in platform axes, elastic coordinates."""

    R: Any
    frame: FrameMotion
    w: Any
    e: Any
    ed: Any


@dataclass(frozen=True, kw_only=True)
class FlexibleEquation:
    """M (n, n), c (n,), B (n, actuators) with n = 6 + N, platform axes; actuator rates, and per leg Y, A_x, bias at S.

    `block` solves with M; the entries of M that it does not need are not computed. `M_p` is the platform's part of M.
    """

    M: Any
    M_p: Any
    block: DenseBlock | JointBlock
    c: Any
    B: Any
    rates: Any
    positions: Any
    Y: list[Any]
    A_x: list[Any]
    bias: list[Any]


def state_inputs(b: Program, modes: int) -> FlexibleState:
    """Declare the inputs of a state of the platform."""
    p = b.input("position", (3,), unit="m", doc="platform frame origin, world")
    R = b.input("rotation", (3, 3), doc="world-from-platform")
    v = b.input("velocity", (3,), unit="m/s", doc="of the platform frame origin, world")
    w = b.input("angular_velocity", (3,), unit="rad/s", doc="of the platform frame, world")
    e = b.input("elastic", (modes,), doc="elastic coordinates")
    ed = b.input("elastic_velocity", (modes,), doc="rates of the elastic coordinates")
    return state_of(p, R, v, w, e, ed)


def state_of(p: Any, R: Any, v: Any, w: Any, e: Any, ed: Any) -> FlexibleState:
    """A state from its expressions, world axes."""
    frame = FrameMotion(p=Vec(p, "W"), R=Rot(R, "W", "P"), v=Vec(v, "W"), w=Vec(w, "W"), a=zero("W"), alpha=zero("W"))
    return FlexibleState(R=R, frame=frame, w=ca.mtimes(R.T, w), e=e, ed=ed)


def flexible_equation(
    b: Program,
    robot: Robot,
    shape: FlexibleShape,
    letters: tuple[str, ...],
    state: FlexibleState,
    second_order: bool = True,
    values: Values | None = None,
) -> FlexibleEquation:
    """Assemble platform and legs.

    Args:
        shape: which moments the platform has.
        letters: axes along which the interface shapes move.
        values: of the program, where b is a loop inside it.

    Source: Long 2014 Eqs. (11)-(33), (36)-(45). Checked by: tests/equations/test_flexible_platform.py.
    """
    values = Values(b) if values is None else values
    gravity = values.vector("gravity", "W")
    R = state.R
    own, g = values.of("platform"), ca.mtimes(R.T, gravity.expr)
    elastic = platform_force(own, shape, state.e) if shape.stretches else None
    body = flexible_model(b, own, shape, state.e, state.ed, state.w, g, second_order, elastic)
    M, c = body.M, body.c
    columns, rates, positions, Ys, As, biases = [], [], [], [], [], []
    for leg, form in zip(robot.legs, robot.closed_forms, strict=True):
        assert form is not None
        own = values.of(f"legs.{leg.name}")
        S, r, h, Phi = joint_motion(own, joint_shapes(own, shape, letters), state)
        vdot = ca.SX.sym("vdot_S", 3)  # platform axes
        world = PointMotion(p=S.p, v=S.v, a=Vec(ca.mtimes(R, vdot), "W"))
        force, motion = force_at_joint(b, own, leg, form.sign, state.frame, gravity, world)
        local = ca.mtimes(R.T, force.expr)
        rest = ca.SX.zeros(3)
        A_x = ca.substitute(ca.jacobian(local, vdot), vdot, rest)
        c_x = ca.substitute(local, vdot, rest)
        Y = ca.horzcat(ca.SX.eye(3), -ca.skew(r), Phi)
        bias = ca.mtimes(A_x, h) + c_x
        M = M + ca.mtimes(Y.T, ca.mtimes(A_x, Y))
        c = c + ca.mtimes(Y.T, bias)
        direction = ca.mtimes(R.T, actuator_direction(own, leg, motion).expr)
        columns.append(ca.mtimes(Y.T, direction))
        rates.append(motion.actuator.qd)
        positions.append(motion.actuator.q)
        Ys.append(Y)
        As.append(A_x)
        biases.append(bias)
    block: DenseBlock | JointBlock = DenseBlock(M)
    if shape.normal and len(letters) == 1 and not shape.quadratic and shape.modes >= THROUGH_JOINTS:
        block = JointBlock(M[:6, :6], joint_structure(values, shape, letters, body.M, Ys, As))
    return FlexibleEquation(
        M=M,
        M_p=body.M,
        block=block,
        c=c,
        B=ca.horzcat(*columns),
        rates=ca.vertcat(*rates),
        positions=ca.vertcat(*positions),
        Y=Ys,
        A_x=As,
        bias=biases,
    )


def joint_structure(
    values: Values, shape: FlexibleShape, letters: tuple[str, ...], M_p: Any, Y: list[Any], A_x: list[Any]
) -> JointStructure:
    """What the elastic block is made of where the joints move along one axis and the modes are normal."""
    axis = "xyz".index(letters[0])
    phi = ca.vertcat(*[y[axis, 6:] for y in Y])
    Z = ca.vertcat(*[A[axis, axis] for A in A_x])
    Q = ca.horzcat(*[ca.mtimes(y[:, :6].T, A[:, axis]) for y, A in zip(Y, A_x, strict=True)])
    m = ca.vertcat(*[values.scalar(f"platform.flex.M.{k}.{k}") for k in range(shape.modes)])
    return JointStructure(phi=phi, Z=Z, Q=Q, b=M_p[:6, 6:], m=m)


def joint_motion(values: Values, shapes: JointShapes, state: FlexibleState) -> tuple[PointMotion, Any, Any, Any]:
    r"""Position and velocity of a joint on the deformed platform, r (3,), the acceleration h that velocities make, Phi(e) (3, N).

    .. math:: r = r_0 + \Phi e,\quad v_S = v + \omega\times r + \Phi\dot e,\quad
              h = \omega\times(\omega\times r) + 2\,\omega\times\Phi\dot e
              \qquad\text{(Long 2014 Eqs. 11-13, 18, 24)}
    """
    r0 = values.vector("S", "P").expr
    Phi = shapes.columns(state.e)
    r = r0 + shapes.shift(state.e)
    rate = ca.mtimes(Phi, state.ed)
    h = ca.cross(state.w, ca.cross(state.w, r) + 2 * rate)
    if shapes.Q:
        h = h + shapes.drift(state.ed)
    R, frame = state.R, state.frame
    p = Vec(frame.p.expr + ca.mtimes(R, r), "W")
    v = Vec(frame.v.expr + ca.mtimes(R, ca.cross(state.w, r) + rate), "W")
    return PointMotion(p=p, v=v, a=zero("W")), r, h, Phi
