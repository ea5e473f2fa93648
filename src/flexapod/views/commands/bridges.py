"""Commands `export` and `import`: the robot in other programs, and mechanisms of other programs as robot files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

import flexapod as fp
from flexapod.views.commands.guard import command, note, working
from flexapod.views.commands.options import Changes, Json, Payloads, RobotName, robot_of
from flexapod.views.output import check_place, print_json, print_text

FORMS = {".m": "matlab", ".hpp": "cpp", ".py": "python", ".c": "c"}
KINDS = (".fmu", ".xml", ".urdf", ".casadi", *FORMS)
DYNAMICS = ("inverse_dynamics", "forward_dynamics")
"""Quantities with friction: that of the robot file, unless --no-friction leaves it out."""
MECHANISMS = (".xml", ".urdf")


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
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="file to write: .fmu, .xml (MJCF), .urdf, .casadi, .m, .hpp, .py, .c")
    ],
    *,
    quantity: Annotated[
        str | None, typer.Option(help="forward_dynamics, inverse_dynamics, inverse_kinematics, ...; not for MJCF and URDF")
    ] = None,
    version: Annotated[str | None, typer.Option(help="FMI version of an FMU: 2.0 or 3.0 (default)")] = None,
    step: Annotated[float | None, typer.Option(help="inner step of an FMU's co-simulation [s]; default 1e-3")] = None,
    method: Annotated[str | None, typer.Option(help="integrator of an FMU's co-simulation: rk4, implicit or radau")] = None,
    wrench: Annotated[bool, typer.Option("--wrench", help="make a load on the platform an input of the FMU")] = False,
    general: Annotated[bool, typer.Option("--general", help="make every number a tunable parameter of the FMU")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="check the FMU with FMPy, which also takes steps (flexapod[fmu])")
    ] = False,
    copies: Annotated[int | None, typer.Option(help="MJCF: how often each loop is written; default: as needed", min=1)] = None,
    friction: Annotated[bool, typer.Option(help="inverse and forward dynamics: friction as in the robot file, or none")] = True,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Write a robot for another program; the suffix decides: FMU, MJCF, URDF, CasADi, MATLAB, C++, Python, C."""
    kind = out.suffix.lower()
    if kind not in KINDS:
        raise fp.InputError(f"--out {out}: the suffix decides about the form; expected {', '.join(KINDS)}")
    check_place(out, "--out")
    if kind in MECHANISMS and quantity is not None:
        raise fp.InputError(f"--quantity {quantity}: {out.name} describes the whole mechanism; leave it out")
    if not friction and (kind in MECHANISMS or quantity not in (None, *DYNAMICS)):
        what = out.name if kind in MECHANISMS else quantity
        raise fp.InputError(f"--no-friction: belongs to {' and '.join(DYNAMICS)}, not to {what}; leave it out")
    if copies is not None and kind != ".xml":
        raise fp.InputError(f"--copies: {out.name} is not an MJCF file (.xml); leave it out")
    given = {"version": version, "step": step, "method": method, "wrench": wrench, "general": general, "check": check}
    fmu = {name: value for name, value in given.items() if value is not None and value is not False}
    for name in fmu if kind != ".fmu" else ():
        raise fp.InputError(f"--{name}: {out.name} is not an FMU; leave it out")
    with working("writing ..."):
        files = _written(robot_of(robot, changes, payload), out, quantity, friction, fmu, copies)
    if as_json:
        print_json({role: str(path) for role, path in files.items()})
        return
    for path in files.values():
        print_text(str(path))


def _written(
    robot: fp.Robot, out: Path, quantity: str | None, friction: bool, fmu: dict[str, Any], copies: int | None
) -> dict[str, Path]:
    kind = out.suffix.lower()
    if kind == ".fmu":
        return {"fmu": fp.export_fmu(robot, out, quantity or "forward_dynamics", friction=friction, **fmu)}
    if kind == ".casadi":
        wanted = quantity or "forward_dynamics"
        own: dict[str, Any] = {} if friction else {"friction": False}
        fp.casadi_function(robot, wanted, parameters="named", **own).save(str(out))
        return {"casadi": out}
    if kind in MECHANISMS:
        robot = _existing(robot)
    if kind == ".xml":
        return {"mjcf": fp.export_mjcf(robot, out, copies=copies)}
    if kind == ".urdf":
        return fp.export_urdf(robot, out)
    form: Any = FORMS[kind]
    wanted = quantity or "inverse_dynamics"
    return {form: fp.generate(robot, wanted, form=form, friction="file" if friction else None).write(out)}


def _existing(robot: fp.Robot) -> fp.Robot:
    """The robot with physically possible bodies; reports where they differ from those of the file."""
    if robot.moved_by == "actuators" or robot.elastic_names:
        return robot
    found = fp.physical_equivalent(robot)
    if found is not robot:
        note(f"{robot.name}: bodies of the file are not physically possible (base parameters); equivalent ones are written")
    return found


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="MJCF (.xml), URDF (.urdf), a mesh (.bdf, .cdb) or a mass matrix")],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="robot file (.yaml) to write; finite elements: modes (.npz)")
    ],
    *,
    platform: Annotated[str | None, typer.Option(help="body that is the platform; default: the one that floats")] = None,
    loops: Annotated[Path | None, typer.Option(help="closing joints of a URDF; default: FILE.loops.yaml")] = None,
    source: Annotated[str, typer.Option(help="origin of the numbers, written into the robot file")] = "",
    units: Annotated[str, typer.Option(help="finite elements: units of length, mass and time, e.g. mm,t,s")] = "",
    interface: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=NODE", help="finite elements: interface by node number, or by position [m]: tip=0,0,0.1"
        )
    ] = [],  # noqa: B006
    modes: Annotated[int | None, typer.Option(help="finite elements: number of modes (or give --below)")] = None,
    below: Annotated[float | None, typer.Option(help="finite elements: modes up to this frequency [Hz]")] = None,
    method: Annotated[str | None, typer.Option(help="finite elements: normal (default), craig-bampton or residual")] = None,
    stiffness: Annotated[
        Path | None, typer.Option(help="finite elements: stiffness matrix; FILE is then the mass matrix")
    ] = None,
    nodes: Annotated[Path | None, typer.Option(help="finite elements: nodes of the matrices")] = None,
    shapes: Annotated[Path | None, typer.Option(help="finite elements: modes of the solver (.op2, .pch)")] = None,
    check: Annotated[Path | None, typer.Option(metavar="FILE", help="finite elements: the check page to write, .html")] = None,
) -> None:
    """Read a mechanism with closed loops as a robot file, or a finite element model as a file of modes."""
    check_place(out, "--out")
    if not file.is_file():
        raise fp.InputError(f"there is no file {file}; give MJCF (.xml), URDF (.urdf), a mesh (.bdf, .cdb) or a mass matrix")
    if file.suffix.lower() in (".yaml", ".yml"):
        raise fp.InputError(f"{file.name} is a robot file already, or the loops of a URDF (--loops); give MJCF, URDF or a mesh")
    elements = {"--units": units, "--interface": interface, "--modes": modes, "--below": below, "--method": method,
                "--stiffness": stiffness, "--nodes": nodes, "--shapes": shapes, "--check": check}  # fmt: skip
    if file.suffix.lower() in MECHANISMS:
        for option in (name for name, value in elements.items() if value not in (None, "", [])):
            raise fp.InputError(f"{option}: {file.name} is a mechanism of rigid bodies; leave it out")
        _import_mechanism(file, out, platform, loops, source)
        return
    for option in (name for name, value in (("--platform", platform), ("--loops", loops), ("--source", source)) if value):
        raise fp.InputError(f"{option}: {file.name} is a finite element model; leave it out")
    request = {"units": _units(units), "interfaces": _interfaces(interface), "modes": modes, "below": below, "shapes": shapes}
    _import_elements(file, out, stiffness, nodes, check, {**request, "method": method or "normal"})


def _import_elements(
    file: Path, out: Path, stiffness: Path | None, nodes: Path | None, check: Path | None, request: dict[str, Any]
) -> None:
    """A finite element model, a mesh or matrices, to a file of modes."""
    if out.suffix.lower() != ".npz":
        raise fp.InputError(f"--out {out}: a file of modes ends in .npz")
    if check is not None and check.suffix.lower() != ".html":
        raise fp.InputError(f"--check {check}: the check page ends in .html")
    if check is not None:
        check_place(check, "--check")
    if (stiffness is None) != (nodes is None):
        option = "--stiffness" if nodes is None else "--nodes"
        raise fp.InputError(
            f"{option}: --stiffness and --nodes belong together, with {file.name} as the mass matrix; a mesh needs neither"
        )
    files: dict[str, Any] = {"mesh": file} if stiffness is None else {"mass": file, "stiffness": stiffness, "nodes": nodes}
    found = fp.import_fe(**files, **request)
    fp.flexible.save_modes(found.body, out)
    print_text(found.check_page)
    for path in (out, *([found.write_check_page(check)] if check else [])):
        print_text(str(path))


def _units(text: str) -> dict[str, str]:
    words = [word.strip() for word in text.split(",")]
    if len(words) != 3 or not all(words):
        raise fp.InputError(f"--units {text!r}: say the units of length, mass and time of the file, e.g. --units mm,t,s")
    return dict(zip(("length", "mass", "time"), words, strict=True))


def _interfaces(given: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, place in map(_interface, given):
        if name in found:
            raise fp.InputError(f"--interface {name}: is given twice, {found[name]} and {place}; give each its own name")
        found[name] = place
    return found


def _interface(text: str) -> tuple[str, Any]:
    name, _, place = text.partition("=")
    try:
        numbers = [float(word) for word in place.split(",")]
    except ValueError:
        numbers = []
    if not name or len(numbers) not in (1, 3) or (len(numbers) == 1 and not numbers[0].is_integer()):
        raise fp.InputError(f"--interface {text!r}: expected NAME=NODE, or NAME=X,Y,Z in m, e.g. --interface tip=0,0,0.1")
    return name, int(numbers[0]) if len(numbers) == 1 else numbers


def _import_mechanism(file: Path, out: Path, platform: str | None, loops: Path | None, source: str) -> None:
    if out.suffix.lower() not in (".yaml", ".yml"):
        raise fp.InputError(f"--out {out}: a robot file ends in .yaml")
    found = fp.import_robot(file, platform=platform, loops=loops, source=source)
    with TemporaryDirectory() as folder:  # a file that cannot be loaded is not left behind
        draft = Path(folder) / out.name
        fp.write_robot_file(found, draft)
        robot = fp.load(draft)
    fp.write_robot_file(found, out)
    for line in (f"{robot!r}", *found.file.notes, str(out)):
        print_text(line)
