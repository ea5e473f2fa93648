"""Figures over time: forces, powers, strokes against limits, reactions, contributions, energy balance, spectra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.arrays import Array
from flexapod.calls import renamed
from flexapod.views.plots.robot_figures import line_style, styled
from flexapod.views.scene.colours import COLOURS, DASHES, LIMIT

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr


@dataclass(frozen=True, kw_only=True)
class PlotPanel:
    """One plot of a stack over time.

    Args:
        variable: of the result, over time and one other dimension (its lines), or over time alone.
        label: of the vertical axis, without unit.
        limits: (low, high) values drawn as lines where finite.
    """

    variable: str
    label: str
    limits: tuple[Sequence[float], Sequence[float]] | None = None


def time_figure(
    result: xr.Dataset, panels: Sequence[PlotPanel], title: str, word: str = "actuator", order: Sequence[str] | None = None
) -> go.Figure:
    """Panels below each other over one time axis; a line has one colour and one dash in all of them.

    Args:
        word: comes before the name of a line in the legend.
        order: all names, where only some are drawn: colours go by it.
    """
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=len(panels), cols=1, shared_xaxes=True, vertical_spacing=0.14 / max(1, len(panels)))
    labelled: set[str] = set()
    for row, panel in enumerate(panels, 1):
        array = result[panel.variable]
        lines = _lines(array)
        for k, (name, values) in enumerate(lines):
            label = f"{word} {name}" if name else panel.label
            figure.add_scatter(
                x=result.time.values, y=values, mode="lines", name=label, legendgroup=label, showlegend=label not in labelled,
                line=line_style(k if order is None else list(order).index(name)), row=row, col=1,
            )  # fmt: skip
            labelled.add(label)
        if panel.limits is not None:
            _limit_lines(figure, panel.limits, row, labelled)
        figure.update_yaxes(title_text=f"{panel.label} [{unit_of(array)}]", row=row, col=1)
    figure.update_xaxes(title_text="time [s]", row=len(panels), col=1)
    return styled(figure, title, 130 + 270 * len(panels) if len(panels) > 1 else 460)


def _lines(array: xr.DataArray) -> list[tuple[str, Any]]:
    if array.ndim == 1:
        return [("", array.values)]
    other = next(str(dim) for dim in array.dims if dim != "time")
    names = [str(x) for x in array[other].values] if other in array.coords else [str(i + 1) for i in range(array.sizes[other])]
    values = array.transpose("time", other).values
    return [(name, values[:, k]) for k, name in enumerate(names)]


def _limit_lines(figure: go.Figure, limits: tuple[Sequence[float], Sequence[float]], row: int, labelled: set[str]) -> None:
    for low_or_high in limits:
        for value in sorted({round(float(v), 9) for v in low_or_high if np.isfinite(v)}):
            figure.add_hline(y=value, line={"color": LIMIT, "dash": "dash", "width": 1.5}, row=row, col=1)
    if "limit" not in labelled and any(np.isfinite(v) for side in limits for v in side):
        style = {"color": LIMIT, "dash": "dash", "width": 1.5}
        figure.add_scatter(x=[None], y=[None], mode="lines", name="limit", line=style, row=row, col=1)
        labelled.add("limit")


def unit_of(array: xr.DataArray) -> str:
    """Unit of a variable; 1 where it has none."""
    return str(array.attrs.get("units", "") or "1")


def largest(values: Array) -> int:
    """Index of the largest number, the first of those that are equal up to rounding: the same on every processor."""
    numbers = np.asarray(values, dtype=float)
    top = float(np.nanmax(numbers))
    return int(np.flatnonzero(numbers >= top - 1e-9 * max(abs(top), 1e-300))[0])


def actuator_limits(robot: fp.Robot, name: str) -> tuple[list[float], list[float]]:
    """Lower and upper limits of all actuators in the robot's file: `stroke`, `speed`, `force` or `power`; infinite where none."""
    low, high = [], []
    for link in (link for leg in robot.legs for link in leg.links if link.actuated):
        value = getattr(link.limits, name) if link.limits is not None else None
        if name == "stroke" and value is not None:
            low.append(float(value[0]))
            high.append(float(value[1]))
        else:
            high.append(np.inf if value is None else float(value))
            low.append(-high[-1] if name != "stroke" else -np.inf)
    return low, high


def stroke_figure(robot: fp.Robot, legs: xr.Dataset) -> go.Figure:
    """Strokes and rates of the actuators against their limits.

    Args:
        legs: result of `flexapod.inverse_kinematics`.
    """
    panels = [
        PlotPanel(variable="actuator_position", label="coordinate", limits=actuator_limits(robot, "stroke")),
        PlotPanel(variable="actuator_velocity", label="rate", limits=actuator_limits(robot, "speed")),
        PlotPanel(variable="actuator_acceleration", label="acceleration"),
    ]
    return time_figure(legs, [p for p in panels if p.variable in legs], f"Actuators of {robot.name}: strokes and rates")


def force_figure(robot: fp.Robot, drive: xr.Dataset) -> go.Figure:
    """Forces and powers of the actuators against their limits.

    Args:
        drive: result of `flexapod.inverse_dynamics`.
    """
    panels = [
        PlotPanel(variable="force", label="force", limits=actuator_limits(robot, "force")),
        PlotPanel(variable="power", label="power", limits=actuator_limits(robot, "power")),
    ]
    return time_figure(drive, panels, f"Actuators of {robot.name}: forces and powers")


def change_figure(robot: fp.Robot, before: xr.Dataset, after: xr.Dataset, what: str) -> go.Figure:
    """Forces and powers of two designs along one motion: the first thin, the second thick, one colour per actuator.

    Args:
        before, after: results of inverse dynamics.
        what: the change as text, for the legend.
    """
    figure = force_figure(robot, after)
    thin = force_figure(robot, before)
    figure.update_traces(line={"width": 3.2})
    for trace in thin.data:
        if trace.name.startswith("actuator"):
            trace.update(line={"width": 1.1}, showlegend=False, opacity=0.75)
            figure.add_trace(trace)
    for name, width in ((f"thick: {what}", 3.2), ("thin: as in the file", 1.1)):
        figure.add_scatter(x=[None], y=[None], mode="lines", name=name, line={"color": "#000000", "width": width})
    figure.update_layout(title_text=f"Actuators of {robot.name}: {what}")
    return figure


def reaction_figure(drive: xr.Dataset, joints: Sequence[str], title: str) -> go.Figure:
    """Size of the reaction forces at some joints.

    Args:
        drive: result of `flexapod.inverse_dynamics` with ``reactions=True``.
        joints: names, as in the result.
    """
    chosen = drive.reaction_force.sel(joint=list(joints))
    size = np.sqrt((chosen**2).sum("axis", skipna=False)).assign_attrs(units="N")
    return time_figure(size.to_dataset(name="size"), [PlotPanel(variable="size", label="reaction force")], title, "joint")


def contribution_figure(drive: xr.Dataset, title: str) -> go.Figure:
    """Parts of the actuator forces by source: root mean square over all actuators, over time.

    Args:
        drive: result of `flexapod.inverse_dynamics` with its parts of the force.
    """
    parts = drive.force_contribution
    size = np.sqrt((parts**2).mean("actuator")).assign_attrs(units=drive.force.attrs.get("units", "N"))
    kept = [str(s) for s in parts.contribution.values if float(np.abs(size.sel(contribution=s)).max()) > 0]
    shown = size.sel(contribution=kept).assign_coords(contribution=[name.replace("_", " ") for name in kept])
    return time_figure(shown.to_dataset(name="size"), [PlotPanel(variable="size", label="RMS over actuators")], title, "")


@renamed(run="result")
def energy_figure(result: xr.Dataset, title: str) -> go.Figure:
    """The energy balance of a simulation and its error.

    Args:
        result: result of `flexapod.simulate`.
    """
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, row_heights=[0.72, 0.28], vertical_spacing=0.08)
    for k, (name, values) in enumerate(energy_entries(result).items()):
        style = {"color": COLOURS[k], "dash": DASHES[k], "width": 2.2}
        figure.add_scatter(x=result.time.values, y=values.values, mode="lines", name=name, line=style, row=1, col=1)
    figure.add_scatter(
        x=result.time.values,
        y=energy_residual(result).values,
        mode="lines",
        name="left over",
        line={"color": "#000000"},
        row=2,
        col=1,
    )
    figure.update_yaxes(title_text="energy [J]", row=1, col=1)
    figure.update_yaxes(title_text="left over [J]", exponentformat="e", row=2, col=1)
    figure.update_xaxes(title_text="time [s]", row=2, col=1)
    return styled(figure, title, 600)


def spectrum_figure(result: xr.Dataset, variable: str, title: str) -> go.Figure:
    """Amplitude spectrum of a variable over time (mean removed, Hann window), one line per actuator or coordinate.

    Args:
        result: of `flexapod.simulate` or another verb, at uniform times.
        variable: its name in the result.
    """
    import plotly.graph_objects as go

    frequency, lines = spectra(result, variable)
    figure = go.Figure()
    for k, (name, amplitude) in enumerate(lines):
        figure.add_scatter(x=frequency[1:], y=amplitude[1:], mode="lines", name=name or variable, line=line_style(k))
    unit = unit_of(result[variable])
    figure.update_layout(
        xaxis_title="frequency [Hz]",
        yaxis={
            "title": {"text": f"amplitude of {variable.replace('_', ' ')} [{unit}]"},
            "type": "log",
            "exponentformat": "power",
        },
    )
    return styled(figure, title, 460)


def spectra(result: xr.Dataset, variable: str) -> tuple[Any, list[tuple[str, Any]]]:
    """Frequencies [Hz] and amplitudes of each line; the amplitude of a sine of size a is a. Needs uniform times."""
    time = result.time.values
    steps = np.diff(time)
    if len(time) < 8 or np.ptp(steps) > 1e-6 * steps.mean():
        raise fp.InputError("a spectrum needs at least 8 samples at uniform times")
    window = np.hanning(len(time))
    found = []
    for name, values in _lines(result[variable]):
        transform = np.fft.rfft((values - values.mean()) * window)
        found.append((name, 2.0 * np.abs(transform) / window.sum()))
    return np.fft.rfftfreq(len(time), steps.mean()), found


def energy_entries(result: xr.Dataset) -> dict[str, xr.DataArray]:
    """Entries of the energy balance of a simulation over time [J], by the labels of figures.

    Kinetic, potential and elastic energy grow by what actuators and the world supply, less what friction and damping take.
    Checked by: tests/views/test_energy_entries.py.
    """
    return {
        "kinetic": result.kinetic_energy,
        "potential, from start": result.potential_energy - result.potential_energy[0],
        "elastic": result.elastic_energy,
        "supplied by actuators": result.supplied_work.sum("actuator"),
        "from outside": result.external_work,
        "dissipated": result.dissipated_energy,
    }


def energy_residual(result: xr.Dataset) -> xr.DataArray:
    """Residual of the energy balance over time [J]."""
    return result["energy_residual"] if "energy_residual" in result else result["ledger_residual"]  # a file of the last version


def exchanged(result: xr.Dataset) -> float:
    """Largest energy in the energy balance [J]: supplied, dissipated, from outside, kinetic or potential."""
    entries = {**energy_entries(result), "supplied by actuators": abs(result.supplied_work).sum("actuator")}
    return max(float(abs(part).max()) for name, part in entries.items() if name != "elastic")


def actuator_figure(result: xr.Dataset, variable: str, title: str, label: str) -> go.Figure:
    """One variable of all actuators over time, e.g. `force`."""
    return time_figure(result, [PlotPanel(variable=variable, label=label)], title)
