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


def test_the_advice_about_a_loop_inside_a_leg_builds(tmp_path: Path) -> None:
    """A four-bar in one leg is refused; written as advised, with a body of the loop as the platform, it loads."""
    import flexapod as fp

    joint = "{{type: revolute, from: {0}, to: {1}, at: [{2}, 0, 0], axis: [0, 0, 1], start: {3} deg{4}}}"
    crank = joint.format("base", "crank", 0, 90, ", actuated: true")
    coupler = joint.format("crank", "coupler", 0.1, -90, "")
    rocker = joint.format("base", "rocker", 0.3, 90, "")
    bodies = "{crank: {mass: 1}, coupler: {mass: 1}, rocker: {mass: 1}}"
    head = "flexapod: 1\nname: four-bar\ntitle: four-bar\nplane: xy\nsource: none\ngravity: [0, -9.81, 0]\n"
    head += "home: {position: [0, 0.1, 0]}\n"
    loop = f"platform: {{mass: 1}}\nlegs:\n  each:\n    a:\n      joints:\n        one: {crank}\n        two: {coupler}\n"
    loop += f"        three: {rocker}\n"
    loop += "        four: {type: revolute, from: rocker, to: coupler, at: [0.1, 0, 0], axis: [0, 0, 1]}\n"
    loop += f"        five: {{type: fixed, from: coupler, to: platform}}\n      bodies: {bodies}\n"
    with pytest.raises(RobotFileError, match=r"loops inside a leg are not supported yet\. A leg is a tree of bodies"):
        read_robot_text(head + loop)
    legs = f"platform: {{body: a.coupler}}\nlegs:\n  each:\n    a:\n      joints:\n        one: {crank}\n        two: {coupler}\n"
    legs += "      bodies: {crank: {mass: 1}, coupler: {mass: 1}}\n"
    legs += f"    b:\n      joints:\n        three: {rocker}\n        four: {{type: revolute, from: rocker, to: platform, "
    legs += "at: [0.1, 0, 0], on: [0.3, 0, 0], axis: [0, 0, 1]}\n      bodies: {rocker: {mass: 1}}\n"
    path = tmp_path / "four-bar.yaml"
    path.write_text(head + legs, encoding="utf-8")
    assert fp.load(path).mobility.rank == 1
