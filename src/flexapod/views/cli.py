"""The command `flexapod`: sub-commands named after the verbs.

Exit codes: 0 done, 1 problem with the request or a file, 2 wrong usage, 130 interrupted. Results go to the output stream,
everything else to the error stream. Checked by: tests/views/test_cli_examples.py.
"""

from __future__ import annotations

from typing import Annotated

import typer

import flexapod as fp
from flexapod.views.commands import (
    bridges,
    code,
    describe,
    design,
    dynamics,
    generate,
    identify,
    kinematics,
    new,
    poses,
    reports,
    simulation,
    space,
    studio,
    vibration,
)

app = typer.Typer(
    name="flexapod",
    help="Kinematics, dynamics, simulation and design of parallel robots, rigid and flexible.",
    epilog="Start with: flexapod robots\n\nExit codes: 0 done, 1 problem with the request, 2 wrong usage, 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"flexapod {fp.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")] = False,
) -> None:
    """Kinematics, dynamics, simulation and design of parallel robots, rigid and flexible."""


GROUPS = (
    describe, kinematics, poses, space, dynamics, simulation, vibration, identify, design, code, generate, bridges, new,
    reports, studio,
)  # fmt: skip
for group in GROUPS:
    group.register(app)


def main() -> None:
    """Entry point of the command."""
    app()


if __name__ == "__main__":
    main()
