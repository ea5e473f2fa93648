r"""Criteria of forces, rates, reactions, joint angles and masses: numbers of many designs, and their gradient at one.

.. math:: \max_{t,i}|y_{ti}|,\qquad \max_i \sqrt{\overline{y_i^2}},\qquad
          \frac{d}{dx}\max_{t,i}|y_{ti}| = \mathrm{sign}(y^*)\,\frac{dy^*}{dx}

Values take outputs (n, m, ..) of n designs at m poses; slopes outputs (m, ..) of one design and their derivatives (d, m, ..) by d
variables. The star marks where the largest value is; where several are equal, the slope is that of the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from flexapod.arrays import Array

Outputs = Mapping[str, Array]
Options = Mapping[str, Any]
Value = Callable[[Outputs, Options], Array]
Slope = Callable[[Outputs, Outputs, Options], Array]


def _at(array: Array, at: tuple[np.intp, ...]) -> Array:
    """Entries of all slopes (k, ...) at one place."""
    return np.asarray(np.moveaxis(array, 0, -1)[at])


def peak(name: str) -> tuple[Value, Slope]:
    """Largest size of an output over poses and its own entries."""

    def value(o: Outputs, _: Options) -> Array:
        return np.asarray(np.abs(o[name]).max(axis=(1, 2)))

    def slope(o: Outputs, dot: Outputs, _: Options) -> Array:
        at = np.unravel_index(np.abs(o[name]).argmax(), o[name].shape)
        return np.asarray(np.sign(o[name][at]) * _at(dot[name], at))

    return value, slope


def end(name: str, largest: bool) -> tuple[Value, Slope]:
    """Largest or smallest entry of an output, with its sign."""
    sign = 1.0 if largest else -1.0

    def value(o: Outputs, _: Options) -> Array:
        return np.asarray(sign * (sign * o[name]).max(axis=(1, 2)))

    def slope(o: Outputs, dot: Outputs, _: Options) -> Array:
        at = np.unravel_index((sign * o[name]).argmax(), o[name].shape)
        return np.asarray(_at(dot[name], at))

    return value, slope


def longest_vector(name: str) -> tuple[Value, Slope]:
    """Largest length of the vectors (.., 3) of an output; entries that are NaN (undetermined) do not count."""

    def value(o: Outputs, _: Options) -> Array:
        return np.asarray(np.nanmax(np.linalg.norm(o[name], axis=-1), axis=(1, 2)))

    def slope(o: Outputs, dot: Outputs, _: Options) -> Array:
        size = np.linalg.norm(o[name], axis=-1)
        at = np.unravel_index(np.nanargmax(size), size.shape)
        return np.asarray(o[name][at] @ _at(dot[name], at) / size[at])

    return value, slope


def rms(o: Outputs, _: Options) -> Array:
    """Root mean square of the force over the poses, of the actuator that has most."""
    return np.asarray(np.sqrt((o["force"] ** 2).mean(axis=1)).max(axis=1))


def rms_slope(o: Outputs, dot: Outputs, _: Options) -> Array:
    """Slope of the criterion `rms`."""
    each = np.sqrt((o["force"] ** 2).mean(axis=0))
    k = int(each.argmax())
    return np.asarray((dot["force"][:, :, k] * o["force"][:, k]).mean(axis=1) / each[k])


def power(o: Outputs, _: Options) -> Array:
    """Largest size of force times rate."""
    return np.asarray(np.abs(o["force"] * o["actuator_velocity"]).max(axis=(1, 2)))


def power_slope(o: Outputs, dot: Outputs, _: Options) -> Array:
    """Slope of the criterion `power`."""
    f, v = o["force"], o["actuator_velocity"]
    at = np.unravel_index(np.abs(f * v).argmax(), f.shape)
    df, dv = _at(dot["force"], at), _at(dot["actuator_velocity"], at)
    return np.asarray(np.sign((f * v)[at]) * (df * v[at] + f[at] * dv))


def stroke(o: Outputs, _: Options) -> Array:
    """Travel over the poses, of the actuator that travels farthest."""
    q = o["actuator_position"]
    return np.asarray((q.max(axis=1) - q.min(axis=1)).max(axis=1))


def stroke_slope(o: Outputs, dot: Outputs, _: Options) -> Array:
    """Slope of the criterion `stroke`."""
    q = o["actuator_position"]
    k = int((q.max(axis=0) - q.min(axis=0)).argmax())
    rows = dot["actuator_position"][:, :, k]
    return np.asarray(rows[:, q[:, k].argmax()] - rows[:, q[:, k].argmin()])
