"""The notebooks of docs/lectures run from top to bottom, have all parts of a lecture, and are kept without outputs."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

LECTURES = Path(__file__).parents[2] / "docs" / "lectures"
NOTEBOOKS = sorted(LECTURES.glob("*.ipynb"))
COUNT = 10
CELL_KEYS = {"markdown": {"cell_type", "id", "metadata", "source"}}
CELL_KEYS["code"] = CELL_KEYS["markdown"] | {"execution_count", "outputs"}


def cells(path: Path, kind: str) -> list[tuple[str, str]]:
    """Name and text of the cells of one kind."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [(cell["id"], "".join(cell["source"])) for cell in notebook["cells"] if cell["cell_type"] == kind]


def execute(path: Path) -> dict[str, Any]:
    """Run the code cells in one namespace; returns it, with the values of cells that end in an expression under `shown`."""
    namespace: dict[str, Any] = {"__name__": "__lecture__", "shown": []}
    for name, source in cells(path, "code"):
        *lines, last = source.rstrip().splitlines()
        if re.fullmatch(r"[\w.]+(\(.*\))?", last) and not last.startswith(("print", "assert")):
            source = "\n".join([*lines, f"shown.append({last})"])
        exec(compile(source, f"{path.name}: {name}", "exec"), namespace)
    return namespace


def test_there_are_ten_in_order() -> None:
    assert [path.name[:2] for path in NOTEBOOKS] == [f"{k:02}" for k in range(1, COUNT + 1)]
    index = (LECTURES / "index.md").read_text(encoding="utf-8")
    for path in NOTEBOOKS:
        assert f"]({path.name})" in index


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_parts_of_a_lecture(path: Path) -> None:
    text = "\n\n".join(source for _, source in cells(path, "markdown"))
    assert text.startswith(f"# Lecture {int(path.name[:2])}: ")
    assert "**Question.**" in text
    assert re.search(r"\$\$\n.+?\n\$\$", text, re.DOTALL), "equations"
    assert text.index("## Exercise") < text.index("## Solution")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebooks_have_no_outputs(path: Path) -> None:
    """Form of nbformat 4.5; outputs would be large and would change with every run."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    for cell in notebook["cells"]:
        assert set(cell) == CELL_KEYS[cell["cell_type"]]
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_lectures_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        shown = execute(path)["shown"]
    figures = [one for one in shown if hasattr(one, "to_plotly_json")]
    assert figures, "a lecture shows a figure"
    assert all(figure.data for figure in figures)


def test_a_wrong_cell_is_found(tmp_path: Path) -> None:
    path = tmp_path / "wrong.ipynb"
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None}
    path.write_text(json.dumps({"cells": [cell | {"source": ["x = 1\n", "assert x == 2"]}]}), encoding="utf-8")
    with pytest.raises(AssertionError):
        execute(path)
