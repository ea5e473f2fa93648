"""Help says everything that the source says: units in brackets are not swallowed as markup."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer
from test_cli_examples import words

from flexapod.views.cli import app
from flexapod.views.commands.guard import EXAMPLES

Run = Callable[..., Any]


def options(command: str) -> Iterator[str]:
    """Help texts of the options and arguments of a command, as written in the source."""
    found: Any = typer.main.get_command(app)
    for word in words(command):
        found = found.commands[word]
    for parameter in found.params:
        if getattr(parameter, "help", None) and parameter.name != "help":
            yield parameter.help.replace("\\[", "[")


def folded(text: str) -> str:
    """Text without frames and line ends, as one line."""
    return re.sub(r"\s+", " ", re.sub(r"[│╭╮╰╯─]", " ", text))


@pytest.mark.parametrize("command", list(EXAMPLES))
def test_every_option_is_reported_whole(run: Run, wide: Callable[[int], None], command: str) -> None:
    wide(240)
    shown = folded(run(*words(command), "--help").stdout)
    label = list(options(command))
    missing = [text for text in label if text not in shown]
    assert not missing, missing


def test_files_of_motions_are_named() -> None:
    assert any(".csv, .parquet or .mat file" in text for text in options("simulate"))


def test_units_are_among_them() -> None:
    assert any("[m]" in text for text in options("new"))
    assert any("[s]" in text for text in options("simulate"))
