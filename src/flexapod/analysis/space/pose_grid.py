"""Grids of poses, made block by block: positions along axes, orientations by rotation vectors or tilt and torsion."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.argument_checks import finite_array, rotations
from flexapod.motions.rotations import euler_rotation, rotvec_rotation

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


POSITION = ("x", "y", "z")
ROTATION = ("rx", "ry", "rz")
TILT = ("tilt", "azimuth", "torsion")


@dataclass(frozen=True, kw_only=True)
class PoseGrid:
    """A grid of poses around home.

    Args:
        axes: values by axis, in the order of the dimensions.
        home_position, base: where axes that are not given stay; `base` is the orientation that rotations turn.
        following: components of the rotation vector (3-5) that are not asked for and follow from the others.
    """

    axes: dict[str, Array]
    home_position: Array
    base: Array
    following: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values along each axis."""
        return tuple(len(values) for values in self.axes.values())

    @property
    def count(self) -> int:
        """Number of poses."""
        return math.prod(self.shape)

    @property
    def free(self) -> list[int]:
        """Components of the pose that were not given (0-2 translation, 3-5 rotation)."""
        return [k for k, name in enumerate(POSITION) if name not in self.axes] + list(self.following)

    def block(self, start: int, stop: int) -> tuple[Array, Array]:
        """Poses of flat indices start to stop: position (m, 3), rotation (m, 3, 3)."""
        index = np.unravel_index(np.arange(start, stop), self.shape)
        values = {name: axis[i] for (name, axis), i in zip(self.axes.items(), index, strict=True)}
        return poses_of(values, stop - start, self.home_position, self.base)


def poses_of(values: Mapping[str, Array], count: int, home_position: Array, base: Array) -> tuple[Array, Array]:
    """Poses from values (count,) along axes: position (count, 3), rotation (count, 3, 3)."""
    position = np.tile(home_position, (count, 1))
    for k, name in enumerate(POSITION):
        if name in values:
            position[:, k] = values[name]
    none = np.zeros(count)
    if any(name in values for name in ROTATION):
        rotation = rotvec_rotation(np.column_stack([values.get(name, none) for name in ROTATION]))
    elif any(name in values for name in TILT):
        tilt, azimuth, torsion = (values.get(name, none) for name in TILT)
        rotation = euler_rotation("ZYZ", np.column_stack([azimuth, tilt, torsion - azimuth]))
    else:
        return position, np.ascontiguousarray(np.broadcast_to(base, (count, 3, 3)))
    return position, np.ascontiguousarray(rotation @ base)


def pose_grid(
    robot: Robot, grid: Mapping[str, ArrayLike] | None, orientation: ArrayLike | Mapping[str, ArrayLike] | None
) -> PoseGrid:
    """A grid from what a user gives.

    Args:
        grid: axis -> values; axes x, y, z [m, world], rx, ry, rz [rad, rotation vector from home in world axes].
        orientation: None (home), a rotation matrix, or a mapping of tilt, azimuth, torsion [rad]:
            R = Rz(azimuth) Ry(tilt) Rz(torsion - azimuth) R_home.
    Values are arrays, single numbers, or tuples (smallest, largest, count).
    """
    if grid is None and orientation is None:
        raise InputError("give grid (axes x, y, z, rx, ry, rz), orientation (tilt, azimuth, torsion), or both")
    axes: dict[str, Array] = {}
    for name, values in (grid or {}).items():
        _known("grid", name, POSITION + ROTATION)
        axes[name] = axis_values(name, values)
    base = np.array(robot.home.rotation)
    if isinstance(orientation, Mapping):
        if any(name in axes for name in ROTATION):
            raise InputError("orientation: the grid turns the platform already (rx, ry, rz); give one of the two")
        for name, values in orientation.items():
            _known("orientation", name, TILT)
            axes[name] = axis_values(name, values)
    elif orientation is not None:
        base = rotations("orientation", orientation, (3, 3))
    if not axes:
        raise InputError("grid: there is no axis; give values of at least one of x, y, z, rx, ry, rz, tilt, azimuth, torsion")
    following = following_rotations(robot, axes) if orientation is None else ()
    return PoseGrid(axes=axes, home_position=np.array(robot.home.position), base=base, following=following)


def following_rotations(robot: Robot, axes: Collection[str]) -> tuple[int, ...]:
    """Components of the rotation vector (3-5) that follow from the others of a pose.

    All where no rotation is an axis; else the dependent ones that are no axis.
    """
    if not any(name in axes for name in ROTATION):
        return (3, 4, 5)
    return tuple(3 + k for k, name in enumerate(ROTATION) if name not in axes and 3 + k in robot.plan.platform_dependents)


MOST_VALUES = 10_000_000
"""Values along one axis at most: grids with more do not fit into memory or on a disk."""


def axis_values(name: str, values: ArrayLike) -> Array:
    """Values along an axis: an array, a number, or (smallest, largest, count)."""
    if isinstance(values, tuple):
        if len(values) != 3 or isinstance(values[2], bool) or int(values[2]) != values[2] or values[2] < 1:
            raise InputError(f"{name}: a tuple is (smallest, largest, count), got {values!r}; give other values as a list")
        low, high = finite_array(name, values[:2], (2,))
        if values[2] > MOST_VALUES:
            raise InputError(f"{name}: {values[2]:g} values along an axis are too many; at most {MOST_VALUES:g} are allowed")
        return np.linspace(low, high, int(values[2]))
    shape = np.shape(values)
    if len(shape) > 1 or shape == (0,):
        raise InputError(f"{name}: expected one number, a list of numbers, or (smallest, largest, count), got shape {shape}")
    return np.atleast_1d(finite_array(name, values, shape))


def _known(what: str, name: str, allowed: tuple[str, ...]) -> None:
    if name not in allowed:
        raise InputError(f"{what}: no axis {name!r}; there are {', '.join(allowed)}")
