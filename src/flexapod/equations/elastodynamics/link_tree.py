r"""Mass matrix and bias forces of a leg with beams, in link axes, by one recursion inwards.

Letters: m, S, I everything beyond a joint, about its origin, axes of its link. A unit acceleration of joint k demands the wrench
:math:`(z\times S, I z)` (revolute) or :math:`(m z, S\times z)` (prismatic); an elastic coordinate demands the coupling of its
element besides, at the element's root. Passed inwards it is felt at every joint on the way, M_jk = s_j^T F_k; bias wrenches
likewise.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.link_beams import LinkBeam
from flexapod.equations.elastodynamics.link_motion import LinkMotion, Z
from flexapod.equations.model.algebra import cross, mul, sparse, symmetric, vee
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import tensor
from flexapod.robot.beams import ElasticElement
from flexapod.robot.leg_positions import ancestors
from flexapod.robot.model import Leg


@dataclass(frozen=True, kw_only=True)
class LinkBody:
    """Mass, first moment and tensor about the origin of a link, in its axes."""

    m: SX
    S: SX
    I: SX

    def __add__(self, other: LinkBody) -> LinkBody:
        return LinkBody(m=self.m + other.m, S=self.S + other.S, I=self.I + other.I)

    def with_mass(self, m: SX, x: SX) -> LinkBody:
        """The link with a mass m added at its point x (3,)."""
        x = ca.densify(x)
        I = m * (ca.dot(x, x) * ca.SX.eye(3) - ca.mtimes(x, x.T))
        return LinkBody(m=self.m + m, S=self.S + m * x, I=self.I + I)

    def demanded(self, U: SX, a: SX) -> tuple[SX, SX]:
        """Force and moment about the origin (3,) that a motion demands; U as of `field`, a: of the origin less gravity."""
        E = ca.trace(self.I) / 2 * ca.SX.eye(3) - self.I
        return self.m * a + mul(U, sparse(self.S)), cross(self.S, a) + vee(mul(U, E))

    def carried(self, R: SX, r: SX) -> LinkBody:
        """Inertia about the origin of the carrier, in its axes: R from axes of the link, r the link's origin there."""
        S, r = ca.densify(mul(R, self.S)), ca.densify(r)
        moved = S + self.m * r
        mixed = ca.mtimes(r, (S + moved).T)
        I = symmetric(mul(mul(R, self.I), R.T)) + ca.trace(mixed) * ca.SX.eye(3) - (mixed + mixed.T) / 2
        return LinkBody(m=self.m, S=moved, I=I)


def leg_mass_matrix(
    values: Values, leg: Leg, links: Sequence[LinkMotion], beams: Sequence[LinkBeam], rigid: Sequence[LinkBody] | None = None
) -> SX:
    """Mass matrix (n, n) of a leg's moving coordinates, cut from the platform, symmetric.

    Args:
        rigid: what every link carries besides beams, where it is not its rigid body.

    Source: Briot 2014 Eqs. (9)-(27) in closed form. Checked by: tests/equations/test_link_axes.py.
    """
    n, moving = len(leg.moving), leg.moving
    own = [rigid_body(values, leg, i) for i in range(len(leg.links))] if rigid is None else list(rigid)
    bodies, elements = _composites(leg, own, links, beams), {i: e for e in beams for i in e.beam.links}
    M = ca.SX(n, n)
    for k, i in enumerate(moving):
        body = bodies[i]
        f, m = (ca.cross(Z, body.S), body.I[:, 2]) if leg.links[i].kind == "R" else (Z * body.m, ca.cross(body.S, Z))
        M[k, k] = values.scalar(f"{leg.links[i].coordinate}.rotor")
        j = i
        while j >= 0:
            if leg.links[j].kind != "fixed":
                row = moving.index(j)
                M[row, k] = M[row, k] + (m[2] if leg.links[j].kind == "R" else f[2]) + _within(elements, i, j)
                M[k, row] = M[row, k]
            f = ca.mtimes(links[j].R, f)
            m = ca.mtimes(links[j].R, m) + ca.cross(links[j].r, f)
            j = leg.links[j].parent
            if i in elements and j == elements[i].beam.root:
                at = elements[i].beam.links.index(i)
                f, m = f + elements[i].force[:, at], m + elements[i].moment[:, at]
    for element in beams:
        for row, k, value in branch_pairs(leg, element.beam, element.M):
            M[row, k], M[k, row] = M[row, k] + value, M[k, row] + value
    return M


def branch_pairs(leg: Leg, beam: ElasticElement, M: SX) -> Iterator[tuple[int, int, SX]]:
    """Coordinates of an element of which neither link carries the other, and the elastic mass between them: of a body with
    several tips, or with modes of its own."""
    for j, k in itertools.combinations(range(len(beam.links)), 2):
        if beam.links[j] not in ancestors(leg, beam.links[k]):
            yield leg.moving.index(beam.links[j]), leg.moving.index(beam.links[k]), M[j, k]


def leg_bias(values: Values, leg: Leg, links: Sequence[LinkMotion], beams: Sequence[LinkBeam]) -> SX:
    """Forces (n,) that motion at zero accelerations, weight and deformation demand at a leg's coordinates.

    Source: Briot 2014 Eqs. (5)-(27). Checked by: tests/equations/test_link_axes.py.
    """
    f, n = [], []
    for i, link in enumerate(leg.links):
        own = rigid_body(values, leg, i)
        rigid = link.body is not None and link.body.flexible is None
        f.append(own.m * links[i].a + ca.mtimes(links[i].U, own.S) if rigid else ca.SX.zeros(3))
        n.append(rigid_moment(own, links[i]) if rigid else ca.SX.zeros(3))
    elastic: dict[int, SX] = {}
    for element in beams:
        root = element.beam.root
        f[root], n[root] = f[root] + element.f, n[root] + element.n
        elastic.update({i: element.s[k] for k, i in enumerate(element.beam.links)})
    felt: dict[int, SX] = {}
    for i in reversed(range(len(leg.links))):
        felt[i] = (n[i][2] if leg.links[i].kind == "R" else f[i][2]) + elastic.get(i, 0)
        parent = leg.links[i].parent
        if parent >= 0:
            rotated = ca.mtimes(links[i].R, f[i])
            f[parent] = f[parent] + rotated
            n[parent] = n[parent] + ca.mtimes(links[i].R, n[i]) + ca.cross(links[i].r, rotated)
    return ca.vertcat(*[felt[i] for i in leg.moving])


def rigid_moment(body: LinkBody, link: LinkMotion) -> SX:
    """Moment about the origin that a rigid body's motion demands."""
    return ca.cross(body.S, link.a) + ca.mtimes(body.I, link.alpha) + ca.cross(link.w, ca.mtimes(body.I, link.w))


def rigid_body(values: Values, leg: Leg, i: int) -> LinkBody:
    """The rigid body of a link, or nothing."""
    link = leg.links[i]
    if link.body is None or link.body.flexible is not None:
        return LinkBody(m=ca.SX(0), S=ca.SX.zeros(3), I=ca.SX.zeros(3, 3))
    name = f"{link.coordinate}.body"
    S = values.vector(f"{name}.first_moment", "B").expr
    return LinkBody(m=values.scalar(f"{name}.mass"), S=S, I=tensor(values, f"{name}.inertia"))


def _composites(leg: Leg, own: Sequence[LinkBody], links: Sequence[LinkMotion], beams: Sequence[LinkBeam]) -> list[LinkBody]:
    """Everything beyond each joint, about its origin."""
    result = list(own)
    for e in beams:
        result[e.beam.root] = result[e.beam.root] + LinkBody(m=e.m, S=e.S, I=e.I)
    for i in reversed(range(len(leg.links))):
        parent = leg.links[i].parent
        if parent >= 0:
            result[parent] = result[parent] + result[i].carried(links[i].R, links[i].r)
    return result


def _within(elements: dict[int, LinkBeam], i: int, j: int) -> SX | float:
    """Elastic mass between two coordinates of one element."""
    if i not in elements or j not in elements or elements[i] is not elements[j]:
        return 0
    order = elements[i].beam.links
    return elements[i].M[order.index(j), order.index(i)]
