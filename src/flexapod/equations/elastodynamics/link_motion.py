r"""Motion of a leg's links in their own axes, by recursion outwards, at zero accelerations of all coordinates.

Letters: link j hangs on link i; R turns axes of j to axes of i; r origin of j seen from that of i, axes of i; z = e3 of j its
joint axis; w, alpha motion of j, axes of j; a its acceleration less gravity (the base accelerates by -g). Once per link,

.. math:: U = \hat\alpha + \hat\omega\hat\omega,\qquad a_j = R^T(a_i + \delta),\qquad
          \delta = U_i\,r \;(+\,2\,\omega_i\times R z\,\dot q)

In link axes joint axes are constant, lengths stay along axes and :math:`c^2 + s^2` never appears: fewer operations than in world
axes (Briot 2014 Eqs. 10-22, as the paper writes them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.values import Values
from flexapod.robot.model import Leg

Z = ca.DM([0, 0, 1])


@dataclass(frozen=True, kw_only=True)
class LinkMotion:
    """Motion of one link.

    Args:
        R: (3, 3) parent axes from link axes; the world's for the first links.
        r: (3,) origin seen from the parent's, parent axes.
        w, alpha: (3,) angular velocity and acceleration, link axes.
        U: (3, 3) what gives a point fixed in the link its acceleration against the origin.
        a: (3,) acceleration of the origin less gravity, link axes.
        dv, da: (3,) velocity and acceleration of the origin against the parent's, parent axes; gravity is not in it.
    """

    R: SX
    r: SX
    w: SX
    alpha: SX
    U: SX
    a: SX
    dv: SX
    da: SX


def link_motions(values: Values, leg: Leg, q: Sequence[SX], qd: Sequence[SX], gravity: SX) -> list[LinkMotion]:
    """All links of a leg, base outwards.

    Args:
        values: below ``legs.<name>.``.
        q, qd: of the moving links, in order.
        gravity: (3,) [m/s^2], world.

    Source: Briot 2014 Eqs. (10)-(22). Checked by: tests/equations/test_link_axes.py.
    """
    result: list[LinkMotion] = []
    moving = iter(zip(q, qd, strict=True))
    still = ca.SX.zeros(3)
    for link in leg.links:
        R = values.rotation(f"{link.coordinate}.R", "A", "B").expr
        r = values.vector(f"{link.coordinate}.p", "A").expr
        parent = result[link.parent] if link.parent >= 0 else None
        w, alpha = (still, still) if parent is None else (parent.w, parent.alpha)
        spin, slide, axis = ca.SX(0), still, R[:, 2]
        if link.kind != "fixed":
            position, rate = next(moving)
            position = position + values.scalar(f"{link.coordinate}.zero")
            if link.kind == "R":
                R, spin = ca.mtimes(R, _rotation(position)), rate
            else:
                r, slide = r + axis * position, axis * rate
        U = ca.SX.zeros(3, 3) if parent is None else parent.U
        dv, da = ca.cross(w, r) + slide, ca.mtimes(U, r) + 2 * ca.cross(w, slide)
        before = -gravity if parent is None else parent.a
        own, rotated = ca.mtimes(R.T, w), ca.mtimes(R.T, alpha)
        w, alpha = own + Z * spin, rotated + ca.cross(own, Z * spin)
        a = ca.mtimes(R.T, before + da)
        result.append(LinkMotion(R=R, r=r, w=w, alpha=alpha, U=field_of(w, alpha), a=a, dv=dv, da=da))
    return result


def _rotation(angle: SX) -> SX:
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1))


def field_of(w: SX, alpha: SX) -> SX:
    """skew(alpha) + skew(w)^2 with every product once."""
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return ca.vertcat(
        ca.horzcat(-(yy + zz), xy - alpha[2], xz + alpha[1]),
        ca.horzcat(xy + alpha[2], -(xx + zz), yz - alpha[0]),
        ca.horzcat(xz - alpha[1], yz + alpha[0], -(xx + yy)),
    )
