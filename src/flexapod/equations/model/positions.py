r"""Joint positions of a leg from the place of its end, in link axes: cosines and sines without angles.

With d from the universal joint to S in axes of its first link, k the second axis there and rho the part of d across the first
axis z, the first angle turns d into the plane normal to k; the second one follows from the direction of d in the next link. The
drive of a P-U-S leg is the root of a quadratic, that of an R-U-S leg solves A cos t + B sin t = C. Legs of two joints in a plane
(R-R, P-R, R-P) are the same triangles without the universal joint; a slide along two parallel hinges (P-R-R) brings their plane
to the leg's end. The joint at the end may be any that holds a point.

A ball between the drive and a rod that a hinge ends (R-S-R, P-S-R) turns the rod's direction t to d, and the hinge's axis c on
the rod to e, square to the axis a of the hinge's other half; with gamma = (c . t) (a . d) the part of e across d is

.. math:: e_\perp = (-\gamma\,a_\perp \pm \sqrt{c_\perp^2a_\perp^2 - \gamma^2}\;d\times a)/a_\perp^2

and its three angles follow from where they turn z and x.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX, Scalar
from flexapod.equations.model.algebra import LinkValues, mul, sparse
from flexapod.equations.universal_leg import SINGULAR
from flexapod.kernels.tape.roles import TakesChecks
from flexapod.robot.architecture import Reach, reach
from flexapod.robot.leg_positions import ROWS
from flexapod.robot.model import Leg

Position = SX | tuple[SX, SX]
"""Displacement of a prismatic joint, or cosine and sine of the angle of a revolute one."""
RAIL = (
    "leg {leg} cannot reach: its platform joint is too far from the rail",
    "leg {leg} is at right angles to its rail (turning point)",
)
CRANK = (
    "leg {leg} cannot reach: its platform joint is too far from the crank or too near",
    "leg {leg}: rod and crank are in line (turning point)",
)
HINGE = (
    "leg {leg} cannot reach: its platform joint is too near to the base joint",
    "leg {leg} is at right angles to its slide (turning point)",
)
HINGED = (
    "leg {leg} cannot reach: the hinge at the platform does not let its rod turn so far",
    "leg {leg}: its rod and the hinge at the platform are in line (turning point)",
)
"""Reasons why a drive has no root, and why its root may not be taken."""


def displacement(position: Position) -> SX:
    """Displacement of a prismatic joint."""
    assert not isinstance(position, tuple)
    return position


@dataclass(frozen=True)
class Root:
    """The root of a leg's drive that the leg has at home."""

    program: TakesChecks
    leg: Leg
    sign: Scalar
    band: float

    def of(self, under: SX, square: SX, texts: tuple[str, str]) -> SX:
        """The signed root, refused where there is none and where its branches meet; `square` is the scale of `under`."""
        self.program.fail_if(under < -self.band * square, texts[0], leg=self.leg.name)
        self.program.fail_if(under < max(self.band, SINGULAR * SINGULAR) * square, texts[1], leg=self.leg.name)
        return self.sign * ca.sqrt(under)


def closed_positions(
    b: TakesChecks, values: LinkValues, leg: Leg, signs: Sequence[Scalar], *, S: SX, half: SX, row: int, band: float = 0.0
) -> list[Position]:
    """(cos, sin) of each revolute link and the displacement of each prismatic one, `zero` included.

    Args:
        values: below ``legs.<name>.``.
        signs: of the root of its drive and of its first universal angle.
        S: (3,) where the leg ends; half: (3, 3) axes of the joint's half on the platform; both world.
        row: of the closing rows, the last that is to be met; a ball before a hinge needs it.
        band: what lies beyond reach by less than this, squared and relative, counts as the turning point.

    Checked by: tests/equations/test_leg_positions.py, tests/equations/test_link_model.py.
    """
    kind = reach(leg)
    R, p = ([getattr(values, read)(f"{k.coordinate}.{key}") for k in leg.links] for read, key in (("rot", "R"), ("vec", "p")))
    tip = values.vec(f"{leg.closing.joint}.on_link.p")
    for k in reversed(range(len(leg.moving), len(leg.links))):
        tip = p[k] + mul(R[k], tip)
    tip, d = ca.densify(tip), ca.densify(mul(R[0].T, S - p[0]))
    if len(kind) == 2:
        found = {"RR": _two_cranks, "PR": _slider_crank, "RP": _swing}[kind]
        return found(Root(b, leg, signs[0], band), R[1], ca.densify(p[1]), tip, d)
    if kind == "PRR":
        moved = d[2] - p[1][2] - R[1][2, 2] * (p[2][2] + R[2][2, 2] * tip[2])
        there = ca.densify(mul(R[1].T, d - p[1] - ca.vertcat(0, 0, moved)))
        return [moved, *_two_cranks(Root(b, leg, signs[0], band), R[2], ca.densify(p[2]), tip, there)]
    drive, sigma = signs
    if kind == "UPS":
        first, second, rho2 = _universal(R[1], d, sigma)
        square = rho2 + d[2] * d[2]
        length = ca.sqrt(square)
        b.fail_if(rho2 <= SINGULAR * SINGULAR * square, "leg {leg} lies along its first universal axis", leg=leg.name)
        m = ca.densify(R[2][:, 2])
        angle = _in_plane(second, m, 1 / length)
        return [first, angle, length - ca.dot(m, ca.densify(p[2])) - tip[2]]
    square = ca.dot(tip, tip)
    moved, d = _driven(Root(b, leg, drive, band), kind, R[1], p[1], d, square)
    inverse = 1 / ca.sqrt(square)
    if kind in ("PSR", "RSR"):
        seen = mul(R[0].T, half)  # the hinge's half on the platform, in axes of the ball before its first angle
        seen = ca.densify(mul(R[1].T, _rotated(moved, seen) if kind == "RSR" else seen))
        c = ca.densify(values.rot(f"{leg.closing.joint}.on_link.R")[:, 2])
        spin = values.scalar("spin") * seen[:, 2]
        x, z = _rod(Root(b, leg, 1, band), d * inverse, tip * inverse, c, seen[:, int(ROWS["revolute"][row][1])], spin)
        return [moved, *_ball(b, leg, R[2:], x, z, sigma)]
    first, second, rho2 = _universal(R[2], ca.densify(d), sigma)
    b.fail_if(rho2 <= SINGULAR * SINGULAR * square, "leg {leg} lies along its first universal axis", leg=leg.name)
    return [moved, first, _in_plane(second, tip * inverse, inverse)]


def last_axes(values: LinkValues, leg: Leg, where: Sequence[Position], S: SX) -> SX | None:
    """(3, 3) world axes from those of the last link of a U-P-S, P-U-S or R-U-S leg: by its direction n and second universal axis,
    shorter than by all rotations of its joints. None for other legs.

    Args:
        where: `closed_positions` of the leg that ends at S.

    Checked by: tests/equations/test_link_model.py.
    """
    kind = reach(leg)
    if kind not in ("UPS", "PUS", "RUS") or len(leg.links) != 3:
        return None
    R, p = (
        [getattr(values, read)(f"{link.coordinate}.{key}") for link in leg.links] for read, key in (("rot", "R"), ("vec", "p"))
    )
    if R[0].nnz() == 3:  # axes of the base: its rotation costs no operation
        return None
    tip = values.vec(f"{leg.closing.joint}.on_link.p")
    if kind == "UPS":
        d = S - p[0]
        seen = ca.densify(mul(R[0].T, d))
        _, _, rho2 = _universal(R[1], seen, 1)
        inverse, m, rotation, first = 1 / ca.sqrt(rho2 + seen[2] * seen[2]), R[2][:, 2], R[0], where[0]
        k = R[1][:, 2]
    else:
        moved, first, k = where[0], where[1], R[2][:, 2]
        inverse = 1 / ca.sqrt(ca.dot(ca.densify(tip), ca.densify(tip)))
        m = tip * inverse
        if kind == "PUS":
            d, rotation = S - (p[0] + mul(R[0], p[1])) - R[0][:, 2] * displacement(moved), mul(R[0], R[1])
        else:
            drive = _followed(R[0], moved)
            d, rotation = S - (p[0] + mul(drive, p[1])), mul(drive, R[1])
    c, s = first
    n = ca.densify(d) * inverse
    second = ca.densify(mul(rotation, sparse(ca.vertcat(c * k[0] - s * k[1], s * k[0] + c * k[1], k[2]))))
    across, m = ca.cross(second, n), ca.densify(m)
    axes = ca.horzcat(m[0] * n - m[1] * across, m[1] * n + m[0] * across, second)
    return sparse(mul(axes, R[2]) if kind == "UPS" else axes)


def _followed(R: SX, angle: Position) -> SX:
    """R, followed by a rotation about z."""
    c, s = angle
    return ca.horzcat(R[:, 0] * c + R[:, 1] * s, R[:, 1] * c - R[:, 0] * s, R[:, 2])


def drive_position(b: TakesChecks, values: LinkValues, leg: Leg, sign: SX, S: SX) -> Position:
    """(cos, sin) or displacement of the drive of a leg with a ball, that puts the ball at the rod's length from S (3,), world."""
    first, second = (leg.links[k].coordinate for k in range(2))
    R, p, ball = values.rot(f"{first}.R"), values.vec(f"{first}.p"), values.vec(f"{second}.p")
    tip, d = values.vec(f"{leg.closing.joint}.on_link.p"), ca.densify(mul(R.T, S - p))
    return _driven(Root(b, leg, sign, 0.0), reach(leg), ca.SX.eye(3), ball, d, ca.densify(mul(tip.T, tip)))[0]


def _driven(root: Root, kind: Reach, R: SX, p: SX, d: SX, square: SX) -> tuple[Position, SX]:
    """Position of a drive, and the rod in axes R of what follows it.

    Args:
        p: (3,) where the rod begins, axes of the drive; d: (3,) where it ends, axes before the drive moves.
        square: of the rod's length.
    """
    if kind in ("PUS", "PSR"):
        d = d - p
        along = root.of(d[2] * d[2] - ca.dot(d, d) + square, square, RAIL)
        return d[2] + along, mul(R.T, ca.vertcat(d[0], d[1], -along))
    crank = ca.densify(p)
    C = (ca.dot(d, d) + ca.dot(crank, crank) - square) / 2 - d[2] * crank[2]
    moved = _crank(root, d, crank, C)
    return moved, mul(R.T, _rotated(moved, d) - p)


def _rod(root: Root, d: SX, t: SX, c: SX, a: SX, near: SX) -> tuple[SX, SX]:
    """Axes x and z of a rod with the directions t and c in its own axes: t along d, and c square to a, on the side of `near`."""
    ct, ad = ca.dot(c, t), ca.dot(a, d)
    c_across, a_across, v = c - ct * t, a - ad * d, ca.cross(d, a)
    c2, a2 = ca.dot(c_across, c_across), ca.dot(a_across, a_across)
    sine = root.of(c2 * a2 - ct * ct * ad * ad, c2, HINGED)
    f = (ca.if_else(ca.dot(near, v) < 0, -sine, sine) * v - ct * ad * a_across) / (a2 * c2)
    target, own = ca.horzcat(d, f, ca.cross(d, f)), ca.horzcat(t, c_across, ca.cross(t, c_across))
    return mul(target, own[0, :].T), mul(target, own[2, :].T)


def _ball(b: TakesChecks, leg: Leg, R: Sequence[SX], x: SX, z: SX, sigma: Scalar) -> list[Position]:
    """The three angles of a ball that rotate its last link's axes to x and z, in axes before the first angle."""
    first, second, rho2 = _universal(R[0], ca.densify(z), sigma)
    b.fail_if(rho2 <= SINGULAR * SINGULAR, "leg {leg}: the first and last axes of its ball are in line", leg=leg.name)
    middle = _in_plane(second, ca.densify(R[1][:, 2]), 1)
    x = mul(R[1].T, _rotated(middle, ca.densify(mul(R[0].T, _rotated(first, ca.densify(x))))))
    return [first, middle, (x[0], x[1])]


def _two_cranks(root: Root, R: SX, p: SX, tip: SX, d: SX) -> list[Position]:
    """Two parallel hinges: the triangle of both lengths."""
    square = tip[0] * tip[0] + tip[1] * tip[1]
    C = (d[0] * d[0] + d[1] * d[1] + p[0] * p[0] + p[1] * p[1] - square) / 2
    first = _crank(root, d, p, C)
    inverse = 1 / ca.sqrt(square)
    return [first, _in_plane(ca.densify(mul(R.T, _rotated(first, d) - p)), tip * inverse, inverse)]


def _slider_crank(root: Root, R: SX, p: SX, tip: SX, d: SX) -> list[Position]:
    """A slide, and a hinge across it: with u the slide's direction in the hinge's plane, the rod leaves the rail by cross."""
    g, u = ca.densify(mul(R.T, d - p)), ca.densify(R[2, :].T)
    square, cross = tip[0] * tip[0] + tip[1] * tip[1], g[0] * u[1] - g[1] * u[0]
    travel = root.of(square - cross * cross, square, RAIL)
    along = g[0] * u[0] + g[1] * u[1]
    inverse = 1 / ca.sqrt(square)
    rod = ca.vertcat(cross * u[1] - travel * u[0], -cross * u[0] - travel * u[1])
    return [along + travel, _in_plane(rod, tip * inverse, inverse)]


def _swing(root: Root, R: SX, p: SX, tip: SX, d: SX) -> list[Position]:
    """A hinge, and a slide across it: the tip's distance from the hinge gives the slide."""
    start, k = ca.densify(p + mul(R, tip)), ca.densify(R[:, 2])
    square, cross = d[0] * d[0] + d[1] * d[1], k[0] * start[1] - k[1] * start[0]
    length = root.of(square - cross * cross, square, HINGE)
    arm = ca.vertcat(length * k[0] - cross * k[1], length * k[1] + cross * k[0])
    inverse = 1 / square
    rotation = ((d[0] * arm[0] + d[1] * arm[1]) * inverse, (d[1] * arm[0] - d[0] * arm[1]) * inverse)
    return [rotation, length - (k[0] * start[0] + k[1] * start[1])]


def _rotated(angle: Position, d: SX) -> SX:
    """d, one column or several, in axes that are rotated about z."""
    c, s = angle
    return ca.vertcat(c * d[0, :] + s * d[1, :], c * d[1, :] - s * d[0, :], d[2, :])


def _crank(root: Root, d: SX, crank: SX, C: SX) -> tuple[SX, SX]:
    """Cosine and sine of a crank whose end is the rod's length away from d: A cos + B sin = C."""
    A, B = d[0] * crank[0] + d[1] * crank[1], d[1] * crank[0] - d[0] * crank[1]
    size = A * A + B * B
    sine, inverse = root.of(size - C * C, size, CRANK), 1 / size
    return (A * C - B * sine) * inverse, (B * C + A * sine) * inverse


def _universal(R: SX, d: SX, sigma: Scalar) -> tuple[tuple[SX, SX], SX, SX]:
    """First angle, d in axes of the second link before its own angle, and the squared length of d across the first axis."""
    k = ca.densify(R[:, 2])
    x, y = k[0] * d[0] + k[1] * d[1], k[0] * d[1] - k[1] * d[0]
    rho2 = x * x + y * y
    rho = ca.sqrt(rho2)
    inverse = sigma / rho
    rotated = ca.vertcat(-k[1] * (sigma * rho), k[0] * (sigma * rho), d[2])
    return (y * inverse, -x * inverse), ca.densify(mul(R.T, rotated)), rho2


def _in_plane(d: SX, m: SX, inverse: Scalar) -> tuple[SX, SX]:
    """Angle about z from the unit vector m to d, both in the plane normal to z; `inverse` of the length of d."""
    a, c = d[0] * inverse, d[1] * inverse
    return a * m[0] + c * m[1], c * m[0] - a * m[1]
