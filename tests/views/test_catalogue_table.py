"""The stored rows of `flexapod robots` are those of the robots, and a changed robot is built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import flexapod as fp
from flexapod.views import catalogue_table
from flexapod.views.catalogue_table import FILE, catalogue_rows, digest, stored_rows, table_text


def stored() -> Path:
    return next(iter(fp.catalogue().values())).with_name(FILE)


def test_the_stored_table_is_up_to_date() -> None:
    assert stored().read_text(encoding="utf-8") == table_text(), "run: python tools/make_catalogue_table.py"


def test_no_robot_is_built_for_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue_table, "built_row", lambda name: pytest.fail(f"{name} was built"))
    assert [row["name"] for row in catalogue_rows()] == list(fp.catalogue())


def test_robots_that_differ_from_their_row_or_have_none_are_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = fp.catalogue()["five-bar"]
    for name in ("five-bar", "new-robot", "windows"):
        (tmp_path / f"{name}.yaml").write_bytes(original.read_bytes())
    title = fp.load("five-bar").title
    (tmp_path / "five-bar.yaml").write_text(original.read_text(encoding="utf-8").replace(title, "changed"), encoding="utf-8")
    (tmp_path / FILE).write_bytes(stored().read_bytes())
    monkeypatch.setattr(fp, "catalogue", lambda: {path.stem: path for path in sorted(tmp_path.glob("*.yaml"))})
    asked: list[str] = []
    monkeypatch.setattr(catalogue_table, "built_row", lambda name: asked.append(name) or {"name": name})
    catalogue_rows()
    assert asked == ["five-bar", "new-robot", "windows"]


@pytest.mark.parametrize("text", ["", "[", "{}", "[1]", '[{"name": "delta"}]', "null"])
def test_a_damaged_table_is_no_table(text: str, tmp_path: Path) -> None:
    path = tmp_path / FILE
    assert stored_rows(path) == {}
    path.write_text(text, encoding="utf-8")
    assert stored_rows(path) == {}


def test_ends_of_lines_do_not_change_a_robot(tmp_path: Path) -> None:
    original = fp.catalogue()["five-bar"]
    copy = tmp_path / "five-bar.yaml"
    copy.write_bytes(original.read_bytes().replace(b"\n", b"\r\n"))
    assert digest(copy) == digest(original)
    rows = json.loads(stored().read_text(encoding="utf-8"))
    assert digest(copy) in {row["sha256"] for row in rows}
