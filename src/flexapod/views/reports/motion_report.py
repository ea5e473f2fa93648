"""`flexapod report`: one self-contained page about a robot and a motion.

Checked by: tests/views/test_pages.py.
"""

from __future__ import annotations

import datetime
import platform as platform_module
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.chosen_motion import platform_of
from flexapod.views.drives import Drives, chosen_drives
from flexapod.views.output import number, without_noise
from flexapod.views.plots.force_speed import force_speed_figure
from flexapod.views.plots.mode_figures import frequency_figure, mode_figure
from flexapod.views.plots.robot_figures import robot_figure
from flexapod.views.plots.time_figures import PlotPanel, force_figure, stroke_figure, time_figure
from flexapod.views.plots.workspace_figures import workspace_figure
from flexapod.views.reports.html import HtmlTable, bullets, html_page, paragraph
from flexapod.views.reports.key_figures import HEAD, KeyFigure, home_figures, key_figures, validity
from flexapod.views.reports.key_figures import rows as key_rows
from flexapod.views.reports.remarks import remarks
from flexapod.views.reports.report_loads import load_blocks
from flexapod.views.reports.report_space import orientation_blocks, pose_blocks, singular_blocks, solid_blocks
from flexapod.views.sizing import motion_sizing, sizing_table, under_actuated
from flexapod.views.slice_axes import along_axes, slice_axes, slice_name, slice_window, slice_words

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr


Section = tuple[str, Sequence[Any]]
"""Heading and blocks."""

SLICE = 61
"""Poses along each axis of the workspace slice."""

WIDER = 4
"""Times that the slice is doubled at most until it shows a border of the workspace."""

SHOWN_MODES = 6


def robot_report(
    robot: fp.Robot,
    motion: fp.Motion | fp.ActuatorMotion,
    name: str,
    stiffness: float | Mapping[str, float] | None = None,
    *,
    wrench: ArrayLike | None = None,
    author: str = "",
    loads: tuple[str, ...] = (),
    measured: Any = None,
    tolerances: object = None,
    vibration: bool = False,
) -> tuple[str, list[str]]:
    """The page, and its warnings.

    Args:
        motion: of the platform, or of the actuators of a robot with flexible legs.
        name: of the motion, for headings.
        stiffness: of every actuator [N/m or N m/rad], or by unit, for natural frequencies; assumed for rigid robots if left out.
        wrench: load (6,) [N, N m] on the platform at its frame origin, world axes.
        author: whose report it is.
        loads: payload and wrench as text.
        measured: data as for `flexapod.identify`: the page then has the parameters that they say, and the suspicions about them.
        tolerances: as for `flexapod.tolerance`: the page then has the pose error at home and what it comes from.
        vibration: of a flexible robot: the page then has what shapers and controllers leave of the vibration after a move.
    """
    asked = _asked(robot, measured, tolerances)  # first: a mistake in these is reported before the long part
    drives, modes = _modes(robot, stiffness)
    figures, moved, violations = _along_motion(robot, motion, name, wrench, modes, drives)
    above = [] if isinstance(modes, str) else validity(modes)
    warnings = list(dict.fromkeys(str(w) for w in (*robot.description.warnings, *violations, *above)))
    warnings += [f"{path}: {text}" for path, text in remarks(robot).items()]
    if not isinstance(modes, str) and not bool(modes.stable.all()):
        unstable = ", ".join(str(n) for n in modes.mode.values[~modes.stable.values])
        warnings.append(f"at home the equilibrium under gravity is unstable in mode {unstable}")
    sections: list[Section] = [
        ("Key figures", [HtmlTable(head=HEAD, rows=key_rows(figures)), *(paragraph(text, "note") for text in loads)]),
        ("Warnings", _warnings(warnings)),
        ("Robot", _robot(robot)),
        *moved,
        ("Natural frequencies", _frequencies(robot, modes, drives)),
    ]
    if vibration:
        from flexapod.views.residual_vibration import vibration_blocks

        sections.append(("Residual vibration", vibration_blocks(robot)))
    sections += asked
    lead = f"{robot.title}. Motion: {name}, {motion.time[-1] - motion.time[0]:g} s. {_author_line(author)}; SI units."
    return html_page(f"{robot.name}: report", sections, lead), warnings


def _asked(robot: fp.Robot, measured: Any, tolerances: object) -> list[Section]:
    """Sections of tolerances and of measured data, where the reader gave some."""
    sections: list[Section] = []
    if tolerances:
        from flexapod.views.reports.design_page import design_sections

        found = fp.tolerance(robot, tolerances)
        sections += [(f"Tolerances: {head.lower()}", parts) for head, parts in design_sections(found)[0]]
    if measured is not None:
        from flexapod.views.reports.identification_page import identification_sections

        estimate = fp.identify(robot, measured, on_bad="report")
        sections += [(f"Measured: {head.lower()}", parts) for head, parts in identification_sections(estimate)]
    return sections


def _along_motion(
    robot: fp.Robot,
    motion: fp.Motion | fp.ActuatorMotion,
    name: str,
    wrench: ArrayLike | None,
    modes: xr.Dataset | str,
    drives: Drives | None,
) -> tuple[list[KeyFigure], list[Section], list[Any]]:
    """Key figures, sections and violations of the motion; where it is under-actuated or buckles at home, what is known there."""
    flexible = bool(robot.elastic_names)
    try:
        drive = fp.inverse_dynamics(
            robot, motion, reactions=not flexible, contributions=None if flexible else "frozen", wrench=wrench
        )  # fmt: skip
    except fp.FlexapodError as error:
        buckles = robot.elastic_indices and (isinstance(modes, str) or not bool(modes.stable.all()))
        if not (buckles or under_actuated(robot)):
            raise
        return home_figures(robot, modes, drives), [], [f"nothing along the motion: {error}"]
    legs = fp.inverse_kinematics(robot, motion, joints=False)
    check = fp.check_motion(robot, motion, wrench=wrench)
    platform = platform_of(robot, motion)
    head, rows = sizing_table(motion_sizing(robot, legs, drive))
    actuators = [HtmlTable(head=head, rows=rows), force_speed_figure(robot, legs, drive)]
    sections: list[Section] = [
        ("Motion", _motion(platform, name)),
        ("Actuators", [*actuators, stroke_figure(robot, legs), force_figure(robot, drive)]),
        ("Joint loads", load_blocks(robot, drive, motion)),
        ("Workspace", [*_workspace(robot, platform), *solid_blocks(robot)]),
        ("Orientation workspace", orientation_blocks(robot)),
        ("Singularities", singular_blocks(robot)),
        ("All poses", pose_blocks(robot)),
    ]
    return key_figures(robot, legs, drive, check.margins, modes, drives), sections, [*check.violations, *validity(drive)]


def _author_line(author: str) -> str:
    """Author, date and versions."""
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    versions = f"flexapod {fp.__version__}, Python {platform_module.python_version()}, NumPy {np.__version__}"
    return f"{f'By {author}, ' if author else 'Made on '}{today}, by {versions}"


def _warnings(warnings: list[str]) -> list[Any]:
    if not warnings:
        return [paragraph("All limits of the robot file are kept along this motion.", "good")]
    return [paragraph(text, "warning") for text in warnings]


def _robot(robot: fp.Robot) -> list[Any]:
    file = robot.description.file
    facts = [
        f"{robot.mobility}",
        f"gravity {np.round(robot.gravity, 6).tolist()} m/s², home at {np.round(robot.home.position, 6).tolist()} m",
    ]
    if robot.source:
        facts.append(f"numbers from: {robot.source}")
    tables = [
        HtmlTable(head=table.columns, rows=table.rows, caption=caption, text=text)
        for caption, table, text in (("Legs", robot.loops, 4), ("Bodies", robot.bodies, 1))
    ]
    return [bullets([*facts, *file.notes]), robot_figure(robot), *tables]


def _motion(motion: fp.Motion, name: str) -> list[Any]:
    import xarray as xr

    rotation = np.degrees(fp.motions.rotation_rotvec(motion.rotation[0].T @ motion.rotation))
    columns = {
        "position": (motion.position - motion.position[0], "m"),
        "rotation_vector": (rotation, "deg"),
        "speed": (motion.velocity, "m/s"),
    }
    data: Any = {key: (("time", "axis"), values, {"units": unit}) for key, (values, unit) in columns.items()}
    moved = xr.Dataset(data, coords={"time": motion.time, "axis": list("xyz")})
    panels = [PlotPanel(variable="position", label="displacement from start"), PlotPanel(variable="speed", label="velocity")]
    if np.abs(rotation).max() > 1e-9:
        panels.append(PlotPanel(variable="rotation_vector", label="rotation vector from start"))
    fastest = np.linalg.norm(motion.velocity, axis=1).max()
    hardest = np.linalg.norm(motion.acceleration, axis=1).max()
    first = ", ".join(number(x) for x in without_noise(motion.position[0], np.abs(motion.position).max()))
    facts = f"{len(motion)} samples from ({first}) m; "
    facts += f"largest speed {number(fastest, 4)} m/s, largest acceleration {number(hardest, 4)} m/s²."
    return [paragraph(facts), time_figure(moved, panels, f"Platform: {name}", "axis")]


def _slice(robot: fp.Robot, axes: tuple[str, ...], scale: float) -> Any:
    """Poses on a slice through home, `scale` times as wide as usual."""
    window = slice_window(robot, axes, scale)
    return fp.workspace(robot, grid={a: (*ends, SLICE) for a, ends in window.items()}, progress=False)


def _workspace(robot: fp.Robot, motion: fp.Motion) -> list[Any]:
    """A slice through home as wide as the robot, wider where all of it can be reached, with the motion drawn in."""
    axes, scale = slice_axes(robot), 1.0
    shifts = all(a in "xyz" for a in axes)
    if shifts:
        scale = max(scale, 1.3 * float(np.abs(motion.position - robot.home.position).max()) / robot.characteristic_length)
    try:
        area = _slice(robot, axes, scale)
        for _ in range(WIDER if shifts else 1):
            if bool(area.valid.all()):
                scale *= 2.0
                area = _slice(robot, axes, scale)
    except fp.FlexapodError as error:
        return [paragraph(f"No slice: {error}", "note")]
    rest = "home orientation" if shifts else "other components at home or as they follow"
    figure = workspace_figure(area, f"Slice {slice_name(axes)} through home, {rest}")
    if len(axes) == 2:
        _add_motion(figure, along_axes(robot, motion, axes), slice_window(robot, axes, scale))
    share = 100 * float(area.valid.mean())
    reported = f"{share:.0f} % of {area.valid.size} poses {slice_words(robot, axes, scale)} can be reached."
    return [paragraph(reported), figure]


def _add_motion(figure: go.Figure, way: Array, window: dict[str, tuple[float, float]]) -> None:
    """A motion (n, 2) in the components of a slice, drawn in the units of its figure; one that is at rest there as a point."""
    still = all(np.ptp(way[:, k]) < (high - low) / SLICE for k, (low, high) in enumerate(window.values()))
    x, y = (way[:, k] if a in "xyz" else np.degrees(way[:, k]) for k, a in enumerate(window))
    figure.add_scatter(
        x=x,
        y=y,
        name="the motion",
        mode="lines+markers" if still else "lines",
        line={"color": "#D55E00", "width": 3},
        marker={"size": 10},
    )


def _modes(robot: fp.Robot, stiffness: float | Mapping[str, float] | None) -> tuple[Drives | None, xr.Dataset | str]:
    """Natural frequencies at home, with what holds the actuators, or the reason why there are none."""
    try:
        drives = chosen_drives(robot, stiffness)
        return drives, fp.natural_frequencies(robot, fp.State.at_home(robot), actuators=drives.actuators)
    except fp.FlexapodError as error:
        return None, f"No frequencies: {error}"


def _frequencies(robot: fp.Robot, modes: xr.Dataset | str, drives: Drives | None) -> list[Any]:
    if isinstance(modes, str):
        return [paragraph(modes, "note")]
    rows = [
        [str(n), number(float(modes.frequency.sel(mode=n)), 6), number(100 * float(modes.damping.sel(mode=n)), 4),
         "yes" if bool(modes.stable.sel(mode=n)) else "no"]
        for n in modes.mode.values
    ]  # fmt: skip
    assert drives is not None
    reported = paragraph(
        f"At home, {drives.label}, about the equilibrium under gravity; where a mode is not stable: minus its growth rate / 2 pi."
    )
    table = HtmlTable(head=("mode", "frequency [Hz]", "damping [%]", "stable"), rows=rows)
    few = [int(n) for n in modes.mode.values[:SHOWN_MODES]]
    others = set(map(str, modes.coordinate.values)) - {*robot.actuators, *robot.elastic_names}
    if robot.moved_by == "actuators" and others:
        shapes = paragraph(f"Shapes are not drawn: modes move {', '.join(sorted(others))}, which no actuator holds.", "note")
    else:
        shapes = mode_figure(robot, modes, few, fp.State.at_home(robot))
    return [reported, table, frequency_figure(modes, "Natural frequencies at home"), shapes]
