"""Figures: units on every axis, one colour and dash per leg everywhere, values that are those of the result."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import flexapod as fp
from flexapod.views.plots.mode_figures import frequency_figure, mode_figure
from flexapod.views.plots.reduction_figures import reduction_figure
from flexapod.views.plots.robot_figures import LETTERS, LINE, robot_figure
from flexapod.views.plots.time_figures import (
    PlotPanel,
    contribution_figure,
    energy_figure,
    force_figure,
    reaction_figure,
    spectra,
    spectrum_figure,
    stroke_figure,
    time_figure,
)
from flexapod.views.plots.workspace_figures import workspace_figure
from flexapod.views.reports.html import HtmlTable, html_page, paragraph
from flexapod.views.scene.colours import COLOURS, DASHES
from flexapod.views.sizing import joint_rows, motion_sizing, rms

ERRORS = {"error": 1.0, "error_bound": 2.0}
UNIT = re.compile(r"\[[^\]]+\]")
COUNTED = {"mode"}
"""Axes that count and have no unit."""
DRAWN = 1e-8
"""[m]: numbers of the robot, in a figure."""
WINDOW = 0.01
"""Of an amplitude: the window of 400 samples widens the line by 1/400."""
RMS = 1e-6
"""Relative: the trapezoidal rule over a whole period."""
TRAPEZOIDAL = 1e-3
"""Relative: the trapezoidal rule, 61 samples."""


@pytest.fixture(scope="module")
def hexapod() -> dict[str, Any]:
    robot = fp.load("hexapod")
    motion = fp.motions.sinatra_motion("rotation-z")
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    return {
        "robot": robot,
        "home": home,
        "motion": motion,
        "legs": fp.inverse_kinematics(robot, motion, joints=False),
        "drive": fp.inverse_dynamics(robot, motion, reactions=True, contributions="frozen"),
        "modes": fp.natural_frequencies(robot, home, actuators=[1e6] * 6),
        "area": fp.workspace(robot, grid={"x": (-0.3, 0.3, 9), "y": (-0.3, 0.3, 9)}),
        "run": fp.simulate(robot, motion, controller=fp.ComputedTorque(kp=100.0, kd=20.0), duration=0.2),
    }


REDUCTION = xr.Dataset(
    {name: (("time", "at_frequency"), size * np.array([[0.0, 0.1, 0.4], [0.0, 0.2, np.inf]])) for name, size in ERRORS.items()},
    {"time": [0.0, 1.0], "at_frequency": [0.0, 10.0, 20.0]},
    {"limit": 20.0},
)

MAKERS = {
    "robot": lambda h: robot_figure(h["robot"]),
    "strokes": lambda h: stroke_figure(h["robot"], h["legs"]),
    "forces": lambda h: force_figure(h["robot"], h["drive"]),
    "reactions": lambda h: reaction_figure(h["drive"], ["A.rail", "A.ball"], "reactions"),
    "contributions": lambda h: contribution_figure(h["drive"], "shares"),
    "energy": lambda h: energy_figure(h["run"], "energy"),
    "spectrum": lambda h: spectrum_figure(h["drive"], "force", "spectrum"),
    "frequencies": lambda h: frequency_figure(h["modes"], "frequencies"),
    "mode shapes": lambda h: mode_figure(h["robot"], h["modes"], [1, 2], h["home"]),
    "reduction": lambda h: reduction_figure(REDUCTION, "reduction"),
    "workspace": lambda h: workspace_figure(h["area"], "slice"),
    "workspace line": lambda h: workspace_figure(h["area"].isel(y=4), "line"),
}


def axes_of(figure: Any) -> list[Any]:
    layout = figure.layout
    scenes = [layout[key] for key in layout if re.fullmatch(r"scene\d*", key) and layout[key].xaxis.title.text is not None]
    drawn_flat = any(trace.type not in ("scatter3d", "mesh3d") for trace in figure.data)
    flat = [layout[key] for key in layout if drawn_flat and re.fullmatch(r"[xy]axis\d*", key) and not layout[key].matches]
    return flat + [axis for scene in scenes for axis in (scene.xaxis, scene.yaxis, scene.zaxis)]


@pytest.mark.parametrize("name", list(MAKERS))
def test_units_on_every_axis(hexapod: dict[str, Any], name: str) -> None:
    figure = MAKERS[name](hexapod)
    titles = [axis.title.text for axis in axes_of(figure)]
    assert titles
    for title in titles:
        assert title in COUNTED or (title and UNIT.search(title)), f"{name}: axis '{title}' has no unit"
    assert figure.layout.title.text


def test_long_titles_have_several_lines(tmp_path: Path) -> None:
    """Lines that a printed page has room for, a margin above the plot for each, no marks of lines in the name of a page."""
    short, long = (robot_figure(fp.load(name)) for name in ("hexapod", "gough-stewart-flexible"))
    assert "<br>" not in short.layout.title.text
    lines = long.layout.title.text.split("<br>")
    robot = fp.load("gough-stewart-flexible")
    assert " ".join(lines) == f"{robot.name}: {robot.title}"
    assert max(map(len, lines)) <= LETTERS
    assert long.layout.margin.t - short.layout.margin.t == LINE * (len(lines) - 1)
    page = fp.figures.save_figure(long, tmp_path / "robot.html").read_text(encoding="utf-8")
    assert f"<title>{robot.name}: {robot.title}</title>" in page


def test_colours_and_dashes_distinguish_legs() -> None:
    assert len(set(COLOURS)) == len(COLOURS) == 8
    assert len(set(zip(COLOURS, DASHES, strict=True))) == 8
    assert len(set(DASHES[:6])) == 6  # six legs differ in print without colour


def test_a_leg_looks_the_same_everywhere(hexapod: dict[str, Any]) -> None:
    looks = {}
    for figure in (MAKERS["strokes"](hexapod), MAKERS["forces"](hexapod)):
        for trace in figure.data:
            if trace.name.startswith("actuator"):
                looks.setdefault(trace.name, set()).add((trace.line.color, trace.line.dash))
    assert {name: len(seen) for name, seen in looks.items()} == {f"actuator {a}": 1 for a in "ABCDEF"}
    some = time_figure(hexapod["drive"].sel(actuator=["F", "B"]), [PlotPanel(variable="force", label="f")], "t", order="ABCDEF")
    assert [trace.line.color for trace in some.data] == [COLOURS[5], COLOURS[1]]
    legs = [trace.color for trace in MAKERS["robot"](hexapod).data if trace.name.startswith("leg")]
    assert legs == list(COLOURS[:6])


def test_force_figure_draws_the_forces(hexapod: dict[str, Any]) -> None:
    drawn = {trace.name: trace for trace in force_figure(hexapod["robot"], hexapod["drive"]).data if trace.yaxis in (None, "y")}
    for name in "ABCDEF":
        np.testing.assert_array_equal(drawn[f"actuator {name}"].y, hexapod["drive"].force.sel(actuator=name).values)


def test_limits_are_drawn(hexapod: dict[str, Any]) -> None:
    figure = stroke_figure(hexapod["robot"], hexapod["legs"])
    low, high = hexapod["robot"].legs[0].links[0].limits.stroke
    drawn = sorted(shape.y0 for shape in figure.layout.shapes)
    np.testing.assert_allclose(drawn, [low, high], rtol=0, atol=DRAWN)


def test_spectrum_of_a_sine() -> None:
    t = np.linspace(0.0, 2.0, 400, endpoint=False)
    data = xr.Dataset({"x": ("time", 3.0 * np.sin(2 * np.pi * 25.0 * t) + 7.0, {"units": "m"})}, coords={"time": t})
    frequency, [(_, amplitude)] = spectra(data, "x")
    peak = int(np.argmax(amplitude))
    assert frequency[peak] == pytest.approx(25.0)
    assert amplitude[peak] == pytest.approx(3.0, rel=WINDOW)
    with pytest.raises(fp.InputError, match="uniform"):
        spectra(data.assign_coords(time=t**2), "x")


def test_rms_of_a_sine() -> None:
    t = np.linspace(0.0, 1.0, 2001)
    assert rms(t, 5.0 * np.sin(2 * np.pi * t)[:, None])[0] == pytest.approx(5.0 / np.sqrt(2.0), rel=RMS)


def test_sizing_balances_with_energy(hexapod: dict[str, Any]) -> None:
    """Net energy of the actuators = change of the robot's energy between two rests."""
    sizing = motion_sizing(hexapod["robot"], hexapod["legs"], hexapod["drive"])
    m = hexapod["motion"]
    ends = fp.State(position=m.position[[0, -1]], rotation=m.rotation[[0, -1]])
    energy = fp.energy(hexapod["robot"], ends)
    change = float((energy.potential[1] - energy.potential[0]).values)
    assert sum(s["energy"] for s in sizing.values()) == pytest.approx(change, rel=TRAPEZOIDAL)
    assert sizing["B"]["peak_power"] == pytest.approx(float(abs(hexapod["drive"].power.sel(actuator="B")).max()))


def test_joint_rows_name_what_is_not_determined() -> None:
    robot = fp.load("tripteron")
    motion = fp.motions.offset(fp.motions.named_motion("cosine-z", amplitude=0.02), translation=robot.home.position)
    rows = joint_rows(fp.inverse_dynamics(robot, motion, reactions=True))
    assert any(row[-1] for row in rows), "an over-constrained robot leaves reactions undetermined"
    assert not any("nan" in cell for row in rows for cell in row)


def test_page_escapes_and_needs_no_network(tmp_path: Path) -> None:
    text = html_page("a < b", [("x & y", [paragraph("<script>"), HtmlTable(head=("<h>",), rows=[["<c>"]])]), ("z", [])])
    assert "a &lt; b" in text
    assert "x &amp; y" in text
    assert "<script>" not in text
    assert "<h>" not in text
    assert "<c>" not in text
    assert not re.search(r"(?:src|href)=['\"]?https?:", text)
