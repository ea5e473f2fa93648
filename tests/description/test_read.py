"""Reading: templates and legs merged, warnings, and files that must not be opened, followed or waited for."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexapod.description import (
    RobotFileError,
    RobotFileWarning,
    description_from_document,
    read_robot_file,
    read_robot_text,
)
from flexapod.description.check_flexible import path_beside
from flexapod.errors import FlexapodError


def refusal(text: str) -> str:
    with pytest.raises(RobotFileError) as refused:
        read_robot_text(text, name="my.yaml")
    return str(refused.value)


def test_every_valid_file_reads_without_warnings(robot_file: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        description = read_robot_file(robot_file)
    assert description.path == robot_file
    assert list(description.legs) == list(description.document["legs"]["each"])


def test_template_and_leg_are_merged(ups: str) -> None:
    description = read_robot_text(ups)
    assert list(description.legs) == ["A", "B", "C", "D", "E", "F"]
    hip = description.legs["B"].joints["hip"]
    assert (hip.type, hip.from_, hip.at, hip.axis1) == ("universal", "base", [2.5, 0, 0], [0.5, 0.866, 0])
    assert description.legs["B"].joints["slide"].zero == 5.0
    assert description.legs["B"].bodies["cylinder"].com == [0, 0, 0.75]


def test_table_rows_are_patched_by_body_or_joint_name(khalil: str) -> None:
    row1, row2, row3 = read_robot_text(khalil).legs["2"].table
    assert (row1.d, row1.start, row1.inertial.ZZ) == (0.2, -1.373, 5.11)
    assert (row2.start, row2.body) == (1.764, "2")
    assert (row3.mu, row3.start) == (1, 1.039)


def test_a_leg_may_stand_without_template(planar: str) -> None:
    description = read_robot_text(planar)
    assert description.legs["2"].joints["meet"].to == "1.13"
    assert description.document["legs"]["each"]["1"]["joints"]["elbow"]["rotation"] == {"z": [np.pi / 6]}


def test_references_keep_their_last_zero(planar: str) -> None:
    text = planar.replace('"1.13"', "1.10").replace("to: 1.13", "to: 1.10").replace("to: 13", "to: 10")
    assert read_robot_text(text.replace("        13:\n", "        10:\n")).legs["2"].joints["meet"].to == "1.10"


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ("{inertia: {diagonal: [1, 2, 2]}}", (1, 2, 2, 0)),
        ("{inertia: {xx: 6}}", (6, 7.5, 5, 0)),
        ("{inertia: {xy: 0.1}}", (7.5, 7.5, 5, 0.1)),
    ],
)
def test_a_leg_may_change_an_inertia_in_either_form(ups: str, patch: str, expected: tuple[float, ...]) -> None:
    inertia = read_robot_text(ups.replace("A: {", f"A: {{piston: {patch}, ")).legs["A"].bodies["piston"].inertia
    xx, yy, zz = inertia.diagonal or (inertia.xx, inertia.yy, inertia.zz)
    assert (xx, yy, zz, inertia.xy) == expected


def test_a_rotation_in_another_form_replaces_the_template_s(khalil: str) -> None:
    text = khalil.replace("    1: {1:", "    1: {frame: {rotation: {axis: [0, 0, 1], angle: 1}}, 1:")
    frame = read_robot_text(text).legs["1"].frame
    assert frame.rotation is not None
    assert (frame.rotation.angle, frame.rotation.model_extra) == (1.0, {})
    assert frame.position == [0.1, -0.2, 0]


def test_an_empty_leg_is_the_template(khalil: str) -> None:
    text = khalil[: khalil.index("    1: {1:")] + "    a:\n    b: {}\n"
    legs = read_robot_text(text).legs
    assert legs["a"] == legs["b"]


@pytest.mark.parametrize(
    ("diagonal", "words"),
    [
        ("[1, 1, 3]", "the principal moment 3 exceeds the sum of the others 2 kg m^2"),
        ("[1, 1, -1]", "a principal moment is -1 kg m^2"),
    ],
)
def test_impossible_inertias_are_refused(ups: str, diagonal: str, words: str) -> None:
    text = ups.replace("[40, 40, 80]", diagonal)
    assert words in refusal(text)
    assert "`allow_unphysical: true` at the top of the file accepts it" in refusal(text)
    with pytest.warns(RobotFileWarning, match=words.replace("^", r"\^")) as caught:
        description = read_robot_text(text.replace("flexapod: 1", "flexapod: 1\nallow_unphysical: true"), name="my.yaml")
    assert len(caught) == 1
    (warning,) = description.warnings
    assert (warning.severity, warning.line, warning.path) == ("warning", 12, "platform.inertia")


def test_a_plane_leaves_two_moments_open(planar: str) -> None:
    """Moments about axes in the plane are not in a planar model."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_robot_text(planar)


def test_an_inertia_is_judged_about_the_centre_of_mass(ups: str) -> None:
    # 15 kg at 0.75 m: 8.44 kg m^2 about the origin; less is impossible.
    assert "legs.cylinder.inertia: no body has this inertia" in refusal(ups.replace("[15, 15, 5]", "[8, 15, 5]"))


def test_rounding_does_not_warn(ups: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_robot_text(ups.replace("[40, 40, 80]", "[40, 40, 80.01]"))


def test_a_universal_joint_in_a_plane_warns(planar: str) -> None:
    text = planar.replace("{type: revolute, from: 23, at", "{type: spherical, from: 23, at").replace(
        "on: [0.2, 0, 0], axis: [0, 0, 1]}", "on: [0.2, 0, 0]}"
    )
    with pytest.warns(RobotFileWarning, match=r"legs\.2\.meet\.type: a spherical joint can leave the plane xy"):
        read_robot_text(text)


def test_legs_that_only_hold_each_other_are_refused(planar: str) -> None:
    text = planar.replace('platform: {body: "1.13", points: {tool: [0.4, 0, 0]}}', "platform: {mass: 1}")
    assert "the leg does not reach the platform. Add a joint with `to: platform`." in refusal(text)


def test_too_many_legs_and_too_large_templates(ups: str) -> None:
    legs = "\n".join(f"    L{i}: {{}}" for i in range(101))
    head = ups[: ups.index("    A: {")]
    assert "legs.each: has 101 legs, more than 100." in refusal(head + legs)
    notes = "      many: {points: {" + ", ".join(f"p{i}: [0, 0, 0]" for i in range(1000)) + "}}\n"
    legs = "\n".join(f"    L{i}: {{}}" for i in range(60))
    assert "legs: more than 200000 values in all legs together." in refusal(
        head.replace("    bodies:\n", "    bodies:\n" + notes) + legs
    )
    bodies = "".join(f"      b{i}: {{}}\n" for i in range(300))
    assert "has more than 200 joints and bodies." in refusal(ups.replace("    bodies:\n", "    bodies:\n" + bodies))


def test_too_many_points(ups: str) -> None:
    points = ", ".join(f"p{i}: [0, 0, 0]" for i in range(1001))
    text = ups.replace("tool: [0, 0, 0]", points)
    assert "platform.points: has 1001 points, more than 1000. Name only those that are used." in refusal(text)


def test_a_matrix_has_rows(ups: str) -> None:
    text = ups.replace("4.33]}", "4.33], rotation: {matrix: [[1, 0, 0]]}}")
    assert "home.rotation.matrix: must have 3 rows, has 1. Write 3 lists of 3 numbers." in refusal(text)


def test_documents_from_python(ups: str) -> None:
    description = read_robot_text(ups)
    document: dict[str, Any] = {**description.document, "gravity": np.array([0, 0, -1.62])}
    document["platform"] = {"mass": np.float64(3), "com": (0, 0, "5 mm")}
    moon = description_from_document(document)
    assert moon.document["gravity"] == [0, 0, -1.62]
    assert moon.file.platform.com == [0, 0, 0.005]
    assert description_from_document(description.document) == description
    assert dict(moon.lines) == {}


def test_wrong_documents_from_python(ups: str) -> None:
    loop: dict[str, Any] = dict(read_robot_text(ups).document)
    loop["notes"] = loop
    for wrong, words in [
        (loop, "nested deeper than 50 levels"),
        ({1: 2}, "the key 1 is not text"),
        ([], "the top must be a mapping"),
        ({"notes": [0] * 300_000}, "more than 200000 values"),
        ({"flexapod": 1, "name": object()}, "must be a name"),
        ({"flexapod": 10**5000, "name": 10**5000}, "a number of thousands of digits"),
        ({"title": "\ud800"}, "title: is not Unicode text"),
    ]:
        with pytest.raises(RobotFileError, match=words):
            description_from_document(wrong)  # type: ignore[arg-type]


def test_unreadable_paths(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "empty.yaml").touch()
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    for name, words in [
        ("none.yaml", "(file): does not exist. Give the path of a robot file (.yaml)."),
        (".", "(file): is not a file."),
        ("pipe.yaml", "(file): is not a file."),
        ("loop.yaml", "(file): cannot be read."),
        ("empty.yaml", "(top): the file is empty."),
        ("a\0b", "(file): cannot be read."),
        ("x" * 5000, "(file): cannot be read."),
    ]:
        with pytest.raises(RobotFileError) as refused:
            read_robot_file(tmp_path / name)
        assert words in str(refused.value)
    with pytest.raises(RobotFileError, match="is not a file"):
        read_robot_file("/dev/zero")


@pytest.mark.parametrize("name", ["link.npz", "folder/modes.npz"])
def test_files_beside_may_not_lead_out_of_the_folder(ups: str, tmp_path: Path, name: str) -> None:
    robot = tmp_path / "robots"
    robot.mkdir()
    (tmp_path / "modes.npz").write_bytes(b"secret")
    (robot / "link.npz").symlink_to("../modes.npz")
    (robot / "folder").symlink_to("..")
    file = robot / "my.yaml"
    file.write_text(ups.replace("mass: 50", f"flexible: {{type: modes, file: {name}}}"), encoding="utf-8")
    with pytest.raises(RobotFileError, match=r"platform\.flexible\.file: leads out of the folder of the robot file"):
        read_robot_file(file)


def test_files_beside_are_not_opened(ups: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "modes.npz")  # opening it would wait for ever
    file = tmp_path / "my.yaml"
    file.write_text(ups.replace("mass: 50", "flexible: {type: modes, file: modes.npz}"), encoding="utf-8")
    description = read_robot_file(file)
    assert description.file.platform.flexible is not None
    assert path_beside(file, "modes.npz") == Path(os.path.realpath(tmp_path / "modes.npz"))
    assert path_beside(file, "../modes.npz") is None


def test_errors_are_ours_and_can_be_pickled() -> None:
    with pytest.raises(FlexapodError) as refused:
        read_robot_text("a: 1")
    again = pickle.loads(pickle.dumps(refused.value))
    assert str(again) == str(refused.value)
    assert again.problems == refused.value.problems  # type: ignore[attr-defined]


def test_importing_is_light() -> None:
    code = "import sys, flexapod.description; print([m for m in ('numpy', 'casadi', 'scipy', 'xarray') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
