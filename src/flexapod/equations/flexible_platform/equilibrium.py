r"""Equilibrium of a robot with a flexible platform, and its exact derivative: holding forces and stiffness.

At rest, with actuator forces Gamma, in platform axes and for displacements dx = (dp, dtheta, de) of frame and shape:

.. math:: \rho = c(x) - B(x)\,\Gamma - \text{load}(x),\qquad K_T = \frac{\partial\rho}{\partial x}

A leg gives l = R^T (F - a Gamma) at its joint r = r_0 + Phi e (`held_joints`), with Y = [1, -r^, Phi]:

.. math:: \rho_i = Y^T l,\qquad
          K_i = Y^T\Big(R^T\frac{\partial (F - a\Gamma)}{\partial S} R\, Y + [\,0,\ \hat l,\ 0\,]\Big)
                - [\,0;\ \hat l\,\Phi\,de;\ 0\,]

With quadratic shapes (`joint_shapes`) Phi is Phi(e), and the elastic block gains the geometric stiffness :math:`\sum_a l_a Q_a`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.flexible_platform.generalized_newton_euler import first_moments
from flexapod.equations.flexible_platform.held_joints import (
    FrameLoad,
    HeldJoint,
    first_moment,
    held_frame,
    held_joints,
    load_inputs,
)
from flexapod.equations.flexible_platform.joint_shapes import JointShapes, joint_shapes
from flexapod.equations.flexible_platform.stretching import platform_force, platform_tangent
from flexapod.equations.platform_inputs import pose_inputs
from flexapod.equations.values import Values
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.program import Program
from flexapod.robot.flexible_platform import UNROLLED, FlexibleShape
from flexapod.robot.robot import Robot


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
    shapes = [joint_shapes(values.of(f"legs.{leg.name}"), shape, letters) for leg in robot.legs]
    arms = [
        values.of(f"legs.{leg.name}").vector("S", "P").expr + own.shift(e) for leg, own in zip(robot.legs, shapes, strict=True)
    ]
    held = held_joints(b, robot, (p, R), arms, force, values)
    legs = [
        _Joint(shapes=own, Phi=own.columns(e), r=at.r, l=at.l, a=at.a, G=at.G) for own, at in zip(shapes, held, strict=True)
    ]
    load = _load(b, shape, R, e)
    own, g = values.of("platform"), ca.mtimes(R.T, values.vector("gravity", "W").expr)
    c = first_moment(own) + ca.mtimes(first_moments(own, shape), e)
    frame_rho, frame_K = held_frame(own.scalar("mass"), c, g, legs, load)
    modes = _modes(b, own, shape, e, g, legs=legs, load=load)
    n = 6 + N
    stiffness = ca.vertcat(ca.horzcat(frame_K, modes.top), ca.horzcat(modes.left, modes.elastic))
    directions = ca.horzcat(*[ca.vertcat(leg.a, ca.cross(leg.r, leg.a)) for leg in legs])
    b.output("residual", ca.vertcat(frame_rho, modes.rho), shape=(n,), dims=("coordinate",))
    b.output("stiffness", stiffness, shape=(n, n), dims=("coordinate", "coordinate_"))
    b.output("actuator_map", ca.vertcat(directions, modes.map), shape=(n, actuators), dims=("coordinate", "actuator"))
    return b


@dataclass(frozen=True, kw_only=True)
class _Joint(HeldJoint):
    """A platform joint with its shapes, and Phi(e) (3, N)."""

    shapes: JointShapes
    Phi: SX


@dataclass(frozen=True, kw_only=True)
class _Load(FrameLoad):
    """External load with the shapes at its point."""

    shapes: JointShapes
    Phi: SX
    Phi_r: SX


@dataclass(frozen=True, kw_only=True)
class _Modes:
    """Rows of the modes: residual (N,), K with the frame's columns (N, 6) and rows (6, N), their own K (N, N), map (N, legs)."""

    rho: SX
    left: SX
    top: SX
    elastic: SX
    map: SX


def _modes(b: Program, values: Values, shape: FlexibleShape, e: SX, g: SX, *, legs: Sequence[_Joint], load: _Load) -> _Modes:
    """Terms of the modes, mode after mode; a loop where there are many, so that n^2 products are not written out."""
    N, loop = shape.modes, shape.modes > UNROLLED
    K = platform_tangent(values, shape, e) - load.shapes.weighted(load.f)
    for leg in legs:
        K = K + leg.shapes.weighted(leg.l)
    plain = shape.normal and not shape.quadratic and not shape.stretches  # K couples no modes
    axes = [k for k in range(3) if legs[0].Phi[k, :].nnz()]  # along which the joints move
    Phi = ca.densify(ca.vertcat(*[leg.Phi[axes, :] for leg in legs]))
    arms, forces, directions = (ca.horzcat(*[getattr(leg, name) for leg in legs]) for name in "rla")
    G, by_frame = (ca.vertcat(*[getattr(leg, name) for leg in legs]) for name in ("G", "by_frame"))

    def mode(_: Builder, k: SX | int, *given: SX) -> tuple[SX, ...]:
        (phi, S, F, K, at, at_r), (Phi, arms, forces, directions, G, by_frame, g, f, m) = given[:6], given[6:]
        size = len(axes)
        rho, left = F - ca.dot(S, g) - ca.dot(at, f) - ca.dot(at_r, m), ca.SX.zeros(1, 6)
        left[3:] = ca.cross(g, S).T - ca.mtimes(at.T, ca.skew(f)) - ca.mtimes(at_r.T, ca.skew(m))
        force, moment, elastic, per_force = ca.SX.zeros(3), ca.cross(g, S) + ca.cross(f, at), ca.SX.zeros(N), []
        for i in range(len(legs)):
            own, leg = slice(size * i, size * (i + 1)), slice(3 * i, 3 * i + 3)
            shift = ca.SX(3, 1)
            shift[axes] = phi[own]
            u = ca.mtimes(G[leg, :], shift)
            rho, left = rho + ca.dot(shift, forces[:, i]), left + ca.mtimes(shift.T, by_frame[leg, :])
            force, moment = force + u, moment + ca.cross(arms[:, i], u) - ca.cross(forces[:, i], shift)
            elastic = elastic + ca.mtimes(Phi[own, :].T, u[axes])
            per_force.append(ca.dot(shift, directions[:, i]))
        if plain:
            K = ca.vertcat(*[ca.if_else(k == j, K, 0) if loop else (K if k == j else 0) for j in range(N)])
        return rho, left.T, ca.vertcat(force, moment), elastic + K, ca.vertcat(*per_force)

    stiffness = ca.densify(ca.diag(K)).T if plain else ca.densify(K)
    each = [Phi, ca.densify(first_moments(values, shape)), platform_force(values, shape, e).T, stiffness, load.Phi, load.Phi_r]
    shared = [Phi, arms, forces, directions, G, by_frame, g, load.f, load.m]
    if loop:
        _, found = b.scan(lambda b, k, *given: ((), mode(b, k, *given)), N, each=each, shared=[ca.densify(s) for s in shared])
    else:
        single = [mode(b, k, *[part[:, k] for part in each], *shared) for k in range(N)]
        found = tuple(ca.horzcat(*column) for column in zip(*single, strict=True))
    rho, left, top, elastic, per_force = found
    return _Modes(rho=rho.T, left=left.T, top=top, elastic=elastic, map=per_force.T)


def _load(b: Program, shape: FlexibleShape, R: SX, e: SX) -> _Load:
    """The inputs of the load."""
    N = shape.modes
    f0, m0, f, m = load_inputs(b, R)
    r0 = b.input("point_position", (3,), unit="m", doc="the undeformed point, platform frame")
    linear = b.input("point_shape", (3, N), doc="displacement shapes at the point")
    Phi_r = b.input("point_rotation", (3, N), doc="rotation shapes at the point")
    shapes = JointShapes(Phi=linear, Q={})
    if shape.quadratic:
        Q = b.input("point_curving", (3 * N, N), doc="matrices of the quadratic displacement at the point, x, y, z")
        shapes = JointShapes(Phi=linear, Q={a: Q[a * N : (a + 1) * N, :] for a in range(3)})
    return _Load(f0=f0, m0=m0, f=f, m=m, r=r0 + shapes.shift(e), shapes=shapes, Phi=shapes.columns(e), Phi_r=Phi_r)
