"""The command `generate` and the table of `count`: files, printed text, JSON, and errors in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flexapod.views.cli import app


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


@pytest.mark.parametrize(
    ("name", "start"), [("m.py", '"""\n'), ("m.c", "/*\n"), ("m.md", "# hexapod"), ("m.tex", "\\documentclass")]
)
def test_the_suffix_decides_about_the_form(tmp_path: Path, name: str, start: str) -> None:
    done = run("generate", "hexapod", "inverse_kinematics", "--numbers", "--out", str(tmp_path / name))
    assert done.exit_code == 0, done.output
    assert (tmp_path / name).read_text().startswith(start)
    assert "intermediate variables" in done.stdout


def test_printed_text_runs() -> None:
    done = run("generate", "hexapod", "inverse_kinematics")
    space: dict[str, Any] = {}
    exec(done.stdout, space)
    assert callable(space["inverse_kinematics"])


def test_json() -> None:
    found = json.loads(run("generate", "hexapod", "inverse_kinematics", "--json").stdout)
    assert found["operations"]["total"] == sum(found["operations"][k] for k in ("adds", "multiplies", "functions"))
    rows = json.loads(run("count", "hexapod", "--table", "--quantity", "inverse_kinematics", "--json").stdout)
    assert [r["constants"] for r in rows] == ["inputs", "numbers"]
    assert rows[0]["total"] == found["operations"]["total"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("generate", "hexapod", "--out", "model.txt"), "suffix decides about the form; expected .py, .c, .m, .hpp, .md, .tex"),
        (("generate", "hexapod", "speed"), "no model of 'speed'"),
        (("generate", "hexapod", "--form", "fortran"), "form: expected 'python' or 'c' or 'matlab' or 'cpp'"),
        (("generate", "hexapod", "--no-solve"), "solves no linear system"),
        (("generate", "hexapod", "--dependents", "a,b"), "has rigid legs"),
        (("count", "hexapod", "--quantity", "inverse_dynamics"), "--quantity and --dependents belong to --table"),
    ],
)
def test_errors(words: tuple[str, ...], message: str) -> None:
    done = run(*words)
    assert done.exit_code == 1
    assert message in " ".join(done.stderr.split())
