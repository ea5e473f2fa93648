"""House rules: small modules with docstrings, no traces of a machine, a README and a CHANGELOG that name the two commands."""

import ast
import re
import warnings
from pathlib import Path

import pytest
from places import ROOT, modules, tracked_files

LONGEST = 400
LONG = 250
MACHINE_PATH = re.compile(r"(?<![\w.:/-])/(?:work|root|home/\w+|farm|Users/\w+)/")
REGISTRY = re.compile(r"(?:py[p]i|pythonhoste[d]|npmj[s]|deb\.debia[n])\.(?:org|com|net|io)")
PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.!+]+")


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_modules_are_short() -> None:
    sizes = {str(path.relative_to(ROOT)): lines(path) for path in modules()}
    long = [f"{name}: {size} lines" for name, size in sizes.items() if size > LONG]
    if long:
        warnings.warn(f"above {LONG} lines, look for a second concept:\n" + "\n".join(long), stacklevel=1)
    assert not [name for name, size in sizes.items() if size > LONGEST], f"above {LONGEST} lines:\n" + "\n".join(long)


def test_modules_have_docstrings() -> None:
    bare = [p.relative_to(ROOT) for p in modules() if not ast.get_docstring(ast.parse(p.read_text(encoding="utf-8")))]
    assert not bare, f"modules without a docstring: {', '.join(map(str, bare))}"


@pytest.mark.parametrize(("what", "pattern"), [("path of a machine", MACHINE_PATH), ("registry address", REGISTRY)])
def test_no_traces_of_a_machine(what: str, pattern: re.Pattern[str]) -> None:
    found = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # binary
        found += [
            f"{path.relative_to(ROOT)}:{number}: {what}: {line.strip()[:100]}"
            for number, line in enumerate(text.splitlines(), 1)
            if pattern.search(line)
        ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md"])
def test_the_two_commands_are_named(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text


def test_requirements_are_pins_without_addresses() -> None:
    rows = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert not [row for row in rows if not PIN.fullmatch(row)]
    assert rows == sorted(rows, key=str.lower), "requirements.txt is sorted by name"


def test_ci_runs_the_readme_command() -> None:
    script = ROOT / ".ci" / "run"
    assert "make test" in script.read_text(encoding="utf-8")
    assert script.stat().st_mode & 0o111, ".ci/run is executable"


def test_test_files_have_different_names() -> None:
    """Test folders are not packages: two files of one name cannot be collected together."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    twice = sorted({name for name in names if names.count(name) > 1})
    assert not twice, f"rename: {', '.join(twice)}"
