"""Zero-phase low-pass filter: gain, no delay, noise, and the use for encoders."""

import numpy as np
import pytest

from flexapod.errors import InputError
from flexapod.motions import actuator_spline, low_pass

RATE = 1000.0
t = np.arange(4000) / RATE
middle = slice(1000, 3000)
GAIN = 1e-12
"""Far from the ends of the record: rounding of a recursive filter, found 8e-14."""
SAME = 1e-12
"""[m]: the same sums over a column alone."""
SMOOTHED = 0.02
"""Of the largest acceleration: what is left of steps of 1e-5 m below 20 Hz."""


@pytest.mark.parametrize(("frequency", "order"), [(5.0, 4), (40.0, 4), (50.0, 2), (60.0, 4), (100.0, 2)])
def test_gain_and_no_delay(frequency: float, order: int) -> None:
    wave = np.sin(2 * np.pi * frequency * t)
    filtered = low_pass(time=t, values=wave, cutoff=50.0, order=order)[middle]
    # the digital filter: frequencies enter through tan(pi f / rate)
    ratio = np.tan(np.pi * frequency / RATE) / np.tan(np.pi * 50.0 / RATE)
    gain = 1 / (1 + ratio ** (2 * order))
    np.testing.assert_allclose(filtered, gain * wave[middle], rtol=0, atol=GAIN)


def test_columns_are_filtered_one_by_one() -> None:
    values = np.column_stack([np.sin(7 * t), np.cos(9 * t) + t])
    both = low_pass(time=t, values=values, cutoff=20.0)
    for i in range(2):
        np.testing.assert_allclose(both[:, i], low_pass(time=t, values=values[:, i], cutoff=20.0), rtol=0, atol=SAME)


def test_encoder_steps_are_smoothed_before_differentiation() -> None:
    """A motion rounded to 1e-5 m: differentiated as it is, the acceleration drowns; filtered, it is right to 2 %."""
    q = 0.1 * (1 - np.cos(2 * np.pi * t))
    exact = 0.1 * (2 * np.pi) ** 2 * np.cos(2 * np.pi * t)
    encoder = np.round(q / 1e-5) * 1e-5
    raw = actuator_spline(time=t, position=encoder[:, None]).acceleration[:, 0]
    smooth = actuator_spline(time=t, position=low_pass(time=t, values=encoder, cutoff=20.0)[:, None]).acceleration[:, 0]
    assert np.abs(raw - exact)[middle].max() > exact.max()
    assert np.abs(smooth - exact)[middle].max() < SMOOTHED * exact.max()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"cutoff": 500.0}, "cutoff: 500 Hz must lie below half the sampling rate, which is 500 Hz"),
        ({"cutoff": -1.0}, "cutoff: must be positive, got -1"),
        ({"order": 0}, "order: expected a whole number of at least 1, got 0"),
        ({"values": np.zeros(3)}, r"values: expected shape \(4000,\) or \(4000, m\), got \(3,\)"),
        ({"time": t**1.01}, "time: a low-pass filter needs uniform samples, but the step after entry .*; resample first"),
        ({"time": t[:5], "values": t[:5]}, "time: a low-pass filter needs at least 8 samples, got 5"),
    ],
)
def test_errors(change: dict, text: str) -> None:
    with pytest.raises(InputError, match=f"^{text}$"):
        low_pass(**({"time": t, "values": t, "cutoff": 20.0} | change))
