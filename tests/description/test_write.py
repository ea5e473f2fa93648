"""Writing: what is written reads back to an equal description; the file appears at once or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from flexapod.description import (
    description_from_document,
    list_parameters,
    read_robot_file,
    read_robot_text,
    robot_text,
    set_parameters,
    write_robot_file,
)
from flexapod.errors import FileError

UPS = Path(__file__).parent / "data" / "ups.yaml"


def test_round_trip(robot_file: Path, tmp_path: Path) -> None:
    description = read_robot_file(robot_file)
    write_robot_file(description, tmp_path / "again.yaml")
    again = read_robot_file(tmp_path / "again.yaml")
    assert again == description
    assert list(again.legs) == list(description.legs)
    assert robot_text(again) == robot_text(description)


def test_other_yaml_readers_understand_it(robot_file: Path) -> None:
    description = read_robot_file(robot_file)
    assert yaml.safe_load(robot_text(description))["legs"].keys() == description.document["legs"].keys()


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
NAME = st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True).filter(lambda name: name not in ("com", "origin"))
NUMBER = st.floats(-1e30, 1e30)


@settings(deadline=None)
@given(
    title=TEXT,
    notes=st.lists(TEXT, max_size=3),
    name=NAME,
    mass=st.floats(0, 1e30),
    points=st.dictionaries(NAME, st.tuples(NUMBER, NUMBER, NUMBER)),
)
def test_round_trip_of_any_text_and_number(title: str, notes: list[str], name: str, mass: float, points: dict[str, Any]) -> None:
    document = {**read_robot_file(UPS).document, "title": title, "notes": notes, "name": name}
    document["platform"] = {"mass": mass, "points": points}
    description = description_from_document(document)
    assert read_robot_text(robot_text(description)) == description


@pytest.mark.filterwarnings("ignore::flexapod.description.RobotFileWarning")
@settings(deadline=None)
@given(st.data())
def test_round_trip_after_changes(data: st.DataObject) -> None:
    document = {**read_robot_file(UPS).document, "allow_unphysical": True}  # other masses do not fit the inertias
    description = description_from_document(document)
    listed = list_parameters(description)
    masses = [path for path in listed if path.endswith((".mass", ".at", ".on", "position"))]
    path = data.draw(st.sampled_from(masses))
    value = listed[path].value
    number = st.floats(0, 1e6)
    new = data.draw(number) if isinstance(value, float) else data.draw(st.tuples(number, number, number))
    changed = set_parameters(description, {path: new})
    assert read_robot_text(robot_text(changed)) == changed


@pytest.mark.parametrize(
    "word", ["no", "on", "1", "1e-3", "0o17", "~", "null", "true", "1:30", "a: b", "- x", "#", "", " x ", "<<", "é\n"]
)
def test_words_stay_words(word: str) -> None:
    description = description_from_document({**read_robot_file(UPS).document, "title": word, "notes": [word]})
    again = read_robot_text(robot_text(description))
    assert (again.file.title, again.file.notes) == (word, [word])


def test_it_is_for_people() -> None:
    text = robot_text(read_robot_file(UPS))
    assert "gravity: [0, 0, -9.81]\n" in text
    assert "      cross: {mass: 1.5, inertia: {diagonal: [0.2, 0.1, 0.1]}}\n" in text
    assert "    A: {hip: {at: [2.5, 0, 0], axis1: [0.5, -0.866, 0]}, ball: {on: [1.25, 2.165, 0]}}\n" in text
    assert max(map(len, text.splitlines())) <= 120


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "my.yaml"
    file.write_text("old", encoding="utf-8")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match="was not written: no space left on device; free some space"):
        write_robot_file(read_robot_file(UPS), file)
    assert file.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["my.yaml"]
