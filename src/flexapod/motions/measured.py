r"""Measured samples: Savitzky-Golay smoothing, and whether noise dominates the second derivative.

The size sigma of noise is how far samples lie from the polynomial through their neighbours; noise lies as far from a wider
polynomial, a smooth signal much nearer. Sampled every h it gives splines accelerations of
:math:`\pi^2\sigma/(\sqrt5\,h^2)`, the gain of differentiation over all frequencies up to half the sampling rate.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from flexapod.errors import InputError
from flexapod.motions.arrays import Array, finite_array
from flexapod.motions.encoder_filter import _sampling_rate
from flexapod.motions.motion import check_time
from flexapod.motions.time_laws import Values

GAIN = np.pi**2 / np.sqrt(5.0)
"""Rms of second derivatives per noise and squared step: the mean of omega^4 up to pi."""
GAP = 20.0
"""A step this many times the usual one is a gap, across which no spline says anything."""


class MotionNoiseWarning(UserWarning):
    """The accelerations of a measured motion are mostly noise."""


def savitzky_golay(*, time: Any, values: Any, window: int, order: int = 5) -> Values:
    """Samples replaced by the local polynomial nearest to their neighbours, with its first and second derivative.

    Args:
        time: (n,) [s], uniform; values: (n, m).
        window: samples of each polynomial, odd, more than `order`.

    Source: Savitzky, Golay 1964. Checked by: tests/motions/test_motion_file_forms.py.
    """
    from scipy.signal import savgol_filter

    t = check_time(time)
    x = finite_array("values", values, np.shape(values))
    step = 1.0 / _sampling_rate(t)
    if window % 2 == 0 or window <= order or window > len(t):
        raise InputError(f"window: expected an odd number above {order} and at most {len(t)} samples, got {window}")
    zeroth, first, second = (np.asarray(savgol_filter(x, window, order, deriv=k, delta=step, axis=0)) for k in range(3))
    return zeroth, first, second


def noise(time: Array, values: Array) -> tuple[Array, Array]:
    """Size of white noise in each column (m,), zero where samples do not look like it, and the accelerations it causes.

    Checked by: tests/motions/test_motion_file_forms.py.
    """
    h = float(np.median(np.diff(time)))
    if len(time) < 12:
        return np.zeros(values.shape[1]), np.zeros(values.shape[1])
    near, wide = (_misfit(time, values, reach) for reach in (2, 3))
    sigma = np.where(wide > 0.6 * near, wide, 0.0)  # of a smooth signal the wider polynomial misses far less
    return sigma, GAIN * sigma / h**2


def _misfit(time: Array, values: Array, reach: int) -> Array:
    """Rms distance (m,) of samples from the polynomial through `reach` neighbours on each side, as noise would cause it."""
    offsets = [k for k in range(-reach, reach + 1) if k != 0]
    inner = np.arange(reach, len(time) - reach)
    t = time[inner[:, None] + offsets] - time[inner, None]
    weights = np.ones_like(t)
    for i in range(t.shape[1]):
        for j in range(t.shape[1]):
            if i != j:
                weights[:, i] *= t[:, j] / (t[:, j] - t[:, i])  # Lagrange, evaluated at the sample itself
    guess = np.einsum("nk,nkm->nm", weights, values[inner[:, None] + offsets])
    size = 1.0 + np.sum(weights**2, axis=1, keepdims=True)
    return np.asarray(np.sqrt(np.mean((values[inner] - guess) ** 2 / size, axis=0)))


def warn_of_noise(file: str, what: str, time: Array, values: Array, acceleration: Array) -> None:
    """Warn where noise makes up most of accelerations (n, m) that were computed from samples (n, m)."""
    sigma, caused = noise(time, values)
    size = np.sqrt(np.mean(acceleration**2, axis=0))
    rounding = 1e-12 * np.abs(values).max(axis=0, initial=0.0)
    bad = np.flatnonzero((caused > 0.5 * size) & (caused > 0.05 * size.max(initial=0.0)) & (sigma > rounding))
    if len(bad):
        k = int(bad[np.argmax(caused[bad])])
        rate = 1.0 / float(np.median(np.diff(time)))
        warnings.warn(
            MotionNoiseWarning(
                f"{file}: noise dominates the accelerations of the {what}: about {sigma[k]:.2g} at {rate:.4g} samples per second "
                f"gives {caused[k]:.3g} per s^2, as large as the accelerations themselves. Smooth it: derivatives='low-pass' "
                "with cutoff=... [Hz], or derivatives='savitzky-golay' with window=..."
            ),
            stacklevel=3,
        )


def check_gaps(file: str, time: Array) -> None:
    """Refuse to differentiate across a gap."""
    steps = np.diff(time)
    usual = float(np.median(steps))
    late = np.flatnonzero(steps > GAP * usual)
    if len(late):
        i = int(late[0])
        raise InputError(
            f"time: a gap of {steps[i]:.4g} s after {time[i]:g} s (usual step {usual:.4g} s); no derivative can be found across "
            "it. Cut the file there, or give rates and accelerations as columns"
        )
