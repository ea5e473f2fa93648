r"""Inverse and direct elastodynamic models (Briot 2014, step 4 of the algorithm).

Inverse: actuator accelerations given; with all actuators among the independent coordinates u = (q_a, e) the elastic
accelerations follow first, then the forces,

.. math:: M_{ee}\ddot e = -(M_{ea}\ddot q_a + c_e),\qquad \Gamma = M_{aa}\ddot q_a + M_{ae}\ddot e + c_a

else both from :math:`M\ddot u + c = A^T\Gamma`, :math:`A\ddot u + \gamma = \ddot q_a`. Direct: forces given.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from flexapod.equations.elastodynamics.assembly import ElasticEquation, elastic_equation
from flexapod.kernels.program import Program
from flexapod.robot.robot import Robot
from flexapod.spatial.linear import solve_symmetric


def elastic_inverse_dynamics(robot: Robot, friction: bool = False, load: bool = False) -> Program:
    """The program: `actuator_acceleration` in; `force`, `power` and accelerations of all coordinates out.

    Source: Briot 2014 Eq. (43). Checked by: tests/equations/test_elastodynamics.py.
    """
    b = Program("elastic_inverse_dynamics")
    q, n = elastic_equation(b, robot, friction, _wrench(b, load)), len(robot.actuators)
    wanted = b.input("actuator_acceleration", (n,), unit="m/s^2 or rad/s^2")
    force, u = inverse_solution(q, wanted)
    b.output("force", force, shape=(n,), unit="N or N m", dims=("actuator",))
    b.output("power", force * q.rates, shape=(n,), unit="W", dims=("actuator",))
    accelerations(b, robot, q, u)
    return b


def inverse_solution(q: ElasticEquation, wanted: Any) -> tuple[Any, Any]:
    """Actuator forces and u'' for wanted actuator accelerations."""
    size, n = q.M.shape[0], wanted.numel()
    if q.direct is None:
        solved = solve_symmetric(q.M, ca.horzcat(q.A.T, q.c))
        force = solve_symmetric(ca.mtimes(q.A, solved[:, :n]), wanted - q.gamma + ca.mtimes(q.A, solved[:, n]))
        return force, ca.mtimes(solved[:, :n], force) - solved[:, n]
    a, e = list(q.direct), [k for k in range(size) if k not in q.direct]
    u = ca.SX.zeros(size)
    u[a] = wanted
    u[e] = solve_symmetric(q.M[e, e], -(ca.mtimes(q.M[e, a], wanted) + q.c[e]))
    return ca.mtimes(q.M[a, :], u) + q.c[a], u


def elastic_forward_dynamics(robot: Robot, friction: bool = False, load: bool = False) -> Program:
    """The program: `force` in; accelerations of platform, elastic coordinates and actuators out.

    Source: Briot 2014 Eq. (44). Checked by: tests/equations/test_elastodynamics.py.
    """
    b = Program("elastic_forward_dynamics")
    q, n = elastic_equation(b, robot, friction, _wrench(b, load)), len(robot.actuators)
    force = b.input("force", (n,), unit="N or N m", doc="actuator forces")
    u = solve_symmetric(q.M, ca.mtimes(q.A.T, force) - q.c)
    b.output("actuator_acceleration", ca.mtimes(q.A, u) + q.gamma, shape=(n,), dims=("actuator",))
    accelerations(b, robot, q, u)
    return b


def elastic_mass_matrix(robot: Robot, friction: bool = False, load: bool = False) -> Program:
    """The program: `mass_matrix`, `bias`, `actuator_map`, `actuator_bias` in independent coordinates."""
    b = Program("elastic_mass_matrix")
    q = elastic_equation(b, robot, friction, _wrench(b, load))
    size, n = q.M.shape[0], len(robot.actuators)
    b.output("mass_matrix", q.M, shape=(size, size), dims=("independent", "independent_"))
    b.output("bias", q.c, shape=(size,), dims=("independent",))
    if q.direct is None:
        b.output("actuator_map", q.A, shape=(n, size), dims=("actuator", "independent"))
        b.output("actuator_bias", q.gamma, shape=(n,), dims=("actuator",))
    return b


def _wrench(b: Program, load: bool) -> Any:
    if not load:
        return None
    return b.input("wrench", (6,), unit="N, N m", doc="external force and moment on the platform frame at its origin, world")


def accelerations(b: Program, robot: Robot, q: ElasticEquation, u: Any) -> None:
    """Outputs `independent_acceleration` (n,) and `coordinate_acceleration` (z,) of all coordinates."""
    z = ca.mtimes(q.N, u) + q.beta
    b.output("independent_acceleration", u, shape=(u.numel(),), dims=("independent",))
    b.output("coordinate_acceleration", z, shape=(z.numel(),), dims=("coordinate",))
