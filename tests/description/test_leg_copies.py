"""Copies of legs: rotated and mirrored ones against the same legs by other means."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states
from flexapod.description import RobotFileError, read_robot_text
from flexapod.description.leg_copies import with_copies
from flexapod.description.problem_report import Report
from flexapod.description.read import description_from_document
from flexapod.robot.robot import build_robot
from support.robots import robot_named

SAME = 1e-12
"""Of the largest number: other orders of the same few hundred products."""

PLANES = {"xy": np.diag([1.0, 1.0, -1.0]), "xz": np.diag([1.0, -1.0, 1.0]), "yz": np.diag([-1.0, 1.0, 1.0])}
STATES = 5


@pytest.fixture(autouse=True)
def _numpy_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mirrored robot has kernels of its own: interpret them."""
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")


def mirrored(document: dict[str, Any], plane: str) -> dict[str, Any]:
    """A robot all of whose legs are mirror images; what is no leg is mirrored by hand."""
    M, data = PLANES[plane], copy.deepcopy(document)
    template, each = data["legs"].get("template"), data["legs"]["each"]
    robot = build_robot(description_from_document(document))
    data["home"] = {
        "position": (M @ robot.home.position).tolist(),
        "rotation": {"matrix": (M @ robot.home.rotation @ M).tolist()},
    }
    data["gravity"] = (M @ robot.gravity).tolist()
    b = robot.platform
    L = np.outer(np.diag(M), np.diag(M))
    J, h = L * b.inertia, M @ b.first_moment
    data["platform"] = {
        "base_parameters": {
            **{f"{a}{c}": float(J["XYZ".index(a), "XYZ".index(c)]) for a, c in ("XX", "XY", "XZ", "YY", "YZ", "ZZ")},
            **{f"M{a}": float(h["XYZ".index(a)]) for a in "XYZ"}, "M": b.mass,
        }
    }  # fmt: skip
    words = {f"{name}-image": {"copy": name, "mirrored": plane} for name in each}
    both = {**data, "legs": {"template": template, "each": {**each, **words}}}
    report = Report(file="", document=both, lines={})
    found = with_copies(both, {}, report)["legs"]["each"]
    assert report.problems == []
    data["legs"]["each"] = {name: found[name] for name in words}
    return data


MORE = [pytest.param(name, plane, marks=pytest.mark.full) for name in ("hexaslide", "delta", "tricept") for plane in PLANES]


@pytest.mark.parametrize(("name", "plane"), [*(("every-joint", plane) for plane in PLANES), *MORE])
def test_forces_of_the_mirror_image(name: str, plane: str) -> None:
    """A mirrored robot needs the same forces for the mirrored motion: every place, axis, tensor and sign enters."""
    robot = robot_named(name)
    image = build_robot(description_from_document(mirrored(robot.description.document, plane)))
    states = random_states(robot, STATES, seed=2)
    M = PLANES[plane]
    axial = -M  # of rotations
    rotated = {
        "position": states["position"] @ M, "rotation": M @ states["rotation"] @ M, "velocity": states["velocity"] @ M,
        "acceleration": states["acceleration"] @ M, "angular_velocity": states["angular_velocity"] @ axial,
        "angular_acceleration": states["angular_acceleration"] @ axial,
    }  # fmt: skip
    time = np.arange(float(STATES))
    ours = fp.inverse_dynamics(robot, fp.Motion(time=time, **states), friction=False)
    theirs = fp.inverse_dynamics(image, fp.Motion(time=time, **rotated), friction=False)
    assert np.abs(ours.force.values - theirs.force.values).max() < SAME * np.abs(ours.force.values).max()
    q = [
        fp.inverse_kinematics(r, fp.Motion(time=time, **s)).actuator_position.values
        for r, s in ((robot, states), (image, rotated))
    ]
    assert np.abs(q[0] - q[1]).max() < SAME


def test_a_robot_of_mirrored_pairs() -> None:
    """Two legs of a pair, one of them mirrored, three times: the same hexa as its six legs written out."""
    document = copy.deepcopy(fp.load("hexa").description.document)
    each = document["legs"]["each"]
    first = {"shoulder": each["1"]["shoulder"], "ball": each["1"]["ball"]}
    document["legs"]["each"] = {
        "1": first, "2": {"copy": "1", "mirrored": "xz"}, "3": {"copy": "1", "rotated": "120 deg"},
        "4": {"copy": "2", "rotated": "120 deg"}, "5": {"copy": "1", "rotated": "240 deg"},
        "6": {"copy": "2", "rotated": "240 deg"},
    }  # fmt: skip
    found, wanted = build_robot(description_from_document(document)), fp.load("hexa")
    for mine, other in zip(found.legs, wanted.legs, strict=True):
        assert mine.architecture == other.architecture == "RUS"
        assert np.abs(mine.closing.on_platform.position - other.closing.on_platform.position).max() < SAME
        assert np.abs(mine.links[0].placement.position - other.links[0].placement.position).max() < SAME
    state = fp.State(position=wanted.home.position + np.array([0.03, -0.02, 0.04]), rotation=wanted.home.rotation)
    forces = [fp.inverse_dynamics(r, state).force.values for r in (found, wanted)]
    assert np.abs(forces[0] - forces[1]).max() < SAME * np.abs(forces[1]).max()


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("gough-stewart", "a leg that is given as a table cannot be mirrored"),
        ("delta-flexible", "the flexible body arm is not its own mirror image"),
    ],
)
def test_legs_without_a_mirror_image(name: str, label: str) -> None:
    document = copy.deepcopy(fp.load(name).description.document)
    document["legs"]["each"]["copied"] = {"copy": "1", "mirrored": "yz"}
    with pytest.raises(RobotFileError, match=label):
        description_from_document(document)


def test_a_part_may_be_called_copy() -> None:
    """Files that had such names before still mean them."""
    text = fp.catalogue()["planar-4-prr"].read_text(encoding="utf-8").replace("rail", "copy").replace("link", "rotated")
    text = text.replace("south: {", "south: {copy: {limits: {speed: 2}}, rotated: {mass: 0.6}, ")
    assert build_robot(read_robot_text(text)).bodies_by_name["south.rotated"].mass == 0.6


def test_a_screw_has_no_mirror_image() -> None:
    """Said once, with one advice."""
    document = copy.deepcopy(fp.load("planar-4-prr").description.document)
    document["plane"] = None
    first = next(iter(document["legs"]["each"]))
    document["legs"]["template"]["joints"]["thread"] = {
        "type": "screw",
        "from": "base",
        "to": "platform",
        "axis": [0, 0, 1],
        "pitch": 0.1,
    }
    document["legs"]["each"]["copied"] = {"copy": first, "mirrored": "yz"}
    with pytest.raises(RobotFileError, match=r"a screw is not its own mirror image: its pitch changes sign\. Write the leg"):
        description_from_document(document)
