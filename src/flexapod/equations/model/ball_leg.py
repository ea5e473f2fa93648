r"""A leg with a ball between its drive and a rod that a hinge holds on the platform (R-S-R, P-S-R), cut at the ball.

The drive hangs on the base, the rod on the platform: two coordinates, drive q and hinge angle theta, and three rows that hold the
ball C together, instead of four coordinates and five rows of the hinge. With u and s the velocities of C per unit rate of q and
theta, b from the platform's origin to C, and n = u x s,

.. math:: \dot q\,u - \dot\theta\,s = v_C = v + \omega\times b,\qquad
    \dot q = \frac{(s\times n)\cdot v_C}{n^2},\quad \dot\theta = \frac{(u\times n)\cdot v_C}{n^2},\quad n\cdot v_C = 0

The last is what the leg forbids the platform. The rod adds its inertia as if it were fixed on the platform, and by its rate.
Axes: world, but for the hinge's axes H (z along the hinge, rotated by theta) and the drive's (z along it).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.model.algebra import LinkValues, Z, cross, field, mul, sparse, symmetric, vee
from flexapod.equations.model.leg import TipTarget, tip_of
from flexapod.equations.model.positions import Position, displacement, drive_position
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import tensor
from flexapod.kernels.tape.roles import Equations
from flexapod.robot.link_plan import LegChoice
from flexapod.robot.model import Leg
from flexapod.robot.robot import Robot
from flexapod.spatial.vector import line_coordinates


@dataclass(frozen=True, kw_only=True)
class LegInertia:
    """Contribution of a leg: A (6, 6), c (6,), and the rows G V' = r (k, 6), (k,) that it cannot meet."""

    A: SX
    c: SX
    G: SX
    r: SX


@dataclass(frozen=True, kw_only=True)
class BallLeg:
    """A leg that follows the platform.

    Args:
        tip: the hinge's centre on the platform.
        R: (3, 3) world from H; arm: b.
        per_q, per_theta: (6,) rates per twist of the platform; qd: rate of the drive.
        drift: per coordinate, its acceleration at rest of the platform's twist; thetad: rate of the hinge.
        row, missed: G (1, 6) and r of the row that is left.
        pull: force of weight at the drive.
        w: (3,) angular velocity of the platform in H.
    """

    leg: Leg
    choice: LegChoice
    tip: TipTarget
    R: SX
    per_q: SX
    per_theta: SX
    qd: list[SX]
    thetad: SX
    drift: tuple[SX, SX]
    row: SX
    missed: SX
    pull: SX
    w: SX

    driven = (0,)


def ball_leg(b: Equations, values: LinkValues, robot: Robot, index: int, platform: FrameMotion) -> BallLeg:
    """A leg for a given state of the platform.

    Args:
        values: below ``legs.<name>.``, with the constants of the leg's inner frames.
        platform: its motion with zero acceleration.

    Checked by: tests/equations/test_link_model.py.
    """
    leg, choice = robot.legs[index], robot.link_plan.legs[index]
    gravity, hinge = Values(b, "", values._known).vector("gravity", "W").expr, leg.closing.joint
    tip = tip_of(leg, platform, gravity, mul(platform.R.expr, values.vec(f"{hinge}.on_platform.p")))
    moved = drive_position(b, values, leg, values.scalar("root"), tip.S)
    C, u, inward, pull = _drive(values, leg, moved, gravity)
    half = mul(platform.R.expr, values.rot(f"{hinge}.on_platform.R"))
    R, t = _rod(values, hinge, half, tip.S - C)
    s, centre = (ca.densify(mul(R, sparse(x))) for x in (ca.vertcat(t[1], -t[0], 0), ca.vertcat(t[0], t[1], 0)))
    arm, w = tip.arm - mul(R, t), platform.w.expr
    n = ca.cross(u, s)
    inverse = 1 / ca.dot(n, n)
    normal = n * ca.sqrt(inverse)
    rows = [line_coordinates(x, arm) for x in (ca.cross(s, n) * inverse, ca.cross(u, n) * inverse, normal)]
    v = platform.v.expr + ca.cross(w, arm)
    qd, thetad = (ca.dot(row[:3], v) for row in rows[:2])
    drift = ca.cross(w, ca.cross(w, arm) + 2 * thetad * s) + thetad * thetad * centre - qd * qd * inward
    return BallLeg(
        leg=leg, choice=choice, tip=tip, R=R, per_q=rows[0], per_theta=rows[1], qd=[qd], thetad=thetad,
        drift=(ca.dot(rows[0][:3], drift), ca.dot(rows[1][:3], drift)), row=rows[2].T, missed=-ca.dot(normal, drift), pull=pull,
        w=mul(R.T, w),
    )  # fmt: skip


def _drive(values: LinkValues, leg: Leg, moved: Position, gravity: SX) -> tuple[SX, SX, SX, SX]:
    """C; its velocity per unit rate and its acceleration per square of the rate; force of weight at the drive."""
    drive = leg.links[0]
    R, p = values.rot(f"{drive.coordinate}.R"), values.vec(f"{drive.coordinate}.p")
    ball = values.vec(f"{leg.links[1].coordinate}.p")
    down, body = mul(R.T, gravity), f"{drive.coordinate}.body"
    if drive.kind == "P":
        weight = values.scalar(f"{body}.mass") * down[2] if drive.body is not None else ca.SX(0)
        C = p + mul(R, ball + Z * displacement(moved))
        return ca.densify(C), ca.densify(R[:, 2]), ca.SX.zeros(3), -weight
    c, s = moved
    about_z = sparse(ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1)))
    reach = sparse(mul(about_z, ball))
    u = cross(Z, reach)
    weight = cross(mul(about_z, values.vec(f"{body}.first_moment")), down)[2] if drive.body is not None else ca.SX(0)
    C, velocity, inward = (ca.densify(x) for x in (p + mul(R, reach), mul(R, u), mul(R, cross(Z, u))))
    return C, velocity, inward, -weight


def _rod(values: LinkValues, hinge: str, half: SX, d: SX) -> tuple[SX, SX]:
    """Axes H in the world, and t (3,) from the ball to the hinge in them: rotated about z so that t points along d (world)."""
    t = ca.densify(mul(values.rot(f"{hinge}.on_link.R").T, values.vec(f"{hinge}.on_link.p")))
    seen = ca.densify(mul(half.T, d))
    x, y = t[0] * seen[0] + t[1] * seen[1], t[0] * seen[1] - t[1] * seen[0]
    inverse = 1 / ca.sqrt(x * x + y * y)
    c, s = x * inverse, y * inverse
    return mul(half, sparse(ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1)))), t


def ball_inertia(values: LinkValues, leg: BallLeg, force: SX, massless: bool) -> LegInertia:
    """Inertia and forces of a leg at the platform's origin, under the force of its drive.

    Checked by: tests/equations/test_link_model.py.
    """
    drive, rod = leg.leg.links[0], leg.leg.links[3]
    A, c, at_drive = ca.SX(6, 6), ca.SX.zeros(6), -force
    if not massless:
        inertia = values.scalar(f"{drive.coordinate}.rotor")
        if drive.body is not None:
            own = f"{drive.coordinate}.body." + ("inertia.zz" if drive.kind == "R" else "mass")
            inertia = inertia + values.scalar(own)
        A = inertia * mul(leg.per_q, leg.per_q.T)
        at_drive = at_drive + leg.pull + inertia * leg.drift[0]
    if rod.body is not None and not massless:
        hung, c = _rod_inertia(values, leg, f"{rod.coordinate}.body")
        A = A + hung
    return LegInertia(A=A, c=c + leg.per_q * at_drive, G=leg.row, r=leg.missed)


def _rod_inertia(values: LinkValues, leg: BallLeg, body: str) -> tuple[SX, SX]:
    """A and c of the rod on the platform: fixed there, and by its rate."""
    hinge = f"{leg.leg.closing.joint}.on_link"
    rotation, t, m = values.rot(f"{hinge}.R"), values.vec(f"{hinge}.p"), values.scalar(f"{body}.mass")
    first, about_C = values.vec(f"{body}.first_moment"), tensor(values, f"{body}.inertia")
    mixed = mul(t, (m * t - 2 * first).T)  # Steiner: about the hinge's centre, all of these once per parameter set
    about_H = about_C + ca.trace(mixed) * ca.SX.eye(3) - (mixed + mixed.T) / 2
    S, I = sparse(mul(rotation.T, first - m * t)), sparse(symmetric(mul(mul(rotation.T, about_H), rotation)))
    E = ca.trace(I) / 2 * ca.SX.eye(3) - I
    spin = Z * leg.thetad
    U, a = field(leg.w + spin, cross(leg.w, spin) + Z * leg.drift[1]), mul(leg.R.T, leg.tip.a)
    f, moment = m * a + mul(U, S), cross(S, a) + vee(mul(U, E))
    c = _at_origin(leg, f, moment) + leg.per_theta * ca.densify(moment)[2]
    K = _at_origin(leg, cross(Z, S), I[:, 2]) + leg.per_theta * (ca.densify(I)[2, 2] / 2)
    both = mul(K, leg.per_theta.T)
    return _fixed(leg, m, S, I) + both + both.T, c


def _at_origin(leg: BallLeg, force: SX, moment: SX) -> SX:
    """(6,) a wrench at the hinge, axes H, as one at the platform's origin in world axes."""
    f = ca.densify(mul(leg.R, force))
    return ca.vertcat(f, ca.densify(mul(leg.R, moment)) + ca.cross(leg.tip.arm, f))


def _fixed(leg: BallLeg, m: SX, S: SX, I: SX) -> SX:
    """(6, 6) inertia of a body at the hinge, about the platform's origin, world axes."""
    r, about_hinge = leg.tip.arm, ca.densify(mul(leg.R, S))
    whole, moved = symmetric(mul(mul(leg.R, I), leg.R.T)), about_hinge + m * r
    mixed = ca.mtimes(r, (about_hinge + moved).T)
    inertia = whole + ca.trace(mixed) * ca.SX.eye(3) - (mixed + mixed.T) / 2
    hat = ca.skew(moved)
    return ca.vertcat(ca.horzcat(m * ca.SX.eye(3), hat.T), ca.horzcat(hat, inertia))
