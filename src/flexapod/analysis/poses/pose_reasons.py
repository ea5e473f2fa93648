"""Reasons why a pose was not found: residual of an actuator, another assembly mode, contradicting actuators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.poses.pose_search import PoseSearch, Search
from flexapod.analysis.requests.results import SampleError, reasons_of
from flexapod.arrays import Array

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


class PoseNotFoundError(SampleError):
    """Raised if no pose of the guess's assembly mode has the actuator coordinates.

    Args:
        actuator: name of the one that misses most.
        residual: by how much [m or rad].
        position, rotation: nearest pose that was found (NaN where there is none).
    """

    actuator: str
    residual: float
    position: Array
    rotation: Array

    @staticmethod
    def of(robot: Robot, error: SampleError, found: Search) -> PoseNotFoundError:
        """The error of a search."""
        result = PoseNotFoundError(str(error), error.sample, error.reason, error.bad)
        worst = largest(robot, found.residual[error.sample])
        result.actuator = robot.actuators[worst]
        result.residual = float(found.residual[error.sample, worst])
        result.position = found.poses.position[error.sample].copy()
        result.rotation = found.poses.rotation[error.sample].copy()
        return result


def largest(robot: Robot, residual: Array) -> int:
    """The actuator with the largest residual, metres compared with radians by the characteristic length."""
    scale = np.where(np.array(robot.actuator_units) == "rad", 1.0, 1.0 / robot.characteristic_length)
    return int(np.argmax(np.abs(np.nan_to_num(residual)) * scale))


def reasons_of_poses(robot: Robot, search: PoseSearch, found: Search, target: Array, assembly: str) -> NDArray[np.str_]:
    """The reason per sample; empty where the pose was found."""
    reasons = np.zeros(len(target), dtype=object)
    reasons[:] = ""
    good = found.solved & (found.same | (assembly == "any"))
    for i in np.flatnonzero(~good):
        reasons[i] = _reason(robot, search, found, int(i), target)
    return reasons.astype(str)


def _reason(robot: Robot, search: PoseSearch, found: Search, i: int, target: Array) -> str:
    if found.status[i] == -1:
        return str(reasons_of(search.kernel.signature, found.status[i : i + 1], {"actuator_position": target[i : i + 1]})[0])
    where = f"position {place(found.poses.position[i])} m"
    if found.solved[i]:
        if found.singular[i]:
            return (
                f"the pose found ({where}) is singular (type 2): the actuators do not determine it; "
                "give another guess, or assembly='any'"
            )
        mode = (
            "may lie on another assembly mode than the guess"
            if found.kept[i]
            else "lies on another assembly mode than the guess (the determinant of the Jacobian has the other sign)"
        )
        return (
            f"the pose found ({where}) {mode}: on the straight path of the actuators to it the robot is singular "
            f"after {100 * found.reached[i]:.3g} %; give a guess nearer to the intended pose, or assembly='any'"
        )
    if not np.all(np.isfinite(found.poses.position[i])):
        return "no pose was found with these actuator coordinates: no trial pose near the guess can be reached"
    worst = largest(robot, found.residual[i])
    gap = f"{abs(found.residual[i, worst]):.6g} {robot.actuator_units[worst]}"
    if not search.signed:
        return (
            f"the actuators contradict each other: no pose fits all {len(robot.actuators)}; at the nearest one ({where}) "
            f"actuator {robot.actuators[worst]} misses by {gap}"
        )
    return (
        f"no pose was found with these actuator coordinates: at the nearest one ({where}) "
        f"actuator {robot.actuators[worst]} misses by {gap}"
    )


def place(position: Array) -> str:
    """A position as text."""
    return "(" + ", ".join(f"{x:.6g}" for x in position) + ")"
