"""Force against speed of every actuator along a motion, with the limits of the file: the picture for choosing a motor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import flexapod as fp
from flexapod.views.plots.robot_figures import line_style, styled
from flexapod.views.plots.time_figures import actuator_limits
from flexapod.views.scene.colours import LIMIT

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr


def force_speed_figure(robot: fp.Robot, legs: xr.Dataset, drive: xr.Dataset) -> go.Figure:
    """One curve per actuator; the box is what all of them may do, the hyperbolas are the smallest power limit.

    Checked by: tests/views/test_report_parts.py.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    speed, force = legs.actuator_velocity.values, drive.force.values
    for k, name in enumerate(robot.actuators):
        figure.add_scatter(
            x=speed[:, k], y=force[:, k], mode="lines", name=f"actuator {name}", line=line_style(k), legendgroup=name,
        )  # fmt: skip
    fast, strong, power = (min(actuator_limits(robot, kind)[1]) for kind in ("speed", "force", "power"))
    lines = [(axis, side * limit) for axis, limit in (("x", fast), ("y", strong)) if np.isfinite(limit) for side in (-1, 1)]
    for axis, value in lines:
        (figure.add_vline if axis == "x" else figure.add_hline)(value, line={"color": LIMIT, "dash": "dash", "width": 1.5})
    if np.isfinite(power):
        reach = 1.2 * float(np.abs(speed).max() or 1.0)
        v = np.linspace(max(power / max(1.5 * float(np.abs(force).max()), 1e-12), 1e-3 * reach), max(reach, 1e-9), 80)
        for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            figure.add_scatter(x=a * v, y=b * power / v, mode="lines", showlegend=False, hoverinfo="skip",
                               line={"color": LIMIT, "dash": "dot", "width": 1.5})  # fmt: skip
    units = set(robot.actuator_units)
    rate = "m/s" if units == {"m"} else "rad/s" if units == {"rad"} else "m/s or rad/s"
    push = "N" if units == {"m"} else "N m" if units == {"rad"} else "N or N m"
    styled(figure, f"Force against speed of the actuators of {robot.name}")
    figure.update_layout(xaxis_title=f"speed [{rate}]", yaxis_title=f"force [{push}]")
    return figure
