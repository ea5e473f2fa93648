r"""Effect of the universal joint on a U-P-S leg: spin about its axis and rotation of its cross, exactly.

Letters: D = (X, Y, 1), N = |D|^2, v, a planar rates (see `extending_leg`), e axis1, m = D x e, theta angle of the cross.

.. math:: \dot\theta = q\,(m\cdot v)/z,\quad q = 1/|m|^2,\qquad T = \tfrac12\dot\theta^2\,(J - I_a/(qN))

Lagrange's equations in (X, Y) give a horizontal pull and a multiple of (X, Y), and the inertia phi m m^T at S. With a
horizontal axis m_xy is constant, -k = -(z x e), and is scaled to have a 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.equations.minimal.planning import Axis
from flexapod.equations.minimal.platform_levers import Place
from flexapod.equations.minimal.vectors import Scalar, Triple
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program

if TYPE_CHECKING:
    from flexapod.equations.minimal.extending_leg import ExtendingInertia

ALONG_AXIS = 1e-12
"""|m|^2 below which a leg lies along its first universal axis."""


@dataclass(frozen=True, kw_only=True)
class PlanarMotion:
    """A leg divided by z: slopes, their rates v/z and a, 1/z, lambda^2, z'/z and e = (X,Y).v/(N z)."""

    slope: Place
    v: Place
    a: Place
    zi: Scalar
    lam2: Scalar
    zeta: Scalar
    e: Scalar


@dataclass(frozen=True, kw_only=True)
class Spin:
    """Horizontal pull, coefficient of the slopes, and the inertia phi m m^T at S."""

    pull: Place
    slope: Scalar
    phi: Scalar
    m: Triple


def extending_spin(b: Program, values: Values, name: str, axis: Axis, inertia: ExtendingInertia, motion: PlanarMotion) -> Spin:
    """The spin of one leg.

    Checked by: tests/equations/test_minimal.py.
    """
    axial, J = inertia.axial, inertia.about_axis1
    e = (values.scalar(f"legs.{name}.axis1.x"), values.scalar(f"legs.{name}.axis1.y"))
    if axis != "inclined":
        return _horizontal(axis == "x", e, axial, J, motion)
    return _inclined(b, name, (*e, values.scalar(f"legs.{name}.axis1.z")), axial, J, motion)


def _horizontal(upright: bool, e: Place, axial: Scalar, J: Scalar, motion: PlanarMotion) -> Spin:
    """Everything along k; upright: axis1 is nearer to x, so that k is nearer to y."""
    zi, zeta = motion.zi, motion.zeta
    kx, ky = -e[1], e[0]
    s = ky if upright else kx
    k1, ss = (kx if upright else ky) / s, 1 / (s * s)

    def along_k(u: Place) -> Scalar:
        return k1 * u[0] + u[1] if upright else k1 * u[1] + u[0]

    w = along_k(motion.slope)
    q = 1 / (ss + w * w)
    kv = along_k(motion.v)
    th, ta = q * kv, q * along_k(motion.a)
    u = th * zi
    wu = w * u
    P = axial * motion.lam2
    Z = (J * ss) * (zi * zi) * q
    Q = (Z - P) * ta + (P * (2 * (zeta + motion.e) + wu) - 2 * (Z * (zeta + wu))) * th
    k = (k1, 1) if upright else (1, k1)
    pull = (k1 * Q, Q) if upright else (Q, k1 * Q)
    return Spin(pull=pull, slope=Q * w - (P * u) * kv, phi=(Z - P) * q, m=(*k, -w))


def _inclined(b: Program, name: str, e: Triple, axial: Scalar, J: Scalar, motion: PlanarMotion) -> Spin:
    r"""Any axis: m varies, with curl 2 e_z; g = (e x m)_xy is half the gradient of 1/q.

    .. math:: z\,\text{pull} = m\,(\Phi\sigma)^{\cdot} + 2 e_z\Phi\sigma(\dot Y,-\dot X) - \tfrac12\sigma^2\nabla\Phi,\qquad
              \Phi = Jq^2 - I_a q/N,\quad \sigma = m\cdot v/z
    """
    (X, Y), (vx, vy), (ax, ay) = motion.slope, motion.v, motion.a
    mx, my, mz = e[2] * Y - e[1], e[0] - e[2] * X, e[1] * X - e[0] * Y
    gx, gy = e[1] * mz - e[2] * my, e[2] * mx - e[0] * mz
    size = mx * mx + my * my + mz * mz
    b.fail_if(ca.logic_not(size > ALONG_AXIS), "leg {leg} lies along its first universal axis", leg=name)
    q, zi = 1 / size, motion.zi
    sigma = mx * vx + my * vy
    t = sigma * zi
    zq = zi * q
    A, C = J * (zq * zq), (axial * motion.lam2) * q
    phi = A - C
    qB = q * (phi + A)
    rotating = (gx * vx + gy * vy) * zi
    along_m = phi * (mx * ax + my * ay - 2 * (motion.zeta * sigma)) + 2 * (sigma * (C * motion.e - qB * rotating))
    along_g = (sigma * t) * qB
    curl = (2 * e[2]) * (phi * t)
    px, py = along_m * mx + along_g * gx + curl * vy, along_m * my + along_g * gy - curl * vx
    return Spin(pull=(px, py), slope=X * px + Y * py - (sigma * t) * C, phi=phi, m=(mx, my, mz))
