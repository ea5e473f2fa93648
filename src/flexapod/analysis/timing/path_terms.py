r"""Forces and rates of the actuators along a path as functions of its timing.

Letters: s path parameter, sd, sdd its rate and acceleration. The platform follows p(s), R(s), so that its acceleration is
:math:`p'\,\ddot s + p''\,\dot s^2`, and actuator forces are

.. math:: \tau = a(s)\,\ddot s + b(s)\,\dot s^2 + v(s)\,\dot s + c(s) + k(s)

with viscous friction v and Coulomb friction k (for sd > 0), and :math:`\dot q = q'\,\dot s`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.properties import has_friction
from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics
from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics
from flexapod.arrays import Array, Rows
from flexapod.errors import InputError
from flexapod.motions.combine import resample
from flexapod.motions.motion import Motion

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


FINER = 10
"""Points of the grid of the terms in an interval, where the limits are checked and kept exactly."""

AFFINE = 1e-6
"""Change of friction with load, over the largest force, beyond which it is computed again along each new timing."""

JUMP = 0.1
"""Change of the twist along the path, over its size, that its second derivative does not explain: a corner."""


@dataclass(frozen=True, kw_only=True)
class PathTerms:
    """Terms at path parameters s (n,): a, b, v, c, k, dq = q' and ddq = q'' (n, actuators) each.

    `sliding`: there is friction; `loaded`: it changes with the load.
    """

    s: Array
    a: Array
    b: Array
    v: Array
    c: Array
    k: Array
    dq: Array
    ddq: Array
    sliding: bool
    loaded: bool

    @cached_property
    def coulomb(self) -> tuple[Array, Array]:
        """Largest and smallest Coulomb friction in every interval (n, actuators): a leg that reverses has both signs there."""
        if not np.any(self.k):
            return np.zeros((1, self.k.shape[1])), np.zeros((1, self.k.shape[1]))
        inside = windows(self.k)
        return inside.max(axis=1), inside.min(axis=1)

    def force(self, rows: Rows, x: Array, u: Array) -> Array:
        """Forces at the parameters `rows`, for squared speeds and accelerations of the path."""
        force = self.a[rows] * u[..., None] + self.b[rows] * x[..., None] + self.c[rows]
        if self.sliding:
            force += self.v[rows] * np.sqrt(np.maximum(x, 0.0))[..., None] + self.k[rows]
        return np.asarray(force)


def windows(values: Array) -> Array:
    """Values on the fine grid in every interval, both ends included: (n, FINER + 1, m), without a copy."""
    return np.moveaxis(np.lib.stride_tricks.sliding_window_view(values, FINER + 1, axis=0)[::FINER], -1, 1)


class PathDynamics:
    """A robot on a path: forces for given timings, from the kernels of inverse dynamics."""

    def __init__(self, robot: Robot, path: Motion, friction: bool, wrench: ArrayLike | None) -> None:
        self.robot, self.path, self.wrench = robot, path, wrench
        self.friction = friction and has_friction(robot)
        if wrench is not None and np.shape(wrench) != (6,):
            raise InputError(f"wrench: expected one load of shape (6,) for the whole path, got {np.shape(wrench)}")

    def poses(self, s: Array) -> Motion:
        """The path at parameters s, with derivatives by s."""
        return resample(self.path, time=s)

    def forces(self, at: Motion, sd: Array, sdd: Array, friction: bool) -> Array:
        """Forces (n, actuators) at poses and timings (n,)."""
        moving = scaled(at, sd, sdd)
        return np.asarray(inverse_dynamics(self.robot, moving, friction=friction, wrench=self.wrench)["force"].values)

    def terms(self, s: Array) -> PathTerms:
        """Terms at parameters s, from three timings of every pose (two more with friction).

        Checked by: tests/analysis/test_time_optimal.py.
        """
        at, n = self.poses(s), len(s)
        _refuse_corners(at)
        zero, one = np.zeros(n), np.ones(n)
        c, a, b = np.split(self.forces(_tiled(at, 3), np.r_[zero, zero, one], np.r_[zero, one, zero], False), 3)
        a, b = a - c, b - c
        v, k, loaded = np.zeros_like(c), np.zeros_like(c), False
        if self.friction:
            sliding = self.forces(_tiled(at, 3), np.r_[one, 2 * one, one], np.r_[zero, zero, one], True)
            first, second, third = np.split(sliding, 3)
            first, second, third = first - (b + c), second - (4 * b + c), third - (a + b + c)
            v, k = second - first, 2 * first - second
            loaded = bool(np.abs(third - first).max() > AFFINE * np.abs(c).max()) or self._curved(at, v, k, b + 0 * c, c)
        rates = inverse_kinematics(self.robot, at, joints=False)
        dq, ddq = (np.asarray(rates[f"actuator_{name}"].values) for name in ("velocity", "acceleration"))
        return PathTerms(s=s, a=a, b=b, v=v, c=c, k=k, dq=dq, ddq=ddq, sliding=self.friction, loaded=loaded)

    def _curved(self, at: Motion, v: Array, k: Array, b: Array, c: Array) -> bool:
        """Friction is not a straight line over the speed."""
        n = len(at)
        third = self.forces(at, np.full(n, 3.0), np.zeros(n), True) - (9 * b + c)
        return bool(np.abs(third - (3 * v + k)).max() > AFFINE * np.abs(c).max())


def scaled(at: Motion, sd: Array, sdd: Array) -> Motion:
    """A path at parameters as a motion with given rates of the parameter; its time only counts the samples."""
    r, rr = sd[:, None], sdd[:, None]
    return Motion(
        time=np.arange(len(sd), dtype=float), position=at.position, rotation=at.rotation,
        velocity=at.velocity * r, angular_velocity=at.angular_velocity * r,
        acceleration=at.acceleration * r**2 + at.velocity * rr,
        angular_acceleration=at.angular_acceleration * r**2 + at.angular_velocity * rr,
    )  # fmt: skip


def _tiled(at: Motion, times: int) -> Motion:
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    arrays = {name: np.concatenate([getattr(at, name)] * times) for name in names}
    return Motion(time=np.arange(times * len(at), dtype=float), **arrays)


def _refuse_corners(at: Motion) -> None:
    """A path must not stop, and must not change its direction at once."""
    twist = np.hstack([at.velocity, at.angular_velocity])
    size = np.linalg.norm(twist, axis=1)
    still = np.flatnonzero(size < 1e-9 * size.max(initial=1e-300))
    if len(still):
        raise InputError(
            f"path: is at rest at parameter {at.time[still[0]]:g}, where its own law stops; give the path at constant "
            "speed, for example fp.motions.line(..., law='constant-speed')"
        )
    second = np.hstack([at.acceleration, at.angular_acceleration])
    step = np.diff(at.time)[:, None]
    left = np.linalg.norm(np.diff(twist, axis=0) - step * (second[1:] + second[:-1]) / 2, axis=1)
    corner = np.flatnonzero(left > JUMP * np.minimum(size[1:], size[:-1]))
    if len(corner):
        raise InputError(
            f"path: its direction changes abruptly at parameter {at.time[corner[0]]:g}; a robot must stop there: time the parts "
            "one by one, or round the corner (path='smooth')"
        )


def path_at(way: Motion, s: Array) -> Motion:
    """The path at parameters that may repeat at its ends; the time of the result only counts."""
    unique, back = np.unique(np.clip(s, way.time[0], way.time[-1]), return_inverse=True)
    at = resample(way, time=unique)
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    return Motion(time=np.arange(len(s), dtype=float), **{name: getattr(at, name)[back] for name in names})
