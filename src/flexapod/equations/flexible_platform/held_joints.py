r"""Legs at rest under a flexible platform: their forces at the joints, and the derivatives of these by the joint positions.

A leg gives l = R^T (F - a Gamma) at its joint r, platform axes. With displacements (dp, dtheta) of the frame, seen in axes that
move along,

.. math:: G = R^T\frac{\partial (F - a\Gamma)}{\partial S} R,\qquad
          dl = [\,G,\ \hat l - G\hat r\,]\,(dp, d\theta)

The program `flexible_held_joints` has nothing of the modes but the places of the joints: with many modes the rest of
`flexible_tangent` is products of matrices, which need no kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.platform_inputs import FrameMotion, PointMotion, pose_inputs, wrench_input
from flexapod.equations.universal_leg import actuator_direction
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.closed_form_leg import force_at_joint
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.roles import TakesChecks
from flexapod.robot.model import Leg
from flexapod.robot.robot import Robot
from flexapod.spatial import Rot, Vec
from flexapod.spatial.vector import zero


@dataclass(frozen=True, kw_only=True)
class HeldJoint:
    """A leg at its joint r (3,): the force l (3,) it demands, G (3, 3) its derivative by the place of the joint, and a (3,) per
    actuator force, platform axes."""

    r: SX
    l: SX
    a: SX
    G: SX

    @property
    def by_frame(self) -> SX:
        """(3, 6) change of the force, in axes that move along, per displacement of the frame."""
        return ca.horzcat(self.G, ca.skew(self.l) - ca.mtimes(self.G, ca.skew(self.r)))


@dataclass(frozen=True, kw_only=True)
class FrameLoad:
    """Wrench on the frame f0, m0 and at a point r of the platform f, m, platform axes."""

    f0: SX
    m0: SX
    f: SX
    m: SX
    r: SX


def held_joints(
    b: TakesChecks, robot: Robot, pose: tuple[SX, SX], arms: Sequence[SX], force: SX, values: Values
) -> list[HeldJoint]:
    """The legs with their joints at the arms r (3,), platform axes. The derivative of their forces is CasADi's."""
    (p, R), gravity, still = pose, values.vector("gravity", "W"), zero("W")
    frame = FrameMotion(p=Vec(p, "W"), R=Rot(R, "W", "P"), v=still, w=still, a=still, alpha=still)
    legs = []
    for k, (leg, form, r) in enumerate(zip(robot.legs, robot.closed_forms, arms, strict=True)):
        assert form is not None
        own, S = values.of(f"legs.{leg.name}"), p + ca.mtimes(R, r)
        pull, a = _pull(b, own, leg, form.sign, frame, gravity=gravity, force=force[k], S=S)
        moved, beside = ca.SX.sym("S", 3), Program("derivative")
        moved_pull, _ = _pull(beside, own, leg, form.sign, frame, gravity=gravity, force=force[k], S=moved)
        derivative = ca.jacobian(moved_pull, moved)
        G = ca.mtimes(R.T, ca.mtimes(ca.substitute(derivative, moved, S), R))
        legs.append(HeldJoint(r=r, l=ca.mtimes(R.T, pull), a=ca.mtimes(R.T, a), G=G))
    return legs


def _pull(
    b: TakesChecks, values: Values, leg: Leg, sign: int, frame: FrameMotion, *, gravity: Vec, force: SX, S: SX
) -> tuple[SX, SX]:
    """F - a Gamma (3,) of a leg at rest with its joint at S, and a (3,), world axes."""
    point = PointMotion(p=Vec(S, "W"), v=zero("W"), a=zero("W"))
    demand, motion = force_at_joint(b, values, leg, sign, frame, gravity, S=point)
    a = actuator_direction(values, leg, motion).expr
    return demand.expr - a * force, a


def held_frame(mass: SX, c: SX, g: SX, legs: Sequence[HeldJoint], load: FrameLoad) -> tuple[SX, SX]:
    """Residual (6,) of the frame and its derivative (6, 6) by its own motion; g rotates with dg = g x dtheta in platform axes.

    Args:
        mass, c: mass and first moment (3,) of the platform as it is deformed.
    """
    hat = ca.skew(g)
    rho = ca.vertcat(-mass * g - load.f0 - load.f, -ca.cross(c, g) - load.m0 - load.m - ca.cross(load.r, load.f))
    none = ca.SX.zeros(3, 3)
    rotated = ca.mtimes(ca.skew(load.r), ca.skew(load.f)) + ca.skew(load.m0) + ca.skew(load.m)
    first = ca.horzcat(none, -mass * hat - ca.skew(load.f0) - ca.skew(load.f))
    K = ca.vertcat(first, ca.horzcat(none, -ca.mtimes(ca.skew(c), hat) - rotated))
    for leg in legs:
        rho = rho + ca.vertcat(leg.l, ca.cross(leg.r, leg.l))
        K = K + ca.vertcat(leg.by_frame, ca.mtimes(ca.skew(leg.r), leg.by_frame))
    return rho, K


def first_moment(values: Values) -> SX:
    """First moment of the undeformed platform (3,)."""
    return ca.vertcat(*[values.scalar(f"first_moment.{a}") for a in "xyz"])


def load_inputs(b: Program, R: SX) -> tuple[SX, SX, SX, SX]:
    """f0, m0 of the input `wrench` and f, m of the input `point_wrench`, platform axes."""
    wrench = wrench_input(b)
    at_point = b.input("point_wrench", (6,), unit="N, N m", doc="external force and moment at a material point, world")
    f0, m0, f, m = (ca.mtimes(R.T, part) for part in (wrench[:3], wrench[3:], at_point[:3], at_point[3:]))
    return f0, m0, f, m


def flexible_held_joints(robot: Robot) -> Program:
    """The program: pose, `force`, loads, `joint_shift` (legs, 3), `moment_shift` (3,) and the deformed `point_position` in; out
    `frame_residual` (6,), `frame_stiffness` (6, 6), `gravity` (3,) and of each leg `joint`, `joint_force`, `direction` (3,) and
    `by_frame` (3, 6), all in platform axes.

    Checked by: tests/analysis/test_flexible_static.py.
    """
    b, _ = Program("flexible_held_joints"), robot.flexible_shape  # a robot that has none says so
    count = len(robot.legs)
    p, R = pose_inputs(b)
    shift = b.input("joint_shift", (count, 3), unit="m", doc="displacement of the joints on the platform, platform axes")
    moved = b.input("moment_shift", (3,), unit="kg m", doc="change of the first moment, platform axes")
    force = b.input("force", (len(robot.actuators),), unit="N or N m", doc="actuator forces")
    f0, m0, f, m = load_inputs(b, R)
    r = b.input("point_position", (3,), unit="m", doc="the deformed point, platform frame")
    values = Values(b)
    arms = [values.vector(f"legs.{leg.name}.S", "P").expr + shift[k, :].T for k, leg in enumerate(robot.legs)]
    legs, own = held_joints(b, robot, (p, R), arms, force, values), values.of("platform")
    g = ca.mtimes(R.T, values.vector("gravity", "W").expr)
    load = FrameLoad(f0=f0, m0=m0, f=f, m=m, r=r)
    rho, K = held_frame(own.scalar("mass"), first_moment(own) + moved, g, legs, load)
    b.output("frame_residual", rho, shape=(6,))
    b.output("frame_stiffness", K, shape=(6, 6))
    b.output("gravity", g, shape=(3,), unit="m/s^2")
    for name, of in (("joint", "r"), ("joint_force", "l"), ("direction", "a")):
        b.output(name, ca.horzcat(*[getattr(leg, of) for leg in legs]).T, shape=(count, 3))
    b.output("by_frame", ca.vertcat(*[ca.vec(leg.by_frame.T).T for leg in legs]), shape=(count, 3, 6))
    return b
