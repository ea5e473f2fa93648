r"""Dissipation in the joints and beams of flexible legs, and the matrices that a stiff integrator needs.

.. math:: P = \dot e^T D\dot e + d\,\dot q^2 + f(\dot q)\,\dot q,\qquad
          K = N^T K_z N,\qquad D = N^T\left(D_z + \frac{\partial f}{\partial\dot z}\right)N
"""

from __future__ import annotations

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.beam_energy import elastic_slope
from flexapod.equations.elastodynamics.joint_forces import Friction, joint_forces, spring_slope
from flexapod.equations.elastodynamics.point_forces import force_element_states
from flexapod.equations.elastodynamics.program_state import ElasticState, TreeMotion, platform_modes, read_state, tree_motion
from flexapod.equations.flexible_platform.generalized_newton_euler import symmetric_matrix
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot


def elastic_matrices(values: Values, robot: Robot, state: ElasticState) -> tuple[SX, SX]:
    """K and D (z, z) of beams, joint springs and the platform's modes; K of beams is the slope of their forces at the state."""
    plan = robot.elastic_plan
    size = len(plan.columns)
    K, D = ca.SX(size, size), ca.SX(size, size)
    N = platform_modes(robot)
    if N:
        at, shape = size - len(robot.coordinates) - N, robot.flexible_shape[0]
        for matrix, name in ((K, "K"), (D, "D")):
            matrix[at : at + N, at : at + N] = symmetric_matrix(values.of("platform"), f"flex.{name}", N, shape.normal)
    for i, leg in enumerate(robot.legs):
        own, column = values.of(f"legs.{leg.name}"), {k: plan.first[i] + j for j, k in enumerate(leg.moving)}
        for beam in robot.beams.get(leg.name, ()):
            places = [column[k] for k in beam.links]
            e = ca.vertcat(*[state.q[i][leg.moving.index(k)] for k in beam.links])
            K[places, places] = elastic_slope(own.of(beam.name), beam, e)
            D[places, places] = symmetric_matrix(own.of(beam.name), "flex.D", beam.shape.modes, beam.shape.normal)
        for k, place in column.items():
            if leg.links[k].spring:
                K[place, place] = spring_slope(own, leg.links[k], state.q[i][leg.moving.index(k)])
                D[place, place] = own.scalar(f"{leg.links[k].coordinate}.damping")
    for force in force_element_states(values, robot, tree_motion(values, robot, state)) if robot.forces else []:
        K, D = (
            matrix + rate * ca.mtimes(force.slope, force.slope.T) for matrix, rate in ((K, force.stiffness), (D, force.damping))
        )
    return K, D


def elastic_constants(robot: Robot) -> Program:
    """The program: a closed state in; `stiffness`, `damping` (z, z) out, see `elastic_matrices`."""
    b = Program("elastic_constants")
    K, D = elastic_matrices(Values(b), robot, read_state(b, robot))
    for name, matrix in (("stiffness", K), ("damping", D)):
        b.output(name, ca.densify(matrix), shape=matrix.shape, dims=("coordinate", "coordinate_"))
    return b


def rates_of(robot: Robot, state: ElasticState) -> SX:
    """Rates (z,) of all coordinates."""
    joints = [rate for leg in state.qd for rate in leg]
    head = [x for x in (state.v, state.w) if x is not None]
    return ca.vertcat(*head, state.ed, *joints)


def dissipated_power(values: Values, robot: Robot, state: ElasticState, friction: Friction) -> SX:
    """Power [W] that friction and damping dissipate at a state.

    Checked by: tests/simulation/test_leg_simulation.py.
    """
    rates = rates_of(robot, state)
    _, D = elastic_matrices(values, robot, state)
    power = ca.dot(rates, ca.mtimes(D, rates))
    if not friction:
        return power
    motion = tree_motion(values, robot, state)
    sliding = joint_forces(values, robot, state, motion, friction) - joint_forces(values, robot, state, motion, False)
    return power + ca.dot(rates, sliding)


def stiff_matrices(values: Values, robot: Robot, state: ElasticState, friction: Friction) -> tuple[SX, SX]:
    """K and D (z, z); D with the slope of friction at the state."""
    K, D = elastic_matrices(values, robot, state)
    return K, D + _slope(values, robot, state, friction) if friction else D


def tangent_matrices(
    values: Values, robot: Robot, state: ElasticState, motion: TreeMotion, X: SX, friction: Friction
) -> tuple[SX, SX]:
    """K and D (u, u) in independent coordinates; D with the slope of friction at the state.

    Args:
        motion: of the frames at the state (joint axes).
        X: (b, u) bound rates per independent rate.
    """
    plan = robot.elastic_plan
    K, D = stiff_matrices(values, robot, state, friction)
    N = ca.SX(len(plan.columns), len(plan.independent))
    N[list(plan.independent), :] = ca.SX.eye(len(plan.independent))
    N[list(plan.bound), :] = X
    return ca.mtimes(N.T, ca.mtimes(K, N)), ca.mtimes(N.T, ca.mtimes(D, N))


def elastic_sliding(robot: Robot, friction: Friction) -> Program:
    """The program: a closed state in; `friction` (z,) against the motion and `slope` (z, z), its derivative by rates, out."""
    b = Program("elastic_sliding")
    values, state = Values(b), read_state(b, robot)
    motion, size = tree_motion(values, robot, state), len(robot.elastic_plan.columns)
    force = joint_forces(values, robot, state, motion, friction) - joint_forces(values, robot, state, motion, False)
    b.output("friction", force, shape=(size,), dims=("coordinate",))
    b.output("slope", ca.densify(_slope(values, robot, state, friction)), shape=(size, size), dims=("coordinate", "coordinate_"))
    return b


def _slope(values: Values, robot: Robot, state: ElasticState, friction: Friction) -> SX:
    """Derivative (z, z) of the friction forces by all rates: its law differentiated where it depends on rates."""
    size = len(robot.elastic_plan.columns)
    rates = ca.SX.sym("rates", size)
    at = size - len(robot.coordinates)
    legs, first = [], at
    for leg in robot.legs:
        legs.append([rates[first + k] for k in range(len(leg.moving))])
        first += len(leg.moving)
    own = robot.elastic_plan.carrier is None
    free = ElasticState(
        q=state.q, qd=legs, p=state.p, R=state.R, v=rates[:3] if own else None, w=rates[3:6] if own else None,
        e=state.e, ed=rates[at - platform_modes(robot) : at],
    )  # fmt: skip
    moving = tree_motion(values, robot, free)
    forces = joint_forces(values, robot, free, moving, friction) - joint_forces(values, robot, free, moving, False)
    return ca.substitute(ca.jacobian(forces, rates), rates, rates_of(robot, state))
