"""Sections of the report about the space of poses: the workspace as a solid, singular poses, all poses of the same actuators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.output import number
from flexapod.views.plots.pose_figures import poses_figure
from flexapod.views.plots.space_figures import locus_figure, solid_figure
from flexapod.views.plots.workspace_figures import workspace_figure
from flexapod.views.reports.html import HtmlTable, bullets, paragraph
from flexapod.views.slice_axes import slice_axes, slice_name, slice_window, slice_words

RESOLUTION = 16
"""Cells of the solid along its longest side: a picture, with the error of its volume beside it."""

DIRECTIONS, STEP_TILT, MOST_TILT, TILTS = 36, 0.5, 120.0, 41
"""Directions in which tilt is looked for, step and largest tilt [deg], cells of the slice."""

CELLS, STEP = 14, 1 / 50
"""Grid of the search for singular curves, and the distance of their points over the window."""

MANY = 12
"""Joint coordinates of a robot with loops inside its legs above which its poses are left to a command of their own."""


def solid_blocks(robot: fp.Robot) -> list[Any]:
    """Surface of the constant-orientation workspace with its volume and largest ball."""
    if robot.description.file.plane:
        return []
    if any(form is None for form in robot.closed_forms):
        return [paragraph(f"Its surface takes some time to find: flexapod solid {robot.name} --plot solid.html", "note")]
    try:
        solid = fp.workspace_solid(robot, resolution=RESOLUTION)
        centre, radius = solid.ball()
    except fp.FlexapodError as error:
        return [paragraph(f"No solid: {error}", "note")]
    facts = [
        f"volume {number(solid.volume, 4)} ± {number(solid.volume_error, 2)} m³, "
        f"area {number(solid.area, 4)} ± {number(solid.area_error, 2)} m²",
        f"largest ball: radius {number(radius, 4)} m about ({', '.join(number(float(x), 4) for x in centre)}) m",
    ]
    return [bullets(facts), solid_figure(solid, "Constant-orientation workspace, home orientation")]


def orientation_blocks(robot: fp.Robot) -> list[Any]:
    """Rotations that the platform can reach at home's position: tilt in every direction, torsion, and a slice."""
    free = [a for a, moves in zip("xyz", rotations(robot), strict=True) if moves]
    if not free:
        rotates = any(k > 2 for k in robot.plan.platform_independent)
        label = ": where it tilts, its position follows; the slice above shows it." if rotates else "."
        return [paragraph(f"The platform cannot be rotated at home's position{label}", "note")]
    facts = [f"about {a}: from {number(-low, 3)} to {number(high, 3)} deg" for a in free for low, high in [reach_about(robot, a)]]
    blocks: list[Any] = [
        paragraph("At home's position, one rotation at a time, until the first limit or singular pose:"),
        bullets(facts),
    ]
    if {"x", "y"} <= set(free):
        tilts = tilt_reach(robot)
        text = (
            f"tilt: {number(float(tilts.min()), 3)} deg in every direction, {number(float(tilts.max()), 3)} deg in the best one"
        )
        most = float(np.radians(min(1.2 * tilts.max() + 2.0, MOST_TILT)))
        area = fp.workspace(robot, grid={"rx": (-most, most, TILTS), "ry": (-most, most, TILTS)}, progress=False)
        blocks += [bullets([text]), workspace_figure(area, "Orientations at home's position, no torsion")]
    return blocks


def rotations(robot: fp.Robot) -> list[bool]:
    """Whether the robot can make a small rotation about each of x, y, z at home by itself."""
    tried = np.radians(0.05) * np.eye(3)
    try:
        found = fp.inverse_kinematics(robot, _rotated(robot, tried), joints=False, on_error="mask")
    except fp.FlexapodError:
        return [False] * 3
    return [bool(x) for x in found.valid.values]


def reach_about(robot: fp.Robot, axis: str) -> tuple[float, float]:
    """Angle [deg] by which the platform rotates about a world axis to both sides."""
    direction = np.eye(3)["xyz".index(axis)]
    low, high = (float(_reach(robot, sign * direction[None])[0]) for sign in (-1.0, 1.0))
    return low, high


def tilt_reach(robot: fp.Robot) -> Array:
    """Angle [deg] by which the platform tilts in each of `DIRECTIONS` directions about horizontal axes.

    Checked by: tests/views/test_orientation_section.py.
    """
    angle = np.linspace(0.0, 2.0 * np.pi, DIRECTIONS, endpoint=False)
    return _reach(robot, np.column_stack([np.cos(angle), np.sin(angle), np.zeros(DIRECTIONS)]))


def _reach(robot: fp.Robot, axes: Array) -> Array:
    """Largest angle (k,) [deg] about unit vectors (k, 3) up to which every smaller one is within limits and none is singular."""
    steps = np.arange(1, int(MOST_TILT / STEP_TILT) + 1) * STEP_TILT
    rotvecs = np.radians(steps)[:, None] * axes[:, None]  # (k, steps, 3)
    at = _rotated(robot, rotvecs.reshape(-1, 3))
    valid = (fp.check_pose(robot, at).margins.valid.values & ~_beyond(robot, at)).reshape(len(axes), -1)
    first = np.where(valid.all(axis=1), len(steps), np.argmin(valid, axis=1))
    return np.concatenate([[0.0], steps])[first]


def _beyond(robot: fp.Robot, at: fp.State) -> NDArray[np.bool_]:
    """Poses at a singular pose or on its other side; with redundant actuators no side is known, and none is called so."""
    try:
        side = fp.singularities(robot, at, on_error="mask").side.values
    except fp.FlexapodError:
        return np.zeros(len(at.position), dtype=bool)
    return np.asarray(side < 0.5)


def _rotated(robot: fp.Robot, rotvec: Array) -> fp.State:
    rotated = fp.motions.rotvec_rotation(rotvec) @ robot.home.rotation
    return fp.State(position=np.tile(robot.home.position, (len(rotated), 1)), rotation=rotated)


def singular_blocks(robot: fp.Robot) -> list[Any]:
    """Distances of home from singular poses, and the singular curves of a slice through home."""
    try:
        home = fp.singularities(robot, fp.State.at_home(robot))
    except fp.FlexapodError as error:
        return [paragraph(f"Not known: {error}", "note")]
    rows = [["type 1 (a leg cannot follow)", number(float(home["type_1"].min()), 4)],
            ["type 2 (the actuators do not hold the platform)", number(float(home["type_2"]), 4)]]  # fmt: skip
    if robot.plan.constraints:
        rows.append(["constraint (the legs do not hold the platform)", number(float(home["constraint"]), 4)])
    table = HtmlTable(head=("distance of home, 0 to 1", "value"), rows=rows)
    return [paragraph(str(home["text"].values)), table, *_locus(robot)]


def _locus(robot: fp.Robot) -> list[Any]:
    axes = slice_axes(robot)
    if len(axes) < 2:
        return []
    try:
        locus = fp.singularity_locus(robot, slice_window(robot, axes), cells=CELLS, step=STEP)
    except fp.FlexapodError as error:
        return [paragraph(f"No singular curves: {error}", "note")]
    plane = slice_name(axes)
    within = f"{slice_words(robot, axes)} on the slice {plane}"
    within += " at home's orientation" if all(a in "xyz" for a in axes) else ""
    if not locus.curves:
        return [paragraph(f"No type 2 singularity was found {within}.")]
    many = f"{len(locus.curves)} curve{'s' * (len(locus.curves) > 1)} of type 2 singular poses {within}."
    return [paragraph(many), locus_figure(locus, f"Singular poses on the slice {plane} through home")]


def pose_blocks(robot: fp.Robot) -> list[Any]:
    """All poses that the actuator coordinates of home allow."""
    q = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    if any(leg.cuts for leg in robot.legs) and sum(len(leg.home) for leg in robot.legs) > MANY:
        return [paragraph(f"They take some minutes to find: flexapod poses {robot.name} --plot poses.html", "note")]
    try:
        modes = fp.assembly_modes(robot, q, certify=True)
    except fp.FlexapodError as error:
        return [paragraph(f"Not listed: {error}", "note")]
    count, found = int(modes["count"]), str(modes["completeness"].values)
    lead = f"The actuator coordinates of home allow {count} pose{'s' * (count != 1)} (list complete: {found}). "
    lead += f"{modes['detail'].values}."
    return [paragraph(lead), poses_figure(robot, modes)]
