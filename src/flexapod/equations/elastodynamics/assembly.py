r"""Equation of motion of a robot with beams in its legs, in independent coordinates.

All coordinates that are not solved for stand together, :math:`w = (v, \omega, \dot e)`: platform twist and elastic rates.
Each leg gives generalized forces h_i and the derivatives J_i of its coordinates by w; leftover closing rows tie some of w
together:

.. math:: h = \sum_i J_i^T h_i,\qquad G w = 0\ \Rightarrow\ w = N u,\qquad
          N^T(M\dot w + c) = (J_a N)^T\,\Gamma,\qquad \dot w = N\dot u + \beta

(Briot 2014 Eqs. 28-44.) The closing is the one of rigid robots; elastic coordinates are free coordinates of their legs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from flexapod.equations.closing import close_at, half_on_platform, transfer
from flexapod.equations.elastodynamics.elastic_tree import elastic_tree_forces
from flexapod.equations.platform_motion import FrameMotion
from flexapod.equations.values import Values
from flexapod.equations.virtual_power.inertia_wrench import inertia_wrench
from flexapod.kernels.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial import Rot, Vec
from flexapod.spatial.linear import solve


@dataclass(frozen=True, kw_only=True)
class ElasticEquation:
    """Terms in independent coordinates u, and what leads back from them.

    Args:
        M, c: (n, n), (n,) mass matrix and all other forces.
        A: (actuators, n) actuator rates per independent rate; forces act through its transpose.
        gamma: (actuators,) actuator acceleration at u' = 0.
        N, beta: (6 + elastic, n), (6 + elastic,) platform and elastic accelerations: N u' + beta.
        q: coordinates of all joints; rates: of the actuators.
    """

    M: Any
    c: Any
    A: Any
    gamma: Any
    N: Any
    beta: Any
    q: Any
    rates: Any


def independent(robot: Robot) -> tuple[int, ...]:
    """Indices of (platform twist, elastic coordinates) that stay independent when the loops are closed."""
    size = 6 + len(robot.elastic_names)
    return tuple(i for i in range(size) if i not in robot.plan.platform_dependents)


def elastic_equation(b: Program, robot: Robot) -> ElasticEquation:
    """Declare the inputs of a state and assemble the equation.

    Inputs: `position`, `rotation`, `velocity`, `angular_velocity` of the platform, `elastic`, `elastic_velocity` in the order of
    ``robot.elastic_names``, `guess` (joint coordinates). The state must obey the loops; `velocity` likewise.

    Source: Briot 2014 Eqs. (28)-(44). Checked by: tests/equations/test_elastodynamics.py.
    """
    values, count = Values(b), len(robot.elastic_names)
    wd = ca.SX.sym("wd", 6 + count)
    platform = _platform(b, wd)
    e, ed = b.input("elastic", (count,)), b.input("elastic_velocity", (count,))
    guess = b.input("guess", (len(robot.coordinates),), unit="m or rad", doc="joint coordinates to start from")
    gravity = values.vector("gravity", "W")
    h = ca.vertcat(inertia_wrench(values, "platform", platform, gravity).column, ca.SX.zeros(count))
    actuators, rows, residuals, driven, joints, at, first = [], [], [], [], [], 0, 0
    for i, leg in enumerate(robot.legs):
        own, plan, n = values.of(f"legs.{leg.name}"), robot.plan.legs[i], len(leg.moving)
        free = plan.free(n)
        start = [guess[at + k] for k in range(n)]
        for j, k in enumerate(free):
            start[k] = e[first + j]
        half = half_on_platform(own, leg, platform)
        moving = [(ed[first + j], wd[6 + first + j]) for j in range(len(free))]
        closed = close_at(b, own, leg, plan, half, start, moving)
        T, columns = transfer(half.p - platform.p), slice(6 + first, 6 + first + len(free))
        J, G = ca.SX.zeros(n, 6 + count), ca.SX.zeros(len(plan.leftover), 6 + count)
        J[:, :6], J[:, columns] = ca.mtimes(closed.jacobian, T), closed.free_jacobian
        G[:, :6], G[:, columns] = ca.mtimes(closed.constraint, T), closed.free_constraint
        h = h + ca.mtimes(J.T, elastic_tree_forces(b, own, leg, robot.beams.get(leg.name, ()), closed, gravity))
        own_drives = [k for k, index in enumerate(leg.moving) if leg.links[index].actuated]
        actuators.append(J[own_drives, :])
        driven += [(closed.qd[k], closed.qdd[k]) for k in own_drives]
        rows.append(G)
        residuals.append(closed.leftover[2])
        joints += closed.q
        at, first = at + n, first + len(free)
    return _reduced(robot, wd, h, ca.vertcat(*actuators), ca.vertcat(*rows), ca.vertcat(*residuals), driven, joints)


def _platform(b: Program, wd: Any) -> FrameMotion:
    return FrameMotion(
        p=Vec(b.input("position", (3,), unit="m", doc="platform frame origin, world"), "W"),
        R=Rot(b.input("rotation", (3, 3), doc="world-from-platform"), "W", "P"),
        v=Vec(b.input("velocity", (3,), unit="m/s", doc="of the platform frame origin, world"), "W"),
        w=Vec(b.input("angular_velocity", (3,), unit="rad/s", doc="of the platform, world"), "W"),
        a=Vec(wd[:3], "W"),
        alpha=Vec(wd[3:6], "W"),
    )


def _reduced(
    robot: Robot, wd: Any, h: Any, J_a: Any, G: Any, r: Any, driven: list[tuple[Any, Any]], joints: list[Any]
) -> ElasticEquation:
    """Project on the independent coordinates."""
    size, kept = wd.numel(), list(robot.plan.constraints)
    free, bound = list(independent(robot)), list(robot.plan.platform_dependents)
    rest = ca.SX.zeros(size)
    M = ca.substitute(ca.jacobian(h, wd), wd, rest)
    c, r0, q0 = ca.substitute([h, r, ca.vertcat(*[qdd for _, qdd in driven])], [wd], [rest])
    N, beta = ca.SX.zeros(size, len(free)), ca.SX.zeros(size)
    for k, i in enumerate(free):
        N[i, k] = 1
    if bound:
        block, others = ca.densify(G[kept, bound]), ca.densify(ca.horzcat(G[kept, free], r0[kept]))
        X = -solve(block, others)
        for k, i in enumerate(bound):
            N[i, :], beta[i] = X[k, : len(free)], X[k, len(free)]
    return ElasticEquation(
        M=ca.mtimes(N.T, ca.mtimes(M, N)),
        c=ca.mtimes(N.T, c + ca.mtimes(M, beta)),
        A=ca.mtimes(J_a, N),
        gamma=q0 + ca.mtimes(J_a, beta),
        N=N,
        beta=beta,
        q=ca.vertcat(*joints),
        rates=ca.vertcat(*[qd for qd, _ in driven]),
    )
