r"""Time laws made of phases: constant acceleration (Kim Eq. 33), trapezoidal speed, jerk-limited S-curve of 7 phases.

Letters: d distance, v, a, j largest speed, acceleration and jerk; Tj, Ta, Tv durations of a jerk phase, of speeding up
as a whole, of cruising. Symmetric laws are computed up to T / 2 and mirrored, s(t) = d - s(T - t), so that they end at
the distance and at rest without rounding.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from flexapod.arrays import Array
from flexapod.calls import by_name
from flexapod.errors import InputError
from flexapod.motions.argument_checks import number, positive
from flexapod.motions.time_laws import TimeLaw, Values


@by_name
def constant_acceleration(duration: float, *, acceleration: float = 1.0, switch: float | None = None) -> TimeLaw:
    r"""Constant acceleration, then the opposite from the switch on.

    .. math:: \ddot s = a\;(0\le t\le t_s),\qquad \ddot s = -a\;(t_s < t\le T)

    Args:
        duration: T [s].
        acceleration: a.
        switch: t_s [s], where the first value still holds; T / 2 if left out, which ends at rest; T never turns round.

    Source: Kim 2002, Eq. (33). Checked by: tests/motions/test_phase_laws.py.
    """
    T, a = positive("duration", duration), number("acceleration", acceleration)
    ts = T / 2 if switch is None else number("switch", switch)
    if not 0 < ts <= T:
        raise InputError(f"switch: must lie in (0, {T:g}] s, got {ts:g}")
    formula = partial(_switched, a=a, ts=ts)
    travel = float(formula(np.asarray(T))[0])
    distance = travel if abs(travel) > 1e-12 * abs(a) * T**2 else 1.0  # a law back at its start has no travel to divide by
    breaks = () if ts == T else (ts,)
    return TimeLaw(name="constant acceleration", duration=T, distance=distance, formula=formula, breaks=breaks)


def _switched(t: Array, *, a: float, ts: float) -> Values:
    after = np.maximum(t - ts, 0.0)
    s = a * t**2 / 2 - a * after**2
    return s, a * t - 2 * a * after, np.where(t <= ts, a, -a)


@by_name
def trapezoidal(*, distance: float = 1.0, speed: float, acceleration: float) -> TimeLaw:
    """Speeding up, cruising, slowing down in the shortest time; triangular where the distance is too short to cruise.

    Args:
        distance: d, either sign.
        speed, acceleration: largest magnitudes [per s, per s^2].

    Checked by: tests/motions/test_phase_laws.py.
    """
    d, v, a = number("distance", distance), positive("speed", speed), positive("acceleration", acceleration)
    way = _way(d)
    peak = min(v, np.sqrt(a * way))
    Ta = peak / a
    Tv = max(way / peak - Ta, 0.0)
    return _mirrored("trapezoidal", d, (Ta, Tv / 2), (a, 0.0), (0.0, 0.0))


@by_name
def s_curve(*, distance: float = 1.0, speed: float, acceleration: float, jerk: float) -> TimeLaw:
    r"""Jerk-limited law from rest to rest in the shortest time: 7 phases, fewer where a limit is not reached.

    .. math:: T_j = \min(a/j, \sqrt{v/j}),\quad T_a = T_j + \max(v/a, T_j),\quad T_v = d/v - T_a

    and where this makes T_v negative the speed is not reached:
    :math:`T_a = T_j/2 + \sqrt{T_j^2/4 + d/a}` with :math:`T_j = a/j` if :math:`d\ge 2a^3/j^2`, otherwise
    :math:`T_j = \sqrt[3]{d/2j},\ T_a = 2T_j`.

    Args:
        distance: d, either sign.
        speed, acceleration, jerk: largest magnitudes.

    Source: Biagiotti and Melchiorri, Trajectory Planning for Automatic Machines and Robots, section 3.4.
    Checked by: tests/motions/test_phase_laws.py.
    """
    d, v = number("distance", distance), positive("speed", speed)
    a, j = positive("acceleration", acceleration), positive("jerk", jerk)
    way = _way(d)
    Tj = min(a / j, np.sqrt(v / j))
    Ta = Tj + max(v / a, Tj)
    Tv = way / v - Ta
    if Tv < 0:
        Tv = 0.0
        if way >= 2 * a**3 / j**2:
            Tj = a / j
            Ta = Tj / 2 + np.sqrt(Tj**2 / 4 + way / a)
        else:
            Tj = np.cbrt(way / (2 * j))
            Ta = 2 * Tj
    flat = max(Ta - 2 * Tj, 0.0)
    return _mirrored("s-curve", d, (Tj, flat, Tj, Tv / 2), (0.0, j * Tj, j * Tj, 0.0), (j, 0.0, -j, 0.0))


def _way(distance: float) -> float:
    if distance == 0.0:
        raise InputError("distance: must not be zero; a law needs a distance to travel")
    return abs(distance)


Numbers = tuple[float, ...]


def _mirrored(name: str, d: float, lengths: Numbers, accelerations: Numbers, jerks: Numbers) -> TimeLaw:
    """A law from the phases of its first half: their lengths, accelerations at their starts, and jerks."""
    starts = np.concatenate([[0.0], np.cumsum(lengths)])
    half = float(starts[-1])
    s, v = [0.0], [0.0]
    for T, a, j in zip(lengths, accelerations, jerks, strict=True):
        s.append(s[-1] + v[-1] * T + a * T**2 / 2 + j * T**3 / 6)
        v.append(v[-1] + a * T + j * T**2 / 2)
    # the phases meet at half the way up to rounding; scaled to meet there exactly
    scale = d / 2 / s[-1]
    table = scale * np.array([s[:-1], v[:-1], accelerations, jerks])
    inner = {float(x) for x in starts[1:-1]}
    breaks = tuple(sorted({b for b in inner | {2 * half - b for b in inner} if 0 < b < 2 * half}))
    formula = partial(_phases, d=d, half=half, starts=starts[:-1], table=table)
    return TimeLaw(name=name, duration=2 * half, distance=d, formula=formula, breaks=breaks)


def _phases(t: Array, *, d: float, half: float, starts: Array, table: Array) -> Values:
    second = t > half
    tau = np.where(second, 2 * half - t, t)
    k = np.searchsorted(starts, tau, side="right") - 1
    s0, v0, a0, j = table[:, k]
    x = tau - starts[k]
    s = s0 + v0 * x + a0 * x**2 / 2 + j * x**3 / 6
    v = v0 + a0 * x + j * x**2 / 2
    a = a0 + j * x
    return np.where(second, d - s, s), v, np.where(second, -a, a)
