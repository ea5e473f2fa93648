"""Sections of the report about the space of poses: the workspace as a solid, singular poses, all poses of the same actuators."""

from __future__ import annotations

from typing import Any

import numpy as np

import flexapod as fp
from flexapod.views.html import HtmlTable, bullets, paragraph
from flexapod.views.output import number
from flexapod.views.plot_poses import poses_figure
from flexapod.views.plot_space import locus_figure, solid_figure

RESOLUTION = 16
"""Cells of the solid along its longest side: a picture, with the error of its volume beside it."""

CELLS, STEP = 14, 1 / 50
"""Grid of the search for singular curves, and the distance of their points over the window."""


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


def singular_blocks(robot: fp.Robot) -> list[Any]:
    """Distances of home from singular poses, and the singular curves of a slice through home."""
    try:
        home = fp.singularities(robot, fp.State(position=robot.home.position, rotation=robot.home.rotation))
    except fp.FlexapodError as error:
        return [paragraph(f"Not known: {error}", "note")]
    rows = [["type 1 (a leg cannot follow)", number(float(home["type_1"].min()), 4)],
            ["type 2 (the actuators do not hold the platform)", number(float(home["type_2"]), 4)]]  # fmt: skip
    if robot.plan.constraints:
        rows.append(["constraint (the legs do not hold the platform)", number(float(home["constraint"]), 4)])
    table = HtmlTable(head=("distance of home, 0 to 1", "value"), rows=rows)
    return [paragraph(str(home["text"].values)), table, *_locus(robot)]


def _locus(robot: fp.Robot) -> list[Any]:
    plane, size = robot.description.file.plane or "xy", robot.characteristic_length
    at = {a: float(robot.home.position["xyz".index(a)]) for a in plane}
    window = {a: (x - size, x + size) for a, x in at.items()}
    try:
        locus = fp.singularity_locus(robot, window, cells=CELLS, step=STEP)
    except fp.FlexapodError as error:
        return [paragraph(f"No singular curves: {error}", "note")]
    within = f"within {number(size, 4)} m of home on the slice {plane} at home's orientation"
    if not locus.curves:
        return [paragraph(f"No type 2 singularity was found {within}.")]
    many = f"{len(locus.curves)} curve{'s' * (len(locus.curves) > 1)} of type 2 singular poses {within}."
    return [paragraph(many), locus_figure(locus, f"Singular poses on the slice {plane} through home")]


def pose_blocks(robot: fp.Robot) -> list[Any]:
    """All poses that the actuator coordinates of home allow."""
    q = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    try:
        modes = fp.assembly_modes(robot, q, certify=True)
    except fp.FlexapodError as error:
        return [paragraph(f"Not listed: {error}", "note")]
    count, found = int(modes["count"]), str(modes["completeness"].values)
    lead = f"The actuator coordinates of home allow {count} pose{'s' * (count != 1)} (list complete: {found}). "
    lead += f"{modes['detail'].values}."
    return [paragraph(lead), poses_figure(robot, modes)]
