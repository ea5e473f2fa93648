r"""The two recursions of the method, in body axes: motion outwards from the base, wrenches inwards to it.

Gravity enters as the acceleration -g of the base: each gamma_k0 is then the acceleration less gravity, which puts the
papers' weights f*_k, m*_k into the inertia terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.virtual_work.relative_frames import BodyInertia, LegChain, frame
from flexapod.spatial import Rot, Vec, cross, dot
from flexapod.spatial.vector import zero


@dataclass(frozen=True, kw_only=True)
class BodyMotion:
    """Absolute angular velocity and acceleration, acceleration of the joint centre, and the matrix of both, own axes."""

    omega: Vec
    epsilon: Vec
    gamma: Vec
    matrix: SX

    def acceleration(self, r: Vec) -> Vec:
        """Acceleration of a point of the body at r from its joint centre."""
        return self.gamma + apply(self.matrix, r)


def acceleration_matrix(omega: Vec, epsilon: Vec) -> SX:
    r"""The papers' square matrix :math:`\tilde\omega\tilde\omega + \tilde\varepsilon` (Staicu Eqs. 17-19, Sinatra Eqs. 16-18)."""
    x, y, z = omega[0], omega[1], omega[2]
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    ex, ey, ez = epsilon[0], epsilon[1], epsilon[2]
    first = ca.horzcat(-(yy + zz), xy - ez, xz + ey)
    second = ca.horzcat(xy + ez, -(xx + zz), yz - ex)
    return ca.vertcat(first, second, ca.horzcat(xz - ey, yz + ex, -(xx + yy)))


def apply(matrix: SX, r: Vec) -> Vec:
    """A 3 x 3 matrix in the axes of a vector times that vector."""
    return Vec(ca.mtimes(matrix, r.expr), r.frame)


def outward(chain: LegChain, base: Vec, rates: Sequence[SX], accelerations: Sequence[SX]) -> list[BodyMotion]:
    r"""Motion of every body of a leg.

    .. math::
        \omega_k &= a\,\omega_j + \dot q\,u, \qquad
        \varepsilon_k = a\,\varepsilon_j + \ddot q\,u + \dot q\,(a\,\omega_j)\times u \quad\text{(revolute)}\\
        \gamma_k &= a\,[\gamma_j + (\tilde\omega_j\tilde\omega_j + \tilde\varepsilon_j)\,r_{k,j}]
        + 2\dot q\,(a\,\omega_j)\times u + \ddot q\,u \quad\text{(prismatic)}

    Args:
        base: acceleration of the base, world; -g puts gravity into every body.
        rates, accelerations: of the leg's coordinates.

    Source: Staicu 2009 Eqs. (11)-(13), (19) with the Coriolis term along the prismatic axis; Sinatra 2009 Eqs. (10)-(12), (18).
    Checked by: tests/equations/test_virtual_work.py.
    """
    ground = BodyMotion(omega=zero("W"), epsilon=zero("W"), gamma=base, matrix=ca.SX.zeros(3, 3))
    result: list[BodyMotion] = []
    for step in chain.steps:
        before = result[step.parent] if step.parent >= 0 else ground
        omega, epsilon = step.a @ before.omega, step.a @ before.epsilon
        gamma = step.a @ before.acceleration(step.r)
        if step.kind != "fixed":
            rate, second = rates[step.coordinate], accelerations[step.coordinate]
            rotating = cross(omega, step.u) * rate
            if step.kind == "R":
                epsilon = epsilon + step.u * second + rotating
                omega = omega + step.u * rate
            else:
                gamma = gamma + step.u * second + rotating * 2
        matrix = acceleration_matrix(omega, epsilon)
        result.append(BodyMotion(omega=omega, epsilon=epsilon, gamma=gamma, matrix=matrix))
    return result


def inertia_wrench(body: BodyInertia, motion: BodyMotion) -> tuple[Vec, Vec]:
    r"""Force and moment about the joint centre that a body needs, weight included.

    .. math:: F_{k0} = m\,\gamma + (\tilde\omega\tilde\omega + \tilde\varepsilon)\,s,\qquad
              M_{k0} = s\times\gamma + \hat J\varepsilon + \omega\times\hat J\omega,\qquad s = m\,r^C

    Source: Staicu 2009 Eq. (21); Sinatra 2009 Eqs. (19)-(20), (23), with m_k outside the terms of J.
    Checked by: tests/equations/test_virtual_work.py.
    """
    s = body.first_moment
    force = motion.gamma * body.mass + apply(motion.matrix, s)
    spin = cross(motion.omega, apply(body.tensor, motion.omega))
    return force, cross(s, motion.gamma) + apply(body.tensor, motion.epsilon) + spin


def inward(chain: LegChain, motions: Sequence[BodyMotion], accelerations: Sequence[SX]) -> list[SX]:
    r"""Work of all wrenches of a leg per unit rate of each of its joints.

    .. math:: F_k = F_{k0} + a^T F_{k+1},\qquad M_k = M_{k0} + a^T M_{k+1} + r\times a^T F_{k+1}

    Returns:
        u . M_k of revolute, u . F_k of prismatic joints, rotor inertia included, in the order of the coordinates.

    Source: Staicu 2009 Eq. (21), Sinatra 2009 Eq. (22); rotors: Khalil's IA. Checked by: tests/equations/test_virtual_work.py.
    """
    count = len(chain.steps)
    force, moment = [zero(frame(k)) for k in range(count)], [zero(frame(k)) for k in range(count)]
    works: list[SX] = [ca.SX(0)] * sum(step.kind != "fixed" for step in chain.steps)
    for k in reversed(range(count)):
        step = chain.steps[k]
        if step.body is not None:
            F0, M0 = inertia_wrench(step.body, motions[k])
            force[k], moment[k] = force[k] + F0, moment[k] + M0
        if step.kind != "fixed":
            own = dot(step.u, moment[k] if step.kind == "R" else force[k])
            works[step.coordinate] = own + step.rotor * accelerations[step.coordinate]
        if step.parent >= 0:
            F, M = step.a.T @ force[k], step.a.T @ moment[k]
            force[step.parent] = force[step.parent] + F
            moment[step.parent] = moment[step.parent] + M + cross(step.r, F)
    return works


@dataclass(frozen=True, kw_only=True)
class JointTip:
    """The platform joint as the tip of the leg.

    Args:
        twists: velocity of the joint centre and angular velocity of the last body at unit rate of one coordinate, in axes
            of the last body; by coordinate.
        R: a_{last,0}, from the world to the axes of the last body.
        p: the joint centre, world.
    """

    twists: dict[int, tuple[Vec, Vec]]
    R: Rot
    p: Vec


def unit_twists(chain: LegChain) -> JointTip:
    r"""Left-hand side of the connectivity conditions: :math:`u_k\times\rho_k` of revolute, :math:`u_k` of prismatic joints.

    :math:`\rho_k = r_{k+1,k} + a_{k+1,k}^T\,\rho_{k+1}` runs inwards from the tip, as in the braces of Staicu Eq. (14).

    Source: Staicu 2009 Eq. (14), Sinatra 2009 Eq. (13). Checked by: tests/equations/test_virtual_work.py.
    """
    here, k = frame(chain.last), chain.last
    rho, rotation = chain.tip, Rot(ca.SX.eye(3), here, here)
    twists = {}
    while k >= 0:
        step = chain.steps[k]
        if step.kind == "R":
            twists[step.coordinate] = (rotation @ cross(step.u, rho), rotation @ step.u)
        elif step.kind == "P":
            twists[step.coordinate] = (rotation @ step.u, zero(here))
        rho = step.r + step.a.T @ rho
        rotation = rotation @ step.a
        k = step.parent
    return JointTip(twists=twists, R=rotation, p=rho)
