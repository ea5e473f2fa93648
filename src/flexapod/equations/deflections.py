r"""Deflection of universal, spherical and passive revolute joints from home: the joint angle.

A direction d fixed in the body on the leg's side (along the leg) is compared with where the body on the other side would
carry it from home:

.. math:: \theta = \angle\,(d,\; R\,R_{home}^T\,d_{home})

so that a spin about the leg, which universal and spherical joints allow, does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.chain import LinkPose, chain_poses
from flexapod.equations.leg_kinematics import home_guess
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.universal_leg import LegMotion, leg_motion
from flexapod.equations.values import Values
from flexapod.kernels.tape.roles import TakesChecks
from flexapod.robot.model import Leg
from flexapod.robot.robot import Robot
from flexapod.spatial import Rot, Vec, axis_angle, cross, dot


@dataclass(frozen=True, kw_only=True)
class Swivel:
    """A passive joint that bends.

    Args:
        leg: index of its leg.
        joint: its name in the file.
        before: link on the base side, -1 for the world; for a closing joint the platform (None), or the link on its far side.
        link: link on the leg's side.
        limit: largest deflection in the file [rad], or None.
        closing: the joint closes the loop.
    """

    leg: int
    joint: str
    before: int | None
    link: int
    limit: float | None
    closing: bool


def swivels(robot: Robot) -> tuple[Swivel, ...]:
    """All passive joints that bend, legs in order, base to platform.

    The two revolute rows of a closed-form leg written as a table are its universal joint.
    """
    result = []
    for k, leg in enumerate(robot.legs):
        for group in _groups(leg):
            links = [leg.links[i] for i in group]
            names = list(dict.fromkeys(link.joint for link in links))
            limits = [link.limits.angle for link in links if link.limits and link.limits.angle is not None]
            before = links[0].parent
            result.append(
                Swivel(
                    leg=k, joint="+".join(names), before=before, link=group[-1], limit=min(limits, default=None), closing=False
                )
            )
        for closing in leg.closings:
            if closing.type in ("universal", "spherical", "revolute"):
                limit = closing.limits.angle if closing.limits else None
                far = None if closing.to is None else closing.to[1]
                result.append(Swivel(leg=k, joint=closing.joint, before=far, link=closing.link, limit=limit, closing=True))
    return tuple(result)


def _groups(leg: Leg) -> list[list[int]]:
    """Links of each passive revolute, universal or spherical joint inside the tree."""
    if leg.architecture != "general":
        return [[0, 1]] if leg.architecture == "UPS" else [[1, 2]]
    groups: list[list[int]] = []
    for i, link in enumerate(leg.links):
        if link.kind != "R" or link.actuated or link.elastic:
            continue
        if groups and leg.links[groups[-1][-1]].joint == link.joint:
            groups[-1].append(i)
        elif any(other.joint == link.joint and other.kind == "P" for other in leg.links):
            continue  # a cylindrical joint does not bend
        else:
            groups.append([i])
    return groups


def deflections(robot: Robot, values: Values, platform: FrameMotion, coordinates: Sequence[SX]) -> SX:
    """Deflection of every swivel [rad], a column.

    Args:
        values: of the whole robot; `home.rotation` is read besides.
        coordinates: column of every leg; those of closed-form legs are not used (unit vectors take their place).

    Checked by: tests/analysis/test_limits.py.
    """
    return ca.vertcat(*[_angle(expected, actual) for expected, actual in directions(robot, values, platform, coordinates)])


def directions(robot: Robot, values: Values, platform: FrameMotion, coordinates: Sequence[SX] = ()) -> list[tuple[Vec, Vec]]:
    """Directions of every swivel: the leg's at home, carried along by the body on the other side, and the leg's now."""
    R_home = values.rotation("home.rotation", "W", "P")
    rotated = platform.R @ R_home.T.renamed("P", "W0")  # rotation of the platform since home
    result: list[tuple[Vec, Vec]] = []
    for k, leg in enumerate(robot.legs):
        own, deflected = values.of(f"legs.{leg.name}"), [s for s in swivels(robot) if s.leg == k]
        home = chain_poses(own, leg, home_guess(own, leg))
        form = robot.closed_forms[k]
        now = [] if form is not None else chain_poses(own, leg, [coordinates[k][i] for i in range(coordinates[k].numel())])
        motion = leg_motion(_Silent(), own, leg, form.sign, platform) if form is not None else None
        for swivel in deflected:
            d_link = _direction(own, leg, swivel)
            d_home = (_frame(home, swivel.link).renamed("W0", "B") @ d_link) if swivel.link >= 0 else d_link
            if motion is not None:
                d = motion.leg.R.column(2)
                other = rotated if swivel.closing else _carrier_rotation(own, leg, motion)
            else:
                d = _frame(now, swivel.link).renamed("W", "B") @ d_link
                before = swivel.before
                other = (
                    rotated
                    if before is None
                    else _frame(now, before).renamed("W", "X") @ _frame(home, before).renamed("W0", "X").T
                )
            result.append((other @ d_home, d))
    return result


def without_checks() -> TakesChecks:
    """A builder that takes no checks, for legs whose checks are made elsewhere."""
    return _Silent()


class _Silent:
    """A builder that takes no checks: they were made where the leg was closed."""

    def fail_if(self, *_: object, **__: object) -> int:
        """Ignore a check."""
        return 0


def _angle(a: Vec, b: Vec) -> SX:
    """Angle between two vectors of any length, exact near 0 and pi."""
    sine = cross(a, b)
    return ca.atan2(ca.sqrt(dot(sine, sine)), dot(a, b))


def _carrier_rotation(values: Values, leg: Leg, motion: LegMotion) -> Rot:
    """Rotation since home of the body before a closed-form leg's universal joint: only a crank rotates."""
    if leg.architecture != "RUS":
        return Rot(ca.SX.eye(3), "W", "W0")
    assert motion.carrier is not None
    angle = values.scalar(f"{leg.links[0].coordinate}.home") + values.scalar("zero")
    at_home = Rot(axis_angle(values.vector("drive", "W").expr * angle), "W0", "W1")
    return motion.carrier.R.renamed("W", "W1") @ at_home.T


def _frame(poses: list[LinkPose], link: int) -> Rot:
    return poses[link].R if link >= 0 else Rot(ca.SX.eye(3), "W", "W0")


def _direction(values: Values, leg: Leg, swivel: Swivel) -> Vec:
    """Direction along the leg in the link that the joint bends: towards the next joint, or across a hinge."""
    x, z = Vec([1, 0, 0], "B"), Vec([0, 0, 1], "B")
    if swivel.closing:
        if next(c.type for c in leg.closings if c.joint == swivel.joint) == "revolute":
            return values.rotation(f"{swivel.joint}.on_link.R", "B", "H").column(0)
        if swivel.link >= 0 and leg.links[swivel.link].kind == "P":
            return z
        return _unless_zero(values.vector(f"{swivel.joint}.on_link.p", "B"), z)
    if leg.links[swivel.link].joint == swivel.joint and sum(link.joint == swivel.joint for link in leg.links) == 1:
        return x  # a hinge rotates about z
    child = next((link for link in leg.links if link.parent == swivel.link), None)
    if child is not None and child.kind == "P":
        return values.rotation(f"{child.coordinate}.R", "B", "C").column(2)
    end = next((c for c in leg.closings if c.link == swivel.link), leg.closing)
    name = f"{child.coordinate}.p" if child is not None else f"{end.joint}.on_link.p"
    return _unless_zero(values.vector(name, "B"), x)


def _unless_zero(d: Vec, instead: Vec) -> Vec:
    """A direction from an offset; another one where the offset vanishes."""
    return Vec(ca.if_else(ca.dot(d.expr, d.expr) > 1e-18, d.expr, instead.expr), d.frame)
