"""Blocks of rows: their table, their evaluation by the compiled loop, and the state of a simulation between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.robot.elastic_plan import ElasticPlan
from flexapod.simulation.integrators.runner import Runner, compiled
from flexapod.simulation.system.observe import elastic_samples, observe_program
from flexapod.simulation.system.setup import Setup
from flexapod.simulation.system.signals import Span, numbers, row_table


@dataclass(kw_only=True, eq=False)
class Progress:
    """Progress of a simulation: all that is needed to continue it.

    Args:
        rows, times: what is kept of the finished rows.
        state: carried numbers at `time`.
        segment: start time of the current segment; index: its finished rows.
        happened: indices, times and texts of events.
        plans: times at which the independent coordinates were changed, and how the loops are solved from then on.
        stopped: why the simulation ended early, with `stopped_at` [s]; empty while it goes on.
    """

    state: Array
    rows: list[Array] = field(default_factory=list)
    times: list[Array] = field(default_factory=list)
    segment: float = 0.0
    index: int = 0
    happened: list[tuple[int, float, str]] = field(default_factory=list)
    plans: list[tuple[float, ElasticPlan]] = field(default_factory=list)
    stopped: str = ""
    stopped_at: float = np.nan
    interrupted: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Clock:
    """Times of a simulation: its duration, length of rows, rows per output, sampling period of the controller (or None)."""

    duration: float
    step: float
    every: int
    period: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Segment:
    """Data of a simulation between two events: the setup with their changes, its integrator, and the clock."""

    setup: Setup
    runner: Any
    clock: Clock


def block(segment: Segment, state: Array, span: Span) -> tuple[Array, Array]:
    """Rows of a block and one more of length zero at its end, and the carried numbers after its last full row."""
    setup, runner, period, many = segment.setup, segment.runner, segment.clock.period, span.count
    step, times = setup.layout.rows, span.times()
    table = row_table(setup.layout, setup.signals, span, None if period is None else _ticks(times, period))
    padded = np.zeros((many + 1 + -(many + 1) % step, setup.layout.columns))
    padded[:many] = table
    padded[many:, 2:] = table[-1, 2:]
    if setup.layout.method == "dopri":
        padded[many:, 2:] = _ends(table[-1, 2:], setup.layout.width)
    elif setup.layout.width:  # signals at the end of the last step
        padded[many:, 2:] = np.tile(table[-1, -setup.layout.width :], len(setup.layout.nodes))
    rows = np.zeros((len(padded), runner.width))
    if setup.function is not None:
        return rows, _python_rows(setup, runner, state, padded, rows, times)
    final, done = runner.advance(state, padded, rows)
    if done < len(padded):  # the simulation stopped: the rest repeats the last row, with its code
        rows[done:] = rows[done - 1]
        rows[done:, setup.layout.places["code"]] = final[setup.layout.places["code"]]
    return rows, np.array(rows[many, : setup.layout.size])


def _ends(coefficients: Array, width: int) -> Array:
    """Constant polynomials with the value at the end of a row."""
    table = coefficients.reshape(-1, width) if width else coefficients.reshape(-1, 1)[:0]
    result = np.zeros_like(table)
    if width:
        result[0] = table.sum(axis=0)
    return np.asarray(result.reshape(-1))


def _ticks(times: Array, period: float) -> Array:
    periods = times / period
    return np.asarray(np.abs(periods - np.rint(periods)) < 1e-6, dtype=np.float64)


def _python_rows(setup: Setup, runner: Runner, state: Array, table: Array, rows: Array, times: Array) -> Array:
    """Rows with a controller in Python: its force is held over each row."""
    many = len(times)
    layout, place = setup.layout, setup.layout.signals["force"]
    kernel, parameters = compiled(layout, "observe", observe_program, setup.values)
    observe = kernel.prepare(parameters)
    width, force = layout.width, np.zeros(layout.actuators)
    for i in range(many + 1):
        time = times[i] if i < many else times[-1] + table[many - 1, 0]
        for name in observe.inputs:
            observe.inputs[name][...] = state[layout.places[name]]
        observe()
        sample = {name: observe.outputs[name].copy() for name in ("rotation", "actuator_position", "actuator_velocity")}
        sample |= {"position": state[layout.places["p"]].copy(), "velocity": state[layout.places["v"]].copy()}
        sample["angular_velocity"] = state[layout.places["w"]].copy()
        sample |= elastic_samples(layout, state, observe.outputs)
        force = numbers("controller", setup.function(float(time), sample))
        if force.shape != (layout.actuators,):
            raise InputError(f"controller: the function gave shape {force.shape}, expected ({layout.actuators},)")
        if not np.all(np.isfinite(force)):
            wrong = force[~np.isfinite(force)][0]
            raise InputError(f"controller: the function gave {wrong} at t = {time:g} s, expected finite forces")
        if layout.method != "dopri":
            for node in range(len(layout.nodes)):
                table[i, 2 + node * width + place.start : 2 + node * width + place.stop] = force
        else:
            table[i, 2:].reshape(-1, width)[:, place] = 0.0
            table[i, 2 + place.start : 2 + place.stop] = force
        final, _ = runner.advance(state, table[i : i + 1], rows[i : i + 1])
        state = final
    return np.array(rows[many, : layout.size])
