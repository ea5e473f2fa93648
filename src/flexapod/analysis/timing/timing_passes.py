r"""The two passes over a path, repeated where limits are not linear, and the slowing that removes what is left.

Viscous forces and powers hold the root of x. About the last pass, r = sqrt(x):

.. math:: \sqrt x \le \tfrac r2 + \tfrac{x}{2r},\qquad \frac1{\sqrt x} \ge \tfrac32\,\tfrac1r - \tfrac{x}{2r^3}

Both tangents are on the side of less speed for a force that brakes and for a power.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.timing.path_terms import FINER, PathDynamics, PathTerms
from flexapod.analysis.timing.timing_limits import FAR, TimingLimits, affine_rows, paired_rows
from flexapod.arrays import Array, Rows
from flexapod.equations.time_optimal import controllable_step, fastest_step
from flexapod.errors import InputError
from flexapod.kernels.cache import cached_kernel
from flexapod.kernels.kernel import Kernel
from flexapod.kernels.tape.sequence import sequence
from flexapod.motions.motion import Motion

RELINEARISED = 3
"""Passes about the last timing with viscous friction."""

NONLINEAR = 8
"""Passes with power limits or friction that changes with load."""

SETTLED = 1e-6
"""Change of the duration, relative, at which passes end early."""

QUADRATIC = 1e-4
"""Change at which passes end with viscous friction alone: tangents make the passes Newton's method, whose next change is about
its square."""

THINNED = 10
"""Intervals that are one in the first passes with viscous friction, whose timing is where the others begin."""

AT_REST = 1e-5
"""Squared speed over the largest, below which the tangents of the root are taken there."""

WHERE = np.array([0.0, 1.0])[:, None]
"""Both ends of an interval, as parts of its length."""

MOVING = 1e-18
"""Squared speed over the largest, at which friction has its sign and forces of speed vanish."""

KEPT = 1e-12
"""Excess over a limit that is rounding."""
EXCEEDED = "path: static forces with friction exceed the limits; raise the limits or change the path"


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Squared speeds x (n + 1,) at nodes s, accelerations u (n,) between, and the times of the nodes."""

    s: Array
    x: Array
    u: Array
    time: Array
    terms: PathTerms
    left: Array | None
    slowing: float = 1.0
    passes: int = 1
    finer: int = FINER

    def remainder(self, rows: NDArray[np.int64]) -> Array:
        """Force that the terms do not hold (friction that changes with load), at nodes."""
        zero = np.zeros((len(rows), self.terms.c.shape[1]))
        return zero if self.left is None else self.left[np.minimum(rows // self.finer, len(self.u) - 1)]


@cache
def _kernels(rows: int) -> tuple[Kernel, Kernel]:
    """Steps of both passes for a number of limit rows."""
    back = cached_kernel(f"controllable_step({rows})", lambda: controllable_step(rows))
    return back, cached_kernel(f"fastest_step({rows})", lambda: fastest_step(rows))


def fastest(dynamics: PathDynamics, terms: PathTerms, bounds: TimingLimits) -> Timing:
    """The fastest timing that keeps the limits on the grid of the terms."""
    return _slowed(dynamics, at_nodes(dynamics, terms, bounds), bounds)


def at_nodes(dynamics: PathDynamics, terms: PathTerms, bounds: TimingLimits) -> Timing:
    """The fastest timing that keeps the limits at the ends of intervals."""
    s = terms.s[::FINER]
    cap = np.minimum(bounds.cap(terms, FINER), 1e12 / (s[-1] - s[0]) ** 2)
    return _refined(dynamics, terms, bounds, s, cap)


def _refined(
    dynamics: PathDynamics, terms: PathTerms, bounds: TimingLimits, s: Array, cap: Array, most: int = NONLINEAR
) -> Timing:
    """Passes until the timing does not change, at most so many; with viscous friction alone they begin on fewer intervals."""
    powered = bool(np.isfinite(bounds.power).any())
    count = min(most, NONLINEAR if powered or terms.loaded else RELINEARISED if np.any(terms.v) else 0)
    forces, left = ForceRows(terms, bounds), None
    fixed = [acceleration_rows(terms, bounds)] if np.isfinite(bounds.acceleration).any() else []
    first = _thinned(dynamics, terms, bounds, s) if count == RELINEARISED else None
    timing = first or _both_passes(_stacked([forces.about(None, None, left), *fixed]), s, cap, terms, left)
    for k in range(count):
        if terms.loaded:
            left = _remainder(dynamics, timing)
        about = _about(timing, terms, bounds, AT_REST if k or first else 1e-3)
        rows = [forces.about(about, timing, left), *fixed]
        if powered:
            rows.append(power_rows(terms, bounds, about, left))
        new = _both_passes(_stacked(rows), s, cap, terms, left)
        done = abs(new.time[-1] - timing.time[-1]) <= (SETTLED if count == NONLINEAR else QUADRATIC) * new.time[-1]
        timing = replace(new, passes=timing.passes + 1)
        if done:
            break
    return timing


def _stacked(rows: list[tuple[Array, Array, Array, Array]]) -> tuple[Array, Array, Array, Array]:
    """Rows of several kinds of limits side by side."""
    if len(rows) == 1:
        return rows[0]
    upper, upper_slope, lower, lower_slope = (np.hstack(group) for group in zip(*rows, strict=True))
    return upper, upper_slope, lower, lower_slope


def _thinned(dynamics: PathDynamics, terms: PathTerms, bounds: TimingLimits, s: Array) -> Timing | None:
    """The timing of a grid of fewer intervals at the nodes of all; None where it has no timing or does not divide them."""
    n = len(s) - 1
    if n < 20 * THINNED or n % THINNED:
        return None
    names = ("s", "a", "b", "v", "c", "k", "dq", "ddq")
    thin = replace(terms, **{name: getattr(terms, name)[::THINNED] for name in names})
    nodes = s[::THINNED]
    cap = np.minimum(bounds.cap(thin, FINER), 1e12 / (s[-1] - s[0]) ** 2)
    try:
        few = _refined(dynamics, thin, bounds, nodes, cap, RELINEARISED - 1)
    except InputError:
        return None
    return replace(timed(s, np.interp(s, nodes, few.x), terms, None), passes=few.passes)


def _about(timing: Timing, terms: PathTerms, bounds: TimingLimits, rest: float) -> Array:
    """Roots r of squared speeds at both ends of each interval (n, 2), about which limits are made linear."""
    x = np.maximum(timing.x, rest * timing.x.max())
    if np.isfinite(bounds.power).any():  # where the static force alone needs too much power, the tangent would exclude rest
        with np.errstate(divide="ignore"):
            static = np.min(bounds.power / np.abs((terms.c + terms.k)[::FINER] * terms.dq[::FINER]), axis=1)
        x = np.minimum(x, static**2)
    return np.asarray(np.sqrt(np.stack([x[:-1], x[1:]], axis=1)))


class ForceRows:
    """Rows of the force limits at both ends of every interval; Coulomb friction with the worst sign inside it."""

    def __init__(self, terms: PathTerms, bounds: TimingLimits) -> None:
        self.n = (len(terms.s) - 1) // FINER
        self.D = terms.s[FINER] - terms.s[0]
        self.limited = np.isfinite(bounds.force)
        highest, lowest = (side[:, None, self.limited] for side in terms.coulomb)
        each = (terms.a, terms.b, terms.c, terms.v)
        self.a, self.b, c, self.v = (_both_ends(values[:, self.limited], self.n) for values in each)
        size = bounds.force[self.limited]
        self.above, self.below = size - c - highest, -size - c - lowest

    def about(self, about: Array | None, last: Timing | None, left: Array | None) -> tuple[Array, Array, Array, Array]:
        """Rows about the roots of the last timing; `left` is a force that the terms do not hold."""
        if not self.limited.any():  # speed and power are limited elsewhere: one row without effect
            far, zero = np.full((self.n, 1), FAR), np.zeros((self.n, 1))
            return far, zero, -far, zero
        bx, above, below = self.b, self.above, self.below
        if left is not None:
            above, below = (side - left[:, None, self.limited] for side in (above, below))
        if about is not None and last is not None and np.any(self.v):
            slope, most, least = _viscous(self.v, about, last)
            bx, above, below = bx + slope, above - most, below - least
        rows = (self.a + WHERE * (2 * self.D) * bx, bx, above, below)
        return paired_rows(*(part.reshape(self.n, -1) for part in rows))


def _both_ends(values: Array, n: int) -> Array:
    """Values on the fine grid at both ends of the intervals, (n, 2, m)."""
    nodes = values[::FINER]
    return np.stack([nodes[:-1], nodes[1:]], axis=1)


def _viscous(v: Array, about: Array, last: Timing) -> tuple[Array, Array, Array]:
    """v sqrt(x) as slope x + offset, with the offset that counts for the largest and for the smallest force.

    Near rest, where the tangent would help too much, v sqrt(x) is between 0 and v r instead.
    """
    tangent = v * (about / 2)[..., None]
    slope, most, least = v * (0.5 / about)[..., None], tangent, tangent
    near = np.nonzero(np.stack([last.x[:-1], last.x[1:]], axis=1) < about**2 * (1 - 1e-9))
    if len(near[0]):
        slope[near] = 0.0
        most, least = most.copy(), least.copy()
        most[near], least[near] = np.maximum(2 * tangent[near], 0.0), np.minimum(2 * tangent[near], 0.0)
    return slope, most, least


def acceleration_rows(terms: PathTerms, bounds: TimingLimits) -> tuple[Array, Array, Array, Array]:
    """Rows of |q' u + q'' x| <= limit at both ends of every interval."""
    n, D, limited = (len(terms.s) - 1) // FINER, terms.s[FINER] - terms.s[0], np.isfinite(bounds.acceleration)
    a, b = (_both_ends(values[:, limited], n) for values in (terms.dq, terms.ddq))
    most = np.broadcast_to(bounds.acceleration[limited], a.shape)
    return paired_rows(*(part.reshape(n, -1) for part in (a + WHERE * 2 * D * b, b, most, -most)))


def power_rows(terms: PathTerms, bounds: TimingLimits, about: Array, left: Array | None) -> tuple[Array, Array, Array, Array]:
    """Rows of |force| <= P / (|q'| sqrt(x)), by the tangent of 1/sqrt(x) at both ends of every interval."""
    n, r, limited = len(about), about[..., None], np.isfinite(bounds.power)
    D = terms.s[FINER] - terms.s[0]
    a, b, v, dq = (_both_ends(values, n) for values in (terms.a, terms.b, terms.v, terms.dq))
    W = bounds.power / np.maximum(np.abs(dq), 1e-12 * np.abs(dq).max())
    constant = _both_ends(terms.c + terms.k, n) + v * r / 2 + (0.0 if left is None else left[:, None])
    slope = b + v / (2 * r)
    A, B, C = [], [], []
    for sign in (1.0, -1.0):
        bx = sign * slope + W / (2 * r**3)
        A.append((sign * a + WHERE * 2 * D * bx)[..., limited])
        B.append(bx[..., limited])
        C.append((1.5 * W / r - sign * constant)[..., limited])
    return affine_rows(*(np.concatenate(group, axis=1).reshape(n, -1) for group in (A, B, C)))


def _both_passes(bounds: tuple[Array, Array, Array, Array], s: Array, cap: Array, terms: PathTerms, left: Array | None) -> Timing:
    """Backward pass for the speeds from which the end is reached, forward pass for the fastest; `bounds` as of `paired_rows`."""
    rows = dict(zip(("upper", "upper_slope", "lower", "lower_slope"), bounds, strict=True))
    n, D = len(s) - 1, np.array([s[1] - s[0]])
    back, forth = _kernels(rows["upper"].shape[1])
    reverse = {name: np.ascontiguousarray(values[::-1]) for name, values in rows.items()}
    found = sequence(
        back, {**reverse, "cap": cap[n - 1 :: -1].copy()}, {"next_low": "low", "next_high": "high"}, {"low": 0.0, "high": 0.0}, D
    )
    _refuse(found.status, found.outputs["next_low"], s, terms)
    low = np.append(found.outputs["next_low"][::-1], 0.0)
    high = np.append(found.outputs["next_high"][::-1], 0.0)
    run = sequence(forth, {**rows, "low": low[1:].copy(), "high": high[1:].copy()}, {"next_x": "x"}, {"x": 0.0}, D)
    x = np.append(0.0, run.outputs["next_x"])
    x[-1] = 0.0
    return timed(s, x, terms, left)


def timed(s: Array, x: Array, terms: PathTerms, left: Array | None) -> Timing:
    """A timing from its squared speeds: t = 2 D / (sd_i + sd_i+1) in every interval."""
    root, D = np.sqrt(x), np.diff(s)
    with np.errstate(divide="ignore"):
        spans = 2 * D / (root[1:] + root[:-1])
    if not np.all(np.isfinite(spans)):
        i = int(np.flatnonzero(~np.isfinite(spans))[0])
        raise InputError(f"path: the robot comes to a stop at parameter {s[i]:g} and cannot go on within the limits")
    return Timing(s=s, x=x, u=np.diff(x) / (2 * D), time=np.append(0.0, np.cumsum(spans)), terms=terms, left=left)


def _refuse(status: NDArray[np.int32], low: Array, s: Array, terms: PathTerms) -> None:
    """Refuse a path without a timing; the message has the place, and the actuator that needs most there."""
    bad = np.flatnonzero(status != 0)
    n = len(s) - 1
    if len(bad) == 0 and low[-1] <= 1e-9 * max(1.0, low.max()):
        return
    i = n - 1 - int(bad[0]) if len(bad) else 0
    static = np.abs(terms.c + terms.k)[FINER * i]
    what = "the limits leave no acceleration" if len(bad) else "the limits forbid a start from rest"
    raise InputError(
        f"path: {what} at parameter {s[i]:g}; holding the robot there needs forces up to {static.max():.6g}: "
        "raise the force limit, or change the path or the load"
    )


def _remainder(dynamics: PathDynamics, timing: Timing) -> Array:
    """Forces that the terms do not hold, in the middle of every interval of a timing."""
    half, x = FINER // 2, (timing.x[1:] + timing.x[:-1]) / 2
    rows = half + FINER * np.arange(len(timing.u))
    at = dynamics.poses(timing.terms.s[rows])
    exact = dynamics.forces(at, np.sqrt(x), timing.u, dynamics.friction)
    return exact - timing.terms.force(rows, x, timing.u)


def _slowed(dynamics: PathDynamics, timing: Timing, bounds: TimingLimits) -> Timing:
    """The timing made slower as a whole, as little as the limits on the finer grid ask for."""
    n, terms = len(timing.u), timing.terms
    share = np.arange(FINER + 1) / FINER
    rows = (FINER * np.arange(n)[:, None] + np.arange(FINER + 1)).ravel()
    x = (timing.x[:-1, None] * (1 - share) + timing.x[1:, None] * share).ravel()
    u = np.repeat(timing.u, FINER + 1)
    exact = dynamics.poses(terms.s) if terms.loaded else None
    # columns one after the other: arithmetic on them is five times as fast as on rows of a few actuators
    names = ("a", "b", "c", *(("v", "k") if terms.sliding else ()), *(("dq",) if bounds.kinds != ("force",) else ()))
    taken: dict[str, Any] = {name: np.take(getattr(terms, name).T, rows, axis=1).T for name in names}
    inside = replace(terms, **taken)

    def worst(part: Rows, factor: float) -> Array:
        X, U = factor**2 * x[part], factor**2 * u[part]
        force = inside.force(part, X, U) if exact is None else exact_forces(dynamics, exact, rows[part], X, U)
        return np.asarray(bounds.ratio(inside, part, X, U, force).max(axis=(-1, -2)))

    factor = 1.0
    for _ in range(20):
        ratio = worst(slice(None), factor)
        if ratio.max() <= 1 + KEPT:
            break
        factor = _kept(partial(worst, np.flatnonzero(ratio > 1 + KEPT)), factor, float(ratio.max()))
        if bounds.kinds == ("force",) and not terms.sliding:
            break  # forces are affine in the square of the factor: those within their limits stay within
    slow = timed(timing.s, factor**2 * timing.x, terms, timing.left)
    return replace(slow, slowing=factor, passes=timing.passes)


def _kept(worst: Callable[[float], Array], factor: float, ratio: float) -> float:
    """The largest slower factor with the worst ratio 1, by the secant rule inside a bracket."""
    low, high, above = 0.0, factor, ratio - 1.0
    trial = factor * (1 - 0.6 * above / ratio)
    while True:
        below = float(worst(trial).max()) - 1.0
        if -KEPT <= below <= 0.0:
            return trial
        slope = (above - below) / (high - trial)
        low, high, above = (low, trial, below) if below > 0.0 else (trial, high, above)
        if high - low <= KEPT * high:
            return low
        if high < 1e-6:
            raise InputError(EXCEEDED)
        trial = trial - (below + KEPT / 2) / slope if slope > 0.0 else 0.0
        if not low < trial < high:
            trial = (low + high) / 2


def exact_forces(dynamics: PathDynamics, poses: Motion, rows: NDArray[np.int64], x: Array, u: Array) -> Array:
    """Forces of the kernels at rows of the fine grid; at rest, friction is that of the motion beside it, as in the terms."""
    flat = rows.ravel()
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    at = Motion(time=np.arange(len(flat), dtype=float), **{name: getattr(poses, name)[flat] for name in names})
    force = dynamics.forces(at, np.sqrt(np.maximum(x, MOVING * x.max()).ravel()), u.ravel(), True)
    return force.reshape(*rows.shape, -1)
