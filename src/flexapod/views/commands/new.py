"""Command `new`: a robot file from a few questions or options."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import flexapod as fp
from flexapod.views.commands.guard import command, note
from flexapod.views.output import check_place, print_text, write_text

QUESTIONS = {
    "base_radius": "Radius of the base joints (five-bar: half the distance of the motors) [m]",
    "platform_radius": "Radius of the platform joints [m]",
    "height": "Height of the platform at home [m]",
    "arm": "Length of the cranks [m]",
    "link": "Length of the legs [m]",
    "stroke": "Stroke of the actuators [m]",
    "mass": "Mass of the platform [kg]",
}


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(
        app, "new",
        "flexapod new my-robot.yaml --kind 6-ups --platform-radius 0.25",
        "flexapod new my-sliders.yaml --kind 6-pus --link 0.9",
        "flexapod new my-five-bar.yaml --kind five-bar --arm 0.3",
    )(new)  # fmt: skip


def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="the robot file to write (.yaml)")],
    *,
    kind: Annotated[
        str | None,
        typer.Option(
            help="6-ups, 6-pus (sliders), 6-rus (cranks), 3-rps, 3-prs, tricept, delta, par4, orthoglide, planar-3-rrr, "
            "planar-3-rpr, five-bar"
        ),
    ] = None,
    base_radius: Annotated[float | None, typer.Option(help="radius of the base joints or rails [m]")] = None,
    platform_radius: Annotated[float | None, typer.Option(help="radius of the platform joints [m]")] = None,
    pair: Annotated[float | None, typer.Option(help="distance of the two joints of a pair, as a part of the radius")] = None,
    height: Annotated[float | None, typer.Option(help="height of the platform at home [m]")] = None,
    arm: Annotated[float | None, typer.Option(help="length of cranks [m]")] = None,
    link: Annotated[float | None, typer.Option(help="length of the rods of constant length [m]")] = None,
    stroke: Annotated[float | None, typer.Option(help="stroke of the actuators [m]")] = None,
    mass: Annotated[float | None, typer.Option(help="mass of the platform [kg]")] = None,
    rod: Annotated[float | None, typer.Option(help="diameter of the legs [m]")] = None,
    plate: Annotated[float | None, typer.Option(help="make the platform a flexible steel plate of this thickness [m]")] = None,
    ask: Annotated[
        bool | None,
        typer.Option("--ask/--no-ask", help="ask for what is not given; by default at a terminal, without other options"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="replace the file if it exists")] = False,
) -> None:
    """Make a robot file that every other command accepts as it is, with its radii, lengths and angles as parameters."""
    from flexapod.views.new.robot_file import RobotSizes, new_text

    check_place(file, "FILE")
    if file.suffix.lower() not in (".yaml", ".yml"):
        raise fp.InputError(f"{file}: a robot file ends in .yaml")
    if file.exists() and not force:
        raise fp.InputError(f"{file} exists; --force replaces it")
    given: dict[str, Any] = {
        "kind": kind,
        "base_radius": base_radius,
        "platform_radius": platform_radius,
        "pair": pair,
        "height": height,
        "arm": arm,
        "link": link,
        "stroke": stroke,
        "mass": mass,
        "rod": rod,
        "plate": plate,
    }
    if ask if ask is not None else sys.stdin.isatty() and not any(given.values()):
        _ask(given)
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", file.stem).strip("-") or "robot"
    sizes = RobotSizes(name=name, **{key: value for key, value in given.items() if value is not None})
    write_text(file, new_text(sizes))
    note(f"wrote {file}")
    print_text(f"Try: flexapod show {file}\n     flexapod report {file} --out report.html")


def _ask(given: dict[str, object]) -> None:
    """Ask for the sizes that are not given, in place."""
    from flexapod.views.new.robot_file import MAKERS, usual_sizes

    if given["kind"] is None:
        given["kind"] = typer.prompt(f"Kind: {', '.join(MAKERS)}", default="6-ups", err=True)
    usual = usual_sizes(str(given["kind"]))
    for key, text in QUESTIONS.items():
        if key in usual and given[key] is None and not (key == "mass" and given["plate"]):
            given[key] = typer.prompt(text, default=usual[key], type=float, err=True)
