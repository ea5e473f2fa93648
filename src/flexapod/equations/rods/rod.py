r"""A rod between a universal joint U on one body and a ball S on another, symmetric about the line of its joints.

With d from U to S, L its length, m its mass, m c and J its first moment and transverse tensor about U, its transverse motion is
that of two masses and a coupling between them, exactly, because d keeps its length:

.. math:: T = \tfrac12 m_{UU}v_U^2 + m_{SU}\,v_U\cdot v_S + \tfrac12 m_{SS}v_S^2,\qquad
          m_{SS} = J/L^2,\quad m_{SU} = mc/L - J/L^2,\quad m_{UU} = m - 2mc/L + J/L^2

.. math:: \tfrac12(d\cdot d - L^2) = 0,\qquad d\cdot\ddot d + \dot d\cdot\dot d = 0

About its line the rod rotates as its universal joint makes it; with e the joint's first axis, which its body A carries, k = d.e
and :math:`\delta = L^2 - k^2`,

.. math:: \omega_n = \big(\tfrac{k}{L}(e\times d)\cdot\dot d + L\,(d - k e)\cdot\omega_A\big)/\delta

The spin demands a moment along the rod, and one across it because the rod changes its direction: at S the force
:math:`I_a\omega_n\,\dot d\times d/L^3`, at U its opposite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.projection import projected_mass
from flexapod.equations.model.algebra import mul, sparse
from flexapod.equations.rods.tree_without_rods import Frames, NodeMotion, Pull, RodTree
from flexapod.equations.virtual_power.inertia_wrench import tensor
from flexapod.kernels.tape.program import Program
from flexapod.robot.rod_plan import SYMMETRIC
from flexapod.robot.rods import Rod

NO_SYMMETRY = "a rod of leg {leg} is not symmetric about the line of its joints any more"


@dataclass(frozen=True, kw_only=True)
class RodValues:
    """Numbers of a rod, of parameters alone: ends in node axes, squared length, masses, axial inertia, e in axes of its body."""

    near: SX
    far: SX
    square: SX
    m_SS: SX
    m_SU: SX
    m_UU: SX
    axial: SX
    e: SX


def rod_values(b: Program, tree: RodTree, rod: Rod) -> RodValues:
    """Read the numbers of a rod; the program refuses one that is not symmetric."""
    leg, values = tree.robot.legs[rod.leg], tree.legs[rod.leg]
    cross, link = leg.links[rod.cross].coordinate, leg.links[rod.link].coordinate
    if rod.ball is not None:
        joint = rod.ball.joint
        t, far = values.vec(f"{joint}.on_link.p"), values.vec(f"{joint}.on_platform.p")
    else:
        t, far = values.vec(f"{leg.links[rod.after - 2].coordinate}.p"), ca.SX(3, 1)
    m, S, I = values.scalar(f"{link}.body.mass"), values.vec(f"{link}.body.first_moment"), tensor(values, f"{link}.body.inertia")
    square = ca.dot(ca.densify(t), ca.densify(t))
    moment, axial = ca.densify(mul(S.T, t)) / square, ca.densify(mul(t.T, mul(I, t))) / square  # mc/L, I_a
    across = (ca.trace(I) - axial) / 2
    off = I - (across * ca.SX.eye(3) + (axial - across) / square * mul(t, t.T))
    b.fail_if(ca.sumsqr(off) > SYMMETRIC**2 * ca.trace(I) ** 2, NO_SYMMETRY, leg=leg.name)
    aside = ca.cross(ca.densify(S), ca.densify(t))
    b.fail_if(ca.sumsqr(aside) > SYMMETRIC**2 * m * ca.trace(I) * square, NO_SYMMETRY, leg=leg.name)
    inner = values.scalar(f"{cross}.body.mass") if leg.links[rod.cross].body is not None else 0
    m_SS = across / square
    near = tree.seats[rod.near]
    return RodValues(
        near=near.point(values.vec(f"{cross}.p")), far=tree.seats[rod.far].point(far), square=square, m_SS=m_SS,
        m_SU=moment - m_SS, m_UU=m + inner - 2 * moment + m_SS, axial=axial, e=near.axes(values.rot(f"{cross}.R"))[:, 2],
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class RodAt:
    """A rod at a configuration, world axes.

    Args:
        d: from U to S; J_U, J_S: (3, w) velocities of its ends per unit rate.
        row, residual: (1, w) and (), of its length.
        spin, weight: (1, w) and (), of its spin: energy weight (spin w')^2/2.
        e, k, delta: of the spin; across: e x d; gain: k/(L delta).
        W: (3, w) angular velocity of the body that carries U.
    """

    rod: Rod
    values: RodValues
    d: SX
    J_U: SX
    J_S: SX
    W: SX | None
    row: SX
    residual: SX
    spin: SX
    weight: SX
    e: SX
    k: SX
    delta: SX
    across: SX
    gain: SX


def rod_at(tree: RodTree, at: Frames, rod: Rod, values: RodValues) -> RodAt:
    """The rod between its ends."""
    U = at.p[rod.near] + ca.densify(mul(at.R[rod.near], values.near))
    S = at.p[rod.far] + ca.densify(mul(at.R[rod.far], values.far))
    (J_U, W), (J_S, _) = tree.columns(at, rod.near, U), tree.columns(at, rod.far, S)
    d, length = S - U, ca.sqrt(values.square)
    e = ca.densify(mul(at.R[rod.near], values.e))
    k = ca.dot(d, e)
    delta = values.square - k * k
    gain, across = k / (length * delta), ca.cross(e, d)
    moved = J_S - J_U
    spin, weight = mul(across.T, moved), values.axial * gain * gain
    if plane := rotates_across(tree, rod, values):
        spin, weight = gain * spin + mul((d - k * e).T, W) * (length / delta), values.axial
    return RodAt(
        rod=rod, values=values, d=d, J_U=J_U, J_S=J_S, W=W if plane else None, row=mul(d.T, moved),
        residual=(ca.dot(d, d) - values.square) / 2, spin=sparse(spin), weight=weight, e=e, k=k, delta=delta, across=across,
        gain=gain,
    )  # fmt: skip


def rotates_across(tree: RodTree, rod: Rod, values: RodValues) -> bool:
    """Whether the body that carries U can spin about another line than the joint's first axis."""
    nodes = tree.plan.nodes
    rotating = [k for k in tree.plan.path(rod.near) if nodes[k].kind in ("R", "free")]
    along = values.e[0].is_zero() and values.e[1].is_zero()
    return rotating not in ([], [rod.near]) or (rotating == [rod.near] and not (along and nodes[rod.near].kind == "R"))


def rod_drift(at: Frames, motion: NodeMotion, rod: RodAt) -> SX:
    """Second derivative of the rod's row at zero accelerations."""
    dd, ddd = _relative(at, motion, rod)
    return ca.dot(rod.d, ddd) + ca.dot(dd, dd)


def _relative(at: Frames, motion: NodeMotion, rod: RodAt) -> tuple[SX, SX]:
    """Velocity and acceleration of S against U, world axes."""
    near, far, v = rod.rod.near, rod.rod.far, rod.values
    dd = motion.velocity(at, far, v.far, rod.J_S) - motion.velocity(at, near, v.near, rod.J_U)
    return dd, motion.acceleration(at, far, v.far) - motion.acceleration(at, near, v.near)


def rod_forces(tree: RodTree, at: Frames, motion: NodeMotion, rod: RodAt) -> tuple[SX, SX, SX]:
    """Forces (3,) that a rod in motion demands at U and at S, without the masses that move with their bodies, and moment (3,) on
    the body of U."""
    v, near, far = rod.values, rod.rod.near, rod.rod.far
    dd, ddd = _relative(at, motion, rod)
    d, e, k, length = rod.d, rod.e, rod.k, ca.sqrt(v.square)
    kd, tau = ca.dot(dd, e), ca.dot(rod.across, dd)
    spin, moment, grown = rod.gain * tau, ca.SX.zeros(3), rod.gain * ca.dot(rod.across, ddd)
    if rod.W is not None:
        w, alpha = (ca.densify(mul(at.R[near], x)) for x in (motion.w[near], motion.alpha[near]))
        ed, plane = ca.cross(w, e), (d - k * e) * (length / rod.delta)
        kd, spin = kd + ca.dot(d, ed), spin + ca.dot(plane, w)
        rotated = k / length * ca.dot(ca.cross(ed, d), dd) + length * ca.dot(dd - kd * e, w)
        grown = grown + rotated / rod.delta + ca.dot(plane, alpha)
    grown = grown + kd * (tau / length + 2 * k * spin) / rod.delta
    if rod.W is not None:
        moment = (v.axial * grown) * plane
    rotated = (v.axial * grown * rod.gain) * rod.across + (v.axial / (length * v.square) * spin) * ca.cross(dd, d)
    at_U, at_S = (motion.acceleration(at, node, x) - tree.gravity for node, x in ((near, v.near), (far, v.far)))
    return v.m_SU * at_S - rotated, v.m_SU * at_U + rotated, moment


class RodsOneByOne:
    """All rods of a robot at a configuration, each by itself."""

    def __init__(self, tree: RodTree, rods: Sequence[tuple[Rod, RodValues]], at: Frames) -> None:
        self.tree, self.at = tree, at
        self.ends = [rod_at(tree, at, rod, values) for rod, values in rods]

    def rows(self) -> tuple[list[SX], list[SX]]:
        """Row (1, w) and residual of every rod."""
        return [rod.row for rod in self.ends], [rod.residual for rod in self.ends]

    def drifts(self, motion: NodeMotion) -> list[SX]:
        """Second derivative of every row at zero accelerations."""
        return [rod_drift(self.at, motion, rod) for rod in self.ends]

    def forces(self, motion: NodeMotion) -> tuple[list[Pull], SX]:
        """Force and moment about the origin of every node, and forces (w,) along further columns."""
        plan, at = self.tree.plan, self.at
        pulls, h = [(ca.SX.zeros(3), ca.SX.zeros(3)) for _ in plan.nodes], ca.SX.zeros(6 + len(plan.moving))
        for rod in self.ends:
            F_U, F_S, moment = rod_forces(self.tree, at, motion, rod)
            node, arm = rod.rod.far, ca.densify(mul(at.R[rod.rod.far], rod.values.far))
            pulls[node] = pulls[node][0] + F_S, pulls[node][1] + ca.cross(arm, F_S)
            h = h + ca.densify(mul(rod.J_U.T, F_U))
            if rod.W is not None:
                h = h + ca.densify(mul(rod.W.T, moment))
        return pulls, h

    def projected(self, M: SX, h: SX, N: SX, beta: SX) -> tuple[SX, SX]:
        r"""N^T M N (v, v) and :math:`N^T(h + M\beta)` (v,) with the contributions of rods to M: masses between both ends,
        and spins."""
        plan = self.tree.plan
        both = sum((rod.values.m_SU * mul(rod.J_U.T, rod.J_S) for rod in self.ends), ca.SX(0))
        M = M + both + both.T
        P = projected_mass(M, N[list(plan.bound), :], plan.independent, plan.bound)
        right = ca.densify(mul(N.T, h + ca.densify(mul(M, beta))))
        for rod in self.ends:
            spin = ca.densify(mul(rod.spin, N))
            P = P + ca.mtimes((rod.weight * spin).T, spin)
            right = right + (rod.weight * ca.densify(mul(rod.spin, beta))) * spin.T
        return P, right
