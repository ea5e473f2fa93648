r"""Twists, wrenches and inertias of all bodies about one point, the origin of the world, in world axes.

There the twist of a link is that of its parent and its own joint's, and wrenches and inertias of links add up without levers:

.. math:: V_j = V_i + S\dot q,\quad A_j = A_i + V_i\times S\dot q,\quad
          S = \begin{pmatrix} p\times z\\ z\end{pmatrix}\ \text{or}\ \begin{pmatrix} z\\ 0\end{pmatrix}

(columns: linear, then angular part). Inertia: mass m, first moment c, tensor I about the origin.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A link: rotation R (3, 3) and origin p (3,), twist V (6,), acceleration A (6,) less gravity at zero accelerations of all
    coordinates."""

    R: Any
    p: Any
    V: Any
    A: Any

    @property
    def column(self) -> Any:
        """All numbers, (24,)."""
        return ca.vertcat(ca.vec(self.R), self.p, self.V, self.A)

    @staticmethod
    def of(column: Any) -> Frame:
        """The frame of a column."""
        return Frame(R=ca.reshape(column[:9], 3, 3), p=column[9:12], V=column[12:18], A=column[18:24])

    @property
    def velocity(self) -> Any:
        """Of the origin of the link, (3,)."""
        return self.V[:3] + ca.cross(self.V[3:], self.p)

    @property
    def acceleration(self) -> Any:
        """Of the origin of the link, less gravity, (3,)."""
        return self.A[:3] + ca.cross(self.A[3:], self.p) + ca.cross(self.V[3:], self.velocity)


def moved_frame(parent: Frame, kind: str, R0: Any, p0: Any, q: Any, qd: Any) -> tuple[Frame, Any]:
    """A link behind a joint and its unit twist S (6,); `q` counts from the placement R0, p0 in the parent."""
    R, p = ca.mtimes(parent.R, R0), parent.p + ca.mtimes(parent.R, p0)
    z = R[:, 2]
    if kind == "fixed":
        return Frame(R=R, p=p, V=parent.V, A=parent.A), None
    if kind == "R":
        c, s = ca.cos(q), ca.sin(q)
        R = ca.horzcat(R[:, 0] * c + R[:, 1] * s, R[:, 1] * c - R[:, 0] * s, z)
        S = ca.vertcat(ca.cross(p, z), z)
    else:
        p, S = p + z * q, ca.vertcat(z, ca.SX.zeros(3))
    A = parent.A + crossed(parent.V, S) * qd
    return Frame(R=R, p=p, V=parent.V + S * qd, A=A), S


def crossed(V: Any, S: Any) -> Any:
    """Rate of a twist S (6,) that moves with V (6,)."""
    return ca.vertcat(ca.cross(V[3:], S[:3]) + ca.cross(V[:3], S[3:]), ca.cross(V[3:], S[3:]))


def at_origin(p: Any, force: Any, moment: Any) -> Any:
    """The wrench (6,), about the origin, of a force at p and a moment."""
    return ca.vertcat(force, moment + ca.cross(p, force))


@dataclass(frozen=True, kw_only=True)
class Inertia:
    """Mass m, first moment c (3,), tensor I (3, 3) about the origin."""

    m: Any
    c: Any
    I: Any

    @staticmethod
    def placed(frame_R: Any, p: Any, m: Any, S: Any, I: Any) -> Inertia:
        """Of a body with first moment S and tensor I about p, in the axes that R turns to the world's."""
        s, J = ca.mtimes(frame_R, S), ca.mtimes(frame_R, ca.mtimes(I, frame_R.T))
        mixed = ca.mtimes(p, (2 * s + m * p).T)
        return Inertia(m=m, c=s + m * p, I=J + ca.trace(mixed) * ca.SX.eye(3) - (mixed + mixed.T) / 2)

    @staticmethod
    def of(column: Any) -> Inertia:
        """The inertia of a column."""
        xx, xy, xz, yy, yz, zz = (column[4 + k] for k in range(6))
        I = ca.vertcat(ca.horzcat(xx, xy, xz), ca.horzcat(xy, yy, yz), ca.horzcat(xz, yz, zz))
        return Inertia(m=column[0], c=column[1:4], I=I)

    @property
    def column(self) -> Any:
        """All numbers, (10,)."""
        return ca.vertcat(self.m, self.c, *[self.I[i, j] for i in range(3) for j in range(i, 3)])

    def times(self, V: Any) -> Any:
        """Momentum (6,) of a twist."""
        return ca.vertcat(self.m * V[:3] + ca.cross(V[3:], self.c), ca.cross(self.c, V[:3]) + ca.mtimes(self.I, V[3:]))

    def demand(self, frame: Frame) -> Any:
        """Wrench (6,) that the motion of a frame, less gravity, demands."""
        momentum, w = self.times(frame.V), frame.V[3:]
        gyro = ca.vertcat(ca.cross(w, momentum[:3]), ca.cross(w, momentum[3:]) + ca.cross(frame.V[:3], momentum[:3]))
        return self.times(frame.A) + gyro
