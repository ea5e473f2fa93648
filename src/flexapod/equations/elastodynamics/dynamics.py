r"""Inverse and direct elastodynamic models (Briot 2014, step 4 of the algorithm).

Inverse: actuator accelerations given; forces and elastic accelerations found from

.. math:: M\dot u + c = A^T\tau,\qquad A\dot u + \gamma = \ddot q_a\quad\Rightarrow\quad
          (A M^{-1} A^T)\,\tau = \ddot q_a - \gamma + A M^{-1} c

Direct: forces given, all accelerations found.
"""

from __future__ import annotations

import casadi as ca

from flexapod.equations.elastodynamics.assembly import elastic_equation
from flexapod.kernels.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial.linear import solve_symmetric


def elastic_inverse_dynamics(robot: Robot) -> Program:
    """The program: `actuator_acceleration` in; `force`, `power`, `elastic_acceleration` and platform accelerations out.

    Checked by: tests/equations/test_elastodynamics.py.
    """
    b = Program("elastic_inverse_dynamics")
    q, n = elastic_equation(b, robot), len(robot.actuators)
    wanted = b.input("actuator_acceleration", (n,), unit="m/s^2 or rad/s^2")
    solved = solve_symmetric(q.M, ca.horzcat(q.A.T, q.c))
    force = solve_symmetric(ca.mtimes(q.A, solved[:, :n]), wanted - q.gamma + ca.mtimes(q.A, solved[:, n]))
    x = ca.mtimes(q.N, ca.mtimes(solved[:, :n], force) - solved[:, n]) + q.beta
    b.output("force", force, shape=(n,), unit="N or N m", dims=("actuator",))
    b.output("power", force * q.rates, shape=(n,), unit="W", dims=("actuator",))
    _accelerations(b, x)
    return b


def elastic_forward_dynamics(robot: Robot) -> Program:
    """The program: `force` in; accelerations of platform, elastic coordinates and actuators out.

    Checked by: tests/equations/test_elastodynamics.py.
    """
    b = Program("elastic_forward_dynamics")
    q, n = elastic_equation(b, robot), len(robot.actuators)
    force = b.input("force", (n,), unit="N or N m", doc="actuator forces")
    u = solve_symmetric(q.M, ca.mtimes(q.A.T, force) - q.c)
    _accelerations(b, ca.mtimes(q.N, u) + q.beta)
    b.output("actuator_acceleration", ca.mtimes(q.A, u) + q.gamma, shape=(n,), dims=("actuator",))
    return b


def elastic_mass_matrix(robot: Robot) -> Program:
    """The program: `mass_matrix`, `bias`, `actuator_map`, `actuator_bias`, basis `N` in independent coordinates."""
    b = Program("elastic_mass_matrix")
    q = elastic_equation(b, robot)
    size, n = q.M.shape[0], len(robot.actuators)
    b.output("mass_matrix", q.M, shape=(size, size), dims=("independent", "independent_"))
    b.output("bias", q.c, shape=(size,), dims=("independent",))
    b.output("actuator_map", q.A, shape=(n, size), dims=("actuator", "independent"))
    b.output("actuator_bias", q.gamma, shape=(n,), dims=("actuator",))
    b.output("N", q.N, shape=q.N.shape, dims=("coordinate", "independent"))
    b.output("joint_position", q.q, shape=(len(robot.coordinates),), dims=("joint",))
    return b


def _accelerations(b: Program, x: ca.SX) -> None:
    b.output("acceleration", x[:3], shape=(3,), unit="m/s^2", dims=("axis",))
    b.output("angular_acceleration", x[3:6], shape=(3,), unit="rad/s^2", dims=("axis",))
    b.output("elastic_acceleration", x[6:], shape=(x.numel() - 6,), dims=("elastic_coordinate",))
