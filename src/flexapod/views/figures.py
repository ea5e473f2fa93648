"""Figures from Python, `fp.figures`: one function per figure, and `save_figure`.

Every function takes results of the verbs and returns a Plotly figure; a leg has one colour and one dash in all of them.
Checked by: tests/views/test_pictures.py.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from flexapod.views.frequency_map import frequency_map, frequency_map_figure
from flexapod.views.output import check_places, write_plot
from flexapod.views.plots.design_figures import pareto_figure, residual_figure, tornado_figure
from flexapod.views.plots.mode_figures import frequency_figure, mode_figure
from flexapod.views.plots.pose_figures import poses_figure
from flexapod.views.plots.reduction_figures import reduction_figure
from flexapod.views.plots.robot_figures import robot_figure
from flexapod.views.plots.space_figures import locus_figure, paving_figure, solid_figure, timing_figure
from flexapod.views.plots.time_figures import (
    change_figure,
    contribution_figure,
    energy_figure,
    force_figure,
    reaction_figure,
    spectrum_figure,
    stroke_figure,
)
from flexapod.views.plots.workspace_figures import workspace_figure
from flexapod.views.residual_vibration import vibration_figure

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

__all__ = [
    "change_figure",
    "contribution_figure",
    "energy_figure",
    "force_figure",
    "frequency_figure",
    "frequency_map",
    "frequency_map_figure",
    "locus_figure",
    "mode_figure",
    "pareto_figure",
    "paving_figure",
    "poses_figure",
    "reaction_figure",
    "reduction_figure",
    "residual_figure",
    "robot_figure",
    "save_figure",
    "solid_figure",
    "spectrum_figure",
    "stroke_figure",
    "timing_figure",
    "tornado_figure",
    "vibration_figure",
    "workspace_figure",
]


def share_figure(drive: xr.Dataset, title: str) -> go.Figure:
    """Former name of `contribution_figure`, for one version."""
    text = "share_figure is called contribution_figure now; the former name is removed in the next version"
    warnings.warn(text, DeprecationWarning, stacklevel=2)
    return contribution_figure(drive, title)


def save_figure(figure: go.Figure, path: str | Path) -> Path:
    """Write a figure; the suffix decides: ``.html`` (interactive, opens without a network), ``.png`` or ``.svg``.

    Args:
        figure: of a function of this module.
        path: of the file.
    Raises:
        InputError: another suffix, a folder that is not there, or no Chrome or Chromium for a PNG or SVG.
    """
    target = Path(path)
    check_places(None, target)
    return write_plot(target, figure, str(figure.layout.title.text or "flexapod").replace("<br>", " "))
