"""The ladder of examples: each short, each runs in an empty folder without a warning, prints and writes what it says. The first
runs as a process of its own, as a user starts it; the others in this one, which has everything loaded.
"""

import os
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
LONGEST = 60
"""Lines; an example that needs more shows two things."""


def name(path: Path) -> str:
    return path.stem


def test_the_ladder_has_no_gaps() -> None:
    assert [path.stem[:2] for path in EXAMPLES] == [f"{k + 1:02}" for k in range(len(EXAMPLES))]
    assert len(EXAMPLES) >= 11
    listed = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\d\d_\w+\.py)`", listed, re.MULTILINE)
    assert rows == [path.name for path in EXAMPLES], "examples/README.md lists them in order"


@pytest.mark.parametrize("example", EXAMPLES, ids=name)
def test_examples_are_short(example: Path) -> None:
    text = example.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST
    assert f"Run: python examples/{example.name}." in text, "the docstring says how to run it"


@pytest.mark.parametrize("example", EXAMPLES, ids=name)
def test_examples_run(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    if example == EXAMPLES[0]:
        environment = os.environ | {"PYTHONWARNINGS": "error::UserWarning"}
        subprocess.run([sys.executable, str(example)], env=environment, check=True)
    else:
        monkeypatch.setattr(sys, "argv", [str(example)])
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            runpy.run_path(str(example), run_name="__main__")
    shown = capfd.readouterr()
    assert shown.err == ""
    assert len(shown.out.splitlines()) >= 3
    promised = re.findall(r"out/[\w./-]*\w", example.read_text(encoding="utf-8").split('"""')[1])
    assert promised
    for path in promised:
        assert (tmp_path / path).exists(), f"{example.name} promises {path}"
