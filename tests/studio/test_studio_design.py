"""The list of parameters: searched by words, in groups."""

import pytest

import flexapod as fp
from flexapod.views.studio.panel_design import ALL, GROUPS, group_of, matching


@pytest.mark.parametrize("name", ["stewart-3-3", "dualemps", "delta", "gough-stewart-flexible"])
def test_every_parameter_is_in_one_group(name: str) -> None:
    robot = fp.load(name)
    grouped = [path for group in GROUPS[1:] for path in matching(robot, "", group)]
    assert sorted(grouped) == sorted(robot.parameters)
    assert matching(robot, "", ALL) == tuple(robot.parameters)


def test_words_are_found_in_names_units_and_meaning() -> None:
    robot = fp.load("stewart-3-3")
    assert matching(robot, "leg A", ALL) == ("legs.A.hip.at", "legs.A.hip.axis1", "legs.A.ball.on")
    assert "platform.mass" in matching(robot, "MASS", "masses")
    assert "platform.mass" in matching(robot, "kg platform", ALL)
    assert "legs.slide.limits.stroke" in matching(robot, "stroke", "limits")
    assert matching(robot, "no such thing", ALL) == ()


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("platform.mass", "masses"),
        ("legs.A.hip.at", "geometry"),
        ("legs.slide.limits.stroke", "limits"),
        ("legs.1.13.flexible.young", "elasticity"),
        ("legs.1.11.friction.coulomb", "friction"),
    ],
)
def test_groups(path: str, group: str) -> None:
    assert group_of(path) == group
