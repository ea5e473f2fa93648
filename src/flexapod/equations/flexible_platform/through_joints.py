r"""Inverse and direct dynamics through the joints: systems of the size of the legs instead of the modes.

Normal modes whose joints move along one axis z (plates in bending) have a constant diagonal mass m and shapes phi (legs, N) at
the joints. The force of a leg along z is the unknown that couples modes and legs. With Z = Lambda_zz, :math:`w = \Lambda_z/Z`,
whose z component is one, and u the elastic acceleration of the joint,

.. math:: f = \Lambda'\,(Y_r \dot V) + w\,(f_z - s_z) + s,\qquad \Lambda' = \Lambda - \Lambda_z \Lambda_z^T/Z,\qquad
          u + w^T Y_r\dot V = (f_z - s_z)/Z

Lambda' acts in the plane alone. With b (6, N) of the free body, :math:`\ddot e = m^{-1}(y - b^T\dot V - \varphi^T f_z)` leaves

.. math:: \begin{bmatrix} Z^{-1} + \varphi m^{-1}\varphi^T & -U^T\\ -U & -(A' - b\,m^{-1} b^T)\end{bmatrix}
          \begin{bmatrix} f_z\\ \dot V\end{bmatrix} = \begin{bmatrix} \varphi m^{-1} y + s_z/Z\\ \cdot\end{bmatrix},\qquad
          U = W - b\,m^{-1}\varphi^T

of twelve unknowns, symmetric and quasi-definite: an elimination needs no pivots. The cost grows with N only linearly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.equations.flexible_platform.assembly import FlexibleEquation, Solution
from flexapod.equations.flexible_platform.leg import FlexibleLeg
from flexapod.kernels.tape.checks import SX
from flexapod.spatial.linear import solve_gram_schmidt, solve_symmetric


@dataclass(frozen=True, kw_only=True)
class _Coupling:
    """What both directions need: w per leg, 1/Z and the system's (legs, legs) block, U (6, legs), b (6, N), scaled shapes."""

    w: list[Any]
    compliance: Any
    block: Any
    U: Any
    b: Any
    inverse: Any
    scaled: Any

    def elastic(self, y: SX, f: SX) -> Any:
        """e'' (N,) from what is left for the modes and the forces along the axis."""
        return self.inverse * y - ca.mtimes(self.scaled.T, f)


def forward_through_joints(q: FlexibleEquation, force: SX, load: SX) -> Solution:
    """Accelerations (6 + N,) from actuator forces and a generalized load, and the legs' forces.

    Checked by: tests/equations/test_flexible_platform.py.
    """
    assert q.axis is not None
    z, c, body = q.axis, _coupling(q, q.axis), q.body
    s = [leg.bias - leg.direction * force[k] for k, leg in enumerate(q.legs)]
    A, right = body.M[:6, :6], load[:6] - body.c[:6]
    plane = [_without(leg.inertia, w, z) for leg, w in zip(q.legs, c.w, strict=True)]
    for leg, inertia, w, own in zip(q.legs, plane, c.w, s, strict=True):
        A = A + _at_frame(leg.r, inertia)
        right = right - _wrench(leg.r, _in_plane(own - w * own[z], z))
    y = load[6:] - body.c[6:]
    scaled_b = ca.sparsify(c.b * ca.repmat(c.inverse.T, 6, 1))
    A, right = A - ca.mtimes(scaled_b, c.b.T), right - ca.mtimes(scaled_b, y)
    M = ca.vertcat(ca.horzcat(c.block, -c.U.T), ca.horzcat(-c.U, -A))
    first = ca.mtimes(c.scaled, y) + ca.vertcat(*[own[z] for own in s]) * c.compliance
    x = solve_symmetric(M, ca.vertcat(first, -right))
    n = len(q.legs)
    f, V = x[:n], x[n:]
    edd = c.elastic(y - ca.mtimes(c.b.T, V), f)
    forces = [
        ca.mtimes(inertia, _moved(leg, V)) + w * (f[k] - own[z]) + own
        for k, (leg, inertia, w, own) in enumerate(zip(q.legs, plane, c.w, s, strict=True))
    ]
    return Solution(acceleration=ca.vertcat(V, edd), force=force, joints=forces)


def inverse_through_joints(q: FlexibleEquation, V: SX, load: SX) -> Solution:
    """Actuator forces and elastic accelerations for the frame's acceleration V (6,), platform axes, and the legs' forces.

    Source: Long 2014 Eqs. (44)-(49). Checked by: tests/equations/test_flexible_platform.py.
    """
    assert q.axis is not None
    z, c, body = q.axis, _coupling(q, q.axis), q.body
    s = [leg.bias + ca.mtimes(leg.inertia, _moved(leg, V)) for leg in q.legs]
    across = [_in_plane(w * leg.direction[z] - leg.direction, z) for leg, w in zip(q.legs, c.w, strict=True)]
    y = load[6:] - body.c[6:] - ca.mtimes(c.b.T, V)
    right = load[:6] - body.c[:6] - ca.mtimes(body.M[:6, :6], V) - ca.mtimes(c.b, c.inverse * y)
    for leg, w, own in zip(q.legs, c.w, s, strict=True):
        right = right - _wrench(leg.r, _in_plane(own - w * own[z], z))
    first = ca.mtimes(c.scaled, y) + ca.vertcat(*[own[z] for own in s]) * c.compliance
    per_force = ca.vertcat(*[leg.direction[z] for leg in q.legs]) * c.compliance
    X = solve_symmetric(c.block, c.U.T)  # (legs, 6)
    J = ca.horzcat(*[_wrench(leg.r, d) - X[k, :].T * per_force[k] for k, (leg, d) in enumerate(zip(q.legs, across, strict=True))])
    force = solve_gram_schmidt(ca.densify(J), right - ca.mtimes(X.T, first))
    f = solve_symmetric(c.block, first - per_force * force)
    forces = [w * (f[k] - own[z]) + own + across[k] * force[k] for k, (w, own) in enumerate(zip(c.w, s, strict=True))]
    return Solution(acceleration=ca.vertcat(V, c.elastic(y, f)), force=force, joints=forces)


def _coupling(q: FlexibleEquation, z: int) -> _Coupling:
    phi = ca.vertcat(*[leg.Phi[z, :] for leg in q.legs])
    b, inverse = q.body.M[:6, 6:], 1 / ca.diag(q.body.M[6:, 6:])
    scaled = phi * ca.repmat(inverse.T, phi.shape[0], 1)  # of parameters alone, as P = phi m^-1 phi^T
    compliance = ca.vertcat(*[1 / leg.inertia[z, z] for leg in q.legs])
    w = [_one(leg.inertia[:, z] * compliance[k], z) for k, leg in enumerate(q.legs)]
    W = ca.horzcat(*[_wrench(leg.r, own) for leg, own in zip(q.legs, w, strict=True)])
    block = ca.diag(compliance) + ca.mtimes(scaled, phi.T)
    return _Coupling(w=w, compliance=compliance, block=block, U=W - ca.mtimes(b, scaled.T), b=b, inverse=inverse, scaled=scaled)


def _moved(leg: FlexibleLeg, V: SX) -> Any:
    """Acceleration of the joint with that of the frame (6,), without velocities and deformation."""
    return V[:3] + ca.cross(V[3:], leg.r)


def _wrench(r: SX, f: SX) -> Any:
    """(6,) force and its moment about the frame's origin."""
    return ca.vertcat(f, ca.cross(r, f))


def _one(w: SX, z: int) -> Any:
    """w with its own component one, as it is by construction."""
    return ca.vertcat(*[ca.SX(1) if i == z else w[i] for i in range(3)])


def _in_plane(f: SX, z: int) -> Any:
    """f without the component along the axis, which is zero by construction."""
    return ca.vertcat(*[ca.SX(0) if i == z else f[i] for i in range(3)])


def _without(inertia: SX, w: SX, z: int) -> Any:
    """Lambda' (3, 3): what is left of a leg's inertia where its joint moves freely along the axis."""
    rest = [[ca.SX(0) if z in (i, j) else inertia[i, j] - w[i] * inertia[z, j] for j in range(3)] for i in range(3)]
    return ca.sparsify(ca.vertcat(*[ca.horzcat(*row) for row in rest]))


def _at_frame(r: SX, inertia: SX) -> Any:
    """(6, 6) inertia at a joint, seen from the frame's origin: blocks A, r^ A and r^ A r^T^, the whole symmetric."""
    hat = ca.skew(r)
    low = ca.mtimes(hat, inertia)
    return ca.vertcat(ca.horzcat(inertia, low.T), ca.horzcat(low, ca.mtimes(low, hat.T)))
