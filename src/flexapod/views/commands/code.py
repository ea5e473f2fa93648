"""Commands of kernels: C export, operation counts, benchmark, cache."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import flexapod as fp
from flexapod.views.commands.generate import Dependents, show_table
from flexapod.views.commands.guard import command, note, working
from flexapod.views.commands.options import Changes, Json, Payloads, RobotName, robot_of
from flexapod.views.output import number, print_json, print_table, print_text

if TYPE_CHECKING:
    pass

RIGID = {
    "inverse kinematics": "inverse_kinematics",
    "inverse dynamics, minimal": "minimal_inverse_dynamics",
    "inverse dynamics, link axes": "link_inverse_dynamics",
    "inverse dynamics, virtual power": "virtual_power",
    "inverse dynamics, virtual work": "virtual_work",
    "inverse dynamics, Newton-Euler": "newton_euler",
    "forward dynamics, minimal": "minimal_forward_dynamics",
    "forward dynamics, link axes": "link_forward_dynamics",
    "forward dynamics, virtual power": "forward_dynamics",
}
FLEXIBLE = {
    "inverse dynamics": "flexible_inverse_dynamics",
    "forward dynamics": "flexible_forward_dynamics",
    "mass matrix": "flexible_mass_matrix",
}
FLEXIBLE_LEGS = {
    "inverse dynamics": "elastic_inverse_dynamics",
    "forward dynamics": "elastic_forward_dynamics",
    "mass matrix and remaining forces": "elastic_mass_matrix",
}
OPTIONS: dict[str, dict[str, Any]] = {"newton_euler": {"friction": False}}


def register(app: typer.Typer) -> None:
    """Add the commands to the app."""
    command(
        app, "export-c",
        "flexapod export-c stewart-3-3 --out c-code",
        "flexapod export-c delta --quantity inverse_kinematics --out c-code",
    )(export_c)  # fmt: skip
    command(
        app, "count",
        "flexapod count stewart-3-3",
        "flexapod count five-bar --table --quantity inverse_dynamics",
    )(count)  # fmt: skip
    command(app, "bench", "flexapod bench stewart-3-3 --seconds 0.2")(bench)
    cache = typer.Typer(help="Compiled kernels on disk.", no_args_is_help=True)
    command(cache, "list", "flexapod cache list")(cache_list)
    command(cache, "clear", "flexapod cache clear")(cache_clear)
    app.add_typer(cache, name="cache")


def kernels_of(robot: fp.Robot) -> dict[str, Any]:
    """Kernels of a robot by label; an `InputError` in place of one that does not apply."""
    _check_size(robot)
    found: dict[str, Any] = {}
    kind = FLEXIBLE_LEGS if robot.moved_by == "actuators" else FLEXIBLE if robot.elastic_names else RIGID
    for label, quantity in kind.items():
        try:
            found[label] = fp.kernel(robot, quantity, **OPTIONS.get(quantity, {}))
        except fp.FlexapodError as error:
            found[label] = error
    return found


MANY = 24
"""Coordinates of flexible legs beyond which a whole model takes minutes to compile; verbs then solve term by term."""


def _check_size(robot: fp.Robot) -> None:
    count = len(robot.elastic_plan.columns) if robot.elastic_names and robot.moved_by == "actuators" else 0
    if count > MANY:
        raise fp.InputError(
            f"{robot.name} has {count} coordinates; its models are compiled whole for at most {MANY}. Use fewer elements per beam"
        )


def export_c(
    robot: RobotName,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="folder for the files, created if missing")],
    *,
    quantity: Annotated[
        str, typer.Option(help="quantity to export: inverse_dynamics, forward_dynamics, inverse_kinematics, ...")
    ] = "inverse_dynamics",
    friction: Annotated[bool, typer.Option(help="inverse and forward dynamics: friction as in the robot file, or none")] = True,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Write a kernel as portable C99 with header, self-test and README."""
    if out.exists() and not out.is_dir():
        raise fp.InputError(f"--out {out}: is a file; give a folder")
    with working("deriving and writing C ..."):
        found = robot_of(robot, changes, payload)
        _check_size(found)
        files = fp.export_c(found, quantity, out, **({} if friction else {"friction": False}))
    if as_json:
        print_json({role: str(path) for role, path in files.items()})
        return
    for role, path in files.items():
        print_text(f"{role:7} {path}")


def count(
    robot: RobotName,
    *,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    table: Annotated[
        bool, typer.Option("--table", help="table of every formulation, with constants as inputs and as numbers")
    ] = False,
    quantity: Annotated[list[str], typer.Option("--quantity", help="quantity of the table; may be repeated")] = [],  # noqa: B006
    dependents: Dependents = [],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Operations per sample of each formulation; what depends on parameters alone is counted apart."""
    if table:
        show_table(robot_of(robot, changes, payload), quantity, dependents, as_json)
        return
    if quantity or dependents:
        raise fp.InputError("--quantity and --dependents belong to --table")
    with working("deriving every formulation ..."):
        found = robot_of(robot, changes, payload)
        kernels = kernels_of(found)
    if as_json:
        print_json({
            label: {"refused": str(k)} if isinstance(k, Exception) else
            {"total": k.operations.total, **vars(k.operations), "setup": k.setup_operations.total}
            for label, k in kernels.items()
        })  # fmt: skip
        return
    rows = []
    for label, k in kernels.items():
        if isinstance(k, Exception):
            note(f"{label}: {k}")
            continue
        o = k.operations
        rows.append(
            [label, *(str(n) for n in (o.total, o.add, o.multiply, o.divide, o.root, o.function, k.setup_operations.total))]
        )
    head = ("quantity", "operations", "+/-", "x", "/", "roots", "functions", "once per parameter set")
    print_table(f"{found.name}: operations per sample", head, rows)


def bench(
    robot: RobotName,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    samples: Annotated[int, typer.Option(help="samples per batch", min=1)] = 4096,
    seconds: Annotated[float, typer.Option(help="time per kernel [s]", min=0.01)] = 1.0,
    as_json: Json = False,
) -> None:
    """Nanoseconds per sample of each kernel on this machine: best of many batches, one thread."""
    import numpy as np

    with working("compiling ..."):
        found = robot_of(robot, changes, payload)
        kernels = {label: k for label, k in kernels_of(found).items() if not isinstance(k, Exception)}
        inputs = _inputs(found, samples)
        times = {}
        for label, k in kernels.items():
            given = {i.name: inputs[i.name] if i.name in inputs else np.zeros((samples, *i.shape)) for i in k.signature.inputs}
            times[label] = _best(partial(k.batch, given), samples, seconds)
    if as_json:
        print_json({"samples": samples, "nanoseconds": times})
        return
    rows = [[label, number(ns, 4), str(kernels[label].operations.total)] for label, ns in times.items()]
    print_table(f"{found.name}, batches of {samples}", ("kernel", "ns per sample", "operations"), rows)


def _inputs(robot: fp.Robot, samples: int) -> dict[str, Any]:
    """Inputs of every kernel along a small motion."""
    import numpy as np

    from flexapod.views.chosen_motion import small_actuator_motion, small_motion

    if robot.moved_by == "actuators":
        driven = small_actuator_motion(robot, samples=max(samples, 8))
        legs = fp.inverse_kinematics(robot, driven, elastic="zero")
        found = {name: np.ascontiguousarray(legs[name].values[:samples]) for name in ("joint_position", "joint_velocity")}
        return found | {"actuator_acceleration": np.ascontiguousarray(driven.acceleration[:samples])}
    motion = small_motion(robot, samples=max(samples, 8))
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    inputs: dict[str, Any] = {name: np.ascontiguousarray(getattr(motion, name)[:samples]) for name in names}
    modes = len(robot.elastic_names)
    inputs |= {
        name: np.zeros((samples, modes)) for name in ("elastic", "elastic_velocity", "elastic_load", "elastic_acceleration")
    }
    inputs["wrench"] = np.zeros((samples, 6))
    inputs["force"] = np.zeros((samples, len(robot.actuators)))
    inputs["guess"] = np.tile(np.concatenate([leg.home for leg in robot.legs]), (samples, 1))
    return inputs


def _best(evaluate: Callable[[], object], samples: int, seconds: float) -> float:
    import time

    evaluate()
    best, stop = float("inf"), time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        evaluate()
        now = time.perf_counter()
        best = min(best, now - start)
        if now > stop:
            return 1e9 * best / samples


def cache_list(as_json: Json = False) -> None:
    """List the compiled kernels on disk."""
    entries = fp.cache_entries()
    if as_json:
        found = [{"name": e.name, "bytes": e.size, "path": str(e.path)} for e in entries]
        print_json({"folder": _cache_place(), "kernels": found})
        return
    names: dict[str, list[int]] = {}
    for entry in entries:
        names.setdefault(entry.name, []).append(entry.size)
    rows = [[name, str(len(sizes)), f"{sum(sizes) / 1e6:.2f}"] for name, sizes in sorted(names.items())]
    print_table("", ("kernel", "files", "MB"), rows)
    print_text(f"{len(entries)} kernels, {sum(e.size for e in entries) / 1e6:.1f} MB in {_cache_place()}")


def cache_clear() -> None:
    """Remove all compiled kernels from disk; they are compiled again when needed."""
    print_text(f"{fp.clear_cache()} kernels removed from {_cache_place()}")


def _cache_place() -> str:
    return str(fp.cache_folder() or "no folder: there is no home folder; FLEXAPOD_CACHE=FOLDER names one")
