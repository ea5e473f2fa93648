"""Commands that write reports: `report` for a robot of one's own, `reproduce` for the papers."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from flexapod.views.commands.guard import bar, command, note, working
from flexapod.views.commands.options import (
    Changes,
    MotionName,
    MotionOptions,
    Payloads,
    RobotName,
    Slowed,
    numbers_of_option,
    pairs,
    robot_of,
)
from flexapod.views.output import check_place, print_table, print_text, write_text

Stiffness = Annotated[float | None, typer.Option(help="stiffness of every actuator [N/m or N m/rad], for natural frequencies")]


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    command(
        app, "report",
        "flexapod report hexapod --motion circle --option radius=0.05 --out report.html",
    )(report)  # fmt: skip
    command(app, "compare", "flexapod compare hexapod hexapod --set platform.mass=6")(compare)
    command(app, "reproduce", "flexapod reproduce --only staicu --out papers.html")(reproduce)


def report(
    robot: RobotName,
    motion: MotionName = None,
    *,
    option: MotionOptions = [],  # noqa: B006
    slowed: Slowed = 1.0,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    stiffness: Stiffness = None,
    measured: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="measured positions and forces, as for identify: adds identified parameters"),
    ] = None,
    tolerance: Annotated[
        list[str],
        typer.Option(
            "--tolerance", metavar="PATH=AMOUNT", help="adds the pose error at home due to tolerances; may be repeated"
        ),
    ] = [],  # noqa: B006
    wrench: Annotated[
        str | None, typer.Option(metavar="FX,FY,FZ,MX,MY,MZ", help="load on the platform [N, N m], world axes")
    ] = None,
    author: Annotated[str, typer.Option(help="author of the report")] = "",
    vibration: Annotated[
        bool,
        typer.Option(
            "--vibration", help="adds the residual vibration of a flexible robot with shapers and controllers; takes minutes"
        ),
    ] = False,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="the page to write: .html or .pdf")] = Path("report.html"),
) -> None:
    """One page about a robot and a motion: key figures, actuators to choose, joint loads, workspace, frequencies, warnings."""
    import flexapod as fp
    from flexapod.views.chosen_motion import followed_motion
    from flexapod.views.payload import payload_of
    from flexapod.views.reports.motion_report import robot_report

    _check(out, (".html", ".htm", ".pdf"))
    found = robot_of(robot, changes, payload)
    if vibration and not found.elastic_names:
        raise fp.InputError(f"--vibration: {found.name} is rigid and does not vibrate; leave it out, or load a flexible robot")
    loads = [f"with a payload of {payload_of(text)}" for text in payload]
    load = numbers_of_option("--wrench", wrench, 6)
    if load is not None:
        loads.append(f"under a load of ({', '.join(f'{x:g}' for x in load)}) N, N m at the platform's origin, world axes")
    with working(f"report on {found.name} ..."):
        moved = followed_motion(found, motion, pairs("--option", option), slowed)
        text, warnings = robot_report(
            found,
            moved,
            motion or "a small cosine from home",
            stiffness,
            wrench=load,
            author=author,
            loads=tuple(loads),
            measured=measured,
            tolerances=pairs("--tolerance", tolerance),
            vibration=vibration,
        )
        _write(out, text)
    for line in warnings:
        note(line, "warning: ")
    print_text(f"report: {out.resolve()}")


def reproduce(
    only: Annotated[list[str], typer.Option("--only", help="staicu, sinatra, kim, long or briot; may be repeated")] = [],  # noqa: B006
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="the page to write (.html)")] = Path("papers.html"),
) -> None:
    """Tables and figures of the five papers, computed now, beside what the papers say."""
    from flexapod.views.reports.reproduce import reproduce as make

    _check(out)
    start = time.perf_counter()
    text, summary = make(only, progress=bar())
    write_text(out, text)
    print_text(summary)
    print_text(f"{time.perf_counter() - start:.0f} s; report: {out.resolve()}")


def compare(
    first: RobotName,
    second: RobotName,
    motion: MotionName = None,
    *,
    option: MotionOptions = [],  # noqa: B006
    slowed: Slowed = 1.0,
    changes: Annotated[
        list[str], typer.Option("--set", metavar="PATH=VALUE", help="change a parameter of the second robot; may be repeated")
    ] = [],  # noqa: B006
    payload: Annotated[
        list[str], typer.Option("--payload", metavar="MASS [at X,Y,Z]", help="payload of the second robot; may be repeated")
    ] = [],  # noqa: B006
    stiffness: Stiffness = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="also write a page: .html or .pdf")] = None,
) -> None:
    """Two robots, or a robot and a variant of it, on the same motion: key figures side by side, differences in percent."""
    from flexapod.views.reports.compare import comparison_page, same_motions

    if out is not None:
        _check(out, (".html", ".htm", ".pdf"))
    robots = robot_of(first, [], []), robot_of(second, changes, payload)
    names = robots[0].name, robots[1].name
    if names[0] == names[1]:
        names = f"{names[0]} (first)", f"{names[1]} (second)"
    with working("comparing ..."):
        motions, label = same_motions(robots, motion, pairs("--option", option), slowed)
        text, rows, warnings = comparison_page(robots, names, motions, label, stiffness)
        if out is not None:
            _write(out, text)
    print_table(f"motion: {label}", ("key figure", *names, "difference"), rows)
    for line in warnings:
        note(line, "warning: ")
    if out is not None:
        print_text(f"comparison: {out.resolve()}")


def _write(out: Path, text: str) -> None:
    from flexapod.views.reports.pdf import write_pdf

    if out.suffix.lower() == ".pdf":
        write_pdf(out, text)
    else:
        write_text(out, text)


def _check(out: Path, known: tuple[str, ...] = (".html", ".htm")) -> None:
    import flexapod as fp

    if out.suffix.lower() not in known:
        raise fp.InputError(f"--out {out}: a report ends in {' or '.join(suffix for suffix in known if suffix != '.htm')}")
    check_place(out, "--out")
