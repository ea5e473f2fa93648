"""The page of `flexapod identify`: estimates with error bars, residuals, prediction of another motion, suspicions.

Checked by: tests/identification/test_identify_command.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import flexapod as fp
from flexapod.views.output import number
from flexapod.views.plots.time_figures import PlotPanel, time_figure
from flexapod.views.reports.html import HtmlTable, html_page, paragraph

HEAD = ("parameter", "estimate", "standard error", "t-ratio", "robot file", "unit", "represents")


def rows_of(found: fp.Identification) -> list[list[str]]:
    """A row per parameter, essential ones marked by a star."""
    rows = []
    for k, name in enumerate(found.names):
        star = " *" if name in found.essential else ""
        text = found.combinations[k] if found.combinations[k] != name else ""
        shown = text if len(text) < 200 else text[:200] + " ..."
        numbers = [number(x, 6) for x in (found.estimate[k], found.sigma[k], found.t_ratio[k], found.prior[k])]
        rows.append([name + star, *numbers, found.units[k], shown])
    return rows


def identification_page(found: fp.Identification) -> str:
    """One self-contained page."""
    title, source = f"{found.start.name}: identification", f"{found.source}. Made by flexapod {fp.__version__}; SI units."
    return html_page(title, identification_sections(found), source)


def identification_sections(found: fp.Identification) -> list[tuple[str, list[Any]]]:
    """Headings with their contents: suspicions, parameters, residuals, prediction of another motion."""
    robot = found.start
    sections: list[tuple[str, list[Any]]] = []
    if found.suspicions:
        sections.append(("Suspicions", [paragraph(f"{s.kind}: {s.text}", "warning") for s in found.suspicions]))
    facts = (
        f"{found.method}, {found.rows} equations, condition number {number(found.condition, 4)} (scaled columns), delay "
        f"of the force "
        f"channel {number(1e3 * found.delay, 3)} ms. A star marks essential parameters."
    )
    sections.append(("Parameters", [paragraph(facts), HtmlTable(head=HEAD, rows=rows_of(found))]))
    sections.append(("Residuals", [_noise(found), _residuals(found)]))
    if found.validation is not None:
        v = found.validation
        rows = [[a, *(number(x[k], 4) for x in (v.rms, v.noise, v.before))] for k, a in enumerate(robot.actuators)]
        head = ("actuator", "residual on the other motion", "residual of the estimate", "with the robot file")
        sections.append(("Another motion", [HtmlTable(head=head, rows=rows, caption="root mean square [N or N m]")]))
    return sections


def _noise(found: fp.Identification) -> HtmlTable:
    rows = [[a, number(x, 4)] for a, x in zip(found.start.actuators, found.noise, strict=True)]
    head = ["actuator", "standard deviation [N or N m]"]
    for name, values, errors in found.extras():
        rows = [[*row, f"{number(x, 4)} +/- {number(e, 2)}"] for row, x, e in zip(rows, values, errors, strict=True)]
        head.append(name)
    return HtmlTable(head=head, rows=rows, caption="per actuator")


def _residuals(found: fp.Identification) -> Any:
    import xarray as xr

    values = np.asarray(found.residual)
    coords = {"time": np.arange(len(values)), "actuator": list(found.start.actuators)}
    data: Any = {"residual": (("time", "actuator"), values, {"units": "N or N m"})}
    figure = time_figure(
        xr.Dataset(data, coords=coords), [PlotPanel(variable="residual", label="measured less predicted")], "Residuals"
    )
    figure.update_xaxes(title_text="equation")
    return figure
