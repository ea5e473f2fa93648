r"""Friction and springs of the joints of a robot with flexible legs, as forces at its coordinates.

.. math:: f = k\,(q - q_0) + d\,\dot q + F_v\,\dot q + F_s\,s(\dot q) \qquad\text{(Briot 2014 Eq. 27; springs besides)}

A joint at which a leg is cut acts through the relative angular velocity about its axis. Friction that depends on joint loads
is not of this kind.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import casadi as ca

from flexapod.equations.chain import chain_columns
from flexapod.equations.elastodynamics.elastic_state import ElasticState, TreeMotion, platform_columns
from flexapod.equations.friction import axis_friction, read_coefficients
from flexapod.equations.friction.coefficients import Coefficients
from flexapod.equations.values import Values
from flexapod.robot.model import Leg
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec, dot

Rubbing = bool | Literal["smooth", "smooth passive"]
"""Friction: none, as in the file, or smoothed where the file has the exact sign: at all joints, or at all but the actuators."""
SPEED = 1e-3
"""Speed [m/s, rad/s] of the tanh law that smooths: the exact sign has no solution at rest."""


def joint_forces(values: Values, robot: Robot, state: ElasticState, motion: TreeMotion, friction: Rubbing) -> Any:
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
                smooth = friction == "smooth" or (friction == "smooth passive" and not link.actuated)
                c = smoothed(read_coefficients(own, link.joint, link.friction, link.kind == "P"), smooth)
                h[column] = h[column] - axis_friction(c, state.qd[i][k], 0)
        if friction and leg.closing.friction is not None and i != plan.carrier:
            for column, force in _closing_friction(own, robot, leg, i, motion, friction is not True).items():
                h[column] = h[column] + force
    return h


def smoothed(c: Coefficients, smooth: bool) -> Coefficients:
    """The coefficients, with a speed if asked and the file has none."""
    return replace(c, speed=SPEED) if smooth and c.speed is None else c


def _closing_friction(values: Values, robot: Robot, leg: Leg, i: int, motion: TreeMotion, smooth: bool) -> dict[int, Any]:
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
    c = smoothed(read_coefficients(values, closing.joint, closing.friction, False), smooth)
    moment = axis_friction(c, dot(axis, end.w - half.w), 0)
    return {column: -moment * share for column, share in turning.items()}
