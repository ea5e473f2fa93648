"""`singularity_locus`: singular poses on a plane slice as curves; `aspects`: parts of a grid that no singularity divides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.poses.pose_jacobians import pose_jacobians
from flexapod.analysis.poses.pose_projection import onto_constraints
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.space.continuation import zero_curves
from flexapod.analysis.space.pose_grid import POSITION, ROTATION, TILT, axis_values, following_rotations, pose_grid, poses_of
from flexapod.analysis.verbs.singularities import determinants, sides
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.argument_checks import finite_array, positive

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True)
class Locus:
    """Curves of singular poses on a slice.

    Args:
        axes: names of the two coordinates.
        window: (2, 2) smallest and largest value of each.
        curves: (n, 2) points of each curve, in order.
        closed: which of them are closed.
    """

    robot: str
    axes: tuple[str, str]
    window: Array
    curves: tuple[Array, ...]
    closed: tuple[bool, ...]

    def table(self) -> xr.Dataset:
        """Points of all curves one after the other: `curve` (point,), and the two coordinates."""
        import xarray as xr

        number = np.concatenate([np.full(len(c), k) for k, c in enumerate(self.curves)] or [np.zeros(0)]).astype(int)
        points = np.concatenate(self.curves) if self.curves else np.zeros((0, 2))
        data = {"curve": ("point", number), self.axes[0]: ("point", points[:, 0]), self.axes[1]: ("point", points[:, 1])}
        return xr.Dataset(data, attrs={"robot": self.robot})


@checked
def singularity_locus(
    robot: Robot,
    window: Mapping[str, ArrayLike],
    orientation: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    cells: int = 48,
    step: float = 1 / 150,
) -> Locus:
    """Type 2 singular poses on a slice of the space of poses, as curves followed by continuation.

    The function is the determinant of the row-normalised [J; G], whose sign gives the side.

    Args:
        window: two axes with (smallest, largest), any others with one number: x, y, z [m], rx, ry, rz or tilt, azimuth, torsion
            [rad], as in `workspace`. Axes left out stay at home, or follow from the others below mobility 6.
        orientation: (3, 3) from which rotations count; that of home if left out.
        cells: of the grid on which curves are searched; a closed curve within one cell may be missed.
        step: largest distance of neighbouring points, over the window.
    Returns:
        `Locus`: the curves (points in order) in the coordinates of the window.

    Checked by: tests/analysis/test_singularities.py.
    """
    refuse(robot, "singularity_locus", orientation=orientation, cells=cells, step=step)
    free = [name for name, value in window.items() if np.ndim(value) == 1]
    if len(free) != 2 or any(np.size(window[name]) != 2 for name in free):
        raise InputError("window: give two axes as (smallest, largest), the others as one number")
    fixed = {name: value for name, value in window.items() if name not in free}
    for name in window:
        if name not in POSITION + ROTATION + TILT:
            raise InputError(f"window: no axis {name!r}; there are {', '.join(POSITION + ROTATION + TILT)}")
    if any(n in ROTATION for n in window) and any(n in TILT for n in window):
        raise InputError("window: give rotations as rx, ry, rz or as tilt, azimuth, torsion, not both")
    span = np.array([[float(x) for x in np.asarray(window[name])] for name in free])
    for name, value in window.items():
        finite_array(f"window: {name}", value, np.shape(value))
    step = positive("step", step)
    if np.any(span[:, 0] >= span[:, 1]):
        raise InputError("window: the first number of an axis must be the smaller one")
    base = robot.home.rotation if orientation is None else np.asarray(orientation, dtype=float)
    held = [k for k, name in enumerate(POSITION) if name not in window]
    held += [] if any(n in TILT for n in window) or orientation is not None else following_rotations(robot, window)

    def f(points: Array) -> Array:
        at = span[:, 0] + points * (span[:, 1] - span[:, 0])
        values = {name: at[:, k] for k, name in enumerate(free)}
        values |= {name: np.full(len(at), float(axis_values(name, value)[0])) for name, value in fixed.items()}
        position, rotation = poses_of(values, len(at), robot.home.position, base)
        if robot.plan.constraints:
            position, rotation, _ = onto_constraints(robot, position, rotation, held)
        found = pose_jacobians(robot, position, rotation)
        return np.where(found.reasons == "", determinants(found.rows, robot.characteristic_length), np.nan)

    curves = zero_curves(f, cells, step)
    scaled = tuple(span[:, 0] + curve.points * (span[:, 1] - span[:, 0]) for curve in curves)
    return Locus(robot=robot.name, axes=(free[0], free[1]), window=span, curves=scaled, closed=tuple(c.closed for c in curves))


@checked
def aspects(
    robot: Robot,
    grid: Mapping[str, ArrayLike],
    orientation: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    limits: bool = True,
) -> xr.Dataset:
    """Parts of a grid of poses that are connected without a singularity between neighbours.

    Args:
        grid, orientation: as in `workspace`.
        limits: strokes and joint angles count: poses beyond them separate parts.
    Returns:
        Dataset of `workspace` with `side` (as in `singularities`) and `aspect`: 0 invalid, 1, 2, ... by size.

    Neighbours are joined by their sign alone: a singular surface met twice between them is not seen; refine the grid, or ask
    `path_between`. Checked by: tests/analysis/test_singularities.py.
    """
    from scipy import ndimage

    from flexapod.analysis.verbs.workspace import workspace

    refuse(robot, "aspects", orientation=orientation, limits=limits)
    result = workspace(robot, grid, orientation, limits=limits, progress=False)
    poses = pose_grid(robot, grid, orientation)
    position, rotation = poses.block(0, poses.count)
    if robot.plan.constraints:
        position, rotation, _ = onto_constraints(robot, position, rotation, poses.free)
    found = pose_jacobians(robot, position, rotation)
    side = np.full(poses.count, np.nan)
    good = found.reasons == ""
    side[good] = sides(robot, found.rows[good], robot.characteristic_length)
    valid = result["valid"].values.ravel() & good
    label, count = np.zeros(poses.shape, dtype=int), 0
    for sign in (1.0, -1.0):
        own, many = ndimage.label((valid & (side == sign)).reshape(poses.shape))
        label = np.where(own > 0, own + count, label)
        count += many
    sizes = np.bincount(label.ravel(), minlength=count + 1)[1:]
    rank = np.zeros(count + 1, dtype=int)
    rank[1 + np.argsort(-sizes, kind="stable")] = np.arange(1, count + 1)
    dims = tuple(poses.axes)
    return result.assign(side=(dims, side.reshape(poses.shape)), aspect=(dims, rank[label]))
