r"""General legs: the closing joint taken as the last joints of the chain, one factor for motion and for forces.

Letters: E centre of the closing joint, J (6, m) unit twists at E of all joints on the way (links, then closing joint),
V, A velocity and acceleration of the platform at E, w wrench of the leg on the platform at E, b what the bodies need along
each joint, f friction and rotor loads:

.. math:: J\,\dot q = V,\qquad J\,\ddot q = A-A_0,\qquad J^T w = \tau+f-b
          \;\Rightarrow\; w = J^{+T}(\tau+f-b)+C\lambda,\quad J^T C = 0

Unknown are the actuator forces and, where m < 6, the constraint wrenches lambda that the leg can hold without moving.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX, Scalar
from flexapod.equations.chain import LinkPose, chain_poses
from flexapod.equations.closing import solve_position
from flexapod.equations.closing_rows import half_on_platform
from flexapod.equations.newton_euler.chain_motion import end_motion, link_motions
from flexapod.equations.newton_euler.leg import ClosingJoint, LegForces, LegLoads, LinkJoint
from flexapod.equations.newton_euler.wrench import Wrench, at_rest, body_wrench, none
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.kernels.tape.roles import Iterates
from flexapod.robot.leg_positions import ancestors
from flexapod.robot.model import Leg
from flexapod.robot.plan import LegPlan
from flexapod.spatial import Rot, Vec, cross, dot
from flexapod.spatial.gram_schmidt import GramSchmidt, unit_column
from flexapod.spatial.vector import zero

if TYPE_CHECKING:
    from flexapod.robot.model import Closing, Link

SINGULAR = 1e-9
"""Sine between the twist of a joint and those of the others below which a leg is singular."""

Twist = tuple[Vec, Vec]


class ChainLeg:
    """A general leg at its motion; its unknowns are its actuator forces, then its constraint wrenches.

    Args:
        b: takes Newton's iteration and the checks.
        values: below ``legs.<name>.``.
        plan: closing rows and dependents for the position.
        guess: coordinates to start from.
        complement: which unit wrenches span, with J, all six directions.

    Source: Dasgupta's general strategy as cited by Kim 2002; Briot 2014 Eqs. (28)-(40) for the closing.
    Checked by: tests/equations/test_newton_euler.py.
    """

    def __init__(
        self,
        b: Iterates,
        values: Values,
        leg: Leg,
        plan: LegPlan,
        platform: FrameMotion,
        guess: Sequence[SX],
        *,
        complement: Sequence[int],
    ) -> None:
        self.leg, self._values, self._length = leg, values, values.at("characteristic_length")
        half = half_on_platform(values, leg, platform)
        poses = chain_poses(values, leg, solve_position(b, values, leg, plan, [half], guess))
        self._path = [i for i in reversed(ancestors(leg, leg.closing.link)) if leg.links[i].kind != "fixed"]
        on_link = values.rotation(f"{leg.closing.joint}.on_link.R", "B", "H")
        R_l = poses[leg.closing.link].R.renamed("W", "B") @ on_link if leg.closing.link >= 0 else on_link.renamed("W", "H")
        free = closing_axes(leg.closing.type, R_l, half.R)
        twists = [_twist(leg.links[i].kind, poses[i], half.p) for i in self._path]
        self._factor = GramSchmidt([self._scaled_twist(t) for t in (*twists, *free)])
        b.fail_if(
            ca.logic_not(self._factor.smallest_pivot >= SINGULAR * SINGULAR),
            "leg {leg} is singular: its joints do not move its end independently", leg=leg.name,
        )  # fmt: skip
        self._complement = self._factor.complement([unit_column(k) for k in complement])
        self._close(poses, half, free, platform, R_l)

    def _close(
        self, poses: Sequence[LinkPose], half: FrameMotion, free: Sequence[Twist], platform: FrameMotion, R_l: Rot
    ) -> None:
        """Rates, then accelerations, of all joints on the way."""
        leg, n = self.leg, len(self._path)
        rates = ca.vertsplit(self._factor.solve(self._scaled_twist((half.v, half.w))))
        qd, still = dict(zip(self._path, rates[:n], strict=True)), dict.fromkeys(self._path, ca.SX(0))
        drift = link_motions(leg, poses, qd, still)
        spherical = leg.closing.type == "spherical"
        a0, alpha0 = end_motion(leg, drift, half.p, free, rates[n:], spherical)
        second = ca.vertsplit(self._factor.solve(self._scaled_twist((half.a - a0, half.alpha - alpha0))))
        qdd = dict(zip(self._path, second[:n], strict=True))
        self._frames = link_motions(leg, poses, qd, qdd)
        self.joints = tuple(
            LinkJoint(
                kind=link.kind, axis=pose.z, centre=pose.p,
                rate=qd.get(i, ca.SX(0)), acceleration=qdd.get(i, ca.SX(0)), guide=guide_axes(self._values, link, pose.R),
            )
            for i, (link, pose) in enumerate(zip(leg.links, poses, strict=True))
        )  # fmt: skip
        last = self._frames[leg.closing.link].w if leg.closing.link >= 0 else zero("W")
        self.closing = ClosingJoint(
            axes=tuple(free), centre=half.p, angular=platform.w - last, rates=() if spherical else tuple(rates[n:]),
            frame=(half.R.column(0), half.R.column(1), half.R.column(2)),
            guide=guide_axes(self._values, leg.closing, R_l) if leg.closing.type == "prismatic" else None,
        )  # fmt: skip

    def body_loads(self, gravity: Vec | None, moves: Sequence[bool]) -> tuple[Wrench, ...]:
        """Newton and Euler of every link's body, about the link's origin."""
        g = gravity if gravity is not None else zero("W")
        return tuple(
            body_wrench(self._values.of(f"{link.coordinate}.body"), frame if move else at_rest(frame), g) if link.body else none()
            for link, frame, move in zip(self.leg.links, self._frames, moves, strict=True)
        )

    def columns(self) -> Sequence[SX]:
        """Per actuator force, then per constraint wrench."""
        count = len(self._factor.q)
        driven = [k for k, i in enumerate(self._path) if self.leg.links[i].actuated]
        columns = [self._factor.dual([ca.SX(1.0 if k == j else 0.0) for k in range(count)]) for j in driven]
        return [self._unscaled(c) for c in (*columns, *self._complement)]

    def particular(self, loads: LegLoads) -> Wrench:
        """Wrench of the leg on the platform without actuator forces and constraint wrenches."""
        return self._on_platform(loads, [0] * sum(link.actuated for link in self.leg.links), [])

    def finish(self, loads: LegLoads, unknowns: Sequence[SX]) -> LegForces:
        """Backward pass with the wrench on the platform."""
        driven = sum(link.actuated for link in self.leg.links)
        w = self._on_platform(loads, unknowns[:driven], unknowns[driven:])
        whole = self._backward(loads.bodies, w)
        return LegForces(actuators=tuple(unknowns[:driven]), joints=(*whole, w))

    def _on_platform(self, loads: LegLoads, forces: Sequence[Scalar], constraints: Sequence[SX]) -> Wrench:
        needed = self._backward(loads.bodies, none())
        right, driven = [], iter(forces)
        for i in self._path:
            link, joint = self.leg.links[i], self.joints[i]
            along = needed[i].moment if link.kind == "R" else needed[i].force
            value = loads.axial[i] - dot(joint.axis, along)
            right.append(value + next(driven) if link.actuated else value)
        for linear, angular in self.closing.axes:
            right.append(dot(linear, loads.closing.force) + dot(angular, loads.closing.moment))
        w = self._factor.dual(right)
        for column, size in zip(self._complement, constraints, strict=False):
            w = w + column * size
        column = self._unscaled(w)
        return Wrench(force=Vec(column[:3], "W"), moment=Vec(column[3:], "W"))

    def _backward(self, bodies: Sequence[Wrench], end: Wrench) -> list[Wrench]:
        """Wrenches across the joint in front of every link, about its centre."""
        whole = list(bodies)
        last = self.leg.closing.link
        if last >= 0:
            whole[last] = whole[last] + end.seen_from(self.closing.centre - self.joints[last].centre)
        for i in reversed(range(len(whole))):
            parent = self.leg.links[i].parent
            if parent >= 0:
                whole[parent] = whole[parent] + whole[i].seen_from(self.joints[i].centre - self.joints[parent].centre)
        return whole

    def _scaled_twist(self, twist: Twist) -> SX:
        return ca.vertcat(twist[0].expr, twist[1].expr * self._length)

    def _unscaled(self, wrench: SX) -> SX:
        return ca.vertcat(wrench[:3], wrench[3:] * self._length)


def guide_axes(values: Values, part: Link | Closing, R: Rot) -> tuple[Vec, Vec] | None:
    """Axes u, v of the guide of a joint that slides with friction, in world axes; R: axes of the half that holds them."""
    if part.friction is None or getattr(part, "kind", "P") != "P":
        return None
    u, v = (R @ values.vector(f"{part.joint}.friction.guide_{k}", R.from_) for k in "uv")
    return u, v


def closing_axes(kind: str, R_l: Rot, R_p: Rot) -> list[Twist]:
    """Unit twists that a closing joint leaves free.

    Args:
        R_l, R_p: its halves on the link and on the platform, z along its axis (universal: axis1, axis2).
    """
    rest, z = zero("W"), R_l.column(2)
    world = [Vec([1.0 if i == k else 0.0 for i in range(3)], "W") for k in range(3)]
    return {
        "fixed": [],
        "revolute": [(rest, z)],
        "prismatic": [(z, rest)],
        "cylindrical": [(z, rest), (rest, z)],
        "universal": [(rest, z), (rest, R_p.column(2))],
        "spherical": [(rest, axis) for axis in world],
    }[kind]


def _twist(kind: str, pose: LinkPose, E: Vec) -> Twist:
    return (pose.z, zero("W")) if kind == "P" else (cross(pose.z, E - pose.p), pose.z)
