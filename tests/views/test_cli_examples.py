"""Every example that a command's help shows is shown whole, and works when pasted, in order, in an empty folder."""

import shlex
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import flexapod as fp
from flexapod.views.commands.guard import EXAMPLES

Run = Callable[..., Any]

CACHE = {"list", "clear"}
SLOW_SIDE_EFFECT = {"clear"}
"""Empties the cache in memory too: run with a cache of its own."""

WRITES = {"--out", "--plot"}


def measured() -> str:
    """The one file that no command writes: what somebody has measured."""
    robot = fp.load("stewart-3-3")
    at = fp.State(position=robot.home.position + 0.2 * np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 1, 0]]))
    readings = fp.inverse_kinematics(robot.with_parameters({"legs.A.slide.zero": 5.001}), at).actuator_position.values
    data = {"actuator_position": readings.tolist(), "position": at.position.tolist()}
    return str(yaml.safe_dump({"measurements": data, "parameters": ["legs.A.slide.zero"]}))


def words(command: str) -> list[str]:
    return ["cache", command] if command in CACHE else [command]


def test_every_command_has_examples() -> None:
    assert set(EXAMPLES) >= {
        "robots", "motions", "show", "check", "schema", "kinematics", "poses", "workspace", "inverse-dynamics", "simulate",
        "frequencies", "export-c", "count", "bench", "new", "report", "reproduce", "list", "clear",
    }  # fmt: skip
    assert all(EXAMPLES.values())


@pytest.mark.parametrize("command", list(EXAMPLES))
def test_help_shows_the_examples_on_one_line(run: Run, wide: Callable[[int], None], command: str) -> None:
    wide(80)
    result = run(*words(command), "--help")
    assert result.exit_code == 0
    lines = [line.strip() for line in result.stdout.splitlines()]
    for example in EXAMPLES[command]:
        assert example in lines
    assert "Exit codes: 0 done, 1 problem with the request, 2 wrong usage, 130" in result.stdout


@pytest.mark.parametrize("command", [name for name in EXAMPLES if name not in SLOW_SIDE_EFFECT])
def test_examples_work(run: Run, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if command in CACHE:  # what other tests compiled takes long to read
        monkeypatch.setenv("FLEXAPOD_CACHE", str(tmp_path / "cache"))
    if command == "calibrate":
        (tmp_path / "measured.yaml").write_text(measured())
    for example in EXAMPLES[command]:
        parts = shlex.split(example)
        assert parts[0] == "flexapod"
        result = run(*parts[1:])
        assert result.exit_code == 0, f"{example}\n{result.stdout}{result.stderr}"
        for option, value in pairwise(parts):
            if option in WRITES:
                assert (tmp_path / value).exists()
    assert not [p.name for p in tmp_path.iterdir() if p.name.startswith(".")], "temporary files are left"


ONE_BY_ONE = """import sys
from typer.testing import CliRunner
from flexapod.views.cli import app
for command in sys.argv[1:]:
    print(CliRunner().invoke(app, command.split(), catch_exceptions=False).stdout, end="\\f")
"""
"""Commands of one process that has the cache for itself."""


def test_clearing_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXAPOD_CACHE", str(tmp_path))
    commands = ["kinematics five-bar", "cache list", "cache clear", "cache list"]
    done = subprocess.run([sys.executable, "-c", ONE_BY_ONE, *commands], capture_output=True, text=True, check=True)
    _, before, cleared, after, _ = done.stdout.split("\f")
    assert "inverse_kinematics" in before
    assert "kernels removed" in cleared
    assert after.splitlines()[-1].startswith("0 kernels")
