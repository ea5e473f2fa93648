"""docs/words.md names every joint and loop word of the robot file."""

from pathlib import Path
from typing import get_args

from flexapod.description.schema import Joint, JointType, Leg
from flexapod.description.walk import fields_of

TABLE = (
    (Path(__file__).parents[2] / "docs" / "words.md")
    .read_text(encoding="utf-8")
    .split("## Joints and loops")[1]
    .split("## Verbs")[0]
)
FIRST = " ".join(line.split("|")[1] for line in TABLE.splitlines() if line.startswith("| "))


def test_every_joint_word_has_a_row() -> None:
    for word in (*get_args(JointType), *fields_of(Joint)):
        assert f"`{word}`" in FIRST or word == "type" or f"{word}`" in TABLE, word


def test_every_word_of_a_leg_has_a_row() -> None:
    given_elsewhere = {"frame", "platform_frame", "table", "joints", "bodies"}
    for word in {*fields_of(Leg)} - given_elsewhere:
        assert f"`{word}`" in FIRST, word


def test_what_is_out_of_scope_is_said() -> None:
    assert "cables" in FIRST
