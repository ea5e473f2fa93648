"""Figures of the workspace: slices of reachability and conditioning, with the reasons why poses are out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.views.plots.robot_figures import styled
from flexapod.views.scene.colours import COLOURS

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

MOST_REASONS = 6


def workspace_figure(area: xr.Dataset, title: str) -> go.Figure:
    """A slice: condition number where poses are valid, grey levels by reason where not; one axis gives a line.

    Args:
        area: result of `flexapod.workspace` over one or two axes.
    """
    if area.valid.ndim == 1:
        return _line(area, str(area.valid.dims[0]), title)
    flat, x, y, where = middle_slice(area)
    return slice_figure(
        flat, x, y, title + where, values=flat.condition_number, label="condition<br>number [1]", colours="Viridis_r",
        hover="condition number %{z:.3g}",
    )  # fmt: skip


def middle_slice(area: xr.Dataset) -> tuple[xr.Dataset, str, str, str]:
    """The slice over the first two axes at the middle of the others, its axes, and where it lies as text."""
    axes = [str(dim) for dim in area.valid.dims]
    flat = area.isel({dim: area.sizes[dim] // 2 for dim in axes[2:]})
    where = [f"{dim} = {float(_degrees(flat, dim)):.4g} {shown_unit(area, dim)}".strip() for dim in axes[2:]]
    return flat, axes[0], axes[1], f" at {', '.join(where)}" if where else ""


def slice_figure(
    flat: xr.Dataset, x: str, y: str, title: str, *, values: xr.DataArray, label: str, colours: str, hover: str
) -> go.Figure:
    """Values over two axes in colour where poses are valid, grey levels by reason where not.

    Args:
        flat: with `valid`, `reason` and `texts` over x and y.
        label: title of the colour bar, with unit.
        hover: text beside the pointer.
    """
    import plotly.graph_objects as go

    across, up, units = _degrees(flat, x), _degrees(flat, y), (shown_unit(flat, x), shown_unit(flat, y))
    valid = flat.valid.transpose(y, x).values
    shown = np.where(valid, values.transpose(y, x).values, np.nan)
    codes = flat.reason.transpose(y, x).values
    texts = flat.reason_text.values
    figure = go.Figure()
    out, names = _reasons(codes, texts)
    if len(names):
        figure.add_heatmap(
            x=across, y=up, z=out, colorscale=_greys(len(names)), zmin=-0.5, zmax=len(names) - 0.5,
            showscale=False, customdata=np.where(valid, "", texts[codes]), hovertemplate="%{customdata}<extra></extra>",
        )  # fmt: skip
    if valid.any():
        figure.add_heatmap(
            x=across, y=up, z=shown, zmin=float(np.nanmin(shown)), zmax=_top(shown), colorscale=colours,
            colorbar={"title": {"text": label}, "len": 0.55, "y": 0.0, "yanchor": "bottom"},
            hovertemplate=f"{hover}<extra></extra>",
        )  # fmt: skip
    for k, name in enumerate(names):
        marker = {"symbol": "square", "size": 13, "color": _grey(k, len(names)), "line": {"color": "#555555", "width": 1}}
        why = {"legendgroup": "out", "legendgrouptitle": {"text": "not reached because"}, "legendrank": 2000}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=name, **why)
    equal = {"scaleanchor": "x", "scaleratio": 1} if units[0] == units[1] else {}
    figure.update_xaxes(title_text=f"{x} [{units[0]}]", constrain="domain")
    figure.update_yaxes(title_text=f"{y} [{units[1]}]", constrain="domain", **equal)
    styled(figure, title, 560)
    figure.update_layout(showlegend=True, legend={"x": 1.02, "y": 1.0, "yanchor": "top"})
    return figure


def _top(shown: Array) -> float:
    """Top of the colour scale: a few poses beside a singularity must not swallow the rest."""
    return float(min(np.nanmax(shown), 5.0 * abs(np.nanmedian(shown))))


def _reasons(codes: NDArray[np.int64], texts: Sequence[str]) -> tuple[Any, list[str]]:
    """Index of the reason per pose (NaN where good), reasons of legs gathered, the most frequent kept apart."""
    short = np.array([_short(str(word)) for word in texts])
    found, counts = np.unique(short[codes[codes != 0]], return_counts=True)
    names = [str(found[i]) for i in np.argsort(-counts)][:MOST_REASONS]
    index = {name: k for k, name in enumerate(names)}
    if len(found) > MOST_REASONS:
        names[-1] = "another reason"
    table = np.array([np.nan if k == 0 else index.get(name, len(names) - 1) for k, name in enumerate(short)])
    return table[codes], names


def _short(word: str) -> str:
    """A reason of any leg, actuator or joint: its kind in place of its name."""
    first, _, rest = word.partition(" ")
    if first not in ("leg", "actuator", "joint") or " " not in rest:
        return word
    hover = rest.split(" ", 1)[1].lstrip(": ")
    return f"{'an' if first == 'actuator' else 'a'} {first} {hover}"


def _grey(k: int, count: int) -> str:
    level = int(225 - 120 * k / max(1, count - 1)) if count > 1 else 210
    return f"rgb({level},{level},{level})"


def _greys(count: int) -> list[Any]:
    steps = []
    for k in range(count):
        steps += [(k / count, _grey(k, count)), ((k + 1) / count, _grey(k, count))]
    return steps


def _line(area: xr.Dataset, axis: str, title: str) -> Any:
    import plotly.graph_objects as go

    figure = go.Figure()
    good = np.where(area.valid.values, area.condition_number.values, np.nan)
    figure.add_scatter(
        x=_degrees(area, axis), y=good, mode="lines", name="condition number", line={"color": COLOURS[0], "width": 2.5}
    )
    figure.update_layout(xaxis_title=f"{axis} [{shown_unit(area, axis)}]", yaxis_title="condition number [1]")
    return styled(figure, title, 440)


def _degrees(area: xr.Dataset, axis: str) -> Any:
    """Values of an axis as they are drawn: angles in degrees."""
    values = area[axis].values
    return np.degrees(values) if _unit(area, axis) == "rad" else values


def shown_unit(area: xr.Dataset, axis: str) -> str:
    """Unit of an axis as it is drawn."""
    unit = _unit(area, axis)
    return "deg" if unit == "rad" else unit


def _unit(area: xr.Dataset, axis: str) -> str:
    return str(area[axis].attrs.get("units", ""))
