r"""Telescopic legs between a floating body and the platform: universal joint U, slide, ball S; bodies symmetric about the line.

All vectors are in axes of the floating body, whose angular velocity is :math:`\Omega`; dots are rates seen from it. d from U to
S, n = d/L. With :math:`\mu_1, J_1` first moment and transverse tensor of the cylinder about U, :math:`\mu_2, J_2` those of the
piston about S, :math:`J = J_1 + J_2`, masses of the cylinders belong to the floating body at U, those of the pistons to the
platform at S, and the rest of a leg's kinetic energy is

.. math:: T = n^\circ\cdot(\mu_1v_U - \mu_2v_S) + \tfrac12Jn^{\circ2} + \tfrac12\rho\dot L^2 + \tfrac12I_a\omega_n^2,\qquad
          n^\circ = \dot n + \Omega\times n,\quad \dot n = (\dot S - \dot Ln)/L

The universal joint, first axis e on the floating body, spins the leg about its line; k = e.n, x = e x n,
:math:`\gamma = k/(1-k^2)`:

.. math:: \omega_n = n\cdot\Omega + \gamma\,x\cdot\dot n,\qquad
          \dot\omega_n = \dot n\cdot\Omega + (e\cdot\dot n)\frac{1+k^2}{(1-k^2)^2}\,x\cdot\dot n + \gamma\,x\cdot\ddot n

t = (v, w) is the platform's motion seen from the floating body, :math:`\dot L = W\cdot t` with W = (n, s x n), s from the
platform's origin to S.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.model.algebra import LinkValues, mul, sparse
from flexapod.equations.rods.in_loops import SymbolColumns
from flexapod.equations.rods.rod import NO_SYMMETRY
from flexapod.equations.virtual_power.inertia_wrench import tensor
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.program import Program
from flexapod.robot.floating_plan import Telescope
from flexapod.robot.model import Leg
from flexapod.robot.rod_plan import SYMMETRIC

LOWER = [(i, j) for i in range(3) for j in range(i + 1)]
"""Entries of a symmetric matrix (3, 3)."""


@dataclass(frozen=True, kw_only=True)
class TelescopeValues:
    """Numbers of a leg, of parameters alone: U and e in axes of the floating body, S in those of the platform, L less the slide's
    coordinate; masses, first moments, J, axial inertia, inertia of the drive."""

    U: SX
    e: SX
    b: SX
    zero: SX
    m_1: SX
    m_2: SX
    mu_1: SX
    mu_2: SX
    J: SX
    axial: SX
    rotor: SX


def telescope_values(program: Program, values: LinkValues, leg: Leg, own: Telescope) -> TelescopeValues:
    """Read the numbers of a leg; the program refuses one that is not symmetric."""
    cross, cylinder, piston = (leg.links[k].coordinate for k in (own.cross, own.cylinder, own.piston))
    U, e = values.vec(f"{cross}.p"), values.rot(f"{cross}.R")[:, 2]
    if own.seat is not None:
        name = own.seat.joint
        R = mul(values.rot(f"{name}.on_platform.R"), values.rot(f"{name}.on_link.R").T)
        U, e = values.vec(f"{name}.on_platform.p") + mul(R, U - values.vec(f"{name}.on_link.p")), mul(R, e)
    ball, line, Z = values.vec(f"{own.ball.joint}.on_link.p"), ca.densify(values.rot(f"{piston}.R")[:, 2]), ca.SX([0, 0, 1])
    place = ca.densify(values.vec(f"{piston}.p"))
    m_1, m_2 = (values.scalar(f"{link}.body.mass") for link in (cylinder, piston))
    S_1, S_2 = (ca.densify(values.vec(f"{link}.body.first_moment")) for link in (cylinder, piston))
    I_1, I_2 = (tensor(values, f"{link}.body.inertia") for link in (cylinder, piston))
    for S, I, m, n in ((S_1, I_1, m_1, line), (S_2, I_2, m_2, Z)):
        along, size = ca.densify(mul(n.T, mul(I, n))), ca.trace(I)
        off = I - ((size - along) / 2 * ca.SX.eye(3) + (3 * along - size) / 2 * ca.mtimes(n, n.T))
        program.fail_if(ca.sumsqr(off) > SYMMETRIC**2 * size**2, NO_SYMMETRY, leg=leg.name)
        program.fail_if(ca.sumsqr(ca.cross(S, n)) > SYMMETRIC**2 * m * size, NO_SYMMETRY, leg=leg.name)
    program.fail_if(ca.sumsqr(ca.cross(place, line)) > SYMMETRIC**2, NO_SYMMETRY, leg=leg.name)
    axial_1, far = ca.dot(line, ca.densify(mul(I_1, line))), ca.densify(ball)[2]
    J_2 = (I_2[0, 0] + I_2[1, 1]) / 2 - 2 * far * S_2[2] + m_2 * far**2
    return TelescopeValues(
        U=ca.densify(U), e=ca.densify(e), b=ca.densify(values.vec(f"{own.ball.joint}.on_platform.p")),
        zero=ca.dot(place, line) + values.scalar(f"{piston}.zero") + far, m_1=m_1, m_2=m_2, mu_1=ca.dot(S_1, line),
        mu_2=m_2 * far - S_2[2], J=(ca.trace(I_1) - axial_1) / 2 + J_2, axial=axial_1 + I_2[2, 2],
        rotor=values.scalar(f"{piston}.rotor"),
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TelescopesAt:
    """Legs at a pose, a column each: s, n, L, 1/L; W (6, legs), residuals (legs,) of L less the slides' coordinates."""

    s: SX
    n: SX
    L: SX
    per_L: SX
    W: SX
    residual: SX


@dataclass(frozen=True, kw_only=True)
class FloatingMotion:
    """Motion in axes of the floating body: t, rates and forces of the slides (legs,), its angular velocity, gravity."""

    t: SX
    rates: SX
    force: SX
    omega: SX
    gravity: SX


@dataclass(frozen=True, kw_only=True)
class Masses:
    """Sums over the legs without the masses at U and S: M_tt (6, 6); M_t (6, 6) momentum of all legs per t, linear and angular
    about the floating body's origin; first moment (3,) and tensor (3, 3) about that origin."""

    M_tt: SX
    M_t: SX
    first: SX
    I: SX


class Telescopes:
    """All telescopic legs of a robot.

    Args:
        b: builder of the body that the loops are in.
    """

    def __init__(self, b: Builder, values: list[TelescopeValues]) -> None:
        self.b, self.values, self.count = b, values, len(values)

    def _own(self, c: SymbolColumns, *names: str) -> list[SX]:
        return [c.of_each(name, [getattr(v, name) for v in self.values]) for name in names]

    def at(self, p: SX, Q: SX, q: SX) -> TelescopesAt:
        """Legs at a pose of the platform in the floating body's frame and coordinates q of the slides."""
        c = SymbolColumns()
        U, b, zero = self._own(c, "U", "b", "zero")
        q, p, rotation = c.of_each("q", ca.vertsplit(q)), c.of_all("p", p), ca.reshape(c.of_all("Q", ca.vec(Q)), 3, 3)
        s = ca.mtimes(rotation, b)
        d = p + s - U
        L = ca.sqrt(ca.dot(d, d))
        per_L = 1 / L
        n = d * per_L
        s, n, L, per_L, W, residual = c.mapped(self.b, [s, n, L, per_L, ca.vertcat(n, ca.cross(s, n)), L - zero - q], self.count)
        return TelescopesAt(s=s, n=n, L=L, per_L=per_L, W=W, residual=residual.T)

    def masses(self, at: TelescopesAt) -> Masses:
        """Momenta of S, of all legs and about the floating body's origin per unit velocity of S, then per t: [1, -s^]."""
        c = SymbolColumns()
        U, e, mu_1, mu_2, J, axial, rotor = self._own(c, "U", "e", "mu_1", "mu_2", "J", "axial", "rotor")
        s, n, L, per_L = _seen(c, at, "s", "n", "L", "per_L")
        k, x, less, stretch = ca.dot(e, n), ca.cross(e, n), mu_1 - mu_2, J - 2 * mu_2 * L
        spun, kappa, alpha = (k / (1 - k * k) * per_L) * x, less * per_L, (J * per_L - 2 * mu_2) * per_L
        nn, one = ca.mtimes(n, n.T), ca.SX.eye(3)
        at_S = alpha * one + (rotor - alpha) * nn + ca.mtimes(axial * spun, spun.T)
        moment = ca.skew(kappa * U + (stretch * per_L) * n) + ca.mtimes(axial * n, spun.T)
        moment = moment - ca.mtimes(kappa * ca.cross(U, n), n.T)
        linear, arm = kappa * one - kappa * nn, ca.skew(s)
        far_S = ca.mtimes(arm, at_S)
        E = less * (ca.mtimes(U, n.T) + ca.mtimes(n, U.T)) + (stretch - axial) * nn
        outputs = [
            _low(at_S), ca.vec(far_S), _low(-ca.mtimes(far_S, arm)), _low(linear), ca.vec(-ca.mtimes(linear, arm)),
            ca.vec(moment), ca.vec(-ca.mtimes(moment, arm)), less * n, _low(E),
        ]  # fmt: skip
        a, ab, b, f, fw, m, mw, first, E = (_matrix(ca.sum2(x)) for x in c.mapped(self.b, outputs, self.count))
        I = (ca.trace(E) + sum(v.axial for v in self.values)) * sparse(ca.SX.eye(3)) - E
        M_tt = ca.vertcat(ca.horzcat(a, ab.T), ca.horzcat(ab, b))
        return Masses(M_tt=M_tt, M_t=ca.vertcat(ca.horzcat(f, fw), ca.horzcat(m, mw)), first=first, I=I)

    def forces(self, at: TelescopesAt, now: FloatingMotion) -> tuple[SX, SX, SX]:
        """Forces that the motion demands along the floating body's directions (6,), about its origin, and along t (6,), less
        those of the slides; second derivatives (legs,) of L at t' = 0."""
        c = SymbolColumns()
        U, e, mu_1, mu_2, J, axial, rotor = self._own(c, "U", "e", "mu_1", "mu_2", "J", "axial", "rotor")
        s, n, L, per_L = _seen(c, at, "s", "n", "L", "per_L")
        rate, force = c.of_each("rate", ca.vertsplit(now.rates)), c.of_each("force", ca.vertsplit(now.force))
        t, O, g = c.of_all("t", now.t), c.of_all("O", now.omega), c.of_all("g", now.gravity)
        less, arm = mu_1 - mu_2, ca.cross(t[3:], s)
        nd, pulled = (t[:3] + arm - rate * n) * per_L, ca.cross(t[3:], arm)
        drift = ca.dot(n, pulled) + L * ca.dot(nd, nd)
        ndd = (pulled - drift * n - 2 * rate * nd) * per_L
        first = nd + ca.cross(O, n)
        second = ndd + ca.cross(O, nd + first)
        k, x = ca.dot(e, n), ca.cross(e, n)
        ratio = 1 / (1 - k * k)
        tau = ca.dot(x, nd)
        spin = axial * (ca.dot(n, O) + k * ratio * tau)
        grown = axial * (ca.dot(nd, O) + (ca.dot(e, nd) * (1 + k * k) * ratio * tau + k * ca.dot(x, ndd)) * ratio)
        Y = less * (ca.cross(O, ca.cross(O, U)) - g) + (J - mu_2 * L) * second - (2 * mu_2 * rate) * first
        moment = ca.cross(n, Y - (mu_2 * L) * second) + less * ca.cross(U, second) + grown * n + spin * first
        across = Y - ca.dot(n, Y) * n + spin * ca.cross(first, n) + (grown * k * ratio) * x
        f = per_L * across - mu_2 * second + (rotor * drift - force) * n
        outputs = [ca.vertcat(less * second, moment), ca.vertcat(f, ca.cross(s, f)), drift]
        h, h_t, drifts = c.mapped(self.b, outputs, self.count)
        return ca.sum2(h), ca.sum2(h_t), drifts.T


def _seen(c: SymbolColumns, at: TelescopesAt, *names: str) -> list[SX]:
    return [c.of_each(name, ca.horzsplit(getattr(at, name))) for name in names]


def _low(A: SX) -> SX:
    """Entries (6,) of a symmetric matrix (3, 3)."""
    return ca.vertcat(*[A[i, j] for i, j in LOWER])


def _matrix(entries: SX) -> SX:
    """A matrix (3, 3) from its nine entries by columns, or six where it is symmetric; vectors as they are."""
    if entries.numel() != len(LOWER):
        return ca.reshape(entries, 3, entries.numel() // 3)
    A = ca.SX(3, 3)
    for k, (i, j) in enumerate(LOWER):
        A[i, j] = A[j, i] = entries[k]
    return A
