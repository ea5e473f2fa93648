"""Files that a robot file names: what `save_modes` wrote makes the same robot, what is wrong is said with file and line."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import flexapod as fp
from flexapod.flexible.body_cache import pack
from flexapod.robot.robot import build_robot

SAME_PLATE = 1e-9
"""Relative: frequencies of one mesh; found none."""
OTHER_PLATE = 1e-3
"""Relative: another reduction changes frequencies by more."""


def robot_file(folder: Path, flexible: str = "{type: modes, file: modes.npz}") -> Path:
    """Six legs with spherical joints at the corners of the platform, which a file of modes describes."""
    file = folder / "robot.yaml"
    text = Path(fp.catalogue()["stewart-3-3"]).read_text()
    start = text.index("platform:\n")
    end = text.index("legs:\n")
    platform = f"platform:\n  flexible: {flexible}\n  points: {{tool: [0, 0, 0]}}\n"
    file.write_text(text[:start] + platform + text[end:])
    return file


def framework(consistent: bool) -> fp.flexible.FlexibleBody:
    """Rods between the six joints of the platform, every one with every other, and a heavy node in their middle."""
    corners = np.array([leg.closing.on_platform.position for leg in fp.load("stewart-3-3").legs])
    nodes = np.vstack([np.unique(corners.round(12), axis=0), [[0.05, -0.02, 0.3]], [[-0.1, 0.04, -0.2]]])
    n = len(nodes)
    K, M = np.zeros((3 * n, 3 * n)), np.zeros((3 * n, 3 * n))
    for i in range(n):
        for k in range(i):
            along = nodes[k] - nodes[i]
            length = np.linalg.norm(along)
            pair = [*range(3 * i, 3 * i + 3), *range(3 * k, 3 * k + 3)]
            K[np.ix_(pair, pair)] += np.kron([[1, -1], [-1, 1]], 1e7 * np.outer(along, along) / length**3)
            share = [[2, 1], [1, 2]] if consistent else [[3, 0], [0, 3]]
            M[np.ix_(pair, pair)] += length * np.kron(share, np.eye(3)) / 6.0
    places = {f"at {k}": k for k in range(n)}
    return fp.flexible.from_matrices(sparse.csc_array(M), sparse.csc_array(K), nodes, modes=4, interfaces=places, damping=0.01)


@pytest.mark.parametrize("consistent", [True, False])
def test_the_robot_has_the_body_that_was_saved(tmp_path: Path, consistent: bool) -> None:
    body = framework(consistent)
    fp.flexible.save_modes(body, tmp_path / "modes.npz")
    robot = fp.load(robot_file(tmp_path))
    assert robot.flexible_platform is not None
    found, given = pack(robot.flexible_platform), pack(body)
    assert found.keys() == given.keys()
    assert all(np.array_equal(found[key], given[key]) for key in given)
    direct = fp.load("stewart-3-3").with_flexible_body("platform", body)
    assert {k: v for k, v in robot.values.items() if ".flex." in k} == {k: v for k, v in direct.values.items() if ".flex." in k}


def refused(tmp_path: Path) -> str:
    file = robot_file(tmp_path)
    line = next(k for k, text in enumerate(file.read_text().splitlines(), 1) if "modes.npz" in text)
    with pytest.raises(fp.RobotFileError) as caught:
        fp.load(file)
    message = str(caught.value)
    assert message.startswith(f"{file}:{line}: platform.flexible.file: ")
    return message


def test_wrong_files_are_named_with_robot_file_and_line(tmp_path: Path) -> None:
    modes = tmp_path / "modes.npz"
    assert "there is no file" in refused(tmp_path)
    modes.mkdir()
    assert "is not a regular file" in refused(tmp_path) or "directory" in refused(tmp_path)
    modes.rmdir()
    modes.write_bytes(b"not a zip file")
    assert "it is not a zip file" in refused(tmp_path)
    np.savez(modes, r0=np.zeros((1, 3)))
    assert "has no mass, phi_d, omega" in refused(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "modes.npz")
    assert "is not a regular file" in refused(tmp_path)


@pytest.mark.parametrize("name", ['"a\\0b.npz"', '"\\u202e.npz"', "/etc/passwd", "../modes.npz", "modes.txt"])
def test_wrong_names(tmp_path: Path, name: str) -> None:
    file = robot_file(tmp_path, f"{{type: modes, file: {name}}}")
    with pytest.raises(fp.RobotFileError, match=r"robot\.yaml:\d+: platform\.flexible\.file: "):
        fp.load(file)


def test_files_of_modes_in_legs_that_do_not_fit_are_refused_with_file_and_line(tmp_path: Path) -> None:
    file = robot_file(tmp_path, "{type: modes, file: modes.npz}")
    text = Path(fp.catalogue()["stewart-3-3"]).read_text()
    first = text.index("cylinder: {mass")
    file.write_text(text[:first] + "cylinder: {flexible: {type: modes, file: modes.npz}}" + text[text.index("\n", first) :])
    with pytest.raises(fp.FlexapodError, match=r"robot\.yaml:\d+: leg .*, body cylinder: there is no file"):
        fp.load(file)


def test_a_link_made_after_the_check_is_not_followed(tmp_path: Path) -> None:
    """The file is looked up again when it is opened, so that it still lies in the folder of the robot file."""
    outside = tmp_path / "outside.npz"
    fp.flexible.save_modes(framework(False), outside)
    inside = tmp_path / "robots"
    inside.mkdir()
    file = robot_file(inside)
    description = fp.read_robot_file(file)
    (inside / "modes.npz").symlink_to(outside)
    with pytest.raises(fp.FlexapodError, match="beside"):
        build_robot(description)


PLATE = "type: plate, outline: [[-3, -3], [2, -3], [2, 3], [-3, 3]], thickness: 0.1, material: steel, modes: 2, theory: kirchhoff"


@pytest.mark.parametrize("words", ["method: craig-bampton", "boundary: pinned"])
def test_reduction_of_a_plate_is_a_word_of_the_file(tmp_path: Path, words: str) -> None:
    """The file's words give what the same words of `flexible.plate` give."""
    robot = fp.load(robot_file(tmp_path, f"{{{PLATE}, reduction: {{{words}}}}}"))
    places = {leg.name: leg.closing.on_platform.position for leg in robot.legs}
    key, value = words.split(": ")
    steel = fp.flexible.material("steel")
    given: dict[str, Any] = {
        "outline": [[-3, -3], [2, -3], [2, 3], [-3, 3]], "thickness": 0.1, "young": steel.young, "poisson": steel.poisson,
        "density": steel.density, "modes": 2, "theory": "kirchhoff", "interfaces": {**places, "tool": [0, 0, 0]},
    }  # fmt: skip
    found = robot.flexible_platform
    assert found is not None
    wanted, usual = fp.flexible.plate(**given, **{key: value}), fp.flexible.plate(**given)
    assert np.allclose(found.angular_frequency, wanted.angular_frequency, rtol=SAME_PLATE, atol=0)
    assert not np.allclose(found.angular_frequency[:2], usual.angular_frequency, rtol=OTHER_PLATE, atol=0) or len(found.names) > 2


def test_wrong_words_of_a_reduction_are_named(tmp_path: Path) -> None:
    with pytest.raises(fp.RobotFileError, match=r"platform\.flexible\.reduction\.boundary: "):
        fp.load(robot_file(tmp_path, f"{{{PLATE}, reduction: {{boundary: glued}}}}"))
    with pytest.raises(fp.RobotFileError, match="reduction: does not belong to type modes"):
        fp.load(robot_file(tmp_path, "{type: modes, file: modes.npz, reduction: {method: normal}}"))


def test_a_body_without_interfaces_at_the_joints_is_named_with_its_line(tmp_path: Path) -> None:
    body = framework(consistent=True)
    fp.flexible.save_modes(replace(body, interfaces={}), tmp_path / "modes.npz")
    file = robot_file(tmp_path)
    line = next(k for k, text in enumerate(file.read_text().splitlines(), 1) if "modes.npz" in text)
    with pytest.raises(fp.FlexapodError, match=r"no interface at the joint of leg A .* it has none at all") as caught:
        fp.load(file)
    assert str(caught.value).startswith(f"{file}:{line}: ")


def test_a_beam_without_poisson_is_named_with_its_line(tmp_path: Path) -> None:
    lines = Path(fp.catalogue()["delta-flexible"]).read_text().splitlines()
    file = tmp_path / "robot.yaml"
    number = next(k for k, row in enumerate(lines, 1) if "poisson: 0.3, " in row)
    file.write_text("\n".join(row.replace("poisson: 0.3, ", "") for row in lines))
    with pytest.raises(fp.FlexapodError, match="Torsion and shear need poisson") as caught:
        fp.load(file)
    assert str(caught.value).startswith(f"{file}:{number}: ")


def test_a_platform_without_modes_is_refused(tmp_path: Path) -> None:
    fp.flexible.save_modes(framework(True), tmp_path / "modes.npz")
    with pytest.raises(fp.RobotFileError, match="a flexible platform without modes is rigid"):
        fp.load(robot_file(tmp_path, "{type: modes, file: modes.npz, modes: 0}"))
