"""Command of inverse dynamics: forces, powers and joint loads along a motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import flexapod as fp
from flexapod.views.commands.guard import command, note, working
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
    numbers_of_option,
    pairs,
    robot_of,
)
from flexapod.views.output import as_json as dataset_json
from flexapod.views.output import check_places, print_json, print_table, write_data, write_plot

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(
        app, "inverse-dynamics",
        "flexapod inverse-dynamics stewart-3-3 --motion staicu --out forces.csv",
        "flexapod inverse-dynamics hexapod --set platform.mass=6 --plot forces.html",
    )(inverse_dynamics)  # fmt: skip


def inverse_dynamics(
    robot: RobotName,
    motion: MotionName = None,
    *,
    option: MotionOptions = [],  # noqa: B006
    slowed: Slowed = 1.0,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    friction: Annotated[bool, typer.Option(help="include friction as in the robot file")] = True,
    reactions: Annotated[bool, typer.Option("--reactions", help="also compute the reactions of all joints")] = False,
    contributions: Annotated[
        bool, typer.Option("--contributions", help="also split the forces into gravity, inertia and friction")
    ] = False,
    shares: Annotated[bool, typer.Option("--shares", hidden=True)] = False,
    formulation: Annotated[
        str,
        typer.Option(
            help="formulation: auto, minimal, links, virtual_power, virtual_work, newton_euler or general; all agree to rounding"
        ),
    ] = "auto",
    wrench: Annotated[
        str | None, typer.Option(metavar="FX,FY,FZ,MX,MY,MZ", help="load on the platform [N, N m], world axes")
    ] = None,
    point: Annotated[str | None, typer.Option(help="point of the platform where the load acts, e.g. tool")] = None,
    mask: Mask = False,
    out: Out = None,
    plot: Plot = None,
    figure: Annotated[
        str | None, typer.Option(help="what --plot draws: forces, change (by --set), contributions, reactions, spectrum")
    ] = None,
    as_json: Json = False,
) -> None:
    """Forces and powers of the actuators along a motion, with a table for choosing them."""
    from flexapod.views.chosen_motion import followed_motion
    from flexapod.views.sizing import JOINT_HEAD, joint_rows, motion_sizing, sizing_table

    check_places(out, plot)
    if shares or figure == "shares":  # former names, for one version
        note("shares are called contributions now; the former name is removed in the next version", "warning: ")
        contributions, figure = contributions or shares, "contributions" if figure == "shares" else figure
    figure = figure_of(figure, ("forces", "change", "contributions", "reactions", "spectrum"), plot)
    if figure == "change" and not changes:
        raise fp.InputError("--figure change: draws the robot as in its file and as changed by --set; give --set as well")
    reactions, contributions = reactions or figure == "reactions", contributions or figure == "contributions"
    with working("inverse dynamics ..."):
        found = robot_of(robot, changes, payload)
        moved = followed_motion(found, motion, pairs("--option", option), slowed)
        chosen: Any = formulation
        load = numbers_of_option("--wrench", wrench, 6)
        drive = fp.inverse_dynamics(
            found, moved, friction=friction, reactions=reactions, contributions="frozen" if contributions else None,
            formulation=chosen, wrench=load, point=point, on_error="mask" if mask else "raise",
        )  # fmt: skip
        legs = fp.inverse_kinematics(found, moved, joints=False, on_error="mask" if mask else "raise")
        sizing = motion_sizing(found, legs, drive)
        at_origin = _at_origin(found, moved, load, point)
        warnings = [str(v) for v in fp.check_motion(found, moved, friction=friction, wrench=at_origin).violations]
    if as_json:
        print_json(dataset_json(drive, sizing=sizing, violations=warnings))
    else:
        title = (found.name, f"{len(moved)} samples", drive.attrs.get("formulation", ""))
        print_table(", ".join(word for word in title if word), *sizing_table(sizing))
        if reactions:
            print_table("joint loads", JOINT_HEAD, joint_rows(drive, found.characteristic_length))
        for text in warnings:
            note(text, "warning: ")
    if out is not None:
        note(f"wrote {write_data(out, drive)}")
    if plot is not None and figure == "change":
        from flexapod.views.plots.time_figures import change_figure

        options: Any = {"friction": friction, "formulation": chosen, "wrench": load, "point": point}
        before = fp.inverse_dynamics(fp.load(robot), moved, on_error="mask" if mask else "raise", **options)
        note(f"wrote {write_plot(plot, change_figure(found, before, drive, ', '.join(changes)), found.name)}")
    elif plot is not None:
        note(f"wrote {write_plot(plot, _drive_figure(found, drive, figure), found.name)}")


def _at_origin(robot: fp.Robot, motion: fp.Motion | fp.ActuatorMotion, load: list[float] | None, point: str | None) -> Any:
    """The load at the platform's origin for every sample: m + (R p) x f."""
    import numpy as np

    if load is None or point is None:
        return load
    from flexapod.views.chosen_motion import platform_of

    force, moment = np.array(load[:3]), np.array(load[3:])
    arm = platform_of(robot, motion).rotation @ np.asarray(robot.platform.points[point])
    return np.column_stack([np.tile(force, (len(motion), 1)), moment + np.cross(arm, force)])


def _drive_figure(robot: fp.Robot, drive: xr.Dataset, name: str) -> go.Figure:
    """The requested figure of inverse dynamics."""
    from flexapod.views.plots.time_figures import contribution_figure, force_figure, reaction_figure, spectrum_figure

    if name == "reactions":
        closing = [f"{leg.name}.{leg.closing.joint}" for leg in robot.legs]
        return reaction_figure(drive, closing, f"Loads of the platform joints of {robot.name}")
    if name == "contributions":
        return contribution_figure(drive, f"Parts of the forces of {robot.name}")
    if name == "spectrum":
        return spectrum_figure(drive, "force", f"Spectrum of the forces of {robot.name}")
    return force_figure(robot, drive)


def figure_of(name: str | None, known: tuple[str, ...], plot: Path | None) -> str:
    """A figure by name, the first if none is given; only --plot draws one."""
    if name is None:
        return known[0]
    if name not in known:
        raise fp.InputError(f"--figure {name}: expected {', '.join(known)}")
    if plot is None:
        raise fp.InputError(f"--figure {name}: chooses what --plot draws; give --plot FILE as well")
    return name
