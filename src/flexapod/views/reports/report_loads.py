"""Section of a report on loads: reactions, bearing loads, parts of the actuator forces; deflections of flexible legs.

Checked by: tests/views/test_report_parts.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import flexapod as fp
from flexapod.views.bearing_loads import HEAD as BEARING_HEAD
from flexapod.views.bearing_loads import bearing_loads, bearing_rows
from flexapod.views.output import number
from flexapod.views.plots.time_figures import contribution_figure
from flexapod.views.reports.html import HtmlTable, paragraph
from flexapod.views.sizing import JOINT_HEAD, joint_rows

if TYPE_CHECKING:
    import xarray as xr


def load_blocks(robot: fp.Robot, drive: xr.Dataset, motion: fp.Motion | fp.ActuatorMotion) -> list[Any]:
    """Reactions of the joints and parts of the forces; of flexible robots what bends and what the platform's joints bear."""
    if robot.elastic_indices:
        return _deflections(robot, drive)
    if "reaction_force" in drive:
        parts = contribution_figure(drive, "Parts of the actuator forces")
        text = "Exerted by the base-side body on the next one, at the joint centre, world axes; actuator force excluded."
        joints = fp.inverse_kinematics(robot, motion, on_error="mask").joint_position.values
        rows = bearing_rows(bearing_loads(robot, joints, drive), drive.time.values) if np.any(np.isfinite(joints)) else []
        own = [HtmlTable(head=BEARING_HEAD, rows=rows, caption="In the bearing's own axes")] if rows else []
        whole = HtmlTable(head=JOINT_HEAD, rows=joint_rows(drive, robot.characteristic_length))
        return [paragraph(text, "note"), whole, *own, parts]
    size = np.sqrt((drive.joint_force**2).sum("axis"))
    rows = [
        [str(leg), number(float(size.sel(leg=leg).max())), number(float(size.sel(leg=leg).mean()))] for leg in size.leg.values
    ]
    head = ("leg", "peak force at the platform joint [N]", "mean [N]")
    return [paragraph("Force of each leg on the flexible platform at its joint.", "note"), HtmlTable(head=head, rows=rows)]


def _deflections(robot: fp.Robot, drive: xr.Dataset) -> list[Any]:
    """Quasi-static deflection of flexible legs along the motion; reactions of their joints are not available."""
    bent = np.abs(drive.elastic.values).max(axis=0)
    rotating = [name.rsplit(".", 1)[-1].startswith("th") for name in robot.elastic_names]
    rows = [
        [name, number(float(x), 4), "rad" if rotations else "m"]
        for name, x, rotations in zip(robot.elastic_names, bent, rotating, strict=True)
    ]
    text = "Largest quasi-static deflection of the flexible links; reactions of joints are not computed for flexible legs."
    return [paragraph(text, "note"), HtmlTable(head=("elastic coordinate", "largest", "unit"), rows=rows)]
