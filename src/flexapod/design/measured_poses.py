"""Measurements of the platform as residuals of file parameters: poses, positions or distances at actuator readings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.forward_kinematics import forward_kinematics
from flexapod.analysis.state import State
from flexapod.design.pose_errors import PerturbedPoses, rotation_vector
from flexapod.design.variables import number
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]
KNOWN = ("actuator_position", "position", "rotation", "distance", "base_points", "platform_points")


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
    def parameters(self) -> int:
        """Number of parameters."""
        return len(self.poses.paths)

    def residual(self, theta: Array, chosen: NDArray[np.int64]) -> Array:
        """(len(chosen), rows) at corrections theta."""
        p, R = self.poses.poses(theta[None])
        return np.asarray(self._rows(p, R)[0][chosen])

    def jacobian(self, theta: Array, chosen: NDArray[np.int64]) -> Array:
        """Derivative (chosen * rows, d) of what is predicted, by fourth-order differences."""
        h = np.array([axis.high for axis in self.poses.axes]) / 4
        d = len(h)
        points = np.concatenate([theta + s * np.diag(h) for s in (1.0, -1.0, 2.0, -2.0)])
        r = -self._rows(*self.poses.poses(points)).reshape(4, d, self.count, -1)
        slope = (8 * (r[0] - r[1]) - (r[2] - r[3])) / (12 * h[:, None, None])
        return np.asarray(slope[:, chosen].reshape(d, -1).T)

    def sensitivity(self) -> Array:
        """Derivative (n rows, d) where the platform was measured: errors of the drawing do not blur what can be seen."""
        if "rotation" not in self.given:
            return self.jacobian(np.zeros(self.parameters), np.arange(self.count))
        at = State(position=self.given["position"], rotation=self.given["rotation"])
        D = PerturbedPoses(self.poses.robot, self.poses.paths, at).derivative()
        return np.asarray((D * self.weight[:, None]).reshape(-1, self.parameters))

    def _rows(self, p: Array, R: Array) -> Array:
        if "distance" in self.given:
            points = p[:, :, None] + np.einsum("nmij,kj->nmki", R, self.given["platform_points"])
            rows = self.given["distance"] - np.linalg.norm(points - self.given["base_points"], axis=3)
        else:
            parts = [self.given["position"] - p]
            if "rotation" in self.given:
                parts.append(rotation_vector(self.given["rotation"] @ np.swapaxes(R, -1, -2)))
            rows = np.concatenate(parts, axis=2)
        return np.asarray(rows * self.weight)


def measured_poses(robot: Robot, paths: list[str], measurements: Any, sigma: Any) -> MeasuredPoses:
    """Measurements of a request, checked.

    Checked by: tests/design/test_calibrate.py.
    """
    given = _arrays(measurements)
    q = _shaped(given, "actuator_position", (-1, len(robot.actuators)))
    n = len(q)
    kinds = [name for name in ("position", "distance") if name in given]
    if len(kinds) != 1:
        raise InputError("measurements: give `position` (with or without `rotation`), or `distance` with its points; one of both")
    if "distance" in given:
        k = len(_shaped(given, "base_points", (-1, 3)))
        _shaped(given, "platform_points", (k, 3))
        _shaped(given, "distance", (n, k))
        labels = tuple(f"distance {i + 1}" for i in range(k))
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
    poses = PerturbedPoses(robot, paths, start, q)
    result = MeasuredPoses(poses=poses, given=given, labels=labels, weight=weight, absolute=absolute, length=length)
    off = np.flatnonzero(~np.isfinite(result.residual(np.zeros(len(paths)), np.arange(n))).all(axis=1))
    if len(off):
        raise InputError(
            f"measurements: no pose belongs to the actuator readings of measurement {off[0]}; check them and their units"
        )
    return result


def _arrays(measurements: Any) -> dict[str, Array]:
    if hasattr(measurements, "data_vars"):
        measurements = {str(name): measurements[name].values for name in measurements.data_vars}
    if not isinstance(measurements, Mapping):
        raise InputError(f"measurements: expected a mapping or a dataset, got {type(measurements).__name__}")
    wrong = [str(name) for name in measurements if name not in KNOWN]
    if wrong:
        raise InputError(f"measurements: there is no {wrong[0]!r}; there are: {', '.join(KNOWN)}")
    try:
        given = {name: np.ascontiguousarray(value, dtype=np.float64) for name, value in measurements.items()}
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


def _weight(sigma: Any, labels: tuple[str, ...], length: float) -> tuple[Array, bool]:
    kinds = ["rotation" if name.startswith("r") else "distance" if name.startswith("d") else "position" for name in labels]
    if sigma is None:
        return np.array([length if kind == "rotation" else 1.0 for kind in kinds]), False
    if not isinstance(sigma, Mapping) or set(sigma) != set(kinds):
        raise InputError(f"sigma: give a standard deviation for each of: {', '.join(dict.fromkeys(kinds))}")
    values = {kind: number(f"sigma: {kind}", value) for kind, value in sigma.items()}
    if min(values.values()) <= 0.0:
        raise InputError("sigma: standard deviations are above 0")
    return np.array([1.0 / values[kind] for kind in kinds]), True
