r"""Telescopic legs between a floating body and the platform: universal joint U, slide, ball S; bodies symmetric about the line.

All vectors are in axes of the floating body, whose angular velocity is :math:`\Omega`; dots are rates seen from it. d from U to S,
n = d/L. With :math:`\mu_1, J_1` first moment and transverse tensor of the cylinder about U, :math:`\mu_2, J_2` those of the piston
about S, :math:`J = J_1 + J_2`, masses of the cylinders belong to the floating body at U, those of the pistons to the platform at
S, and the rest of a leg's kinetic energy is

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
from typing import Any

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.model.algebra import LinkValues, mul, sparse
from flexapod.equations.rods.in_loops import Columns
from flexapod.equations.rods.rod import NO_SYMMETRY
from flexapod.equations.virtual_power.inertia_wrench import tensor
from flexapod.kernels.tape.control_flow import Builder
from flexapod.kernels.tape.program import Program
from flexapod.robot.floating_plan import Telescope
from flexapod.robot.model import Leg
from flexapod.robot.rod_plan import SYMMETRIC

LOWER = [(i, j) for i in range(6) for j in range(i + 1)]
"""Entries of a symmetric matrix (6, 6)."""


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
    (m_1, S_1, I_1), (m_2, S_2, I_2) = (
        (values.scalar(f"{link}.body.mass"), ca.densify(values.vec(f"{link}.body.first_moment")), tensor(values, f"{link}.body.inertia"))
        for link in (cylinder, piston)
    )  # fmt: skip
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
    """Legs at a pose, a column each: s, n, U x n, L, 1/L; W (6, legs), residuals L less the slides' (legs,)."""

    s: Any
    n: Any
    arm: Any
    L: Any
    per_L: Any
    W: Any
    residual: Any


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Sums over the legs without the masses at U and S.

    Args:
        M_tt: (6, 6), M_t: (6, 6) momentum of the floating body's directions per t (linear, angular about its origin).
        first: (3,) first moment; I: (3, 3) tensor about the floating body's origin.
        h, h_t: (6,) forces that the motion demands along both.
        drift: (legs,) second derivative of L at t' = 0.
    """

    M_tt: Any
    M_t: Any
    first: Any
    I: Any
    h: Any
    h_t: Any
    drift: Any


class Telescopes:
    """All telescopic legs of a robot.

    Args:
        b: builder of the body that the loops are in.
    """

    def __init__(self, b: Builder, values: list[TelescopeValues]) -> None:
        self.b, self.values, self.count = b, values, len(values)

    def _own(self, c: Columns, *names: str) -> list[SX]:
        return [c.of_each(name, [getattr(v, name) for v in self.values]) for name in names]

    def at(self, p: SX, Q: SX, q: SX) -> TelescopesAt:
        """Legs at a pose of the platform in the floating body's frame and coordinates q of the slides."""
        c = Columns()
        U, b, zero = self._own(c, "U", "b", "zero")
        q, p, rotation = c.of_each("q", ca.vertsplit(q)), c.of_all("p", p), ca.reshape(c.of_all("Q", ca.vec(Q)), 3, 3)
        s = ca.mtimes(rotation, b)
        d = p + s - U
        L = ca.sqrt(ca.dot(d, d))
        per_L = 1 / L
        n = d * per_L
        found = c.mapped(self.b, [s, n, ca.cross(U, n), L, per_L, ca.vertcat(n, ca.cross(s, n)), L - zero - q], self.count)
        return TelescopesAt(**dict(zip(("s", "n", "arm", "L", "per_L", "W"), found[:6], strict=True)), residual=found[6].T)

    def terms(self, at: TelescopesAt, t: SX, rates: SX, omega: SX, gravity: SX) -> Terms:
        """Terms at the motion t, rates of the slides, angular velocity and gravity of the floating body."""
        c = Columns()
        U, e, mu_1, mu_2, J, axial, rotor = self._own(c, "U", "e", "mu_1", "mu_2", "J", "axial", "rotor")
        s, n, arm, L, per_L, W = (c.of_each(k, ca.horzsplit(getattr(at, k))) for k in ("s", "n", "arm", "L", "per_L", "W"))
        rate, t, O, g = c.of_each("rate", ca.vertsplit(rates)), c.of_all("t", t), c.of_all("O", omega), c.of_all("g", gravity)
        spun, less, far = ca.cross(t[3:], s), mu_1 - mu_2, J - mu_2 * L
        nd = (t[:3] + spun - rate * n) * per_L
        pulled = ca.cross(t[3:], spun)
        drift = ca.dot(n, pulled) + L * ca.dot(nd, nd)
        ndd = (pulled - drift * n - 2 * rate * nd) * per_L
        rotated = ca.cross(O, n)
        whole = nd + rotated
        whole_2 = ndd + ca.cross(O, nd + whole)
        # spin
        k, x = ca.dot(e, n), ca.cross(e, n)
        ratio = 1 / (1 - k * k)
        gamma = k * ratio
        tau = ca.dot(x, nd)
        spin = ca.dot(n, O) + gamma * tau
        grown = axial * (ca.dot(nd, O) + ca.dot(e, nd) * (1 + k * k) * ratio * ratio * tau + gamma * ca.dot(x, ndd))
        turned = (gamma * per_L) * x
        # forces
        acceleration = ca.cross(O, ca.cross(O, U)) - g
        Y = less * acceleration + far * whole_2 - (2 * mu_2 * rate) * whole
        moment = ca.cross(n, Y - (mu_2 * L) * whole_2) + less * ca.cross(U, whole_2) + grown * n + (axial * spin) * whole
        across = Y - ca.dot(n, Y) * n + (axial * spin) * ca.cross(whole, n)
        f = per_L * across - mu_2 * whole_2 + (rotor * drift) * n + grown * turned
        # masses
        alpha, kappa = (J * per_L - 2 * mu_2) * per_L, less * per_L
        sigma = ca.vertcat(turned, ca.cross(s, turned))
        M_tt = ca.vertcat(*[(rotor - alpha) * W[i] * W[j] + axial * sigma[i] * sigma[j] for i, j in LOWER])
        points = ca.vertcat(alpha, alpha * s, *[alpha * s[i] * s[j] for i, j in LOWER[:6]])
        linear = ca.vertcat(*[-(kappa * n[i]) * W[j] for j in range(6) for i in range(3)])
        weight, z = -kappa * arm, kappa * U + ((J - 2 * mu_2 * L) * per_L) * n
        angular = ca.vertcat(*[weight[i] * W[j] + axial * n[i] * sigma[j] for j in range(6) for i in range(3)])
        both = ca.vertcat(kappa, kappa * s, z, *[s[i] * z[j] for i in range(3) for j in range(3)])
        stretch = J - 2 * mu_2 * L
        E = ca.vertcat(*[less * (U[i] * n[j] + n[i] * U[j]) + (stretch - axial) * n[i] * n[j] for i, j in LOWER[:6]])
        outputs = [M_tt, points, linear, angular, both, E, less * n, ca.vertcat(less * whole_2, moment), f, ca.cross(s, f), drift]
        found = c.mapped(self.b, outputs, self.count)
        sums = [ca.sum2(x) for x in found[:-1]]
        return _terms(sums, found[-1].T, ca.sum1(ca.vertcat(*[v.axial for v in self.values])))


def _terms(sums: list[SX], drift: SX, axial: SX) -> Terms:
    """Matrices from the sums over the legs; axial: the sum of their axial inertias."""
    own, points, linear, angular, both, E, first, h, f, moment = sums
    M_tt = filled(own)
    M_tt[:3, :3] += points[0] * sparse(ca.SX.eye(3))
    M_tt[:3, 3:] += ca.skew(points[1:4]).T
    M_tt[3:, :3] += ca.skew(points[1:4])
    M_tt[3:, 3:] += tensor_of(filled(points[4:]))
    M_t = ca.vertcat(ca.reshape(linear, 3, 6), ca.reshape(angular, 3, 6))
    z, sz = both[4:7], ca.reshape(both[7:], 3, 3).T
    M_t[:3, :3] += both[0] * sparse(ca.SX.eye(3))
    M_t[:3, 3:] -= ca.skew(both[1:4])
    M_t[3:, :3] += ca.skew(z)
    M_t[3:, 3:] += ca.trace(sz) * sparse(ca.SX.eye(3)) - sz
    I = tensor_of(filled(E)) + axial * sparse(ca.SX.eye(3))
    return Terms(M_tt=M_tt, M_t=M_t, first=first, I=I, h=h, h_t=ca.vertcat(f, moment), drift=drift)


def filled(low: SX) -> Any:
    """A symmetric matrix from the entries of its lower triangle, row by row."""
    n = {6: 3, 21: 6}[low.numel()]
    A = ca.SX(n, n)
    for k, (i, j) in enumerate(LOWER[: low.numel()]):
        A[i, j] = A[j, i] = low[k]
    return A


def tensor_of(E: SX) -> Any:
    """Tensor of inertia of second moments E (3, 3)."""
    return ca.trace(E) * sparse(ca.SX.eye(3)) - E
