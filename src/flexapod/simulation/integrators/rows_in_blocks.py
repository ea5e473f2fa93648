"""The simulation itself: blocks of rows through the compiled loop, events between them, everything computed kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.robot.chosen_dependents import with_plan
from flexapod.simulation.integrators.blocks import Clock, Progress, Segment, block
from flexapod.simulation.integrators.compiled_rows import LOST_CONTROL
from flexapod.simulation.integrators.crossing import Crossing, Lookout, loops_of
from flexapod.simulation.integrators.crossing_in_simulation import (
    may_cross,
    one_step,
    reason,
    row_at,
    rows_within,
    step_across,
    unresolved,
)
from flexapod.simulation.integrators.dopri import STALLED
from flexapod.simulation.integrators.implicit import LOST
from flexapod.simulation.integrators.numeric_rows import runner_of
from flexapod.simulation.integrators.replanning import ROWS, better_plan, carried_over, may_change
from flexapod.simulation.system.independent import IndependentLayout
from flexapod.simulation.system.observe import elastic_samples, observed_at
from flexapod.simulation.system.setup import Setup
from flexapod.simulation.system.signals import Span

if TYPE_CHECKING:
    from flexapod.simulation.events import Event
    from flexapod.simulation.system.layout import Layout

BLOCK = 2048
"""Rows per block: between blocks a simulation can be interrupted, saved, and looked at for events."""

GRID = 1e-6
"""Part of a step within which times are the same."""

AHEAD = 10
"""Steps before a dead point from which on a step may not converge, or explicit ones lose energy; measured 4 to 6."""


def drive(
    setup: Setup, clock: Clock, events: Sequence[Event], progress: Progress, after_block: Callable[[float, Progress], None]
) -> Progress:
    """Run to the end, to an event that stops, to a failure, or to an interrupt; `progress` is changed and returned."""
    look = Lookout()
    try:
        while not progress.stopped and progress.segment < clock.duration:
            now = with_events(setup, events, progress)
            end = _segment_end(clock, events, progress)
            segment = Segment(setup=now, runner=runner_of(now.layout, now.values), clock=clock)
            _segment(segment, events, progress, end, after_block, look)
    except KeyboardInterrupt:
        progress.interrupted = True
    return progress


def with_events(setup: Setup, events: Sequence[Event], progress: Progress) -> Setup:
    """The simulation with the changes by the events so far."""
    robot = setup.layout.robot
    gains: dict[str, float] = {}
    for index, _, _ in progress.happened:
        event = events[index]
        if event.parameters:
            robot = robot.with_parameters(event.parameters)
        gains |= {f"actuator.{a}.gain": 0.0 for a in event.failing}
    if progress.plans:
        robot = with_plan(robot, progress.plans[-1][1])
    return setup.changed(robot, gains) if progress.happened or progress.plans else setup


def _segment_end(clock: Clock, events: Sequence[Event], progress: Progress) -> float:
    """End of the next segment: an event or the end of the simulation, with one short row from and to the grid of steps."""
    start, end = progress.segment, _next_event(clock, events, progress)
    if end < clock.duration and clock.period is not None and not _on_grid(end, clock.step):
        raise InputError(f"event: with a sampled controller, times must be multiples of the step; {end:g} s is not")
    if not _on_grid(start, clock.step):
        return min(end, clock.step * float(np.ceil(start / clock.step)))
    last = clock.step * float(np.floor(end / clock.step + GRID))
    return end if _on_grid(end, clock.step) or last <= start else last


def _next_event(clock: Clock, events: Sequence[Event], progress: Progress) -> float:
    """Time of the next event, or the end of the simulation."""
    done = {index for index, _, _ in progress.happened}
    times = [e.time for i, e in enumerate(events) if e.time is not None and i not in done and e.time < clock.duration]
    return min(times, default=clock.duration)


def _on_grid(t: float, step: float) -> bool:
    return bool(abs(t / step - round(t / step)) < GRID)


def _segment(
    segment: Segment, events: Sequence[Event], progress: Progress, end: float,
    after_block: Callable[[float, Progress], None], look: Lookout,
) -> None:  # fmt: skip
    """Run from the start of a segment (or from where it was left) to its end."""
    start, setup, clock, layout = progress.segment, segment.setup, segment.clock, segment.setup.layout
    count = max(1, int(np.ceil((end - start) / clock.step - 1e-9)))
    h = clock.step if abs((end - start) / count / clock.step - 1.0) < 1e-9 else (end - start) / count
    looks = may_change(layout)
    crosses, why, fell = looks and may_cross(segment), "", None
    if crosses:
        look.note(layout, start + h * progress.index, progress.state, loops_of(layout, progress.state))
    while progress.index < count and not progress.stopped:
        first, many = progress.index, min(ROWS if looks else BLOCK, count - progress.index)
        if crosses:
            many = look.rows(h, many, layout.method)
        if many == 0:
            found = step_across(segment, progress.state, look, start + h * first, _next_event(clock, events, progress))
            if isinstance(found, Crossing):
                _across(segment, events, progress, start + h * first, found)
                look.forget()  # the margin grows again from here
                return
            why, many = found, min(count - first, int(np.ceil(2.0 * look.left / h)) + 1)
        last, span = first + many == count, Span(start=start, h=h, first=first, count=many)
        rows, reached = block(segment, progress.state, span)
        if why and unresolved(segment, rows[: many + 1]):
            progress.stopped, progress.stopped_at = reason(look, why), span.time(0)
            progress.rows.append(rows[:1])
            progress.times.append(span.times(1))
            return
        why = ""
        jump = jumps(layout, fell, rows[: many + 1])
        if jump is not None:
            _keep(progress, clock, rows[: jump + 1], span)
            progress.stopped, progress.stopped_at = LOST_CONTROL, span.time(jump)
            return
        fell = watched_before(layout, rows[: many + 1])
        bad = np.flatnonzero(rows[: many + 1, layout.places["code"].start] != 0)
        good = int(bad[0]) - 1 if len(bad) else many
        hit = _condition(setup, events, progress, rows, replace(span, count=good)) if good > 0 else None
        if hit is not None:
            _at_condition(segment, events, progress, rows, span, hit)
            return
        if len(bad):
            _failed(segment, progress, rows, span, int(bad[0]))
            return
        _keep(progress, clock, rows[:many], span)
        progress.index, progress.state = first + many, np.array(rows[many, : layout.size] if last else reached)
        if last:
            _finish(setup, clock, events, progress, rows[many], end)
        after_block(span.time(many), progress)
        if last:
            return
        if not looks:
            continue
        time, A = span.time(many), loops_of(layout, progress.state)
        look.note(layout, time, progress.state, A)
        plan = better_plan(layout, progress.state, A)
        if plan is not None:
            progress.state = carried_over(layout, plan, progress.state)
            progress.plans.append((time, plan))
            progress.segment, progress.index = time, 0
            return


def _across(segment: Segment, events: Sequence[Event], progress: Progress, time: float, found: Crossing) -> None:
    """Keep the outputs within a step across a singular position, and start a new segment at its end."""
    setup, clock = segment.setup, segment.clock
    end, span = _next_event(clock, events, progress), Span(start=time, h=found.end - time)
    begin, _ = one_step(segment, progress.state, time, 0.0)
    ends = np.array([begin, found.row])
    hit = _condition(setup, events, progress, ends, span)
    if hit is not None:
        _at_condition(segment, events, progress, ends, span, hit)
        return
    times, rows = rows_within(segment, progress.state, time, found, GRID)
    progress.rows.append(rows)
    progress.times.append(times)
    row = found.row if found.end <= end else row_at(segment, progress.state, time, found, end)
    progress.state = np.array(row[: setup.layout.size])
    _finish(setup, clock, events, progress, row, min(found.end, end))


def _failed(segment: Segment, progress: Progress, rows: Array, span: Span, i: int) -> None:
    """Stop at row i, the first that carries a status; rows before it are kept."""
    setup = segment.setup
    code = setup.layout.places["code"].start
    text = segment.runner.reason(rows[i, code])
    good = i  # rows 0 .. i - 1 started well; the last of them led to the failure
    at = span.time(i - 1)
    if ("stroke" in text or "lose control" in text) and span.first + i >= 2:  # the row before has left already
        good = i - 1
    if "stroke" in text and i >= 2:
        at = _leaves(setup, text, rows[i - 2 : i], span.time(i - 2), span.h)
    if text in (LOST, STALLED) and _dead_point_ahead(setup, rows[:i]):
        text = LOST_CONTROL
    _keep(progress, segment.clock, rows[:good], span)
    progress.stopped, progress.stopped_at = text, at


def _dead_point_ahead(setup: Setup, rows: Array) -> bool:
    """Whether the determinant that is watched falls to zero within a few steps: a drive at its dead point can only turn
    back, so that no step in its coordinate leads across."""
    place = setup.layout.places.get("determinant")
    if place is None or len(rows) < 2:
        return False
    before, now = rows[-2:, place.start]
    return bool(now * (now + AHEAD * (now - before)) < 0.0)


def watched_before(layout: Layout, rows: Array) -> float | None:
    """The determinant that is watched one row before the last."""
    place = layout.places.get("determinant")
    return None if place is None or len(rows) < 2 else float(rows[-2, place.start])


def jumps(layout: Layout, before: float | None, rows: Array) -> int | None:
    """The first row behind which explicit steps jump at a dead point of a drive, or None.

    The determinant that is watched would pass zero within two steps, and instead comes out off its line by half a step's change
    or more: in the drive's own coordinate no step leads across, and what comes out has turned back or is on another branch.

    Args:
        before: determinant before the first row, where known.

    Checked by: tests/simulation/test_mechanisms.py.
    """
    place = layout.places.get("determinant")
    if place is None or layout.method != "rk4" or not isinstance(layout, IndependentLayout):
        return None
    d = np.concatenate([[] if before is None else [before], rows[:, place.start]])
    if len(d) < 3:
        return None
    change = d[1:-1] - d[:-2]
    off = np.abs(d[2:] - d[1:-1] - change)
    found = np.flatnonzero((d[1:-1] * (d[1:-1] + 2.0 * change) < 0.0) & (off > 0.5 * np.abs(change)))
    return int(found[0]) + (1 if before is None else 0) if len(found) else None


def _leaves(setup: Setup, text: str, rows: Array, time: float, h: float) -> float:
    """Time at which a coordinate crosses the end of its stroke, by the cubic through two rows."""
    from scipy.interpolate import CubicHermiteSpline
    from scipy.optimize import brentq

    layout = setup.layout
    found = observed_at(layout, setup.values, rows[:, : layout.size])
    for k, name in enumerate(layout.robot.actuators):
        if f"leg {name} " in text:
            curve = CubicHermiteSpline([0.0, h], found["actuator_position"][:, k], found["actuator_velocity"][:, k])
            for end in ("low", "high"):
                limit = setup.values[f"stroke.{name}.{end}"]
                if (curve(0.0) - limit) * (curve(h) - limit) <= 0:
                    return time + float(brentq(lambda t, x=limit, c=curve: float(c(t) - x), 0.0, h, xtol=1e-14))
    return time + h


def samples_of(setup: Setup, rows: Array, times: Array) -> Mapping[str, Any]:
    """Values that the condition of an event reads, from rows of a simulation."""
    layout = setup.layout
    found = observed_at(layout, setup.values, rows[:, : layout.size])
    place = layout.places
    return {
        "time": times, "position": rows[:, place["p"]], "velocity": rows[:, place["v"]], "angular_velocity": rows[:, place["w"]],
        **{name: found[name] for name in ("rotation", "actuator_position", "actuator_velocity")},
        **elastic_samples(layout, rows, found),
    }  # fmt: skip


def _condition(setup: Setup, events: Sequence[Event], progress: Progress, rows: Array, span: Span) -> tuple[int, int] | None:
    """First row and event whose condition rises through zero after that row."""
    many = span.count
    done = {index for index, _, _ in progress.happened}
    waiting = [(i, e) for i, e in enumerate(events) if e.when is not None and i not in done]
    if not waiting:
        return None
    seen = samples_of(setup, rows[: many + 1], span.times(many + 1))
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
    segment: Segment, events: Sequence[Event], progress: Progress, rows: Array, span: Span, hit: tuple[int, int]
) -> None:
    """Find the moment within a row by bisection with shorter rows, and start a new segment there."""
    setup, (i, index) = segment.setup, hit
    when = events[index].when
    assert when is not None
    begin, state = span.time(i), np.array(rows[i, : setup.layout.size])
    low, high, found = 0.0, span.h, None
    tries = 1 if segment.clock.period is not None or setup.function is not None else 45
    for _ in range(tries):
        part = high if tries == 1 else (low + high) / 2
        found, _ = block(segment, state, Span(start=begin, h=part))
        value = float(np.asarray(when(samples_of(setup, found[1:2], np.array([begin + part]))))[0])
        low, high = (part, high) if value < 0 else (low, part)
        if high - low <= 1e-12:
            break
    if tries > 1:
        found, _ = block(segment, state, Span(start=begin, h=high))
    assert found is not None
    _keep(progress, segment.clock, rows[: i + 1], span)
    progress.state = np.array(found[1, : setup.layout.size])
    _begin(setup, events, progress, begin + high, [index], found[1])


def _finish(setup: Setup, clock: Clock, events: Sequence[Event], progress: Progress, row: Array, end: float) -> None:
    """End of a segment: the timed events there happen, or the simulation is over."""
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


def _keep(progress: Progress, clock: Clock, rows: Array, span: Span) -> None:
    """Keep those of the first rows of a span at multiples of the output step, and where an event has changed something."""
    output, times = clock.every * clock.step, span.times(len(rows))
    chosen = np.abs(times / output - np.rint(times / output)) < GRID / clock.every
    if span.first == 0 and len(chosen) and any(t == times[0] for _, t, _ in progress.happened):
        chosen[0] = True
    if np.any(chosen):
        progress.rows.append(np.array(rows[chosen]))
        progress.times.append(np.array(times[chosen]))
