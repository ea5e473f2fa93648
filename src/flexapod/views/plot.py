"""Plotly figures of robots, and the look that all figures share.

Leg colours are the same everywhere, safe for colour-blind readers, and each comes with its own dash, for print.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.leg_curves import home_joints, leg_curves, state_joints

if TYPE_CHECKING:
    import xarray as xr

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#999933", "#332288")
"""Okabe-Ito colours and two of Tol's, in leg order."""

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid", "dash")
"""Line styles, in leg order."""

PLATFORM = "#444444"
LIMIT = "#882255"
"""Colour of limits."""


def colour(index: int) -> str:
    """Colour of a leg or actuator."""
    return COLOURS[index % len(COLOURS)]


def line_style(index: int, width: float = 2.2) -> dict[str, Any]:
    """Colour and dash of a leg or actuator."""
    return {"color": colour(index), "dash": DASHES[index % len(DASHES)], "width": width}


def styled(figure: Any, title: str, height: int = 480) -> Any:
    """The look that all figures share: white, large enough type, legend beside the plot."""
    figure.update_layout(
        title={"text": title, "font": {"size": 17}, "x": 0.01, "xanchor": "left", "y": 0.98, "yanchor": "top"},
        template="plotly_white",
        font={"size": 14},
        height=height,
        margin={"l": 80, "r": 20, "t": 60, "b": 60},
        legend={"font": {"size": 13}, "tracegroupgap": 4},
        colorway=list(COLOURS),
    )
    figure.update_yaxes(exponentformat="power")
    figure.update_xaxes(exponentformat="power")
    return figure


def leg_lines(robot: fp.Robot, state: fp.State) -> tuple[list[Any], Any]:
    """Polylines of the legs through their body origins (k, 3), and the platform's joints (legs, 3), in the world."""
    joints = np.array([state.position + state.rotation @ leg.closing.on_platform.position for leg in robot.legs])
    places = _moved(robot, state)
    lines = []
    for k, leg in enumerate(robot.legs):
        first = leg.links[0]
        start = [first.placement.position] if first.parent < 0 else []
        own = [places[f"{leg.name}.{x.body.name}"] for x in leg.links if x.body]
        on_leg = robot.description.file.platform.body or ""
        end = [] if on_leg.startswith(f"{leg.name}.") else [joints[k]]  # a platform that is a body of this leg does not end it
        lines.append(np.array([*start, *own, *end]))
    return lines, joints


def _moved(robot: fp.Robot, state: fp.State) -> dict[str, Any]:
    """Origins (3,) of all bodies of the legs at a state."""
    bodies = fp.inverse_kinematics(robot, state, joints=False, bodies=True)
    return dict(zip(map(str, bodies.body.values), bodies.body_position.values, strict=True))


def robot_figure(robot: fp.Robot, state: fp.State | None = None, *, exaggerated: float = 1.0) -> Any:
    """The robot in three dimensions, drawn from its file alone: legs, joints, platform.

    Args:
        state: home if left out, flexible legs then straight.
        exaggerated: factor on the deflection of flexible legs.
    """
    import plotly.graph_objects as go

    at = state or fp.State(position=robot.home.position, rotation=robot.home.rotation)
    if robot.elastic_legs:
        joints_at = home_joints(robot) if state is None else state_joints(robot, state, exaggerated)
        curves = leg_curves(robot, joints_at)
        lines, nodes = [c.points for c in curves], [c.nodes for c in curves]
        joints = np.array([at.position + at.rotation @ leg.closing.on_platform.position for leg in robot.legs])
    else:
        lines, joints = leg_lines(robot, at)
        nodes = lines
    figure = go.Figure()
    for k, (leg, line, marks) in enumerate(zip(robot.legs, lines, nodes, strict=True)):
        add_line(figure, line, {"color": colour(k), "width": 7}, name=f"leg {leg.name}", legendgroup=leg.name)
        figure.add_scatter3d(
            x=marks[:, 0], y=marks[:, 1], z=marks[:, 2], mode="markers", marker={"size": 4, "color": colour(k)},
            name=f"joints of {leg.name}", legendgroup=leg.name, showlegend=False,
        )  # fmt: skip
    outline = _around(joints, at.position)
    figure.add_mesh3d(
        x=outline[:, 0], y=outline[:, 1], z=outline[:, 2], color=PLATFORM, opacity=0.45, name="platform", showlegend=True,
        i=[0] * (len(outline) - 2), j=list(range(1, len(outline) - 1)), k=list(range(2, len(outline))),
    )  # fmt: skip
    styled(figure, f"{robot.name}: {robot.title}", 560)
    figure.update_layout(scene=scene(robot), margin={"l": 0, "r": 0, "t": 50, "b": 0})
    return figure


def add_line(figure: Any, points: Any, style: dict[str, Any], **options: Any) -> None:
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
    eye = {"x": 1.55, "y": -1.65, "z": -0.75 if down else 0.75}
    axes = {f"{k}axis": {**axis, "title": {"text": f"{k} [m]"}} for k in "xyz"}
    return {"aspectmode": "data", **axes, "camera": {"eye": eye, "up": up}, "dragmode": "orbit"}


def _flat_scene(plane: str, axis: dict[str, Any]) -> dict[str, Any]:
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


def _around(points: Any, centre: Any) -> Any:
    """Points in order around their mean, for a filled outline; doubled joints are drawn once."""
    distinct = np.unique(np.round(points, 9), axis=0)
    if len(distinct) < 3:
        return np.vstack([distinct, np.tile(centre, (3 - len(distinct), 1))])
    middle = distinct.mean(axis=0)
    _, _, axes = np.linalg.svd(distinct - middle)
    flat = (distinct - middle) @ axes[:2].T
    return distinct[np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))]


def actuator_figure(result: xr.Dataset, variable: str, title: str, label: str) -> Any:
    """One variable of all actuators over time, e.g. `force`."""
    from flexapod.views.plot_time import Panel, time_figure

    return time_figure(result, [Panel(variable=variable, label=label)], title)


def page(figures: list[Any], title: str, text: str) -> str:
    """One self-contained HTML page with a text and figures."""
    import html

    from flexapod.views.html import Raw, html_page

    return html_page(title, [("", [Raw(html=f"<pre>{html.escape(text)}</pre>"), *figures])])
