"""Plotly figures of robots and results. Leg colours are the same everywhere and safe for colour-blind readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp

if TYPE_CHECKING:
    import xarray as xr

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#999933", "#332288")
"""Okabe-Ito colours and two of Tol's, in leg order."""

PLATFORM = "#444444"


def colour(index: int) -> str:
    """Colour of a leg or actuator."""
    return COLOURS[index % len(COLOURS)]


def leg_lines(robot: fp.Robot, state: fp.State) -> tuple[list[Any], Any]:
    """Polylines of the legs through their body origins (k, 3), and the platform's joints (legs, 3), in the world."""
    bodies = fp.inverse_kinematics(robot, state, joints=False, bodies=True)
    joints = np.array([state.position + state.rotation @ leg.closing.on_platform.position for leg in robot.legs])
    names = list(bodies.body.values)
    lines = []
    for k, leg in enumerate(robot.legs):
        first = leg.links[0]
        start = [first.placement.position] if first.parent < 0 else []
        own = [bodies.body_position.values[names.index(f"{leg.name}.{x.body.name}")] for x in leg.links if x.body]
        lines.append(np.array([*start, *own, joints[k]]))
    return lines, joints


def robot_figure(robot: fp.Robot, state: fp.State | None = None) -> Any:
    """The robot in three dimensions, drawn from its file alone: legs, joints, platform."""
    import plotly.graph_objects as go

    at = state or fp.State(position=robot.home.position, rotation=robot.home.rotation)
    lines, joints = leg_lines(robot, at)
    figure = go.Figure()
    for k, (leg, line) in enumerate(zip(robot.legs, lines, strict=True)):
        x, y, z = line.T
        style = {"color": colour(k), "width": 7}
        figure.add_scatter3d(
            x=x, y=y, z=z, mode="lines+markers", line=style, marker={"size": 4, "color": colour(k)}, name=f"leg {leg.name}"
        )
    outline = _around(joints, at.position)
    figure.add_mesh3d(
        x=outline[:, 0], y=outline[:, 1], z=outline[:, 2], color=PLATFORM, opacity=0.45, name="platform", showlegend=True,
        i=[0] * (len(outline) - 2), j=list(range(1, len(outline) - 1)), k=list(range(2, len(outline))),
    )  # fmt: skip
    axis = {"backgroundcolor": "#f7f7f7", "gridcolor": "#cccccc"}
    figure.update_layout(
        title=f"{robot.name}: {robot.title}",
        scene={
            "aspectmode": "data",
            **{f"{k}axis": {**axis, "title": f"{k} [m]"} for k in "xyz"},
            "camera": {"eye": {"x": 1.4, "y": -1.5, "z": 0.7}},
        },
        margin={"l": 0, "r": 0, "t": 50, "b": 0},
        template="plotly_white",
    )
    return figure


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
    import plotly.graph_objects as go

    figure = go.Figure()
    for k, name in enumerate(result.actuator.values):
        figure.add_scatter(
            x=result.time.values, y=result[variable].sel(actuator=name).values, mode="lines", name=f"actuator {name}",
            line={"color": colour(k), "dash": ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")[k % 6]},
        )  # fmt: skip
    unit = result[variable].attrs.get("units", "")
    figure.update_layout(title=title, xaxis_title="time [s]", yaxis_title=f"{label} [{unit}]", template="plotly_white")
    return figure


def page(figures: list[Any], title: str, text: str) -> str:
    """One self-contained HTML page that opens without a network."""
    import html

    parts = [f.to_html(full_html=False, include_plotlyjs=(i == 0), default_height="520px") for i, f in enumerate(figures)]
    style = (
        "body{font-family:sans-serif;max-width:1000px;margin:2em auto;color:#222}"
        "pre{background:#f7f7f7;padding:1em;overflow:auto}"
    )
    body = "\n".join(parts)
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{html.escape(title)}</title>"
        f"<style>{style}</style></head><body><h1>{html.escape(title)}</h1><pre>{html.escape(text)}</pre>{body}</body></html>"
    )
