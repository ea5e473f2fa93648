"""CVODE (SUNDIALS) as an independent adaptive reference: the same equations of motion, another integrator and attitude.

Attitude is the quaternion itself, :math:`\\dot q = (0, \\omega)\\otimes q/2`; signals are evaluated at every call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from flexapod.arrays import SX, Array
from flexapod.errors import FlexapodError, InputError
from flexapod.kernels.tape.program import Program
from flexapod.simulation.integrators.runner import compiled
from flexapod.simulation.system.independent import IndependentLayout
from flexapod.simulation.system.layout import MOTION
from flexapod.simulation.system.plant import coordinates
from flexapod.simulation.system.right_hand_side import moment_of, rates
from flexapod.simulation.system.scope import Scope

if TYPE_CHECKING:
    from flexapod.simulation.events import Event
    from flexapod.simulation.system.layout import Layout
    from flexapod.simulation.system.setup import Setup


NEXT = "loosen rtol and atol, or use method='dopri' or method='implicit'"


class IntegrationError(FlexapodError):
    """An integrator that cannot go on."""


def rhs_program(layout: Layout) -> Program:
    """The program: carried numbers and signals to derivatives, forces and acceleration."""
    root = Program("right_hand_side")
    state = root.input("state", (layout.size,))
    column = root.input("signals", (layout.width,)) if layout.width else ca.SX(0, 1)
    scope = Scope(root, root)
    parts = layout.split(state)
    found = rates(scope, layout, parts, ca.SX.zeros(layout.increments), column)
    w, q = parts["w"], parts["quat"]
    quat_rate = ca.vertcat(-ca.dot(w, q[1:]), w * q[0] + ca.cross(w, q[1:])) / 2
    derivative = dict.fromkeys(layout.places, None)
    derivative |= {"p": parts["v"], "quat": quat_rate, "v": found.dy[6:9], "w": found.dy[9:12]}
    at = MOTION
    for name, size in layout.extra.items():
        derivative[name] = found.dy[at : at + size]
        at += size
    filled = {k: ca.SX.zeros(parts[k].numel()) if v is None else v for k, v in derivative.items()}
    root.output("derivative", layout.joined(filled))
    root.output("joints", coordinates(scope, layout.robot, moment_of(layout, parts)).joints)
    root.output("forces", ca.vertcat(found.force, found.acceleration))
    return root


def cvode_simulation(
    setup: Setup, duration: float, output_step: float, rtol: float, atol: float, events: Sequence[Event]
) -> tuple[Array, Array]:
    """Rows and times of a simulation by CVODE (Adams or BDF, as it chooses the order itself).

    Checked by: tests/simulation/test_orders.py.
    """
    from sksundae.cvode import CVODE  # type: ignore[import-untyped]

    layout = setup.layout
    if events or layout.memory:
        raise InputError("method='cvode' supports neither events nor sampled controllers; choose another method")
    if isinstance(layout, IndependentLayout):
        return _independent_simulation(setup, duration, output_step, rtol, atol)
    kernel, parameters = compiled(layout, "rhs", rhs_program, setup.values)
    call = kernel.prepare(parameters)
    joints = layout.places["joints"]

    def fill(t: float, y: SX) -> None:
        call.inputs["state"][:] = y
        call.inputs["state"][joints] = guess
        if layout.width:
            call.inputs["signals"][:] = _signals(setup, t, lambda _: np.asarray(y))[0]

    def rhs(t: float, y: SX, yp: Array) -> None:
        fill(t, y)
        status = call()
        kernel.raise_for(status)
        yp[:] = call.outputs["derivative"]
        if joints.stop > joints.start:
            guess[:] = call.outputs["joints"]

    guess = np.array(setup.start[joints])
    count = max(1, round(duration / output_step))
    times = np.linspace(0.0, duration, count + 1)
    solver = CVODE(rhs, method="Adams", rtol=max(rtol, 1e-13), atol=atol, max_num_steps=1_000_000)
    found = solver.solve(times, setup.start)
    if not found.success:
        raise IntegrationError(f"CVODE stopped at {found.t[-1]:g} s: {found.message}; {NEXT}")
    states = np.array(found.y)
    extra = []
    for t, y in zip(times, states, strict=True):
        fill(float(t), y)
        kernel.raise_for(call())
        extra.append(call.outputs["forces"].copy())
    return np.concatenate([states, np.array(extra)], axis=1), times


def _independent_simulation(setup: Setup, duration: float, output_step: float, rtol: float, atol: float) -> tuple[Array, Array]:
    """Simulation, as `cvode_simulation`, of increments of the independent coordinates from one output time to the next.

    Checked by: tests/simulation/test_independent_simulation.py.
    """
    assert isinstance(setup.layout, IndependentLayout)
    rows = Increments(setup)
    now, result = np.array(setup.start), []
    times = np.linspace(0.0, duration, max(1, round(duration / output_step)) + 1)
    for t, end in zip(times, [*times[1:], times[-1]], strict=True):
        shown = rows.begin(now, _signals(setup, float(t), lambda _, at=now: at), float(t))  # type: ignore[misc]
        result.append(np.concatenate([now, shown]))
        now = _interval(setup, rows, (float(t), float(end)), (rtol, atol)) if end > t else now
    return np.array(result), times


def _interval(setup: Setup, rows: Increments, times: tuple[float, float], tolerances: tuple[float, float]) -> Array:
    """Carried numbers at the end of an interval."""
    from sksundae.cvode import CVODE

    begin, end = times

    def at(t: float, y: Array) -> Array:
        return _signals(setup, t, lambda column: rows.advanced(y, column))

    def rhs(s: float, y: SX, yp: Array) -> None:
        own = np.array(y)
        yp[:] = rows.derivative(own, at(begin + s, own), begin + s)

    solver = CVODE(rhs, method="Adams", rtol=max(tolerances[0], 1e-13), atol=tolerances[1], max_num_steps=1_000_000)
    found = solver.solve(np.array([0.0, end - begin]), np.zeros(setup.layout.increments))
    if not found.success:
        raise IntegrationError(f"CVODE stopped at {begin + found.t[-1]:g} s: {found.message}; {NEXT}")
    y = np.array(found.y[-1])
    return rows.advanced(y, at(end, y))


class Increments:
    """The system from a row's start on, by terms in numbers: what increments y of the independent coordinates do."""

    def __init__(self, setup: Setup) -> None:
        from flexapod.simulation.integrators.numeric_rows import NumericRows

        assert isinstance(setup.layout, IndependentLayout)
        self.rows = NumericRows(setup.layout, setup.values)
        self.start: Any = None

    def begin(self, now: Array, column: Array, t: float) -> Array:
        """Start at carried numbers; forces and accelerations there."""
        begun = self.rows.begun(now, column)
        _refuse(begun.why, t)
        self.start, shown = begun.start, np.asarray(begun.shown)
        return shown

    def derivative(self, y: Array, column: Array, t: float) -> Array:
        """Derivative of the increments."""
        from flexapod.simulation.integrators.numeric_steps import derivative

        found, why = derivative(self.rows, self.start, y, column)
        _refuse(why, t)
        return found

    def advanced(self, y: Array, column: Array) -> Array:
        """Carried numbers after increments."""
        return self.rows.advanced(self.start, y, column)[0]


def _refuse(why: str, t: float) -> None:
    if why:
        raise IntegrationError(f"CVODE stopped at {t:g} s: {why}")


def _signals(setup: Setup, t: float, carried: Callable[[Array], Array]) -> Array:
    """Signals (1, width) at a time; forces of a function of the state from the carried numbers at these signals."""
    layout = setup.layout
    column = np.zeros((1, max(layout.width, 1)))
    if layout.width:
        column[0] = np.concatenate([setup.signals[name](np.array([t]))[0] for name in layout.signals])
    if setup.function is not None:
        column[0, layout.signals["force"]] = setup.function(t, _sample(setup, carried(column)))
    return column


def _sample(setup: Setup, y: Array) -> dict[str, Array]:
    from flexapod.simulation.results.result import observed
    from flexapod.simulation.system.observe import elastic_samples

    seen = observed(setup, y[None])
    place = setup.layout.places
    found = {name: seen[name][0] for name in ("rotation", "actuator_position", "actuator_velocity")}
    found |= {"position": y[place["p"]], "velocity": y[place["v"]], "angular_velocity": y[place["w"]]}
    return found | elastic_samples(setup.layout, y, seen)
