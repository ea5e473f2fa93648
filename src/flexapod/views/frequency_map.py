r"""Natural frequencies over a grid of poses: where in the workspace a robot is stiff, where it is soft.

Poses that the robot cannot reach are left out with their reasons, as in `flexapod.workspace`.
Checked by: tests/views/test_frequency_map.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

import flexapod as fp
from flexapod.views.plots.mode_figures import frequency_figure
from flexapod.views.plots.workspace_figures import middle_slice, slice_figure

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

AXES = ("x", "y", "z", "rx", "ry", "rz")


def frequency_map(
    robot: fp.Robot, grid: Mapping[str, ArrayLike], *, actuators: str | ArrayLike = "locked", prestress: bool = True
) -> xr.Dataset:
    """Frequencies at the poses of a grid that can be reached.

    Args:
        grid: axis -> values or (smallest, largest, count): x, y, z [m, world], rx, ry, rz [rad, rotation vector from home].
        actuators, prestress: as for `flexapod.natural_frequencies`.
    Returns:
        Dataset over the axes: `frequency` (.., mode) [Hz], NaN where a pose cannot be reached; `valid`,
            `reason` (code of `reason_text`).
    """
    unknown = [name for name in grid if name not in AXES]
    if unknown:
        raise fp.InputError(f"grid: no axis '{unknown[0]}' for frequencies; they are {', '.join(AXES)}")
    area = fp.workspace(robot, grid=grid, progress=False)
    taken = area.valid.values.ravel()
    if not taken.any():
        raise fp.InputError(
            f"grid: {robot.name} can reach none of its {taken.size} poses, {area.reason_text.values[area.reason.values.max()]}"
        )
    modes = fp.natural_frequencies(
        robot, _poses(robot, area, taken), actuators=actuators, prestress=prestress, on_error="mask"
    )  # fmt: skip
    frequency = np.full((taken.size, modes.sizes["mode"]), np.nan)
    frequency[taken] = np.where(modes.valid.values[:, None], modes.frequency.values, np.nan)
    codes, texts = area.reason.values.ravel().copy(), [str(w) for w in area.reason_text.values]
    for row, why in zip(np.flatnonzero(taken)[~modes.valid.values], modes.reason.values[~modes.valid.values], strict=True):
        if str(why) not in texts:
            texts.append(str(why))
        codes[row] = texts.index(str(why))
    shape, axes = area.valid.shape, area.valid.dims
    result = area.drop_vars(list(area.data_vars)).assign_coords({axis: area[axis] for axis in axes})
    result = result.assign(
        frequency=((*axes, "mode"), frequency.reshape(*shape, -1), {"units": "Hz"}),
        valid=(axes, (codes == 0).reshape(shape)),
        reason=(axes, codes.reshape(shape)),
        reason_text=(("code",), texts),
        words=(("code",), texts, {"deprecated": "called reason_text now"}),
    )
    return result.assign_coords(mode=modes.mode.values)


def _poses(robot: fp.Robot, area: xr.Dataset, taken: xr.Dataset) -> fp.State:
    """The poses of the grid that can be reached, in the order of the flat grid."""
    axes = [str(dim) for dim in area.valid.dims]
    grid = dict(zip(axes, np.meshgrid(*(area[a].values for a in axes), indexing="ij"), strict=True))
    flat = {name: values.ravel()[taken] for name, values in grid.items()}
    position = np.tile(robot.home.position, (int(taken.sum()), 1))
    rotvec = np.zeros_like(position)
    for k, name in enumerate("xyz"):
        position[:, k] = flat.get(name, position[:, k])
        rotvec[:, k] = flat.get(f"r{name}", rotvec[:, k])
    return fp.State(position=position, rotation=fp.motions.rotvec_rotation(rotvec) @ robot.home.rotation)


def frequency_map_figure(found: xr.Dataset, title: str, mode: int = 1) -> go.Figure:
    """One mode over two axes of the grid (at the middle of the others), or all modes along a single axis.

    Args:
        found: result of `frequency_map`.
        mode: number of the mode, from 1.
    """
    if found.valid.ndim == 1:
        return frequency_figure(found, title)
    if mode not in found.mode.values:
        raise fp.InputError(f"mode {mode}: expected 1 to {int(found.mode.values[-1])}")
    flat, x, y, where = middle_slice(found)
    values = flat.frequency.sel(mode=mode)
    return slice_figure(
        flat, x, y, f"{title}, mode {mode}{where}", values=values, label="frequency<br>[Hz]", colours="Viridis",
        hover="frequency %{z:.4g} Hz",
    )  # fmt: skip
