r"""Criteria of space: the volume of a box of poses that a design can reach, and the distances of its legs.

.. math:: V = \frac{n_{valid}}{n}\prod_k (b_k - a_k)

The box is cut into equal cells; a cell counts where the pose at its middle can be reached: legs reach, strokes and joint angles
of the file are kept, no singular pose, a condition number below a limit where one is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.poses.pose_projection import onto_constraints
from flexapod.analysis.space.leg_distance import pairs_of, segment_distance
from flexapod.analysis.space.pose_grid import pose_grid
from flexapod.arrays import Array
from flexapod.design.reductions import Options, Outputs
from flexapod.design.variables import number
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

UNITS = {"x": "m", "y": "m", "z": "m", "rx": "rad", "ry": "rad", "rz": "rad"}

FREE = 1e-9
"""Distance, of the characteristic length, by which the legs' constraints may move a pose of a box; poses that they move by more
cannot be chosen."""


def volume_unit(name: str, box: Mapping[str, ArrayLike]) -> str:
    """Unit of the volume of a box, e.g. m^3; also checks it."""
    powers = {"m": 0, "rad": 0}
    for axis in box_axes(name, box):
        powers[UNITS[axis]] += 1
    return " ".join(unit if n == 1 else f"{unit}^{n}" for unit, n in powers.items() if n)


def box_axes(name: str, box: Mapping[str, ArrayLike]) -> dict[str, tuple[float, float, int]]:
    """Axis -> (low, high, cells) of a box, checked."""
    if not isinstance(box, Mapping) or not box:
        raise InputError(f"criteria: {name}: box: give axis -> (low, high, cells), e.g. {{'x': (-0.1, 0.1, 9)}}")
    axes = {}
    for axis, given in box.items():
        if axis not in UNITS or not isinstance(given, list | tuple) or len(given) != 3:
            raise InputError(f"criteria: {name}: box: {axis}: axes are {', '.join(UNITS)}, each (low, high, cells)")
        low, high = (number(f"criteria: {name}: box: {axis}", v, UNITS[axis]) for v in given[:2])
        cells = given[2]
        if low >= high or isinstance(cells, bool) or not isinstance(cells, int) or cells < 1:
            raise InputError(f"criteria: {name}: box: {axis}: expected low < high and a number of cells from 1, got {given!r}")
        axes[str(axis)] = (low, high, cells)
    return axes


def box_poses(robot: Robot, name: str, box: Mapping[str, ArrayLike]) -> tuple[dict[str, Array], float]:
    """Inputs `position` (m, 3) and `rotation` (m, 3, 3) of the cells' middles, and the volume of a cell."""
    axes = box_axes(name, box)
    middles = {a: low + (np.arange(n) + 0.5) * (high - low) / n for a, (low, high, n) in axes.items()}
    grid = pose_grid(robot, middles, None)
    position, rotation = grid.block(0, grid.count)
    if robot.plan.constraints:
        p, R, _ = onto_constraints(robot, position, rotation, grid.free)
        if not np.allclose(p, position, atol=FREE * robot.characteristic_length) or not np.allclose(R, rotation, atol=FREE):
            raise InputError(
                f"criteria: {name}: box: the legs of {robot.name} do not let its platform reach these poses; "
                "use axes that it can control"
            )
    cell = float(np.prod([(high - low) / n for low, high, n in axes.values()]))
    return {"position": position, "rotation": np.ascontiguousarray(rotation)}, cell


def reachable(o: Outputs, options: Options) -> Array:
    """Volume; `reachable` (n, m) says which poses can be reached."""
    return np.asarray(o["reachable"].sum(axis=1) * options["cell"])


def leg_distances(o: Outputs, options: Options) -> Array:
    """Smallest distance of two legs that share no joint centre, over the poses."""
    ends = o["ends"]
    n, m = ends.shape[:2]
    flat = ends.reshape(n * m, -1, 6)
    found = [
        segment_distance(flat[:, i, :3], flat[:, i, 3:], flat[:, k, :3], flat[:, k, 3:]) for i, k in options["pairs"]
    ]  # fmt: skip
    return np.asarray(np.min(found, axis=0).reshape(n, m).min(axis=1))


def leg_pairs(robot: Robot, name: str) -> list[tuple[int, int]]:
    """Pairs of legs whose distance counts."""
    if any(form is None for form in robot.closed_forms):
        raise InputError(f"criteria: {name}: available for U-P-S, P-U-S and R-U-S legs, which {robot.name} does not have")
    pairs = pairs_of(robot)
    if not pairs:
        raise InputError(f"criteria: {name}: every two legs of {robot.name} share a joint centre; there is no distance")
    return pairs
