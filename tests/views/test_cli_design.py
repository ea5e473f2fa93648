"""Commands of design: requests as YAML files, and what is wrong with them in one paragraph."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]

REQUEST = """
variables:
  platform.mass: [20, 100]
criteria: [mass]
count: 3
plan: grid
"""


def test_a_request_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "request.yaml").write_text(REQUEST)
    result = run("study", "stewart-3-3", "--request", "request.yaml", "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["reasons"] == {}
    assert "219" in result.stdout  # 60 kg and six legs of 26.5 kg


def test_bad_requests(run: Run, tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("- 1")
    (tmp_path / "extra.yaml").write_text(REQUEST + "colour: red\n")
    cases = {
        ("--vary", "platform.mass=20:100"): "criteria: missing; give --criterion",
        ("--vary", "platform.mass"): "expected PATH=VALUE",
        ("--request", "list.yaml"): "expected a mapping of arguments",
        ("--request", "extra.yaml"): "colour",
        ("--request", "none.yaml"): "there is no file",
    }
    for arguments, message in cases.items():
        result = run("study", "stewart-3-3", *arguments)
        assert result.exit_code == 1
        assert message in " ".join(result.stderr.split()), result.stderr
