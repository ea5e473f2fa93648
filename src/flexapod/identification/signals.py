r"""From measured samples to the platform's motion: zero-phase filter, central differences, poses, delay, outliers.

Letters: q actuator positions, f_c cut-off [Hz], d samples of the decimation. Derivatives are central differences of fourth order,

.. math:: \dot q_k \approx \frac{q_{k-2} - 8 q_{k-1} + 8 q_{k+1} - q_{k+2}}{12\,h}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.verbs.inverse_kinematics import platform_inputs
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.identification.measurement import Measurement
from flexapod.identification.pose_track import PoseTrack
from flexapod.motions.encoder_filter import low_pass

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

CHUNK = 8192
"""Samples that are differentiated together: they stay in the cache."""
EDGE = 1.5
"""Periods of the cut-off at both ends that depend on how the filter continues the signal, and are left out."""
SPIKE = 6.0
"""Deviation from the median of five neighbours, in robust standard deviations, beyond which a sample is an outlier."""


def derivatives(time: Array, q: Array) -> tuple[Array, Array]:
    """First and second derivative (n, k) by central differences of order four; the two samples at each end of order two.

    Checked by: tests/identification/test_signals.py.
    """
    if len(time) < 7:
        raise InputError(f"data: derivatives need at least 7 samples, got {len(time)}")
    h = (time[-1] - time[0]) / (len(time) - 1)
    first, second = np.empty_like(q, dtype=np.float64), np.empty_like(q, dtype=np.float64)
    for side, near in ((slice(0, 2), slice(0, 7)), (slice(-2, None), slice(-7, None))):
        slope = np.gradient(q[near], h, axis=0, edge_order=2)
        first[side], second[side] = slope[side], np.gradient(slope, h, axis=0, edge_order=2)[side]
    for start in range(2, len(q) - 2, CHUNK):
        end = min(start + CHUNK, len(q) - 2)
        a, b, c, d, e = (q[start + k : end + k] for k in (-2, -1, 0, 1, 2))
        first[start:end] = (a - e + 8 * (d - b)) / (12 * h)
        second[start:end] = (16 * (b + d) - 30 * c - (a + e)) / (12 * h * h)
    return first, second


def smooth_motion(data: Measurement, cutoff: float | None, which: str = "position") -> tuple[Array, Array, Array]:
    """Positions, rates and accelerations (n, actuators), filtered without delay where a cut-off is given.

    Args:
        cutoff: [Hz] of the zero-phase Butterworth filter; None differentiates the samples as they are.
        which: ``"position"`` or ``"reference"``.
    """
    q = getattr(data, which)
    if cutoff is not None:
        q = low_pass(time=data.time, values=q, cutoff=cutoff)
    return (q, *derivatives(data.time, q))


def used(data: Measurement, cutoff: float | None) -> slice:
    """Samples that the ends of filter and differences do not touch."""
    rate = (len(data) - 1) / (data.time[-1] - data.time[0])
    edge = 2 if cutoff is None else max(2, round(EDGE * rate / cutoff))
    if len(data) <= 2 * edge + 8:
        raise InputError(
            f"data: {len(data)} samples are too few: the filter's ends alone take {2 * edge}; raise the cutoff or measure longer"
        )
    return slice(edge, len(data) - edge)


def motion_inputs(robot: Robot, data: Measurement, cutoff: float | None, part: slice) -> dict[str, Array]:
    """Inputs of the kernels for a part of a measurement: the platform's motion as measured, else from the actuators."""
    if data.motion is not None:
        from flexapod.identification.linear_model import model_inputs

        every = platform_inputs(data.motion)
        return model_inputs(robot, {k: np.ascontiguousarray(v[part]) for k, v in every.items()})[0]
    return pose_track(robot, data, cutoff, part).inputs()


def pose_track(robot: Robot, data: Measurement, cutoff: float | None, part: slice) -> PoseTrack:
    """The platform along a part of the actuators' positions."""
    return PoseTrack(robot, *(x[part] for x in smooth_motion(data, cutoff)))


def shifted(time: Array, values: Array, delay: float) -> Array:
    """Values (n, k) at time + delay: undoes a delay of the channel, by cubic interpolation."""
    if delay == 0.0:
        return values
    from scipy.interpolate import CubicSpline

    inside = np.clip(time + delay, time[0], time[-1])
    return np.asarray(CubicSpline(time, values, axis=0)(inside))


def outliers(values: Array) -> NDArray[np.bool_]:
    """(n,) samples of which a channel is a spike: far from the median of its five neighbours in time.

    The scale is that of the deviations themselves (median absolute deviation), so that noise is none.

    Checked by: tests/identification/test_signals.py.
    """
    from scipy.ndimage import median_filter

    off = values - median_filter(values, size=(5, 1), mode="nearest")
    scale = 1.4826 * np.median(np.abs(off), axis=0) + 1e-12 * np.abs(values).max(axis=0) + 1e-300
    return np.asarray(np.any(np.abs(off) > SPIKE * scale * np.sqrt(2.0), axis=1))


def averaged(values: Array, d: int) -> Array:
    """Means of d samples each (n // d, ...): the decimation filter, applied to both sides of the equation alike."""
    if d == 1:
        return values
    n = len(values) // d
    return np.asarray(values[: n * d].reshape(n, d, *values.shape[1:]).mean(axis=1))


def take(inputs: Mapping[str, Array], part: slice) -> dict[str, Any]:
    """A part of all inputs."""
    return {name: np.ascontiguousarray(values[part]) for name, values in inputs.items()}
