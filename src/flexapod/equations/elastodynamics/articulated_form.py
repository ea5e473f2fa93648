r"""Equations of everything outward of a link in terms of the link's own acceleration: a symmetric form, propagated inwards.

.. math:: K\,x + p = 0,\qquad x = (D, y)

D (6,): acceleration of the link's frame (linear, angular, link axes) besides that at zero accelerations of the coordinates; y:
unknowns not yet eliminated: deformations of an element that is being passed, multipliers of closing rows. Moving to the parent,
:math:`D_j = X D_i + S\,y_j`, brings in the joint's own coordinate, which is then a pivot (articulated bodies).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.link_motion import LinkMotion
from flexapod.equations.model.algebra import symmetric


@dataclass(kw_only=True)
class EliminatedUnknown:
    """Solution for an unknown: y = -(p + k.D + sum f_i y_i), everything divided by the pivot already."""

    unknown: int
    p: SX
    frame: SX
    others: dict[int, SX]

    def value(self, D: SX | None, x: dict[int, SX]) -> SX:
        """The unknown from the frame's acceleration and the other unknowns."""
        result = -self.p if D is None else -(self.p + ca.dot(self.frame, D))
        for i, f in self.others.items():
            result = result - f * x[i]
        return result


@dataclass(kw_only=True)
class Held:
    """Force that holds an unknown at its value: force = p + k.D + sum f_i y_i."""

    unknown: int
    p: SX
    frame: SX
    others: dict[int, SX]

    def force(self, D: SX | None, x: dict[int, SX]) -> SX:
        """The force from the parent's acceleration and the other unknowns."""
        result = self.p if D is None else self.p + ca.dot(self.frame, D)
        for i, f in self.others.items():
            result = result + f * x[i]
        return result


@dataclass(kw_only=True)
class Form:
    """Blocks of K and p.

    Args:
        A, B, C: (3, 3) linear-linear, linear-angular, angular-angular.
        f, n: (3,) force and moment at D = 0, y = 0.
        columns: unknown -> (6,) coupling with D.
        entries: (larger, smaller) unknown -> coupling; p: unknown -> right side.
    """

    A: SX = field(default_factory=lambda: ca.SX.zeros(3, 3))
    B: SX = field(default_factory=lambda: ca.SX.zeros(3, 3))
    C: SX = field(default_factory=lambda: ca.SX.zeros(3, 3))
    f: SX = field(default_factory=lambda: ca.SX.zeros(3))
    n: SX = field(default_factory=lambda: ca.SX.zeros(3))
    columns: dict[int, SX] = field(default_factory=dict)
    entries: dict[tuple[int, int], SX] = field(default_factory=dict)
    p: dict[int, SX] = field(default_factory=dict)

    def add_body(self, m: SX, S: SX, I: SX, f: SX, n: SX) -> None:
        """A body with its wrench at D = 0."""
        self.A = self.A + m * ca.SX.eye(3)
        self.B = self.B - ca.skew(S)
        self.C = self.C + I
        self.f, self.n = self.f + f, self.n + n

    def add_column(self, i: int, k: SX) -> None:
        """Coupling of an unknown with D."""
        self.columns[i] = self.columns[i] + k if i in self.columns else k

    def add_entry(self, i: int, j: int, value: SX) -> None:
        """Coupling of two unknowns."""
        key = (max(i, j), min(i, j))
        self.entries[key] = self.entries[key] + value if key in self.entries else value

    def add_p(self, i: int, value: SX) -> None:
        """Right side of an unknown."""
        self.p[i] = self.p[i] + value if i in self.p else value

    def join(self, other: Form) -> None:
        """Add another branch with the same frame."""
        self.A, self.B, self.C = self.A + other.A, self.B + other.B, self.C + other.C
        self.f, self.n = self.f + other.f, self.n + other.n
        self.join_unknowns(other)

    def join_unknowns(self, other: Form) -> None:
        """Terms of another branch in its unknowns alone, and their coupling with D."""
        for i, k in other.columns.items():
            self.add_column(i, k)
        for (i, j), value in other.entries.items():
            self.add_entry(i, j, value)
        for i, value in other.p.items():
            self.add_p(i, value)

    def in_parent(self, link: LinkMotion, unknown: int | None, place: int) -> Form:
        """The same form in the parent's frame.

        Args:
            unknown: coordinate of the joint, or None for a fixed one.
            place: of the joint axis in D: 2 prismatic, 5 revolute.
        """
        R, r = link.R, ca.skew(link.r)
        A, C = symmetric(ca.mtimes(R, ca.mtimes(self.A, R.T))), ca.mtimes(R, ca.mtimes(self.C, R.T))
        B = ca.mtimes(R, ca.mtimes(self.B, R.T))
        moved = B - ca.mtimes(A, r)
        C = symmetric(C + ca.mtimes(r, moved) - ca.mtimes(B.T, r))
        new = Form(A=A, B=moved, C=C, entries=dict(self.entries), p=dict(self.p))
        wrench = _moved(link, ca.vertcat(self.f, self.n))
        new.f, new.n = wrench[:3], wrench[3:]
        new.columns = {i: _moved(link, k) for i, k in self.columns.items()}
        if unknown is not None:
            whole = ca.vertcat(ca.horzcat(self.A, self.B), ca.horzcat(self.B.T, self.C))
            new.columns[unknown] = _moved(link, whole[:, place])
            new.entries[unknown, unknown] = whole[place, place]
            for i, k in self.columns.items():
                new.add_entry(unknown, i, k[place])
            bias: SX = ca.vertcat(self.f, self.n)
            new.p[unknown] = bias[place]
        return new

    def hold(self, i: int, value: SX) -> Held:
        """Give an unknown its value and take it out."""
        inertia, frame, p = self.entries.pop((i, i)), self.columns.pop(i), self.p.pop(i)
        near = [k for k in self.p if (max(i, k), min(i, k)) in self.entries]
        column = {k: self.entries.pop((max(i, k), min(i, k))) for k in near}
        self.f, self.n = self.f + frame[:3] * value, self.n + frame[3:] * value
        for k in near:
            self.p[k] = self.p[k] + column[k] * value
        return Held(unknown=i, p=p + inertia * value, frame=frame, others=column)

    def eliminate(self, i: int) -> EliminatedUnknown:
        """Solve for an unknown and take it out."""
        inverse = 1 / self.entries.pop((i, i))
        near = [k for k in self.p if k != i and (max(i, k), min(i, k)) in self.entries]
        column = {k: self.entries.pop((max(i, k), min(i, k))) for k in near}
        frame, p = self.columns.pop(i), self.p.pop(i)
        scaled, factor = frame * inverse, {k: column[k] * inverse for k in near}
        self.A = symmetric(self.A - ca.mtimes(scaled[:3], frame[:3].T))
        self.B = self.B - ca.mtimes(scaled[:3], frame[3:].T)
        self.C = symmetric(self.C - ca.mtimes(scaled[3:], frame[3:].T))
        self.f, self.n = self.f - scaled[:3] * p, self.n - scaled[3:] * p
        for k in near:
            self.p[k] = self.p[k] - factor[k] * p
            self.add_column(k, -scaled * column[k])
            for other in near:
                if other <= k:
                    self.add_entry(k, other, -factor[k] * column[other])
        return EliminatedUnknown(unknown=i, p=p * inverse, frame=scaled, others=factor)


def _moved(link: LinkMotion, k: SX) -> SX:
    """A wrench of the link about the parent's origin, in the parent's axes."""
    force = ca.mtimes(link.R, k[:3])
    return ca.vertcat(force, ca.mtimes(link.R, k[3:]) + ca.cross(link.r, force))


def child_acceleration(link: LinkMotion, D: SX | None, y: SX | None, place: int) -> SX:
    """D of a link from that of its parent (None at rest) and its coordinate's acceleration (None if fixed)."""
    zero = ca.SX.zeros(3)
    linear, angular = (zero, zero) if D is None else (D[:3] + ca.cross(D[3:], link.r), D[3:])
    result = ca.vertcat(ca.mtimes(link.R.T, linear), ca.mtimes(link.R.T, angular))
    if y is not None:
        result[place] = result[place] + y
    return result
