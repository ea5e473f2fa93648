"""The Python reference is what the code says: every public name, every argument, what it returns, an example that uses it."""

import importlib
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import flexapod as fp

ROOT = Path(__file__).parents[2]
AGAIN = "run: python tools/make_api_reference.py"
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def entries() -> ModuleType:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return importlib.import_module("api_entries")
    finally:
        sys.path.pop(0)


@pytest.fixture(scope="module")
def tool(entries: ModuleType) -> ModuleType:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        return importlib.import_module("make_api_reference")
    finally:
        sys.path.pop(0)


def test_pages_are_current(tool: ModuleType) -> None:
    for page in tool.pages():
        text = page.read_text(encoding="utf-8")
        assert tool.filled(text) == text, f"{page.name} is out of date; {AGAIN}"
    index = (tool.REFERENCE / "index.md").read_text(encoding="utf-8")
    assert tool.index(index) == index, f"index.md is out of date; {AGAIN}"
    assert tool.filled(text.replace("**Arguments**", "")) == tool.filled(text)  # what is between the marks is written anew


def test_every_page_is_listed(tool: ModuleType) -> None:
    assert {page.name for page in tool.pages()} == {p.name for p in tool.REFERENCE.glob("*.md")} - {"index.md"}


def test_every_public_name_is_described_once(tool: ModuleType, entries: ModuleType) -> None:
    described = [name for page in tool.pages() for name in tool.names_of(page)]
    assert sorted(set(described)) == sorted(described)
    missing = set(entries.public_names()) - set(described)
    assert not missing, f"not in docs/reference: {sorted(missing)}"


def test_every_argument_is_described(tool: ModuleType, entries: ModuleType) -> None:
    """Of functions, and of classes whose constructor is for users; results have fields and methods instead."""
    bare = []
    for page in tool.pages():
        for mark in tool.MARK.finditer(page.read_text(encoding="utf-8")):
            found = entries.find(mark["path"])
            error = inspect.isclass(found) and issubclass(found, BaseException)
            if callable(found) and not error and "result" not in (mark["options"] or ""):
                bare += [f"{mark['path']}: {name}" for name in entries.arguments(mark["path"])[1]]
                if inspect.isfunction(found) and "Returns" not in entries.sections(inspect.getdoc(found) or "")[1]:
                    bare += [f"{mark['path']}: what it returns"] * (not entries.returned(found))
    assert not bare, "\n".join(bare)


def test_every_name_is_used_in_an_example(tool: ModuleType) -> None:
    """The blocks themselves are executed by tests/project/test_docs.py."""
    unused = []
    for page in tool.pages():
        code = "\n".join(EXAMPLE.findall(page.read_text(encoding="utf-8")))
        unused += [f"{page.name}: {n}" for n in tool.names_of(page) if not re.search(rf"\b{n.split('.')[-1]}\b", code)]
    assert not unused, "\n".join(unused)


def test_a_missing_argument_is_found(entries: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def verb(robot: fp.Robot, speed: float, *, force: float = 0.0, mass: float = 0.0) -> float:
        """Something.

        Args:
            force: [N]; mass: [kg].
        """
        return speed + force + mass

    monkeypatch.setattr(fp, "verb", verb, raising=False)
    lines, missing = entries.arguments("verb")
    assert missing == ["speed"]
    assert lines[0].startswith("robot: ")
    assert "fp.verb(robot, speed, *, force=0, mass=0)" in entries.entry("verb")


def test_formulas_and_literals(entries: ModuleType) -> None:
    text = "One.\n\n.. math:: a = b,\n          c = d\n\nand ``x`` with :math:`y^2`."
    assert entries.markdown(text) == "One.\n\n$$\na = b,\nc = d\n$$\n\nand `x` with $y^2$."


def test_tables_have_their_own_text(entries: ModuleType) -> None:
    """A dict is described by the text below its assignment, not by the docstring of dict."""
    text = entries.entry("motions.LAWS")
    assert text.startswith("Laws that need a duration alone, by name.")
    assert "`quintic`" in text
    assert "dictionary" not in text
