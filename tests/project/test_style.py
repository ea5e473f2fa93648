"""ruff over the whole project and strict types over the sources."""

import subprocess
import sys

from places import ROOT


def run(*command: str) -> None:
    result = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"


def test_ruff() -> None:
    run("ruff", "check", ".")


def test_strict_types() -> None:
    run("mypy", "--strict", "src")
