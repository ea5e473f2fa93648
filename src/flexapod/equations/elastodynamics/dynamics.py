r"""Inverse and direct elastodynamic models (Briot 2014, step 4 of the algorithm).

Inverse: actuator accelerations given; with all actuators among the independent coordinates u = (q_a, e) the elastic
accelerations follow first, then the forces,

.. math:: M_{ee}\ddot e = -(M_{ea}\ddot q_a + c_e),\qquad \Gamma = M_{aa}\ddot q_a + M_{ae}\ddot e + c_a

else both from :math:`M\ddot u + c = A^T\Gamma`, :math:`A\ddot u + \gamma = \ddot q_a`. Direct: forces given.

Legs are described in link axes and solved with their closing rows, without forming M (`link_assembly`), which takes a half to a
sixth of the operations; long legs by articulated bodies (`articulated`). ``axes="projected"`` forms M and factorises it.
"""

from __future__ import annotations

from typing import Literal

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.elastodynamics.articulated_assembly import articulated_forward, articulated_inverse, prefers_articulated
from flexapod.equations.elastodynamics.link_assembly import (
    Projected,
    driven_rates,
    link_equation,
    projected,
    solved,
    solved_inverse,
)
from flexapod.equations.elastodynamics.massless import has_massless_motion
from flexapod.equations.elastodynamics.program_state import robot_at
from flexapod.equations.platform_inputs import wrench_input
from flexapod.kernels.tape.program import Program
from flexapod.robot.elastic_plan import driven_columns
from flexapod.robot.robot import Robot
from flexapod.spatial.linear import solve_symmetric

Axes = Literal["auto", "links", "articulated", "projected"]


def elastic_inverse_dynamics(robot: Robot, friction: bool = False, load: bool = False, axes: Axes = "auto") -> Program:
    """The program: `actuator_acceleration` in; `force`, `power` and accelerations of all coordinates out.

    Source: Briot 2014 Eq. (43). Checked by: tests/equations/test_elastodynamics.py.
    """
    b = Program("elastic_inverse_dynamics")
    n, load_wrench = len(robot.actuators), _wrench(b, load)
    way = solved_by(robot, axes)
    if way == "articulated" and is_direct(robot):
        at = robot_at(b, robot)
        wanted = b.input("actuator_acceleration", (n,), unit="m/s^2 or rad/s^2")
        force, z = articulated_inverse(at, wanted, friction, load_wrench)
        rates = driven_rates(robot, at.state)
    elif way == "links" and is_direct(robot):
        link = link_equation(b, robot, friction, load_wrench)
        wanted = b.input("actuator_acceleration", (n,), unit="m/s^2 or rad/s^2")
        force, z = solved_inverse(link, wanted)
        rates = link.rates
    else:
        link = link_equation(b, robot, friction, load_wrench)
        wanted = b.input("actuator_acceleration", (n,), unit="m/s^2 or rad/s^2")
        p = projected(link)
        force, u = projected_inverse_solution(robot, p, wanted)
        z, rates = ca.mtimes(p.N, u) + p.beta, link.rates
    b.output("force", force, shape=(n,), unit="N or N m", dims=("actuator",))
    b.output("power", force * rates, shape=(n,), unit="W", dims=("actuator",))
    accelerations(b, robot, z)
    return b


def projected_inverse_solution(robot: Robot, q: Projected, wanted: SX) -> tuple[SX, SX]:
    """Actuator forces and u'' for wanted actuator accelerations."""
    size, n, driven = q.M.shape[0], wanted.numel(), driven_columns(robot)
    if not is_direct(robot):
        A, gamma = q.N[driven, :], q.beta[driven]
        solved = solve_symmetric(q.M, ca.horzcat(A.T, q.c))
        force = solve_symmetric(ca.mtimes(A, solved[:, :n]), wanted - gamma + ca.mtimes(A, solved[:, n]))
        return force, ca.mtimes(solved[:, :n], force) - solved[:, n]
    a = [robot.elastic_plan.independent.index(k) for k in driven]
    e = [k for k in range(size) if k not in a]
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
        at = robot_at(b, robot)
        force = b.input("force", (n,), unit="N or N m", doc="actuator forces")
        z = articulated_forward(at, force, friction, load_wrench)
    elif way == "links":
        link = link_equation(b, robot, friction, load_wrench)
        force = b.input("force", (n,), unit="N or N m", doc="actuator forces")
        z = solved(link, force)
    else:
        p = projected(link_equation(b, robot, friction, load_wrench))
        force = b.input("force", (n,), unit="N or N m", doc="actuator forces")
        z = ca.mtimes(p.N, solve_symmetric(p.M, ca.mtimes(p.N[driven_columns(robot), :].T, force) - p.c)) + p.beta
    b.output("actuator_acceleration", z[driven_columns(robot)], shape=(n,), dims=("actuator",))
    accelerations(b, robot, z)
    return b


def elastic_mass_matrix(robot: Robot, friction: bool = False, load: bool = False) -> Program:
    """The program: `mass_matrix`, `bias`, `actuator_map`, `actuator_bias` in independent coordinates.

    Checked by: tests/equations/test_elastodynamics.py.
    """
    b = Program("elastic_mass_matrix")
    size, n, load_wrench = len(robot.elastic_plan.independent), len(robot.actuators), _wrench(b, load)
    p, driven = projected(link_equation(b, robot, friction, load_wrench)), driven_columns(robot)
    b.output("mass_matrix", p.M, shape=(size, size), dims=("independent", "independent_"))
    b.output("bias", p.c, shape=(size,), dims=("independent",))
    if not is_direct(robot):
        b.output("actuator_map", p.N[driven, :], shape=(n, size), dims=("actuator", "independent"))
        b.output("actuator_bias", p.beta[driven], shape=(n,), dims=("actuator",))
    return b


def solved_by(robot: Robot, axes: Axes) -> str:
    """The method of solution: articulated bodies for long legs, mass matrix and elimination for short ones; the projected
    equation where legs move without mass, which both would divide by."""
    if axes != "auto":
        return axes
    if has_massless_motion(robot):
        return "projected"
    return "articulated" if prefers_articulated(robot) else "links"


def is_direct(robot: Robot) -> bool:
    """Every actuator is an independent coordinate."""
    return set(driven_columns(robot)) <= set(robot.elastic_plan.independent)


def _wrench(b: Program, load: bool) -> SX | None:
    if not load:
        return None
    return wrench_input(b)


def accelerations(b: Program, robot: Robot, z: SX) -> None:
    """Outputs `independent_acceleration` (n,) and `coordinate_acceleration` (z,) of all coordinates."""
    free = list(robot.elastic_plan.independent)
    b.output("independent_acceleration", z[free], shape=(len(free),), dims=("independent",))
    b.output("coordinate_acceleration", z, shape=(z.numel(),), dims=("coordinate",))
