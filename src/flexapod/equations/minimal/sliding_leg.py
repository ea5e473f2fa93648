r"""A P-U-S leg with constant masses at its two ends, and what it asks of the platform.

Letters: U = U0 + t e on the rail, d = S - U, |d| = L, g = e.(S - U0), rho = d.e; k = z x axis1 (horizontal), w = k.d,
z = d_z; I_a axial inertia, J that of link and cross about axis1.

Because L is constant, the link's kinetic energy without spin is that of masses at U and S and of their product:

.. math:: m_{SS} = A/L^2,\quad m_{SU} = f/L - A/L^2,\quad m_{UU} = m - 2f/L + A/L^2 + m_{slider} + m_{cross}

with m, f, A its mass, first moment and transverse inertia about U. m_SS moves to the platform. The universal joint adds
:math:`\tfrac12\dot\theta^2(J - I_a\rho_1^2/L^2)`, a function of (w, z) alone. The leg's force on the platform is
kappa d - h, modulo d.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.equations.minimal.vectors import Scalar, Triple, add, dot, scale, subtract
from flexapod.equations.values import Values
from flexapod.kernels.program import Program
from flexapod.robot.robot import Robot

SINGULAR = 1e-9
"""Cosine between leg and rail below which the leg stands at right angles to its rail."""
ALONG_AXIS = 1e-12
"""Squared sine between leg and first universal axis below which they are parallel."""


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
    base = f"legs.{name}"

    def number(path: str) -> Scalar:
        return values.scalar(f"{base}.{path}") if f"{base}.{path}" in robot.values else 0

    L = values.scalar(f"{base}.length")
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
    """What the leg asks: its vector d, force h at S, and its actuator force for kappa d by `force`."""

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
        bent = self.m
        p = scale(self.phi, bent)

        def entry(i: int, j: int) -> Scalar:
            return delta[i] * eta[j] + e[i] * delta[j] + p[i] * bent[j]

        return entry(0, 0), entry(0, 1), entry(1, 1), entry(0, 2), entry(1, 2), entry(2, 2)


@dataclass(frozen=True, kw_only=True)
class Slide:
    """Motion along the rail: d, rho = d.e, its reciprocal, and the rates of the travel."""

    d: Triple
    rho: Scalar
    inverse: Scalar
    second: Scalar
    relative: Triple


def slide(b: Program, values: Values, name: str, branch: int, d0: Triple, rate: Triple, second: Triple) -> Slide:
    """Travel of the slider and its rates from the motion of S."""
    e, L = _rail(values, name), values.scalar(f"legs.{name}.length")
    g = dot(e, d0)
    square = (L * L) - dot(d0, d0) + g * g
    b.fail_if(ca.logic_not(square >= 0), "leg {leg} cannot reach: its platform joint is too far from the rail", leg=name)
    rho = -branch * ca.sqrt(square)
    turning = ca.logic_not(square > (SINGULAR * SINGULAR) * (L * L))
    b.fail_if(turning, "leg {leg} stands at right angles to its rail (turning point)", leg=name)
    d = subtract(d0, scale(g - rho, e))
    inverse = 1 / rho
    t_rate = dot(d, rate) * inverse
    relative = subtract(rate, scale(t_rate, e))
    t_second = (dot(d, second) + dot(relative, relative)) * inverse
    return Slide(d=d, rho=rho, inverse=inverse, second=t_second, relative=relative)


def sliding_leg(
    b: Program,
    values: Values,
    name: str,
    upright: bool | None,
    inertia: SlidingInertia,
    gravity: Triple,
    motion: Slide,
    second: Triple,
) -> SlidingLeg:
    """The leg from its slide and the acceleration of S.

    Args:
        upright: k is divided by its y component (else by x); None where nothing spins.

    Checked by: tests/equations/test_minimal.py.
    """
    e, i = _rail(values, name), inertia
    h = scale(i.m_SU * motion.second, e)
    along = i.m_SU * dot(e, second) + (i.m_UU * motion.second - i.weight_U * dot(e, gravity))
    if upright is not None:
        G, phi, m = _spin(b, values, name, upright, inertia, motion, second)
        along, h = along - dot(e, G), add(h, G)
        m = subtract(m, scale(dot(e, m) * motion.inverse, motion.d))
    else:
        phi, m = 0, (0, 0, 0)
    return SlidingLeg(
        d=motion.d, h=h, along=along, rho=motion.rho, inverse=motion.inverse,
        m_UU=i.m_UU, product=scale(i.m_SU, e), phi=phi, m=m,
    )  # fmt: skip


def _rail(values: Values, name: str) -> Triple:
    x, y, z = (values.scalar(f"legs.{name}.drive.{k}") for k in "xyz")
    return x, y, z


def _spin(
    b: Program, values: Values, name: str, upright: bool, i: SlidingInertia, motion: Slide, second: Triple
) -> tuple[Triple, Scalar, Triple]:
    r"""Force of the spin, and its inertia phi m m^T: :math:`G = \Gamma(z k - w \hat z) + P\dot\theta^2 (w k + z \hat z)`.

    .. math:: \dot\theta = q(z\dot w - w\dot z),\quad
              \Gamma = q\,[(Jq-P)(z\ddot w - w\ddot z) - 2Jq(w\dot w+z\dot z)\dot\theta],\quad q = 1/(w^2+z^2)

    k is scaled to have a 1; then q, Gamma and theta' are scaled with it.
    """
    e = _rail(values, name)
    kx, ky = -values.scalar(f"legs.{name}.axis1.y"), values.scalar(f"legs.{name}.axis1.x")
    s = ky if upright else kx
    k1, ss = (kx if upright else ky) / s, 1 / (s * s)

    def along_k(u: Triple) -> Scalar:
        return k1 * u[0] + u[1] if upright else u[0] + k1 * u[1]

    d, L = motion.d, values.scalar(f"legs.{name}.length")
    w, z, zs = along_k(d), d[2], ss * d[2]
    w1, z1 = along_k(motion.relative), motion.relative[2]
    w2 = along_k(second) - along_k(e) * motion.second
    z2 = second[2] - e[2] * motion.second
    size = w * w + zs * z
    b.fail_if(ca.logic_not(size > ALONG_AXIS * (L * L) * ss), "leg {leg} lies along its first universal axis", leg=name)
    q = 1 / size
    turn = q * (w1 * z - z1 * w)
    j = (i.J * ss) * q
    twice = 2 * ((w * w1 + zs * z1) * turn)
    Gamma = q * ((j - i.P) * (w2 * z - z2 * w) - j * twice)
    centre = i.P * (turn * turn)
    G_w = Gamma * z + centre * w
    G_z = centre * zs - Gamma * w
    G = (k1 * G_w, G_w, G_z) if upright else (G_w, k1 * G_w, G_z)
    return G, q * (j - i.P), (k1 * z, z, -w) if upright else (z, k1 * z, -w)
