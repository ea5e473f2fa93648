"""Shapes of bodies from files: read, placed and drawn with their body; an invalid file is reported, and changes no number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
import yaml

import flexapod as fp
from flexapod.description.mirror import PLANES, mirrored_leg
from flexapod.description.rotations import rotation_matrix
from flexapod.description.schema import Leg

CORNERS = np.array([[0.0, 0.0, 0.0], [10.0, 0.0, 0.0], [0.0, 20.0, 0.0], [0.0, 0.0, 30.0]])
FACES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
PLACE: dict[str, Any] = {"position": [0.1, 0.2, 0.3], "rotation": {"Z": ["90 deg"]}}
PLACED = np.array([0.1, 0.2, 0.3]) + 1e-3 * CORNERS[:, [1, 0, 2]] * [-1.0, 1.0, 1.0]
ROBOT = "delta"
SINGLE = 1e-6
"""[m]: STL has single precision."""
ROUNDING = 1e-12
"""[mm]: a rotation and its mirror image."""


def words() -> dict[str, Any]:
    """The robot's file; `on` is a word there."""
    text = re.sub(r"\bon:", "'on':", fp.catalogue()[ROBOT].read_text(encoding="utf-8"))
    return dict(yaml.safe_load(text))


def robot_file(folder: Path, body: str = "platform", **mesh: Any) -> Path:
    """The robot with a mesh on its platform, or on a body of its legs."""
    data = words()
    (data["platform"] if body == "platform" else data["legs"]["template"]["bodies"][body])["mesh"] = mesh
    path = folder / "robot.yaml"
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    return path


def export(folder: Path, kind: str) -> None:
    (folder / f"part.{kind}").write_bytes(bytes_of(trimesh.Trimesh(CORNERS, FACES, process=False).export(file_type=kind)))


def bytes_of(found: Any) -> bytes:
    return found.encode() if isinstance(found, str) else bytes(found)


def near(points: Any, wanted: Any) -> bool:
    """Every wanted point is among the points."""
    gaps = np.linalg.norm(np.asarray(points)[:, None] - np.asarray(wanted)[None], axis=2)
    return bool(gaps.min(axis=0).max() < SINGLE)


@pytest.mark.parametrize("kind", ["stl", "obj", "glb"])
def test_every_kind_is_read_in_its_unit_and_drawn_with_the_platform(kind: str, tmp_path: Path) -> None:
    export(tmp_path, kind)
    robot = fp.load(robot_file(tmp_path, file=f"part.{kind}", unit="1 mm", **PLACE))
    (mesh,) = robot.meshes
    assert (mesh.leg, mesh.link) == (-1, -1)
    assert near(mesh.vertices, PLACED)
    drawn = next(t for t in fp.figures.robot_figure(robot).data if t.name == "platform")
    assert near(np.column_stack([drawn.x, drawn.y, drawn.z]), robot.home.position + PLACED @ robot.home.rotation.T)


def test_a_leg_has_one_per_body_and_no_rod_through_it(tmp_path: Path) -> None:
    export(tmp_path, "stl")
    robot = fp.load(robot_file(tmp_path, next(iter(words()["legs"]["template"]["bodies"])), file="part.stl", unit="1 mm"))
    bare = fp.load(ROBOT)
    assert [mesh.leg for mesh in robot.meshes] == list(range(len(robot.legs)))
    with_mesh, without = (
        next(t for t in fp.figures.robot_figure(r).data if t.name == f"leg {robot.legs[0].name}") for r in (robot, bare)
    )
    assert len(with_mesh.x) < len(without.x)
    state = fp.State(position=bare.home.position, rotation=bare.home.rotation)
    assert np.array_equal(fp.inverse_dynamics(robot, state).force, fp.inverse_dynamics(bare, state).force)
    assert robot.structure == bare.structure


@pytest.mark.parametrize(("content", "reason"), [(None, "there is no file"), (b"garbage", "is not a readable|no triangles")])
def test_a_file_that_is_no_good_is_reported_with_its_line(content: bytes | None, reason: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "part.glb").write_bytes(content)
    robot = fp.load(robot_file(tmp_path, file="part.glb"))
    with pytest.warns(fp.FlexapodWarning, match=rf"robot.yaml:\d+: platform.mesh.file: .*({reason})"):
        assert robot.meshes == ()
    assert len(fp.figures.robot_figure(robot).data) == len(fp.figures.robot_figure(fp.load(ROBOT)).data)


@pytest.mark.parametrize(
    ("name", "reason"),
    [("../part.stl", "stay in the folder"), ("/tmp/part.stl", "relative to the folder"), ("part.step", ".stl or .obj or .glb")],
)
def test_names_are_checked_when_the_file_is_read(name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(fp.RobotFileError, match=reason):
        fp.load(robot_file(tmp_path, file=name))


@pytest.mark.parametrize("own", [None, "xz", "yz"])
def test_a_mirrored_leg_has_the_mirror_image(own: str | None) -> None:
    mesh = {"file": "part.stl", "mirrored": own, **PLACE}
    leg = {
        "joints": {
            "slide": {"type": "prismatic", "from": "base", "to": "rod", "axis": [0, 0, 1]},
            "ball": {"type": "spherical", "from": "rod", "to": "platform"},
        },
        "bodies": {"rod": {"mesh": mesh}},
    }

    def placed(own: dict[str, Any]) -> Any:
        found = Leg.model_validate(own).bodies["rod"].mesh
        assert found is not None
        flip = np.array(PLANES[found.mirrored] if found.mirrored else (1.0, 1.0, 1.0))
        return np.array(found.position) + (CORNERS * flip) @ np.array(rotation_matrix(found.rotation)).T

    assert np.allclose(placed(mirrored_leg(leg, "xz")), placed(leg) * [1.0, -1.0, 1.0], rtol=0, atol=ROUNDING)
