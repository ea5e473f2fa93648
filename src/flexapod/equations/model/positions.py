r"""Joint positions of U-P-S, P-U-S and R-U-S legs in link axes: cosines and sines without angles.

With d from the universal joint to S in axes of its first link, k the second axis there and rho the part of d across the first
axis z, the first angle turns d into the plane normal to k; the second one follows from the direction of d in the next link. The
drive of a P-U-S leg is the root of a quadratic, that of an R-U-S leg solves A cos t + B sin t = C.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexapod.equations.model.algebra import LinkValues, mul
from flexapod.equations.universal_leg import SINGULAR
from flexapod.kernels.program import Program
from flexapod.robot.link_plan import LegChoice
from flexapod.robot.model import Leg


def closed_positions(b: Program, values: LinkValues, leg: Leg, choice: LegChoice, S: Any) -> list[Any]:
    """(cos, sin) of each revolute link and the displacement of each prismatic one, `zero` included.

    Args:
        values: below ``legs.<name>.``.
        S: (3,) spherical centre, world.

    Checked by: tests/equations/test_link_model.py.
    """
    R, p = ([getattr(values, read)(f"{k.coordinate}.{key}") for k in leg.links] for read, key in (("rot", "R"), ("vec", "p")))
    tip = ca.densify(values.vec(f"{leg.closing.joint}.on_link.p"))
    drive, sigma = choice.signs
    d = ca.densify(mul(R[0].T, S - p[0]))
    if leg.architecture == "UPS":
        first, second, rho2 = _universal(b, leg, R[1], d, sigma)
        square = rho2 + d[2] * d[2]
        length = ca.sqrt(square)
        b.fail_if(rho2 <= SINGULAR * SINGULAR * square, "leg {leg} lies along its first universal axis", leg=leg.name)
        m = ca.densify(R[2][:, 2])
        angle = _in_plane(second, m, 1 / length)
        return [first, angle, length - ca.dot(m, ca.densify(p[2])) - tip[2]]
    square = ca.dot(tip, tip)
    if leg.architecture == "PUS":
        d = d - p[1]
        under = d[2] * d[2] - ca.dot(d, d) + square
        b.fail_if(under < 0, "leg {leg} cannot reach: its platform joint is too far from the rail", leg=leg.name)
        root = ca.sqrt(under)
        b.fail_if(
            under < SINGULAR * SINGULAR * square, "leg {leg} stands at right angles to its rail (turning point)", leg=leg.name
        )
        moved: Any = d[2] + drive * root
        d = mul(R[1].T, ca.vertcat(d[0], d[1], -drive * root))
    else:
        moved = _crank(b, leg, d, ca.densify(p[1]), square, drive)
        c, s = moved
        d = mul(R[1].T, ca.vertcat(c * d[0] + s * d[1], c * d[1] - s * d[0], d[2]) - p[1])
    first, second, rho2 = _universal(b, leg, R[2], ca.densify(d), sigma)
    b.fail_if(rho2 <= SINGULAR * SINGULAR * square, "leg {leg} lies along its first universal axis", leg=leg.name)
    inverse = 1 / ca.sqrt(square)
    return [moved, first, _in_plane(second, tip * inverse, inverse)]


def _crank(b: Program, leg: Leg, d: Any, crank: Any, square: Any, sign: int) -> tuple[Any, Any]:
    """Cosine and sine of a crank whose end is the rod's length away from d."""
    A, B = d[0] * crank[0] + d[1] * crank[1], d[1] * crank[0] - d[0] * crank[1]
    C = (ca.dot(d, d) + ca.dot(crank, crank) - square) / 2 - d[2] * crank[2]
    size = A * A + B * B
    under = size - C * C
    b.fail_if(under < 0, "leg {leg} cannot reach: its platform joint is too far from the crank or too near", leg=leg.name)
    b.fail_if(under < SINGULAR * SINGULAR * size, "leg {leg}: rod and crank are in line (turning point)", leg=leg.name)
    root, inverse = sign * ca.sqrt(under), 1 / size
    return (A * C - B * root) * inverse, (B * C + A * root) * inverse


def _universal(b: Program, leg: Leg, R: Any, d: Any, sigma: int) -> tuple[tuple[Any, Any], Any, Any]:
    """First angle, d in axes of the second link before its own angle, and the squared length of d across the first axis."""
    k = ca.densify(R[:, 2])
    x, y = k[0] * d[0] + k[1] * d[1], k[0] * d[1] - k[1] * d[0]
    rho2 = x * x + y * y
    rho = ca.sqrt(rho2)
    inverse = sigma / rho
    turned = ca.vertcat(-k[1] * (sigma * rho), k[0] * (sigma * rho), d[2])
    return (y * inverse, -x * inverse), ca.densify(mul(R.T, turned)), rho2


def _in_plane(d: Any, m: Any, inverse: Any) -> tuple[Any, Any]:
    """Angle about z from the unit vector m to d, both in the plane normal to z; `inverse` of the length of d."""
    a, c = d[0] * inverse, d[1] * inverse
    return a * m[0] + c * m[1], c * m[0] - a * m[1]
