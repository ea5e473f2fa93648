"""Singular positions during a simulation: each is crossed in one step, or the simulation ends before it with the reason."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np

from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.simulation.integrators.blocks import Segment, block
from flexapod.simulation.integrators.collocation import METHODS
from flexapod.simulation.integrators.crossing import RESOLVED, UNDETERMINED, Crossing, Lookout, crossed, loops_of, margin
from flexapod.simulation.system.setup import Setup
from flexapod.simulation.system.signals import Span

ROUNDED = 1e-7
"""Missing part of the kinetic energy after a passage that may be rounding; more is an error of the step, and stays to be seen."""


def may_cross(segment: Segment) -> bool:
    """A controller that holds its force from tick to tick has no step of another length; explicit steps have a stage at their
    start, so that none lies across."""
    setup = segment.setup
    return segment.clock.period is None and setup.function is None and setup.layout.method in METHODS


def step_across(segment: Segment, state: Array, look: Lookout, time: float, end: float) -> Crossing | str:
    """A step across the singular position ahead of a state at a time, or the reason why there is none.

    At the end of the simulation the step may lead beyond it, if its signals go on.
    """

    def step(state: Array, at: float, length: float) -> Array:
        return one_step(segment, state, at, length)[1]

    layout = segment.setup.layout
    found = crossed(layout, step, look, state, time, end)
    if not isinstance(found, Crossing) and end >= segment.clock.duration:
        with contextlib.suppress(InputError):  # the motion or table that drives it ends
            found = crossed(layout, step, look, state, time, np.inf)
    return with_energy_balance(segment.setup, state, found) if isinstance(found, Crossing) else found


def with_energy_balance(setup: Setup, state: Array, found: Crossing) -> Crossing:
    r"""The crossing with rates scaled by what its energy balance leaves: rounding is divided by the distance of the nodes from
    the position twice, which is 1e-10 of the rates in long chains.

    .. math:: \dot u \leftarrow \dot u\sqrt{1 - r / T},\qquad r = \Delta(T + U + E) - \Delta W
    """
    from flexapod.simulation.results.result import observed

    layout, row = setup.layout, np.array(found.row)
    states, place = np.array([state, row[: layout.size]]), layout.places
    energy = observed(setup, states)["energy"]
    spent = states[:, place["dissipated"]].sum(axis=1)
    work = states[:, place["work"]].sum(axis=1) + states[:, place["external"]].sum(axis=1) - spent
    left, moving = float(np.diff(energy.sum(axis=1) - work)[0]), float(energy[1, 0])
    if not abs(left) < ROUNDED * moving:
        return found
    for name in ("ud", "v", "w"):
        row[place[name]] *= np.sqrt(1.0 - left / moving)
    return replace(found, row=row)


def one_step(segment: Segment, state: Array, time: float, length: float) -> tuple[Array, Array]:
    """Whole rows at the start and at the end of one step; the second is NaN where the step fails."""
    none = np.full(segment.runner.width, np.nan)
    if not np.isfinite(state).all():
        return none, none
    rows, _ = block(segment, state, Span(start=time, h=length))
    failed = rows[1, segment.setup.layout.places["code"].start] != 0
    return rows[0], none if failed else rows[1]


def rows_within(segment: Segment, state: Array, time: float, passage: Crossing, grid: float) -> tuple[Array, Array]:
    """Times of outputs from a state to the end of the step across (or of the simulation), that excluded, and their rows."""
    clock = segment.clock
    output, end = clock.every * clock.step, min(passage.end, clock.duration)
    times = [output * k for k in range(int(np.ceil(time / output - grid)), int(np.ceil(end / output - grid)))]
    rows = [row_at(segment, state, time, passage, t) for t in times]
    return np.array(times), np.array(rows).reshape(len(rows), segment.runner.width)


def row_at(segment: Segment, state: Array, time: float, passage: Crossing, t: float) -> Array:
    """Row at a time within a crossing: by one step from the end of it that is on the same side of the singular position."""
    begin, at = (state, time) if t <= passage.singular else (passage.row[: segment.setup.layout.size], passage.end)
    start, row = one_step(segment, begin, at, t - at)
    return start if t == at else row


def unresolved(segment: Segment, rows: Array) -> bool:
    """Rows of ordinary steps, taken where no step leads across, jump over the position or fail there."""
    layout, runner = segment.setup.layout, segment.runner
    states = rows[:, : layout.size]
    codes = states[:, layout.places["code"].start]
    if np.any(codes != 0):  # a stroke that ends there is a reason of its own
        return "stroke" not in runner.reason(codes[codes != 0][0])
    margins = np.array([margin(layout, loops_of(layout, state)) for state in states])
    ratios = margins[1:] / margins[:-1]
    return bool(np.any(np.minimum(ratios, 1.0 / ratios) < RESOLVED))


def reason(look: Lookout, why: str) -> str:
    """Reason why a simulation ends at a singular position."""
    return UNDETERMINED.format(time=look.times[-1] + look.left, why=why)
