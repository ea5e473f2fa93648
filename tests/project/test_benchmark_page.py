"""The page of benchmarks is written by its scripts: sections are measured, joined and written; growth and formats are right."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from places import ROOT

SCRIPTS = ROOT / "benchmarks"
HELPERS = {"page", "reporting", "random_inputs", "ups_robots", "growth_cases", "peak"}
"""Modules of the folder that have no section."""
ROUNDING = 1e-12
"""Of powers: logarithms of exact powers."""


@pytest.fixture(scope="module", autouse=True)
def scripts() -> Iterator[None]:
    """The scripts import each other from their own folder."""
    sys.path.insert(0, str(SCRIPTS))
    yield
    sys.path.remove(str(SCRIPTS))


@pytest.fixture(scope="module")
def page() -> ModuleType:
    """benchmarks/page.py under another name: the tests of the studio have a module `page`."""
    spec = importlib.util.spec_from_file_location("benchmark_page", SCRIPTS / "page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def reporting() -> ModuleType:
    import reporting

    return reporting


def titles(name: str) -> list[str]:
    """Headings of the second level that a script has among its texts."""
    tree = ast.parse((SCRIPTS / f"{name}.py").read_text(encoding="utf-8"))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [title for text in texts for title in re.findall(r"^## (.+)$", text, re.M)]


def rows_of(text: str, title: str) -> list[list[str]]:
    """Cells of the first table below a heading."""
    lines = text.split(f"## {title}\n", 1)[1].split("\n\n")
    table = next(block for block in lines if block.startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def test_cheap_sections_are_measured_and_written(tmp_path: Path) -> None:
    """The real scripts in processes of their own, at their smallest sizes."""
    out = tmp_path / "page.md"
    command = [sys.executable, str(SCRIPTS / "page.py"), "--quick", "--only", "poses", "kinematics", "space", "--out", str(out)]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = out.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.M) == [
        "Kinematics and threads", "All poses", "Fastest timings and proven workspaces", "Count the operations yourself"
    ]  # fmt: skip
    assert f"{os.cpu_count()} cores" in text
    assert "Load of the machine before the start" in text
    time = re.compile(r"\d+(\.\d+)? (s|ms|us|ns)")
    for title in ("Kinematics and threads", "All poses"):
        head, _, *rows = rows_of(text, title)
        assert len(rows) >= 5
        assert all(len(row) == len(head) and time.fullmatch(row[1]) for row in rows)
    for name in ("poses", "kinematics", "space"):
        assert (tmp_path / "out" / "benchmarks" / f"{name}.md").read_text(encoding="utf-8") in text


def test_a_script_that_fails_is_named_and_no_page_is_written(
    page: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "poses.py").write_text('"""Poses."""\nraise SystemExit(3)\n', encoding="utf-8")
    (tmp_path / "space.py").write_text('"""Space."""\nprint("## Space")\n', encoding="utf-8")
    monkeypatch.setattr(page, "HERE", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["page.py", "--only", "poses", "space", "--out", "page.md"])
    assert page.main() == 1
    assert "no page written: poses failed" in capsys.readouterr().err
    assert not (tmp_path / "page.md").exists()
    monkeypatch.setattr(sys, "argv", ["page.py", "--only", "space", "--out", "page.md"])
    assert page.main() == 0
    assert "## Space" in (tmp_path / "page.md").read_text(encoding="utf-8")


def test_every_script_is_on_the_page(page: ModuleType) -> None:
    """Scripts of the folder are the page's sections, and the page in the docs has their headings in this order."""
    assert {path.stem for path in SCRIPTS.glob("*.py")} - HELPERS == set(page.SECTIONS)
    expected = [title for name in page.SECTIONS for title in titles(name)]
    assert len(expected) == len(page.SECTIONS), "one heading of the second level per script"
    written = re.findall(r"^## (.+)$", page.PAGE.read_text(encoding="utf-8"), re.M)
    assert written[:-1] == expected, "the page is older than the scripts: make bench"


def test_a_busy_machine_is_said(page: ModuleType) -> None:
    assert "busy" in page.machine(page.QUIET + 0.01)[-1]
    assert "busy" not in " ".join(page.machine(page.QUIET))


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_exponents_of_powers_are_found(reporting: ModuleType, power: float) -> None:
    sizes = [5, 10, 40]
    found = reporting.exponents(sizes, [3.0 * n**power for n in sizes])
    assert found == pytest.approx([power, power], rel=ROUNDING, abs=ROUNDING)
    assert f"| time | {power:.2f} | {power:.2f} |" in reporting.growth("modes", sizes, {"time": [3.0 * n**power for n in sizes]})


TIMES = {3.21e-8: "32.1 ns", 8.6e-7: "860 ns", 9.999e-4: "1 ms", 0.0123: "12.3 ms", 0.0: "0 ns", 20.0: "20 s", 1365.4: "1370 s"}


@pytest.mark.parametrize(("seconds", "text"), TIMES.items())
def test_times_have_three_digits_and_a_unit(reporting: ModuleType, seconds: float, text: str) -> None:
    assert reporting.shown(seconds) == text


def test_running_text_is_wrapped_and_tables_are_not(reporting: ModuleType) -> None:
    long = "word " * 60
    row = "| " + "x" * 200 + " |"
    lines = reporting.joined("## Title", long, "", row).splitlines()
    assert row in lines
    assert max(len(line) for line in lines if "word" in line) <= reporting.WIDTH
    assert lines[1] == ""


def test_a_missing_peer_gives_a_line(reporting: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Pinocchio its rows are missing, and a line says so."""
    import dynamics

    monkeypatch.setitem(sys.modules, "pinocchio", None)
    monkeypatch.delitem(sys.modules, "pinocchio_model", raising=False)
    found, missing = dynamics.python_peers(reporting.Effort(quick=True))
    assert "Pinocchio" not in found
    assert missing[0] == "Pinocchio is not installed: its Python row is missing."
