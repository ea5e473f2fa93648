"""Names that pages, paper tables and docstrings mention exist.

Dotted names `flexapod....` resolve by import; `tests/...py` paths exist, and `::name` after one is defined in it. So no
page promises a function that is not there, and no "Checked by" names a test that is gone.
"""

import ast
import importlib
import re
from functools import cache
from pathlib import Path

import pytest
import yaml
from places import DOCS, ROOT, modules, pages

NAME = re.compile(r"(?<![\w./-])flexapod(?:\.[A-Za-z_]\w*)+(?![\w/-])")
TEST = re.compile(r"(?<![\w/])tests/[\w/-]+\.py(?:::[A-Za-z_]\w*(?:::[A-Za-z_]\w*)?)?")
PAPERS = sorted((DOCS / "papers").glob("*.yaml"))
COUNTS = {"staicu-2009": 21, "sinatra-2009": 24, "kim-2002": 34, "long-2014": 49, "briot-2014": 68}
"""Numbered equations of each paper."""


@cache
def missing_name(name: str) -> str | None:
    """What is wrong with a dotted name, None if it resolves."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[end:]:
            if not hasattr(found, attribute):
                return f"{name}: {'.'.join(parts[:end])} has no {attribute}"
            found = getattr(found, attribute)
        return None
    return f"{name}: cannot be imported"


@cache
def defined(path: str) -> frozenset[str]:
    """Functions and classes of a file, and of its classes: `name` and `name::name`."""
    found = {"": ast.parse((ROOT / path).read_text(encoding="utf-8")).body}
    names: set[str] = set()
    for _ in range(2):
        found = {
            f"{outer}::{node.name}": node.body
            for outer, body in found.items()
            for node in body
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
        }
        names |= found.keys()
    return frozenset(name.removeprefix("::") for name in names)


@cache
def missing_test(reference: str) -> str | None:
    """What is wrong with a reference to a test, None if it exists."""
    path, *names = reference.split("::")
    if not (ROOT / path).is_file():
        return f"{reference}: no such file"
    for k, wanted in enumerate(names):
        if "::".join(names[: k + 1]) not in defined(path):
            return f"{reference}: {wanted} is not defined there"
    return None


def problems(text: str, where: str) -> list[str]:
    names = [missing_name(match) for match in NAME.findall(text)]
    tests = [missing_test(match) for match in TEST.findall(text)]
    return [f"{where}: {problem}" for problem in [*names, *tests] if problem]


def docstrings(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [text for node in ast.walk(tree) if isinstance(node, documented) and (text := ast.get_docstring(node))]


@pytest.mark.parametrize("page", [*pages(), ROOT / "CONTRIBUTING.md"], ids=lambda p: str(p.relative_to(ROOT)))
def test_names_in_pages(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    wrong = problems(text, str(page.relative_to(ROOT)))
    assert not wrong, "\n".join(wrong)


def test_names_in_docstrings() -> None:
    wrong = [
        problem for path in modules() for text in docstrings(path) for problem in problems(text, str(path.relative_to(ROOT)))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", PAPERS, ids=lambda p: p.stem)
def test_paper_tables(path: Path) -> None:
    paper = yaml.safe_load(path.read_text(encoding="utf-8"))
    entries = paper["equations"]
    assert paper["paper"] == path.stem
    assert (DOCS / "papers" / f"{path.stem}.md").is_file()
    assert [entry["equation"] for entry in entries] == list(range(1, COUNTS[path.stem] + 1)), "every equation, once, in order"
    wrong = []
    for entry in entries:
        where = f"{path.stem} Eq. ({entry['equation']})"
        unknown = set(entry) - {"equation", "subject", "statement", "latex", "erratum", "functions", "tests"}
        wrong += [f"{where}: unknown key {key}" for key in sorted(unknown)]
        wrong += [f"{where}: {problem}" for name in entry["functions"] if (problem := missing_name(name))]
        wrong += [f"{where}: {problem}" for name in entry["tests"] if (problem := missing_test(name))]
        if entry["functions"] and not entry["tests"]:
            wrong.append(f"{where}: implemented, but no test is named")
    assert not wrong, "\n".join(wrong)


def test_all_papers_have_a_table() -> None:
    assert {path.stem for path in PAPERS} == set(COUNTS)


def test_the_check_can_fail() -> None:
    """Of the four references, the second and the fourth are wrong."""
    here = "tests/project/test_references.py"
    text = f"`flexapod.spatial.vector.Vec` `flexapod.spatial.vector.Nothing` {here}::test_the_check_can_fail {here}::gone"
    found = problems(text, "page")
    assert len(found) == 2
    assert "has no Nothing" in found[0]
    assert "gone is not defined there" in found[1]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_relative_links(page: str) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", (ROOT / page).read_text(encoding="utf-8"))
    gone = [target for target in targets if not (ROOT / target).exists()]
    assert not gone, f"{page} links to what is not there: {gone}"


def test_links_have_a_text() -> None:
    """A link without a text is shown on the site, but not in the repository."""
    pages = [path for path in DOCS.rglob("*.md") if "_build" not in path.parts]
    empty = [f"{p.relative_to(ROOT)}: {link}" for p in pages for link in re.findall(r"\[\]\(.*?\)", p.read_text("utf-8"))]
    assert not empty, "\n".join(empty)
