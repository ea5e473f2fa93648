r"""Motion of U-P-S, P-U-S and R-U-S legs by joint rates: each closing equation projected on the axes of the leg frame.

Letters: U, S joint centres, d = S - U = l n, a first universal axis on a body that turns with w_f, y second axis,
x = y x n, so that y x n = x and a x n = -(a.x) y:

.. math:: \dot S-\dot U-\omega_f\times d = l\,(\dot q_2\,x-(a\cdot x)\,\dot q_1\,y)+\dot l\,n,\qquad
          \omega = \omega_f+\dot q_1 a+\dot q_2 y

The axial spin is that of the universal joint; Kim's simplification takes it as zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import casadi as ca

from flexapod.arrays import SX, Scalar
from flexapod.equations.platform_inputs import FrameMotion, PointMotion
from flexapod.equations.universal_leg import TURNING_POINT
from flexapod.equations.values import Values
from flexapod.kernels.tape.roles import TakesChecks
from flexapod.robot.model import Leg
from flexapod.spatial import Rot, Vec, cross, dot
from flexapod.spatial.rotation import from_columns
from flexapod.spatial.vector import zero

SINGULAR = 1e-9
"""Sine of the angle to the first universal axis below which a leg counts as singular."""

Spin = Literal["exact", "neglected"]


@dataclass(frozen=True, kw_only=True)
class Drive:
    """The actuator and what it carries: U with its motion, first universal axis, length U to S.

    Args:
        gain: acceleration of the actuator per acceleration of S along the leg, on which alone it depends.
        along, about: velocity of U and angular velocity of the carrier per rate of the actuator.
        inward: acceleration of U at a constant rate.
    """

    rate: SX
    acceleration: SX
    carrier: FrameMotion | None
    U: PointMotion
    a: Vec
    length: SX
    gain: Scalar = 1
    along: Vec = field(default_factory=lambda: zero("W"))
    about: Vec = field(default_factory=lambda: zero("W"))
    inward: Vec = field(default_factory=lambda: zero("W"))


@dataclass(frozen=True, kw_only=True)
class LegAxes:
    """Leg axes x, y, n, first universal axis a, `sine` = a.x, arm = S - U and the inverse of its length."""

    x: Vec
    y: Vec
    n: Vec
    a: Vec
    sine: SX
    arm: Vec
    inverse: SX


@dataclass(frozen=True, kw_only=True)
class UniversalMotion:
    """Motion of a closed-form leg.

    Args:
        S: motion of the spherical centre.
        frames: of its three links in order, axes W0 (carrier), C (cross), L (leg).
        rates, accelerations: of its three coordinates in order.
    """

    axes: LegAxes
    S: PointMotion
    frames: tuple[FrameMotion, FrameMotion, FrameMotion]
    rates: tuple[SX, SX, SX]
    accelerations: tuple[SX, SX, SX]


def universal_motion(b: TakesChecks, values: Values, leg: Leg, sign: int, platform: FrameMotion, spin: Spin) -> UniversalMotion:
    """Motion of a leg from the motion of the platform.

    Args:
        b: takes the checks (out of reach, singular).
        values: below ``legs.<name>.``.
        sign: of the second universal axis.
        spin: of the leg about its own line: as the universal joint implies, or neglected (Kim Eqs. 17-19).

    Source: Kim 2002 Eqs. (4)-(19). Checked by: tests/equations/test_newton_euler.py.
    """
    S, drive, axes = _geometry(b, values, leg, sign, platform)
    return _moving(values, leg, axes, drive, S, spin)


def motion_in_leg_axes(
    b: TakesChecks, values: Values, leg: Leg, sign: int, platform: FrameMotion, more: SX
) -> tuple[UniversalMotion, Rot]:
    """The same motion written in the axes x, y, n of the leg, from U, and the rotation of world vectors to them.

    What the leg's own axes make zero or one is so in the expressions: forces and their derivatives take few operations there.
    The common axes, elsewhere those of the world, keep their name W.

    Args:
        more: (3,) acceleration of S beyond that of `platform`, in leg axes.

    Checked by: tests/equations/test_leg_axes.py.
    """
    S, drive, axes = _geometry(b, values, leg, sign, platform)
    rotation = Rot(ca.horzcat(axes.x.expr, axes.y.expr, axes.n.expr).T, "W", "W")
    x, y, n = (Vec([float(i == k) for i in range(3)], "W") for k in range(3))
    arm, origin, second = n * drive.length, zero("W"), drive.acceleration + drive.gain * more[2]
    along, about = rotation @ drive.along, rotation @ drive.about
    U = PointMotion(p=origin, v=along * drive.rate, a=along * second + rotation @ drive.inward)
    carrier = drive.carrier
    if carrier is not None:
        rotated = Rot(ca.mtimes(rotation.expr, carrier.R.expr), "W", carrier.R.from_)
        v, a = (U.v, U.a) if leg.architecture == "PUS" else (origin, origin)
        place = rotation @ (carrier.p - drive.U.p)
        carrier = FrameMotion(R=rotated, p=place, v=v, w=about * drive.rate, a=a, alpha=about * second)
    own = replace(drive, acceleration=second, carrier=carrier, U=U)
    first = Vec([axes.sine, 0, dot(axes.a, axes.n)], "W")
    seen = replace(axes, x=x, y=y, n=n, a=first, arm=arm)
    at = PointMotion(p=arm, v=rotation @ S.v, a=rotation @ S.a + Vec(more, "W"))
    return _moving(values, leg, seen, own, at, "exact"), rotation


def _geometry(b: TakesChecks, values: Values, leg: Leg, sign: int, platform: FrameMotion) -> tuple[PointMotion, Drive, LegAxes]:
    """Motion of S, the drive, and the axes of the leg."""
    S = platform.point(values.vector("S", "P"))
    drive = {"UPS": _extending, "PUS": _sliding, "RUS": _rotating}[leg.architecture](b, values, leg, S)
    arm, inverse, a = S.p - drive.U.p, 1 / drive.length, drive.a
    n = arm * inverse
    m = cross(n, a)
    size = ca.sqrt(dot(m, m))
    b.fail_if(size < SINGULAR, "leg {leg} lies along its first universal axis", leg=leg.name)
    y = m * (sign / size)
    x = cross(y, n)
    return S, drive, LegAxes(x=x, y=y, n=n, a=a, sine=dot(a, x), arm=arm, inverse=inverse)


def _moving(values: Values, leg: Leg, axes: LegAxes, drive: Drive, S: PointMotion, spin: Spin) -> UniversalMotion:
    """The whole motion from that of S and of the drive."""
    cross_frame, leg_frame, angles = _universal(axes, drive, S, leg.architecture == "UPS", spin)
    actuator = (drive.rate, drive.acceleration)
    frames: tuple[FrameMotion, FrameMotion, FrameMotion]
    if drive.carrier is None:
        piston = _shifted(leg_frame, S, -values.scalar("tip"))
        frames, scalars = (cross_frame, leg_frame, piston), (*angles, actuator)
    else:
        frames, scalars = (drive.carrier, cross_frame, leg_frame), (actuator, *angles)
    return UniversalMotion(
        axes=axes, S=S, frames=frames,
        rates=(scalars[0][0], scalars[1][0], scalars[2][0]),
        accelerations=(scalars[0][1], scalars[1][1], scalars[2][1]),
    )  # fmt: skip


def _universal(
    axes: LegAxes, drive: Drive, S: PointMotion, extends: bool, spin: Spin
) -> tuple[FrameMotion, FrameMotion, tuple[tuple[SX, SX], tuple[SX, SX]]]:
    """Motion of cross and leg about U, and the two universal rates with their derivatives."""
    x, y, n, a, arm = axes.x, axes.y, axes.n, axes.a, axes.arm
    w_f, alpha_f = (drive.carrier.w, drive.carrier.alpha) if drive.carrier else (zero("W"), zero("W"))
    slide, second = (drive.rate, drive.acceleration) if extends else (0, 0)
    to_q1, to_q2 = -axes.inverse / axes.sine, axes.inverse
    v, acc = S.v - drive.U.v, S.a - drive.U.a
    u = v - cross(w_f, arm)
    q1d, q2d = dot(y, u) * to_q1, dot(x, u) * to_q2
    w_c = w_f + a * q1d
    w = w_c + y * q2d
    # accelerations with the second derivatives of the two angles left out
    change1, change2 = cross(w_f, a) * q1d, cross(w_c, y) * q2d
    alpha_0 = alpha_f + change1 + change2
    u2 = acc - cross(alpha_0, arm) - cross(w, cross(w, arm) + n * (2 * slide))
    q1dd, q2dd = dot(y, u2) * to_q1, dot(x, u2) * to_q2
    alpha_c = alpha_f + change1 + a * q1dd
    alpha = alpha_0 + a * q1dd + y * q2dd
    if spin == "neglected":
        w, alpha = _without_spin(n, v, acc, slide, second, axes.inverse)
    U = drive.U
    R_WL, R_WC = from_columns(x, y, n, "L"), from_columns(a, y, cross(a, y), "C")
    cross_frame = FrameMotion(R=R_WC, p=U.p, v=U.v, w=w_c, a=U.a, alpha=alpha_c)
    leg_frame = FrameMotion(R=R_WL, p=U.p, v=U.v, w=w, a=U.a, alpha=alpha)
    return cross_frame, leg_frame, ((q1d, q1dd), (q2d, q2dd))


def _shifted(leg: FrameMotion, S: PointMotion, along: SX) -> FrameMotion:
    """Frame of the piston: leg axes, `along` n from S."""
    tip = FrameMotion(R=leg.R, p=S.p, v=S.v, w=leg.w, a=S.a, alpha=leg.alpha)
    o = tip.point(Vec([0, 0, along], "L"))
    return FrameMotion(R=leg.R, p=o.p, v=o.v, w=leg.w, a=o.a, alpha=leg.alpha)


def _without_spin(n: Vec, v: Vec, acc: Vec, ld: Scalar, ldd: Scalar, inverse: SX) -> tuple[Vec, Vec]:
    r"""Kim Eq. (19): :math:`\omega = n\times\dot n,\ \dot\omega = n\times\ddot n`."""
    nd = (v - n * ld) * inverse
    ndd = (acc - nd * (2 * ld) - n * ldd) * inverse
    return cross(n, nd), cross(n, ndd)


def _extending(b: TakesChecks, values: Values, leg: Leg, S: PointMotion) -> Drive:
    r"""U-P-S: :math:`\dot l = n\cdot\dot S,\ \ddot l = n\cdot\ddot S+|\dot S-\dot l n|^2/l`."""
    U = PointMotion(p=values.vector("U", "W"), v=zero("W"), a=zero("W"))
    d = S.p - U.p
    length = ca.sqrt(dot(d, d))
    b.fail_if(length < 1e-9, "leg {leg} has no length: its joints meet", leg=leg.name)
    n = d * (1 / length)
    rate = dot(n, S.v)
    across = S.v - n * rate
    second = dot(n, S.a) + dot(across, across) / length
    return Drive(rate=rate, acceleration=second, carrier=None, U=U, a=values.vector("axis1", "W"), length=length)


def _sliding(b: TakesChecks, values: Values, leg: Leg, S: PointMotion) -> Drive:
    r"""P-U-S, Kim Eqs. (6)-(11): :math:`\lambda = e\cdot d_0\pm\sqrt{l^2-|d_0-e(e\cdot d_0)|^2}`, then the rates from |d| = l."""
    e, U0, length = values.vector("drive", "W"), values.vector("U", "W"), values.scalar("length")
    d0 = S.p - U0
    along = dot(d0, e)
    across = d0 - e * along
    square = length * length - dot(across, across)
    near = TURNING_POINT * (length * length)
    b.fail_if(square < -near, "leg {leg} cannot reach: its platform joint is too far from the rail", leg=leg.name)
    root = ca.sqrt(square)
    b.fail_if(square < near, "leg {leg} is at right angles to its rail (turning point)", leg=leg.name)
    d = across - e * (leg.branch * root)
    per_rail = 1 / (-leg.branch * root)  # 1 / (d.e)
    rate = dot(d, S.v) * per_rail
    relative = S.v - e * rate
    second = (dot(d, S.a) + dot(relative, relative)) * per_rail
    U = PointMotion(p=S.p - d, v=e * rate, a=e * second)
    # the slider's own frame may sit beside U; it only translates
    slider, hip = leg.links[0].coordinate, leg.links[1].coordinate
    origin = U.p - values.rotation(f"{slider}.R", "W", "B") @ values.vector(f"{hip}.p", "B")
    still = zero("W")
    carrier = FrameMotion(R=Rot(ca.SX.eye(3), "W", "W0"), p=origin, v=U.v, w=still, a=U.a, alpha=still)
    return Drive(
        rate=rate, acceleration=second, carrier=carrier, U=U, a=values.vector("axis1", "W"), length=length,
        gain=length * per_rail, along=e,
    )  # fmt: skip


def _rotating(b: TakesChecks, values: Values, leg: Leg, S: PointMotion) -> Drive:
    r"""R-U-S: crank angle from :math:`A\cos t+B\sin t = C`, then :math:`\dot t = d\cdot\dot S/(d\cdot(e\times r))`."""
    e, pivot, length = values.vector("drive", "W"), values.vector("pivot", "W"), values.scalar("length")
    crank, d0 = values.vector("U", "W") - pivot, S.p - pivot
    along, sideways = dot(e, crank), cross(e, crank)
    A, B = dot(d0, crank) - along * dot(e, d0), dot(d0, sideways)
    C = (dot(d0, d0) + dot(crank, crank) - length * length) / 2 - along * dot(e, d0)
    size = A * A + B * B
    square = size - C * C
    near = TURNING_POINT * size
    b.fail_if(square < -near, "leg {leg} cannot reach: its platform joint is too far from the crank or too near", leg=leg.name)
    b.fail_if(square < near, "leg {leg}: rod and crank are in line (turning point)", leg=leg.name)
    root, per_size = leg.branch * ca.sqrt(square), 1 / size
    cosine, sine = (A * C - B * root) * per_size, (B * C + A * root) * per_size
    matrix = cosine * ca.SX.eye(3) + sine * ca.skew(e.expr) + (1 - cosine) * ca.mtimes(e.expr, e.expr.T)
    R = Rot(matrix, "W", "W0")
    r = R @ Vec(crank.expr, "W0")
    d, u = d0 - r, cross(e, r)
    per_angle = 1 / dot(d, u)
    rate = dot(d, S.v) * per_angle
    inward = cross(e, u) * (rate * rate)
    relative = S.v - u * rate
    second = (dot(d, S.a - inward) + dot(relative, relative)) * per_angle
    U = PointMotion(p=pivot + r, v=u * rate, a=u * second + inward)
    still = zero("W")
    carrier = FrameMotion(R=R, p=pivot, v=still, w=e * rate, a=still, alpha=e * second)
    return Drive(
        rate=rate, acceleration=second, carrier=carrier, U=U, a=R @ values.vector("axis1", "W0"), length=length,
        gain=length * per_angle, along=u, about=e, inward=inward,
    )  # fmt: skip
