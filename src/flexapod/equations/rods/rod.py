r"""A rod between a universal joint U on one body and a ball S on another, symmetric about the line of its joints.

With d from U to S, L its length, m its mass, m c and J its first moment and transverse tensor about U, its transverse motion is
that of two masses and a coupling between them, exactly, because d keeps its length:

.. math:: T = \tfrac12 m_{UU}v_U^2 + m_{SU}\,v_U\cdot v_S + \tfrac12 m_{SS}v_S^2,\qquad
          m_{SS} = J/L^2,\quad m_{SU} = mc/L - J/L^2,\quad m_{UU} = m - 2mc/L + J/L^2

.. math:: \tfrac12(d\cdot d - L^2) = 0,\qquad d\cdot\ddot d + \dot d\cdot\dot d = 0

About its line the rod turns as its universal joint makes it; with e the joint's first axis, which its body A carries, k = d.e and
:math:`\delta = L^2 - k^2`,

.. math:: \omega_n = \big(\tfrac{k}{L}(e\times d)\cdot\dot d + L\,(d - k e)\cdot\omega_A\big)/\delta

The spin demands a moment along the rod, and one across it because the rod changes its direction: at S the force
:math:`I_a\omega_n\,\dot d\times d/L^3`, at U its opposite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.equations.model.algebra import mul, sparse
from flexapod.equations.rods.tree import Frames, Motion, RodTree
from flexapod.equations.virtual_power.inertia_wrench import tensor
from flexapod.kernels.tape.program import Program
from flexapod.robot.rod_plan import SYMMETRIC, Rod

NO_SYMMETRY = "a rod of leg {leg} is not symmetric about the line of its joints any more"


@dataclass(frozen=True, kw_only=True)
class RodValues:
    """Numbers of a rod, of parameters alone: ends in node axes, squared length, masses, axial inertia, e in axes of its body."""

    near: Any
    far: Any
    square: Any
    m_SS: Any
    m_SU: Any
    m_UU: Any
    axial: Any
    e: Any


def rod_values(b: Program, tree: RodTree, rod: Rod) -> RodValues:
    """Read the numbers of a rod; the program refuses one that is not symmetric."""
    plan, leg, values = tree.plan, tree.robot.legs[rod.leg], tree.legs[rod.leg]
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
    b.fail_if(ca.sumsqr(ca.cross(ca.densify(S), ca.densify(t))) > SYMMETRIC**2 * m * ca.trace(I) * square, NO_SYMMETRY, leg=leg.name)
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
        spin: (1, w) rate about its line per unit rate.
        e, k, delta, gain: of the spin; gain = k (e x d)/(L delta).
        W: (3, w) angular velocity of the body that carries U.
    """

    rod: Rod
    values: RodValues
    d: Any
    J_U: Any
    J_S: Any
    W: Any
    row: Any
    residual: Any
    spin: Any
    e: Any
    k: Any
    delta: Any
    gain: Any


def rod_at(tree: RodTree, at: Frames, rod: Rod, values: RodValues) -> RodAt:
    """The rod between its ends."""
    U = at.p[rod.near] + ca.densify(mul(at.R[rod.near], values.near))
    S = at.p[rod.far] + ca.densify(mul(at.R[rod.far], values.far))
    (J_U, W), (J_S, _) = tree.columns(at, rod.near, U), tree.columns(at, rod.far, S)
    d, length = S - U, ca.sqrt(values.square)
    e = ca.densify(mul(at.R[rod.near], values.e))
    k = ca.dot(d, e)
    delta = values.square - k * k
    gain = ca.cross(e, d) * (k / (length * delta))
    moved = J_S - J_U
    spin = mul(gain.T, moved)
    if plane := _across(tree, rod, values):
        spin = spin + mul((d - k * e).T, W) * (length / delta)
    return RodAt(
        rod=rod, values=values, d=d, J_U=J_U, J_S=J_S, W=W if plane else None, row=mul(d.T, moved),
        residual=(ca.dot(d, d) - values.square) / 2, spin=sparse(spin), e=e, k=k, delta=delta, gain=gain,
    )  # fmt: skip


def _across(tree: RodTree, rod: Rod, values: RodValues) -> bool:
    """The body that carries U can turn about another line than the joint's first axis."""
    nodes = tree.plan.nodes
    turning = [k for k in tree.plan.path(rod.near) if nodes[k].kind in ("R", "free")]
    along = values.e[0].is_zero() and values.e[1].is_zero()
    return turning not in ([], [rod.near]) or (turning == [rod.near] and not (along and nodes[rod.near].kind == "R"))


@dataclass(frozen=True, kw_only=True)
class RodForces:
    """What a rod demands at zero accelerations: forces F_U, F_S (3,), moment on the body of U or None; and its row's drift."""

    F_U: Any
    F_S: Any
    moment: Any
    drift: Any


def rod_forces(tree: RodTree, at: Frames, motion: Motion, rod: RodAt) -> RodForces:
    """Forces of a rod in motion, world axes."""
    v, near, far = rod.values, rod.rod.near, rod.rod.far
    c_U, c_S = motion.drift(at, near, v.near), motion.drift(at, far, v.far)
    dd, ddd = motion.velocity(at, far, v.far, rod.J_S) - motion.velocity(at, near, v.near, rod.J_U), c_S - c_U
    d, e, k, length = rod.d, rod.e, rod.k, ca.sqrt(v.square)
    kd, across = ca.dot(dd, e), ca.dot(ca.cross(e, d), dd)
    spin, moment, grown = ca.dot(rod.gain, dd), None, ca.dot(rod.gain, ddd)
    if rod.W is not None:
        w, alpha = (ca.densify(mul(at.R[near], x)) for x in (motion.w[near], motion.alpha[near]))
        ed, plane = ca.cross(w, e), (d - k * e) * (length / rod.delta)
        kd, spin = kd + ca.dot(d, ed), spin + ca.dot(plane, w)
        turned = k / length * ca.dot(ca.cross(ed, d), dd) + length * ca.dot(dd - kd * e, w)
        grown = grown + turned / rod.delta + ca.dot(plane, alpha)
    grown = grown + kd * (across / length + 2 * k * spin) / rod.delta
    if rod.W is not None:
        moment = (v.axial * grown) * plane
    turned = (v.axial * grown) * rod.gain + (v.axial / (length * v.square) * spin) * ca.cross(dd, d)
    return RodForces(
        F_U=v.m_SU * (c_S - tree.gravity) - turned,
        F_S=v.m_SU * (c_U - tree.gravity) + turned,
        moment=moment,
        drift=ca.dot(d, ddd) + ca.dot(dd, dd),
    )
