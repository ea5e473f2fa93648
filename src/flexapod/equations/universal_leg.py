r"""Closed-form motion of U-P-S, P-U-S and R-U-S legs: unit vectors instead of angles.

Letters: U universal centre, S spherical centre, d = S - U, l = |d|, n = d/l, a first universal axis (fixed to the body
before it, which turns with w_f), y second axis, s its sign, L leg frame (x, y, n), C cross frame (a, y, a x y).

.. math:: y = s\,\frac{n\times a}{|n\times a|},\qquad
          \omega = n\times\dot n + \sigma n,\qquad
          (\omega-\omega_f)\cdot(y\times a) = 0

The last line is the universal joint: the leg turns about a and y only. It gives the axial spin sigma, which is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.platform_inputs import FrameMotion, PointMotion
from flexapod.equations.values import Values
from flexapod.kernels.tape.roles import TakesChecks
from flexapod.robot.model import Leg
from flexapod.spatial import Rot, Vec, cross, dot
from flexapod.spatial.rotation import from_columns
from flexapod.spatial.vector import zero

SINGULAR = 1e-9
"""Sine of the angle between leg and first universal axis below which the second axis is undefined."""

TURNING_POINT = 1e-14
"""Squared cosine between a leg and its rail (squared sine between rod and crank) that counts as a turning point. Rounding of the
square is a few 1e-16, so a leg at its turning point is named as such on every processor, and not as one that cannot reach."""


@dataclass(frozen=True, kw_only=True)
class Scalar:
    """A coordinate with its first and second derivative."""

    q: SX
    qd: SX
    qdd: SX


@dataclass(frozen=True, kw_only=True)
class LegMotion:
    """Motion of a closed-form leg.

    Args:
        actuator: its coordinate.
        leg: frame L at U (of the rod or cylinder).
        tip: frame L at S (of the piston).
        cross: frame C at U.
        carrier: frame of the slider or crank; None for U-P-S.
        angles: the two universal coordinates.
    """

    actuator: Scalar
    leg: FrameMotion
    tip: FrameMotion
    cross: FrameMotion
    carrier: FrameMotion | None
    angles: tuple[Scalar, Scalar]


def leg_motion(
    b: TakesChecks, values: Values, leg: Leg, sign: int, platform: FrameMotion, S: PointMotion | None = None
) -> LegMotion:
    """Motion of a leg from the motion of the platform.

    Args:
        b: program that takes the checks (out of reach, singular).
        values: the robot's values below ``legs.<name>.``.
        sign: s of the second universal axis.
        S: motion of the spherical centre, where it is not that of the rigid platform.

    Source: Staicu 2009 Eqs. (9)-(19), Sinatra 2009 Eqs. (9)-(18), Kim 2002 Eqs. (4)-(19), with the exact universal joint.
    Checked by: tests/equations/test_inverse_kinematics.py.
    """
    S = S or platform.point(values.vector("S", "P"))
    solve = {"UPS": _ups, "PUS": _pus, "RUS": _rus}[leg.architecture]
    return _universal(b, values, leg, sign, S, solve(b, values, leg, S))


def actuator_direction(values: Values, leg: Leg, motion: LegMotion) -> Vec:
    """Actuator rate per velocity of S, (3,) world: n for U-P-S, n/(n.u) where the actuator moves U along u."""
    n = motion.leg.R.column(2)
    if leg.architecture == "UPS":
        return n
    assert motion.carrier is not None
    drive = values.vector("drive", "W")
    u = drive if leg.architecture == "PUS" else cross(drive, motion.leg.p - motion.carrier.p)
    direction: Vec = n * (1 / dot(n, u))
    return direction


@dataclass(frozen=True, kw_only=True)
class _Driven:
    """Drive of the leg: the actuator's coordinate, the carrier of U (None: the base), U, the first universal axis a, the
    length."""

    actuator: Scalar
    carrier: FrameMotion | None
    U: PointMotion
    a: Vec
    length: SX


def _ups(b: TakesChecks, values: Values, leg: Leg, S: PointMotion) -> _Driven:
    r"""Length of the leg: :math:`\dot l = n\cdot\dot d,\ \ddot l = n\cdot\ddot d + (|\dot d|^2-\dot l^2)/l`."""
    U = PointMotion(p=values.vector("U", "W"), v=zero("W"), a=zero("W"))
    d = S.p - U.p
    length = ca.sqrt(dot(d, d))
    b.fail_if(length < 1e-9, "leg {leg} has no length: its joints meet", leg=leg.name)
    rate = dot(d, S.v) / length
    second = (dot(d, S.a) + dot(S.v, S.v) - rate * rate) / length
    q = length - values.scalar("length") - values.scalar("zero")
    actuator = Scalar(q=q, qd=rate, qdd=second)
    return _Driven(actuator=actuator, carrier=None, U=U, a=values.vector("axis1", "W"), length=length)


def _pus(b: TakesChecks, values: Values, leg: Leg, S: PointMotion) -> _Driven:
    r"""Slider travel t along the rail e: :math:`|S - U_0 - t e| = l`, one of two roots.

    .. math:: n\cdot(\dot S - \dot t e) = 0,\qquad n\cdot(\ddot S-\ddot t e) l + |\dot S-\dot t e|^2 = 0
    """
    e, U0, l = values.vector("drive", "W"), values.vector("U", "W"), values.scalar("length")
    d0 = S.p - U0
    along = dot(d0, e)
    across = d0 - e * along
    square = l * l - dot(across, across)
    far = square < -TURNING_POINT * (l * l)
    b.fail_if(far, "leg {leg} cannot reach: its platform joint is too far from the rail", leg=leg.name)
    root = ca.sqrt(square)
    b.fail_if(square < TURNING_POINT * (l * l), "leg {leg} is at right angles to its rail (turning point)", leg=leg.name)
    # d.e = -branch * root, so the rates divide by the root itself
    travel = along + leg.branch * root
    d = across - e * (leg.branch * root)
    inverse = 1 / (-leg.branch * root)
    rate = dot(d, S.v) * inverse
    relative = S.v - e * rate
    second = (dot(d, S.a) + dot(relative, relative)) * inverse
    U = PointMotion(p=U0 + e * travel, v=e * rate, a=e * second)
    carrier = _translating(U)
    q = travel - values.scalar("zero")
    actuator = Scalar(q=q, qd=rate, qdd=second)
    return _Driven(actuator=actuator, carrier=carrier, U=U, a=values.vector("axis1", "W"), length=l)


def _rus(b: TakesChecks, values: Values, leg: Leg, S: PointMotion) -> _Driven:
    r"""Crank angle t about e: :math:`A\cos t + B\sin t = C` from :math:`|S - O - R(e,t)\,c| = l`.

    Differentiated with n along the rod and u = e x (U - O): :math:`\dot t = n\cdot\dot S/(n\cdot u)`.
    """
    e, O, l = values.vector("drive", "W"), values.vector("pivot", "W"), values.scalar("length")
    crank = values.vector("U", "W") - O
    d0 = S.p - O
    along = dot(e, crank)
    A = dot(d0, crank) - along * dot(e, d0)
    sideways = cross(e, crank)
    B = dot(d0, sideways)
    C = (dot(d0, d0) + dot(crank, crank) - l * l) / 2 - along * dot(e, d0)
    size = A * A + B * B
    square = size - C * C
    far = square < -TURNING_POINT * size
    b.fail_if(far, "leg {leg} cannot reach: its platform joint is too far from the crank or too near", leg=leg.name)
    root = leg.branch * ca.sqrt(square)
    b.fail_if(square < TURNING_POINT * size, "leg {leg}: rod and crank are in line (turning point)", leg=leg.name)
    inverse_size = 1 / size
    cosine, sine = (A * C - B * root) * inverse_size, (B * C + A * root) * inverse_size
    parallel = e * along
    r = (crank - parallel) * cosine + sideways * sine + parallel
    d = d0 - r
    u = cross(e, r)
    inverse = 1 / dot(d, u)
    rate = dot(d, S.v) * inverse
    U_v = u * rate
    centripetal = cross(e, u) * (rate * rate)
    relative = S.v - U_v
    second = (dot(d, S.a - centripetal) + dot(relative, relative)) * inverse
    rotation = _rotation(e, cosine, sine)
    U = PointMotion(p=O + r, v=U_v, a=u * second + centripetal)
    carrier = FrameMotion(R=rotation, p=O, v=zero("W"), w=e * rate, a=zero("W"), alpha=e * second)
    q = ca.atan2(sine, cosine) - values.scalar("zero")
    actuator = Scalar(q=q, qd=rate, qdd=second)
    return _Driven(actuator=actuator, carrier=carrier, U=U, a=rotation @ values.vector("axis1", "W0"), length=l)


def _rotation(e: Vec, cosine: SX, sine: SX) -> Rot:
    """Rotation about the unit axis e, from axes at rest W0 to the world."""
    K = ca.skew(e.expr)
    matrix = cosine * ca.SX.eye(3) + sine * K + (1 - cosine) * ca.mtimes(e.expr, e.expr.T)
    return Rot(matrix, "W", "W0")


def _translating(point: PointMotion) -> FrameMotion:
    """A body that only translates."""
    return FrameMotion(R=Rot(ca.SX.eye(3), "W", "W0"), p=point.p, v=point.v, w=zero("W"), a=point.a, alpha=zero("W"))


def _universal(b: TakesChecks, values: Values, leg: Leg, sign: int, S: PointMotion, driven: _Driven) -> LegMotion:
    """Leg and cross frames, their angular velocity and acceleration, universal angles."""
    actuator, carrier, U, a = driven.actuator, driven.carrier, driven.U, driven.a
    w_f, alpha_f = (carrier.w, carrier.alpha) if carrier else (zero("W"), zero("W"))
    inverse = 1 / driven.length
    n = (S.p - U.p) * inverse
    rate = actuator.qd if leg.architecture == "UPS" else 0
    second = actuator.qdd if leg.architecture == "UPS" else 0
    nd = (S.v - U.v - n * rate) * inverse
    ndd = (S.a - U.a - nd * (2 * rate) - n * second) * inverse
    m = cross(n, a)
    sine = ca.sqrt(dot(m, m))
    b.fail_if(sine < SINGULAR, "leg {leg} lies along its first universal axis", leg=leg.name)
    y = m * (sign / sine)
    x = cross(y, n)
    # spin: (w - w_f).(y x a) = 0 with y x a = (a.n) x - (a.x) n
    g = cross(y, a)
    along = -1 / dot(n, g)
    w_perp = cross(n, nd)
    spin = dot(w_perp - w_f, g) * along
    w = w_perp + n * spin
    relative = w - w_f
    g_dot = cross(cross(w, y), a) + cross(y, cross(w_f, a))
    alpha_part = cross(n, ndd) + nd * spin
    spin_rate = (dot(alpha_part - alpha_f, g) + dot(relative, g_dot)) * along
    alpha = alpha_part + n * spin_rate
    R_WL = from_columns(x, y, n, "L")
    leg_frame = FrameMotion(R=R_WL, p=U.p, v=U.v, w=w, a=U.a, alpha=alpha)
    tip = FrameMotion(R=R_WL, p=S.p, v=S.v, w=w, a=S.a, alpha=alpha)
    # relative angular velocity is q1' a + q2' y with a normal to y
    q1d, q2d = dot(relative, a), dot(relative, y)
    w_c = w_f + a * q1d
    q1dd = dot(alpha - alpha_f, a) + dot(relative, cross(w_f, a))
    q2dd = dot(alpha - alpha_f, y) + dot(relative, cross(w, y))
    alpha_c = alpha_f + a * q1dd + cross(w_f, a) * q1d
    R_WC = from_columns(a, y, cross(a, y), "C")
    cross_frame = FrameMotion(R=R_WC, p=U.p, v=U.v, w=w_c, a=U.a, alpha=alpha_c)
    y0 = carrier.R @ values.vector("y0", "W0") if carrier else values.vector("y0", "W")
    n0 = R_WC @ values.vector("n0", "C")
    q1 = ca.atan2(dot(a, cross(y0, y)), dot(y0, y))
    q2 = ca.atan2(dot(y, cross(n0, n)), dot(n0, n))
    angles = (Scalar(q=q1, qd=q1d, qdd=q1dd), Scalar(q=q2, qd=q2d, qdd=q2dd))
    return LegMotion(actuator=actuator, leg=leg_frame, tip=tip, cross=cross_frame, carrier=carrier, angles=angles)
