r"""Friction and springs of the joints of any robot, as forces at its coordinates z.

.. math:: f = k\,(q - q_0) + d\,\dot q + F_v\,\dot q + (F_s + \mu N)\,s(\dot q)

(Briot 2014 Eq. 27, Kim 2002 Eqs. 30-31.)

A joint inside a leg acts along its own coordinates; the joint at which a leg is cut acts on both halves, so that it is felt by
every coordinate that moves one of them. Loads N are given: zero, or what `reactions` found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.chain import chain_columns
from flexapod.equations.elastodynamics.loops import far_columns, mode_columns
from flexapod.equations.elastodynamics.point_forces import force_element_states
from flexapod.equations.elastodynamics.program_state import ElasticState, TreeMotion
from flexapod.equations.friction import smoothed
from flexapod.equations.newton_euler.chain_leg import closing_axes, guide_axes
from flexapod.equations.newton_euler.friction_points import FrictionPoint, PointFriction, friction_points
from flexapod.equations.newton_euler.leg import ClosingJoint, LinkJoint
from flexapod.equations.newton_euler.wrench import Wrench
from flexapod.equations.platform_inputs import FrameMotion
from flexapod.equations.values import Values
from flexapod.robot.model import Leg, Link
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec, cross, dot

Friction = bool | Literal["smooth", "smooth passive"]
"""Friction: none, as in the file, or smoothed where the file has the exact sign: at all joints, or at all but the actuators."""


@dataclass(frozen=True, kw_only=True)
class LegView:
    """A leg as friction needs it: its joints at the state. Elastic links are left out: nothing slides there."""

    leg: Leg
    joints: tuple[LinkJoint, ...]
    closing: ClosingJoint


def joint_forces(values: Values, robot: Robot, state: ElasticState, motion: TreeMotion, friction: Friction) -> SX:
    """Forces (z,) against the motion and deflection of joints and force elements, without friction by joint loads.

    Source: Briot 2014 Eq. (27). Checked by: tests/equations/test_elastodynamics.py.
    """
    plan = robot.elastic_plan
    h = ca.SX.zeros(len(plan.columns))
    for i, leg in enumerate(robot.legs):
        own = values.of(f"legs.{leg.name}")
        for k, index in enumerate(leg.moving):
            if leg.links[index].spring:
                h[plan.first[i] + k] = spring_force(own, leg, index, state.q[i][k], state.qd[i][k])
    for force in force_element_states(values, robot, motion):
        h = h + force.slope * force.tension
    if not friction:
        return h
    views = leg_views(values, robot, state, motion)
    points = sliding_points(values, robot, views, friction)
    found = [point.friction_at([0] * len(point.places)) for point in points]
    return h - friction_force(values, robot, motion, points, found)


def spring_force(values: Values, leg: Leg, index: int, q: SX, qd: SX) -> SX:
    """Force of a joint's spring, damper, constant force and bump stops against its coordinate."""
    link = leg.links[index]
    own = values.of(link.coordinate)
    force = own.scalar("stiffness") * (q - own.scalar("rest")) + own.scalar("damping") * qd
    if link.preload:
        force = force + own.scalar("preload")
    return force + own.scalar("stop") * overrun(own, q) if link.stop else force


def overrun(values: Values, q: SX) -> SX:
    """Signed distance of a coordinate beyond the ends of its stroke; zero within."""
    low, high = values.scalar("low"), values.scalar("high")
    return ca.if_else(q > high, q - high, ca.if_else(q < low, q - low, 0))


def spring_energy(values: Values, link: Link, q: SX) -> SX:
    """Energy [J] of a joint's spring, constant force and bump stops."""
    own = values.of(link.coordinate)
    stretch = q - own.scalar("rest")
    energy = own.scalar("stiffness") * stretch**2 / 2
    if link.preload:
        energy = energy + own.scalar("preload") * stretch
    return energy + own.scalar("stop") * overrun(own, q) ** 2 / 2 if link.stop else energy


def spring_slope(values: Values, link: Link, q: SX) -> SX:
    """Stiffness [N/m, N m/rad] of a joint's spring and bump stops."""
    own = values.of(link.coordinate)
    if not link.stop:
        return own.scalar("stiffness")
    beyond = ca.logic_or(q > own.scalar("high"), q < own.scalar("low"))
    return own.scalar("stiffness") + ca.if_else(beyond, own.scalar("stop"), 0)


def leg_views(values: Values, robot: Robot, state: ElasticState, motion: TreeMotion, guides: bool = False) -> list[LegView]:
    """Every leg's joints at a state; with the axes of their guides where loads are asked for."""
    result = []
    for i, leg in enumerate(robot.legs):
        own, joints = values.of(f"legs.{leg.name}"), []
        for k, link in enumerate(leg.links):
            pose, moves = motion.poses[i][k], link.kind != "fixed"
            joints.append(
                LinkJoint(
                    kind=link.kind, axis=pose.z, centre=pose.p, acceleration=ca.SX(0),
                    rate=state.qd[i][leg.moving.index(k)] if moves else ca.SX(0),
                    guide=guide_axes(own, link, pose.R) if guides and not link.elastic else None,
                )
            )  # fmt: skip
        closing = closing_joint(own, leg, motion.ends[i], motion.halves[i], guides)
        result.append(LegView(leg=leg, joints=tuple(joints), closing=closing))
    return result


def closing_joint(values: Values, leg: Leg, end: FrameMotion, half: FrameMotion, guides: bool) -> ClosingJoint:
    """The joint at which a leg is cut, between its halves on the leg and beyond."""
    kind, angular = leg.closing.type, half.w - end.w
    axes = closing_axes(kind, end.R if kind == "universal" else half.R, half.R)
    rates: tuple[SX, ...] = ()
    if kind in ("revolute", "universal"):
        rates = tuple(dot(axis, angular) for _, axis in axes)  # the axes of a universal joint are at right angles
    elif kind == "prismatic":
        rates = (dot(axes[0][0], half.v - end.v - cross(end.w, half.p - end.p)),)
    return ClosingJoint(
        axes=tuple(axes), centre=half.p, angular=angular, rates=rates,
        frame=(half.R.column(0), half.R.column(1), half.R.column(2)),
        guide=guide_axes(values, leg.closing, half.R) if kind == "prismatic" and guides else None,
    )  # fmt: skip


def sliding_points(values: Values, robot: Robot, views: Sequence[LegView], friction: Friction) -> list[FrictionPoint]:
    """Joints with friction; smoothed as asked."""
    result = []
    for point in friction_points(views, values):  # type: ignore[arg-type]
        if not point.links and point.leg == robot.elastic_plan.carrier:
            continue
        smooth = friction == "smooth" or (friction == "smooth passive" and not point.driven)
        result.append(replace(point, coefficients=smoothed(point.coefficients)) if smooth else point)
    return result


def friction_force(
    values: Values, robot: Robot, motion: TreeMotion, points: Sequence[FrictionPoint], found: Sequence[PointFriction]
) -> SX:
    """Friction (z,) as forces along the coordinates."""
    plan = robot.elastic_plan
    result = ca.SX.zeros(len(plan.columns))
    for point, friction in zip(points, found, strict=True):
        leg = robot.legs[point.leg]
        for index, size in friction.axial.items():
            column = plan.first[point.leg] + leg.moving.index(index)
            result[column] = result[column] + size
        if not point.links:
            for column, size in _felt(values, robot, point.leg, motion, friction.closing).items():
                result[column] = result[column] + size
    return result


def _felt(values: Values, robot: Robot, i: int, motion: TreeMotion, on_platform: Wrench) -> dict[int, SX]:
    """Generalized forces of a wrench between the halves of a closing joint, at the coordinates that move them."""
    plan, leg, half = robot.elastic_plan, robot.legs[i], motion.halves[i]
    force, moment = on_platform.force, on_platform.moment

    def along(v: Vec, w: Vec | None) -> SX:
        return dot(v, force) + (0 if w is None else dot(w, moment))

    result = {k: along(v, w) for k, (v, w) in far_columns(robot, motion, leg.closing, half.p).items()}
    for k, (v, w) in chain_columns(leg, motion.poses[i], leg.closing.link, half.p).items():
        result[plan.first[i] + k] = result.get(plan.first[i] + k, 0) - along(v, w)
    for k, (v, rotated) in (mode_columns(robot, motion, i) if leg.closing.to is None else {}).items():
        result[k] = along(v, rotated)
    return result
