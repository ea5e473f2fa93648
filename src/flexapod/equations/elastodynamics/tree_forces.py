"""Forces of the cut tree of a robot with flexible legs in world axes, terms of its platform, and loads on that."""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.elastic_tree import beam_models, elastic_tree_forces
from flexapod.equations.elastodynamics.program_state import RobotAt, TreeMotion, platform_columns, platform_modes
from flexapod.equations.elastodynamics.tree_inertia import rigid_composite
from flexapod.equations.flexible_platform.generalized_newton_euler import FlexibleModel, flexible_model
from flexapod.equations.flexible_platform.stretching import platform_force
from flexapod.equations.virtual_power.inertia_wrench import inertia_wrench
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec, dot


def tree_forces(at: RobotAt, motion: TreeMotion, zdd: SX) -> SX:
    """Forces h (z,) at accelerations zdd of all bodies, loops cut."""
    robot, values = at.robot, at.values
    plan, gravity = robot.elastic_plan, values.vector("gravity", "W")
    h = ca.SX.zeros(len(plan.columns))
    if plan.carrier is None:
        own, _ = platform_terms(at, motion, zdd)
        h[: own.numel()] = own
    for i, leg in enumerate(robot.legs):
        own_leg, links = at.leg(i), motion.links[i]
        elements = beam_models(own_leg, links, gravity)
        qdd = [zdd[plan.first[i] + k] for k in range(len(leg.moving))]
        h[plan.first[i] : plan.first[i] + len(leg.moving)] = elastic_tree_forces(
            own_leg.values, leg, elements, links, qdd, gravity
        )
    return h


def platform_terms(at: RobotAt, motion: TreeMotion, zdd: SX) -> tuple[SX, SX]:
    """Forces and mass matrix of the platform in (v, omega of world axes, modes)."""
    values, robot, state = at.values, at.robot, at.state
    frame, gravity, N = motion.platform, values.vector("gravity", "W"), platform_modes(robot)
    R = frame.R.expr
    if N:
        own, w, g = values.of("platform"), (frame.R.T @ frame.w).expr, (frame.R.T @ gravity).expr
        shape = robot.flexible_shape[0]
        elastic = platform_force(own, shape, state.e) if shape.stretches else None
        model: FlexibleModel = flexible_model(at.b, own, shape, state.e, state.ed, w=w, g=g, elastic=elastic)
        T = ca.diagcat(R, R, ca.SX.eye(N))
        M = ca.mtimes(T, ca.mtimes(model.M, T.T))
        return ca.mtimes(T, model.c) + ca.mtimes(M, zdd[: 6 + N]), M
    body = rigid_composite(values, "platform", frame.R)
    hat = ca.skew(body.S.expr)
    M = ca.vertcat(ca.horzcat(body.m * ca.SX.eye(3), -hat), ca.horzcat(hat, body.I))
    return inertia_wrench(values, "platform", frame, gravity).column, M


def platform_load(robot: Robot, motion: TreeMotion, wrench: SX) -> SX:
    """Generalized forces (z,) of a wrench on the platform frame."""
    result = ca.SX.zeros(len(robot.elastic_plan.columns))
    force, moment = Vec(wrench[:3], "W"), Vec(wrench[3:], "W")
    for k, (v, w) in platform_columns(robot, robot.elastic_plan, motion, motion.platform.p).items():
        result[k] = dot(v, force) + dot(w, moment)
    return result
