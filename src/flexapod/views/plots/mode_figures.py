"""Figures of vibration: natural frequencies at a pose and along poses, mode shapes of the platform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.leg_curves import mode_curves
from flexapod.views.plots.robot_figures import add_line, line_style, scene, styled
from flexapod.views.scene.colours import COLOURS, PLATFORM, colour
from flexapod.views.scene.frames import platform_points

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

FLAT = {"ambient": 1.0, "diffuse": 0.0, "specular": 0.0}
"""No light and shade: triangles of a mesh may face either way."""

SHOWN = 0.18
"""Largest displacement in a picture of a mode, of the robot's characteristic length."""


SHOWN_LEGS = 0.12
"""Largest displacement in a picture of a mode where legs are drawn as lines, of the robot's characteristic length."""


TALL, FLAT_SIDE = 1.3, 1e-3
"""Longest side of the box of a planar robot in pictures of modes; a side shorter than this share of it lies across the plane."""


def frequency_figure(modes: xr.Dataset, title: str) -> go.Figure:
    """Frequencies by mode at one pose, or along poses; modes that are unstable are marked.

    Args:
        modes: result of `flexapod.natural_frequencies`.
    """
    import plotly.graph_objects as go

    figure = go.Figure()
    if modes.frequency.ndim == 1:
        stable = modes.stable.values.astype(bool)
        kinds = ((stable, "stable", COLOURS[0], ""), (~stable, "unstable: minus growth rate / 2 pi", COLOURS[3], "/"))
        for chosen, name, shade, pattern in kinds:
            if chosen.any():
                f = modes.frequency.values[chosen]
                figure.add_bar(
                    x=modes.mode.values[chosen], y=f, text=[f"{x:.4g}" for x in f], textposition="outside", cliponaxis=False,
                    marker={"color": shade, "pattern": {"shape": pattern}}, name=name,
                )  # fmt: skip
        figure.update_layout(barmode="overlay")
        figure.update_xaxes(title_text="mode", dtick=1)
    else:
        along = str(modes.frequency.dims[0])
        x = modes[along].values if along in modes.coords else np.arange(modes.sizes[along])
        for k in range(modes.sizes["mode"]):
            figure.add_scatter(x=x, y=modes.frequency.values[:, k], mode="lines", name=f"mode {k + 1}", line=line_style(k))
        unit = modes[along].attrs.get("units", "") if along in modes.coords else ""
        figure.update_xaxes(title_text=f"{along} [{unit}]" if unit else along)
    figure.update_yaxes(title_text="frequency [Hz]")
    return styled(figure, title, 460)


def _twists(robot: fp.Robot, modes: xr.Dataset, state: fp.State) -> Any:
    """Platform twist (6, u) per coordinate of the modes of a rigid robot with fewer than six degrees of freedom."""
    prestress = not set(modes.coordinate.values) <= {"vx", "vy", "vz", "wx", "wy", "wz"}
    system = fp.linearize(robot, state, outputs=("platform",), actuators=np.ones(len(robot.actuators)), prestress=prestress)
    return system.C[:, : len(modes.coordinate)]


def mode_figure(robot: fp.Robot, modes: xr.Dataset, numbers: Sequence[int], state: fp.State) -> go.Figure:
    """Shapes of a few modes: the platform at rest (grey) and displaced, exaggerated, side by side.

    The displacement of a material point is v + omega x r + R Phi_d e; rigid platforms are drawn by their joints, robots with
    flexible legs by the lines of their legs.

    Args:
        modes: result of `flexapod.natural_frequencies` at one pose.
        numbers: of the modes to draw, from 1.
        state: the pose.
    """
    if robot.moved_by == "actuators":
        return _leg_modes(robot, modes, numbers, state)
    figure, columns, rows = _side_by_side(modes, numbers)
    r0, shapes, triangles = platform_points(robot)
    faces = {"delaunayaxis": _normal(robot)} if triangles is None else dict(zip("ijk", triangles.T, strict=True))
    rest = state.position + r0 @ state.rotation.T
    twists = _twists(robot, modes, state) if len(modes.coordinate) < 6 else None
    for k, n in enumerate(numbers):
        x = modes["shape"].sel(mode=n).values
        x = x if twists is None else twists @ x
        bent = np.einsum("kij,j->ki", shapes, x[6:]) if shapes is not None else np.zeros_like(r0)
        move = x[:3] + np.cross(x[3:6], rest - state.position) + bent @ state.rotation.T
        size = np.linalg.norm(move, axis=1).max() or 1.0
        shown = rest + move * (SHOWN * robot.characteristic_length / size)
        at = {"row": k // columns + 1, "col": k % columns + 1}
        figure.add_mesh3d(
            x=rest[:, 0], y=rest[:, 1], z=rest[:, 2], color=PLATFORM, opacity=0.2, hoverinfo="skip", lighting=FLAT, **faces, **at
        )
        figure.add_mesh3d(
            x=shown[:, 0], y=shown[:, 1], z=shown[:, 2], intensity=np.linalg.norm(move, axis=1) / size, colorscale="Viridis",
            cmin=0.0, cmax=1.0, lighting=FLAT,
            showscale=k == 0, colorbar={"title": {"text": "displacement<br>[of largest]"}, "len": 0.7}, **faces, **at,
        )  # fmt: skip
    view = _in_plan(robot, figure) or {**scene(robot), "aspectmode": "manual", "aspectratio": {"x": 1.0, "y": 1.0, "z": 0.5}}
    if not robot.description.file.plane:
        view["camera"] = {"eye": {"x": 1.25, "y": -1.65, "z": 1.15 * view["camera"]["up"]["z"]}, "up": view["camera"]["up"]}
    type_size = {"tickfont": {"size": 10}, "nticks": 4}
    small = {
        f"{a}axis": {**view[f"{a}axis"], **type_size, "title": {"text": view[f"{a}axis"]["title"]["text"], "font": {"size": 11}}}
        for a in "xyz"
    }
    for k in range(len(numbers)):
        figure.layout[f"scene{k + 1 if k else ''}"].update({**view, **small})
    styled(figure, f"Mode shapes of the platform of {robot.name} (exaggerated)", 120 + 370 * rows)
    figure.update_layout(margin={"l": 10, "r": 10, "t": 90, "b": 10})
    return figure


def _normal(robot: fp.Robot) -> str:
    """The axis across a planar robot; z for others, whose platforms lie."""
    return next(a for a in "zyx" if a not in (robot.description.file.plane or "xy"))


def _in_plan(robot: fp.Robot, figure: go.Figure) -> dict[str, Any]:
    """Axes of a planar robot seen along the normal of its plane; empty for others.

    Without perspective the sides of the box are the size of the picture.
    """
    if robot.description.file.plane is None:
        return {}
    points = [np.array([t.x, t.y, t.z], dtype=float) for t in figure.data]
    span = np.ptp(np.concatenate(points, axis=1), axis=1)
    sides = np.where(span > FLAT_SIDE * span.max(), TALL * span / span.max(), 1.0)
    return scene(robot) | {"aspectmode": "manual", "aspectratio": dict(zip("xyz", map(float, sides), strict=True))}


def _side_by_side(modes: xr.Dataset, numbers: Sequence[int]) -> tuple[Any, int, int]:
    """An empty figure with one scene per mode, and its columns and rows."""
    from plotly.subplots import make_subplots

    titles = [f"mode {n}: {float(modes.frequency.sel(mode=n)):.4g} Hz" for n in numbers]
    columns = min(3, len(numbers))
    rows = -(-len(numbers) // columns)
    kinds = [[{"type": "scene"}] * columns for _ in range(rows)]
    figure = make_subplots(
        rows=rows, cols=columns, specs=kinds, subplot_titles=titles, horizontal_spacing=0.02, vertical_spacing=0.08
    )
    return figure, columns, rows


def _leg_modes(robot: fp.Robot, modes: xr.Dataset, numbers: Sequence[int], state: fp.State) -> Any:
    """Lines of the legs at rest (grey) and displaced, exaggerated."""
    figure, columns, rows = _side_by_side(modes, numbers)
    for k, n in enumerate(numbers):
        rest, moves = mode_curves(robot, modes, n, state)
        size = max(float(np.linalg.norm(move, axis=1).max()) for move in moves) or 1.0
        at = {"row": k // columns + 1, "col": k % columns + 1}
        for j, (leg, curve, move) in enumerate(zip(robot.legs, rest, moves, strict=True)):
            shown = curve.points + move * (SHOWN_LEGS * robot.characteristic_length / size)
            add_line(figure, curve.points, {"color": "#aaaaaa", "width": 3}, hoverinfo="skip", showlegend=False, **at)
            style = {"color": colour(j), "width": 6}
            add_line(figure, shown, style, name=f"leg {leg.name}", legendgroup=leg.name, showlegend=k == 0, **at)
    small = {"tickfont": {"size": 10}, "nticks": 5}
    view = _in_plan(robot, figure) or scene(robot)
    view |= {f"{a}axis": {**view[f"{a}axis"], **small} for a in "xyz"}
    for k in range(len(numbers)):
        figure.layout[f"scene{k + 1 if k else ''}"].update(view)
    styled(figure, f"Mode shapes of {robot.name} (exaggerated)", 120 + 370 * rows)
    figure.update_layout(margin={"l": 10, "r": 10, "t": 90, "b": 10})
    return figure
