"""A slice of the workspace as a coloured surface: two coordinates vary, the others stay as they are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.studio.moved_coordinates import PoseCoordinates

NO_PLANE = "(none)"
"""Choice of a robot whose platform has no plane of positions."""
CELLS = 61
ROWS = 4
"""Rows computed between two reports of progress."""
TOP = 5.0
"""Top of the colour scale, of the median condition number: a few poses beside a singularity must not swallow the rest."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Slice:
    """Surface of a slice: vertices (k, 3) in the world, triangles, colours RGBA, and the scale of the condition number."""

    vertices: Array
    faces: NDArray[np.int64]
    colours: NDArray[np.uint8]
    low: float
    high: float
    share: float
    axes: str


def planes(coordinates: PoseCoordinates) -> tuple[str, ...]:
    """Planes in which a robot's workspace can be cut; none where the platform only rotates, or moves along one line."""
    if coordinates.kind == "actuator":
        return ("xy",)
    names = [name for name in coordinates.names if name in "xyz"]
    return tuple(a + b for k, a in enumerate(names) for b in names[k + 1 :])


def plane_problem(coordinates: PoseCoordinates) -> str:
    """The reason why a plane cannot be used."""
    known = planes(coordinates)
    if known:
        return f"plane: expected one of {', '.join(known)}"
    return f"slice: the robot moves by {', '.join(coordinates.names)}, so there is no plane of positions to cut"


def workspace_slice(
    robot: fp.Robot, coordinates: PoseCoordinates, state: fp.State, plane: str, report: Callable[[float], None]
) -> Slice:
    """Condition number over a plane through the shown pose, with the shown orientation.

    Args:
        plane: two of x, y, z.
        report: called with the part that is done; may raise to stop.

    Checked by: tests/studio/test_studio_model.py.
    """
    first, second = plane[0], plane[1]
    spans = [_span(robot, coordinates, axis) for axis in plane]
    a, b = (np.linspace(low, high, CELLS) for low, high in spans)
    third = next(axis for axis in "xyz" if axis not in plane)
    chosen = coordinates.kind == "pose" and third in coordinates.names
    fixed = {third: float(state.position["xyz".index(third)])} if chosen else {}
    rotated = robot.mobility.platform == 6
    good, condition = [], []
    for start in range(0, CELLS, ROWS):
        report(start / CELLS)
        grid: dict[str, ArrayLike] = {first: a[start : start + ROWS], second: b, **fixed}
        found = fp.workspace(robot, grid=grid, orientation=state.rotation if rotated else None, progress=False)
        good.append(found.valid.values.reshape(-1, CELLS))
        condition.append(found.condition_number.values.reshape(-1, CELLS))
    valid, values = np.vstack(good), np.where(np.vstack(good), np.vstack(condition), np.nan)
    report(1.0)
    A, B = np.meshgrid(a, b, indexing="ij")
    vertices = np.tile(np.asarray(state.position, dtype=np.float64), (A.size, 1))
    vertices[:, "xyz".index(first)], vertices[:, "xyz".index(second)] = A.ravel(), B.ravel()
    low, high = (float(np.nanmin(values)), _top(values)) if valid.any() else (1.0, 1.0)
    faces = _faces(valid)
    return Slice(
        vertices=vertices, faces=faces, colours=_colours(values.ravel(), low, high), low=low, high=high,
        share=float(valid.mean()), axes=plane,
    )  # fmt: skip


def _span(robot: fp.Robot, coordinates: PoseCoordinates, axis: str) -> tuple[float, float]:
    for item in coordinates.items:
        if item.name == axis and coordinates.kind == "pose":
            return item.low, item.high
    home = float(robot.home.position["xyz".index(axis)])
    return home - robot.size, home + robot.size


def _top(values: Array) -> float:
    return float(min(np.nanmax(values), TOP * np.nanmedian(values)))


def _faces(valid: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Two triangles, seen from both sides, for every cell whose corners are all good."""
    index = np.arange(valid.size).reshape(valid.shape)
    cell = valid[:-1, :-1] & valid[1:, :-1] & valid[:-1, 1:] & valid[1:, 1:]
    p, q, r, s = index[:-1, :-1][cell], index[1:, :-1][cell], index[1:, 1:][cell], index[:-1, 1:][cell]
    front = np.vstack([np.column_stack([p, q, r]), np.column_stack([p, r, s])])
    return np.vstack([front, front[:, ::-1]])


def _colours(values: Array, low: float, high: float) -> NDArray[np.uint8]:
    """Viridis, dark where the condition number is high."""
    part = 1.0 - np.clip((np.nan_to_num(values, nan=high) - low) / ((high - low) or 1.0), 0.0, 1.0)
    table = np.array(
        [(68, 1, 84), (71, 44, 122), (59, 81, 139), (44, 113, 142), (33, 144, 141), (39, 173, 129), (92, 200, 99), (170, 220, 50),
         (253, 231, 37)], dtype=np.float64,
    )  # fmt: skip
    place = part * (len(table) - 1)
    k = np.minimum(place.astype(int), len(table) - 2)
    mix = table[k] + (place - k)[:, None] * (table[k + 1] - table[k])
    return np.column_stack([mix, np.full(len(mix), 205)]).astype(np.uint8)
