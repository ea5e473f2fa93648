r"""Robots with flexible legs as plants: states are the independent coordinates u and their rates.

.. math:: N^T(M N\ddot u + M\beta + h) = \Gamma

Memory holds all coordinates, where Newton's method on the loops starts. Co-simulation takes the implicit steps of `simulate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexapod.bridges.fmu.plant import Plant, Stepping, Variable, vector
from flexapod.bridges.fmu.rigid import actuators, forces, union
from flexapod.equations.elastodynamics.closing import LIMIT, NEWTON_STEP, at_coordinates, moved, newton_step
from flexapod.equations.elastodynamics.elastic_state import platform_modes, tree_motion
from flexapod.equations.elastodynamics.link_assembly import link_equation_at
from flexapod.equations.elastodynamics.loops import loop_rows, solve_loops
from flexapod.equations.elastodynamics.projection import projected_mass
from flexapod.equations.values import Values
from flexapod.errors import InputError
from flexapod.kernels.program import Program
from flexapod.kernels.tape import make_tape
from flexapod.robot.elastic_plan import driven_columns
from flexapod.simulation.attitude import normalised
from flexapod.simulation.leg_run import LegLayout, carried_start, check_size, felt_forces, leg_run, spread
from flexapod.spatial.linear import solve_symmetric

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


def leg_rates(layout: LegLayout) -> Program:
    """The program of the rates; see `flexapod.bridges.fmu.plant`.

    Checked by: tests/bridges/test_fmu_catalogue.py.
    """
    root, robot = Program("rates"), layout.robot
    plan, values = robot.elastic_plan, Values(root)
    n, count = len(plan.independent), layout.sizes["y"]
    x = root.input("state", (2 * n,))
    memory = root.input("memory", (count,))
    force = root.input("signals", (len(robot.actuators),))
    u, ud = x[:n], x[n:]
    start, modes = placed(robot, memory, u)

    def iteration(_: Any, y: Any, e: Any) -> tuple[list[Any], Any]:
        return newton_step(values, robot, y, e)

    y = start
    if plan.bound:
        (y,), converged, _ = root.iterate(iteration, start=[start], shared=[modes], limit=LIMIT, tolerance=NEWTON_STEP)
        root.fail_if(1 - converged, "the loops cannot be closed from here: out of reach or singular")
        rows, _, residual = loop_rows(values, robot, tree_motion(values, robot, at_coordinates(robot, y, modes)))
        y = moved(robot, y, solve_loops(plan, rows, residual)[1], plan.bound)
    rows, drifts, _ = loop_rows(values, robot, tree_motion(values, robot, at_coordinates(robot, y, modes)))
    X, _ = solve_loops(plan, rows, drifts)
    state = at_coordinates(robot, y, modes, *spread(robot, X, ud))
    q = link_equation_at(root, values, robot, state, layout.sliding)
    X, beta = solve_loops(plan, q.A, q.gamma)
    M = projected_mass(q.M, X, plan.independent, plan.bound)
    given = ca.SX.zeros(n)
    given[layout.driven] = force
    u2 = solve_symmetric(M, given - felt_forces(robot, q, X, beta, ca.SX.zeros(n)))
    root.output("derivative", ca.vertcat(ud, u2))
    frame = tree_motion(values, robot, state).platform
    driven = layout.driven
    twist = [part.expr for part in (frame.v, frame.w)]
    root.output("result", ca.vertcat(u[driven], ud[driven], frame.p.expr, ca.vec(frame.R.expr.T), *twist, u2[driven]))
    root.output("closed", y)
    root.output("settled", x)
    return root


def placed(robot: Robot, memory: Any, u: Any) -> tuple[Any, Any]:
    """All coordinates with the independent ones as given, the others as remembered, and the modes."""
    plan, count, N = robot.elastic_plan, len(robot.coordinates), platform_modes(robot)
    at = len(plan.columns) - count
    parts, modes = [memory[k] for k in range(memory.numel())], [ca.SX(0)] * N
    for k, column in enumerate(plan.independent):
        if column >= at:
            parts[column - at] = u[k]
        else:
            modes[column - (at - N)] = u[k]
    if plan.carrier is None:  # columns of the rotation stay orthogonal whatever an importer did to the memory
        first = normalised(ca.vertcat(*parts[count + 3 : count + 6]))
        second = ca.vertcat(*parts[count + 6 : count + 9])
        second = normalised(second - ca.dot(first, second) * first)
        parts[count + 3 :] = ca.vertsplit(ca.vertcat(first, second, ca.cross(first, second)))
    return ca.vertcat(*parts), ca.vertcat(*modes) if modes else ca.SX.zeros(0)


def leg_plant(robot: Robot, start: Any, *, friction: bool, method: str, step: float, general: bool) -> Plant:
    """The plant of forward dynamics."""
    plan = robot.elastic_plan
    check_size(robot)
    _check(robot)
    layout = LegLayout(robot=robot, drive="force", friction=friction, method=method)
    zeros = set() if general else robot.zeros

    def tape(program: Program) -> Any:
        return make_tape(program, zeros & {p.name for p in program.signature.parameters})

    rates, run = tape(leg_rates(layout)), tape(leg_run(layout, rows=1))
    carried = carried_start(layout, start)
    y, modes, n = layout.sizes["y"], layout.sizes["modes"], len(plan.independent)
    at = len(plan.columns) - len(robot.coordinates)
    places = [c - at if c >= at else y + c - (at - modes) for c in plan.independent]
    places += [y + modes + k for k in range(n)]
    return Plant(
        name=robot.name, about=f"forward dynamics of {robot.name}", inputs=forces(robot), outputs=_results(robot),
        states=_states(robot, [carried[k] for k in places]), margins=[], leaving=[], memory=carried[:y].tolist(), rates=rates,
        step=step, parameters=union([rates, run], robot.values),
        stepping=Stepping(
            tape=run, lead=1, nodes=layout.nodes, carried=carried.tolist(), code=layout.size - 1, state_places=places,
            memory_places=list(range(y)),
        ),
    )  # fmt: skip


def _check(robot: Robot) -> None:
    plan = robot.elastic_plan
    pose = 6 if plan.carrier is None else 0
    loose = [c for c in plan.independent if c < pose]
    if loose or not set(driven_columns(robot)) <= set(plan.independent):
        raise InputError(
            f"export_fmu: {robot.name} has components of the platform's motion among its independent coordinates, "
            "which are no states of an FMU; export a quantity as a block, e.g. inverse_dynamics"
        )


def _states(robot: Robot, start: list[float]) -> list[Variable]:
    names = list(robot.independent)
    n = len(names)
    return [
        *vector("coordinate", "", start[:n], "independent coordinate", names),
        *vector("coordinate_velocity", "", start[n:], "its rate", names),
    ]


def _results(robot: Robot) -> list[Variable]:
    none = np.zeros(3).tolist()
    return [
        *actuators(robot), *vector("position", "m", none, "platform frame origin, world"),
        *vector("rotation", "", [0.0] * 9, "world-from-platform", [a + b for a in "xyz" for b in "xyz"]),
        *vector("velocity", "m/s", none, "of the platform frame origin, world"),
        *vector("angular_velocity", "rad/s", none, "of the platform, world"),
        *[Variable(name=f"actuator_acceleration.{a}", unit=f"{u}/s^2")
          for a, u in zip(robot.actuators, robot.actuator_units, strict=True)],
    ]  # fmt: skip


def home_motion(robot: Robot) -> Any:
    """The actuators at home, at rest."""
    from flexapod.motions.motion import ActuatorMotion

    q = np.tile(home_actuators(robot), (2, 1))
    return ActuatorMotion(time=np.arange(2.0), position=q, velocity=np.zeros_like(q), acceleration=np.zeros_like(q))


def home_actuators(robot: Robot) -> Any:
    """Actuator coordinates at home (actuators,)."""
    found = [q for leg in robot.legs for index, q in zip(leg.moving, leg.home, strict=True) if leg.links[index].actuated]
    return np.array(found)
