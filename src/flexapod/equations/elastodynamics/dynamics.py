r"""Inverse and direct elastodynamic models (Briot 2014, step 4 of the algorithm).

Inverse: actuator accelerations given; with all actuators among the independent coordinates u = (q_a, e) the elastic
accelerations follow first, then the forces,

.. math:: M_{ee}\ddot e = -(M_{ea}\ddot q_a + c_e),\qquad \Gamma = M_{aa}\ddot q_a + M_{ae}\ddot e + c_a

else both from :math:`M\ddot u + c = A^T\Gamma`, :math:`A\ddot u + \gamma = \ddot q_a`. Direct: forces given.

Legs are described in link axes and solved with their closing rows, without forming M (`link_assembly`), which takes a half to a
sixth of the operations; long legs by articulated bodies (`articulated`). ``axes="projected"`` forms M and factorises it,
``axes="world"`` does so in world axes (`assembly`).
"""

from __future__ import annotations

from typing import Any, Literal

import casadi as ca

from flexapod.equations.elastodynamics.articulated_assembly import articulated_forward, articulated_inverse, is_long
from flexapod.equations.elastodynamics.assembly import ElasticEquation, elastic_equation
from flexapod.equations.elastodynamics.elastic_state import read_state
from flexapod.equations.elastodynamics.link_assembly import driven_rates, link_equation, projected, solved, solved_inverse
from flexapod.equations.values import Values
from flexapod.kernels.program import Program
from flexapod.robot.elastic_plan import driven_columns
from flexapod.robot.expanded_joints import SEAT_END
from flexapod.robot.robot import Robot
from flexapod.spatial.linear import solve_symmetric

Axes = Literal["auto", "links", "articulated", "projected", "world"]


def elastic_inverse_dynamics(robot: Robot, friction: bool = False, load: bool = False, axes: Axes = "auto") -> Program:
    """The program: `actuator_acceleration` in; `force`, `power` and accelerations of all coordinates out.

    Source: Briot 2014 Eq. (43). Checked by: tests/equations/test_elastodynamics.py.
    """
    b = Program("elastic_inverse_dynamics")
    n, load_wrench = len(robot.actuators), _wrench(b, load)
    way = solved_by(robot, axes)
    if way == "articulated" and is_direct(robot):
        state = read_state(b, robot)
        wanted = b.input("actuator_acceleration", (n,), unit="m/s^2 or rad/s^2")
        force, z = articulated_inverse(b, Values(b), robot, state, wanted, friction, load_wrench)
        rates = driven_rates(robot, state)
    elif way == "links" and is_direct(robot):
        link = link_equation(b, robot, friction, load_wrench)
        wanted = b.input("actuator_acceleration", (n,), unit="m/s^2 or rad/s^2")
        force, z = solved_inverse(link, wanted)
        rates = link.rates
    else:
        q = elastic_equation(b, robot, friction, load_wrench)
        wanted = b.input("actuator_acceleration", (n,), unit="m/s^2 or rad/s^2")
        force, u = inverse_solution(q, wanted)
        z, rates = ca.mtimes(q.N, u) + q.beta, q.rates
    b.output("force", force, shape=(n,), unit="N or N m", dims=("actuator",))
    b.output("power", force * rates, shape=(n,), unit="W", dims=("actuator",))
    accelerations(b, robot, z)
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
    if e:
        u[e] = solve_symmetric(q.M[e, e], -(ca.mtimes(q.M[e, a], wanted) + q.c[e]))
    return ca.mtimes(q.M[a, :], u) + q.c[a], u


def elastic_forward_dynamics(robot: Robot, friction: bool = False, load: bool = False, axes: Axes = "auto") -> Program:
    """The program: `force` in; accelerations of platform, elastic coordinates and actuators out.

    Source: Briot 2014 Eq. (44). Checked by: tests/equations/test_elastodynamics.py.
    """
    b = Program("elastic_forward_dynamics")
    n, load_wrench = len(robot.actuators), _wrench(b, load)
    way = solved_by(robot, axes)
    if way == "articulated":
        state = read_state(b, robot)
        force = b.input("force", (n,), unit="N or N m", doc="actuator forces")
        z = articulated_forward(b, Values(b), robot, state, force, friction, load_wrench)
    elif way == "links":
        link = link_equation(b, robot, friction, load_wrench)
        force = b.input("force", (n,), unit="N or N m", doc="actuator forces")
        z = solved(link, force)
    elif way == "projected":
        p = projected(link_equation(b, robot, friction, load_wrench))
        force = b.input("force", (n,), unit="N or N m", doc="actuator forces")
        z = ca.mtimes(p.N, solve_symmetric(p.M, ca.mtimes(p.N[driven_columns(robot), :].T, force) - p.c)) + p.beta
    else:
        q = elastic_equation(b, robot, friction, load_wrench)
        force = b.input("force", (n,), unit="N or N m", doc="actuator forces")
        z = ca.mtimes(q.N, solve_symmetric(q.M, ca.mtimes(q.A.T, force) - q.c)) + q.beta
    b.output("actuator_acceleration", z[driven_columns(robot)], shape=(n,), dims=("actuator",))
    accelerations(b, robot, z)
    return b


def elastic_mass_matrix(robot: Robot, friction: bool = False, load: bool = False, axes: Axes = "auto") -> Program:
    """The program: `mass_matrix`, `bias`, `actuator_map`, `actuator_bias` in independent coordinates.

    Checked by: tests/equations/test_elastodynamics.py.
    """
    b = Program("elastic_mass_matrix")
    size, n, load_wrench = len(robot.elastic_plan.independent), len(robot.actuators), _wrench(b, load)
    if axes == "world":
        q = elastic_equation(b, robot, friction, load_wrench)
        M, c, A, gamma = q.M, q.c, q.A, q.gamma
    else:
        p, driven = projected(link_equation(b, robot, friction, load_wrench)), driven_columns(robot)
        M, c, A, gamma = p.M, p.c, p.N[driven, :], p.beta[driven]
    b.output("mass_matrix", M, shape=(size, size), dims=("independent", "independent_"))
    b.output("bias", c, shape=(size,), dims=("independent",))
    if not is_direct(robot):
        b.output("actuator_map", A, shape=(n, size), dims=("actuator", "independent"))
        b.output("actuator_bias", gamma, shape=(n,), dims=("actuator",))
    return b


def solved_by(robot: Robot, axes: Axes) -> str:
    """The way that is taken: articulated bodies for long legs, mass matrix and elimination for short ones.

    A leg that begins on another leg's body has six coordinates without mass of their own there: elimination by legs would divide
    by what rounding leaves of their inertia, so that the equation is projected first.
    """
    if axes != "auto":
        return axes
    if any(closing.joint.endswith(SEAT_END) for leg in robot.legs for closing in leg.closings):
        return "projected"
    return "articulated" if is_long(robot) else "links"


def is_direct(robot: Robot) -> bool:
    """Every actuator is an independent coordinate."""
    return set(driven_columns(robot)) <= set(robot.elastic_plan.independent)


def _wrench(b: Program, load: bool) -> Any:
    if not load:
        return None
    return b.input("wrench", (6,), unit="N, N m", doc="external force and moment on the platform frame at its origin, world")


def accelerations(b: Program, robot: Robot, z: Any) -> None:
    """Outputs `independent_acceleration` (n,) and `coordinate_acceleration` (z,) of all coordinates."""
    free = list(robot.elastic_plan.independent)
    b.output("independent_acceleration", z[free], shape=(len(free),), dims=("independent",))
    b.output("coordinate_acceleration", z, shape=(z.numel(),), dims=("coordinate",))
