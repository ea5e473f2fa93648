"""Variants share legs that do not change, loaded files those that they had: numbers are those of a robot built anew."""

from __future__ import annotations

from pathlib import Path

import pytest

import flexapod as fp
from flexapod.description.read import description_from_document
from flexapod.robot.catalogue import catalogue
from flexapod.robot.robot import build_robot


@pytest.mark.parametrize("name", ["stewart-3-3", "five-bar", "delta"])
def test_variants_are_as_built_anew(name: str) -> None:
    robot = fp.load(name)
    paths = [
        p for p, info in robot.parameters.items() if isinstance(info.value, float) and info.value > 0.0 and "limits" not in p
    ]
    tried = 0
    for path in paths[::6]:
        try:
            found = robot.with_parameters({path: 1.001 * float(robot.parameter(path))})
        except fp.FlexapodError:
            continue  # a length that its loops do not allow
        anew = build_robot(description_from_document(found.description.document), robot.zeros, robot.plan, found.home)
        assert dict(found.values) == dict(anew.values)
        assert found.structure == anew.structure
        tried += 1
    assert tried > 2


def test_a_variant_shares_unchanged_legs() -> None:
    robot = fp.load("stewart-3-3")
    heavy, moved = robot.with_parameters({"platform.mass": 60.0}), robot.with_parameters({"legs.A.hip.at.x": 2.4})
    assert all(a is b for a, b in zip(heavy.legs, robot.legs, strict=True))
    assert [a is b for a, b in zip(moved.legs, robot.legs, strict=True)] == [False] + [True] * 5
    rotated = robot.with_parameters({"home.position": [0.0, 0.0, 4.5]})
    assert not any(a is b for a, b in zip(rotated.legs, robot.legs, strict=True))


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    text = catalogue()["stewart-3-3"].read_text()
    file = tmp_path / "robot.yaml"
    file.write_text(text)
    first, again = fp.load(file), fp.load(file)
    assert again is not first
    assert dict(again.values) == dict(first.values)
    assert again.zeros == first.zeros
    file.write_text(text.replace("mass: 50", "mass: 51"))
    assert fp.load(file).platform.mass == 51.0
    file.write_text(text.replace("mass: 50", "mass: -1"))
    with pytest.raises(fp.RobotFileError, match="must not be below 0"):
        fp.load(file)
