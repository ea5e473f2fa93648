"""Plotly figures of robots, and the look that all figures share.

Leg colours are the same everywhere, safe for colour-blind readers, and each comes with its own dash, for print.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.scene.colours import COLOURS, DASHES, colour

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from flexapod.arrays import Array

WHOLE = 1.3
"""Longest side of the box around a planar robot, as Plotly counts: all of it is seen. By itself a flat box would be too large."""
FILL = 0.64
"""Part of a picture that the robot fills; the axes and their names need the rest."""
LETTERS, LINE = 72, 23
"""Letters of a title that a printed page (782 pixels) has room for in one line, and height of a line [pixels]."""
HIGH = 12
"""Pixels by which Plotly places a title of several lines too high: 0.7 of its type, which it counts for single lines alone."""


def line_style(index: int, width: float = 2.2) -> dict[str, Any]:
    """Colour and dash of a leg or actuator."""
    return {"color": colour(index), "dash": DASHES[index % len(DASHES)], "width": width}


def styled(figure: go.Figure, title: str, height: int = 480) -> go.Figure:
    """The look that all figures share: white, large enough type, legend beside the plot, long titles in several lines.

    Checked by: tests/views/test_figures.py.
    """
    lines = [line for part in title.split("<br>") for line in textwrap.wrap(part, LETTERS) or [""]]
    lower = {"t": HIGH if len(lines) > 1 else 0}
    figure.update_layout(
        title={
            "text": "<br>".join(lines), "font": {"size": 17}, "x": 0.01, "xanchor": "left", "y": 0.98, "yanchor": "top",
            "pad": lower,
        },
        template="plotly_white",
        font={"size": 14},
        height=height,
        margin={"l": 80, "r": 20, "t": 60 + LINE * (len(lines) - 1), "b": 60},
        legend={"font": {"size": 13}, "tracegroupgap": 4},
        colorway=list(COLOURS),
    )  # fmt: skip
    figure.update_yaxes(exponentformat="power")
    figure.update_xaxes(exponentformat="power")
    return figure


def robot_figure(robot: fp.Robot, state: fp.State | None = None, *, exaggerated: float = 1.0) -> go.Figure:
    """The robot in three dimensions, drawn from its file alone: legs with their joints and motors, platform, base.

    Args:
        state: home if left out, flexible legs then straight.
        exaggerated: factor on the deflection of flexible legs.
    """
    import plotly.graph_objects as go

    from flexapod.views.scene.framing import framed
    from flexapod.views.scene.plotly_scene import add_robot

    figure = go.Figure()
    add_robot(figure, robot, state, exaggerated)
    styled(figure, f"{robot.name}: {robot.title}", 560)
    figure.update_layout(scene=scene(robot), margin={"l": 0, "r": 0, "t": figure.layout.margin.t - 10, "b": 0})
    if robot.description.file.plane is not None:
        points = np.hstack([[trace.x, trace.y, trace.z] for trace in figure.data]).astype(float)
        span = np.ptp(points, axis=1)
        sides = dict(zip("xyz", map(float, WHOLE * span / span.max()), strict=True))
        figure.update_scenes(aspectmode="manual", aspectratio=sides)
        return figure
    return framed(figure, FILL)


def add_line(figure: go.Figure, points: Array, style: Mapping[str, object], **options: object) -> None:
    """A line in three dimensions."""
    figure.add_scatter3d(x=points[:, 0], y=points[:, 1], z=points[:, 2], mode="lines", line=style, **options)


def scene(robot: fp.Robot) -> dict[str, Any]:
    """Axes of a three-dimensional picture: equal scales, units.

    Robots that hang are seen from above their base all the same, planar ones along the normal of their plane.
    """
    axis = {"backgroundcolor": "#f7f7f7", "gridcolor": "#cccccc"}
    plane = robot.description.file.plane
    if plane is not None:
        return _flat_scene(plane, axis)
    down = robot.gravity[2] > 0
    up = {"x": 0, "y": 0, "z": -1 if down else 1}
    eye = {"x": 1.15, "y": -1.3, "z": -0.55 if down else 0.55}
    axes = {f"{k}axis": {**axis, "title": {"text": f"{k} [m]"}} for k in "xyz"}
    return {"aspectmode": "data", **axes, "camera": {"eye": eye, "up": up}, "dragmode": "orbit"}


def _flat_scene(plane: str, axis: Mapping[str, object]) -> dict[str, Any]:
    """The axes of a plane, seen along its normal without perspective; the first axis points right, the second up."""
    right, upward = (np.eye(3)["xyz".index(a)] for a in plane)
    towards = 2.0 * np.cross(right, upward)
    axes = {
        f"{k}axis": {**axis, "title": {"text": f"{k} [m]" if k in plane else ""}, "showticklabels": k in plane} for k in "xyz"
    }
    camera = {
        "eye": dict(zip("xyz", map(float, towards), strict=True)),
        "up": dict(zip("xyz", map(float, upward), strict=True)),
        "projection": {"type": "orthographic"},
    }
    return {"aspectmode": "data", **axes, "camera": camera, "dragmode": "orbit"}


def page(figures: list[go.Figure], title: str, text: str) -> str:
    """One self-contained HTML page with a text and figures."""
    import html

    from flexapod.views.reports.html import Raw, html_page

    return html_page(title, [("", [Raw(html=f"<pre>{html.escape(text)}</pre>"), *figures])])
