"""Command `frequencies`: natural frequencies, damping and mode shapes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import flexapod as fp
from flexapod.views.commands.dynamics import figure_of
from flexapod.views.commands.guard import command, note, working
from flexapod.views.commands.options import Changes, Json, MotionOptions, Out, Plot, RobotName, home_state, pairs, robot_of
from flexapod.views.output import as_json as dataset_json
from flexapod.views.output import check_places, number, print_json, print_table, write_data, write_plot


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(
        app, "frequencies",
        "flexapod frequencies gough-stewart-flexible --plot modes.html",
        "flexapod frequencies stewart-3-3 --stiffness 1e7",
    )(frequencies)  # fmt: skip


def frequencies(
    robot: RobotName,
    motion: Annotated[
        str | None, typer.Option("--motion", metavar="NAME|FILE", help="poses along a motion; left out: home")
    ] = None,
    option: MotionOptions = [],  # noqa: B006
    changes: Changes = [],  # noqa: B006
    stiffness: Annotated[
        float | None, typer.Option(help="of every actuator [N/m or N m/rad]; left out: actuators locked (flexible robots)")
    ] = None,
    free: Annotated[bool, typer.Option("--free", help="actuators free (forces held) instead of locked")] = False,
    prestress: Annotated[bool, typer.Option(help="about the equilibrium under gravity")] = True,
    modes: Annotated[int, typer.Option(help="number of modes shown")] = 10,
    out: Out = None,
    plot: Plot = None,
    figure: Annotated[str | None, typer.Option(help="what --plot draws: frequencies, or shapes (at home)")] = None,
    as_json: Json = False,
) -> None:
    """Natural frequencies, damping and mode shapes; rigid robots need the stiffness of their actuators."""
    from flexapod.views.chosen_motion import chosen_motion

    check_places(out, plot)
    figure = figure_of(figure, ("frequencies", "shapes"))
    if figure == "shapes" and motion is not None:
        raise fp.InputError("--figure shapes: belongs to one pose; leave out --motion")
    if free and stiffness is not None:
        raise fp.InputError("--free: leave it out where a stiffness is given")
    with working("natural frequencies ..."):
        found = robot_of(robot, changes)
        if stiffness is None and not free and not found.elastic_names:
            raise fp.InputError(f"{found.name} is rigid: nothing in it is elastic; give --stiffness of its actuators, e.g. 1e7")
        at: Any = home_state(found) if motion is None else chosen_motion(found, motion, pairs("--option", option))
        held: Any = "free" if free else "locked" if stiffness is None else [stiffness] * len(found.actuators)
        result = fp.natural_frequencies(found, at, actuators=held, prestress=prestress)
    if as_json:
        print_json(dataset_json(result))
    elif motion is None:
        rows = [
            [str(n), number(float(result.frequency.sel(mode=n)), 6), number(100 * float(result.damping.sel(mode=n)), 4),
             "" if bool(result.stable.sel(mode=n)) else "unstable: minus the growth rate over 2 pi"]
            for n in result.mode.values[:modes]
        ]  # fmt: skip
        print_table(f"{found.name} at home", ("mode", "frequency [Hz]", "damping [%]", "note"), rows)
    else:
        f = result.frequency
        rows = [
            [str(n), number(float(f.sel(mode=n).min()), 6), number(float(f.sel(mode=n).max()), 6)] for n in f.mode.values[:modes]
        ]
        print_table(f"{found.name} along {len(at)} poses", ("mode", "smallest [Hz]", "largest [Hz]"), rows)
    if out is not None:
        note(f"wrote {write_data(out, result)}")
    if plot is not None:
        from flexapod.views.plot_modes import frequency_figure, mode_figure

        title = f"Natural frequencies of {found.name}"
        few = [int(n) for n in result.mode.values[: min(modes, 6)]]
        drawn = mode_figure(found, result, few, at) if figure == "shapes" else frequency_figure(result, title)
        note(f"wrote {write_plot(plot, drawn, found.name)}")
