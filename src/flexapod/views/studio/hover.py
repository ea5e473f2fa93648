"""Values under the mouse in the three-dimensional view: the text of each leg and each arrow, and the lines where they are drawn.

The lists are written into a hidden element; the page's script finds the line nearest to the mouse and shows its text (page.js).
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING

import numpy as np

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.output import number
from flexapod.views.scene.arrows import HEAD, PIECES, ForceArrows
from flexapod.views.scene.shapes import Drawing
from flexapod.views.studio.numbers import Numbers
from flexapod.views.studio.tables import actuator_legs

if TYPE_CHECKING:
    from flexapod.views.studio.robot_view import RobotView


def hover_html(robot: fp.Robot, numbers: Numbers, shown: Drawing, arrows: ForceArrows | None, size: float) -> str:
    """The hidden element: texts with their lines (n, 2, 3) [m], in world axes.

    Args:
        shown: the robot as it is drawn.
        arrows: those of the actuator forces, None where they are not drawn.
        size: extent of the robot; places are given to a ten-thousandth of it.

    Checked by: tests/studio/test_studio_tables.py.
    """
    digits = int(4 - np.floor(np.log10(size)))
    items = [*_legs(robot, numbers, shown), *([] if arrows is None else _arrows(robot, numbers, arrows))]
    hovered = [{"text": text, "lines": np.round(lines, digits).tolist()} for text, lines in items if len(lines)]
    return f"<div id='hover-source' hidden data-items='{escape(json.dumps(hovered, separators=(',', ':')))}'></div>"


def _legs(robot: fp.Robot, numbers: Numbers, shown: Drawing) -> list[tuple[str, Array]]:
    lines = np.stack([np.array(shown.rods.start), np.array(shown.rods.end)], axis=1)
    long, own, drives = np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1) > 0.0, np.array(shown.rods.leg), actuator_legs(robot)
    found = []
    for k, leg in enumerate(robot.legs):
        lines_of_text = [f"leg {leg.name}"] + [_actuator(robot, numbers, i) for i, other in enumerate(drives) if other == k]
        if np.isfinite(numbers.type_1[k]):
            lines_of_text.append(f"distance to its singularity {number(float(numbers.type_1[k]), 3)}")
        found.append(("\n".join(lines_of_text), lines[long & (own == k)]))
    return found


def _arrows(robot: fp.Robot, numbers: Numbers, arrows: ForceArrows) -> list[tuple[str, Array]]:
    found, arc = [], 0
    for line, push, k in zip(arrows.points, arrows.push, arrows.actuator, strict=True):
        lines, rotations = line[None], robot.actuator_units[k] == "rad"
        if rotations:
            lines, arc = np.concatenate([lines, arrows.arcs[arc : arc + PIECES - HEAD]]), arc + PIECES - HEAD
        kind = "torque" if rotations else "push" if push else "pull"
        found.append((f"{robot.actuators[k]}: {kind} {_force(robot, numbers, int(k))}", lines))
    return found


def _actuator(robot: fp.Robot, numbers: Numbers, k: int) -> str:
    q, rotations = float(numbers.actuator[k]), robot.actuator_units[k] == "rad"
    place = f"{number(round(float(np.degrees(q)) if rotations else q, 9) + 0.0, 5)} {'deg' if rotations else 'm'}"
    low, high = (float(x) for x in numbers.stroke[k])
    known = np.isfinite([q, low, high]).all() and high > low
    part = f" ({100.0 * (q - low) / (high - low):.0f} % of its stroke)" if known else ""
    return f"{robot.actuators[k]}: {place}{part}, {_force(robot, numbers, k)}"


def _force(robot: fp.Robot, numbers: Numbers, k: int) -> str:
    return f"{number(float(numbers.force[k]) + 0.0, 5)} {'N m' if robot.actuator_units[k] == 'rad' else 'N'}"


def empty_hover() -> str:
    """Hover text with nothing to show."""
    return "<div id='hover-source' hidden data-items='[]'></div>"


def hover_of(robot: fp.Robot, numbers: Numbers, view: RobotView | None) -> str:
    """The hidden element for a robot as its `RobotView` draws it; nothing while it is not drawn, or in a row of others."""
    if view is None or view.last is None or not view.root.visible or len(numbers.force) != len(robot.actuators):
        return empty_hover()
    return hover_html(robot, numbers, view.last, view.drawn, view.size)
