"""Commands that list and describe: robots, motions, show, check, schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import flexapod as fp
from flexapod.errors import amount
from flexapod.views.catalogue_table import catalogue_rows
from flexapod.views.commands.guard import command, fail, note
from flexapod.views.commands.options import Changes, Json, Payloads, Plot, RobotName, robot_of
from flexapod.views.output import check_place, check_places, number, print_json, print_table, print_text, write_plot, write_text


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    command(app, "robots", "flexapod robots")(robots)
    command(app, "motions", "flexapod motions", "flexapod motions circle")(motions)
    command(app, "show", "flexapod show stewart-3-3", "flexapod show hexaslide --plot hexaslide.html")(show)
    command(app, "check", "flexapod new my-hexapod.yaml --kind 6-ups", "flexapod check my-hexapod.yaml")(check)
    command(app, "schema", "flexapod schema --out robot.schema.json")(schema)


def robots(as_json: Json = False) -> None:
    """List the robots that come with flexapod."""
    rows = catalogue_rows()
    if as_json:
        print_json(rows)
        return
    table = [[str(r["name"]), str(r["title"]), str(r["mobility"]), str(r["actuators"]), str(r["elastic"] or "")] for r in rows]
    print_table("", ("robot", "title", "mobility", "actuators", "elastic"), table, text=2)


def motions(
    name: Annotated[str | None, typer.Argument(metavar="[MOTION]", help="motion whose options are shown")] = None,
    as_json: Json = False,
) -> None:
    """List the named motions, or the options of one."""
    if name is not None:
        from flexapod.views.chosen_motion import place_text

        text = "\n".join(part for part in (fp.motions.describe_motion(name), OPTION_TEXT, place_text(name)) if part)
        print_json({"name": name, "text": text}) if as_json else print_text(text)
        return
    known = fp.motions.motion_names()
    if as_json:
        print_json(known)
    else:
        print_table("", ("motion", "what it does"), [[k, v] for k, v in known.items()], text=2)


OPTION_TEXT = "Give some of them as --option NAME=VALUE, in m, rad and s, e.g. --option samples=101; None means left out."


def show(
    robot: RobotName,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    parameters: Annotated[bool, typer.Option("--parameters", help="list every parameter with its path")] = False,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """What a robot is made of: legs, bodies, mobility, limits, parameters; with --plot a picture of it."""
    from flexapod.views.reports.remarks import remarks

    check_places(None, plot)
    found = robot_of(robot, changes, payload)
    for path, text in remarks(found).items():
        note(f"{path}: {text}", "warning: ")
    if plot is not None:
        from flexapod.views.plots.robot_figures import robot_figure

        note(f"wrote {write_plot(plot, robot_figure(found), found.name)}")
    limits = limit_rows(found)
    if as_json:
        print_json({
            "name": found.name, "title": found.title, "source": found.source, "notes": list(found.description.file.notes),
            "mobility": vars(found.mobility), "actuators": list(found.actuators), "units": list(found.actuator_units),
            "legs": [leg.name for leg in found.legs], "elastic": list(found.elastic_names), "gravity": found.gravity,
            "home": {"position": found.home.position, "rotation": found.home.rotation},
            "limits": [dict(zip(("actuator", *LIMITS), row, strict=True)) for row in limits],
            "parameters": {path: {"value": p.value, "unit": p.unit} for path, p in found.parameters.items()},
        })  # fmt: skip
        return
    print_text(str(found))
    if found.elastic_names:
        print_text(f"\nelastic coordinates: {', '.join(found.elastic_names)}")
    if found.description.file.notes:
        print_text("\nnotes:\n" + "\n".join(f"- {text}" for text in found.description.file.notes))
    print_text("")
    print_table("limits of the actuators", ("actuator", *LIMITS), limits)
    print_text("")
    if parameters:
        rows = [[path, value_text(p.value), p.unit, p.doc] for path, p in found.parameters.items()]
        print_table("parameters (--set PATH=VALUE)", ("path", "value", "unit", "what it is"), rows, text=4)
    else:
        few = [path for path in found.parameters if path.startswith(("platform.", "legs."))][:6]
        print_text(f"{len(found.parameters)} parameters, e.g. {', '.join(few)}; --parameters lists them all")


LIMITS = ("stroke", "speed", "force", "power")


def limit_rows(robot: fp.Robot) -> list[list[str]]:
    """Limits of each actuator as text, a dash where the file has none."""
    driven = [link for leg in robot.legs for link in leg.links if link.actuated]
    rows = []
    for name, unit, link in zip(robot.actuators, robot.actuator_units, driven, strict=True):
        push = "N" if unit == "m" else "N m"
        units = {"stroke": unit, "speed": f"{unit}/s", "force": push, "power": "W"}
        row = [name]
        for key in LIMITS:
            value = getattr(link.limits, key) if link.limits is not None else None
            row.append("-" if value is None else f"{value_text(value)} {units[key]}")
        rows.append(row)
    return rows


def value_text(value: object) -> str:
    """A number, or a vector in brackets."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(value_text(v) for v in value)}]"
    return number(float(value), 6) if isinstance(value, int | float) else str(value)


def check(file: Annotated[Path, typer.Argument(metavar="FILE", help="a robot file (.yaml)")], as_json: Json = False) -> None:
    """Check a robot file: lists every problem with line, path and a correction."""
    from flexapod.views.reports.remarks import remarks

    if not file.is_file() and str(file) in fp.catalogue():
        file = fp.catalogue()[str(file)]
    try:
        robot = fp.load(file) if file.is_file() else None
        if robot is None:
            fp.read_robot_file(file)
            return
        problems: list[dict[str, Any]] = []
    except fp.RobotFileError as error:
        if not as_json:
            count = len(error.problems)
            fail(f"{file} has {amount(count, 'problem')}:\n{error}")
        problems, robot = [vars(p) for p in error.problems], None
    odd = {} if robot is None else remarks(robot)
    warnings = [] if robot is None else [vars(w) for w in robot.description.warnings]
    warnings += [{"file": str(file), "path": path, "what": text, "severity": "warning"} for path, text in odd.items()]
    if as_json:
        print_json({"file": str(file), "ok": not problems, "problems": problems, "warnings": warnings})
        if problems:
            raise typer.Exit(1)
        return
    assert robot is not None
    home = fp.State.at_home(robot)
    at_home = () if robot.floats else fp.check_pose(robot, home).violations  # a pose does not say where those that float are
    print_text(f"{file}: a valid robot file: {robot.name}, {amount(len(robot.legs), 'leg')}, {robot.mobility}")
    for text in [
        *(f"at home: {violation}" for violation in at_home),
        *(f"{path}: {text}" for path, text in odd.items()),
    ]:
        note(text, "warning: ")


def schema(out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="file; default: print")] = None) -> None:
    """The JSON Schema of the robot file, for completion in editors."""
    text = json.dumps(fp.json_schema(), indent=1)
    if out is None:
        print(text)
        return
    check_place(out, "--out")
    write_text(out, text + "\n")
    note(f"wrote {out}")
