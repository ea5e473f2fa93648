r"""Input shapers: a motion split into delayed parts whose vibrations cancel each other.

Letters: A_i, t_i amplitudes and delays of the impulses, sum A_i = 1; omega, zeta of the mode; T its period, damped;
K = exp(-zeta pi / sqrt(1 - zeta^2)). The shaped motion is :math:`q_s(t) = \sum_i A_i\,q(t - t_i)`. What is left of the vibration
that one impulse would leave is

.. math:: V = e^{-\zeta\omega t_n}\left|\sum_i A_i\,e^{\zeta\omega t_i}\,e^{i\,\omega\sqrt{1-\zeta^2}\,t_i}\right|
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import by_name
from flexapod.errors import InputError
from flexapod.motions.argument_checks import positive
from flexapod.motions.combine import resample
from flexapod.motions.motion import ActuatorMotion, with_formula

KINDS = ("zv", "zvd", "ei")
REST = 1e-9
"""Speed at the ends of a motion, of the largest on the way, at which it counts as at rest."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Shaper:
    """Impulses: amplitudes (n,), which add up to 1, and delays (n,) [s], the first 0. ``a * b`` shapes for both.

    Args:
        amplitude: (n,) of the impulses.
        delay: (n,) [s].

    Checked by: tests/motions/test_shapers.py.
    """

    amplitude: Array
    delay: Array

    def __mul__(self, other: Shaper) -> Shaper:
        delay = np.add.outer(self.delay, other.delay).ravel()
        order = np.argsort(delay, kind="stable")
        amplitude: Array = np.multiply.outer(self.amplitude, other.amplitude).ravel()
        return Shaper(amplitude=amplitude[order], delay=delay[order])

    @property
    def duration(self) -> float:
        """Time by which a shaped motion ends later [s]."""
        return float(self.delay[-1])

    def residual(self, frequency: ArrayLike, damping: float = 0.0) -> Array:
        """Vibration left of a mode, of that without shaper, at frequencies [Hz].

        Source: W. E. Singhose, W. P. Seering, N. C. Singer, ASME J. Mech. Design 116, 1994.
        """
        omega = 2.0 * np.pi * np.asarray(frequency, dtype=float)[..., None]
        rise = damping * omega * (self.delay - self.delay[-1])
        phase = omega * np.sqrt(1.0 - damping**2) * self.delay
        return np.asarray(np.abs(np.sum(self.amplitude * np.exp(rise + 1j * phase), axis=-1)))


@by_name
def shaper(kind: str, frequency: ArrayLike, *, damping: float = 0.0, tolerance: float = 0.05) -> Shaper:
    """An input shaper for one mode, or for several by their product.

    Args:
        kind: ``"zv"`` (two impulses: no vibration at the frequency), ``"zvd"`` (three: flat there, robust against errors),
            ``"ei"`` (three: `tolerance` left at the frequency, robust against larger errors; exact without damping).
        frequency: of the mode, or modes [Hz], actuators locked (`natural_frequencies`).
        damping: ratio to critical damping.
        tolerance: of ``"ei"``: vibration left at the frequency.

    Source: N. C. Singer, W. P. Seering, ASME J. Dyn. Syst. Meas. Control 112, 1990; W. Singhose and others 1994.
    Checked by: tests/motions/test_shapers.py.
    """
    if kind not in KINDS:
        raise InputError(f"kind: expected one of {', '.join(map(repr, KINDS))}, got {kind!r}")
    if not 0.0 <= damping < 1.0:
        raise InputError(f"damping: expected a fraction of critical damping from 0 to below 1, got {damping!r}")
    if not 0.0 < tolerance < 1.0:
        raise InputError(f"tolerance: expected a vibration between 0 and 1, got {tolerance!r}")
    modes = [positive("frequency", f) for f in np.atleast_1d(np.asarray(frequency, dtype=float))]
    if not modes:
        raise InputError("frequency: give at least one")
    result = _shaper(kind, modes[0], damping, tolerance)
    for f in modes[1:]:
        result = result * _shaper(kind, f, damping, tolerance)
    return result


def _shaper(kind: str, frequency: float, damping: float, tolerance: float) -> Shaper:
    root = np.sqrt(1.0 - damping**2)
    K, half = np.exp(-damping * np.pi / root), 0.5 / (frequency * root)
    weights = {
        "zv": [1.0, K],
        "zvd": [1.0, 2.0 * K, K**2],
        "ei": [(1.0 + tolerance) / 4.0, (1.0 - tolerance) / 2.0 * K, (1.0 + tolerance) / 4.0 * K**2],
    }[kind]
    amplitude = np.array(weights) / np.sum(weights)
    return Shaper(amplitude=amplitude, delay=half * np.arange(len(weights)))


@by_name
def shaped(motion: ActuatorMotion, by: Shaper) -> ActuatorMotion:
    """A motion of the actuators through a shaper: the same path, which ends later by the shaper's duration.

    Args:
        motion: at rest at both ends. With its formula the result is exact; samples are interpolated.
        by: the shaper.

    Checked by: tests/motions/test_shapers.py.
    """
    if not isinstance(motion, ActuatorMotion):
        raise InputError(f"motion: expected an ActuatorMotion, got {type(motion).__name__}; rotations cannot be added up")
    speed = np.abs(motion.velocity)
    if speed[[0, -1]].max(initial=0.0) > REST * max(speed.max(initial=0.0), 1e-300):
        raise InputError("motion: a shaped motion starts and ends at rest; this one has a speed there")
    first, last = float(motion.time[0]), float(motion.time[-1])
    step = (last - first) / (len(motion) - 1)
    count = len(motion) + int(np.ceil(by.duration / step))
    time = np.linspace(first, last + by.duration, count)
    formula = partial(_sum, motion=motion, by=by)
    return with_formula(formula(time), formula)


def _sum(t: Array, *, motion: ActuatorMotion, by: Shaper) -> ActuatorMotion:
    """The sum of the delayed parts at times t, each at rest before its start and after its end."""
    first, last = float(motion.time[0]), float(motion.time[-1])
    total = [np.zeros((len(t), motion.position.shape[1])) for _ in range(3)]
    for A, delay in zip(by.amplitude, by.delay, strict=True):
        local = t - delay
        inside = np.unique(np.clip(local, first, last))
        part = motion.formula(inside) if motion.formula is not None else _interpolated(motion, inside)
        where = np.searchsorted(inside, np.clip(local, first, last))
        moving = ((local >= first) & (local <= last))[:, None]
        total[0] += A * part.position[where]
        total[1] += A * np.where(moving, part.velocity[where], 0.0)
        total[2] += A * np.where(moving, part.acceleration[where], 0.0)
    return ActuatorMotion(time=t, position=total[0], velocity=total[1], acceleration=total[2])


def _interpolated(motion: ActuatorMotion, t: Array) -> ActuatorMotion:
    if len(t) > 1:
        return resample(motion, time=t)
    near = resample(motion, time=np.array([t[0], float(motion.time[-1])]) if t[0] < motion.time[-1] else motion.time[[0, -1]])
    k = 0 if t[0] < motion.time[-1] else 1
    arrays = {name: getattr(near, name)[[k]] for name in ("position", "velocity", "acceleration")}
    return ActuatorMotion(time=t, **arrays)
