"""Measured positions: zero-phase low-pass filter, then differentiation, as for encoders (Briot Fig. 6).

The Butterworth filter runs forwards and backwards, so that it delays nothing and its gain at the cut-off is 1/2.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import by_name
from flexapod.errors import InputError
from flexapod.motions.argument_checks import finite_array, positive
from flexapod.motions.motion import check_time

UNIFORM = 1e-6
"""Largest deviation of a step from the mean step, relative, that counts as uniform: printed times pass."""


@by_name
def low_pass(*, time: ArrayLike, values: ArrayLike, cutoff: float, order: int = 4) -> Array:
    r"""Samples filtered without delay.

    .. math:: |H(f)| = \frac{1}{1 + (f/f_c)^{2N}}

    which is the gain of an N-th order Butterworth filter applied twice (up to the warping of its digital form).

    Args:
        time: (n,) [s], uniform.
        values: (n,) or (n, m).
        cutoff: f_c [Hz], below half the sampling rate.
        order: N of one pass.
    Returns:
        Filtered values, in the shape and unit of `values`.

    The first and last few 1 / cutoff seconds depend on how the signal is continued (here: mirrored through its end point).

    Source: Briot 2014, section 5, Fig. 6. Checked by: tests/motions/test_encoder_filter.py.
    """
    from scipy.signal import butter, sosfiltfilt

    t = check_time(time)
    x = finite_array("values", values, np.shape(values))
    if x.ndim not in (1, 2) or len(x) != len(t):
        raise InputError(f"values: expected shape ({len(t)},) or ({len(t)}, m), got {x.shape}")
    if not isinstance(order, int | np.integer) or isinstance(order, bool) or order < 1:
        raise InputError(f"order: expected a whole number of at least 1, got {order!r}")
    rate = sampling_rate(t)
    fc = positive("cutoff", cutoff)
    if fc >= rate / 2:
        raise InputError(f"cutoff: {fc:g} Hz must lie below half the sampling rate, which is {rate / 2:.6g} Hz")
    sections = butter(int(order), fc, fs=rate, output="sos")
    pad = min(len(t) - 1, max(3 * (2 * len(sections) + 1), int(np.ceil(3 * rate / fc))))
    return np.asarray(sosfiltfilt(sections, x, axis=0, padlen=pad))


def sampling_rate(time: Array, what: str = "a low-pass filter") -> float:
    """Samples per second of a uniform time, for what needs it."""
    if len(time) < 8:
        raise InputError(f"time: {what} needs at least 8 samples, got {len(time)}")
    step = (time[-1] - time[0]) / (len(time) - 1)
    off = np.abs(np.diff(time) / step - 1)
    if off.max() > UNIFORM:
        i = int(np.argmax(off))
        raise InputError(
            f"time: {what} needs uniform samples, but the step after entry {i} ({time[i]:g} s) is off by "
            f"{off[i]:.2g} of the mean step; resample first"
        )
    return float(1 / step)
