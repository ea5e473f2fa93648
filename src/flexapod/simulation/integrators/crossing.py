r"""Crossing, in one step, of a position at which every choice of independent coordinates fails (a bifurcation of the loops).

With A the loops' rows by all coordinates, made dimensionless, and r their rank elsewhere, such a position has

.. math:: \sigma_r(A) = 0

Near it rounding is divided by its distance once for positions, twice for rates, three times for accelerations. The motion itself
is smooth there. One step of a collocation method therefore leads across it, so long that the position lies in the middle
between two nodes: nothing is evaluated near it. A second step, with the position between two other nodes, is the check. Output
times within the step are reached from its nearer end, without crossing the position.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.elastic_plan import Configuration, loop_matrix
from flexapod.robot.geometry import pose
from flexapod.simulation.integrators.collocation import METHODS

if TYPE_CHECKING:
    from flexapod.simulation.system.layout import Layout

Step = Callable[[Array, float, float], Array]
"""(state, time, length) -> the whole row at the end of one step; NaN where the step fails."""

LOOK = 0.1
"""Motion of the fastest joint (radians, or characteristic lengths) between two looks at the loops."""

ACROSS = 0.2
"""Motion of the fastest joint in the longest step across. Nodes are then 0.04 away from the position: positions keep 1e-14,
rates 1e-12; the error of the step itself is 0.2^7 / 2e6 of the motion where that has no faster part."""

RESOLVED = 0.5
"""Least ratio of margins of successive rows where steps of the simulation resolve a position that is only nearly singular. Rows
on both sides of a singular one have 1/3 or less, wherever it lies between them."""

LENGTHS = (1.0, 0.5, 0.25)
"""Steps across that are tried, in parts of the first, whose fastest joint moves by `ACROSS`."""

AGREED = 1e-11
"""Difference of two ways across (radians or lengths, and rates by the largest) at which no other length is tried."""

DIFFERENT = 1e-6
"""Difference of the best two ways across beyond which the simulation ends: the motion after it is not known."""

OFF = 0.25
"""Distance from the extrapolated motion, in parts of the step's motion, beyond which joints are on another branch."""

UNDETERMINED = (
    "at t = {time:.6g} s the loops reach a singular position, where every choice of independent coordinates fails and branches "
    "of the motion meet: {why}. Shorten the step, start elsewhere, or let a drive or a spring decide which branch is taken"
)


def configuration(layout: Layout, state: Array) -> Configuration:
    """Coordinates of every leg and pose of the platform in carried numbers."""
    place = layout.places
    counts = np.cumsum([len(leg.moving) for leg in layout.robot.legs])[:-1]
    frame = pose(state[place["p"]], state[place["R"]].reshape(3, 3).T)
    return list(np.split(state[place["joints"]], counts)), frame


def loops_of(layout: Layout, state: Array) -> Array:
    """A (rows, z) at carried numbers."""
    robot, plan = layout.robot, layout.robot.elastic_plan
    return np.vstack(loop_matrix(robot, plan.carrier, plan.first, len(plan.columns), configuration(layout, state)))


def margin(layout: Layout, A: Array) -> float:
    """sigma_r of the loops' rows: zero where no choice of independent coordinates solves them."""
    return float(np.linalg.svd(A, compute_uv=False)[len(layout.robot.elastic_plan.bound) - 1])


@dataclass(kw_only=True, eq=False)
class Lookout:
    """Recent checks of the loops during a simulation: times, margins and coordinates."""

    times: list[float] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    trail: list[Array] = field(default_factory=list)

    def note(self, layout: Layout, time: float, state: Array, A: Array) -> None:
        """A look at a state; three are kept."""
        if self.times and time <= self.times[-1]:
            return
        self.times = [*self.times[-2:], time]
        self.margins = [*self.margins[-2:], margin(layout, A)]
        self.trail = [*self.trail[-2:], scaled(layout, state)]

    def forget(self) -> None:
        """Begin again, after a step across."""
        self.times, self.margins, self.trail = [], [], []

    @property
    def speed(self) -> float:
        """Speed of the fastest joint [1/s] between the last two looks."""
        if len(self.times) < 2:
            return np.inf
        return float(np.abs(self.trail[-1] - self.trail[-2]).max() / (self.times[-1] - self.times[-2]))

    @property
    def left(self) -> float:
        """Time [s] from the last look to the position at which the margin vanishes, by linear extrapolation of the last two."""
        if len(self.times) < 2 or self.margins[-1] >= self.margins[-2]:
            return np.inf
        return self.margins[-1] * (self.times[-1] - self.times[-2]) / (self.margins[-2] - self.margins[-1])

    def rows(self, h: float, many: int, method: str) -> int:
        """Rows to the next look: at most `many`, the motion of a look, or to where the step across begins; 0: it begins here."""
        if len(self.times) < 2:
            return 1
        motion = self.speed * h
        count = min(many, max(1, int(LOOK / motion))) if motion * many > LOOK else many
        across = middles(method)[0] * ACROSS / max(self.speed, 1e-300)
        rest = (self.left - across) / h  # rows; the margin falls faster than a line, so it is halved
        return count if rest > 2 * count else max(1, int(rest / 2)) if rest >= 1 else 0

    def extrapolated(self, time: float) -> Array:
        """Coordinates at a time after the last look, by the polynomial through the looks."""
        result = np.zeros_like(self.trail[-1])
        for t, point in zip(self.times, self.trail, strict=True):
            result += point * np.prod([(time - s) / (t - s) for s in self.times if s != t])
        return result


def scaled(layout: Layout, state: Array) -> Array:
    """Joint coordinates: angles, and lengths by the characteristic one."""
    links = [leg.links[k] for leg in layout.robot.legs for k in leg.moving]
    unit = np.array([1.0 / layout.robot.characteristic_length if link.kind == "P" else 1.0 for link in links])
    return np.asarray(state[layout.places["joints"]] * unit)


def middles(method: str) -> tuple[float, float]:
    """The two widest gaps between nodes of a step: their middles, in parts of the step."""
    nodes = np.concatenate([[0.0], METHODS[method].c, [1.0]])
    widest = np.sort(np.argsort(np.diff(nodes))[-2:])
    first, last = (float((nodes[k] + nodes[k + 1]) / 2.0) for k in widest)
    return first, last


@dataclass(frozen=True, kw_only=True, eq=False)
class Crossing:
    """A step across: time [s] of its end and of the singular position, the row at its end, difference of two ways."""

    end: float
    singular: float
    row: Array
    difference: float


def crossed(layout: Layout, step: Step, look: Lookout, state: Array, time: float, end: float) -> Crossing | str:
    """The best step across from a state at a time, ending before `end`; the reason where there is none.

    Checked by: tests/simulation/test_crossing.py.
    """
    best: Crossing | None = None
    why, (first, last) = "no step leads across it", middles(layout.method)
    for part in LENGTHS:
        rest = part * look.left  # the step begins this time before the position
        begin, ahead, length = state, look.left - rest, rest / first
        if time + ahead + length > end:
            continue
        if ahead > 0.0:
            begin = step(state, time, ahead)[: layout.size]
        row = step(begin, time + ahead, length)
        middle = step(begin, time + ahead, rest / last)[: layout.size]
        other = step(middle, time + ahead + rest / last, length - rest / last)
        found = difference(layout, row, other)
        if not np.isfinite(found):
            continue
        off = float(np.abs(scaled(layout, row) - look.extrapolated(time + ahead + length)).max())
        if off > OFF * look.speed * (ahead + length):
            why = "beyond it the joints are on another branch than before it"
        elif best is None or found < best.difference:
            best = Crossing(end=time + ahead + length, singular=time + look.left, row=row, difference=found)
        if best is not None and best.difference < AGREED:
            break
    if best is not None and best.difference > DIFFERENT:
        return f"two ways across it differ by {best.difference:.1e}"
    return why if best is None else best


def difference(layout: Layout, one: Array, other: Array) -> float:
    """Largest difference of two rows: coordinates, and rates by the largest."""
    rates = layout.places["ud"]
    largest = max(float(np.abs(one[rates]).max(initial=0.0)), 1e-12)
    apart = float(np.abs(scaled(layout, one) - scaled(layout, other)).max())
    return max(apart, float(np.abs(one[rates] - other[rates]).max(initial=0.0)) / largest)
