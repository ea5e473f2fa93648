r"""Potential energy of a robot with flexible legs: weight of all bodies, deformation of beams, modes and springs.

.. math:: U_g = -\sum g\cdot(m\,p + S),\qquad U_e = \sum V(e) + \tfrac12\sum k\,(q-q_0)^2
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.beam_energy import elastic_energy
from flexapod.equations.elastodynamics.elastic_tree import beam_models
from flexapod.equations.elastodynamics.joint_forces import spring_energy
from flexapod.equations.elastodynamics.point_forces import force_element_states
from flexapod.equations.elastodynamics.program_state import (
    RobotAt,
    TreeMotion,
    platform_modes,
    robot_at,
    tree_motion,
)
from flexapod.equations.elastodynamics.tree_inertia import beam_composite, rigid_composite
from flexapod.equations.flexible_platform.generalized_newton_euler import first_moments
from flexapod.equations.flexible_platform.stretching import platform_energy
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial import Vec, dot


def elastic_potential(robot: Robot) -> Program:
    """The program: a closed state in; `gravity_potential`, `elastic_potential` [J] out.

    Checked by: tests/analysis/test_flexible_legs.py.
    """
    b = Program("elastic_potential")
    at = robot_at(b, robot)
    weight, elastic = potentials(at, tree_motion(at.values, robot, at.state))
    b.output("gravity_potential", weight, shape=(), unit="J")
    b.output("elastic_potential", elastic, shape=(), unit="J")
    return b


def potentials(at: RobotAt, motion: TreeMotion) -> tuple[SX, SX]:
    """Energy of weight, and of beams, modes, springs and force elements [J]."""
    values, robot, state = at.values, at.robot, at.state
    gravity = values.vector("gravity", "W")
    weight, elastic = ca.SX(0), ca.SX(0)
    if robot.elastic_plan.carrier is None:
        body, frame, N = rigid_composite(values, "platform", motion.platform.R), motion.platform, platform_modes(robot)
        moment = body.S
        if N:
            own, shape = values.of("platform"), robot.flexible_shape[0]
            moment = moment + frame.R @ Vec(ca.mtimes(first_moments(own, shape), state.e), "P")
            elastic = elastic + platform_energy(own, shape, state.e)
        weight = weight - dot(gravity, frame.p * body.m + moment)
    for i, leg in enumerate(robot.legs):
        own, links = values.of(f"legs.{leg.name}"), motion.links[i]
        for k, link in enumerate(leg.links):
            if link.body is not None and link.body.flexible is None:
                body = rigid_composite(own, f"{link.coordinate}.body", links[k].R.renamed("W", "B"))
                weight = weight - dot(gravity, links[k].p * body.m + body.S)
            if link.spring:
                elastic = elastic + spring_energy(own, link, state.q[i][leg.moving.index(k)])
        for beam, R, model in beam_models(at.leg(i), links, gravity).values():
            body, e = beam_composite(R, model.M), ca.vertcat(*[state.q[i][leg.moving.index(k)] for k in beam.links])
            weight = weight - dot(gravity, links[beam.root].p * body.m + body.S)
            elastic = elastic + elastic_energy(own.of(beam.name), beam, e)
    for force in force_element_states(values, robot, motion):
        elastic = elastic + force.energy
    return weight, elastic
