"""Motions as arrays over time: of the platform (`Motion`) or of the actuators (`ActuatorMotion`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array, given_array
from flexapod.calls import made
from flexapod.errors import InputError
from flexapod.motions.argument_checks import positive, real_array, rotations


def check_time(value: object) -> Array:
    """A time axis: one dimension, increasing."""
    array = given_array("time", value, "numbers (n,)")
    if array.ndim != 1:
        raise InputError(f"time: expected one dimension, got shape {array.shape}")
    time = real_array("time", array, array.shape)
    if not np.all(np.isfinite(time)):
        raise InputError("time: every entry must be a finite number")
    step = np.flatnonzero(np.diff(time) <= 0)
    if len(step):
        raise InputError(f"time: must increase, but entry {step[0] + 1} ({time[step[0] + 1]:g} s) does not")
    return time


@made
@dataclass(frozen=True, kw_only=True, eq=False)
class Motion:
    """A motion of the platform frame.

    Args:
        time: (n,) [s], increasing.
        position: (n, 3) platform frame origin in the world [m].
        rotation: (n, 3, 3) world-from-platform.
        velocity, acceleration: (n, 3) of that origin, world axes [m/s, m/s^2].
        angular_velocity, angular_acceleration: (n, 3) of the platform, world axes [rad/s, rad/s^2].

    `formula` gives the motion at other times exactly, where one is known; a motion made from arrays has none.
    """

    time: Array
    position: Array
    rotation: Array
    velocity: Array
    angular_velocity: Array
    acceleration: Array
    angular_acceleration: Array
    formula: Callable[[Array], Motion] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        time = check_time(self.time)
        object.__setattr__(self, "time", time)
        for name in ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration"):
            object.__setattr__(self, name, real_array(name, getattr(self, name), (len(time), 3)))
        object.__setattr__(self, "rotation", rotations("rotation", self.rotation, (len(time), 3, 3)))

    def __len__(self) -> int:
        return len(self.time)

    @staticmethod
    def planar(
        *,
        time: ArrayLike,
        x: ArrayLike,
        y: ArrayLike,
        angle: ArrayLike,
        rates: ArrayLike | None = None,
        accelerations: ArrayLike | None = None,
        plane: str = "xy",
    ) -> Motion:
        """A motion in a coordinate plane.

        Args:
            time: (n,) [s].
            x, y: (n,) coordinates along the two axes of the plane [m].
            angle: (n,) about the plane's normal [rad].
            rates, accelerations: (n, 3) derivatives of (x, y, angle); left out: second-order differences over time.
            plane: ``xy``, ``xz`` or ``yz``; the normal makes a right-handed triple for xy and yz, and is -y for xz.
        """
        t = check_time(time)
        n = len(t)
        state = np.column_stack([real_array(k, v, (n,)) for k, v in (("x", x), ("y", y), ("angle", angle))])
        first = _differences(t, state) if rates is None else real_array("rates", rates, (n, 3))
        second = _differences(t, first) if accelerations is None else real_array("accelerations", accelerations, (n, 3))
        if plane not in ("xy", "xz", "yz"):
            raise InputError(f"plane: expected xy, xz or yz, got {plane!r}")
        i, j = "xyz".index(plane[0]), "xyz".index(plane[1])
        normal = np.cross(np.eye(3)[i], np.eye(3)[j])

        def linear(values: Array) -> Array:
            return np.outer(values[:, 0], np.eye(3)[i]) + np.outer(values[:, 1], np.eye(3)[j])

        K = np.cross(np.eye(3), normal)  # K x = normal x x
        rotation = np.sin(state[:, 2])[:, None, None] * K + (1 - np.cos(state[:, 2]))[:, None, None] * (K @ K)
        return Motion(
            time=t,
            position=linear(state),
            rotation=np.eye(3) + rotation,
            velocity=linear(first),
            angular_velocity=np.outer(first[:, 2], normal),
            acceleration=linear(second),
            angular_acceleration=np.outer(second[:, 2], normal),
        )


def _differences(time: Array, values: Array) -> Array:
    """Second-order differences over time."""
    if len(time) < 3:
        raise InputError("a motion of fewer than 3 samples needs its rates and accelerations given")
    return np.asarray(np.gradient(values, time, axis=0, edge_order=2))


@made
@dataclass(frozen=True, kw_only=True, eq=False)
class ActuatorMotion:
    """A motion given by the actuator coordinates, the natural choice below mobility 6.

    Args:
        time: (n,) [s].
        position, velocity, acceleration: (n, actuators) coordinates [m or rad] and their derivatives.

    `formula` gives the motion at other times exactly, where one is known; a motion made from arrays has none.
    """

    time: Array
    position: Array
    velocity: Array
    acceleration: Array
    formula: Callable[[Array], ActuatorMotion] | None = field(default=None, init=False, repr=False)
    start = None  # no field: a part of a motion that `with_start` makes has the pose (`State`) that it goes on from

    def __post_init__(self) -> None:
        time = check_time(self.time)
        object.__setattr__(self, "time", time)
        shape = given_array("position", self.position, "numbers (n, actuators)").shape
        if len(shape) != 2 or shape[0] != len(time):
            raise InputError(f"position: expected shape ({len(time)}, actuators), got {shape}")
        for name in ("position", "velocity", "acceleration"):
            object.__setattr__(self, name, real_array(name, getattr(self, name), shape))

    def __len__(self) -> int:
        return len(self.time)


def with_start(motion: ActuatorMotion, start: object) -> ActuatorMotion:
    """The same samples with the pose that they start from; `dataclasses.replace` drops it again."""
    copy = replace(motion)
    object.__setattr__(copy, "start", start)
    return copy


AnyMotion = TypeVar("AnyMotion", Motion, ActuatorMotion)


def with_formula(motion: AnyMotion, formula: Callable[[Array], AnyMotion] | None) -> AnyMotion:
    """The same samples with the formula they come from; `dataclasses.replace` drops it again."""
    copy = replace(motion)
    object.__setattr__(copy, "formula", formula)
    return copy


MOST_SAMPLES = 20_000_000
"""Samples of a motion at most: its arrays take 200 bytes a sample, 4 GB in all, and results several times as much."""


def check_samples(name: str, count: object) -> int:
    """A whole number of samples, at least 2, that memory can hold."""
    if (
        isinstance(count, bool)
        or not isinstance(count, int | float | np.integer | np.floating)
        or not np.isfinite(count)
        or int(count) != count
        or count < 2
    ):
        raise InputError(f"{name}: expected a whole number of at least 2, got {count!r}")
    if count > MOST_SAMPLES:
        raise InputError(f"{name}: {count:g} samples of 200 bytes do not fit into memory; at most {MOST_SAMPLES:g} are allowed")
    return int(count)


def sampled(formula: Callable[[Array], AnyMotion], duration: float, samples: int) -> AnyMotion:
    """A formula on a uniform grid from 0 to its duration.

    Args:
        formula: (n,) times [s] to the motion there.
        duration: [s].
        samples: number of samples, both ends included.
    """
    time = np.linspace(0.0, positive("duration", duration), check_samples("samples", samples))
    return with_formula(formula(time), formula)
