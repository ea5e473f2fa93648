"""What README and docs claim in passing holds: commands in running text, operation counts, statements about papers."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from places import DOCS, ROOT, pages

import flexapod as fp

INLINE = re.compile(r"`flexapod ([a-z][^`\n]*)`")
PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b|\.\.\.|<")
"""Words of a command that represent others."""

COUNTED = ("bench-6ups", "stewart-3-3", "hexapod", "hexaslide")


def inline_commands() -> list[tuple[str, str]]:
    """Commands in running text, with their page."""
    found = [(str(page.relative_to(ROOT)), text) for page in pages() for text in INLINE.findall(page.read_text(encoding="utf-8"))]
    return [(page, text) for page, text in found if not PLACEHOLDER.search(text)]


def problem(text: str) -> str:
    """Why the command line would not take a command; empty if it would. The command does not run."""
    from flexapod.views.cli import app

    group: Any = typer.main.get_command(app)
    name, *rest = shlex.split(text)
    if name not in group.commands:
        return f"no command {name}"
    command = group.commands[name]
    if not rest:  # a command by its name
        return ""
    try:
        command.make_context(name, list(rest))
    except Exception as error:  # typer brings its own copy of click, whose exceptions have no public name
        if not hasattr(error, "format_message"):
            raise
        return "" if type(error).__name__ == "MissingParameter" else str(error.format_message())
    return ""


def test_commands_in_running_text_exist() -> None:
    commands = inline_commands()
    assert len(commands) > 5
    wrong = [f"{page}: flexapod {text}: {why}" for page, text in commands if (why := problem(text))]
    assert not wrong, "\n".join(wrong)
    assert problem("reproduce long") != ""  # this check can fail
    assert problem("dance") == "no command dance"


def test_operations_of_the_minimal_equations() -> None:
    """README: 25 to 43 % of the operations of virtual power."""
    assert "needs 25 to 43 % of the operations of virtual power" in (ROOT / "README.md").read_text(encoding="utf-8")
    for name in COUNTED:
        robot = fp.load(name)
        minimal, power = (fp.kernel(robot, q).operations.total for q in ("minimal_inverse_dynamics", "virtual_power"))
        assert 0.25 < minimal / power < 0.43, name


def test_every_command_is_in_the_readme() -> None:
    from flexapod.views.cli import app

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = text[text.index("- **Command line.**") :].split("\n\n")[0]
    for command in typer.main.get_command(app).commands:  # type: ignore[attr-defined]
        assert f"`{command}`" in listed or f"`flexapod {command}`" in listed, command


@pytest.mark.parametrize("path", sorted((DOCS / "papers").glob("*.yaml")), ids=lambda p: p.stem)
def test_papers_promise_what_their_table_has(path: Path) -> None:
    """A page may say that every equation names a function and a test only if each does; none says "is implemented" flatly."""
    text = path.read_text(encoding="utf-8")
    assert "Every equation is implemented" not in text
    entries = yaml.safe_load(text)["equations"]
    if "Every numbered equation names a function and a test" in text:
        assert all(entry["functions"] and entry["tests"] for entry in entries)
