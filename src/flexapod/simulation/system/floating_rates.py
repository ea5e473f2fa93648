r"""Rates of a hexapod on a floating body as a program: coordinates of the slides and of the floating body, and their rates, in.

In axes of the floating body, a and :math:`\dot\Omega` its accelerations, t the platform's motion seen from it (`telescopic`):

.. math:: \begin{pmatrix}m&-\hat S&M_v\\\hat S&I&M_\Omega\\M_v^T&M_\Omega^T&M_{tt}\end{pmatrix}
          \begin{pmatrix}a\\\dot\Omega\\\dot t\end{pmatrix} = \begin{pmatrix}0\\0\\W\Gamma\end{pmatrix} - h

The slides decide the platform's pose in the floating body, :math:`\dot L = W^Tt`. As in `leg_rates`, one pass closes the loops
and evaluates everything; :math:`W^{-T}` is remembered, so that the next call predicts the pose to second order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from flexapod.equations.elastodynamics.closing import LARGEST_STEP
from flexapod.equations.elastodynamics.link_tree import LinkBody
from flexapod.equations.model.algebra import LinkValues, cross, field, mul, sparse, symmetric
from flexapod.equations.rods.telescopic import FloatingMotion, Telescopes, TelescopesAt, telescope_values
from flexapod.equations.virtual_power.inertia_wrench import tensor
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.program import Program
from flexapod.robot.floating_plan import FloatingPlan, relative_pose
from flexapod.robot.geometry import pose
from flexapod.robot.link_plan import inner_constants
from flexapod.simulation.system.leg_rates import Evaluated, closing_passes
from flexapod.simulation.system.loop_states import moved_pose
from flexapod.spatial.linear import Reflected, solve_symmetric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flexapod.arrays import SX
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.independent import IndependentLayout

REMEMBERED = 24 + Reflected.size(6)
"""Numbers beside the pose: t', second derivatives, rates and coordinates of the slides, factors of W^T."""


def memory_start(robot: Robot, plan: FloatingPlan, y: Sequence[float]) -> list[float]:
    """Memory before the first call: the platform's pose in the floating body, and nothing known of its slope. y: joints,
    position, rotation by columns."""
    n, leg = len(robot.coordinates), plan.body[0]
    at = sum(len(each.moving) for each in robot.legs[:leg])
    platform = pose(np.array(y[n : n + 3]), np.array(y[n + 3 :]).reshape(3, 3).T)
    own = relative_pose(robot, plan, np.array(y[at : at + len(robot.legs[leg].moving)]), platform)
    return [*own.position, *own.rotation.T.ravel(), *[0.0] * REMEMBERED]


@dataclass(frozen=True, kw_only=True)
class Floating:
    """The floating body at a state: rotation and position in the world, angular velocity in its axes; sine and cosine of its
    second angle, rotation about its last axis, rates of its angles."""

    R: SX
    p: SX
    B: SX
    omega: SX
    s: SX
    c: SX
    last: SX
    rates: SX

    def angles(self, alpha: SX) -> SX:
        """Second derivatives (3,) of the angles at an angular acceleration, axes of the body."""
        x, y, z = ca.vertsplit(ca.densify(mul(self.last, alpha)))
        a, b, c = ca.vertsplit(self.rates)
        first = (x + self.s * a * b - b * c) / self.c
        return ca.vertcat(first, y + self.c * a * c, z - self.s * first - self.c * a * b)


class FloatingRobot:
    """The numbers of a robot as a program reads them: the floating body with the masses of the cylinders, the platform with those
    of the pistons, the legs."""

    def __init__(self, program: Program, robot: Robot, plan: FloatingPlan) -> None:
        self.values, (i, last) = LinkValues(program), plan.body
        legs = [self.values.below(f"legs.{leg.name}", dict(inner_constants(leg))) for leg in robot.legs]
        self.legs = [telescope_values(program, *each) for each in zip(legs, robot.legs, plan.legs, strict=True)]
        self.own, self.names = legs[i], [link.coordinate for link in robot.legs[i].links[last - 5 : last + 1]]
        self.base = _body(legs[i], f"{self.names[-1]}.body", [(leg.m_1, leg.U) for leg in self.legs])
        self.platform = _body(self.values, "platform", [(leg.m_2, leg.b) for leg in self.legs])
        self.gravity, self.length = ca.densify(self.values.vec("gravity")), self.values.scalar("characteristic_length")

    def floating(self, q: SX, rates: SX) -> Floating:
        """The floating body at its six coordinates and rates: along x, y, z, then about x, y, z of the frame before."""
        q = q + ca.vertcat(*[self.own.scalar(f"{name}.zero") for name in self.names])
        (cx, sx), (c, s), (cz, sz) = ((ca.cos(angle), ca.sin(angle)) for angle in ca.vertsplit(q[3:]))
        last = _about(2, cz, sz)
        B = mul(self.own.rot(f"{self.names[0]}.R"), sparse(ca.SX(ca.DM([[0, 1, 0], [0, 0, 1], [1, 0, 0]]))))
        one, two, three = ca.vertsplit(rates[3:])
        omega = ca.densify(mul(last.T, ca.vertcat(c * one, two, s * one))) + ca.vertcat(0, 0, three)
        R, p = mul(B, mul(_about(0, cx, sx), mul(_about(1, c, s), last))), self.own.vec(f"{self.names[0]}.p") + mul(B, q[:3])
        return Floating(R=ca.densify(R), p=ca.densify(p), B=B, omega=omega, s=s, c=c, last=last, rates=rates[3:])

    def solved(
        self, legs: Telescopes, at: TelescopesAt, pose: tuple[SX, SX], now: FloatingMotion, wrench: SX
    ) -> FloatingAccelerations:
        """Accelerations of everything, the platform at a pose in the floating body, a wrench (6,) on it in that body's axes."""
        P, base, (m, S, I) = pose[0], self.base, self._platform_in(pose[1])
        own, one, hat = legs.masses(at), sparse(ca.SX.eye(3)), ca.skew(S)
        mixed = ca.mtimes(P, (2 * S + m * P).T)
        whole = base.I + I + ca.trace(mixed) * one - (mixed + mixed.T) / 2 + own.I
        first = ca.skew(base.S + S + m * P + own.first)
        linear, angular = ca.horzcat(m * one, hat.T), ca.horzcat(hat, I)
        M_t = own.M_t + ca.vertcat(linear, mul(ca.skew(P), linear) + angular)
        M = ca.vertcat(
            ca.horzcat((base.m + m) * one, first.T, M_t[:3, :]), ca.horzcat(first, whole, M_t[3:, :]),
            ca.horzcat(M_t.T, own.M_tt + ca.vertcat(linear, angular)),
        )  # fmt: skip
        O, w, U = now.omega, now.t[3:], field(now.omega, ca.SX(3, 1))
        a = mul(U, P) + 2 * ca.cross(O, now.t[:3]) - now.gravity
        f = ca.vertcat(*LinkBody(m=m, S=S, I=I).demanded(field(O + w, cross(O, w)), a)) - wrench
        h, h_t, drift = legs.forces(at, now)
        h = h + ca.vertcat(*base.demanded(U, -now.gravity)) + ca.vertcat(f[:3], f[3:] + ca.cross(P, f[:3]))
        x = solve_symmetric(M, -ca.vertcat(h, h_t + f))
        return FloatingAccelerations(a=x[:3], alpha=x[3:6], t=x[6:], slides=ca.mtimes(at.W.T, x[6:]) + drift)

    def _platform_in(self, Q: SX) -> tuple[SX, SX, SX]:
        """Mass, first moment and tensor of the platform about its origin, in axes of the floating body."""
        return self.platform.m, ca.densify(mul(Q, self.platform.S)), symmetric(mul(mul(Q, self.platform.I), Q.T))


@dataclass(frozen=True, kw_only=True)
class FloatingAccelerations:
    """Accelerations of the floating body's origin and its angular one, t', second derivatives of the slides."""

    a: SX
    alpha: SX
    t: SX
    slides: SX


def _body(values: LinkValues, name: str, masses: Sequence[tuple[SX, SX]]) -> LinkBody:
    """A body with masses at points of it."""
    S, I = ca.densify(values.vec(f"{name}.first_moment")), tensor(values, f"{name}.inertia")
    body = LinkBody(m=values.scalar(f"{name}.mass"), S=S, I=I)
    for mass, x in masses:
        body = body.with_mass(mass, x)
    return body


def _about(axis: int, c: SX, s: SX) -> SX:
    """Rotation about an axis of the frame."""
    i, j = ((1, 2), (2, 0), (0, 1))[axis]
    R = sparse(ca.SX.eye(3))
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def floating_rates(layout: IndependentLayout, plan: FloatingPlan) -> Program:
    """The program; inputs and outputs as of `leg_rates`.

    Checked by: tests/bridges/test_fmu_catalogue.py, tests/bridges/test_floating_hexapod.py.
    """
    root = Program("rates", factored=True)
    robot = FloatingRobot(root, layout.robot, plan)
    x = root.input("state", (24,))
    memory = root.input("memory", (12 + REMEMBERED,))
    signals = root.input("signals", (layout.width,))

    def evaluated(b: Builder, y: SX) -> Evaluated:
        return _evaluated(b, robot, y, x, layout.at_node(signals))

    closing_passes(root, layout, x, _predicted(memory, x[:6]), evaluated, REMEMBERED)
    return root


def _predicted(memory: SX, q: SX) -> SX:
    """The platform's pose in the floating body for coordinates q of the slides, to second order from the last call."""
    (t, second, rates, before), factors = (memory[k : k + 6] for k in (12, 18, 24, 30)), Reflected(memory[36:], 6)
    step, square = q - before, ca.dot(rates, rates)
    tau = ca.dot(step, rates) / ca.if_else(square > 0, square, 1)
    half = tau * tau / 2
    return moved_pose(memory[:12], factors.solve(step - half * second) + half * t, second=True)


def _evaluated(b: Builder, robot: FloatingRobot, y: SX, x: SX, signals: dict[str, SX]) -> Evaluated:
    """One pass; see `Evaluated`."""
    q, qd = x[:6], x[12:18]
    legs, p, Q = Telescopes(b, robot.legs), y[:3], ca.reshape(y[3:], 3, 3)
    at = legs.at(p, Q, q)
    factors = Reflected.of(at.W.T)
    delta, t = -factors.solve(at.residual), factors.solve(qd)
    base = robot.floating(x[6:12], x[18:])
    wrench = ca.vertcat(*[ca.densify(mul(base.R.T, part)) for part in ca.vertsplit(signals.get("wrench", ca.SX(6, 1)), 3)])
    gravity = ca.densify(mul(base.R.T, robot.gravity))
    now = FloatingMotion(t=t, rates=qd, force=signals["force"], omega=base.omega, gravity=gravity)
    found = robot.solved(legs, at, (p, Q), now, wrench)
    largest = ca.norm_2(delta / ca.vertcat(*[robot.length] * 3, 1, 1, 1))
    following = moved_pose(y, delta * ca.fmin(1, LARGEST_STEP / ca.if_else(largest > 0, largest, 1)))
    P, rotation = following[:3], ca.mtimes(base.R, ca.reshape(following[3:], 3, 3))
    velocity = ca.densify(mul(base.B, x[18:21])) + ca.mtimes(base.R, ca.cross(base.omega, p) + t[:3])
    result = ca.vertcat(
        q, qd, base.p + ca.mtimes(base.R, P), ca.vec(rotation.T), velocity, ca.mtimes(base.R, base.omega + t[3:])
    )
    a = ca.vertcat(found.slides, ca.densify(mul(base.B.T, ca.mtimes(base.R, found.a))), base.angles(found.alpha))
    return following, largest, [a, result, ca.vertcat(found.t, found.slides, qd, q, factors.numbers), found.slides]
