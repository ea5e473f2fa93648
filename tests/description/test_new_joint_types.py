"""A type of joint that is new in the table: mirror images and planar robots see its elementary joints, not its name."""

from typing import Literal

import pytest

from flexapod.description.check_plane import _check_axis
from flexapod.description.joint_types import MOTIONS
from flexapod.description.mirror import MirrorError, _joint
from flexapod.description.problems import Path
from flexapod.description.schema import Joint

Motions = tuple[tuple[Literal["R", "P"], int], ...]
PLANE_XY = (1.0, 1.0, -1.0)
"""Signs of a reflection in the plane xy."""


class Reports:
    """What a check reported, without its hint."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def error(self, path: Path, what: str, hint: str) -> None:
        self.found.append(what)

    warn = error


def new(motions: Motions, monkeypatch: pytest.MonkeyPatch, **more: object) -> Joint:
    """A joint of a type that the schema does not know yet."""
    monkeypatch.setitem(MOTIONS, "new", motions)
    joint = Joint.model_validate({"type": "prismatic", "from": "base", "to": "platform", "axis": [0, 0, 1], **more})
    return joint.model_copy(update={"type": "new"})


@pytest.mark.parametrize("motions", [(("P", 0), ("R", 2)), (("P", 1),), (("R", 0), ("P", 2))])
def test_a_slot_has_no_mirror_image(motions: Motions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its direction follows from `axis` by a rule that is not its own mirror image."""
    with pytest.raises(MirrorError, match="a new joint cannot be mirrored: its x and y axes follow from `axis`"):
        _joint(new(motions, monkeypatch), PLANE_XY, PLANE_XY)


@pytest.mark.parametrize(
    ("motions", "axis"),
    [((("P", 2),), -1.0), ((("P", 2), ("R", 2)), -1.0), ((("R", 2),), 1.0), ((("P", 0), ("P", 1), ("R", 2)), 1.0)],
)
def test_the_axis_of_a_rotation_is_a_pseudovector(motions: Motions, axis: float, monkeypatch: pytest.MonkeyPatch) -> None:
    found = _joint(new(motions, monkeypatch), PLANE_XY, PLANE_XY)
    assert found["axis"] == [0.0, 0.0, axis]


def test_a_start_in_a_plane_has_no_mirror_image(monkeypatch: pytest.MonkeyPatch) -> None:
    joint = new((("P", 0), ("P", 1)), monkeypatch).model_copy(update={"start": [0.1, 0.2]})
    with pytest.raises(MirrorError, match="a new joint with `start` cannot be mirrored"):
        _joint(joint, PLANE_XY, PLANE_XY)


@pytest.mark.parametrize(
    ("motions", "normal", "within"),
    [
        ((("P", 0), ("R", 2)), "", "a new axis must be normal to the plane xy"),
        ((("P", 0), ("P", 1)), "", "a new axis must be normal to the plane xy"),
        ((("P", 2), ("P", 0)), "a new joint leaves the plane xy", "a new axis must be normal to the plane xy"),
        ((("P", 2),), "a new axis must lie in the plane xy", ""),
        ((), "", ""),
    ],
)
def test_planar_robots(motions: Motions, normal: str, within: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MOTIONS, "new", motions)
    for axis, text in (((0.0, 0.0, 1.0), normal), ((1.0, 0.0, 0.0), within)):
        report = Reports()
        _check_axis("new", axis, "xy", ("joints", "a", "axis"), report)
        assert report.found == [text] * bool(text)
