"""Laws of every robot: neither the world frame nor the names and the order of the legs matter."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.description import description_from_document
from flexapod.robot.geometry import rotation_from_vector, rotation_matrix
from flexapod.robot.robot import Robot, build_robot
from support.robots import FILES, home, possible_motion, robot_named, run

SAME = 1e-12
"""Of the largest entry: results differ by rounding of the turned geometry."""
ROTATED = 1e-14
"""Relative: the length of a rotated vector."""

QUANTITIES = [f"{what}_{k}" for what in ("actuator", "joint") for k in ("position", "velocity", "acceleration")]


@pytest.fixture(autouse=True)
def _numpy_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each changed robot has a kernel of its own: interpret them, compiling takes longer."""
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")


def solved(robot: Robot, motion: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    outputs, status = run(fp.kernel(robot, "inverse_kinematics", detail="joints"), motion)
    assert np.all(status == 0)
    return outputs


def placed(position: np.ndarray, R: np.ndarray) -> dict[str, Any]:
    return {"position": position.tolist(), "rotation": {"matrix": R.tolist()}}


def has_beams(robot: Robot) -> bool:
    return any(link.elastic for leg in robot.legs for link in leg.links)


def in_another_world(robot: Robot, shift: np.ndarray, Q: np.ndarray) -> Robot:
    """The same robot written in a world whose axes and origin are elsewhere: v_new = Q v, p_new = Q p + shift."""
    data = copy.deepcopy(robot.description.document)
    if not (has_beams(robot) and robot.planar):
        data.pop("plane", None)  # a tilted plane is no coordinate plane
    (data["legs"].get("template") or {}).pop("frame", None)
    for name, leg in robot.description.legs.items():
        R = rotation_matrix(leg.frame.rotation)
        data["legs"]["each"][name] = {
            **(data["legs"]["each"][name] or {}), "frame": placed(Q @ np.array(leg.frame.position) + shift, Q @ R)
        }  # fmt: skip
    data["home"] = placed(Q @ robot.home.position + shift, Q @ robot.home.rotation)
    data["gravity"] = (Q @ robot.gravity).tolist()
    return build_robot(description_from_document(data))


def rotated(motion: dict[str, np.ndarray], shift: np.ndarray, Q: np.ndarray) -> dict[str, np.ndarray]:
    result = {name: values @ Q.T for name, values in motion.items() if name != "rotation"}
    result["position"] = result["position"] + shift
    result["rotation"] = Q @ motion["rotation"]
    return result


@pytest.mark.parametrize("name", FILES)
def test_the_world_frame_does_not_matter(name: str) -> None:
    robot = robot_named(name)
    shift, Q = np.array([0.3, -0.7, 0.4]), rotation_from_vector(np.array([0.4, -1.1, 0.8]))
    if has_beams(robot) and robot.planar:  # planar beams stay in their coordinate plane
        normal = np.eye(3)["xyz".index(({*"xyz"} - {*robot.description.file.plane}).pop())]
        shift, Q = shift - normal * (normal @ shift), rotation_from_vector(0.9 * normal)
    other = in_another_world(robot, shift, Q)
    motion = possible_motion(robot, 50, seed=5)
    ours, theirs = solved(robot, motion), solved(other, rotated(motion, shift, Q))
    for key in QUANTITIES:
        assert np.abs(ours[key] - theirs[key]).max() < SAME * max(1.0, np.abs(ours[key]).max()), key
    assert (other.mobility.rank, other.mobility.platform) == (robot.mobility.rank, robot.mobility.platform)
    np.testing.assert_allclose(np.linalg.norm(other.gravity), np.linalg.norm(robot.gravity), rtol=ROTATED)


@pytest.mark.parametrize("name", FILES)
def test_names_and_order_of_legs_do_not_matter(name: str) -> None:
    robot = robot_named(name)
    data = copy.deepcopy(robot.description.document)
    names = list(data["legs"]["each"])
    order = np.random.default_rng(11).permutation(len(names))
    if np.all(order == np.arange(len(names))):
        order = order[::-1]
    data["legs"]["each"] = {f"leg-{names[i]}": data["legs"]["each"][names[i]] for i in order}
    if "body" in data["platform"]:
        data["platform"]["body"] = "leg-" + data["platform"]["body"]
    other = build_robot(description_from_document(data))
    assert [leg.name for leg in other.legs] == [f"leg-{names[i]}" for i in order]
    motion = possible_motion(robot, 50, seed=6)
    ours, theirs = solved(robot, motion), solved(other, motion)
    for what, labels, others in (("actuator", robot.actuators, other.actuators), ("joint", robot.coordinates, other.coordinates)):
        columns = [others.index(f"leg-{label}") for label in labels]
        for k in ("position", "velocity", "acceleration"):
            mine, yours = ours[f"{what}_{k}"], theirs[f"{what}_{k}"][:, columns]
            assert np.abs(mine - yours).max() < SAME * max(1.0, np.abs(mine).max())
    assert len(home(other)) == len(home(robot))
