r"""Six leg forces from a wrench where three equations have constant coefficients.

Letters: kappa_j unknown, x_j, y_j, c_j entries of leg j that vary with the pose, (u_j, v_j) constant coordinates of its
joint in the plane of joints, seen from the joint of the first leg of the triangle (u = v = c = 0 there).

.. math:: \sum\kappa_j = F_3,\quad \sum u_j\kappa_j = m_u,\quad \sum v_j\kappa_j = m_v,\qquad
          \sum x_j\kappa_j = F_1,\quad \sum y_j\kappa_j = F_2,\quad \sum c_j\kappa_j = m

The three legs of the triangle are eliminated by the constant coordinates of the other joints in it; what remains is three
by three and solved by Cramer's rule. The triangle is chosen for its area, so that no pivoting is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.equations.minimal.platform_levers import Coordinates, Place
from flexapod.equations.minimal.vectors import Scalar, Triple, cross, dot, times, total
from flexapod.kernels.tape.program import Program

SINGULAR = 1e-11
"""Determinant of the three legs left over, relative to slopes of 1 and the size of the triangle, that counts as zero."""


@dataclass(frozen=True, kw_only=True)
class Load:
    """Right-hand sides: the varying rows (F_1, F_2, m) and the constant rows F_3, m_u, m_v."""

    rows: Triple
    sum: Scalar
    u: Scalar
    v: Scalar


@dataclass(frozen=True, kw_only=True)
class LegCoefficients:
    """Coefficients of six legs.

    Args:
        names: of the joints; legs with one joint have the same.
        places: (u_j, v_j) per leg.
        slopes: (x_j, y_j) per leg.
        arms: per leg, with c_j = arm x slope.
    """

    names: Sequence[str]
    places: Sequence[Coordinates]
    slopes: Sequence[Place]
    arms: Sequence[Coordinates]


def solve(b: Program, triangle: tuple[int, int, int], legs: LegCoefficients, load: Load, size: Scalar) -> list[Scalar]:
    """The six kappa.

    Args:
        b: takes the check for singular poses.
        triangle: legs that are eliminated; the first is the origin of places and arms.
        size: what the determinant is measured by (a length for slopes without dimension).

    Accurate like a pivoted solve up to condition numbers of 1e6.
    Checked by: tests/equations/test_minimal.py.
    """
    names, places, slopes, arms = legs.names, legs.places, legs.slopes, legs.arms
    first, second, third = triangle
    others = [j for j in range(6) if j not in triangle]
    (u2, v2), (u3, v3) = places[second], places[third]
    inverse = 1 / (u2 * v3 - v2 * u3)

    def weights(u: Scalar, v: Scalar) -> Place:
        return u * (v3 * inverse) - v * (u3 * inverse), v * (u2 * inverse) - u * (v2 * inverse)

    exact: dict[str, Place] = {names[first]: (0, 0), names[second]: (1, 0), names[third]: (0, 1)}
    beta = {j: exact[names[j]] if names[j] in exact else weights(*places[j]) for j in others}
    x1, y1 = slopes[first]
    side2, side3 = (_column(slopes[k], slopes[first], slopes[k], arms[k]) for k in (second, third))
    corner = {names[k]: k for k in triangle}

    def reduced(j: int) -> Triple:
        if names[j] in corner:  # the same joint as a corner: only the directions differ
            x, y = (slopes[j][i] - slopes[corner[names[j]]][i] for i in (0, 1))
            return x, y, _area(arms[j], (x, y))
        x, y, c = _column(slopes[j], slopes[first], slopes[j], arms[j])
        b2, b3 = beta[j]
        return x - b2 * side2[0] - b3 * side3[0], y - b2 * side2[1] - b3 * side3[1], c - b2 * side2[2] - b3 * side3[2]

    k2, k3 = weights(load.u, load.v)
    rest = (
        load.rows[0] - x1 * load.sum - side2[0] * k2 - side3[0] * k3,
        load.rows[1] - y1 * load.sum - side2[1] * k2 - side3[1] * k3,
        load.rows[2] - side2[2] * k2 - side3[2] * k3,
    )
    free = cramer(b, [reduced(j) for j in others], rest, size)
    kappa: list[Scalar] = [0] * 6
    for j, value in zip(others, free, strict=True):
        kappa[j] = value
    kappa[second] = total([k2, *(-times(beta[j][0], kappa[j]) for j in others)])
    kappa[third] = total([k3, *(-times(beta[j][1], kappa[j]) for j in others)])
    kappa[first] = load.sum - total(kappa[j] for j in range(6) if j != first)
    return kappa


def _column(slope: Place, less: Place, rotating: Place, arm: Coordinates) -> Triple:
    return slope[0] - less[0], slope[1] - less[1], _area(arm, rotating)


def _area(arm: Coordinates, slope: Place) -> Scalar:
    """Moment of a slope about the origin of the arms; nothing at the origin."""
    if isinstance(arm[0], int) and isinstance(arm[1], int) and arm == (0, 0):
        return 0
    return arm[0] * slope[1] - arm[1] * slope[0]


def cramer(b: Program, columns: Sequence[Triple], rhs: Triple, size: Scalar) -> Triple:
    """Solution of a three by three system given by its columns: 38 operations and one reciprocal."""
    c1, c2, c3 = columns
    normal, rotated = cross(c2, c3), cross(c1, rhs)
    determinant = dot(c1, normal)
    regular = ca.logic_or(determinant > SINGULAR * size, determinant < -SINGULAR * size)
    b.fail_if(ca.logic_not(regular), "singular pose: the legs cannot hold the platform")
    inverse = 1 / determinant
    return dot(rhs, normal) * inverse, dot(c3, rotated) * inverse, -dot(c2, rotated) * inverse
