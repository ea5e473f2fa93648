"""Figures of workspaces as solids, of certified pavings, of singular curves and of fastest timings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import flexapod as fp
from flexapod.views.plots.robot_figures import line_style, styled
from flexapod.views.scene.colours import COLOURS, LIMIT

if TYPE_CHECKING:
    import plotly.graph_objects as go

UNITS = {"x": "m", "y": "m", "z": "m"}


def _axis(name: str) -> str:
    return f"{name} [{UNITS.get(name, 'rad')}]"


def solid_figure(solid: fp.WorkspaceSolid, title: str) -> go.Figure:
    """The surface of a workspace in three dimensions.

    Args:
        solid: result of `flexapod.workspace_solid`.
    """
    import plotly.graph_objects as go

    x, y, z = solid.vertices.T
    i, j, k = solid.faces.T
    light = {
        "ambient": 0.5,
        "diffuse": 0.8,
        "specular": 0.1,
        "roughness": 0.9,
        "facenormalsepsilon": 0,
        "vertexnormalsepsilon": 0,
    }
    figure = go.Figure(go.Mesh3d(x=x, y=y, z=z, i=i, j=j, k=k, color=COLOURS[4], flatshading=False, lighting=light))
    figure.update_scenes(
        xaxis_title=_axis(solid.axes[0]), yaxis_title=_axis(solid.axes[1]), zaxis_title=_axis(solid.axes[2]), aspectmode="data"
    )
    return styled(figure, title, 620)


def paving_figure(paving: fp.Paving, title: str) -> go.Figure:
    """Boxes of a paving of a plane: proven inside, undecided, and outside (white).

    Args:
        paving: result of `flexapod.pave` over two axes.
    """
    import plotly.graph_objects as go

    free = [k for k in range(len(paving.axes)) if paving.high[k] > paving.low[k]]
    if len(free) != 2:
        raise fp.InputError("paving_figure: give one axis of the paving as one number, so that a plane is left")
    figure = go.Figure()
    for which, name, colour in (("inside", "proven inside", COLOURS[2]), ("undecided", "undecided", LIMIT)):
        low, high = paving.corners(which)
        a, b = low[:, free], high[:, free]
        nothing = np.full(len(a), np.nan)
        xs = np.column_stack([a[:, 0], b[:, 0], b[:, 0], a[:, 0], a[:, 0], nothing]).ravel()
        ys = np.column_stack([a[:, 1], a[:, 1], b[:, 1], b[:, 1], a[:, 1], nothing]).ravel()
        look = {"mode": "lines", "fill": "toself", "fillcolor": colour, "opacity": 0.6, "line": {"color": colour, "width": 0.5}}
        figure.add_scatter(x=xs, y=ys, name=name, **look)
    figure.update_xaxes(title_text=_axis(paving.axes[free[0]]), constrain="domain")
    figure.update_yaxes(title_text=_axis(paving.axes[free[1]]), scaleanchor="x", scaleratio=1)
    return styled(figure, title, 560)


def locus_figure(locus: fp.Locus, title: str) -> go.Figure:
    """Curves of singular poses on a slice.

    Args:
        locus: result of `flexapod.singularity_locus`.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    for k, curve in enumerate(locus.curves):
        figure.add_scatter(
            x=curve[:, 0], y=curve[:, 1], mode="lines", name=f"curve {k + 1}" + (" (closed)" if locus.closed[k] else ""),
            line={"color": LIMIT, "width": 2.5, "dash": line_style(k)["dash"]},
        )  # fmt: skip
    equal = {"scaleanchor": "x", "scaleratio": 1} if {*locus.axes} <= set("xyz") else {}
    figure.update_xaxes(title_text=_axis(locus.axes[0]), range=list(locus.window[0]), constrain="domain")
    figure.update_yaxes(title_text=_axis(locus.axes[1]), range=list(locus.window[1]), **equal)
    return styled(figure, title, 560)


def timing_figure(found: fp.TimeOptimal, title: str) -> go.Figure:
    """Actuator forces of a fastest timing over time.

    Args:
        found: result of `flexapod.time_optimal`.
    """
    import plotly.graph_objects as go

    figure, table = go.Figure(), found.table
    for k, name in enumerate(table["actuator"].values):
        figure.add_scatter(
            x=table["time"].values, y=table["force"].values[:, k], mode="lines", name=str(name), line=line_style(k)
        )
    figure.update_xaxes(title_text="time [s]")
    figure.update_yaxes(title_text=f"force [{table['force'].attrs['units']}]")
    return styled(figure, title)
