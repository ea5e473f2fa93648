"""External loads on the platform: a wrench at a named point, in world or platform axes, brought to the platform origin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.description.check_robot import NORMALS
from flexapod.errors import InputError
from flexapod.motions.argument_checks import real_array
from flexapod.robot.varied_numbers import value_of

if TYPE_CHECKING:
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot


WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")

ROUNDING = 1e-9
"""Part of a load out of the plane, of the largest one, that may be rounding of its rotation."""


def forces(robot: Robot, force: ArrayLike | None, count: int) -> Array:
    """Actuator forces (count, actuators) from (actuators,) or (count, actuators)."""
    n = len(robot.actuators)
    array = np.asarray(force)
    given = real_array("force", array, (n,) if array.ndim == 1 else (count, n))
    return np.array(np.broadcast_to(given, (count, n)))


def note_force(force: Array, reasons: Reasons) -> None:
    """A reason for the samples whose force is no number, before accelerations are blamed on masses."""
    reasons[(reasons == "") & ~np.isfinite(force).all(axis=1)] = "input is not a finite number: force"


def platform_wrench(robot: Robot, inputs: dict[str, Array], wrench: ArrayLike | None, point: str | None, axes: str) -> Array:
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
        load[:, 3:] += np.cross(lever(robot, R, point), load[:, :3])
    return load


def lever(robot: Robot, rotation: Array, point: str) -> Array:
    """From the platform's origin to a named point of it, undeformed, (n, 3) world axes [m]."""
    return np.asarray((rotation @ place_of(robot, point)[..., None])[..., 0])


def place_of(robot: Robot, point: str) -> Array:
    """A named point of the platform, (3,) or of many designs (n, 3), platform frame [m]."""
    points = robot.platform.points
    if point not in points:
        known = ", ".join(points) or "none are named in the file"
        raise InputError(f"point: the platform of {robot.name} has no point '{point}' (points: {known})")
    return np.stack(np.broadcast_arrays(*(value_of(robot, f"platform.points.{point}.{i}") for i in "xyz")), axis=-1)


def is_loaded(wrench: ArrayLike | None) -> bool:
    """A load was given that is not zero."""
    return wrench is not None and bool(np.any(np.asarray(wrench)))


def in_plane(robot: Robot) -> list[int]:
    """Components of the twist that the model of a robot has: all six, or the three of a planar robot."""
    if not robot.planar:
        return list(range(6))
    normal = NORMALS[str(robot.description.file.plane)]
    return [*(i for i in range(3) if i != normal), 3 + normal]


def refuse_out_of_plane(robot: Robot, wrench: Array) -> None:
    """Refuse a load (n, 6), world axes, that a planar robot would deflect under out of its plane: its beams do not.

    A rigid planar robot carries it by its joints, without any motion.

    Checked by: tests/analysis/test_out_of_plane.py.
    """
    if not robot.planar or not robot.elastic_names:
        return
    out = [i for i in range(6) if i not in in_plane(robot)]
    if np.abs(wrench[:, out]).max(initial=0.0) > ROUNDING * np.abs(wrench).max(initial=0.0):
        names = ", ".join(WRENCH[i] for i in out)
        raise InputError(
            f"wrench: {robot.name} is planar: its model does not deform out of its plane, and {names} would have no effect; "
            "give a load in its plane, or a file without `plane`, whose beams bend both ways"
        )
