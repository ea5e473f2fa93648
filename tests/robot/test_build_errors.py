"""Robots that cannot be put together: one sentence that names the leg, the joint and by how much."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.description import description_from_document
from flexapod.robot.catalogue import UnknownRobotError
from flexapod.robot.robot import build_robot
from flexapod.robot.tree import RobotBuildError
from support.robots import robot_named


def at(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """An edit: write a value at a path of the file."""

    def edit(data: dict[str, Any]) -> None:
        *folders, last = path.split("/")
        for key in folders:
            data = data[key]
        data[last] = value

    return edit


def row(body: str, **changes: Any) -> Callable[[dict[str, Any]], None]:
    def edit(data: dict[str, Any]) -> None:
        next(r for r in data["legs"]["each"]["1"]["table"] if r["body"] == body).update(changes)

    return edit


def skew_universal(data: dict[str, Any]) -> None:
    elbow = data["legs"]["template"]["joints"]["elbow"]
    del elbow["direction"]
    elbow["axis2"] = [0, 1, 0.5]


JOINTS = "legs/template/joints/"
HOME = "Check home, the joint positions and lengths"
NEARER = "Check home, the joint positions, or give `start` values nearer to the assembled leg"
CASES = [
    ("hexapod", at("home/position", [0, 0, 0.9]), f"leg A cannot reach the platform at home: it is short by 0.115834 m. {HOME}"),
    ("hexa", at("home/position", [0, 0, -1.2]), f"leg 1 cannot reach the platform at home: it is short by 0.312383 m. {HOME}"),
    ("hexa", at(JOINTS + "ball/at", [0, 0, 3.0]), f"leg 1 does not fit at home: its rod is too long by 2.10672 m. {HOME}"),
    (
        "stewart-3-3",
        at("home/position", [1.2499999999999998, -2.1650635094610964, 0]),
        "leg A: has no length at home (its universal joint sits in its platform joint)",
    ),
    (
        "stewart-3-3",
        at("legs/each/A/hip", {"at": [2.5, 0, 0], "axis1": [-1.2499999999999998, 2.1650635094610964, 4.330127018922192]}),
        "leg A, joint hip: axis1 is parallel to the leg at home; choose another axis1",
    ),
    (
        "stewart-3-3",
        at(JOINTS + "extra", {"type": "spherical", "from": "cylinder", "to": "platform"}),
        f"leg A (joints ball, extra) does not close at home: 5 m (or rad) remain. {NEARER}",
    ),
    ("tripteron", at("home/position", [5, 0, 5]), f"leg X does not close at home: 4.85 m (or rad) remain. {NEARER}"),
    (
        "dualemps-topology",
        row("14", d=0.3),
        "leg 1: something is attached to the beam 13 at [0.3, 0.0, 0.0]; a beam has nodes at x = 0, 0.22525, 0.4505 only",
    ),
    (
        "hexapod",
        at(JOINTS + "ball/at", [0.1, 0, 0.5]),
        "leg A, joint ball: with `direction: home` the joint must lie at [0, 0, length] of the rod",
    ),
    ("hexa", skew_universal, "leg 1, joint elbow: axis1 and axis2 must be perpendicular"),
    (
        "five-bar",
        at("legs/each/left/joints/tip/rotation", {"Z": 2.604476119974817}),
        "leg left meets its fixed joint platform at home turned by 180 deg. "
        "Give `start` values nearer to the assembled leg, or correct the joint's `rotation`",
    ),
    (
        "tripteron",
        at(JOINTS + "elbow", {"type": "universal", "from": "proximal", "to": "distal", "axis1": [1, 0, 0], "direction": "home"}),
        "leg X: `direction: home` is known for U-P-S, P-U-S and R-U-S legs; give the direction as a vector",
    ),
    (
        "every-joint",
        at(
            "legs/each/slider/joints/twist",
            {"type": "universal", "from": "arm", "to": "forearm", "at": [0, 0, 0.7], "axis1": [1, 0, 0], "direction": "home"},
        ),
        "leg slider: `direction: home` is known for U-P-S, P-U-S and R-U-S legs; give the direction as a vector",
    ),
]


@pytest.mark.parametrize(("name", "edit", "text"), CASES, ids=[f"{name}-{text[:40]}" for name, _, text in CASES])
def test_message(name: str, edit: Callable[[dict[str, Any]], None], text: str) -> None:
    data = copy.deepcopy(robot_named(name).description.document)
    edit(data)
    with pytest.raises(RobotBuildError) as caught:
        build_robot(description_from_document(data))
    assert str(caught.value) == text
    assert isinstance(caught.value, fp.FlexapodError)


def test_unknown_robot_names_the_nearest() -> None:
    nearest = r"no robot called 'stewart-33', did you mean 'stewart-3-3'\? Known robots: .*hexapod"
    with pytest.raises(UnknownRobotError, match=nearest):
        fp.load("stewart-33")


def test_a_leg_that_the_file_leaves_inside_out_has_no_closed_form() -> None:
    """A slide that points from the platform to the base: displacements are negative, the general chain is used."""
    data = copy.deepcopy(robot_named("stewart-3-3").description.document)
    data["legs"]["template"]["joints"]["slide"].update(axis=[0, 0, -1], zero=0, start=-5)
    robot = build_robot(description_from_document(data))
    assert {leg.architecture for leg in robot.legs} == {"general"}
    state = fp.State(position=[0.1, 0.2, 4.3], velocity=[1, 0, 0])
    ours, plain = fp.inverse_kinematics(robot, state), fp.inverse_kinematics(robot_named("stewart-3-3"), state)
    assert abs(ours.actuator_position.values + plain.actuator_position.values + 4.999999999999999).max() < 1e-12
    assert abs(ours.actuator_velocity.values + plain.actuator_velocity.values).max() < 1e-12


def test_the_branch_is_the_one_in_which_the_leg_was_assembled() -> None:
    """`start` and a given direction lead to one root; `branch` of the file says the other: home decides."""
    from flexapod.robot.chain import link_poses

    robot = robot_named("hexapod")
    data = copy.deepcopy(robot.description.document)
    data["legs"]["template"]["branch"] = 1
    for leg in robot.legs:
        poses = link_poses(leg, leg.home)
        d = poses[2][1] + poses[2][0] @ leg.closing.on_link.position - poses[1][1]
        own = data["legs"]["each"][leg.name]
        own["hip"] = {**own["hip"], "direction": d.tolist()}
        own["rail"] = {**own["rail"], "start": float(leg.home[0])}
    other = build_robot(description_from_document(data))
    assert [leg.branch for leg in other.legs] == [-1] * 6
    state = fp.State(position=np.add(robot.home.position, 0.02))
    ours, plain = (fp.inverse_kinematics(r, state).actuator_position.values for r in (other, robot))
    assert abs(ours - plain).max() < 1e-12
