"""Residual vibration in report and studio: the table, the figure, the move, and what is said where there is none."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import flexapod as fp
from flexapod.views.residual_vibration import residual_rows, standard_move, vibration_blocks, vibration_figure, watched_point
from flexapod.views.studio.tables import residual_html

ROUNDING = 1e-12
"""Relative, and [m/s]: sums of products of sizes and shares."""
PRINTED = 1e-4
"""Relative: a frequency with six digits, at the middle of the move."""


def made(factor: float = 0.05) -> xr.Dataset:
    """A result of two ways, of which the second leaves a part."""
    t = np.linspace(0.01, 1.0, 50)
    swing = np.stack([np.sin(20 * t), 0 * t, 0.1 * np.sin(20 * t)], axis=1)
    data = {
        "peak": ("way", [1e-3, factor * 1e-3]), "reduction": ("way", [0.0, 1 - factor]),
        "late_peak": ("way", [1e-3, factor * 1e-3]), "late_reduction": ("way", [0.0, 1 - factor]),
        "level_reduction": ("way", [0.0, 1 - factor]), "delay": ("way", [0.0, 0.1]),
        "displacement": (("way", "since_end", "axis"), 1e-3 * np.array([swing, factor * swing])),
    }  # fmt: skip
    return xr.Dataset(data, coords={"way": ["as given", "<zvd>"], "since_end": t, "axis": list("xyz")})


def test_table_and_figure() -> None:
    assert residual_rows(made(), "wrong")[1] == ["<zvd>, wrong", "5e-05", "95.0", "5e-05", "95.0", "95.0", "0.1"]
    figure = vibration_figure(made())
    assert [line.name for line in figure.data] == ["as given", "<zvd>"]
    assert np.max(figure.data[1].y) == pytest.approx(0.05 * np.max(figure.data[0].y))
    assert "along x" in figure.layout.yaxis.title.text


def test_studio_table_escapes_names() -> None:
    text = residual_html("a<b", "file", [("exact frequencies", made()), ("10 % too high", made(0.2))])
    assert "a&lt;b" in text
    assert "&lt;zvd&gt;" in text
    assert "95.0 %" in text
    assert "80.0 %" in text


def test_standard_move_of_dualemps() -> None:
    """2 % of 0.6 m in 1.7 periods of the first mode, bang-bang: at rest at both ends; the tip is looked at."""
    robot = fp.load("dualemps")
    move = standard_move(robot)
    assert move.position[-1] - move.position[0] == pytest.approx([0.012, 0.012], rel=ROUNDING)
    assert move.time[-1] == pytest.approx(1.7 / 14.2068, rel=PRINTED)
    assert np.abs(move.velocity[[0, -1]]).max() < ROUNDING
    assert watched_point(robot) == "1.17.tip"


def test_an_unstable_robot_says_so() -> None:
    (text,) = vibration_blocks(fp.load("gough-stewart-flexible"))
    assert "is unstable at home with locked actuators (growth 2.56 1/s)" in str(text)
