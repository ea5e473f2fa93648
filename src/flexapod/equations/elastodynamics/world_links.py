r"""Motion, wrenches and inertias of links in world axes, each about the origin of its own link.

Link j hangs on link i, its origin by the lever d away from that of i:

.. math:: v_j = v_i + \omega_i\times d + z\dot q,\qquad a_j = a_i + \alpha_i\times d + \omega_i\times(\omega_i\times d)
          + 2\omega_i\times z\dot q,\qquad \omega_j = \omega_i + z\dot q,\qquad \alpha_j = \alpha_i + \omega_i\times z\dot q

(sliding: the terms of v and a; rotating: those of omega and alpha). Wrenches and inertias go from j to i by the same lever.
Levers are short where links are short: about one common point, entries of the mass matrix between neighbouring elements would
lose the square of (distance from that point / length of an element) in relative accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX, Scalar


@dataclass(frozen=True, kw_only=True)
class WorldLink:
    """A link: rotation R (3, 3), origin p (3,), its velocity v and acceleration a less gravity, angular w and alpha (3,), at
    zero accelerations of all coordinates."""

    R: SX
    p: SX
    v: SX
    w: SX
    a: SX
    alpha: SX

    @property
    def column(self) -> SX:
        """All numbers, (24,)."""
        return ca.vertcat(ca.vec(self.R), self.p, self.v, self.w, self.a, self.alpha)

    @staticmethod
    def of(column: SX) -> WorldLink:
        """The frame of a column."""
        p, v, w, a, alpha = (column[9 + 3 * k : 12 + 3 * k] for k in range(5))
        return WorldLink(R=ca.reshape(column[:9], 3, 3), p=p, v=v, w=w, a=a, alpha=alpha)


def moved_frame(parent: WorldLink, kind: str, R0: SX, p0: SX, q: Scalar, qd: Scalar) -> tuple[WorldLink, SX | None, SX]:
    """A link behind a joint, its axis z (3,), None where fixed, and its lever d (3,); `q` counts from the placement R0, p0 in the
    parent."""
    R: SX = ca.mtimes(parent.R, R0)
    d, w, alpha = ca.mtimes(parent.R, p0), parent.w, parent.alpha
    z, slide = R[:, 2], ca.SX.zeros(3)
    if kind == "R":
        c, s = ca.cos(q), ca.sin(q)
        R = ca.horzcat(R[:, 0] * c + R[:, 1] * s, R[:, 1] * c - R[:, 0] * s, z)
        w, alpha = w + z * qd, alpha + ca.cross(parent.w, z * qd)
    elif kind == "P":
        d, slide = d + z * q, z * qd
    v = parent.v + ca.cross(parent.w, d) + slide
    a = parent.a + ca.cross(parent.alpha, d) + ca.cross(parent.w, ca.cross(parent.w, d) + 2 * slide)
    return WorldLink(R=R, p=parent.p + d, v=v, w=w, a=a, alpha=alpha), None if kind == "fixed" else z, d


def wrench_at(d: SX, force: SX, moment: SX) -> SX:
    """The wrench (6,), seen from a point, of a force at the lever d from it and a moment."""
    return ca.vertcat(force, moment + ca.cross(d, force))


def moved_wrench(wrench: SX, d: SX) -> SX:
    """A wrench (6,) seen from a point from which its own is the lever d away."""
    return wrench_at(d, wrench[:3], wrench[3:])


def virtual_work_of_wrench(kind: str, z: SX, d: SX, wrench: SX) -> SX:
    """Virtual work of a unit rate of a joint with axis z against a wrench (6,) at the lever d from the joint."""
    return ca.dot(z, wrench[:3]) if kind == "P" else ca.dot(z, wrench[3:] + ca.cross(d, wrench[:3]))


@dataclass(frozen=True, kw_only=True)
class WorldInertia:
    """Mass m, first moment c (3,), tensor I (3, 3) about the origin of a link, world axes."""

    m: SX
    c: SX
    I: SX

    @staticmethod
    def rotated(R: SX, m: SX, S: SX, I: SX) -> WorldInertia:
        """Mass, first moment and tensor in world axes of a body with first moment S and tensor I in its own; R:
        world-from-body."""
        return WorldInertia(m=m, c=ca.mtimes(R, S), I=ca.mtimes(R, ca.mtimes(I, R.T)))

    @staticmethod
    def of(column: SX) -> WorldInertia:
        """The inertia of a column."""
        xx, xy, xz, yy, yz, zz = (column[4 + k] for k in range(6))
        I = ca.vertcat(ca.horzcat(xx, xy, xz), ca.horzcat(xy, yy, yz), ca.horzcat(xz, yz, zz))
        return WorldInertia(m=column[0], c=column[1:4], I=I)

    @property
    def column(self) -> SX:
        """All numbers, (10,)."""
        return ca.vertcat(self.m, self.c, *[self.I[i, j] for i in range(3) for j in range(i, 3)])

    def moved(self, d: SX) -> WorldInertia:
        """About a point from which its own is the lever d away."""
        mixed = ca.mtimes(d, (2 * self.c + self.m * d).T)
        return WorldInertia(m=self.m, c=self.c + self.m * d, I=self.I + ca.trace(mixed) * ca.SX.eye(3) - (mixed + mixed.T) / 2)

    def momentum(self, v: SX, w: SX) -> SX:
        """(6,) at velocity v of the point and angular velocity w."""
        return ca.vertcat(self.m * v + ca.cross(w, self.c), ca.cross(self.c, v) + ca.mtimes(self.I, w))

    def of_joint(self, kind: str, z: SX, d: SX) -> SX:
        """Momentum (6,) at a unit rate of a joint with axis z, from which the point is the lever d away."""
        return self.momentum(z, ca.SX.zeros(3)) if kind == "P" else self.momentum(ca.cross(z, d), z)

    def demand(self, frame: WorldLink) -> SX:
        """Wrench (6,) that the motion of a frame, less gravity, demands."""
        w = frame.w
        spin = ca.vertcat(ca.cross(w, ca.cross(w, self.c)), ca.cross(w, ca.mtimes(self.I, w)))
        return self.momentum(frame.a, frame.alpha) + spin
