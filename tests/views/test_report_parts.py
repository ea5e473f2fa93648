"""Parts of the report: key figures against their definitions, payload against a heavier platform, comparison, PDF."""

import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import trapezoid

import flexapod as fp
from flexapod.robot.catalogue import catalogue
from flexapod.views.chosen_motion import followed_motion
from flexapod.views.output import number
from flexapod.views.plots.force_speed import force_speed_figure
from flexapod.views.reports.compare import compared, difference, figures_of, same_motions
from flexapod.views.reports.key_figures import KeyFigure, moving_mass
from flexapod.views.reports.motion_report import robot_report
from flexapod.views.sizing import joint_rows, motion_sizing, sizing_table
from flexapod.views.slice_axes import slice_axes, slice_window
from support.patience import PATIENCE
from support.webgl import DRAWING_LATER

Run = Callable[..., Any]
SAME = 1e-10
"""The same model built twice, once through a file: roundings of inverse dynamics."""

REPORTED = [name for name in catalogue() if name not in ("delta-parallelograms", "hexapod-floating")]
"""Robots whose reports the full run makes."""
AT_HOME = {"hexapod-floating": "is under-actuated", "gough-stewart-flexible-legs": "beyond a buckling load"}
"""Robots that no motion of actuators has forces of, and why."""
MOVED = 1e-12
"""[m]: a motion less its start."""


@pytest.fixture(scope="module")
def hexapod() -> dict[str, Any]:
    robot = fp.load("hexapod")
    motion = followed_motion(robot, None, {})
    found, legs, drive, _ = figures_of(robot, motion)
    return {"robot": robot, "motion": motion, "figures": {f.name: f for f in found}, "legs": legs, "drive": drive}


def test_key_figures_are_what_they_say(hexapod: dict[str, Any]) -> None:
    figures, legs, drive = hexapod["figures"], hexapod["legs"], hexapod["drive"]
    force, power = drive.force.values, drive.power.values
    assert figures["peak force"].value == pytest.approx(np.abs(force).max(), rel=SAME)  # equal legs differ by rounding
    own = hexapod["robot"].actuators.index(figures["peak force"].owner)
    assert np.abs(force[:, own]).max() == pytest.approx(np.abs(force).max())
    square = trapezoid(force**2, drive.time.values, axis=0) / (drive.time.values[-1] - drive.time.values[0])
    assert figures["RMS force"].value == pytest.approx(float(np.sqrt(square).max()))
    assert figures["peak speed"].value == pytest.approx(np.abs(legs.actuator_velocity.values).max())
    assert figures["peak power, all actuators"].value == pytest.approx(max(power.sum(axis=1).max(), 0.0))
    assert figures["peak braking power, all actuators"].value == pytest.approx(max(-power.sum(axis=1).min(), 0.0))
    low, high = hexapod["robot"].legs[0].links[0].limits.stroke
    q = legs.actuator_position.values
    room = min((q - low).min(), (high - q).min())
    assert figures["nearest to an end of its stroke"].value == pytest.approx(room)
    assert figures["nearest to an end of its stroke"].margin == pytest.approx(100 * room / (high - low))
    masses = [float(row[1]) for row in hexapod["robot"].bodies.rows]
    assert moving_mass(hexapod["robot"]) == pytest.approx(sum(masses))


def test_margins_are_those_of_the_tightest_actuator(hexapod: dict[str, Any]) -> None:
    robot = hexapod["robot"].with_parameters({"legs.rail.limits.force": 2.0 * hexapod["figures"]["peak force"].value})
    found, *_ = figures_of(robot, hexapod["motion"])
    assert {f.name: f for f in found}["peak force"].margin == pytest.approx(50.0)


def test_payload_is_a_heavier_platform(hexapod: dict[str, Any]) -> None:
    """At the origin it adds mass alone; beside it, the wrench of a point mass, added by hand."""
    robot, motion = hexapod["robot"], hexapod["motion"]
    heavy = robot.with_parameters({"platform.mass": robot.platform.mass + 2.5})
    loaded = robot.with_payload(2.5)
    wanted = fp.inverse_dynamics(heavy, motion).force.values
    assert np.allclose(fp.inverse_dynamics(loaded, motion).force.values, wanted, rtol=SAME, atol=0)
    c = np.array([0.05, -0.02, 0.1])
    aside = robot.with_payload(2.5, com=c)
    at = motion.rotation @ c
    w, dw = motion.angular_velocity, motion.angular_acceleration
    a = motion.acceleration + np.cross(dw, at) + np.cross(w, np.cross(w, at))
    pull = 2.5 * (robot.gravity - a)
    wrench = np.column_stack([pull, np.cross(at, pull)])
    wanted = fp.inverse_dynamics(robot, motion, wrench=wrench).force.values
    assert np.allclose(fp.inverse_dynamics(aside, motion).force.values, wanted, rtol=SAME, atol=SAME * np.abs(wanted).max())


def test_differences_are_in_percent_of_the_first() -> None:
    one, two = KeyFigure(name="a", value=-2.0, unit="N"), KeyFigure(name="a", value=-1.0, unit="N")
    assert difference(one, two) == "+50 %"
    assert difference(two, one) == "-100 %"
    assert difference(one, one) == "0 %"
    assert difference(one, None) == "-"
    assert compared([one], [KeyFigure(name="b", value=1.0, unit="N")]) == [["a", "-2 N", "-", "-"], ["b", "-", "1 N", "-"]]


def test_compare_command(run: Run, tmp_path: Path) -> None:
    result = run("compare", "hexapod", "hexapod", "--set", "platform.mass=7.966", "--out", "both.html")
    assert result.exit_code == 0, result.stderr
    assert "hexapod (second)" in result.stdout
    assert "moving mass" in result.stdout
    mass = moving_mass(fp.load("hexapod"))
    assert f"{100 * 3.983 / mass:+.3g} %" in result.stdout
    assert "Key figures" in (tmp_path / "both.html").read_text(encoding="utf-8")
    wrong = run("compare", "hexapod", "hexapod", "--out", "both.txt")
    assert wrong.exit_code == 1
    assert "ends in .html or .pdf" in wrong.stderr


def test_two_robots_are_compared_on_the_same_motion(run: Run) -> None:
    """The default motion is as large for a big robot as for a small one; frequencies with springs that nobody gave say so."""
    robots = fp.load("stewart-3-3"), fp.load("hexapod")
    motions, label = same_motions(robots, None, {})
    moved = [motion.position - robot.home.position for robot, motion in zip(robots, motions, strict=True)]
    assert np.allclose(*moved, rtol=0, atol=MOVED)
    assert np.ptp(moved[0][:, 2]) == pytest.approx(0.1 * min(r.characteristic_length for r in robots))
    result = run("compare", "stewart-3-3", "hexapod")
    assert f"motion: {label}" in result.stdout
    assert "by " in label
    assert "first frequency at home, stiffness assumed" in result.stdout
    given = run("compare", "stewart-3-3", "hexapod", "--stiffness", "1e6")
    assert "assumed" not in given.stdout
    unlike, words = same_motions((fp.load("planar-3-rrr"), fp.load("3-rrs-wrist")), None, {})
    assert "each robot its own" in words
    assert len(unlike) == 2


def test_strokes_have_no_digits_of_rounding() -> None:
    robot = fp.load("stewart-3-3")
    motion = followed_motion(robot, None, {})
    legs, drive = fp.inverse_kinematics(robot, motion, joints=False), fp.inverse_dynamics(robot, motion)
    _, rows = sizing_table(motion_sizing(robot, legs, drive))
    assert [row[1] for row in rows] == ["0"] * 6, "from home, where the coordinate is zero"
    assert number(-0.0) == "0"
    bodies = fp.load("gough-stewart-flexible").bodies
    assert bodies[0][2] == "(0, 0, 0)"


def test_angles_are_in_degrees_and_their_forces_are_torques() -> None:
    robot = fp.load("five-bar")
    motion = followed_motion(robot, None, {})
    legs, drive = fp.inverse_kinematics(robot, motion, joints=False), fp.inverse_dynamics(robot, motion)
    head, rows = sizing_table(motion_sizing(robot, legs, drive))
    assert head[1:6] == ["from [deg]", "to [deg]", "stroke limits [deg]", "peak rate [deg/s]", "peak torque [N m]"]
    first = legs.actuator_position.values[:, 0]
    assert rows[0][1:4] == [number(np.degrees(first.min())), number(np.degrees(first.max())), "-30 .. 210"]


def test_report_with_loads_and_author(run: Run, tmp_path: Path) -> None:
    result = run(
        "report",
        "hexapod",
        "--payload",
        "2,0,0,0.1",
        "--wrench",
        "0,0,-50,0,0,0",
        "--author",
        "Ada <b>",
        "--out",
        "a.html",
        "--tolerance",
        "legs.*.ball.on=20 um",
    )
    assert result.exit_code == 0, result.stderr
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "with a payload of 2 kg at (0, 0, 0.1) m" in text
    assert "under a load of (0, 0, -50, 0, 0, 0) N" in text
    assert "By Ada &lt;b&gt;, 20" in text
    assert "Tolerances: pose error" in text
    assert "Tighten first: legs." in text
    assert text.index("Key figures") < text.index("Warnings")
    refused = run("report", "hexapod", "--wrench", "1,2")
    assert refused.exit_code == 1
    assert "--wrench 1,2: expected 6 numbers" in refused.stderr
    refused = run("report", "hexapod", "--tolerance", "legs")
    assert refused.exit_code == 1
    assert "--tolerance legs: expected NAME=VALUE, e.g. --tolerance" in " ".join(refused.stderr.split())


def test_force_speed_figure_has_limits(hexapod: dict[str, Any]) -> None:
    robot = hexapod["robot"].with_parameters({"legs.rail.limits.force": 30.0, "legs.rail.limits.speed": 2.0})
    figure = force_speed_figure(robot, hexapod["legs"], hexapod["drive"])
    curves = [trace for trace in figure.data if trace.name and trace.name.startswith("actuator")]
    assert len(curves) == 6
    np.testing.assert_array_equal(curves[2].x, hexapod["legs"].actuator_velocity.values[:, 2])
    np.testing.assert_array_equal(curves[2].y, hexapod["drive"].force.values[:, 2])
    assert sorted({abs(s.y0) for s in figure.layout.shapes if s.y0 == s.y1}) == [30.0]
    assert sorted({abs(s.x0) for s in figure.layout.shapes if s.x0 == s.x1}) == [2.0]


def test_rounding_is_no_moment() -> None:
    """Moments of ball joints are zero; what is left of sums that cancel is not shown."""
    robot = fp.load("hexapod")
    drive = fp.inverse_dynamics(robot, followed_motion(robot, None, {}), reactions=True)
    balls = [row for row in joint_rows(drive, robot.characteristic_length) if row[0].endswith(".ball")]
    assert len(balls) == 6
    assert {row[3] for row in balls} == {"0"}


def test_forces_that_nothing_determines_are_no_zeros() -> None:
    """Rods share the load of a platform in many ways; joints of bodies that float bear nothing, to the last digit."""
    robot = fp.load("par4")
    drive = fp.inverse_dynamics(robot, fp.State(position=robot.home.position), reactions=True).expand_dims("time")
    rows = {row[0]: row for row in joint_rows(drive.assign_coords(time=[0.0]), robot.characteristic_length)}
    rods = [row for name, row in rows.items() if "elbow" in name]
    assert {cell for row in rods for cell in row[1:3]} == {"not determined"}
    assert {cell for name, row in rows.items() if ".float." in name for cell in row[1:3]} == {"0"}


@pytest.mark.parametrize(
    ("name", "axes"),
    [("hexapod", ("x", "y")), ("five-bar", ("x", "y")), ("3-rps", ("rx", "ry")), ("spherical-five-bar", ("rx", "ry"))],
)
def test_slices_lie_along_what_a_robot_chooses(name: str, axes: tuple[str, ...]) -> None:
    """A slice along components that follow from others has one pose: home."""
    robot = fp.load(name)
    assert slice_axes(robot) == axes
    area = fp.workspace(robot, grid={a: (*ends, 5) for a, ends in slice_window(robot, axes, 0.2).items()}, progress=False)
    assert float(area.valid.mean()) > 0.5


def test_a_report_is_printed(browser: Any, tmp_path: Path) -> None:
    from flexapod.views.reports.html import html_page, paragraph
    from flexapod.views.reports.pdf import write_pdf

    path = write_pdf(tmp_path / "page.pdf", html_page("A page", [("First", [paragraph("text")])]))
    assert path.read_bytes().startswith(b"%PDF-")
    assert path.stat().st_size > 3000


def test_a_printed_page_has_its_figures_in_space(browser: Any, tmp_path: Path) -> None:
    """A browser prints none of what WebGL has drawn: such a figure is a picture in the PDF, and not an empty one."""
    from flexapod.views.reports.html import html_page
    from flexapod.views.reports.pdf import write_pdf

    figure = fp.figures.robot_figure(fp.load("hexapod"))
    content = write_pdf(tmp_path / "page.pdf", html_page("A page", [("First", [figure])])).read_bytes()
    pictures = []
    for found in re.finditer(rb"<<(?:(?!endobj).)*?/Subtype /Image(?:(?!endobj).)*?>>\s*stream\r?\n", content, re.DOTALL):
        length = re.search(rb"/Length (\d+)", found[0])
        assert length is not None
        pictures.append(content[found.end() : found.end() + int(length[1])])
    shown = [zlib.decompress(data) for data in pictures if data[:1] == b"x"]
    assert any(len(data) > 500_000 and len(set(data[:: len(data) // 50_000])) > 50 for data in shown), "no picture of the robot"


def test_a_printed_report_is_whole(browser: Any) -> None:
    """On A4: no table is wider than the page, nothing scrolls, no buttons of figures."""
    robot = fp.load("hexapod")
    text, _ = robot_report(robot, followed_motion(robot, None, {}), "a small cosine from home")
    page = browser.new_page(viewport={"width": 688, "height": 1017})  # 210 x 297 mm less margins of 14 mm, 96 pixels per inch
    page.add_init_script(DRAWING_LATER)
    page.set_content(text, timeout=1000 * PATIENCE)
    page.emulate_media(media="print")
    wide = "() => [...document.querySelectorAll('table')].map((t) => t.getBoundingClientRect().right - document.body.clientWidth)"
    assert max(page.evaluate(wide)) <= 0.0
    assert page.locator(".modebar:visible").count() == 0
    scrolls = "() => [...document.querySelectorAll('.scroll')].filter((e) => getComputedStyle(e).overflowX !== 'visible').length"
    assert page.evaluate(scrolls) == 0
    page.emulate_media(media="screen")
    assert page.locator(".modebar").count() > 0
    assert page.evaluate(scrolls) > 0
    page.close()


LONG = "gough-stewart-flexible"
"""The robot of the longest title in the catalogue."""


def test_a_long_title_fits_the_printed_page(browser: Any) -> None:
    """On A4 the title of a robot's picture ends before the figure does, and above what it draws."""
    from flexapod.views.reports.html import html_page

    robot = fp.load(LONG)
    assert len(robot.name + robot.title) == max(len(r.name + r.title) for r in map(fp.load, fp.catalogue()))
    page = browser.new_page(viewport={"width": 688, "height": 1017})
    page.emulate_media(media="print")
    page.set_content(html_page("A page", [("First", [fp.figures.robot_figure(robot)])]), timeout=1000 * PATIENCE)
    title = page.locator(".gtitle").bounding_box(timeout=1000 * PATIENCE)
    figure, drawn = page.locator(".plotly-graph-div").bounding_box(), page.locator(".gl-container > div").bounding_box()
    page.close()
    assert title is not None
    assert figure is not None
    assert drawn is not None
    assert title["x"] + title["width"] <= figure["x"] + figure["width"]
    assert title["y"] >= figure["y"], "its first line is cut"
    assert title["y"] + title["height"] <= drawn["y"]


def test_no_chromium_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from flexapod.views.reports import pdf

    monkeypatch.setattr(pdf.shutil, "which", lambda name: None)
    with pytest.raises(fp.InputError, match="printed by Chromium, which is not installed"):
        pdf.write_pdf(tmp_path / "a.pdf", "")


def check_report(name: str) -> None:
    """With the loads of its joints; one that no motion has forces of has what is known at home."""
    robot = fp.load(name)
    page, warnings = robot_report(robot, followed_motion(robot, None, {}), "a small cosine from home")
    assert "moving mass" in page
    assert ("Joint loads" in page) != (name in AT_HOME)
    assert name not in AT_HOME or any("nothing along the motion" in text and AT_HOME[name] in text for text in warnings)


def test_a_theory_beyond_its_range_is_on_the_page() -> None:
    robot = fp.load("gough-stewart-flexible")
    motion = followed_motion(robot, None, {})
    page, warnings = robot_report(robot, motion, "a small cosine from home")
    (beyond,) = [text for text in warnings if "from half its thickness on a plate stiffens" in text and "first at" in text]
    assert beyond in fp.inverse_dynamics(robot, motion).attrs["validity"]
    assert "from half its thickness on a plate stiffens" in page
    assert any("half its thickness" in text for text in figures_of(robot, motion)[3])


@pytest.mark.parametrize("name", [pytest.param("delta-parallelograms", marks=pytest.mark.full), "hexapod-floating"])
def test_reports_of_inner_loops_and_of_a_floating_base(name: str) -> None:
    """Figures of inner loops are in the usual run with the H4, below."""
    check_report(name)


@pytest.mark.full
@pytest.mark.parametrize("name", REPORTED)
def test_every_robot_has_a_report(name: str) -> None:
    check_report(name)


def test_joint_angles_that_are_not_known_are_left_out() -> None:
    """Legs of the H4 meet at bodies that move on the platform: no deflection of their joints is computed."""
    robot = fp.load("h4")
    found, *_ = figures_of(robot, followed_motion(robot, None, {}))
    assert {f.name for f in found} >= {"peak torque", "moving mass"}
    assert "largest joint angle from home" not in {f.name for f in found}


def test_under_actuated_robots_are_compared(run: Run, tmp_path: Path) -> None:
    result = run("compare", "hexapod-floating", "hexapod-floating", "--out", "both.html")
    assert result.exit_code == 0, result.stderr
    assert "first frequency at home" in result.stdout
    assert "nothing along the motion" in result.stderr
