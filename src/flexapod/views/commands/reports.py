"""Commands that write reports: `report` for a robot of one's own, `reproduce` for the papers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from flexapod.views.commands.guard import bar, command, note, working
from flexapod.views.commands.options import Changes, MotionName, MotionOptions, RobotName, Slowed, pairs, robot_of
from flexapod.views.output import check_place, print_text, write_text


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    command(
        app, "report",
        "flexapod report hexapod --motion circle --option radius=0.05 --out report.html",
    )(report)  # fmt: skip
    command(app, "reproduce", "flexapod reproduce --only staicu --out papers.html")(reproduce)


def report(
    robot: RobotName,
    motion: MotionName = None,
    option: MotionOptions = [],  # noqa: B006
    slowed: Slowed = 1.0,
    changes: Changes = [],  # noqa: B006
    stiffness: Annotated[float | None, typer.Option(help="of every actuator [N/m or N m/rad], for natural frequencies")] = None,
    measured: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="table of measured positions and forces, as for identify: adds what they say"),
    ] = None,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="the page to write (.html)")] = Path("report.html"),
) -> None:
    """One page about a robot and a motion: geometry, actuators to choose, joint loads, workspace, frequencies, warnings."""
    from flexapod.views.chosen_motion import followed_motion
    from flexapod.views.report import robot_report

    _check(out)
    found = robot_of(robot, changes)
    with working(f"report on {found.name} ..."):
        moved = followed_motion(found, motion, pairs("--option", option), slowed)
        text, warnings = robot_report(found, moved, motion or "a small cosine from home", stiffness, measured)
        write_text(out, text)
    for line in warnings:
        note(line, "warning: ")
    print_text(f"report: {out.resolve()}")


def reproduce(
    only: Annotated[list[str], typer.Option("--only", help="staicu, sinatra, kim, long or briot; may be repeated")] = [],  # noqa: B006
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="the page to write (.html)")] = Path("papers.html"),
) -> None:
    """Tables and figures of the five papers, computed now, beside what the papers say."""
    from flexapod.views.reproduce import reproduce as make

    _check(out)
    start = time.perf_counter()
    text, summary = make(only, progress=bar())
    write_text(out, text)
    print_text(summary)
    print_text(f"{time.perf_counter() - start:.0f} s; report: {out.resolve()}")


def _check(out: Path) -> None:
    import flexapod as fp

    if out.suffix.lower() not in (".html", ".htm"):
        raise fp.InputError(f"--out {out}: a report ends in .html")
    check_place(out, "--out")
