r"""Inertias of a leg's links, regrouped once per parameter set, and the joint forces of their motion.

Letters: m mass, S first moment, E second moments about a link's origin, in its axes. What a joint does not let move belongs as
well to the link that carries it: masses on the axis of a revolute joint, with their moments along it, and all second moments
behind a prismatic one. A mass at the leg's end, where a spherical joint holds it, belongs as well to
the platform.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.model.algebra import NONE, LinkValues, cross, mul, sparse, vee
from flexapod.robot.model import Leg

if TYPE_CHECKING:
    from flexapod.equations.model.leg import Links

NOTHING = ca.SX(3, 3)


@dataclass(frozen=True, kw_only=True)
class LinkInertia:
    """Mass, first moment and second moments about an origin."""

    m: SX
    S: SX
    E: SX

    def __add__(self, other: LinkInertia) -> LinkInertia:
        return LinkInertia(m=self.m + other.m, S=sparse(self.S + other.S), E=sparse(self.E + other.E))

    def __sub__(self, other: LinkInertia) -> LinkInertia:
        return LinkInertia(m=self.m - other.m, S=sparse(self.S - other.S), E=sparse(self.E - other.E))

    def seen(self, R: SX, r: SX) -> LinkInertia:
        """The same in axes to which R rotates its own, about an origin from which its own is at r."""
        S = mul(R, self.S)
        mixed = mul(r, S.T)
        E = mul(mul(R, self.E), R.T) + mixed + mixed.T + self.m * mul(r, sparse(r).T)
        return LinkInertia(m=self.m, S=sparse(S + self.m * r), E=sparse(E))

    @property
    def tensor(self) -> SX:
        """(3, 3) tr(E) 1 - E."""
        return ca.trace(self.E) * ca.SX.eye(3) - self.E


NO_INERTIA = LinkInertia(m=ca.SX(0), S=NONE, E=NOTHING)


def body_inertia(values: LinkValues, name: str) -> LinkInertia:
    """Inertia of a body as the parameters give it."""
    return LinkInertia(m=values.scalar(f"{name}.mass"), S=values.vec(f"{name}.first_moment"), E=values.pseudo_inertia(name))


def point_mass(m: SX, at: SX) -> LinkInertia:
    """A mass at a point."""
    return LinkInertia(m=m, S=sparse(m * at), E=sparse(m * mul(at, sparse(at).T)))


def carried_mass(values: LinkValues, leg: Leg) -> SX:
    """Mass that the platform has of a leg: of the link that a spherical joint ends."""
    link = leg.links[leg.closing.link]
    if leg.closing.type != "spherical" or link.body is None or link.kind == "fixed":
        return ca.SX(0)
    return values.scalar(f"{link.coordinate}.body.mass")


def link_inertias(values: LinkValues, leg: Leg, carried: SX) -> list[LinkInertia]:
    """Inertia of every link that remains when as much as possible is moved to the link that carries it.

    Args:
        carried: mass that the platform has at the leg's end.

    Checked by: tests/equations/test_link_model.py.
    """
    own = [body_inertia(values, f"{k.coordinate}.body") if k.body is not None else NO_INERTIA for k in leg.links]
    last = leg.closing.link
    if not carried.is_zero():
        own[last] = own[last] - point_mass(carried, values.vec(f"{leg.closing.joint}.on_link.p"))
    for j in reversed(range(len(own))):
        link = leg.links[j]
        given = _shared(own[j], link.kind)
        own[j] = own[j] - given
        if link.parent >= 0:
            R, r = values.rot(f"{link.coordinate}.R"), values.vec(f"{link.coordinate}.p")
            own[link.parent] = own[link.parent] + given.seen(R, r)
    return own


def _shared(own: LinkInertia, kind: str) -> LinkInertia:
    """Inertia that the joint does not move against the link that carries it."""
    if kind == "fixed":
        return own
    if kind == "P":
        return LinkInertia(m=ca.SX(0), S=NONE, E=own.E)
    return LinkInertia(m=own.m, S=sparse(ca.vertcat(0, 0, own.S[2])), E=sparse(ca.diag(ca.vertcat(0, 0, own.E[2, 2]))))


def joint_forces(
    values: LinkValues, leg: Leg, R: Sequence[SX], r: Sequence[SX], links: Links, qdd: SX, *, inertias: Sequence[LinkInertia]
) -> list[SX]:
    r"""h (n,): forces at the joints that the links' motion demands, by the recursion inwards.

    f = m a + U S, n = S x a + vee(U E).

    Args:
        R, r, links: frames and motion of the links (`leg.Links`); inertias: of the links, regrouped or not.
    """
    count = len(leg.links)
    f, n, h = [NONE] * count, [NONE] * count, [ca.SX(0)] * len(leg.moving)
    for j in reversed(range(count)):
        link, body = leg.links[j], inertias[j]
        f[j] = f[j] + body.m * links.a[j] + mul(links.U[j], body.S)
        n[j] = n[j] + cross(body.S, links.a[j]) + vee(mul(links.U[j], body.E))
        if link.kind != "fixed":
            k = leg.moving.index(j)
            h[k] = ca.densify((n if link.kind == "R" else f)[j])[2] + values.scalar(f"{link.coordinate}.rotor") * qdd[k]
        if link.parent >= 0:
            rotated = mul(R[j], f[j])
            f[link.parent] = sparse(f[link.parent] + rotated)
            n[link.parent] = sparse(n[link.parent] + mul(R[j], n[j]) + cross(r[j], rotated))
    return h
