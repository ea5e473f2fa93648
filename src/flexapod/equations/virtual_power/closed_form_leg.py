r"""A U-P-S, P-U-S or R-U-S leg projected to its spherical joint: the force that its motion needs at S.

.. math:: F_S = J_S^{-T}\,(A_i \ddot q_i + c_i) = A_x \dot v_S + c_x \qquad\text{(Long 2014, Eqs. 36-37)}

The leg's bodies share one virtual motion per virtual velocity v* of S: with d = S - U, n = d/l, a first universal axis,
x, y, n leg axes, the leg turns with w* = n x v*/l + s* n, s* = -(a.n)/(a.x l) y.v*, and the cross with q1* a,
q1* = -y.v*/(a.x l), all relative to the actuator's part of the motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.platform_inputs import FrameMotion, PointMotion
from flexapod.equations.universal_leg import LegMotion, leg_motion
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import Wrench, inertia_wrench, none
from flexapod.kernels.tape.roles import TakesChecks
from flexapod.robot.model import Leg
from flexapod.spatial import Vec, cross, dot
from flexapod.spatial.vector import zero


def force_at_joint(
    b: TakesChecks, values: Values, leg: Leg, sign: int, platform: FrameMotion, gravity: Vec, *, S: PointMotion | None = None
) -> tuple[Vec, LegMotion]:
    """Force at S that the leg's inertia, gravity and rotor demand, world axes; and the leg's motion.

    Args:
        S: motion of the spherical centre, where it is not that of the rigid platform.

    Checked by: tests/equations/test_formulations_agree.py.
    """
    motion = leg_motion(b, values, leg, sign, platform, S)
    link = _driven(leg)
    rotor = values.scalar(f"{leg.links[link].coordinate}.rotor") * motion.actuator.qdd
    if leg.architecture == "UPS":
        return _ups(values, leg, motion, gravity, rotor), motion
    return _carried(values, leg, motion, gravity, rotor), motion


@dataclass(frozen=True, kw_only=True)
class ProjectedLeg:
    """A leg at its spherical joint: F_S = A_x vdot_S + c_x (Long 2014 Eq. 37), and its motion."""

    A_x: SX
    c_x: SX
    motion: LegMotion


def projected_leg(b: TakesChecks, values: Values, leg: Leg, sign: int, platform: FrameMotion, gravity: Vec) -> ProjectedLeg:
    """Inertia and bias of a leg at S: the force is affine in the acceleration of S."""
    S = platform.point(values.vector("S", "P"))
    vdot = ca.SX.sym("vdot_S", 3)
    moved = PointMotion(p=S.p, v=S.v, a=Vec(vdot, "W"))
    force, motion = force_at_joint(b, values, leg, sign, platform, gravity, S=moved)
    rest = ca.SX.zeros(3)
    A_x = ca.substitute(ca.jacobian(force.expr, vdot), vdot, rest)
    return ProjectedLeg(A_x=A_x, c_x=ca.substitute(force.expr, vdot, rest), motion=motion)


def _driven(leg: Leg) -> int:
    return next(i for i, link in enumerate(leg.links) if link.actuated)


def _rotating(motion: LegMotion, length: SX, moment: Vec, about_cross: SX) -> Vec:
    """Force at S of a moment on the leg about U and of the cross's moment about a: both rotate with v*."""
    n, x, y = motion.leg.R.column(2), motion.leg.R.column(0), motion.leg.R.column(1)
    a = motion.cross.R.column(0)
    ratio = -1 / (dot(a, x) * length)
    axial = dot(moment, n) * dot(a, n) + about_cross
    force: Vec = cross(moment, n) * (1 / length) + y * (ratio * axial)
    return force


def _cross_moment(values: Values, leg: Leg, index: int, motion: LegMotion, gravity: Vec) -> Wrench:
    if leg.links[index].body is None:
        return none()
    return inertia_wrench(values, "in_C.0", motion.cross, gravity)


def _ups(values: Values, leg: Leg, motion: LegMotion, gravity: Vec, rotor: SX) -> Vec:
    """Cylinder rotates about U; piston rotates and extends along n; cross rotates about a."""
    n = motion.leg.R.column(2)
    length = motion.actuator.q + values.scalar("zero") + values.scalar("length")
    on_cross = _cross_moment(values, leg, 0, motion, gravity)
    moment, axial = zero("W"), rotor
    if leg.links[1].body is not None:
        moment = moment + inertia_wrench(values, "in_L.0", motion.leg, gravity).moment
    if leg.links[2].body is not None:
        offset = motion.tip.point(Vec([0, 0, -values.scalar("tip")], "L"))
        tip = FrameMotion(R=motion.tip.R, p=offset.p, v=offset.v, w=motion.tip.w, a=offset.a, alpha=motion.tip.alpha)
        piston = inertia_wrench(values, "in_L.1", tip, gravity)
        moment = moment + piston.seen_from(tip.p - motion.leg.p).moment
        axial = axial + dot(piston.force, n)
    force: Vec = _rotating(motion, length, moment, dot(on_cross.moment, motion.cross.R.column(0))) + n * axial
    return force


def _carried(values: Values, leg: Leg, motion: LegMotion, gravity: Vec, rotor: SX) -> Vec:
    """The carrier (slider or crank) moves U; the rod rotates about U; the force at U acts on the carrier.

    With v_U* = u t*, t* = n.v*/(n.u): F_S = turning(rod) + n (u.(f - turning) + carrier)/(n.u), where turning is what v*
    relative to U feels.
    """
    assert motion.carrier is not None
    n, drive = motion.leg.R.column(2), values.vector("drive", "W")
    rotating = leg.architecture == "RUS"
    u = cross(drive, motion.leg.p - motion.carrier.p) if rotating else drive
    on_cross = _cross_moment(values, leg, 1, motion, gravity)
    rod = none()
    if leg.links[2].body is not None:
        rod = inertia_wrench(values, "in_L.0", motion.leg, gravity)
    length = values.scalar("length")
    a = motion.cross.R.column(0)
    rotated = _rotating(motion, length, rod.moment, dot(on_cross.moment, a))
    load = rotor + dot(rod.force + on_cross.force - rotated, u)
    if leg.links[0].body is not None:
        if rotating:
            load = load + dot(inertia_wrench(values, "carrier", motion.carrier, gravity).moment, drive)
        else:
            load = load + values.scalar("carrier.mass") * dot(motion.carrier.a - gravity, drive)
    if rotating:  # the crank rotates the universal joint itself: rod and cross rotate with it, less what _turning counts
        load = load + _crank_rotation(motion, rod, on_cross, drive, rotated)
    force: Vec = rotated + n * (load * (1 / dot(n, u)))
    return force


def _crank_rotation(motion: LegMotion, rod: Wrench, on_cross: Wrench, drive: Vec, rotated: Vec) -> SX:
    """Power of the rod's and cross's moments in the part of the motion in which the crank rotates a with S held relative to U.

    The constraint (w* - t* e).(y x a) = 0 adds to the spin of the rod: s* += t* (e.(y x a))/(n.(y x a)); the cross turns
    with t* e + q1* a, q1* = (w* - t* e).a.
    """
    n, y, a = motion.leg.R.column(2), motion.leg.R.column(1), motion.cross.R.column(0)
    g = cross(y, a)
    spin = dot(drive, g) / dot(n, g)
    cross_rate = spin * dot(n, a) - dot(drive, a)
    return spin * dot(rod.moment, n) + dot(on_cross.moment, drive) + cross_rate * dot(on_cross.moment, a)
