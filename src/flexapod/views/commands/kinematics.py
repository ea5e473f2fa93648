"""Commands of kinematics: actuators along a motion, workspace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

import flexapod as fp
from flexapod.views.commands.guard import bar, command, note, working
from flexapod.views.commands.options import (
    Changes,
    Json,
    Mask,
    MotionName,
    MotionOptions,
    Out,
    Payloads,
    Plot,
    RobotName,
    Slowed,
    pairs,
    refuse_payload,
    robot_of,
)
from flexapod.views.output import as_json as dataset_json
from flexapod.views.output import check_places, number, print_json, print_table, print_text, write_data, write_plot

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.arrays import Array


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    command(
        app, "kinematics",
        "flexapod kinematics stewart-3-3 --motion circle --option radius=0.1",
        "flexapod kinematics hexapod --plot strokes.html",
    )(kinematics)  # fmt: skip
    command(
        app, "workspace",
        "flexapod workspace stewart-3-3 --grid x=-2:2:41 --grid y=-2:2:41",
        "flexapod workspace hexaslide --grid x=-0.3:0.3:31 --plot slice.html",
    )(workspace)  # fmt: skip


def kinematics(
    robot: RobotName,
    motion: MotionName = None,
    *,
    option: MotionOptions = [],  # noqa: B006
    slowed: Slowed = 1.0,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    joints: Annotated[bool, typer.Option("--joints", help="also compute the passive joints")] = False,
    mask: Mask = False,
    out: Out = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Actuator coordinates, rates and accelerations along a motion."""
    from flexapod.views.chosen_motion import followed_motion

    check_places(out, plot)
    with working("inverse kinematics ..."):
        found = robot_of(robot, changes, payload)
        moved = followed_motion(found, motion, pairs("--option", option), slowed)
        legs = fp.inverse_kinematics(found, moved, joints=joints, on_error="mask" if mask else "raise")
        checked = fp.check_motion(found, moved)
    if "force_margin" not in checked.margins and not found.elastic_names:
        refuse_payload(payload, found, "coordinates and limits")
    if as_json:
        print_json(dataset_json(legs, violations=[str(v) for v in checked.violations]))
    else:
        q, v, a = (legs[f"actuator_{name}"].values for name in ("position", "velocity", "acceleration"))
        rows = [
            [name, unit, *(number(x) for x in _ends(q[:, k])), number(_peak(v[:, k])), number(_peak(a[:, k]))]
            for k, (name, unit) in enumerate(zip(found.actuators, found.actuator_units, strict=True))
        ]
        head = ("actuator", "unit", "smallest", "largest", "peak rate [/s]", "peak acceleration [/s^2]")
        print_table(f"{found.name}, {len(moved)} samples over {moved.time[-1] - moved.time[0]:g} s", head, rows, text=2)
        if joints:
            _print_joints(found, legs)
        for text in checked.violations:
            note(str(text), "warning: ")
    if out is not None:
        note(f"wrote {write_data(out, legs)}")
    if plot is not None:
        from flexapod.views.plots.time_figures import stroke_figure

        note(f"wrote {write_plot(plot, stroke_figure(found, legs), found.name)}")


def _print_joints(robot: fp.Robot, legs: xr.Dataset) -> None:
    """Ranges of the joint coordinates that no actuator drives, deformations included."""
    q, v = legs.joint_position.values, legs.joint_velocity.values
    rows = [
        [name, unit, *(number(x) for x in _ends(q[:, k])), number(_peak(v[:, k]))]
        for k, (name, unit) in enumerate(zip(robot.coordinates, robot.coordinate_units, strict=True))
        if k not in robot.driven
    ]
    title = "passive joints and deformations" if robot.moved_by == "actuators" else "passive joints"
    print_table(title, ("joint", "unit", "smallest", "largest", "peak rate [/s]"), rows, text=2)


def _ends(values: Array) -> tuple[float, float]:
    import numpy as np

    return float(np.nanmin(values)), float(np.nanmax(values))


def _peak(values: Array) -> float:
    import numpy as np

    return float(np.nanmax(np.abs(values)))


GRID = "--grid"


def axis_of(text: str) -> tuple[str, Any]:
    """`x=-0.2:0.2:41` (smallest, largest, count), `x=0.1` or `x=0,0.1,0.3`."""
    name, equals, value = text.partition("=")
    parts = value.split(":")
    try:
        if not equals or len(parts) not in (1, 3):
            raise ValueError
        if len(parts) == 3:
            return name, (float(parts[0]), float(parts[1]), int(parts[2]))
        return name, [float(x) for x in value.split(",")]
    except ValueError:
        raise fp.InputError(f"--grid {text}: expected AXIS=SMALLEST:LARGEST:COUNT, e.g. --grid x=-0.2:0.2:41") from None


def default_grid(robot: fp.Robot, count: int = 41) -> dict[str, Any]:
    """A slice through home: two components of the pose that the robot controls, one characteristic length or half a radian each
    way."""
    from flexapod.views.slice_axes import slice_axes, slice_window

    return {a: (*ends, count) for a, ends in slice_window(robot, slice_axes(robot)).items()}


def workspace(
    robot: RobotName,
    *,
    grid: Annotated[
        list[str], typer.Option("--grid", metavar="AXIS=A:B:COUNT", help="axis x, y, z [m] or rx, ry, rz [rad]; may be repeated")
    ] = [],  # noqa: B006
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    limits: Annotated[bool, typer.Option(help="apply the strokes and joint angle limits of the file")] = True,
    max_condition: Annotated[float | None, typer.Option(help="largest condition number of a valid pose")] = None,
    out: Out = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Poses that the robot can reach, with conditioning, or why not; by default over a slice through home."""
    check_places(out, plot)
    found = robot_of(robot, changes, payload)
    refuse_payload(payload, found, "the poses")
    axes = dict(axis_of(text) for text in grid) if grid else default_grid(found)
    with working("deriving the workspace's equations ..."):
        fp.workspace(found, grid={name: [float(_first(v))] for name, v in axes.items()}, limits=limits)
    area = fp.workspace(found, grid=axes, limits=limits, max_condition=max_condition, progress=bar())
    share = float(area.valid.mean())
    reasons = reason_counts(area)
    if as_json:
        print_json(dataset_json(area, valid_share=share, reasons=reasons))
    else:
        span = " x ".join(f"{name} ({area.sizes[name]})" for name in area.valid.dims)
        print_text(
            f"{found.name}: {int(area.valid.sum())} of {area.valid.size} poses over {span} can be reached ({100 * share:.1f} %)"
        )
        if reasons:
            print_table("why not", ("reason", "poses"), [[k, str(v)] for k, v in reasons.items()])
    if out is not None:
        note(f"wrote {write_data(out, area)}")
    if plot is not None:
        from flexapod.views.plots.workspace_figures import workspace_figure

        note(f"wrote {write_plot(plot, workspace_figure(area, f'Workspace of {found.name}'), found.name)}")


def _first(values: Sequence[float] | Array) -> float:
    return values[0]


def reason_counts(area: xr.Dataset) -> dict[str, int]:
    """Reasons why poses are out, most frequent first."""
    import numpy as np

    codes, counts = np.unique(area.reason.values, return_counts=True)
    order = np.argsort(-counts)
    return {str(area.reason_text.values[codes[i]]): int(counts[i]) for i in order if codes[i] != 0}
