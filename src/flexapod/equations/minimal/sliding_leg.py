r"""A P-U-S leg with constant masses at its two ends, and its force on the platform.

Letters: U = U0 + t e on the rail, d = S - U, |d| = L, g = e.(S - U0), rho = d.e.

Because L is constant, the link's kinetic energy without spin is that of masses at U and S and of their product:

.. math:: m_{SS} = A/L^2,\quad m_{SU} = f/L - A/L^2,\quad m_{UU} = m - 2f/L + A/L^2 + m_{slider} + m_{cross}

with m, f, A its mass, first moment and transverse inertia about U. m_SS moves to the platform; what the universal joint adds
is in `sliding_spin`. The leg's force on the platform is kappa d - h.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from flexapod.equations.minimal.planning import MinimalPlan
from flexapod.equations.minimal.slide import Slide
from flexapod.equations.minimal.sliding_spin import sliding_spin
from flexapod.equations.minimal.vectors import Scalar, Triple, add, dot, scale, subtract
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot

if TYPE_CHECKING:
    from flexapod.equations.minimal.model import MinimalModel


@dataclass(frozen=True, kw_only=True)
class SlidingInertia:
    """Hoisted numbers of a leg: masses at S and U, weight at U, inertias of the spin (J, I_a/L^2)."""

    m_SS: Scalar
    m_SU: Scalar
    m_UU: Scalar
    weight_U: Scalar
    J: Scalar
    P: Scalar


def sliding_inertia(robot: Robot, values: Values, name: str, driven: str) -> SlidingInertia:
    """The numbers of one leg; bodies that it does not have count nothing."""
    own = values.of(f"legs.{name}")
    number = partial(own.scalar_or_zero, known=robot.values)
    L = own.scalar("length")
    mass, first = number("in_L.0.mass"), number("in_L.0.first_moment.z") / L
    m_SS = number("in_L.0.inertia.xx") / (L * L)
    carried = number("carrier.mass") + number("in_C.0.mass")
    leg = next(leg for leg in robot.legs if leg.name == name)
    axial = number("in_L.0.inertia.zz")
    return SlidingInertia(
        m_SS=m_SS,
        m_SU=first - m_SS,
        m_UU=mass - 2 * first + m_SS + carried + number(f"{driven}.rotor"),
        weight_U=mass - first + carried,
        J=axial + number("in_C.0.inertia.xx") + number(f"{leg.links[1].coordinate}.rotor"),
        P=axial / (L * L),
    )


@dataclass(frozen=True, kw_only=True)
class SlidingLeg:
    """Force of the leg on the platform, and on the actuator.

    Args:
        d, h: its vector, and the force at S.
        along: actuator force for kappa = 0.
        rho, inverse: d.e and its reciprocal.
        m_UU, product: mass at U and m_SU e.
        phi, m: inertia of the spin, phi m m^T at S with the slider following.
    """

    d: Triple
    h: Triple
    along: Scalar
    rho: Scalar
    inverse: Scalar
    m_UU: Scalar
    product: Triple
    phi: Scalar
    m: Triple

    def force(self, kappa: Scalar) -> Scalar:
        """Actuator force for the force kappa d on the platform."""
        return self.rho * kappa + self.along

    @property
    def delta(self) -> Triple:
        """d/rho: acceleration of the slider per acceleration of S."""
        return scale(self.inverse, self.d)

    def on_platform(self, force: Scalar) -> Triple:
        """Force on the platform for an actuator force."""
        return subtract(scale(force - self.along, self.delta), self.h)

    @property
    def mass(self) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar, Scalar]:
        r"""Mass matrix at S without m_SS: xx, xy, yy, xz, yz, zz.

        .. math:: m_{SU}(e\delta^T + \delta e^T) + m_{UU}\delta\delta^T + \varphi\,\tilde m\tilde m^T,
                  \qquad \tilde m = m - \delta(e\cdot m)
        """
        delta, e = self.delta, self.product
        eta = add(e, scale(self.m_UU, delta))
        curved = self.m
        p = scale(self.phi, curved)

        def entry(i: int, j: int) -> Scalar:
            return delta[i] * eta[j] + e[i] * delta[j] + p[i] * curved[j]

        return entry(0, 0), entry(0, 1), entry(1, 1), entry(0, 2), entry(1, 2), entry(2, 2)


def sliding_leg(b: Program, m: MinimalModel, plan: MinimalPlan, leg: int, motion: Slide) -> SlidingLeg:
    """The leg from its slide.

    Args:
        leg: its index in the plan, which has the kind of its first universal axis; `none` where nothing spins about it.

    Checked by: tests/equations/test_minimal.py.
    """
    e, i, axis = motion.rail, m.sliding[leg], plan.axes[leg]
    h = scale(i.m_SU * motion.second, e)
    along = i.m_SU * dot(e, motion.acceleration) + (i.m_UU * motion.second - i.weight_U * dot(e, m.gravity))
    phi: Scalar = 0
    across: Triple = (0, 0, 0)
    if axis != "none":
        spin = sliding_spin(b, m.values, plan.legs[leg], axis, i, motion)
        along, h, phi = along - dot(e, spin.force), add(h, spin.force), spin.phi
        across = subtract(spin.t, scale(dot(e, spin.t) * motion.inverse, motion.d))
    return SlidingLeg(
        d=motion.d, h=h, along=along, rho=motion.rho, inverse=motion.inverse,
        m_UU=i.m_UU, product=scale(i.m_SU, e), phi=phi, m=across,
    )  # fmt: skip
