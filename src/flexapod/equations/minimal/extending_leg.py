r"""A U-P-S leg divided by its vertical component: its force on the platform, in the plane.

Letters: d = S - U, z its vertical component, (X, Y) = d_xy/z, D = (X, Y, 1), N = |D|^2, lambda = 1/|d|; v, a horizontal parts of
d' and d'' less their multiples of D.

The piston's mass is moved to the platform. Without spin the rest of the leg has the kinetic energy
:math:`\tfrac{\mu}{2}(|\dot d|^2-\dot l^2)` with :math:`\mu = A_0\lambda^2 + B\lambda`; what the universal joint adds is in
`extending_spin`. A rotor on the length, :math:`\tfrac12 I\dot l^2`, is a mass I at S and -I in mu.
The leg's force on the platform is kappa D - h with h_z = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.equations.minimal.extending_spin import PlanarMotion, extending_spin
from flexapod.equations.minimal.planning import MinimalPlan
from flexapod.equations.minimal.vectors import MovingVector, Scalar, Triple
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot

if TYPE_CHECKING:
    from flexapod.equations.minimal.model import MinimalModel

FLAT = 1e4
"""N above which a leg counts as level with its base joint (slope 1:100); rounding grows with N."""


@dataclass(frozen=True, kw_only=True)
class ExtendingInertia:
    """Hoisted numbers of a leg.

    Args:
        piston: its mass [kg], moved to S.
        rotor: inertia on the leg's length [kg], moved to S as well.
        A0, B: of mu.
        first: sum of first moments along the leg [kg m], about U and S.
        first_piston: of the piston about S.
        axial: I_a.
        about_axis1: J.
    """

    piston: Scalar
    rotor: Scalar
    A0: Scalar
    first: Scalar
    first_piston: Scalar
    axial: Scalar
    about_axis1: Scalar


def extending_inertia(robot: Robot, values: Values, name: str, driven: str) -> ExtendingInertia:
    """The numbers of one leg; bodies that it does not have count nothing."""
    own = values.of(f"legs.{name}")
    number = partial(own.scalar_or_zero, known=robot.values)
    tip, first_p, mass_p = number("tip"), number("in_L.1.first_moment.z"), number("in_L.1.mass")
    leg = next(leg for leg in robot.legs if leg.name == name)
    axial = number("in_L.0.inertia.zz") + number("in_L.1.inertia.zz")
    about_S = number("in_L.1.inertia.xx") + tip * (mass_p * tip - 2 * first_p)
    first_piston = first_p - mass_p * tip
    return ExtendingInertia(
        piston=mass_p,
        rotor=number(f"{driven}.rotor"),
        A0=number("in_L.0.inertia.xx") + about_S,
        first=number("in_L.0.first_moment.z") + first_piston,
        first_piston=first_piston,
        axial=axial,
        about_axis1=axial + number("in_C.0.inertia.xx") + number(f"{leg.links[0].coordinate}.rotor"),
    )


@dataclass(frozen=True, kw_only=True)
class ExtendingLeg:
    """Force of the leg on the platform, and on the actuator.

    Args:
        slope: (X, Y).
        h: its horizontal force.
        root, inverse: sqrt(N), with the sign of z, and its reciprocal.
        along: actuator force for kappa = 0.
        mu, phi: inertia across the leg, and of the spin along m.
        m: across the leg, (k, -w).
    """

    slope: tuple[Scalar, Scalar]
    h: tuple[Scalar, Scalar]
    root: Scalar
    inverse: Scalar
    along: Scalar
    mu: Scalar
    phi: Scalar
    m: Triple

    def force(self, kappa: Scalar) -> Scalar:
        r"""Actuator force :math:`f = \sqrt N\,\kappa + n\cdot G - h\cdot(X,Y)/\sqrt N`."""
        return self.root * kappa + self.along

    def on_platform(self, force: Scalar) -> Triple:
        """Force on the platform for an actuator force."""
        kappa = (force - self.along) * self.inverse
        return kappa * self.slope[0] - self.h[0], kappa * self.slope[1] - self.h[1], kappa

    @property
    def mass(self) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]:
        r"""Mass matrix at S, :math:`\mu(1 - D D^T/N) + \varphi\,m m^T`: xx, xy, yy, xz, yz, zz."""
        X, Y = self.slope
        z = self.mu * (self.inverse * self.inverse)
        x, y = z * X, z * Y
        p, q, w = (self.phi * entry for entry in self.m)
        return (
            self.mu - x * X + p * self.m[0],
            p * self.m[1] - x * Y,
            self.mu - y * Y + q * self.m[1],
            p * self.m[2] - x,
            q * self.m[2] - y,
            self.mu - z + w * self.m[2],
        )


def extending_leg(b: Program, m: MinimalModel, plan: MinimalPlan, leg: int, motion: MovingVector) -> ExtendingLeg:
    """The leg from its vector d, d', d''.

    Args:
        leg: its index in the plan, which has the sign of z and the kind of its first universal axis.
        motion: of d.

    Checked by: tests/equations/test_minimal.py.
    """
    i, gravity, name, side = m.extending[leg], m.gravity, plan.legs[leg], plan.side
    d, rate, second = motion.at, motion.rate, motion.second
    zi = 1 / d[2]
    X, Y = d[0] * zi, d[1] * zi
    N = 1 + X * X + Y * Y
    upright = ca.logic_and(side * d[2] > 0, N < FLAT)
    b.fail_if(ca.logic_not(upright), "leg {leg} lies level with its base joint, where these equations are singular", leg=name)
    root = side * ca.sqrt(N)
    ri = 1 / root
    lam = zi * ri
    vx, vy = rate[0] - X * rate[2], rate[1] - Y * rate[2]
    ax, ay = second[0] - X * second[2], second[1] - Y * second[2]
    # rates of lambda and mu: lambda'/lambda = -(z'/z + e)
    zeta = rate[2] * zi
    e = (X * vx + Y * vy) * ri * lam
    lam2 = lam * lam
    m2 = i.A0 * lam2
    mu = (2 * i.first_piston) * lam + m2 - i.rotor
    mu_rate = -(zeta + e) * (mu + i.rotor + m2)
    planar = PlanarMotion(slope=(X, Y), v=(vx, vy), a=(ax, ay), zi=zi, lam2=lam2, zeta=zeta, e=e)
    spin = extending_spin(b, m.values, name, plan.axes[leg], i, planar)
    slope = spin.slope + (i.first * gravity[2]) * lam
    hx = mu * ax + mu_rate * vx + spin.pull[0] + slope * X - (i.first * gravity[0]) * lam
    hy = mu * ay + mu_rate * vy + spin.pull[1] + slope * Y - (i.first * gravity[1]) * lam
    rotating = lam2 * (vx * vx + vy * vy) - e * e
    along = (i.rotor * d[2] * root - i.first_piston) * rotating - ri * (hx * X + hy * Y)
    return ExtendingLeg(slope=(X, Y), h=(hx, hy), root=root, inverse=ri, along=along, mu=mu, phi=spin.phi, m=spin.m)
