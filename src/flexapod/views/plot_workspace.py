"""Figures of the workspace: slices of reachability and conditioning, with the reasons why poses are out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.views.plot import COLOURS, styled

if TYPE_CHECKING:
    import xarray as xr

MOST_REASONS = 6


def workspace_figure(area: xr.Dataset, title: str) -> Any:
    """A slice: condition number where poses are good, grey levels by reason where not; one axis gives a line."""
    axes = [str(dim) for dim in area.valid.dims]
    if len(axes) == 1:
        return _line(area, axes[0], title)
    x, y = axes[:2]
    flat = area.isel({dim: area.sizes[dim] // 2 for dim in axes[2:]})
    where = [f"{dim} = {float(flat[dim]):.4g} {_unit(area, dim)}".strip() for dim in axes[2:]]
    return _slice(flat, x, y, title + (f" at {', '.join(where)}" if where else ""))


def _slice(flat: xr.Dataset, x: str, y: str, title: str) -> Any:
    import plotly.graph_objects as go

    valid = flat.valid.transpose(y, x).values
    condition = np.where(valid, flat.condition_number.transpose(y, x).values, np.nan)
    codes = flat.reason.transpose(y, x).values
    words = flat.words.values
    figure = go.Figure()
    hover = np.where(valid, "", words[codes])
    out, names = _reasons(codes, words)
    if len(names):
        figure.add_heatmap(
            x=flat[x].values,
            y=flat[y].values,
            z=out,
            colorscale=_greys(len(names)),
            zmin=-0.5,
            zmax=len(names) - 0.5,
            showscale=False,
            customdata=hover,
            hovertemplate="%{customdata}<extra></extra>",
        )
    if valid.any():
        figure.add_heatmap(
            x=flat[x].values, y=flat[y].values, z=condition, zmin=float(np.nanmin(condition)), zmax=_top(condition),
            colorscale="Viridis_r",
            colorbar={"title": {"text": "condition<br>number [1]"}, "len": 0.55, "y": 0.0, "yanchor": "bottom"},
            hovertemplate="condition number %{z:.3g}<extra></extra>",
        )  # fmt: skip
    for k, name in enumerate(names):
        marker = {"symbol": "square", "size": 13, "color": _grey(k, len(names)), "line": {"color": "#555555", "width": 1}}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=marker, name=name)
    equal = {"scaleanchor": "x", "scaleratio": 1} if _unit(flat, x) == _unit(flat, y) else {}
    figure.update_xaxes(title_text=f"{x} [{_unit(flat, x)}]", constrain="domain")
    figure.update_yaxes(title_text=f"{y} [{_unit(flat, y)}]", constrain="domain", **equal)
    styled(figure, title, 560)
    told = "not reached because" if names else ""
    figure.update_layout(showlegend=True, legend={"x": 1.02, "y": 1.0, "yanchor": "top", "title": {"text": told}})
    return figure


def _top(condition: Any) -> float:
    """Top of the colour scale: a few poses beside a singularity must not swallow the rest."""
    return float(min(np.nanmax(condition), 5.0 * np.nanmedian(condition)))


def _reasons(codes: Any, words: Any) -> tuple[Any, list[str]]:
    """Index of the reason per pose (NaN where good), reasons of legs gathered, the most frequent kept apart."""
    short = np.array([_short(str(word)) for word in words])
    found, counts = np.unique(short[codes[codes != 0]], return_counts=True)
    names = [str(found[i]) for i in np.argsort(-counts)][:MOST_REASONS]
    index = {name: k for k, name in enumerate(names)}
    if len(found) > MOST_REASONS:
        names[-1] = "another reason"
    table = np.array([np.nan if k == 0 else index.get(name, len(names) - 1) for k, name in enumerate(short)])
    return table[codes], names


def _short(word: str) -> str:
    """A reason without the name of the leg or actuator."""
    first, _, rest = word.partition(" ")
    return rest.split(" ", 1)[1].lstrip(": ") if first in ("leg", "actuator", "joint") and " " in rest else word


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
        x=area[axis].values, y=good, mode="lines", name="condition number", line={"color": COLOURS[0], "width": 2.5}
    )
    figure.update_layout(xaxis_title=f"{axis} [{_unit(area, axis)}]", yaxis_title="condition number [1]")
    return styled(figure, title, 440)


def _unit(area: xr.Dataset, axis: str) -> str:
    return str(area[axis].attrs.get("units", ""))
