"""External loads on the platform: a wrench at a named point, in world or platform axes, brought to the platform origin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.errors import InputError
from flexapod.motions.arrays import real_array
from flexapod.robot.varied import value_of

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]


def platform_wrench(robot: Robot, inputs: dict[str, Array], wrench: Any, point: str | None, axes: str) -> Array:
    """Wrench (n, 6) at the platform frame origin, world axes.

    Args:
        inputs: poses that the wrench acts at (`position`, `rotation`).
        wrench: (6,) for all samples, or (n, 6): force, moment [N, N m]; None for no load.
        point: named point of the platform where it acts; None for the frame origin.
        axes: ``"world"`` or ``"platform"``.
    """
    count = len(inputs["position"])
    if wrench is None:
        return np.zeros((count, 6))
    array = np.asarray(wrench)
    given = real_array("wrench", array, (6,) if array.ndim == 1 else (count, 6))
    load = np.array(np.broadcast_to(given, (count, 6)))
    if axes not in ("world", "platform"):
        raise InputError(f"axes: expected 'world' or 'platform', got {axes!r}")
    R = inputs["rotation"]
    if axes == "platform":
        load = np.concatenate([np.einsum("nij,nj->ni", R, load[:, :3]), np.einsum("nij,nj->ni", R, load[:, 3:])], axis=1)
    if point is not None:
        points = robot.platform.points
        if point not in points:
            known = ", ".join(points) or "none are named in the file"
            raise InputError(f"point: the platform of {robot.name} has no point '{point}' (points: {known})")
        at = np.stack(np.broadcast_arrays(*(value_of(robot, f"platform.points.{point}.{i}") for i in "xyz")), axis=-1)
        arm = (R @ at[..., None])[..., 0]
        load[:, 3:] += np.cross(arm, load[:, :3])
    return load


def is_loaded(wrench: Any) -> bool:
    """A load was given that is not zero."""
    return wrench is not None and bool(np.any(np.asarray(wrench)))
