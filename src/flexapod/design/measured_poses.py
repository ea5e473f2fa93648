"""Measurements of the platform as residuals of file parameters: poses, positions, distances or a held point at actuator readings.

With loads, the forces of the actuators bend their springs: compliances are further parameters behind those of the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.requests.state import State
from flexapod.analysis.verbs.forward_kinematics import forward_kinematics
from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics
from flexapod.arrays import Array
from flexapod.design.pose_errors import PerturbedPoses
from flexapod.design.variables import number
from flexapod.errors import InputError
from flexapod.rotation_arrays import rotation_vector

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot

KNOWN = ("actuator_position", "position", "rotation", "distance", "base_points", "platform_points", "fixed_point", "wrench")
KINDS = ("position", "distance", "fixed_point")


@dataclass(frozen=True, kw_only=True, eq=False)
class MeasuredPoses:
    """Residuals (measured less predicted, over their standard deviation) of n measurements.

    `labels`: names of a measurement's rows; `weight` (rows,): one over the standard deviation; `absolute`: it was given.
    """

    poses: PerturbedPoses
    given: dict[str, Array]
    labels: tuple[str, ...]
    weight: Array
    absolute: bool
    length: float

    @property
    def count(self) -> int:
        """Number of measurements."""
        return self.poses.count

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters: paths of the file, then compliances."""
        return self.poses.names

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the parameters."""
        return self.poses.units

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return len(self.names)

    @property
    def unknown(self) -> int:
        """Numbers that are estimated besides the parameters: where the point is held."""
        return 3 if "fixed_point" in self.given else 0

    def residual(self, theta: Array, chosen: NDArray[np.int64]) -> Array:
        """(len(chosen), rows) at corrections theta."""
        p, R = self.poses.poses(theta[None])
        return np.asarray(self._rows(p, R, chosen)[0])

    def jacobian(self, theta: Array, chosen: NDArray[np.int64]) -> Array:
        """Derivative (chosen * rows, d) of the predictions, by fourth-order differences."""
        slope = self.poses.slope(-self._rows(*self.poses.neighbours(theta, chosen, "measurement"), chosen))
        return np.asarray(slope.reshape(len(slope), -1).T)

    def sensitivity(self, theta: Array) -> Array:
        """Derivative (n rows, d) where the platform was measured, else at corrections theta; errors of the drawing blur it."""
        if "rotation" not in self.given:
            return self.jacobian(theta, np.arange(self.count))
        at = State(position=self.given["position"], rotation=self.given["rotation"])
        D = PerturbedPoses(self.poses.robot, self.poses.paths, at, forces=self.poses.forces).derivative()
        return np.asarray((D * self.weight[:, None]).reshape(-1, self.parameters))

    def _rows(self, p: Array, R: Array, chosen: NDArray[np.int64]) -> Array:
        p, R = p[:, chosen], R[:, chosen]
        if "distance" in self.given:
            points = p[:, :, None] + np.einsum("nmij,kj->nmki", R, self.given["platform_points"])
            rows = self.given["distance"][chosen] - np.linalg.norm(points - self.given["base_points"], axis=3)
        elif "fixed_point" in self.given:
            points = p + R @ self.given["fixed_point"]
            rows = points.mean(axis=1, keepdims=True) - points  # the best place of the socket is the mean
        else:
            parts = [self.given["position"][chosen] - p]
            if "rotation" in self.given:
                parts.append(rotation_vector(self.given["rotation"][chosen] @ np.swapaxes(R, -1, -2)))
            rows = np.concatenate(parts, axis=2)
        return np.asarray(rows * self.weight)


def measured_poses(
    robot: Robot, paths: list[str], measurements: Mapping[str, ArrayLike] | xr.Dataset, sigma: object
) -> MeasuredPoses:
    """Measurements of a request, checked.

    Checked by: tests/design/test_calibrate.py.
    """
    given = _arrays(measurements)
    q = _shaped(given, "actuator_position", (-1, len(robot.actuators)))
    n = len(q)
    kinds = [name for name in KINDS if name in given]
    if len(kinds) != 1:
        raise InputError(
            "measurements: give one of `position` (with or without `rotation`), `distance` with its points, or `fixed_point`"
        )
    if "distance" in given:
        k = len(_shaped(given, "base_points", (-1, 3)))
        _shaped(given, "platform_points", (k, 3))
        _shaped(given, "distance", (n, k))
        labels = tuple(f"distance {i + 1}" for i in range(k))
    elif "fixed_point" in given:
        _shaped(given, "fixed_point", (3,))
        labels = ("point x", "point y", "point z")
    else:
        _shaped(given, "position", (n, 3))
        labels = ("x", "y", "z")
        if "rotation" in given:
            _shaped(given, "rotation", (n, 3, 3))
            labels += ("rx", "ry", "rz")
    if "rotation" in given:
        start = State(position=given["position"], rotation=given["rotation"])
    else:
        found = forward_kinematics(robot, q)
        start = State(position=found.position.values, rotation=found.rotation.values)
    length = robot.characteristic_length
    weight, absolute = _weight(sigma, labels, length)
    forces = None
    if "wrench" in given:
        forces = actuator_forces(robot, start, _shaped(given, "wrench", (n, 6)))
    poses = PerturbedPoses(robot, paths, start, q, forces)
    result = MeasuredPoses(poses=poses, given=given, labels=labels, weight=weight, absolute=absolute, length=length)
    off = np.flatnonzero(~np.isfinite(result.residual(np.zeros(result.parameters), np.arange(n))).all(axis=1))
    if len(off):
        raise InputError(
            f"measurements: no pose belongs to the actuator readings of measurement {off[0]}; check them and their units"
        )
    return result


def actuator_forces(robot: Robot, at: State, wrench: Array) -> Array:
    """Forces (n, a) of the actuators at rest under loads (n, 6) on the platform, without friction."""
    return np.asarray(inverse_dynamics(robot, at, wrench=wrench, friction=False).force.values.reshape(len(wrench), -1))


def _arrays(measurements: Mapping[str, ArrayLike] | xr.Dataset) -> dict[str, Array]:
    if not isinstance(measurements, Mapping):  # a dataset is one, of its variables
        raise InputError(f"measurements: expected a mapping or a dataset, got {type(measurements).__name__}")
    wrong = [str(name) for name in measurements if name not in KNOWN]
    if wrong:
        raise InputError(f"measurements: there is no {wrong[0]!r}; there are: {', '.join(KNOWN)}")
    try:
        given = {str(name): np.ascontiguousarray(value, dtype=np.float64) for name, value in measurements.items()}
    except (TypeError, ValueError):
        raise InputError("measurements: expected arrays of numbers") from None
    for name, value in given.items():
        if not np.all(np.isfinite(value)):
            raise InputError(f"measurements: {name} has numbers that are not finite")
    return given


def _shaped(given: dict[str, Array], name: str, shape: tuple[int, ...]) -> Array:
    if name not in given:
        raise InputError(f"measurements: {name} is missing")
    value = given[name]
    fits = value.ndim == len(shape) and all(want in (-1, have) for want, have in zip(shape, value.shape, strict=True))
    if not fits:
        wanted = ", ".join("n" if size == -1 else str(size) for size in shape)
        raise InputError(f"measurements: {name}: expected shape ({wanted}), got {value.shape}")
    return value


def _weight(sigma: object, labels: tuple[str, ...], length: float) -> tuple[Array, bool]:
    starts = {"r": "rotation", "d": "distance", "p": "point"}
    kinds = [starts.get(name[0], "position") for name in labels]
    if sigma is None:
        return np.array([length if kind == "rotation" else 1.0 for kind in kinds]), False
    if not isinstance(sigma, Mapping) or set(sigma) != set(kinds):
        raise InputError(f"sigma: give a standard deviation for each of: {', '.join(dict.fromkeys(kinds))}")
    values = {kind: number(f"sigma: {kind}", value) for kind, value in sigma.items()}
    if min(values.values()) <= 0.0:
        raise InputError("sigma: standard deviations are above 0")
    return np.array([1.0 / values[kind] for kind in kinds]), True
