"""Motion of a leg's links by recursion from the base outwards (Briot 2014 Eqs. 10-22 for rigid links).

Letters: link j has frame R_Wj, origin p; z is its joint axis; q its coordinate. World axes throughout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.universal_leg import Scalar
from flexapod.equations.values import Values
from flexapod.robot.leg_positions import ancestors
from flexapod.robot.model import Leg
from flexapod.spatial import Rot, Vec, cross, rotation_z
from flexapod.spatial.vector import zero


@dataclass(frozen=True, kw_only=True)
class LinkPose:
    """Rotation and origin of a link frame; `z` is its joint axis."""

    R: Rot
    p: Vec

    @property
    def z(self) -> Vec:
        """Joint axis in the world."""
        return self.R.column(2)


def chain_poses(values: Values, leg: Leg, coordinates: Sequence[SX]) -> list[LinkPose]:
    """Poses of all links.

    Args:
        values: below ``legs.<name>.``.
        coordinates: of the moving links, in order.

    Source: Briot 2014 Eq. (16); Khalil-Kleinfinger placement. Checked by: tests/equations/test_closing.py.
    """
    result: list[LinkPose] = []
    q = iter(coordinates)
    for link in leg.links:
        prefix = link.coordinate
        R0 = values.rotation(f"{prefix}.R", "A" if link.parent >= 0 else "W", "B")
        p0 = values.vector(f"{prefix}.p", "A" if link.parent >= 0 else "W")
        if link.parent < 0:
            R, p = R0, p0
        else:
            parent = result[link.parent]
            R_WA = parent.R.renamed("W", "A")
            R, p = R_WA @ R0, parent.p + R_WA @ p0
        if link.kind == "R":
            R = R @ rotation_z(next(q) + values.scalar(f"{prefix}.zero"), "B", "B")
        elif link.kind == "P":
            p = p + R.column(2) * (next(q) + values.scalar(f"{prefix}.zero"))
        result.append(LinkPose(R=R, p=p))
    return result


def chain_motion(leg: Leg, poses: Sequence[LinkPose], rates: Sequence[SX], accelerations: Sequence[SX]) -> list[FrameMotion]:
    r"""Twist and acceleration of all links.

    .. math:: \dot\omega_j = \dot\omega_i + z\ddot q + \omega_i\times z\dot q,\quad
              \dot v_j = \dot v_i + \dot\omega_i\times r + \omega_i\times(\omega_i\times r)
              \;(+\,z\ddot q + 2\omega_i\times z\dot q)

    Source: Briot 2014 Eqs. (11)-(12), (18)-(19). Checked by: tests/equations/test_closing.py.
    """
    result: list[FrameMotion] = []
    moving = iter(zip(rates, accelerations, strict=True))
    rest = FrameMotion(R=Rot(ca.SX.eye(3), "W", "B"), p=zero("W"), v=zero("W"), w=zero("W"), a=zero("W"), alpha=zero("W"))
    for link, pose in zip(leg.links, poses, strict=True):
        before = result[link.parent] if link.parent >= 0 else rest
        r = pose.p - before.p
        spin = cross(before.w, r)
        v, w = before.v + spin, before.w
        a, alpha = before.a + cross(before.alpha, r) + cross(before.w, spin), before.alpha
        if link.kind != "fixed":
            qd, qdd = next(moving)
            gyro = cross(before.w, pose.z * qd)
            if link.kind == "R":
                w, alpha = w + pose.z * qd, alpha + pose.z * qdd + gyro
            else:
                v, a = v + pose.z * qd, a + pose.z * qdd + gyro * 2
        result.append(FrameMotion(R=pose.R, p=pose.p, v=v, w=w, a=a, alpha=alpha))
    return result


def chain_columns(leg: Leg, poses: Sequence[LinkPose], link: int, point: Vec) -> dict[int, tuple[Vec, Vec]]:
    """Unit twists (linear at `point`, angular) of the coordinates that move a link: index among moving -> twist."""
    moving = leg.moving
    result = {}
    for i in ancestors(leg, link):
        if leg.links[i].kind == "R":
            result[moving.index(i)] = (cross(poses[i].z, point - poses[i].p), poses[i].z)
        elif leg.links[i].kind == "P":
            result[moving.index(i)] = (poses[i].z, zero("W"))
    return result


def scalars(q: Sequence[SX], qd: Sequence[SX], qdd: Sequence[SX]) -> tuple[Scalar, ...]:
    """Coordinates with their derivatives."""
    return tuple(Scalar(q=a, qd=b, qdd=c) for a, b, c in zip(q, qd, qdd, strict=True))
