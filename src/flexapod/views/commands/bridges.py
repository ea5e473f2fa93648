"""Commands `export` and `import`: the robot in other programs, and mechanisms of other programs as robot files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import flexapod as fp
from flexapod.views.commands.guard import command, note, working
from flexapod.views.commands.options import Changes, Json, Payloads, RobotName, robot_of
from flexapod.views.output import check_place, print_json, print_text

FORMS = {".m": "matlab", ".hpp": "cpp", ".py": "python", ".c": "c"}
KINDS = (".fmu", ".xml", ".urdf", *FORMS)


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    command(
        app, "export",
        "flexapod export five-bar --out five-bar.xml",
        "flexapod export stewart-3-3 --quantity inverse_dynamics --out inverse.fmu",
        "flexapod export stewart-3-3 --quantity inverse_kinematics --out legs.m",
    )(export)  # fmt: skip
    command(
        app, "import",
        "flexapod export five-bar --out five-bar.urdf",
        "flexapod import five-bar.urdf --platform platform --out imported.yaml",
    )(import_)  # fmt: skip


def export(
    robot: RobotName,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help=".fmu, .xml (MJCF), .urdf, .m, .hpp, .py, .c")],
    quantity: Annotated[
        str | None, typer.Option(help="forward_dynamics, inverse_dynamics, inverse_kinematics, ...; of MJCF and URDF: none")
    ] = None,
    version: Annotated[str, typer.Option(help="of an FMU: 2.0 or 3.0")] = "3.0",
    step: Annotated[float, typer.Option(help="inner step of an FMU's co-simulation [s]")] = 1e-3,
    general: Annotated[bool, typer.Option("--general", help="every number is a tunable parameter of the FMU")] = False,
    friction: Annotated[bool, typer.Option("--friction", help="of .m, .hpp, .py, .c: with the robot file's friction")] = False,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Write a robot for another program; the suffix decides: FMU, MJCF, URDF, MATLAB, C++, Python, C."""
    kind = out.suffix.lower()
    if kind not in KINDS:
        raise fp.InputError(f"--out {out}: the suffix decides about the form; expected {', '.join(KINDS)}")
    check_place(out, "--out")
    if kind in (".xml", ".urdf") and quantity is not None:
        raise fp.InputError(f"--quantity {quantity}: {out.name} describes the whole mechanism; leave it out")
    if friction and kind not in FORMS:
        raise fp.InputError(f"--friction: {out.name} has the friction of the robot file anyway; leave it out")
    with working("writing ..."):
        files = _written(robot_of(robot, changes, payload), kind, out, quantity, version, step, general, friction)
    if as_json:
        print_json({role: str(path) for role, path in files.items()})
        return
    for path in files.values():
        print_text(str(path))


def _written(
    robot: fp.Robot, kind: str, out: Path, quantity: str | None, version: Any, step: float, general: bool, friction: bool
) -> dict[str, Path]:
    if kind == ".fmu":
        path = fp.export_fmu(robot, out, quantity or "forward_dynamics", version=version, step=step, general=general)
        return {"fmu": path}
    if kind in (".xml", ".urdf"):
        robot = _existing(robot)
    if kind == ".xml":
        return {"mjcf": fp.export_mjcf(robot, out)}
    if kind == ".urdf":
        return fp.export_urdf(robot, out)
    form: Any = FORMS[kind]
    return {form: fp.generate(robot, quantity or "inverse_dynamics", form=form, friction=friction or None).write(out)}


def _existing(robot: fp.Robot) -> fp.Robot:
    """The robot with bodies that can exist; says so where they are other ones than the file's."""
    if robot.elastic_legs or robot.flexible_platform is not None:
        return robot
    found = fp.physical_equivalent(robot)
    if found is not robot:
        note(f"{robot.name}: bodies of the file cannot exist (base parameters); others with the same dynamics are written")
    return found


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="MJCF (.xml) or URDF (.urdf)")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="the robot file to write, .yaml")],
    platform: Annotated[str | None, typer.Option(help="body that is the platform; left out: the one that floats")] = None,
    loops: Annotated[Path | None, typer.Option(help="closing joints of a URDF; left out: FILE.loops.yaml")] = None,
    source: Annotated[str, typer.Option(help="where the numbers come from")] = "",
) -> None:
    """Read a mechanism with closed loops as a robot file."""
    check_place(out, "--out")
    if out.suffix.lower() not in (".yaml", ".yml"):
        raise fp.InputError(f"--out {out}: a robot file ends in .yaml")
    if not file.is_file():
        raise fp.InputError(f"there is no file {file}; give an MJCF (.xml) or URDF (.urdf) file")
    description = fp.import_robot(file, platform=platform, loops=loops, source=source)
    fp.write_robot_file(description, out)
    robot = fp.load(out)
    print_text(f"{robot!r}")
    print_text(str(out))
