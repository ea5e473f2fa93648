"""Plots beside a motion: forces, powers and deformation over time, with a line at the moment that is shown.

One curve is one row of numbers on the same times; the line is a curve of its own that stands between two samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexapod.views.plot import DASHES, colour
from flexapod.views.studio.recording import Recording

Array = NDArray[np.float64]

POINTS = 400
"""Points of a plotted curve."""
NOW = "#444444"
STROKES = {"solid": [], "dash": [8, 4], "dot": [2, 3], "dashdot": [8, 3, 2, 3], "longdash": [14, 5], "longdashdot": [14, 4, 2, 4]}


class TimePlot:
    """One plot of the page.

    Args:
        gui: of the server; the plot is added to the container that is open.
        label: of the vertical axis.
    """

    def __init__(
        self, gui: Any, label: str, names: tuple[str, ...], time: Array, values: Array, kept: Array | None = None
    ) -> None:
        keep = np.unique(np.linspace(0, len(time) - 1, min(POINTS, len(time))).astype(int))
        self.time = time[keep] - time[0]
        self.values = values[keep]
        self.kept = None if kept is None else np.column_stack([np.interp(self.time, time - time[0], k) for k in kept.T])
        columns = self.values if self.kept is None else np.hstack([self.values, self.kept])
        low, high = (float(np.nanmin(columns)), float(np.nanmax(columns))) if np.any(np.isfinite(columns)) else (0.0, 1.0)
        room = 0.06 * ((high - low) or abs(high) or 1.0)
        self.low, self.high = low - room, high + room
        series: list[dict[str, Any]] = [{"label": "t [s]"}]
        for k, name in enumerate(names):
            dash = STROKES[DASHES[k % len(DASHES)]]
            series.append({"label": name, "stroke": colour(k), "width": 1.8, "dash": dash, "points": {"show": False}})
        if self.kept is not None:
            pale = {"width": 1.2, "points": {"show": False}}
            series += [{"label": f"{name} kept", "stroke": colour(k) + "66", **pale} for k, name in enumerate(names)]
        series.append({"label": "now", "stroke": NOW, "width": 1.5, "points": {"show": False}})
        self.plot = gui.add_uplot(
            self._data(0.0), tuple(series), title=label, height=170,
            scales={"x": {"time": False, "range": (0.0, float(self.time[-1]) or 1.0)}, "y": {"range": (self.low, self.high)}},
            axes=({"label": "time [s]", "size": 34, "labelSize": 16, "font": "11px sans-serif", "labelFont": "12px sans-serif"},
                  {"size": 56, "font": "11px sans-serif"}),
            legend={"show": True, "live": False}, cursor={"show": True},
        )  # fmt: skip

    def _data(self, t: float) -> tuple[Array, ...]:
        line = np.full(len(self.time), np.nan)
        if len(self.time) > 1:
            i = int(np.clip(np.searchsorted(self.time, t), 1, len(self.time) - 1))
            line[i - 1], line[i] = self.low, self.high
        kept = () if self.kept is None else tuple(self.kept.T)
        return (self.time, *self.values.T, *kept, line)

    def show(self, t: float) -> None:
        """Move the line to a time."""
        self.plot.data = self._data(t)


def plots_of(gui: Any, recording: Recording, kept: Recording | None) -> list[TimePlot]:
    """Forces, powers, and the deformation of a flexible robot."""
    names, units = recording.robot.actuators, set(recording.robot.actuator_units)
    force = "N" if units == {"m"} else "N m" if units == {"rad"} else "N or N m"
    found = [
        TimePlot(gui, f"actuator force [{force}]", names, recording.time, recording.force, None if kept is None else kept.force),
        TimePlot(gui, "actuator power [W]", names, recording.time, recording.power, None if kept is None else kept.power),
    ]
    if recording.elastic.shape[1]:
        bent = 1e3 * recording.deformation[:, None]
        other = None if kept is None else 1e3 * kept.deformation[:, None]
        found.append(TimePlot(gui, "largest deformation [mm]", ("deformation",), recording.time, bent, other))
    return found
