"""Plots beside a motion: forces, powers and deformation over time, with a line at the moment that is shown.

One curve is one row of numbers on the same times; the line is a curve of its own between two samples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.views.output import picture_bytes
from flexapod.views.scene.colours import DASHES, colour
from flexapod.views.studio.recording import Recording
from flexapod.views.studio.tables import actuator_legs

if TYPE_CHECKING:
    import viser

HEIGHT = 86
"""Height of a plot [pixels]: two fit above the timeline on a small screen."""
TICKS = 14
"""Least distance of numbers on the upright axis [pixels]: at the usual 30 a low plot would have one alone, and no scale."""
POINTS = 400
"""Points of a plotted curve."""
NOW = "#444444"
STROKES: dict[str, tuple[float, ...]] = {
    "solid": (), "dash": (8, 4), "dot": (2, 3), "dashdot": (8, 3, 2, 3), "longdash": (14, 5), "longdashdot": (14, 4, 2, 4)
}  # fmt: skip


class TimePlot:
    """One plot of the page: made once, then loaded with other curves. A widget that is removed while its updates are on their
    way is an error on the page, so none ever is.

    Args:
        gui: of the server; the plot is added to the container that is open.
    """

    def __init__(self, gui: viser.GuiApi) -> None:
        self.time, self.columns, self.low, self.high = np.array([0.0, 1.0]), np.zeros((2, 1)), 0.0, 1.0
        self.plot = gui.add_uplot(self._data(0.0), ({}, {}, {}), height=HEIGHT, visible=False)

    def load(
        self, label: str, names: tuple[str, ...], time: Array, values: Array, kept: Array | None, lit: tuple[int, ...] = ()
    ) -> None:
        """Other curves: values (n, names) at times (n,), and those of the kept variant, paler; `lit` ones are thick."""
        keep = np.unique(np.linspace(0, len(time) - 1, min(POINTS, len(time))).astype(int))
        self.time = time[keep] - time[0]
        self.columns = values[keep] if kept is None else np.hstack([values[keep], kept[keep]])
        known = self.columns[np.isfinite(self.columns)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        room = 0.06 * ((high - low) or abs(high) or 1.0)
        self.low, self.high = low - room, high + room
        plot = self.plot
        plot.title = f"{label} over time [s]"
        plot.scales = {
            "x": {"time": False, "range": (0.0, float(self.time[-1]) or 1.0)}, "y": {"range": (self.low, self.high)}
        }  # fmt: skip
        plot.axes = ({"size": 24, "font": "11px sans-serif"}, {"size": 58, "font": "11px sans-serif", "space": TICKS})
        plot.legend = {"show": True, "live": True}
        plot.series = _series(names, kept is not None, lit)
        plot.data = self._data(0.0)
        plot.visible = True

    def _data(self, t: float) -> tuple[Array, ...]:
        line = np.full(len(self.time), np.nan)
        if len(self.time) > 1:
            i = int(np.clip(np.searchsorted(self.time, t), 1, len(self.time) - 1))
            line[i - 1], line[i] = self.low, self.high
        return (self.time, *self.columns.T, line)

    def show(self, t: float) -> None:
        """Move the line to a time [s] after the start."""
        if self.plot.visible:
            self.plot.data = self._data(t)

    def hide(self) -> None:
        """Hide the plot."""
        self.plot.visible = False


def _series(names: tuple[str, ...], kept: bool, lit: tuple[int, ...] = ()) -> tuple[viser.uplot.Series, ...]:
    bare: viser.uplot.Series = {"points": {"show": False}}
    series: list[viser.uplot.Series] = [{"label": "t [s]"}]
    for k, name in enumerate(names):
        dash = STROKES[DASHES[k % len(DASHES)]]
        width = 1.8 if not lit else 4.0 if k in lit else 0.8
        series.append({"label": name, "stroke": colour(k), "width": width, "dash": dash, **bare})
    if kept:
        series += [{"label": f"{name} kept", "stroke": colour(k) + "66", "width": 1.2, **bare} for k, name in enumerate(names)]
    return (*series, {"label": "now", "stroke": NOW, "width": 1.5, **bare})


def _unit(recording: Recording, metres: str, radians: str) -> str:
    units = set(recording.robot.actuator_units)
    return metres if units == {"m"} else radians if units == {"rad"} else f"{metres} or {radians}"


QUANTITIES: dict[str, Callable[[Recording], tuple[str, tuple[str, ...], Array]]] = {
    "forces": lambda r: (f"actuator force [{_unit(r, 'N', 'N m')}]", r.robot.actuators, r.force),
    "powers": lambda r: ("actuator power [W]", r.robot.actuators, r.power),
    "strokes": lambda r: (f"actuator position [{_unit(r, 'm', 'rad')}]", r.robot.actuators, r.actuator),
    "speeds": lambda r: (f"actuator speed [{_unit(r, 'm/s', 'rad/s')}]", r.robot.actuators, r.speed),
    "condition": lambda r: ("condition number", ("condition",), r.condition[:, None]),
    "tracking error": lambda r: ("tracking error [mm]", ("error",), 1e3 * r.tracking[:, None]),
    "deflection": lambda r: ("largest deflection [mm]", ("deflection",), 1e3 * r.deformation[:, None]),
}
"""Quantities that can be plotted over a recording: label, names of the curves, values (n, curves)."""


def load_plot(plot: TimePlot, name: str, recording: Recording, kept: Recording | None, selected: int | None = None) -> None:
    """Load one quantity of a recording into a plot, and that of the kept variant, paler; curves of the selected leg are thick."""
    label, names, values = QUANTITIES.get(name, QUANTITIES["forces"])(recording)
    other = None if kept is None or len(kept.time) != len(recording.time) else QUANTITIES.get(name, QUANTITIES["forces"])(kept)[2]
    legs = actuator_legs(recording.robot)
    lit = tuple(k for k, leg in enumerate(legs) if leg == selected) if tuple(names) == tuple(recording.robot.actuators) else ()
    plot.load(label, tuple(names), recording.time, values, other, lit)


def plots_png(recording: Recording, kept: Recording | None, names: list[str]) -> bytes:
    """The chosen quantities over time as a picture, one above the other; the kept variant's curves are paler.

    Checked by: tests/studio/test_studio_view.py.
    """
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    wanted = [name for name in names if name in QUANTITIES] or ["forces"]
    found = [QUANTITIES[name](recording) for name in wanted]
    figure = make_subplots(rows=len(found), cols=1, shared_xaxes=True, vertical_spacing=0.06)
    for row, (name, (label, curves, values)) in enumerate(zip(wanted, found, strict=True), start=1):
        pairs = [(recording, values, 1.0, "")]
        if kept is not None:
            pairs.append((kept, QUANTITIES[name](kept)[2], 0.4, " kept"))
        for source, columns, opacity, reported in pairs:
            for k, curve in enumerate(curves):
                line = {"color": colour(k), "dash": DASHES[k % len(DASHES)]}
                trace = go.Scatter(
                    x=source.time, y=columns[:, k], name=f"{curve}{reported}", line=line, opacity=opacity, showlegend=row == 1,
                )  # fmt: skip
                figure.add_trace(trace, row=row, col=1)
        figure.update_yaxes(title_text=label, row=row, col=1)
    figure.update_xaxes(title_text="time [s]", row=len(found), col=1)
    title = f"{recording.robot.name}, {recording.variant}: {recording.kind} {recording.name}"
    figure.update_layout(title=title, template="plotly_white", height=320 * len(found) + 80)
    return picture_bytes(figure, "png")
