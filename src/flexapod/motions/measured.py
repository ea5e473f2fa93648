r"""Measured samples: Savitzky-Golay smoothing, and the noise in the second derivative.

The size sigma of noise is how far samples lie from the polynomial through their neighbours; noise lies as far from a wider
polynomial, a smooth signal much nearer. Sampled every h it gives splines accelerations of about
:math:`\pi^2\sigma/(\sqrt5\,h^2)`, the gain of differentiation over all frequencies up to half the sampling rate, and more
at their ends.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import users_level
from flexapod.errors import FlexapodWarning, InputError
from flexapod.motions.argument_checks import finite_array
from flexapod.motions.encoder_filter import sampling_rate
from flexapod.motions.motion import check_time
from flexapod.motions.time_laws import Values

DRAWS = 8
"""Columns of drawn noise, of which the mean peak is taken."""
NORMAL = 1.4826
"""Standard deviation per median distance of a normal distribution."""
ENDS = 5
"""Samples at each end in which splines enlarge noise: they do not count as peaks of the motion."""
SEEN = np.array([[0.05], [0.2]])
"""Noise of one column that counts, relative to the accelerations of all: rms, peak."""
ROUNDING = 1e-12
"""Noise of this size relative to the samples is their rounding."""
SMOOTH = "Smooth it: derivatives='low-pass' with cutoff=... [Hz], or derivatives='savitzky-golay' with window=..."
SMOOTH_MORE = "Smooth it more: a lower cutoff=... [Hz], or a larger window=..."
GAP = 20.0
"""A step this many times the usual one is a gap, across which no spline says anything."""

Accelerate = Callable[[Array], Array]
"""Samples (n, m) to accelerations (n, m), linear."""


class MotionNoiseWarning(FlexapodWarning):
    """Warning that noise makes up most of the accelerations of a measured motion, of their rms or of their peak."""


def savitzky_golay(*, time: ArrayLike, values: ArrayLike, window: int, order: int = 5) -> Values:
    """Samples replaced by the local polynomial nearest to their neighbours, with its first and second derivative.

    Args:
        time: (n,) [s], uniform; values: (n, m).
        window: samples of each polynomial, odd, more than `order`.

    Source: Savitzky, Golay 1964. Checked by: tests/motions/test_motion_file_forms.py.
    """
    from scipy.signal import savgol_filter

    t = check_time(time)
    x = finite_array("values", values, np.shape(values))
    step = 1.0 / sampling_rate(t, "Savitzky-Golay smoothing")
    if not isinstance(window, int | np.integer) or window % 2 == 0 or window <= order or window > len(t):
        raise InputError(f"window: expected an odd number above {order} and at most {len(t)} samples, got {window!r}")
    zeroth, first, second = (np.asarray(savgol_filter(x, window, order, deriv=k, delta=step, axis=0)) for k in range(3))
    return zeroth, first, second


def noise(time: Array, values: Array) -> tuple[Array, Array]:
    """Size of white noise in each column, zero where samples do not look like it, (m,) twice: as rms, which also sees steps of an
    encoder at rest, and from the median, which kinks of a motion do not change.

    Checked by: tests/motions/test_motion_file_forms.py.
    """
    if len(time) < 12:
        return np.zeros(values.shape[1]), np.zeros(values.shape[1])
    near, wide = (_misfit(time, values, reach) for reach in (2, 3))
    sizes = [(size(near), size(wide)) for size in (_rms, lambda x: NORMAL * np.median(np.abs(x), axis=0))]
    rms, typical = (np.where(far > 0.6 * close, far, 0.0) for close, far in sizes)  # of a smooth signal the wider misses far less
    return rms, typical


def _rms(values: Array) -> Array:
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))


def _misfit(time: Array, values: Array, reach: int) -> Array:
    """Distance of inner samples from the polynomial through `reach` neighbours on each side; white noise keeps its size."""
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
    return np.asarray((values[inner] - guess) / np.sqrt(size))


def warn_of_noise(file: str, what: str, time: Array, values: Array, accelerate: Accelerate, smoothed: bool = False) -> None:
    """Warn where noise makes up most of the accelerations that are computed from samples (n, m), of their rms or of their peak.

    The same computation on drawn noise says what noise causes, at the ends too, where splines enlarge it most.
    """
    sigma, typical = noise(time, values)
    noisy = sigma > ROUNDING * np.abs(values).max(axis=0)
    if not noisy.any():
        return
    found = np.abs(accelerate(values))
    drawn = np.abs(accelerate(np.random.default_rng(0).normal(size=(len(time), DRAWS))))
    caused = np.stack([sigma * _rms(drawn.ravel()), typical * drawn.max(axis=0).mean()])
    size = np.stack([_rms(found), found[ENDS:-ENDS].max(axis=0, initial=0.0)])
    most = (caused > 0.5 * size) & (caused > SEEN * size.max(axis=1, keepdims=True))
    bad = np.flatnonzero(most.any(axis=0) & noisy)
    if len(bad):
        k = int(bad[np.argmax(caused[1, bad])])
        rate = 1.0 / float(np.median(np.diff(time)))
        whole = np.array([size[0, k], found[:, k].max()])
        part = np.minimum(caused[:, k] / whole, 1.0)
        warnings.warn(
            MotionNoiseWarning(
                f"{file}: noise makes up about {100 * part[0]:.0f} % of the accelerations of the {what} (rms) and "
                f"{100 * part[1]:.0f} % of their peak: {sigma[k]:.2g} in its samples at {rate:.4g} per second gives "
                f"{caused[0, k]:.3g} (rms) and peaks of {caused[1, k]:.3g}; found were {whole[0]:.3g} and {whole[1]:.3g}. "
                f"{SMOOTH_MORE if smoothed else SMOOTH}"
            ),
            stacklevel=users_level(),
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
