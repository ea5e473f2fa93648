r"""Timings with bounded jerk: the fastest one without, averaged over a window of time and slowed.

With S the integral of s over time and h the window,

.. math:: s_h = \frac{S(t)-S(t-h)}h,\quad \dot s_h = \frac{s(t)-s(t-h)}h,\quad \ddot s_h = \frac{\dot s(t)-\dot s(t-h)}h,
          \quad \dddot s_h = \frac{\ddot s(t)-\ddot s(t-h)}h

so that the path is followed from end to end, from rest to rest, with an acceleration that does not jump. Limits are then kept
by slowing as a whole: rates scale with k, accelerations with k^2, jerks with k^3. A step of the acceleration by a becomes a jerk
of a / h, so that the timing is also made with accelerations limited to the jerk limit times h, or a part of it. The window and
the part with the shortest result are taken. This is a good timing, not the fastest one that a jerk limit allows.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flexapod.analysis.timing.path_terms import FINER, PathDynamics, path_at
from flexapod.analysis.timing.timing_limits import TimingLimits
from flexapod.analysis.timing.timing_passes import EXCEEDED, KEPT, Timing, at_nodes
from flexapod.arrays import Array
from flexapod.errors import InputError

NARROWEST, WIDEST = 1e-3, 8.0
"""Windows that are tried, over the duration without a limit of the jerk."""

TRIALS = 18

FRACTIONS = (1.0, 0.5)
"""Limits of accelerations that are tried, over jerk limit times window: steps from rest, and from one limit to the other."""


@dataclass(frozen=True, kw_only=True)
class Averaged:
    """A timing averaged over a window h [s] and run at `rate` times its speed."""

    timing: Timing
    window: float
    rate: float

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.timing.time[-1] + self.window) / self.rate

    @property
    def jumps(self) -> Array:
        """Times at which the jerk jumps and forces have corners: either end of the window meets a node."""
        return np.asarray(np.union1d(self.timing.time, self.timing.time + self.window) / self.rate)

    def __call__(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """s and its first three derivatives at times t."""
        now, before = (_moments(self.timing, self.rate * t - shift) for shift in (0.0, self.window))
        s, sd, sdd, sddd = ((a - b) / self.window for a, b in zip(now, before, strict=True))
        return s, self.rate * sd, self.rate**2 * sdd, self.rate**3 * sddd


def _moments(timing: Timing, t: Array) -> tuple[Array, Array, Array, Array]:
    """Integral of s, s, sd, sdd at times t; s stays at its ends before and after."""
    spans = np.diff(timing.time)
    root = np.sqrt(timing.x[:-1])
    areas = spans * (timing.s[:-1] + spans * (root / 2 + spans * timing.u / 6))
    sums = np.append(0.0, np.cumsum(areas))
    T = timing.time[-1]
    inside = np.clip(t, 0.0, T)
    i = np.clip(np.searchsorted(timing.time, inside, side="right") - 1, 0, len(spans) - 1)
    d, u = inside - timing.time[i], timing.u[i]
    S = sums[i] + d * (timing.s[i] + d * (root[i] / 2 + d * u / 6))
    S = S + np.where(t < 0.0, timing.s[0] * t, np.where(t > T, timing.s[-1] * (t - T), 0.0))
    moving = (t > 0.0) & (t < T)
    s = timing.s[i] + d * (root[i] + d * u / 2)
    return S, s, np.where(moving, np.maximum(root[i] + d * u, 0.0), 0.0), np.where(moving, u, 0.0)


def with_jerk(dynamics: PathDynamics, timing: Timing, bounds: TimingLimits) -> Averaged:
    """The averaged timing with the window that makes it shortest, within all limits.

    Checked by: tests/analysis/test_time_optimal.py.
    """
    check = _Check(dynamics, timing, bounds)
    windows = float(timing.time[-1]) * np.geomspace(NARROWEST, WIDEST, TRIALS)
    found = [check.tried(float(h)) for h in windows]
    best = min(range(TRIALS), key=lambda i: found[i].duration)
    low, high = windows[max(best - 1, 0)], windows[min(best + 1, TRIALS - 1)]
    chosen = min([found[best], *(check.tried(float(h)) for h in np.linspace(low, high, 9))], key=lambda one: one.duration)
    return check.slowed(replace(chosen, rate=1.0), exact=True)


class _Check:
    """Excess of averaged timings over the limits."""

    def __init__(self, dynamics: PathDynamics, timing: Timing, bounds: TimingLimits) -> None:
        self.dynamics, self.terms, self.bounds, self.count = dynamics, timing.terms, bounds, FINER * len(timing.u) + 1
        self.timing, self.ddq = timing, timing.terms.ddq
        self.dddq = np.gradient(self.ddq, self.terms.s, axis=0, edge_order=2)

    def tried(self, window: float) -> Averaged:
        """The best of timings whose accelerations keep such limits that the window makes jerks of about the limit of them."""
        timings = [self.timing]
        for share in FRACTIONS:
            with suppress(InputError):
                held = replace(self.bounds, acceleration=share * window * self.bounds.jerk)
                timings.append(at_nodes(self.dynamics, self.terms, held))
        found = [self.slowed(Averaged(timing=one, window=window, rate=1.0), exact=False) for one in timings]
        return min(found, key=lambda one: one.duration)

    def slowed(self, timing: Averaged, exact: bool) -> Averaged:
        """The timing slowed until it keeps the limits at its samples."""
        jumps = timing.jumps
        t = (jumps[1:] + jumps[:-1]) / 2  # one time between any two jumps has every jerk
        if exact:
            t = np.union1d(np.append(t, jumps), np.linspace(0.0, timing.duration, self.count))
        s, sd, sdd, sddd = timing(t)
        s = np.clip(s, self.terms.s[0], self.terms.s[-1])
        dq, ddq, dddq = (self._at(s, values) for values in (self.terms.dq, self.ddq, self.dddq))
        jerk = dq * sddd[:, None] + 3 * ddq * (sd * sdd)[:, None] + dddq * (sd**3)[:, None]
        forces = self._forces(s, sd, sdd, exact)

        def worst(k: float) -> float:
            force = forces(k)
            rate = np.abs(dq) * sd[:, None] * k
            sizes = (np.abs(force) / self.bounds.force, rate / self.bounds.speed, np.abs(force) * rate / self.bounds.power)
            return float(max(*(size.max() for size in sizes), k**3 * np.abs(jerk / self.bounds.jerk).max()))

        high = 1.0
        if worst(high) <= 1 + KEPT:
            return timing
        low = 0.5
        while worst(low) > 1:
            low, high = low / 2, low
            if low < 1e-6:
                raise InputError(EXCEEDED)
        while high - low > (1e-10 if exact else 1e-4) * high:
            middle = (low + high) / 2
            low, high = (middle, high) if worst(middle) <= 1 else (low, middle)
        return Averaged(timing=timing.timing, window=timing.window, rate=timing.rate * low)

    def _at(self, s: Array, values: Array) -> Array:
        return np.column_stack([np.interp(s, self.terms.s, column) for column in values.T])

    def _forces(self, s: Array, sd: Array, sdd: Array, exact: bool) -> Any:
        terms = self.terms
        if exact and terms.loaded:
            at = path_at(self.dynamics.path, s)
            return lambda k: self.dynamics.forces(at, k * sd, k**2 * sdd, self.dynamics.friction)
        a, b, c, v, f = (self._at(s, values) for values in (terms.a, terms.b, terms.c, terms.v, terms.k))
        second, first, static = a * sdd[:, None] + b * (sd**2)[:, None], v * sd[:, None], c + f
        return lambda k: k**2 * second + k * first + static
