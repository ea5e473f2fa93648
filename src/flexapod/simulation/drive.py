"""The run itself: blocks of rows through the compiled loop, events between them, everything computed kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.errors import InputError
from flexapod.simulation.observe import observe_program, pick_inputs
from flexapod.simulation.runner import Runner, compiled
from flexapod.simulation.setup import Setup
from flexapod.simulation.signals import row_table

if TYPE_CHECKING:
    from flexapod.simulation.events import Event

Array = NDArray[np.float64]
BLOCK = 2048
"""Rows per block: between blocks a run can be interrupted, saved, and looked at for events."""

GRID = 1e-6
"""Part of a step within which times are the same."""


@dataclass(kw_only=True, eq=False)
class Progress:
    """How far a run is: all that is needed to go on with it.

    Args:
        rows, times: what is kept of the finished rows.
        state: carried numbers at `time`.
        segment: start time of the current segment; index: its finished rows.
        happened: indices, times and texts of events.
        stopped: why the run ended early, with `stopped_at` [s]; empty while it goes on.
    """

    state: Array
    rows: list[Array] = field(default_factory=list)
    times: list[Array] = field(default_factory=list)
    segment: float = 0.0
    index: int = 0
    happened: list[tuple[int, float, str]] = field(default_factory=list)
    stopped: str = ""
    stopped_at: float = np.nan
    interrupted: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Clock:
    """Times of a run: its duration, length of rows, rows per output, sampling period of the controller (or None)."""

    duration: float
    step: float
    every: int
    period: float | None


def drive(
    setup: Setup, clock: Clock, events: Sequence[Event], progress: Progress, after_block: Callable[[float, Progress], None]
) -> Progress:
    """Run to the end, to an event that stops, to a failure, or to an interrupt; `progress` is changed and returned."""
    try:
        while not progress.stopped and progress.segment < clock.duration:
            now = _with_events(setup, events, progress)
            end = _segment_end(clock, events, progress)
            _segment(now, clock, events, progress, end, after_block)
    except KeyboardInterrupt:
        progress.interrupted = True
    return progress


def _times(start: float, h: float, first: int, count: int) -> Array:
    """Start times of rows."""
    return np.asarray(start + h * (first + np.arange(count)), dtype=np.float64)


def _with_events(setup: Setup, events: Sequence[Event], progress: Progress) -> Setup:
    """The run with what the events so far have changed."""
    robot = setup.layout.robot
    gains: dict[str, float] = {}
    for index, _, _ in progress.happened:
        event = events[index]
        if event.parameters:
            robot = robot.with_parameters(event.parameters)
        gains |= {f"actuator.{a}.gain": 0.0 for a in event.failing}
    return setup.changed(robot, gains) if progress.happened else setup


def _segment_end(clock: Clock, events: Sequence[Event], progress: Progress) -> float:
    """Where the next segment ends: at an event or the end of the run, with one short row from and to the grid of steps."""
    done = {index for index, _, _ in progress.happened}
    times = [e.time for i, e in enumerate(events) if e.time is not None and i not in done and e.time < clock.duration]
    for t in times:
        if clock.period is not None and not _on_grid(t, clock.step):
            raise InputError(f"event: with a sampled controller, times must be multiples of the step; {t:g} s is not")
    end = min(times, default=clock.duration)
    start = progress.segment
    if not _on_grid(start, clock.step):
        return min(end, clock.step * float(np.ceil(start / clock.step)))
    last = clock.step * float(np.floor(end / clock.step + GRID))
    return end if _on_grid(end, clock.step) or last <= start else last


def _on_grid(t: float, step: float) -> bool:
    return bool(abs(t / step - round(t / step)) < GRID)


def _segment(
    setup: Setup, clock: Clock, events: Sequence[Event], progress: Progress, end: float,
    after_block: Callable[[float, Progress], None],
) -> None:  # fmt: skip
    """Run from the start of a segment (or from where it was left) to its end."""
    start, layout = progress.segment, setup.layout
    count = max(1, int(np.ceil((end - start) / clock.step - 1e-9)))
    h = clock.step if abs((end - start) / count / clock.step - 1.0) < 1e-9 else (end - start) / count
    runner = Runner(layout, setup.values)
    while progress.index < count and not progress.stopped:
        first, many = progress.index, min(BLOCK, count - progress.index)
        last = first + many == count
        rows, reached = _block(setup, runner, clock, progress, start, h, first, many)
        bad = np.flatnonzero(rows[: many + 1, layout.places["code"].start] != 0)
        good = int(bad[0]) - 1 if len(bad) else many
        hit = _condition(setup, events, progress, rows, start, h, first, good) if good > 0 else None
        if hit is not None:
            _at_condition(setup, runner, clock, events, progress, rows, start, h, first, hit)
            return
        if len(bad):
            _failed(setup, runner, progress, rows, start, h, first, int(bad[0]), clock)
            return
        _keep(progress, clock, rows[:many], _times(start, h, first, many), first)
        progress.index, progress.state = first + many, np.array(rows[many, : layout.size] if last else reached)
        if last:
            _finish(setup, clock, events, progress, rows[many], end)
        after_block(start + h * (first + many), progress)
        if last:
            return


def _block(
    setup: Setup, runner: Runner, clock: Clock, progress: Progress, start: float, h: float, first: int, many: int
) -> tuple[Array, Array]:
    """Rows of a block and one more of length zero at its end, and the carried numbers after its last full row."""
    step = setup.layout.rows
    times = _times(start, h, first, many)
    ticks = np.zeros(many) if clock.period is None else _ticks(times, clock.period)
    table = row_table(setup.layout, setup.signals, start, h, first, many, ticks)
    padded = np.zeros((many + 1 + -(many + 1) % step, setup.layout.columns))
    padded[:many] = table
    padded[many:, 2:] = table[-1, 2:]
    if setup.layout.method == "rk4" and setup.layout.width:  # signals at the end of the last step
        padded[many:, 2:] = np.tile(table[-1, -setup.layout.width :], 3)
    elif setup.layout.method == "dopri":
        padded[many:, 2:] = _ends(table[-1, 2:], setup.layout.width)
    rows = np.zeros((len(padded), runner.width))
    if setup.function is not None:
        return rows, _python_rows(setup, runner, progress.state, padded, rows, times, many)
    final, done = runner.advance(progress.state, padded, rows)
    if done < len(padded):  # the run stopped: the rest repeats the last row, with its code
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


def _python_rows(setup: Setup, runner: Runner, state: Array, table: Array, rows: Array, times: Array, many: int) -> Array:
    """Rows with a controller in Python: its force is held over each row."""
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
        force = np.asarray(setup.function(float(time), sample), dtype=np.float64)
        if force.shape != (layout.actuators,):
            raise InputError(f"controller: the function gave shape {force.shape}, expected ({layout.actuators},)")
        if layout.method == "rk4":
            for node in range(3):
                table[i, 2 + node * width + place.start : 2 + node * width + place.stop] = force
        else:
            table[i, 2:].reshape(-1, width)[:, place] = 0.0
            table[i, 2 + place.start : 2 + place.stop] = force
        final, _ = runner.advance(state, table[i : i + 1], rows[i : i + 1])
        state = final
    return np.array(rows[many, : layout.size])


def _failed(
    setup: Setup, runner: Runner, progress: Progress, rows: Array, start: float, h: float, first: int, i: int, clock: Clock
) -> None:
    """Stop at row i, the first that carries a status; rows before it are kept."""
    code = setup.layout.places["code"].start
    text = runner.kernel.signature.status(round(rows[i, code])).text
    good = i  # rows 0 .. i - 1 started well; the last of them led to the failure
    at = start + h * (first + i - 1)
    if "stroke" in text and i >= 2:
        good, at = i - 1, _leaves(setup, text, rows[i - 2 : i], start + h * (first + i - 2), h)
    elif "lose control" in text and i >= 2:
        good = i - 1
    _keep(progress, clock, rows[:good], _times(start, h, first, good), first)
    progress.stopped, progress.stopped_at = text, at


def _leaves(setup: Setup, text: str, rows: Array, time: float, h: float) -> float:
    """Time at which a coordinate crosses the end of its stroke, by the cubic through two rows."""
    from scipy.interpolate import CubicHermiteSpline
    from scipy.optimize import brentq

    layout = setup.layout
    kernel, parameters = compiled(layout, "observe", observe_program, setup.values)
    found = kernel.batch(pick_inputs(layout, kernel, rows[:, : layout.size]), parameters).outputs
    for k, name in enumerate(layout.robot.actuators):
        if f"leg {name} " in text:
            curve = CubicHermiteSpline([0.0, h], found["actuator_position"][:, k], found["actuator_velocity"][:, k])
            for end in ("low", "high"):
                limit = setup.values[f"stroke.{name}.{end}"]
                if (curve(0.0) - limit) * (curve(h) - limit) <= 0:
                    return time + float(brentq(lambda t, x=limit, c=curve: float(c(t) - x), 0.0, h, xtol=1e-14))
    return time + h


def samples_of(setup: Setup, rows: Array, times: Array) -> Mapping[str, Any]:
    """What a condition sees of rows."""
    layout = setup.layout
    kernel, parameters = compiled(layout, "observe", observe_program, setup.values)
    found = kernel.batch(pick_inputs(layout, kernel, rows[:, : layout.size]), parameters).outputs
    place = layout.places
    return {
        "time": times, "position": rows[:, place["p"]], "velocity": rows[:, place["v"]], "angular_velocity": rows[:, place["w"]],
        **{name: found[name] for name in ("rotation", "actuator_position", "actuator_velocity")},
    }  # fmt: skip


def _condition(
    setup: Setup, events: Sequence[Event], progress: Progress, rows: Array, start: float, h: float, first: int, many: int
) -> tuple[int, int] | None:
    """First row and event whose condition rises through zero after that row."""
    done = {index for index, _, _ in progress.happened}
    waiting = [(i, e) for i, e in enumerate(events) if e.when is not None and i not in done]
    if not waiting:
        return None
    seen = samples_of(setup, rows[: many + 1], _times(start, h, first, many + 1))
    hits = []
    for i, event in waiting:
        assert event.when is not None
        value = np.asarray(event.when(seen), dtype=np.float64)
        if value.shape != (many + 1,):
            raise InputError(f"event: `when` gave shape {value.shape} for {many + 1} moments, expected one number each")
        rising = np.flatnonzero((value[:-1] < 0) & (value[1:] >= 0))
        hits += [(int(rising[0]), i)] if len(rising) else []
    return min(hits) if hits else None


def _at_condition(
    setup: Setup, runner: Runner, clock: Clock, events: Sequence[Event], progress: Progress, rows: Array, start: float, h: float,
    first: int, hit: tuple[int, int],
) -> None:  # fmt: skip
    """Find the moment within a row by bisection with shorter rows, and start a new segment there."""
    i, index = hit
    when = events[index].when
    assert when is not None
    begin, state = start + h * (first + i), np.array(rows[i, : setup.layout.size])
    low, high, found = 0.0, h, None
    tries = 1 if clock.period is not None or setup.function is not None else 45
    for _ in range(tries):
        part = high if tries == 1 else (low + high) / 2
        trial = Progress(state=state)
        found, _ = _block(setup, runner, clock, trial, begin, part, 0, 1)
        value = float(np.asarray(when(samples_of(setup, found[1:2], np.array([begin + part]))))[0])
        low, high = (part, high) if value < 0 else (low, part)
        if high - low <= 1e-12:
            break
    if tries > 1:
        found, _ = _block(setup, runner, clock, Progress(state=state), begin, high, 0, 1)
    assert found is not None
    _keep(progress, clock, rows[: i + 1], _times(start, h, first, i + 1), first)
    progress.state = np.array(found[1, : setup.layout.size])
    _begin(setup, events, progress, begin + high, [index], found[1])


def _finish(setup: Setup, clock: Clock, events: Sequence[Event], progress: Progress, row: Array, end: float) -> None:
    """End of a segment: the timed events there happen, or the run is over."""
    done = {index for index, _, _ in progress.happened}
    due = [i for i, e in enumerate(events) if e.time is not None and i not in done and e.time <= end]
    _begin(setup, events, progress, end, due, row)
    if end >= clock.duration:
        progress.rows.append(row[None])
        progress.times.append(np.array([end]))


def _begin(setup: Setup, events: Sequence[Event], progress: Progress, time: float, due: Sequence[int], row: Array) -> None:
    """Note events and start a new segment, or stop."""
    for index in due:
        progress.happened.append((index, float(time), events[index].label))
        if events[index].stop:
            progress.stopped, progress.stopped_at = f"event: {events[index].label}", float(time)
    progress.segment, progress.index = float(time), 0
    if progress.stopped:
        progress.rows.append(row[None])
        progress.times.append(np.array([time]))


def _keep(progress: Progress, clock: Clock, rows: Array, times: Array, first: int) -> None:
    """Keep rows at multiples of the output step, and the one at which an event has changed something."""
    output = clock.every * clock.step
    chosen = np.abs(times / output - np.rint(times / output)) < GRID / clock.every
    if first == 0 and len(chosen) and any(t == times[0] for _, t, _ in progress.happened):
        chosen[0] = True
    if np.any(chosen):
        progress.rows.append(np.array(rows[chosen]))
        progress.times.append(np.array(times[chosen]))
