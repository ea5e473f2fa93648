r"""Relative matrices of U-P-S, P-U-S and R-U-S legs from unit vectors: no angle, no trigonometry.

Letters: U universal centre, S spherical centre, n from U to S, a first universal axis (fixed to the body before the cross),
y = s n x a / |n x a| the second. The cross has axes (a, y, a x y), the leg (y x n, y, n); between them

.. math:: a_{leg,cross} = \begin{bmatrix}\sigma & 0 & -\mu\\ 0 & 1 & 0\\ \mu & 0 & \sigma\end{bmatrix},\qquad
          \sigma = s\,|n\times a|,\quad \mu = n\cdot a

which is the rotation phi_21 about y2 (Staicu) or phi_32 about z3 (Sinatra) without the angle.
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.universal_leg import TURNING_POINT
from flexapod.equations.values import Values
from flexapod.equations.virtual_work.relative_frames import LegChain, X, Y, Z, steps_of
from flexapod.kernels.tape.program import Program
from flexapod.robot.model import Leg
from flexapod.spatial import Rot, Vec, cross, dot
from flexapod.spatial.vector import zero

SINGULAR = 1e-9
"""Sine or cosine below which a leg counts as singular; rounding sits near 1e-16."""


def universal_chain(b: Program, values: Values, leg: Leg, sign: int, S: Vec) -> LegChain:
    """The leg that reaches a point.

    Args:
        b: takes the checks (out of reach, singular).
        values: below ``legs.<name>.``.
        sign: s of the second universal axis.
        S: (3,) spherical centre, world.

    Source: Staicu 2009 Eqs. (2)-(3), (7)-(8); Sinatra 2009 Eqs. (2)-(3), (7)-(8), Eq. (2) without the transpose.
    Checked by: tests/equations/test_virtual_work.py.
    """
    return {"UPS": _ups, "PUS": _pus, "RUS": _rus}[leg.architecture](b, values, leg, sign, S)


def _ups(b: Program, values: Values, leg: Leg, sign: int, S: Vec) -> LegChain:
    """Cross and cylinder at U, piston frame `tip` before S."""
    U, tip = values.vector("U", "W"), values.scalar("tip")
    d = S - U
    length = ca.sqrt(dot(d, d))
    b.fail_if(length < SINGULAR, "leg {leg} has no length: its joints meet", leg=leg.name)
    to_cross, to_leg = _universal(b, leg, sign, d * (1 / length), values.vector("axis1", "W"), ("W", "1", "2"))
    rotations = [to_cross, to_leg, Rot(ca.SX.eye(3), "3", "2")]
    arms = [U, zero("1"), Vec([0, 0, length - tip], "2")]
    axes = [Vec(X, "1"), Vec(Y, "2"), Vec(Z, "3")]
    steps = steps_of(values, leg, rotations, arms, axes, ["in_C.0", "in_L.0", "in_L.1"])
    return LegChain(steps=steps, last=2, tip=Vec([0, 0, tip], "3"))


def _pus(b: Program, values: Values, leg: Leg, sign: int, S: Vec) -> LegChain:
    r"""Travel t of the slider from :math:`|S - U_0 - t e| = l`, one of two roots; slider axes are the world's."""
    e, U0, length = values.vector("drive", "W"), values.vector("U", "W"), values.scalar("length")
    d0 = S - U0
    along = dot(d0, e)
    across = d0 - e * along
    square = length * length - dot(across, across)
    near = TURNING_POINT * (length * length)
    b.fail_if(square < -near, "leg {leg} cannot reach: its platform joint is too far from the rail", leg=leg.name)
    root = leg.branch * ca.sqrt(square)
    b.fail_if(square < near, "leg {leg} is at right angles to its rail (turning point)", leg=leg.name)
    n = Vec(((across - e * root) * (1 / length)).expr, "1")
    to_cross, to_leg = _universal(b, leg, sign, n, values.vector("axis1", "1"), ("1", "2", "3"))
    arms = [U0 + e * (along + root), zero("1"), zero("2")]
    axes = [Vec(e.expr, "1"), Vec(X, "2"), Vec(Y, "3")]
    steps = steps_of(values, leg, [Rot(ca.SX.eye(3), "1", "W"), to_cross, to_leg], arms, axes, ["carrier", "in_C.0", "in_L.0"])
    return LegChain(steps=steps, last=2, tip=Vec([0, 0, length], "3"))


def _rus(b: Program, values: Values, leg: Leg, sign: int, S: Vec) -> LegChain:
    r"""Cosine and sine of the crank's angle from :math:`A\cos t + B\sin t = C`, which is :math:`|S - O - R(e,t)\,c| = l`."""
    e, pivot, length = values.vector("drive", "W"), values.vector("pivot", "W"), values.scalar("length")
    crank = values.vector("U", "W") - pivot
    d0 = S - pivot
    along = dot(e, crank)
    A = dot(d0, crank) - along * dot(e, d0)
    B = dot(d0, cross(e, crank))
    C = (dot(d0, d0) + dot(crank, crank) - length * length) / 2 - along * dot(e, d0)
    size = A * A + B * B
    square = size - C * C
    near = TURNING_POINT * size
    b.fail_if(square < -near, "leg {leg} cannot reach: its platform joint is too far from the crank or too near", leg=leg.name)
    b.fail_if(square < near, "leg {leg}: rod and crank are in line (turning point)", leg=leg.name)
    root = leg.branch * ca.sqrt(square)
    inverse = 1 / size
    cosine, sine = (A * C - B * root) * inverse, (B * C + A * root) * inverse
    rotation = cosine * ca.SX.eye(3) - sine * ca.skew(e.expr) + (1 - cosine) * ca.mtimes(e.expr, e.expr.T)
    to_crank = Rot(rotation, "1", "W")
    arm = Vec(crank.expr, "1")
    n = (to_crank @ d0 - arm) * (1 / length)
    to_cross, to_leg = _universal(b, leg, sign, n, values.vector("axis1", "1"), ("1", "2", "3"))
    axes = [Vec(e.expr, "1"), Vec(X, "2"), Vec(Y, "3")]
    steps = steps_of(values, leg, [to_crank, to_cross, to_leg], [pivot, arm, zero("2")], axes, ["carrier", "in_C.0", "in_L.0"])
    return LegChain(steps=steps, last=2, tip=Vec([0, 0, length], "3"))


def _universal(b: Program, leg: Leg, sign: int, n: Vec, a: Vec, axes: tuple[str, str, str]) -> tuple[Rot, Rot]:
    """Matrices to the cross and from the cross to the leg, from n and a in axes of the body before; `axes` of all three."""
    before, at_cross, at_leg = axes
    m = cross(n, a)
    sine = ca.sqrt(dot(m, m))
    b.fail_if(sine < SINGULAR, "leg {leg} lies along its first universal axis", leg=leg.name)
    y = m * (sign / sine)
    sigma, mu = sign * sine, dot(n, a)
    to_cross = Rot(ca.horzcat(a.expr, y.expr, cross(a, y).expr).T, at_cross, before)
    return to_cross, Rot(_about_y(sigma, mu), at_leg, at_cross)


def _about_y(sigma: SX, mu: SX) -> SX:
    return ca.vertcat(ca.horzcat(sigma, 0, -mu), ca.horzcat(0, 1, 0), ca.horzcat(mu, 0, sigma))
