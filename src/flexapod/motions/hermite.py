r"""Motions between their samples: quintic Hermite interpolation of position, velocity and acceleration.

Each interval has its own 5th-order polynomial that meets all three at both ends, so that neighbours join with continuous
acceleration; the error falls with the 6th power of the step. Orientation: the same for the rotation vector from the
interval's first orientation, with exact angular velocity and acceleration. Letters: h step, u = (t - t_i) / h.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.motions.motion import ActuatorMotion, Motion
from flexapod.motions.rotations import rotation_rotvec, rotvec_motion, rotvec_rates
from flexapod.motions.time_laws import Values

_ENDS = np.array([[10.0, -4.0, 0.5], [-15.0, 7.0, -1.0], [6.0, -3.0, 0.5]])
"""Coefficients 3 to 5 from what the first three leave of value, slope and curvature at u = 1."""


def quintic_hermite(u: Array, h: Array, start: Values, end: Values) -> Values:
    """Value and derivatives over time at u in [0, 1]; start and end: value, first, second derivative (n, m) each."""
    u, h = u[:, None], h[:, None]
    c0, c1, c2 = start[0], start[1] * h, start[2] * h**2 / 2
    left = np.array([end[0] - c0 - c1 - c2, end[1] * h - c1 - 2 * c2, end[2] * h**2 - 2 * c2])
    c3, c4, c5 = np.tensordot(_ENDS, left, axes=1)
    value = c0 + u * (c1 + u * (c2 + u * (c3 + u * (c4 + u * c5))))
    first = c1 + u * (2 * c2 + u * (3 * c3 + u * (4 * c4 + u * 5 * c5)))
    second = 2 * c2 + u * (6 * c3 + u * (12 * c4 + u * 20 * c5))
    return value, first / h, second / h**2


def _intervals(time: Array, t: Array) -> tuple[NDArray[np.intp], Array, Array]:
    """Interval of each time, u in it, and its step."""
    i = np.clip(np.searchsorted(time, t, side="right") - 1, 0, len(time) - 2).astype(np.intp)
    h = time[i + 1] - time[i]
    return i, (t - time[i]) / h, h


def interpolate_actuators(motion: ActuatorMotion, t: Array) -> ActuatorMotion:
    """An actuator motion between its samples. Checked by: tests/motions/test_combine_motions.py."""
    i, u, h = _intervals(motion.time, t)
    q, qd, qdd = motion.position, motion.velocity, motion.acceleration
    p, v, a = quintic_hermite(u, h, (q[i], qd[i], qdd[i]), (q[i + 1], qd[i + 1], qdd[i + 1]))
    return ActuatorMotion(time=t, position=p, velocity=v, acceleration=a)


def interpolate_platform(motion: Motion, t: Array) -> Motion:
    """A platform motion between its samples, less than half a revolution apart. Checked by:
    tests/motions/test_combine_motions.py."""
    i, u, h = _intervals(motion.time, t)
    j = i + 1
    p, v, a = motion.position, motion.velocity, motion.acceleration
    position, velocity, acceleration = quintic_hermite(u, h, (p[i], v[i], a[i]), (p[j], v[j], a[j]))
    R, w, alpha = motion.rotation, motion.angular_velocity, motion.angular_acceleration
    first, own = np.unique(i, return_inverse=True)  # intervals that are asked for
    last = first + 1
    r = rotation_rotvec(R[last] @ np.swapaxes(R[first], -1, -2))  # R_last = exp(r) R_first, in world axes
    rates = rotvec_rates(r, w[last], alpha[last])
    start = (np.zeros((len(i), 3)), w[i], alpha[i])  # where r = 0, its rates are w and alpha
    rotation, spin, change = rotvec_motion(*quintic_hermite(u, h, start, (r[own], rates[0][own], rates[1][own])))
    return Motion(
        time=t, position=position, rotation=rotation @ R[i], velocity=velocity, angular_velocity=spin,
        acceleration=acceleration, angular_acceleration=change,
    )  # fmt: skip
