"""`flexapod compare`: two robots, or two variants, on the same motion: key figures side by side, with differences in percent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import flexapod as fp
from flexapod.views.chosen_motion import SMALL, can_follow, followed_motion, small_cosine
from flexapod.views.drives import chosen_drives
from flexapod.views.output import number
from flexapod.views.plots.force_speed import force_speed_figure
from flexapod.views.plots.robot_figures import robot_figure
from flexapod.views.reports.html import HtmlTable, html_page, paragraph
from flexapod.views.reports.key_figures import KeyFigure, home_figures, key_figures, validity
from flexapod.views.sizing import under_actuated

SAME = 1e-9
"""Differences below this, of the value, are rounding and shown as none."""


def same_motions(
    robots: tuple[fp.Robot, fp.Robot], name: str | None, options: Mapping[str, object], slowed: float = 1.0
) -> tuple[tuple[fp.Motion | fp.ActuatorMotion, fp.Motion | fp.ActuatorMotion], str]:
    """The motion of each robot from its own home, and the motion as text.

    Left out, it is a cosine that both can follow, sized for the smaller one; where there is none, each robot has its own small
    motion, and the text says so.
    """
    if name is None and not options and all(robot.moved_by == "platform" for robot in robots):
        size = SMALL * min(robot.characteristic_length for robot in robots)
        for axis in "zxy":
            first, second = (small_cosine(robot, axis, size) for robot in robots)
            if can_follow(robots[0], first) and can_follow(robots[1], second):
                label = f"a cosine along {axis} from home, by {number(2 * size, 4)} m and back"
                return (fp.motions.slowed(first, slowed), fp.motions.slowed(second, slowed)), label
    motions = followed_motion(robots[0], name, options, slowed), followed_motion(robots[1], name, options, slowed)
    return motions, name or "a small cosine from home, each robot its own: no cosine along x, y or z suits both"


def figures_of(
    robot: fp.Robot, motion: fp.Motion | fp.ActuatorMotion, stiffness: float | None = None
) -> tuple[list[KeyFigure], Any, Any, list[str]]:
    """Key figures of a robot on a motion, its legs and drives along it, and the limits that it violates.

    Legs and drives are None where the robot is under-actuated.
    """
    drives = chosen_drives(robot, stiffness)
    try:
        home = fp.State.at_home(robot)
        modes = fp.natural_frequencies(robot, home, actuators=drives.actuators)
    except fp.FlexapodError:
        modes = None
    try:
        drive = fp.inverse_dynamics(robot, motion)
    except fp.InputError as error:
        if not under_actuated(robot):
            raise
        return home_figures(robot, modes, drives), None, None, [f"nothing along the motion: {error}"]
    legs = fp.inverse_kinematics(robot, motion, joints=False)
    check = fp.check_motion(robot, motion)
    figures = key_figures(robot, legs, drive, check.margins, modes, drives)
    return figures, legs, drive, [*map(str, check.violations), *validity(drive)]


def compared(first: list[KeyFigure], second: list[KeyFigure]) -> list[list[str]]:
    """Rows: figure, first, second, difference in percent of the first; figures that only one has are shown with a dash.

    Checked by: tests/views/test_report_parts.py.
    """
    other = {(figure.name, figure.unit): figure for figure in second}
    rows = []
    for figure in first:
        beside = other.pop((figure.name, figure.unit), None)
        rows.append([figure.name, figure.text, "-" if beside is None else beside.text, difference(figure, beside)])
    return rows + [[figure.name, "-", figure.text, "-"] for figure in other.values()]


def difference(first: KeyFigure, second: KeyFigure | None) -> str:
    """Percent of the first value, with sign."""
    if second is None or not np.isfinite([first.value, second.value]).all() or first.value == 0.0:
        return "-"
    part = (second.value - first.value) / abs(first.value)
    return "0 %" if abs(part) < SAME else f"{100 * part:+.3g} %"


def comparison_page(robots: tuple[fp.Robot, fp.Robot], names: tuple[str, str], motions: Sequence[fp.Motion | fp.ActuatorMotion],
                    label: str, stiffness: float | None = None) -> tuple[str, list[list[str]], list[str]]:  # fmt: skip
    """The page, the rows of its table, and warnings.

    Args:
        names: of the two, for headings.
        motions: of each, from its own home.
        label: the motion as text.
    """
    found = [figures_of(robot, motion, stiffness) for robot, motion in zip(robots, motions, strict=True)]
    table = compared(found[0][0], found[1][0])
    warnings = [f"{name}: {text}" for name, (_, _, _, lines) in zip(names, found, strict=True) for text in lines]
    head = ("key figure", *names, f"{names[1]} against {names[0]}")
    both = [robot_figure(robot) for robot in robots]
    speed = []
    for figure, robot, name, (_, legs, drive, _) in zip(both, robots, names, found, strict=True):
        speed += [] if drive is None else [force_speed_figure(robot, legs, drive).update_layout(title={"text": name})]
        figure.update_layout(title={"text": name})
    sections: list[tuple[str, list[Any]]] = [
        ("Key figures", [HtmlTable(head=head, rows=table)]),
        ("Warnings", [paragraph(text, "warning") for text in warnings] or [paragraph("All limits are kept.", "good")]),
        ("Robots", both),
        ("Force and speed of the actuators", speed or [paragraph("Not known: see the warnings.", "note")]),
    ]
    span = motions[0].time[-1] - motions[0].time[0]
    lead = f"Motion: {label}, {span:g} s, from each robot's home. Made by flexapod {fp.__version__}; SI units."
    return html_page(f"{names[0]} and {names[1]}", sections, lead), table, warnings
