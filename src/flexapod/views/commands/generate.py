"""Command `generate`: a robot's model written out as Python, C, Markdown or LaTeX, with its operators counted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import flexapod as fp
from flexapod.views.commands.guard import command, note, working
from flexapod.views.commands.options import Changes, Json, Payloads, RobotName, robot_of
from flexapod.views.output import check_place, print_json, print_table, print_text, write_text

SUFFIXES = {".py": "python", ".c": "c", ".m": "matlab", ".hpp": "cpp", ".md": "markdown", ".tex": "latex"}

Dependents = Annotated[
    list[str],
    typer.Option("--dependents", metavar="NAME,NAME", help="solve the loops of flexible legs for these, e.g. q12,q22"),
]

DYNAMICS = ("inverse_dynamics", "forward_dynamics")
"""Quantities with friction where it is asked for."""


def register(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(
        app, "generate",
        "flexapod generate stewart-3-3 inverse_dynamics --out inverse.py",
        "flexapod generate hexapod inverse_kinematics --numbers --out legs.md",
    )(generate)  # fmt: skip


def generate(
    robot: RobotName,
    *,
    quantity: Annotated[
        str, typer.Argument(metavar="QUANTITY", help="inverse_dynamics, forward_dynamics, mass_matrix, inverse_kinematics, ...")
    ] = "inverse_dynamics",
    form: Annotated[
        str | None, typer.Option(help="python, c, matlab, cpp, markdown, latex; default: by the suffix of --out")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="file to write; default: print")] = None,
    numbers: Annotated[
        bool, typer.Option("--numbers", help="replace parameters by the robot's values and fold constants")
    ] = False,
    solve: Annotated[bool, typer.Option(help="solve for the accelerations, or stop at mass matrix and remaining forces")] = True,
    formulation: Annotated[
        str | None, typer.Option(help="formulation, e.g. virtual_power; default: the first that applies")
    ] = None,
    dependents: Dependents = [],  # noqa: B006
    friction: Annotated[bool, typer.Option("--friction", help="include the friction of the robot file")] = False,
    changes: Changes = [],  # noqa: B006
    payload: Payloads = [],  # noqa: B006
    as_json: Json = False,
) -> None:
    """Write a model as intermediate variables, with its operators counted."""
    if out is not None:
        check_place(out, "--out")
        if form is None and out.suffix.lower() not in SUFFIXES:
            raise fp.InputError(f"--out {out}: the suffix decides about the form; expected {', '.join(SUFFIXES)}, or give --form")
    if friction and quantity not in DYNAMICS:
        raise fp.InputError(f"--friction: belongs to {' and '.join(DYNAMICS)}, not to {quantity}; leave it out")
    chosen: Any = form or (SUFFIXES[out.suffix.lower()] if out is not None else "python")
    if len(dependents) > 1:
        raise fp.InputError("--dependents: give one list of names, e.g. q12,q22")
    with working("deriving and writing ..."):
        made = fp.generate(
            robot_of(robot, changes, payload), quantity, form=chosen, constants="numbers" if numbers else "inputs", solve=solve,
            formulation=formulation, dependents=names_of(dependents[0]) if dependents else (), friction=friction or None,
        )  # fmt: skip
    if out is not None:
        write_text(out, made.text_in(out))
    if as_json:
        print_json({
            "robot": made.robot, "quantity": made.quantity, "formulation": made.formulation, "form": made.form,
            "constants": made.constants, "operations": {**vars(made.operations), "total": made.operations.total},
            "setup": {**vars(made.setup_operations), "total": made.setup_operations.total},
            **({"file": str(out)} if out is not None else {"text": made.text}),
        })  # fmt: skip
        return
    if out is None:
        print(made.text)
        return
    print_text(f"{made.quantity} of {made.robot} by {made.formulation.replace('_', ' ')}: {made.operations}")
    if made.setup_operations.total:
        print_text(f"once per parameter set: {made.setup_operations}")
    print_text(str(out))


def names_of(text: str) -> tuple[str, ...]:
    """Names between commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def show_table(robot: fp.Robot, quantities: list[str], dependents: list[str], as_json: bool) -> None:
    """Every formulation and option of some quantities."""
    with working("deriving every formulation ..."):
        table = fp.count_table(robot, quantities or None, dependents=[names_of(text) for text in dependents])
    if as_json:
        print_json([
            {
                "quantity": r.quantity, "formulation": r.formulation, "solve": r.solve, "constants": r.constants,
                "dependents": list(r.dependents), "total": r.operations.total, **vars(r.operations), "setup": r.setup.total,
            }
            for r in table.rows
        ])  # fmt: skip
        return
    for what, why in table.refused:
        note(f"{what}: {why}")
    print_table(f"{robot.name}: operators per sample", table.columns, [list(row) for row in table.cells()])
