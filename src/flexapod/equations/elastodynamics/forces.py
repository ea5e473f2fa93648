r"""Generalized forces of gravity, velocities and friction in independent coordinates u, and at the actuators.

.. math:: c = N^T(h + M_z\beta),\qquad g = c - c|_{\text{no gravity}},\qquad
          k = c - g - c|_{\text{at rest, no gravity}} - N^T D\dot z

Springs and dampers are no part of g and k.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.dissipation import elastic_matrices, rates_of
from flexapod.equations.elastodynamics.dynamics import projected_inverse_solution
from flexapod.equations.elastodynamics.link_assembly import link_equation_at, projected
from flexapod.equations.elastodynamics.program_state import ElasticState, RobotAt, read_state, robot_at
from flexapod.equations.platform_inputs import wrench_input
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.robot import Robot


def elastic_gravity_force(robot: Robot) -> Program:
    """The program: a closed state in; `gravity_force` (u,), the force needed against gravity, out.

    Checked by: tests/equations/test_loop_kinematics.py.
    """
    b = Program("gravity_force")
    values, size = Values(b), len(robot.elastic_plan.independent)
    p = projected(link_equation_at(RobotAt(b=b, values=values, robot=robot, state=read_state(b, robot))))
    force = p.c - weightless(values, p.c)
    b.output("gravity_force", force, shape=(size,), unit="N or N m", dims=("independent",))
    return b


def elastic_coriolis_force(robot: Robot) -> Program:
    """The program: a closed state in; `coriolis_force` (u,), the force needed by velocities at zero accelerations u'', out.

    Checked by: tests/equations/test_loop_kinematics.py.
    """
    b = Program("coriolis_force")
    values, size, state = Values(b), len(robot.elastic_plan.independent), read_state(b, robot)
    states = [RobotAt(b=b, values=values, robot=robot, state=s) for s in (state, at_rest(state))]
    p, rest = (projected(link_equation_at(at)) for at in states)
    _, D = elastic_matrices(values, robot, state)
    damping = ca.mtimes(p.N.T, ca.mtimes(D, rates_of(robot, state)))
    force = weightless(values, p.c - rest.c) - damping
    b.output("coriolis_force", force, shape=(size,), unit="N or N m", dims=("independent",))
    return b


def elastic_friction_force(robot: Robot) -> Program:
    """The program: inputs of `elastic_inverse_dynamics` with a load; `force` (actuators,), the part that friction takes, out.

    Source: Briot 2014 Eqs. (27), (43). Checked by: tests/equations/test_loop_kinematics.py.
    """
    b = Program("friction_force")
    n, wrench = len(robot.actuators), wrench_input(b)
    at = robot_at(b, robot)
    wanted = b.input("actuator_acceleration", (n,), unit="m/s^2 or rad/s^2")
    equations = [projected(link_equation_at(at, f, wrench)) for f in (True, False)]
    found = [projected_inverse_solution(robot, p, wanted)[0] for p in equations]
    b.output("force", found[0] - found[1], shape=(n,), unit="N or N m", dims=("actuator",))
    return b


def weightless(values: Values, expression: SX) -> SX:
    """An expression without gravity."""
    return ca.substitute(expression, values.vector("gravity", "W").expr, ca.SX.zeros(3))


def at_rest(state: ElasticState) -> ElasticState:
    """The state with all rates zero."""
    still = ca.SX.zeros(3)
    return replace(
        state, qd=[[ca.SX(0)] * len(leg) for leg in state.qd], ed=ca.SX.zeros(state.ed.numel()),
        v=None if state.v is None else still, w=None if state.w is None else still,
    )  # fmt: skip
