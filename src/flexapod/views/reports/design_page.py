"""Pages of studies, optimisations, sensitivities, tolerances and calibrations: their tables and pictures on one page.

Tables are those that the commands print. Checked by: tests/views/test_design_pages.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.output import number
from flexapod.views.plots.design_figures import pareto_figure, residual_figure, tornado_figure
from flexapod.views.reports.html import HtmlTable, bullets, html_page, paragraph

if TYPE_CHECKING:
    import xarray as xr

    DesignResult = fp.Study | fp.Optimum | fp.Calibration | xr.Dataset

LONGEST = 200
"""Rows of a table on a page."""


@dataclass(frozen=True, kw_only=True)
class DesignTable:
    """A table of a result: what it shows, names of its columns, rows of text."""

    title: str
    head: tuple[str, ...]
    rows: list[list[str]]

    def on_page(self) -> list[Any]:
        """Parts of a page, long tables cut with a note."""
        table = HtmlTable(head=self.head, rows=self.rows[:LONGEST], caption=self.title)
        left = len(self.rows) - LONGEST
        return [table, *([paragraph(f"{left} more rows are not shown.", "note")] if left > 0 else [])]


def study_table(found: fp.Study) -> DesignTable:
    """Statistics of the criteria."""
    s = found.statistics
    rows = [
        [name, str(unit), *(number(float(s[key][k]), 6) for key in ("lowest", "mean", "highest", "deviation"))]
        for k, (name, unit) in enumerate(zip(s.criterion.values, s.unit.values, strict=True))
    ]
    title = f"{found.valid} of {found.designs} designs are valid; {found.front.sizes['design']} on the front"
    return DesignTable(title=title, head=("criterion", "unit", "lowest", "mean", "highest", "deviation"), rows=rows)


def designs_table(table: xr.Dataset, title: str) -> DesignTable:
    """Variables and criteria of designs, a row each."""
    names = [str(name) for name in table.data_vars]
    rows = [[str(design), *(number(float(table[name][k]), 6) for name in names)] for k, design in enumerate(table.design.values)]
    return DesignTable(title=title, head=("design", *names), rows=rows)


def sensitivity_table(found: xr.Dataset) -> DesignTable:
    """Derivatives and indices, a row per criterion and variable."""
    keys = [key for key in ("derivative", "change", "first_order", "total") if key in found]
    rows = [
        [str(c), str(v), *(number(float(found[key].sel(criterion=c, variable=v)), 5) for key in keys)]
        for c in found.criterion.values for v in found.variable.values
    ]  # fmt: skip
    return DesignTable(title=f"Sensitivity of {found.attrs['robot']}", head=("criterion", "variable", *keys), rows=rows)


def tolerance_table(found: xr.Dataset) -> DesignTable:
    """Pose error at the first pose."""
    rows = [
        [str(c), str(u), number(float(found.deviation[0, k]), 5), number(float(found.worst_case[0, k]), 5)]
        for k, (c, u) in enumerate(zip(found.component.values, found.component_unit.values, strict=True))
    ]
    head = ("component", "unit", "deviation", "worst case")
    return DesignTable(title=f"Pose error of {found.attrs['robot']} at the first pose", head=head, rows=rows)


def calibration_table(found: fp.Calibration) -> DesignTable:
    """Estimates with their standard errors."""
    t = found.table
    rows = [
        [str(p), str(u), number(float(t.value[k]), 9), number(float(t.correction[k]), 4), number(float(t.sigma[k]), 3)]
        for k, (p, u) in enumerate(zip(t.parameter.values, t.unit.values, strict=True))
    ]
    head = ("parameter", "unit", "value", "correction", "sigma")
    return DesignTable(title=f"Calibration: rank {found.rank}", head=head, rows=rows)


def design_page(found: DesignResult, robot: str) -> str:
    """One self-contained page about a result of `study`, `optimise`, `sensitivity`, `tolerance` or `calibrate`."""
    sections, kind = design_sections(found)
    return html_page(f"{robot}: {kind}", sections, f"Made by flexapod {fp.__version__}; SI units.")


def design_sections(found: DesignResult) -> tuple[list[tuple[str, Sequence[Any]]], str]:
    """Headings with their contents, and the name of what was done."""
    if isinstance(found, fp.Study):
        return _study(found), "study"
    if isinstance(found, fp.Optimum):
        return _optimum(found), "optimisation"
    if isinstance(found, fp.Calibration):
        parts = [*calibration_table(found).on_page(), *_fixed(found)]
        return [("Parameters", parts), ("Residuals", [residual_figure(found, "Residuals")])], "calibration"
    if "contribution" in found:
        return _tolerance(found), "tolerances"
    if "change" in found:
        figures = [tornado_figure(found, str(c), str(c)) for c in found.criterion.values]
        return [("Sensitivities", sensitivity_table(found).on_page()), ("Pictures", figures)], "sensitivity"
    raise fp.InputError("design_page: expected a result of study, optimise, sensitivity, tolerance or calibrate")


def _study(found: fp.Study) -> list[tuple[str, Sequence[Any]]]:
    invalid = [bullets([f"{times} designs: {reason}" for reason, times in found.reasons.items()])] if found.reasons else []
    figure = [pareto_figure(found, "Designs")] if len(found.criteria) > 1 else []
    front = designs_table(found.front, "Designs that none beats in all criteria")
    return [("Statistics", [*study_table(found).on_page(), *invalid]), ("Pareto front", [*figure, *front.on_page()])]


def _optimum(found: fp.Optimum) -> list[tuple[str, Sequence[Any]]]:
    figure = [pareto_figure(found, "Best designs")] if len(found.criteria) > 1 else []
    slope = found.sensitivities
    rows = [[str(c), *(number(float(x), 5) for x in slope.sel(criterion=c))] for c in slope.criterion.values]
    table = HtmlTable(head=("criterion", *map(str, slope.variable.values)), rows=rows, caption="Derivatives at design 0")
    return [("Best designs", [*designs_table(found.table, "Best designs").on_page(), *figure]), ("Sensitivities", [table])]


def _tolerance(found: xr.Dataset) -> list[tuple[str, Sequence[Any]]]:
    first = f"Tighten first: {found.attrs['tighten_first']}. Displacement by pose [m], standard deviation: "
    parts = [*tolerance_table(found).on_page(), paragraph(first + ", ".join(number(x, 4) for x in found.displacement.values))]
    if "sampled_deviation" in found:
        apart = np.abs(found.sampled_deviation / found.deviation - 1).max()
        parts.append(
            paragraph(f"Samples with the exact kinematics differ from first order by {100 * float(apart):.2g} % at most.")
        )
    if "criterion_value" in found:
        parts += _criteria(found).on_page()
    return [("Pose error", parts), ("Sources", [tornado_figure(found, "Contributions to the displacement")])]


def _criteria(found: xr.Dataset) -> DesignTable:
    keys = ("criterion_value", "criterion_deviation", "criterion_worst_case")
    rows = [
        [str(c), str(u), *(number(float(found[key].sel(criterion=c)), 6) for key in keys)]
        for c, u in zip(found.criterion.values, found.criterion_unit.values, strict=True)
    ]
    return DesignTable(title="Criteria", head=("criterion", "unit", "value", "deviation", "worst change"), rows=rows)


def _fixed(found: fp.Calibration) -> list[Any]:
    if not found.fixed:
        return []
    return [paragraph(f"Held at the file's values, as the measurements do not show them: {', '.join(found.fixed)}", "note")]
