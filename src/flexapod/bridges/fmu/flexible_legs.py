r"""Robots with flexible legs as plants: states are the independent coordinates u and their rates.

.. math:: N^T\big(M_z(N\ddot u + \beta) + f\big) = 0,\qquad N = \begin{pmatrix}1\\X\end{pmatrix}

Kernels give the terms by all coordinates z: M_z, f (forces, actuators included), X and beta of the bound ones, and what is stiff.
Projection, solution and the implicit step are loops in C (second_order.c), so that the sources do not grow with u^3. Memory holds
all coordinates, where Newton's method on the loops starts. Co-simulation takes the implicit steps of `simulate`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexapod.bridges.fmu.plant import Plant, SecondOrder, Stepping, Variable, vector
from flexapod.bridges.fmu.rigid import actuators, inputs, margin_output, strokes, tape_for, union
from flexapod.equations.elastodynamics.closing import LIMIT, NEWTON_STEP, at_coordinates, moved, newton_step
from flexapod.equations.elastodynamics.dissipation import stiff_matrices
from flexapod.equations.elastodynamics.elastic_state import platform_modes, tree_motion
from flexapod.equations.elastodynamics.link_assembly import link_equation_at
from flexapod.equations.elastodynamics.loops import loop_rows, solve_loops
from flexapod.equations.values import Values
from flexapod.errors import InputError
from flexapod.kernels.program import Program
from flexapod.robot.elastic_plan import driven_columns
from flexapod.simulation.attitude import normalised
from flexapod.simulation.collocation import METHODS
from flexapod.simulation.independent import IndependentLayout, Loops, loops_at, observed_moment
from flexapod.simulation.stepper import step_setup

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True)
class _Given:
    """State and memory as a program reads them: coordinates y with the independent ones in place, modes, rates u'."""

    x: Any
    y: Any
    modes: Any
    rates: Any


def _given(root: Program, robot: Robot) -> _Given:
    n, pose = len(robot.elastic_plan.independent), 12 if robot.elastic_plan.carrier is None else 0
    x = root.input("state", (2 * n,))
    memory = root.input("memory", (len(robot.coordinates) + pose,))
    return _Given(x=x, rates=x[n:], **dict(zip(("y", "modes"), placed(robot, memory, x[:n]), strict=True)))


def leg_terms(layout: IndependentLayout) -> Program:
    """The program of the terms; see `flexapod.bridges.fmu.plant.SecondOrder`.

    Checked by: tests/bridges/test_fmu_catalogue.py.
    """
    root, robot = Program("terms"), layout.robot
    plan, values = robot.elastic_plan, Values(root)
    given = _given(root, robot)
    signals = layout.at_node(root.input("signals", (layout.width,)))
    now = loops_at(values, robot, _closed(root, values, robot, given.y, given.modes), given.modes, given.rates)
    q = link_equation_at(root, values, robot, now.state, layout.sliding, signals.get("wrench"))
    X, beta = solve_loops(plan, q.A, q.gamma)
    force = ca.SX(q.h)
    for k, column in enumerate(driven_columns(robot)):
        force[column] = force[column] - signals["force"][k]
    size = len(plan.columns)
    root.output("mass", ca.densify(q.M), shape=(size, size))
    root.output("forces", ca.densify(force), shape=(size,))
    if plan.bound:
        root.output("slope", ca.densify(X), shape=X.shape)
        root.output("drift", ca.densify(beta), shape=(len(plan.bound),))
    _results(root, layout, now)
    root.output("settled", given.x)
    return root


def _closed(root: Program, values: Values, robot: Robot, start: Any, modes: Any) -> Any:
    """All coordinates with the loops closed from a start."""
    plan = robot.elastic_plan
    if not plan.bound:
        return start

    def iteration(_: Any, y: Any, e: Any) -> tuple[list[Any], Any]:
        return newton_step(values, robot, y, e)

    (y,), converged, _ = root.iterate(iteration, start=[start], shared=[modes], limit=LIMIT, tolerance=NEWTON_STEP)
    root.fail_if(1 - converged, "the loops cannot be closed from here: out of reach or singular")
    rows, _, residual = loop_rows(values, robot, tree_motion(values, robot, at_coordinates(robot, y, modes)))
    return moved(robot, y, solve_loops(plan, rows, residual)[1], plan.bound)


def _results(root: Program, layout: IndependentLayout, now: Loops) -> None:
    moment, c = observed_moment(layout, now)
    root.output("result", ca.vertcat(c.q, c.qd, moment.p, ca.vec(moment.R.T), moment.v, moment.w))
    root.output("closed", now.y)
    margin_output(root, layout, c.q)


def leg_matrices(layout: IndependentLayout) -> Program:
    """The program of what is stiff: a closed state in, `stiffness` and `damping` (z, z) with the slope of friction out."""
    root, robot = Program("matrices"), layout.robot
    values, given = Values(root), _given(root, robot)
    now = loops_at(values, robot, given.y, given.modes, given.rates)
    for name, matrix in zip(("stiffness", "damping"), stiff_matrices(values, robot, now.state, layout.sliding), strict=True):
        root.output(name, ca.densify(matrix), shape=matrix.shape)
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


def leg_plant(
    robot: Robot, start: Any, *, wrench: bool, friction: bool | str, method: str, step: float, watch: bool, general: bool
) -> Plant:
    """The plant of forward dynamics."""
    plan = robot.elastic_plan
    _check(robot)
    watched = ("stroke",) if watch else ()
    setup = step_setup(robot, start, step=step, method=method, wrench=wrench, friction=friction, watch=watched)
    layout = setup.layout
    assert isinstance(layout, IndependentLayout)
    terms, matrices = (tape_for(layout, make(layout), general) for make in (leg_terms, leg_matrices))
    place, n = layout.places, len(plan.independent)
    y = setup.start[place["joints"]].tolist()
    if plan.carrier is None:
        y += [*setup.start[place["p"]], *setup.start[place["R"]]]
    at, modes = len(plan.columns) - len(robot.coordinates), setup.start[place["modes"]]
    u = [y[c - at] if c >= at else modes[c - (at - len(modes))] for c in plan.independent]
    state = [float(v) for v in (*u, *setup.start[place["ud"]])]
    return Plant(
        name=robot.name, about=f"forward dynamics of {robot.name}", inputs=inputs(setup), outputs=_outputs(robot),
        states=_states(robot, state), memory=[float(v) for v in y], rates=terms, step=step, **strokes(robot, layout.strokes),
        parameters=union([terms, matrices], setup.values), fixed=setup.values,
        second_order=SecondOrder(matrices=matrices, columns=len(plan.columns), independent=plan.independent, bound=plan.bound,
                                 driven=driven_columns(robot), method=METHODS[method]),
        stepping=Stepping(lead=1, nodes=1, carried=[*state, *(float(v) for v in y), 0.0], code=2 * n + len(y),
                          state_places=range(2 * n), memory_places=range(2 * n, 2 * n + len(y))),
    )  # fmt: skip


def _check(robot: Robot) -> None:
    pose = 6 if robot.elastic_plan.carrier is None else 0
    if any(c < pose for c in robot.elastic_plan.independent):
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


def _outputs(robot: Robot) -> list[Variable]:
    """As `leg_terms` has them, then the accelerations of the actuators."""
    none = np.zeros(3).tolist()
    return [
        *actuators(robot), *vector("position", "m", none, "platform frame origin, world"),
        *vector("rotation", "", [0.0] * 9, "world-from-platform", [a + b for a in "xyz" for b in "xyz"]),
        *vector("velocity", "m/s", none, "of the platform frame origin, world"),
        *vector("angular_velocity", "rad/s", none, "of the platform, world"),
        *[Variable(name=f"actuator_acceleration.{a}", unit=f"{u}/s^2")
          for a, u in zip(robot.actuators, robot.actuator_units, strict=True)],
    ]  # fmt: skip
