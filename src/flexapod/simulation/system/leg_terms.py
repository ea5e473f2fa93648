r"""Terms of robots with flexible legs as programs: a state of the independent coordinates u in, all that a step is made of out.

.. math:: N^T\big(M_z(N\ddot u + \beta) + f\big) = 0,\qquad N = \begin{pmatrix}1\\X\end{pmatrix}

M_z, f (forces, actuators and friction included) by all coordinates z; X and beta of the bound ones. Memory holds all coordinates,
where Newton's method on the loops starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from flexapod.equations.elastodynamics.closing import LIMIT, NEWTON_STEP, at_coordinates, moved, newton_step
from flexapod.equations.elastodynamics.dissipation import stiff_matrices
from flexapod.equations.elastodynamics.link_assembly import link_equation_at
from flexapod.equations.elastodynamics.loops import loop_rows, solve_loops
from flexapod.equations.elastodynamics.program_state import RobotAt, platform_modes, tree_motion
from flexapod.equations.values import Values
from flexapod.kernels.tape.program import Program
from flexapod.robot.elastic_plan import driven_columns
from flexapod.simulation.system.independent import CarriedLoops, IndependentLayout, loops_at, observed_moment
from flexapod.simulation.system.loaded_joints import COUPLING, acting_freely
from flexapod.simulation.system.scope import Scope
from flexapod.spatial.rotation import normalised

if TYPE_CHECKING:
    from flexapod.arrays import SX
    from flexapod.kernels.tape.control_flow import Builder
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.layout import Layout


@dataclass(frozen=True, kw_only=True)
class _Given:
    """State and memory as a program reads them: coordinates y with the independent ones in place, modes, rates u'."""

    x: SX
    y: SX
    modes: SX
    rates: SX


def _given(root: Program, robot: Robot) -> _Given:
    n, pose = len(robot.elastic_plan.independent), 12 if robot.elastic_plan.carrier is None else 0
    x = root.input("state", (2 * n,))
    memory = root.input("memory", (len(robot.coordinates) + pose,))
    return _Given(x=x, rates=x[n:], **dict(zip(("y", "modes"), placed(robot, memory, x[:n]), strict=True)))


def leg_terms(layout: IndependentLayout) -> Program:
    """The program of the terms: `state` (u, u'), `memory` and `signals` in; `mass` (z, z), `forces` (z,), `slope` X and `drift`
    beta of the bound coordinates, `result` (q, q', p, R by rows, v, w), `closed` (memory of the next call), `margin` out.

    Checked by: tests/bridges/test_fmu_catalogue.py, tests/simulation/test_stepper.py.
    """
    root, robot = Program("terms"), layout.robot
    plan, values = robot.elastic_plan, Values(root)
    given = _given(root, robot)
    column = root.input("signals", (layout.width,))
    signals = layout.at_node(column)
    now = loops_at(values, robot, _closed(root, values, robot, given.y, given.modes), given.modes, given.rates)
    if layout.friction == "load":
        scope = Scope(root, root)
        found, _ = acting_freely(scope, layout, {}, now, ca.SX(0, 1), column)
        root.fail_if(scope.code, COUPLING)
        q, X, beta = found.equation, found.X, found.beta
    else:
        at = RobotAt(b=root, values=values, robot=robot, state=now.state)
        q = link_equation_at(at, layout.sliding, signals.get("wrench"))
        X, beta = solve_loops(plan, q.A, q.gamma)
    force = ca.SX(q.h)
    force[driven_columns(robot)] -= signals["force"]
    size = len(plan.columns)
    root.output("mass", ca.densify(q.M), shape=(size, size))
    root.output("forces", ca.densify(force), shape=(size,))
    if plan.bound:
        root.output("slope", ca.densify(X), shape=X.shape)
        root.output("drift", ca.densify(beta), shape=(len(plan.bound),))
    _results(root, layout, now)
    root.output("settled", given.x)
    return root


def _closed(root: Program, values: Values, robot: Robot, start: SX, modes: SX) -> SX:
    """All coordinates with the loops closed from a start."""
    plan = robot.elastic_plan
    if not plan.bound:
        return start

    def iteration(_: Builder, y: SX, e: SX) -> tuple[list[SX], SX]:
        return newton_step(values, robot, y, e)

    (y,), converged, _ = root.iterate(iteration, start=[start], shared=[modes], limit=LIMIT, tolerance=NEWTON_STEP)
    root.fail_if(1 - converged, "the loops cannot be closed from here: out of reach or singular")
    rows, _, residual = loop_rows(values, robot, tree_motion(values, robot, at_coordinates(robot, y, modes)))
    return moved(robot, y, solve_loops(plan, rows, residual)[1], plan.bound)


def _results(root: Program, layout: IndependentLayout, now: CarriedLoops) -> None:
    moment, c = observed_moment(layout, now)
    root.output("result", ca.vertcat(c.q, c.qd, moment.p, ca.vec(moment.R.T), moment.v, moment.w))
    root.output("closed", now.y)
    margin_output(root, layout, c.q)


def leg_matrices(layout: IndependentLayout) -> Program:
    """The program of the stiff terms: a closed state in, `stiffness` and `damping` (z, z) with the slope of friction out."""
    root, robot = Program("matrices"), layout.robot
    values, given = Values(root), _given(root, robot)
    now = loops_at(values, robot, given.y, given.modes, given.rates)
    for name, matrix in zip(("stiffness", "damping"), stiff_matrices(values, robot, now.state, layout.sliding), strict=True):
        root.output(name, ca.densify(matrix), shape=matrix.shape)
    return root


def placed(robot: Robot, memory: SX, u: SX) -> tuple[SX, SX]:
    """All coordinates with the independent ones as given, the others as remembered, and the modes."""
    plan, count, N = robot.elastic_plan, len(robot.coordinates), platform_modes(robot)
    at = len(plan.columns) - count
    parts, modes = [memory[k] for k in range(memory.numel())], [ca.SX(0)] * N
    for k, column in enumerate(plan.independent):
        if column >= at:
            parts[column - at] = u[k]
        elif column >= at - N:
            modes[column - (at - N)] = u[k]
        else:  # position of the platform; its rotation is never independent here
            parts[count + column] = u[k]
    if plan.carrier is None:  # columns of the rotation stay orthogonal whatever an importer did to the memory
        first = normalised(ca.vertcat(*parts[count + 3 : count + 6]))
        second = ca.vertcat(*parts[count + 6 : count + 9])
        second = normalised(second - ca.dot(first, second) * first)
        parts[count + 3 :] = ca.vertsplit(ca.vertcat(first, second, ca.cross(first, second)))
    return ca.vertcat(*parts), ca.vertcat(*modes) if modes else ca.SX.zeros(0)


def carried_places(layout: IndependentLayout) -> tuple[list[int], list[int]]:
    """Places of state (u, u') and memory among the carried numbers of a simulation."""
    plan, place = layout.robot.elastic_plan, layout.places
    joints, position, modes, rates, R = (range(place[k].start, place[k].stop) for k in ("joints", "p", "modes", "ud", "R"))
    columns = [*(position if plan.carrier is None else []), *([-1] * 3 if plan.carrier is None else []), *modes, *joints]
    u = [columns[c] for c in plan.independent]
    return [*u, *rates], [*joints, *([*position, *R] if plan.carrier is None else [])]


def margin_output(root: Program, layout: Layout, q: SX) -> None:
    """Output `margin`: distances (2 per watched actuator,) of the actuators (actuators,) to the ends of their strokes."""
    margins = []
    for k, (name, has) in enumerate(zip(layout.robot.actuators, layout.strokes, strict=True)):
        if has:
            low, high = (root.parameter(f"stroke.{name}.{end}") for end in ("low", "high"))
            margins += [q[k] - low, high - q[k]]
    if margins:
        root.output("margin", ca.vertcat(*margins))
