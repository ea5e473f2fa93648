r"""Friction and springs of the joints of a robot with flexible legs, as forces at its coordinates.

.. math:: f = k\,(q - q_0) + d\,\dot q + F_v\,\dot q + F_s\,s(\dot q) \qquad\text{(Briot 2014 Eq. 27; springs besides)}

A joint at which a leg is cut acts through the relative angular velocity about its axis. Friction that depends on joint loads
is not of this kind.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexapod.equations.chain import chain_columns
from flexapod.equations.elastodynamics.elastic_state import ElasticState, TreeMotion, platform_columns
from flexapod.equations.friction import axis_friction, read_coefficients
from flexapod.equations.values import Values
from flexapod.robot.model import Leg
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec, dot


def joint_forces(values: Values, robot: Robot, state: ElasticState, motion: TreeMotion, friction: bool) -> Any:
    """Forces (z,) against the motion and deflection of the joints.

    Source: Briot 2014 Eq. (27). Checked by: tests/equations/test_elastodynamics.py.
    """
    plan = robot.elastic_plan
    h = ca.SX.zeros(len(plan.columns))
    for i, leg in enumerate(robot.legs):
        own = values.of(f"legs.{leg.name}")
        for k, index in enumerate(leg.moving):
            link, column = leg.links[index], plan.first[i] + k
            if link.spring:
                rest = own.scalar(f"{link.coordinate}.rest")
                stiffness, damping = own.scalar(f"{link.coordinate}.stiffness"), own.scalar(f"{link.coordinate}.damping")
                h[column] = h[column] + stiffness * (state.q[i][k] - rest) + damping * state.qd[i][k]
            if friction and link.friction is not None and not link.elastic:
                c = read_coefficients(own, link.joint, link.friction, link.kind == "P")
                h[column] = h[column] - axis_friction(c, state.qd[i][k], 0)
        if friction and leg.closing.friction is not None and i != plan.carrier:
            for column, force in _closing_friction(own, robot, leg, i, motion).items():
                h[column] = h[column] + force
    return h


def _closing_friction(values: Values, robot: Robot, leg: Leg, i: int, motion: TreeMotion) -> dict[int, Any]:
    """Friction of a revolute closing joint at all coordinates that turn it."""
    plan, closing = robot.elastic_plan, leg.closing
    if closing.type != "revolute":
        return {}
    axis, end, half = motion.halves[i].R.column(2), motion.ends[i], motion.halves[i]
    turning = {plan.first[i] + k: dot(axis, w) for k, (_, w) in chain_columns(leg, motion.poses[i], closing.link, end.p).items()}
    for column, (_, w) in platform_columns(robot, plan, motion, half.p).items():
        turning[column] = turning.get(column, 0) - dot(axis, w)
    turns = motion.turns[i]
    for k in range(0 if turns is None else turns.shape[1]):
        turning[(0 if plan.carrier is not None else 6) + k] = -dot(axis, Vec(turns[:, k], "W"))
    moment = axis_friction(read_coefficients(values, closing.joint, closing.friction, False), dot(axis, end.w - half.w), 0)
    return {column: -moment * share for column, share in turning.items()}
