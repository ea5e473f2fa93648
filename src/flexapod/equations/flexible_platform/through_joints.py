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

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.flexible_platform.assembly import FlexibleEquation, PlatformSolution
from flexapod.equations.flexible_platform.leg import FlexibleLeg
from flexapod.equations.flexible_platform.mode_sums import ModeSums
from flexapod.spatial.linear import solve_gram_schmidt, solve_symmetric
from flexapod.spatial.vector import line_coordinates


def forward_through_joints(q: FlexibleEquation, force: SX, load: SX) -> PlatformSolution:
    """Accelerations (6 + N,) from actuator forces and a generalized load, and the legs' forces.

    Checked by: tests/equations/test_flexible_platform.py.
    """
    assert q.axis is not None
    z, modes = q.axis, q.mode_sums(load)
    assert modes.bb is not None
    c = _coupling(q, modes, z)
    s = [leg.bias - leg.direction * force[k] for k, leg in enumerate(q.legs)]
    A, right = modes.M, load[:6] - modes.c
    plane = [_without(leg.inertia, w, z) for leg, w in zip(q.legs, c.w, strict=True)]
    for leg, inertia, w, own in zip(q.legs, plane, c.w, s, strict=True):
        A = A + _at_frame(leg.r, inertia)
        right = right - line_coordinates(_in_plane(own - w * own[z], z), leg.r)
    A, right = A - modes.bb, right - modes.by
    M = ca.vertcat(ca.horzcat(c.block, -c.U.T), ca.horzcat(-c.U, -A))
    first = modes.py + ca.vertcat(*[own[z] for own in s]) * c.compliance
    x = solve_symmetric(M, ca.vertcat(first, -right))
    n = len(q.legs)
    f, V = x[:n], x[n:]
    forces = [
        ca.mtimes(inertia, _moved(leg, V)) + w * (f[k] - own[z]) + own
        for k, (leg, inertia, w, own) in enumerate(zip(q.legs, plane, c.w, s, strict=True))
    ]
    return PlatformSolution(acceleration=ca.vertcat(V, modes.elastic(V, f)), force=force, joints=forces)


def inverse_through_joints(q: FlexibleEquation, V: SX, load: SX) -> PlatformSolution:
    """Actuator forces and elastic accelerations for the frame's acceleration V (6,), platform axes, and the legs' forces.

    Source: Long 2014 Eqs. (44)-(49). Checked by: tests/equations/test_flexible_platform.py.
    """
    assert q.axis is not None
    z, modes = q.axis, q.mode_sums(load, V)
    c = _coupling(q, modes, z)
    s = [leg.bias + ca.mtimes(leg.inertia, _moved(leg, V)) for leg in q.legs]
    across = [_in_plane(w * leg.direction[z] - leg.direction, z) for leg, w in zip(q.legs, c.w, strict=True)]
    right = load[:6] - modes.c - ca.mtimes(modes.M, V) - modes.by
    for leg, w, own in zip(q.legs, c.w, s, strict=True):
        right = right - line_coordinates(_in_plane(own - w * own[z], z), leg.r)
    first = modes.py + ca.vertcat(*[own[z] for own in s]) * c.compliance
    per_force = ca.vertcat(*[leg.direction[z] for leg in q.legs]) * c.compliance
    X = solve_symmetric(c.block, c.U.T)  # (legs, 6)
    J = ca.horzcat(
        *[line_coordinates(d, leg.r) - X[k, :].T * per_force[k] for k, (leg, d) in enumerate(zip(q.legs, across, strict=True))]
    )
    force = solve_gram_schmidt(ca.densify(J), right - ca.mtimes(X.T, first))
    f = solve_symmetric(c.block, first - per_force * force)
    forces = [w * (f[k] - own[z]) + own + across[k] * force[k] for k, (w, own) in enumerate(zip(c.w, s, strict=True))]
    return PlatformSolution(acceleration=ca.vertcat(V, modes.elastic(None, f)), force=force, joints=forces)


@dataclass(frozen=True, kw_only=True)
class _Coupling:
    """Common quantities of both directions: w per leg, 1/Z and the system's (legs, legs) block, U (6, legs)."""

    w: list[SX]
    compliance: SX
    block: SX
    U: SX


def _coupling(q: FlexibleEquation, modes: ModeSums, z: int) -> _Coupling:
    compliance = ca.vertcat(*[1 / leg.inertia[z, z] for leg in q.legs])
    w = [_one(leg.inertia[:, z] * compliance[k], z) for k, leg in enumerate(q.legs)]
    W = ca.horzcat(*[line_coordinates(own, leg.r) for leg, own in zip(q.legs, w, strict=True)])
    return _Coupling(w=w, compliance=compliance, block=ca.diag(compliance) + modes.pp, U=W - modes.bp)


def _moved(leg: FlexibleLeg, V: SX) -> SX:
    """Acceleration of the joint with that of the frame (6,), without velocities and deformation."""
    return V[:3] + ca.cross(V[3:], leg.r)


def _one(w: SX, z: int) -> SX:
    """w with its own component one, as it is by construction."""
    return ca.vertcat(*[ca.SX(1) if i == z else w[i] for i in range(3)])


def _in_plane(f: SX, z: int) -> SX:
    """f without the component along the axis, which is zero by construction."""
    return ca.vertcat(*[ca.SX(0) if i == z else f[i] for i in range(3)])


def _without(inertia: SX, w: SX, z: int) -> SX:
    """Lambda' (3, 3): inertia of a leg at the platform where its joint moves freely along the axis."""
    rest = [[ca.SX(0) if z in (i, j) else inertia[i, j] - w[i] * inertia[z, j] for j in range(3)] for i in range(3)]
    return ca.sparsify(ca.vertcat(*[ca.horzcat(*row) for row in rest]))


def _at_frame(r: SX, inertia: SX) -> SX:
    """(6, 6) inertia at a joint, seen from the frame's origin: blocks A, r^ A and r^ A r^T^, the whole symmetric."""
    hat = ca.skew(r)
    low = ca.mtimes(hat, inertia)
    return ca.vertcat(ca.horzcat(inertia, low.T), ca.horzcat(low, ca.mtimes(low, hat.T)))
