"""Figure of assembly modes: the platform in each of its poses, one colour each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.views.plots.robot_figures import scene, styled
from flexapod.views.scene.colours import COLOURS

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

    import flexapod as fp


def poses_figure(robot: fp.Robot, modes: xr.Dataset) -> go.Figure:
    """Polygons of the platform's joints and its axes z, pose by pose; the legend shows and hides them.

    Args:
        modes: result of `flexapod.assembly_modes` of one sample.
    """
    import plotly.graph_objects as go

    joints = np.array([leg.closing.on_platform.position for leg in robot.legs])
    ring = np.concatenate([joints, joints[:1]])
    figure = go.Figure()
    for k in range(int(modes["count"])):
        p, R = modes["position"].values[k], modes["rotation"].values[k]
        corners = p + ring @ R.T
        tip = p + 0.5 * robot.characteristic_length * R[:, 2]
        line = np.concatenate([corners, [[np.nan] * 3], [p, tip]])
        figure.add_scatter3d(
            x=line[:, 0], y=line[:, 1], z=line[:, 2], mode="lines+markers", name=f"{k + 1}",
            line={"color": COLOURS[k % len(COLOURS)], "width": 4}, marker={"size": 2, "color": COLOURS[k % len(COLOURS)]},
        )  # fmt: skip
    styled(figure, f"{robot.name}: {int(modes['count'])} assembly modes", 560)
    view = scene(robot)
    if robot.description.file.plane is None:  # poses below the base, too: from farther away than the robot alone
        view["camera"]["eye"] = {axis: 1.6 * x for axis, x in view["camera"]["eye"].items()}
    figure.update_layout(scene=view, margin={"l": 0, "r": 0, "t": figure.layout.margin.t - 10, "b": 0})
    return figure
