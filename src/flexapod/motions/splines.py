r"""Motions from positions alone: quintic splines through the samples, differentiated exactly.

Position by `make_interp_spline`; orientation by a spline of rotation vectors relative to the mean orientation, or, where the
motion turns too far from it, by a spline of quaternions with continuous signs, whose norm drops out. Angular velocity and
acceleration are exact for the spline. Letters: r rotation vector, q quaternion, k degree.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import by_name
from flexapod.errors import InputError
from flexapod.motions.argument_checks import choice, finite_array, rotations
from flexapod.motions.motion import ActuatorMotion, Motion, check_time, with_formula
from flexapod.motions.quaternions import RotationMotion, continuous_quaternions, quat_wxyz_motion, rotation_quat_wxyz
from flexapod.motions.rotations import rotation_rotvec, rotvec_motion
from flexapod.motions.time_laws import Values

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

DEGREE = 5
"""Degree of the splines, where there are enough samples: the acceleration is then a smooth cubic."""

FAR = 0.8 * np.pi
"""Angle from the mean orientation up to which rotation vectors are used: well below half a revolution, where they jump."""


def spline(time: Array, values: Array) -> BSpline:
    """Interpolating spline through (n, m) values, of degree 5, or n - 1 with fewer samples (odd)."""
    from scipy.interpolate import make_interp_spline

    if len(time) < 4:
        raise InputError(f"a spline needs at least 4 samples to give accelerations, got {len(time)}")
    return make_interp_spline(time, values, k=DEGREE if len(time) > DEGREE else 3)


def spline_values(fit: BSpline, t: Array) -> Values:
    """Value, first and second derivative."""
    return np.asarray(fit(t)), np.asarray(fit(t, 1)), np.asarray(fit(t, 2))


def mean_rotation(R: Array) -> Array:
    """The rotation nearest to the mean of matrices (n, 3, 3)."""
    U, _, Vt = np.linalg.svd(R.mean(axis=0))
    return np.asarray(U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))]) @ Vt)


def rotation_samples(R: Array) -> Array:
    """Orientations (n, 3, 3) as samples without jumps: rotation vectors from the mean [rad], or twice the quaternions
    where those reach half a revolution."""
    r = rotation_rotvec(R @ mean_rotation(R).T)
    near = np.linalg.norm(r, axis=-1).max() <= FAR
    return r if near else 2.0 * continuous_quaternions(rotation_quat_wxyz(R))


class OrientationSpline:
    """A spline through orientations: calling it gives R, w, alpha at other times."""

    def __init__(self, time: Array, R: Array, method: str = "auto") -> None:
        choice("orientation", method, ("auto", "rotvec", "quaternion"))
        self.reference = mean_rotation(R)
        r = rotation_rotvec(R @ self.reference.T)  # R = exp(r) R_ref
        far = float(np.linalg.norm(r, axis=-1).max())
        if method == "rotvec" and far > FAR:
            raise InputError(
                f"orientation: rotates by {far:.3g} rad from its mean, too far for rotation vectors (at most {FAR:.3g}); "
                "use orientation='quaternion'"
            )
        self.by_rotvec = method == "rotvec" or (method == "auto" and far <= FAR)
        self.fit = spline(time, r if self.by_rotvec else continuous_quaternions(rotation_quat_wxyz(R)))

    def __call__(self, t: Array) -> RotationMotion:
        """R, w, alpha at times (m,)."""
        values = spline_values(self.fit, t)
        if not self.by_rotvec:
            return quat_wxyz_motion(*values)
        rotation, w, alpha = rotvec_motion(*values)
        return rotation @ self.reference, w, alpha


@by_name
def platform_spline(*, time: ArrayLike, position: ArrayLike, rotation: ArrayLike, orientation: str = "auto") -> Motion:
    """A platform motion through poses over time, with the derivatives of its splines.

    Args:
        time: (n,) [s]; position: (n, 3) [m]; rotation: (n, 3, 3), less than half a revolution between neighbours.
        orientation: `rotvec` (about the mean orientation), `quaternion`, or `auto`: rotvec where it reaches.

    The error of the acceleration falls with the 4th power of the step. Checked by: tests/motions/test_motion_splines.py.
    """
    t = check_time(time)
    p = finite_array("position", position, (len(t), 3))
    R = rotations("rotation", finite_array("rotation", rotation, (len(t), 3, 3)), (len(t), 3, 3))
    formula = partial(_platform, fit=spline(t, p), rotation=OrientationSpline(t, R, orientation))
    return with_formula(formula(t), formula)


def _platform(t: Array, *, fit: BSpline, rotation: OrientationSpline) -> Motion:
    p, v, a = spline_values(fit, t)
    R, w, alpha = rotation(t)
    return Motion(time=t, position=p, rotation=R, velocity=v, angular_velocity=w, acceleration=a, angular_acceleration=alpha)


@by_name
def actuator_spline(*, time: ArrayLike, position: ArrayLike) -> ActuatorMotion:
    """An actuator motion through coordinates (n, actuators) over time.

    Args:
        time: (n,) [s].
        position: (n, actuators) [m or rad].

    Checked by: tests/motions/test_motion_splines.py.
    """
    t = check_time(time)
    shape = np.shape(position)
    if len(shape) != 2:
        raise InputError(f"position: expected shape ({len(t)}, actuators), got {shape}")
    formula = partial(_actuators, fit=spline(t, finite_array("position", position, (len(t), shape[1]))))
    return with_formula(formula(t), formula)


def _actuators(t: Array, *, fit: BSpline) -> ActuatorMotion:
    q, qd, qdd = spline_values(fit, t)
    return ActuatorMotion(time=t, position=q, velocity=qd, acceleration=qdd)
