"""Command `frequencies`: natural frequencies, damping and mode shapes, at home, along a motion or over a grid of poses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

import flexapod as fp
from flexapod.views.commands.dynamics import figure_of
from flexapod.views.commands.guard import command, note, working
from flexapod.views.commands.kinematics import axis_of
from flexapod.views.commands.options import (
    Changes,
    Json,
    MotionOptions,
    Out,
    Payloads,
    Plot,
    RobotName,
    pairs,
    robot_of,
)
from flexapod.views.output import as_json as dataset_json
from flexapod.views.output import check_places, number, print_json, print_table, without_noise, write_data, write_plot

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import xarray as xr

    from flexapod.views.drives import Drives


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(
        app, "frequencies",
        "flexapod frequencies gough-stewart-flexible --plot modes.html",
        "flexapod frequencies stewart-3-3 --stiffness 1e7",
        "flexapod frequencies hexapod --grid x=-0.1:0.1:9 --grid y=-0.1:0.1:9",
    )(frequencies)  # fmt: skip


def frequencies(
    robot: RobotName,
    motion: Annotated[
        str | None, typer.Option("--motion", metavar="NAME|FILE", help="poses along a motion; default: home")
    ] = None,
    *,
    option: MotionOptions = [],  # noqa: B006
    grid: Annotated[
        list[str],
        typer.Option(
            "--grid", metavar="AXIS=A:B:COUNT", help="poses over a grid: x, y, z [m] or rx, ry, rz [rad]; may be repeated"
        ),
    ] = [],  # noqa: B006
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    stiffness: Annotated[
        float | None,
        typer.Option(
            help="stiffness of every actuator [N/m or N m/rad]; default: locked, an assumed one for rigid robots"
        )
    ] = None,
    free: Annotated[bool, typer.Option("--free", help="actuators free (forces held) instead of locked")] = False,
    prestress: Annotated[bool, typer.Option(help="include gravity and holding forces (equilibrium at the pose)")] = True,
    modes: Annotated[int, typer.Option(help="number of modes shown", min=1)] = 10,
    mode: Annotated[int | None, typer.Option(help="mode that --plot draws over a grid; default: the first", min=1)] = None,
    out: Out = None,
    plot: Plot = None,
    figure: Annotated[str | None, typer.Option(help="what --plot draws: frequencies, or shapes (at home)")] = None,
    as_json: Json = False,
) -> None:
    """Natural frequencies, damping and mode shapes, at home, along a motion or over a grid of poses."""
    from flexapod.views.drives import chosen_drives

    check_places(out, plot)
    figure = figure_of(figure, ("frequencies", "shapes"), plot)
    if option and motion is None:
        raise fp.InputError("--option: belongs to a motion; give --motion as well")
    if mode is not None and (plot is None or not grid):
        raise fp.InputError(f"--mode {mode}: chooses what --plot draws over a --grid; give both, or leave it out")
    if motion is not None and grid:
        raise fp.InputError("--grid: gives poses of its own; leave out --motion")
    if figure == "shapes" and (motion is not None or grid):
        raise fp.InputError("--figure shapes: belongs to one pose; leave out --motion and --grid")
    with working("natural frequencies ..."):
        found = robot_of(robot, changes, payload)
        drives = chosen_drives(found, stiffness, free=free)
        at, result = _computed(found, motion, pairs("--option", option), grid, drives, prestress)
    if mode is not None and mode > result.sizes["mode"]:
        raise fp.InputError(f"--mode {mode}: {found.name} has {result.sizes['mode']} modes")
    if as_json:
        print_json(dataset_json(result, drives=drives.label))
    elif motion is None and not grid:
        _print_home(found, result, drives.label, modes)
    else:
        _print_range(found, result, drives.label, modes)
    if drives.assumed:
        note(f"{found.name} is rigid; {drives.label}", "warning: ")
    if out is not None:
        note(f"wrote {write_data(out, result)}")
    if plot is not None:
        drawn = _figure(found, result, at, figure, modes, (mode or 1) if grid else None)
        note(f"wrote {write_plot(plot, drawn, found.name)}")


def _computed(
    robot: fp.Robot, motion: str | None, options: dict[str, object], grid: list[str], drives: Drives, prestress: bool
) -> tuple[Any, xr.Dataset]:
    """Poses and their frequencies."""
    from flexapod.views.chosen_motion import followed_motion
    from flexapod.views.frequency_map import frequency_map

    if grid:
        axes = dict(axis_of(text) for text in grid)
        return None, frequency_map(robot, axes, actuators=drives.actuators, prestress=prestress)
    at: Any = fp.State.at_home(robot) if motion is None else followed_motion(robot, motion, options)
    return at, fp.natural_frequencies(robot, at, actuators=drives.actuators, prestress=prestress)


def _print_home(robot: fp.Robot, result: xr.Dataset, drives: str, modes: int) -> None:
    damping = result.damping.copy(data=without_noise(100 * result.damping.values, 1.0))
    rows = [
        [str(n), number(float(result.frequency.sel(mode=n)), 6), number(float(damping.sel(mode=n)), 4),
         "" if bool(result.stable.sel(mode=n)) else "unstable: minus the growth rate over 2 pi"]
        for n in result.mode.values[:modes]
    ]  # fmt: skip
    print_table(f"{robot.name} at home, {drives}", ("mode", "frequency [Hz]", "damping [%]", "note"), rows)


def _print_range(robot: fp.Robot, result: xr.Dataset, drives: str, modes: int) -> None:
    f = result.frequency
    rows = [[str(n), number(float(f.sel(mode=n).min()), 6), number(float(f.sel(mode=n).max()), 6)] for n in f.mode.values[:modes]]
    poses = f.size // f.sizes["mode"]
    where = f"{int(result.valid.sum())} of {poses} poses" if "valid" in result else f"{poses} poses"
    print_table(f"{robot.name} at {where}, {drives}", ("mode", "smallest [Hz]", "largest [Hz]"), rows)


def _figure(robot: fp.Robot, result: xr.Dataset, at: fp.State, name: str, modes: int, mode: int | None) -> go.Figure:
    from flexapod.views.frequency_map import frequency_map_figure
    from flexapod.views.plots.mode_figures import frequency_figure, mode_figure

    title = f"Natural frequencies of {robot.name}"
    if mode is not None:
        return frequency_map_figure(result, title, mode)
    if name == "shapes":
        return mode_figure(robot, result, [int(n) for n in result.mode.values[: min(modes, 6)]], at)
    return frequency_figure(result, title)
