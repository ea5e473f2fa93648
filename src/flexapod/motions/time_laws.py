r"""Time laws: the distance along a path over time, s(t), with exact first and second derivatives.

Letters: T duration, s travel, u = t / T. A law holds its first value before 0 and its last value after T, at rest there.
Laws with phases of constant acceleration or jerk are in `phase_laws`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import by_name
from flexapod.errors import InputError
from flexapod.motions.argument_checks import finite_array, number, positive

Values = tuple[Array, Array, Array]
"""s, s', s'' at the same times."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TimeLaw:
    """A scalar law of time.

    Args:
        name: of the law.
        duration: T [s].
        distance: travel that paths take for the whole way [unit of s]; paths follow s / distance.
        formula: times in [0, T] to s, s', s''.
        breaks: times inside (0, T) where s'' or s''' jumps.
    """

    name: str
    duration: float
    distance: float
    formula: Callable[[Array], Values]
    breaks: tuple[float, ...] = ()

    def __call__(self, t: ArrayLike) -> Values:
        """s, s', s'' at times of any shape; at rest before 0 and after the duration."""
        time = finite_array("time", t, np.shape(t))
        s, sd, sdd = self.formula(np.clip(time, 0.0, self.duration))
        inside = (time >= 0.0) & (time <= self.duration)
        return np.asarray(s), np.where(inside, sd, 0.0), np.where(inside, sdd, 0.0)

    def fraction(self, t: ArrayLike) -> Values:
        """s / distance and its derivatives: what paths follow."""
        s, sd, sdd = self(t)
        return s / self.distance, sd / self.distance, sdd / self.distance

    def stretched(self, duration: float) -> TimeLaw:
        """The same law over another duration: s(t T / duration)."""
        rate = self.duration / positive("duration", duration)
        formula = partial(_stretched, formula=self.formula, rate=rate, last=self.duration)
        breaks = tuple(b / rate for b in self.breaks)
        return replace(self, duration=float(duration), formula=formula, breaks=breaks)

    def scaled(self, factor: float) -> TimeLaw:
        """The same law with its travel multiplied."""
        k = number("factor", factor)
        if k == 0.0:
            raise InputError("factor: must not be zero; a law needs a distance to travel")
        return replace(self, distance=k * self.distance, formula=partial(_scaled, formula=self.formula, factor=k))


def _stretched(t: Array, *, formula: Callable[[Array], Values], rate: float, last: float) -> Values:
    s, sd, sdd = formula(np.minimum(rate * t, last))
    return s, rate * sd, rate**2 * sdd


def _scaled(t: Array, *, formula: Callable[[Array], Values], factor: float) -> Values:
    s, sd, sdd = formula(t)
    return factor * s, factor * sd, factor * sdd


@by_name
def cosine(duration: float, *, distance: float = 1.0, cycles: float = 0.5) -> TimeLaw:
    r"""Cosine law.

    .. math:: s = \tfrac{d}{2}\,(1 - \cos\omega t),\quad \omega = 2\pi\,\text{cycles}/T

    Half a cycle goes from 0 to the distance; a whole one goes there and back, as in the paper (distance 2, T = 3 s).

    Args:
        duration: T [s].
        distance: d, travel of the whole law.
        cycles: how many in T.

    Source: Staicu 2009, Eq. (6). Checked by: tests/motions/test_time_laws.py.
    """
    T, d = positive("duration", duration), _distance(distance)
    omega = 2 * np.pi * positive("cycles", cycles) / T
    return TimeLaw(name="cosine", duration=T, distance=d, formula=partial(_cosine, half=d / 2, omega=omega))


def _cosine(t: Array, *, half: float, omega: float) -> Values:
    c, s = np.cos(omega * t), np.sin(omega * t)
    return half * (1 - c), half * omega * s, half * omega**2 * c


@by_name
def polynomial(duration: float, coefficients: Sequence[float], *, distance: float = 1.0, name: str = "polynomial") -> TimeLaw:
    """s = distance * sum c_k u^k with u = t / T.

    Args:
        duration: T [s].
        coefficients: c_0, c_1, ...
        distance: d, travel of the whole law.
        name: of the law.

    Checked by: tests/motions/test_time_laws.py.
    """
    T, d = positive("duration", duration), _distance(distance)
    c = finite_array("coefficients", coefficients, (len(coefficients),))
    return TimeLaw(name=name, duration=T, distance=d, formula=partial(_polynomial, c=d * c, T=T))


def _polynomial(t: Array, *, c: Array, T: float) -> Values:
    u, values = np.asarray(t / T), []
    for k in range(3):
        values.append(_horner(u, c) / T**k)
        c = np.arange(1, len(c)) * c[1:]
    s, sd, sdd = values
    return s, sd, sdd


def _horner(u: Array, c: Array) -> Array:
    """Sum of c_k u^k."""
    value = np.full(u.shape, c[-1] if len(c) else 0.0)
    for ck in c[-2::-1]:
        value *= u
        value += ck
    return value


@by_name
def quintic(duration: float, *, distance: float = 1.0) -> TimeLaw:
    r"""5th-order polynomial at rest at both ends, without a jump of acceleration; the least jerk from rest to rest.

    .. math:: s = d\,(10u^3 - 15u^4 + 6u^5)

    Args:
        duration: T [s].
        distance: d, travel of the whole law.

    Checked by: tests/motions/test_time_laws.py.
    """
    return polynomial(duration, (0, 0, 0, 10, -15, 6), distance=distance, name="quintic")


@by_name
def septic(duration: float, *, distance: float = 1.0) -> TimeLaw:
    """7th-order polynomial: as quintic, and without a jump of jerk.

    Args:
        duration: T [s].
        distance: d, travel of the whole law.

    Checked by: tests/motions/test_time_laws.py.
    """
    return polynomial(duration, (0, 0, 0, 0, 35, -84, 70, -20), distance=distance, name="septic")


@by_name
def cycloidal(duration: float, *, distance: float = 1.0) -> TimeLaw:
    r"""Cycloid: :math:`s = d\,(u - \sin(2\pi u)/2\pi)`.

    Args:
        duration: T [s].
        distance: d, travel of the whole law.

    Checked by: tests/motions/test_time_laws.py.
    """
    T, d = positive("duration", duration), _distance(distance)
    return TimeLaw(name="cycloidal", duration=T, distance=d, formula=partial(_cycloidal, d=d, T=T))


def _cycloidal(t: Array, *, d: float, T: float) -> Values:
    w = 2 * np.pi / T
    return d * (t / T - np.sin(w * t) / (2 * np.pi)), d / T * (1 - np.cos(w * t)), d / T * w * np.sin(w * t)


@by_name
def constant_speed(duration: float, *, distance: float = 1.0) -> TimeLaw:
    """s = distance * t / T: the speed jumps at both ends.

    Args:
        duration: T [s].
        distance: d, travel of the whole law.

    Checked by: tests/motions/test_time_laws.py.
    """
    return polynomial(duration, (0, 1), distance=distance, name="constant speed")


@by_name
def harmonic(duration: float, *, omega: float, amplitude: float = 1.0, phase: float = 0.0) -> TimeLaw:
    r"""Harmonic law :math:`s = a \sin(\omega t + \varphi)`; its distance is the amplitude.

    Args:
        duration: T [s].
        omega: [rad/s]; amplitude: a; phase: [rad].

    Checked by: tests/motions/test_time_laws.py.
    """
    T, a = positive("duration", duration), _distance(amplitude, "amplitude")
    formula = partial(_harmonic, a=a, omega=number("omega", omega), phase=number("phase", phase))
    return TimeLaw(name="harmonic", duration=T, distance=a, formula=formula)


def _harmonic(t: Array, *, a: float, omega: float, phase: float) -> Values:
    s, c = np.sin(omega * t + phase), np.cos(omega * t + phase)
    return a * s, a * omega * c, -a * omega**2 * s


@by_name
def minimum_jerk(duration: float, *, start: Sequence[float] = (0.0, 0.0, 0.0), end: Sequence[float] = (1.0, 0.0, 0.0)) -> TimeLaw:
    r"""Least integral of jerk squared between two given states (s, s', s''): a 5th-order polynomial.

    .. math:: \min \int_0^T \dddot s^2\,dt \;\Rightarrow\; s^{(6)} = 0

    Its distance is s(T) - s(0), or 1 where both are equal.

    Args:
        duration: T [s].
        start, end: (s, s', s'') at time 0 and at T.

    Checked by: tests/motions/test_time_laws.py.
    """
    T = positive("duration", duration)
    s0, v0, a0 = finite_array("start", start, (3,))
    s1, v1, a1 = finite_array("end", end, (3,))
    c = [s0, v0 * T, a0 * T**2 / 2]  # in u = t / T
    ends = np.array([s1 - sum(c), v1 * T - c[1] - 2 * c[2], a1 * T**2 - 2 * c[2]])
    # [1 1 1; 3 4 5; 6 12 20] (c3, c4, c5) = ends, inverted by hand
    inverse = np.array([[10.0, -4.0, 0.5], [-15.0, 7.0, -1.0], [6.0, -3.0, 0.5]])
    coefficients = np.array([*c, *(inverse @ ends)])
    law = polynomial(T, coefficients.tolist(), name="minimum jerk")
    return replace(law, distance=float(s1 - s0) or 1.0)


def _distance(value: ArrayLike, name: str = "distance") -> float:
    result = number(name, value)
    if result == 0.0:
        raise InputError(f"{name}: must not be zero; a law needs a distance to travel")
    return result
