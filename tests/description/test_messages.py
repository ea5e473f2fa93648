"""Every message about a wrong robot file, as text: one change to a valid file, and all that is said about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from flexapod.description import RobotFileError, read_robot_text

DATA = Path(__file__).parent / "data"

CASES = yaml.safe_load((Path(__file__).parent / "messages.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['file']}-{case['new'][:40]!r}")
def test_message(case: dict[str, Any]) -> None:
    text = (DATA / f"{case['file']}.yaml").read_text(encoding="utf-8")
    old, new = case["old"], case["new"]
    if old == "<each>":
        old = text[text.index("  each:") :]
    assert old in text
    with pytest.raises(RobotFileError) as refused:
        read_robot_text(text.replace(old, new, 1), name="my.yaml")
    assert str(refused.value).split("\n") == case["says"]


def test_every_problem_in_one_go() -> None:
    text = (DATA / "ups.yaml").read_text(encoding="utf-8")
    for old, new in [("mass: 50", "mass: -50"), ("zero: 5 m", "zero: 5 deg"), ("C: {hip", "C: {hipp"), ("title:", "titel:")]:
        text = text.replace(old, new)
    with pytest.raises(RobotFileError) as refused:
        read_robot_text(text)
    assert [problem.path for problem in refused.value.problems] == [
        "titel",
        "platform.mass",
        "legs.hip.axis1",
        "legs.slide.zero",
        "legs.C.hipp",
    ]
    assert [problem.line for problem in refused.value.problems] == [4, 10, 16, 23, 34]


def test_long_lists_of_problems_are_cut() -> None:
    text = (DATA / "ups.yaml").read_text(encoding="utf-8") + "\n".join(f"key{i}: 1" for i in range(80))
    with pytest.raises(RobotFileError) as refused:
        read_robot_text(text)
    assert len(refused.value.problems) == 80
    assert str(refused.value).endswith("and 30 more problems.")
