"""Figure of a reduction: error of the platform's dynamic stiffness over frequency, and its bound, for every pose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.views.plots.robot_figures import styled
from flexapod.views.scene.colours import COLOURS

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

SMALLEST = 1e-12
"""Errors below this are rounding and are not drawn."""

POSES = 8
"""Poses that are drawn; of more, the ones in even steps."""


def reduction_figure(found: xr.Dataset, title: str) -> go.Figure:
    """Error (solid) and bound (dashed) of `flexapod.reduce_legs` over frequency, one colour per pose; the limit as a line.

    Args:
        found: result of `flexapod.reduce_legs`.

    Checked by: tests/views/test_figures.py.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    at = found.at_frequency.values
    error, bound = (np.atleast_2d(found[name].values) for name in ("error", "error_bound"))
    chosen = np.unique(np.linspace(0, len(error) - 1, min(len(error), POSES)).round().astype(int))
    for number, k in enumerate(chosen):
        shade = COLOURS[number % len(COLOURS)]
        for values, dash, name in ((error[k], "solid", f"error, pose {k + 1}"), (bound[k], "dash", f"bound, pose {k + 1}")):
            shown = np.where(np.isfinite(values) & (values > SMALLEST), values, np.nan)
            figure.add_scatter(x=at, y=shown, mode="lines", line={"color": shade, "dash": dash}, name=name)
    figure.add_vline(x=float(found.attrs["limit"]), line={"dash": "dot", "color": "#888"}, annotation_text="limit")
    figure.update_xaxes(title_text="frequency [Hz]")
    figure.update_yaxes(title_text="error of the dynamic stiffness [of the static]", type="log", exponentformat="power")
    return styled(figure, title)
