r"""Attitude in a step: a unit quaternion at its start, and Cayley's vector theta of the rotation since then.

.. math:: q = \frac{(1,\ \theta/2)\otimes q_0}{|\cdot|},\qquad
          \dot\theta = \omega + \tfrac12\,\omega\times\theta + \tfrac14\,(\omega\cdot\theta)\,\theta

Both lines are exact, so a Runge-Kutta method keeps its order and the rotation stays orthogonal to rounding, without
trigonometry. Quaternions are w, x, y, z; the angular velocity is in world axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

if TYPE_CHECKING:
    from flexapod.arrays import SX


def rotated(theta: SX, quat: SX) -> SX:
    """(1, theta/2) times the quaternion: (4,), not of unit length."""
    g, s, u = theta / 2, quat[0], quat[1:]
    return ca.vertcat(s - ca.dot(g, u), u + s * g + ca.cross(g, u))


def theta_rate(theta: SX, w: SX) -> SX:
    """Derivative of Cayley's vector under an angular velocity.

    Checked by: tests/simulation/test_attitude.py.
    """
    return w + ca.cross(w, theta) / 2 + theta * (ca.dot(w, theta) / 4)


def spin_per_theta(theta: SX) -> SX:
    """(3, 3) angular velocity per derivative of Cayley's vector: the inverse of `theta_rate`.

    Checked by: tests/simulation/test_attitude.py.
    """
    return (ca.SX.eye(3) + ca.skew(theta) / 2) / (1 + ca.dot(theta, theta) / 4)


def matrix(quat: SX) -> SX:
    """Rotation matrix (3, 3) of a quaternion of any length."""
    w, x, y, z = (quat[i] for i in range(4))
    s = 2 / ca.dot(quat, quat)
    return ca.vertcat(
        ca.horzcat(1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)),
        ca.horzcat(s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)),
        ca.horzcat(s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)),
    )


def rotation_error(wanted: SX, R: SX) -> SX:
    """Rotation vector (3,) that takes R to the wanted rotation, world axes; exact for angles below pi.

    The antisymmetric part of E = R_wanted R^T has length sin(angle): it is scaled to the angle.
    """
    E = ca.mtimes(wanted, R.T)
    axis = ca.vertcat(E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]) / 2
    square, cosine = ca.dot(axis, axis), (ca.trace(E) - 1) / 2
    small = ca.logic_and(square < 1e-12, cosine > 0)
    sine = ca.sqrt(ca.if_else(small, 1, square))
    return axis * ca.if_else(small, 1 + square / 6, ca.atan2(sine, cosine) / sine)
