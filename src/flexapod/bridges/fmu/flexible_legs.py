r"""Robots with flexible legs as plants: states are the independent coordinates u and their rates.

.. math:: N^T\big(M_z(N\ddot u + \beta) + f\big) = 0,\qquad N = \begin{pmatrix}1\\X\end{pmatrix}

Kernels give the terms by all coordinates z: M_z, f (forces, actuators included), X and beta of the bound ones, and what is stiff.
Projection, solution and steps are loops in C (second_order.c, rk4.c), so that the sources do not grow with u^3. Memory holds
all coordinates, where Newton's method on the loops starts. Co-simulation takes the steps of `simulate`, implicit ones or RK4.
Explicit steps of rigid legs, whose independent coordinates are few, have a kernel that solves for the rates itself (`leg_rates`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.bridges.fmu.model_kernels import FMUVariable, Implicit, IndependentSystem, Plant, Stepping, vector
from flexapod.bridges.fmu.rigid import actuators, inputs, strokes, tape_for, union
from flexapod.errors import InputError
from flexapod.robot.elastic_plan import driven_columns
from flexapod.robot.floating_plan import FloatingPlan, floating_plan
from flexapod.robot.rod_plan import rod_plan
from flexapod.robot.rods import RodPlan
from flexapod.simulation.integrators.collocation import METHODS
from flexapod.simulation.stepper import step_setup
from flexapod.simulation.system.floating_rates import floating_rates
from flexapod.simulation.system.floating_rates import memory_start as floating_memory
from flexapod.simulation.system.independent import IndependentLayout, rotates_freely
from flexapod.simulation.system.leg_rates import leg_rates, memory_start
from flexapod.simulation.system.leg_terms import carried_places, leg_matrices, leg_terms
from flexapod.simulation.system.rod_rates import memory_start as rod_memory
from flexapod.simulation.system.rod_rates import rod_rates

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State
    from flexapod.kernels.tape.program import Program
    from flexapod.motions.motion import ActuatorMotion
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.setup import Setup


POSITION = {f"v{axis}": f"platform.{axis}" for axis in "xyz"}
"""Names of the platform's position among the states, where the actuators do not fix it."""


def leg_plant(
    robot: Robot,
    start: State | ActuatorMotion,
    *,
    wrench: bool,
    friction: bool | str,
    method: str,
    step: float,
    watch: bool,
    general: bool,
) -> Plant:
    """The plant of forward dynamics."""
    plan = robot.elastic_plan
    watched = ("stroke",) if watch else ()
    setup = step_setup(robot, start, step=step, method=method, wrench=wrench, friction=friction, watch=watched)
    layout = setup.layout
    assert isinstance(layout, IndependentLayout)
    if rotates_freely(robot):
        raise InputError(
            f"export_fmu: {robot.name} has components of the platform's angular velocity among its independent rates, which no "
            "coordinates belong to; export a quantity as a block, e.g. inverse_dynamics"
        )
    if method == "rk4" and not layout.elastic and layout.friction != "load":
        return _rigid_plant(robot, setup, step, general)
    terms, implicit = tape_for(layout, leg_terms(layout), general), None
    if method != "rk4":
        implicit = Implicit(matrices=tape_for(layout, leg_matrices(layout), general), method=METHODS[method])
    tapes = [terms] if implicit is None else [terms, implicit.matrices]
    n = len(plan.independent)
    state, y = ([float(setup.start[k]) for k in places] for places in carried_places(layout))
    return Plant(
        name=robot.name, about=f"forward dynamics of {robot.name}", inputs=inputs(setup), outputs=_outputs(robot),
        states=_states(robot, state), memory=y, rates=terms, step=step, **strokes(robot, layout.strokes),
        parameters=union(robot, tapes, setup.values), fixed=setup.values,
        second_order=IndependentSystem(columns=len(plan.columns), independent=plan.independent, bound=plan.bound,
                                 driven=driven_columns(robot), implicit=implicit),
        stepping=Stepping(lead=1, nodes=1, carried=[*state, *y, 0.0], code=2 * n + len(y),
                          state_places=range(2 * n), memory_place=2 * n),
    )  # fmt: skip


def _rigid_plant(robot: Robot, setup: Setup, step: float, general: bool) -> Plant:
    """The plant of rigid legs in steps of RK4: few coordinates, whose accelerations are solved for in the kernel."""
    layout = setup.layout
    assert isinstance(layout, IndependentLayout)
    n = len(robot.elastic_plan.independent)
    state, y = ([float(setup.start[k]) for k in places] for places in carried_places(layout))
    program, memory = _rates(layout, y, general)
    rates = tape_for(layout, program, general)
    return Plant(
        name=robot.name, about=f"forward dynamics of {robot.name}", inputs=inputs(setup), outputs=_outputs(robot),
        states=_states(robot, state), memory=memory, rates=rates, step=step, **strokes(robot, layout.strokes),
        parameters=union(robot, [rates], setup.values), fixed=setup.values,
        stepping=Stepping(lead=1, nodes=1, carried=[*state, *memory, 0.0], code=2 * n + len(memory),
                          state_places=range(2 * n), memory_place=2 * n),
    )  # fmt: skip


def _rates(layout: IndependentLayout, y: list[float], general: bool) -> tuple[Program, list[float]]:
    """Program of the rates and its memory at joints, position and rotation y: the shortest that the robot has."""
    robot = layout.robot
    if not general and isinstance(rods := rod_plan(robot), RodPlan):
        return rod_rates(layout, rods), rod_memory(robot, rods, y)
    if not general and isinstance(floating := floating_plan(robot), FloatingPlan):
        return floating_rates(layout, floating), floating_memory(robot, floating, y)
    return leg_rates(layout), memory_start(robot, y)


def _states(robot: Robot, start: list[float]) -> list[FMUVariable]:
    names = [POSITION.get(name, name) for name in robot.independent]
    n = len(names)
    return [
        *vector("coordinate", "", start[:n], "independent coordinate", names),
        *vector("coordinate_velocity", "", start[n:], "its rate", names),
    ]


def _outputs(robot: Robot) -> list[FMUVariable]:
    """Outputs of `leg_terms`, then the accelerations of the actuators."""
    none = np.zeros(3).tolist()
    return [
        *actuators(robot), *vector("position", "m", none, "platform frame origin, world"),
        *vector("rotation", "", [0.0] * 9, "world-from-platform", [a + b for a in "xyz" for b in "xyz"]),
        *vector("velocity", "m/s", none, "of the platform frame origin, world"),
        *vector("angular_velocity", "rad/s", none, "of the platform, world"),
        *[FMUVariable(name=f"actuator_acceleration.{a}", unit=f"{u}/s^2")
          for a, u in zip(robot.actuators, robot.actuator_units, strict=True)],
    ]  # fmt: skip
