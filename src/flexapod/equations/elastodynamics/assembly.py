r"""Equation of motion of a robot with flexible legs in independent coordinates u: actuators, deformations.

All coordinates z follow from them, :math:`\dot z = N\dot u`, :math:`\ddot z = N\ddot u + \beta` (see `loops`). Legs give their
mass matrices M_z by composite bodies and the forces h that the motion :math:`\ddot z = \beta` demands by recursion:

.. math:: M = N^T M_z N,\qquad c = N^T h,\qquad M\ddot u + c = A^T\Gamma \qquad\text{(Briot 2014 Eqs. 41-44)}

A: rates of the actuators by those of u; a selection where all actuators are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.equations.elastodynamics.elastic_state import (
    ElasticState,
    TreeMotion,
    platform_columns,
    platform_modes,
    read_state,
    tree_motion,
)
from flexapod.equations.elastodynamics.elastic_tree import Elements, beam_models, elastic_tree_forces
from flexapod.equations.elastodynamics.joint_forces import joint_forces
from flexapod.equations.elastodynamics.loops import loop_rows, solve_loops
from flexapod.equations.elastodynamics.tree_inertia import leg_mass_matrix, rigid_composite
from flexapod.equations.flexible_platform.generalized_newton_euler import FlexibleModel, flexible_model
from flexapod.equations.flexible_platform.stretching import platform_force
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import inertia_wrench
from flexapod.kernels.program import Program
from flexapod.robot.elastic_plan import driven_columns
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec, dot


@dataclass(frozen=True, kw_only=True)
class ElasticEquation:
    """Terms in independent coordinates u, and what leads back from them.

    Args:
        M, c: (n, n), (n,) mass matrix and all other forces.
        A: (actuators, n) actuator rates per independent rate; forces act through its transpose.
        gamma: (actuators,) actuator accelerations at u'' = 0.
        N, beta: (z, n), (z,) accelerations of all coordinates: N u'' + beta.
        rates: (actuators,).
        motion: of all frames at u'' = 0.
        direct: positions of the actuators among u, where every one is independent; else None.
    """

    M: Any
    c: Any
    A: Any
    gamma: Any
    N: Any
    beta: Any
    rates: Any
    motion: TreeMotion
    direct: tuple[int, ...] | None


def elastic_equation(b: Program, robot: Robot, friction: bool = False, wrench: Any = None) -> ElasticEquation:
    """Declare the inputs of a state and assemble the equation.

    Args:
        friction: of the joints, as in the file (Eq. 27).
        wrench: (6,) on the platform frame at its origin, world axes.

    Source: Briot 2014 Eqs. (28)-(44). Checked by: tests/equations/test_elastodynamics.py.
    """
    values, plan = Values(b), robot.elastic_plan
    state = read_state(b, robot)
    still = tree_motion(values, robot, state)
    rows, drifts, _ = loop_rows(values, robot, still)
    X, drift = solve_loops(plan, rows, drifts)
    bound, free, size = list(plan.bound), list(plan.independent), len(plan.columns)
    beta = ca.SX(size, 1)
    beta[bound] = drift
    beta = ca.densify(beta)
    motion = tree_motion(values, robot, state, beta)
    h, M_z = tree_terms(b, values, robot, state, motion, beta)
    h = h + joint_forces(values, robot, state, motion, friction)
    if wrench is not None:
        h = h - platform_load(robot, motion, wrench)
    N = ca.SX(size, len(free))
    N[free, :] = ca.SX.eye(len(free))
    N[bound, :] = X
    driven = driven_columns(robot)
    rates = ca.vertcat(*[state.qd[i][k] for i, leg in enumerate(robot.legs) for k in _driven(leg)])
    direct = tuple(free.index(k) for k in driven) if set(driven) <= set(free) else None
    return ElasticEquation(
        M=_projected(M_z, X, free, bound),
        c=h[free] + ca.mtimes(X.T, h[bound]),
        A=N[driven, :],
        gamma=beta[driven],
        N=N,
        beta=beta,
        rates=rates,
        motion=motion,
        direct=direct,
    )


def _projected(M_z: Any, X: Any, free: list[int], bound: list[int]) -> Any:
    """N^T M_z N with N = (1; X): both mixed terms and half of the last in one product."""
    product = ca.mtimes(M_z[free, bound] + ca.mtimes(X.T, M_z[bound, bound]) / 2, X)
    lower = ca.tril(ca.densify(M_z[free, free] + product + product.T))
    return lower + ca.tril(lower, False).T


def _driven(leg: Any) -> list[int]:
    return [k for k, index in enumerate(leg.moving) if leg.links[index].actuated]


def tree_terms(b: Any, values: Values, robot: Robot, state: ElasticState, motion: TreeMotion, zdd: Any) -> tuple[Any, Any]:
    """Forces h (z,) at accelerations zdd and mass matrix (z, z) of all bodies, loops cut."""
    plan, gravity = robot.elastic_plan, values.vector("gravity", "W")
    size = len(plan.columns)
    h, M = ca.SX.zeros(size), ca.SX(size, size)
    if plan.carrier is None:
        own, matrix = platform_terms(b, values, robot, state, motion, zdd)
        h[: own.numel()] = own
        M[: own.numel(), : own.numel()] = matrix
    for i, leg in enumerate(robot.legs):
        own_values, at = values.of(f"legs.{leg.name}"), slice(plan.first[i], plan.first[i] + len(leg.moving))
        beams, links = robot.beams.get(leg.name, ()), motion.links[i]
        elements: Elements = beam_models(b, own_values, leg, beams, state.q[i], state.qd[i], links, gravity)
        qdd = [zdd[plan.first[i] + k] for k in range(len(leg.moving))]
        h[at] = elastic_tree_forces(own_values, leg, elements, links, qdd, gravity)
        by_link = {k: (beam, R, model.M) for beam, R, model in elements.values() for k in beam.links}
        M[at, at] = leg_mass_matrix(own_values, leg, motion.poses[i], by_link)
    return h, M


def platform_terms(
    b: Program, values: Values, robot: Robot, state: ElasticState, motion: TreeMotion, zdd: Any
) -> tuple[Any, Any]:
    """Forces and mass matrix of the platform in (v, omega of world axes, modes)."""
    frame, gravity, N = motion.platform, values.vector("gravity", "W"), platform_modes(robot)
    R = frame.R.expr
    if N:
        own, w, g = values.of("platform"), (frame.R.T @ frame.w).expr, (frame.R.T @ gravity).expr
        shape = robot.flexible_shape[0]
        elastic = platform_force(own, shape, state.e) if shape.stretches else None
        model: FlexibleModel = flexible_model(b, own, shape, state.e, state.ed, w, g, elastic=elastic)
        T = ca.diagcat(R, R, ca.SX.eye(N))
        M = ca.mtimes(T, ca.mtimes(model.M, T.T))
        return ca.mtimes(T, model.c) + ca.mtimes(M, zdd[: 6 + N]), M
    body = rigid_composite(values, "platform", frame.R)
    hat = ca.skew(body.S.expr)
    M = ca.vertcat(ca.horzcat(body.m * ca.SX.eye(3), -hat), ca.horzcat(hat, body.I))
    return inertia_wrench(values, "platform", frame, gravity).column, M


def platform_load(robot: Robot, motion: TreeMotion, wrench: Any) -> Any:
    """Generalized forces (z,) of a wrench on the platform frame."""
    result = ca.SX.zeros(len(robot.elastic_plan.columns))
    force, moment = Vec(wrench[:3], "W"), Vec(wrench[3:], "W")
    for k, (v, w) in platform_columns(robot, robot.elastic_plan, motion, motion.platform.p).items():
        result[k] = dot(v, force) + dot(w, moment)
    return result
