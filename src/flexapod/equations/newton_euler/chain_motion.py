"""Motion of a chain's links from joint rates, and of its end behind the closing joint: forward recursion in world axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flexapod.arrays import SX
from flexapod.equations.chain import LinkPose
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.robot.model import Leg
from flexapod.spatial import Vec, cross
from flexapod.spatial.vector import zero


def link_motions(leg: Leg, poses: Sequence[LinkPose], qd: Mapping[int, SX], qdd: Mapping[int, SX]) -> list[FrameMotion]:
    r"""Twist and acceleration of every link frame.

    Revolute: the rotation is added behind the joint; prismatic: the point of the guide under the link, then the slide.

    .. math:: \dot\omega = \dot\omega_i+z\ddot q+\omega_i\times z\,\dot q,\qquad
              a = a_i+\dot\omega_i\times r+\omega_i\times(\omega_i\times r)+z\ddot q+2\,\omega_i\times z\,\dot q

    Args:
        qd, qdd: by index of the link; links without entry are fixed.

    Checked by: tests/equations/test_newton_euler.py.
    """
    result: list[FrameMotion] = []
    still = zero("W")
    for i, (link, pose) in enumerate(zip(leg.links, poses, strict=True)):
        before = result[link.parent] if link.parent >= 0 else None
        v, w, a, alpha = (before.v, before.w, before.a, before.alpha) if before else (still, still, still, still)
        if before is not None:
            r = pose.p - before.p
            v, a = v + cross(w, r), a + cross(alpha, r) + cross(w, cross(w, r))
        if i in qd:
            slope = pose.z * qd[i]
            coriolis = cross(w, slope)
            if link.kind == "R":
                alpha, w = alpha + pose.z * qdd[i] + coriolis, w + slope
            else:
                v, a = v + slope, a + pose.z * qdd[i] + coriolis * 2
        result.append(FrameMotion(R=pose.R.renamed("W", "B"), p=pose.p, v=v, w=w, a=a, alpha=alpha))
    return result


def end_motion(
    leg: Leg, links: Sequence[FrameMotion], E: Vec, free: Sequence[tuple[Vec, Vec]], rates: Sequence[SX], spherical: bool
) -> tuple[Vec, Vec]:
    """Acceleration at E and angular acceleration behind the closing joint, its own second derivatives left out.

    Args:
        free, rates: unit twists of the closing joint and rates along them, from the link outwards.
        spherical: the twists are the world's axes and do not turn.
    """
    still = zero("W")
    a, w, alpha = still, still, still
    if leg.closing.link >= 0:
        last = links[leg.closing.link]
        r = E - last.p
        w, alpha = last.w, last.alpha
        a = last.a + cross(alpha, r) + cross(w, cross(w, r))
    if not spherical:
        for (linear, angular), rate in zip(free, rates, strict=True):
            a = a + cross(w, linear) * (2 * rate)
            alpha = alpha + cross(w, angular) * rate
            w = w + angular * rate
    return a, alpha
