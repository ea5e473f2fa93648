"""Figures of designs: Pareto fronts with the designs to hover and pick, tornado charts, residuals of calibrations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.plots.robot_figures import styled
from flexapod.views.scene.colours import COLOURS, LIMIT

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr


def pareto_figure(found: fp.Study | fp.Optimum, title: str, criteria: tuple[str, str] | None = None) -> go.Figure:
    """Designs over two criteria, the Pareto front on top; hovering shows all variables and criteria of a design.

    Args:
        found: a study or an optimisation; of a study with kept rows, up to 20 000 other designs are drawn as well.
        criteria: names of the horizontal and vertical axis; the first two if left out.
    """
    import plotly.graph_objects as go

    names = [c.name for c in found.criteria]
    if len(names) < 2:
        raise fp.InputError("pareto_figure: one criterion has no front; give two or more")
    x, y = criteria or (names[0], names[1])
    for name in (x, y):
        if name not in names:
            raise fp.InputError(f"pareto_figure: there is no criterion {name!r}; there are: {', '.join(names)}")
    figure = go.Figure()
    front = found.front if isinstance(found, fp.Study) else found.table
    if isinstance(found, fp.Study) and found.kept is not None:
        rows = found.rows
        step = max(1, rows.sizes["design"] // 20_000)
        rows = rows.isel(design=slice(None, None, step))
        figure.add_scattergl(
            x=rows[x].values, y=rows[y].values, mode="markers", name="designs",
            marker={"size": 4, "color": COLOURS[4], "opacity": 0.5}, customdata=_columns(rows), hovertemplate=_hover(rows),
        )  # fmt: skip
    front = front.sortby(x)
    figure.add_scatter(
        x=front[x].values, y=front[y].values, mode="lines+markers", name="Pareto front", line={"color": LIMIT, "shape": "hv"},
        marker={"size": 9, "color": LIMIT}, customdata=_columns(front), hovertemplate=_hover(front),
    )  # fmt: skip
    figure.update_xaxes(title_text=_labelled(front, x))
    figure.update_yaxes(title_text=_labelled(front, y))
    figure.update_layout(clickmode="event+select", hovermode="closest")
    return styled(figure, title, 560)


def _labelled(table: xr.Dataset, name: str) -> str:
    unit = table[name].attrs.get("units", "")
    return f"{name} [{unit}]" if unit else name


def _numbers(table: xr.Dataset) -> list[str]:
    return [str(name) for name in table.data_vars if table[name].dtype.kind == "f"]


def _columns(table: xr.Dataset) -> Any:
    return np.column_stack([table["design"].values, *(table[name].values for name in _numbers(table))])


def _hover(table: xr.Dataset) -> str:
    lines = [f"{_labelled(table, name)}: %{{customdata[{k + 1}]:.5g}}" for k, name in enumerate(_numbers(table))]
    return "<b>design %{customdata[0]}</b><br>" + "<br>".join(lines) + "<extra></extra>"


def tornado_figure(found: xr.Dataset, title: str, criterion: str | None = None) -> go.Figure:
    """Effect of each variable (`sensitivity`) or source (`tolerance`) as bars, the largest on top.

    Args:
        found: result of `sensitivity` (change of a criterion over each variable's range) or of `tolerance` (contribution of each
            source to the displacement, standard deviation).
        criterion: of a sensitivity; the first if left out.
    """
    import plotly.graph_objects as go

    if "change" in found:
        name = str(found.criterion.values[0]) if criterion is None else criterion
        if name not in found.criterion.values:
            raise fp.InputError(
                f"tornado_figure: there is no criterion {name!r}; there are: {', '.join(map(str, found.criterion.values))}"
            )
        row = found.sel(criterion=name)
        labels, values = list(map(str, found.variable.values)), row.change.values
        axis = f"change of {name} over the range [{row.criterion_unit.values}]"
    elif "contribution" in found:
        if criterion is not None:
            raise fp.InputError("tornado_figure: criterion: belongs to a sensitivity; leave it out")
        labels = list(map(str, found.source.values))
        values = np.sqrt((found.contribution.values[:, :3] ** 2).sum(axis=1)).max(axis=0)
        axis = "contribution to the displacement, worst pose [m]"
    else:
        raise fp.InputError("tornado_figure: expected a result of sensitivity or tolerance")
    order = np.argsort(np.abs(np.nan_to_num(values)))[-40:]
    colours = [COLOURS[0] if values[k] >= 0 else COLOURS[1] for k in order]
    figure = go.Figure(go.Bar(x=values[order], y=[labels[k] for k in order], orientation="h", marker={"color": colours}))
    figure.update_xaxes(title_text=axis)
    figure.update_yaxes(automargin=True)
    return styled(figure, title, max(320, 60 + 26 * len(order)))


def residual_figure(found: fp.Calibration, title: str) -> go.Figure:
    """Residuals of a calibration over the measurements, predicted ones of the cross-validation beside them.

    Args:
        found: result of `flexapod.calibrate`.
    """
    import plotly.graph_objects as go

    table, figure = found.residuals, go.Figure()
    for k, row in enumerate(table.row.values):
        look = {"color": COLOURS[k % len(COLOURS)]}
        for name, symbol in (("residual", "circle"), ("predicted_residual", "circle-open")):
            if name in table:
                figure.add_scatter(
                    x=table.measurement.values if "measurement" in table.coords else np.arange(table.sizes["measurement"]),
                    y=table[name].sel(row=row).values, mode="markers", marker={**look, "symbol": symbol},
                    name=f"{row} ({name.split('_')[0]})" if name != "residual" else str(row), legendgroup=str(row),
                )  # fmt: skip
    figure.update_xaxes(title_text="measurement")
    figure.update_yaxes(title_text="residual [m or rad]")
    return styled(figure, title)
