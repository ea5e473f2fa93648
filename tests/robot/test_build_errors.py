"""Robots that cannot be put together: one sentence that names the leg, the joint and by how much."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.description import description_from_document
from flexapod.robot.catalogue import UnknownRobotError
from flexapod.robot.leg_tree import RobotBuildError
from flexapod.robot.robot import build_robot
from support.robots import robot_named

ROUNDING = 1e-12
"""Lengths [m] and rates [m/s] of size 5, by another kinematics; found 3e-16."""


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


BEAM = {"type": "beam", "length": 0.5, "material": "steel", "section": {"shape": "tube", "outer": 0.02, "inner": 0.01}}
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
    (
        "hexapod",
        at("legs/template/bodies/link", {"flexible": BEAM}),
        "leg A, joint ball: with `direction: home` the joint must lie at [length, 0, 0] of the beam, which runs along its x axis",
    ),
    (
        "stewart-3-3",
        at("legs/template/bodies/piston", {"flexible": BEAM}),
        "leg A, joint slide: the beam piston runs along its own x axis and lies across the leg; turn it by `rotation`, "
        "e.g. rotation: {Y: -90 deg} for axis: [0, 0, 1]",
    ),
    (
        "stewart-3-3",
        at("legs/template/bodies/cylinder", {"flexible": BEAM}),
        "leg A, joint slide: `direction: home` lays the beam cylinder along the leg by its own x axis, so that the joint moves "
        "across the leg; write axis: [1, 0, 0]",
    ),
    ("hexa", skew_universal, "leg 1, joint elbow: axis1 and axis2 must be perpendicular"),
    (
        "five-bar",
        at("legs/each/left/joints/tip/rotation", {"Z": 2.604476119974817}),
        "leg left meets its fixed joint platform at home rotated by 180 deg. "
        "Give `start` values nearer to the assembled leg, or correct the joint's `rotation`",
    ),
    (
        "tripteron",
        at(JOINTS + "elbow", {"type": "universal", "from": "proximal", "to": "distal", "axis1": [1, 0, 0], "direction": "home"}),
        "leg X: `direction: home` is available for U-P-S, P-U-S and R-U-S legs; give the direction as a vector",
    ),
    (
        "every-joint",
        at(
            "legs/each/slider/joints/twist",
            {"type": "universal", "from": "arm", "to": "forearm", "at": [0, 0, 0.7], "axis1": [1, 0, 0], "direction": "home"},
        ),
        "leg slider: `direction: home` is available for U-P-S, P-U-S and R-U-S legs; give the direction as a vector",
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
    assert abs(ours.actuator_position.values + plain.actuator_position.values + 4.999999999999999).max() < ROUNDING
    assert abs(ours.actuator_velocity.values + plain.actuator_velocity.values).max() < ROUNDING


def test_the_branch_is_the_one_in_which_the_leg_was_assembled() -> None:
    """`start` and a given direction lead to one root; `branch` of the file says the other: home decides."""
    from flexapod.robot.leg_positions import link_poses

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
    assert abs(ours - plain).max() < ROUNDING


BODY = "{mass: 1, com: [0.05, 0, 0], inertia: {diagonal: [0.001, 0.002, 0.003]}}"
FREE = """flexapod: 1
name: locked
source: written for this test
plane: xy
gravity: [0, -9.81, 0]
home: HOME
platform: {body: a.one}
legs:
  each:
    a:
      joints:
        j1: {type: revolute, from: base, to: one, axis: [0, 0, 1], START, actuated: true}
        OTHERS
      bodies: {one: BODY, two: BODY}
"""
SECOND = "j2: {type: revolute, from: base, to: two, at: [1, 0, 0], axis: [0, 0, 1], start: 120 deg}"
MEETS = "j3: {type: revolute, from: one, to: two, at: [1, 0, 0], on: [1, 0, 0], axis: [0, 0, 1]}"


def mechanism(folder: Path, others: list[str], after: str = "", rotated: bool = True) -> Path:
    text = FREE.replace("OTHERS", "\n        ".join(others)).replace("BODY", BODY)
    text = text.replace("HOME", "{position: [0, 0, 0], rotation: {Z: 60 deg}}" if rotated else "{position: [0, 0, 0]}")
    path = folder / "locked.yaml"
    path.write_text(text.replace("START", "start: 60 deg" if rotated else "start: 0") + after, encoding="utf-8")
    return path


def test_loops_that_lock(tmp_path: Path) -> None:
    """A triangle of bars: line of the leg, path of the drive, reason, advice."""
    with pytest.raises(RobotBuildError) as error:
        fp.load(mechanism(tmp_path, [SECOND, MEETS]))
    assert str(error.value).endswith(
        "locked.yaml:10: legs.a.j1: the loops lock, this drive cannot move, neither at home nor near it. Check the directions of "
        "the axes in its loop and the lengths of its bodies, or add a joint"
    )


def test_couplings_that_contradict(tmp_path: Path) -> None:
    """Two ratios between the same joints leave them no motion; one of them does."""
    one, two = "couplings:\n  gear: {a.j1: 2, a.j2: 1}\n", "  belt: {a.j1: 3, a.j2: 1}\n"
    assert fp.load(mechanism(tmp_path, [SECOND], one, rotated=False)).mobility.rank == 1
    with pytest.raises(RobotBuildError) as error:
        fp.load(mechanism(tmp_path, [SECOND], one + two, rotated=False))
    assert str(error.value).endswith(
        "locked.yaml:15: couplings gear, belt: together with the loops they hold the drive a.j1 still, so that they contradict "
        "each other. Check their factors, or remove one"
    )


def test_a_dead_point_at_home_is_no_mistake(tmp_path: Path) -> None:
    """A rocker driven where crank and coupler are in line cannot move at home, but near it."""
    third = "j3: {type: revolute, from: one, to: three, at: [1, 0, 0], axis: [0, 0, 1], start: 0}"
    last = "j4: {type: revolute, from: two, to: three, at: [0.5, 0, 0], on: [1, 0, 0], axis: [0, 0, 1]}"
    path = mechanism(
        tmp_path, [SECOND.replace("at: [1, 0, 0]", "at: [2, -0.5, 0]").replace("120", "90"), third, last], rotated=False
    )
    text = path.read_text(encoding="utf-8").replace("two: {mass", f"three: {BODY}, two: {{mass")
    text = text.replace("start: 0, actuated: true", "start: 0").replace("start: 90 deg", "start: 90 deg, actuated: true")
    path.write_text(text, encoding="utf-8")
    robot = fp.load(path)
    assert robot.mobility.rank == 1


def test_bodies_that_nothing_carries(tmp_path: Path) -> None:
    with pytest.raises(
        fp.FlexapodError, match=r"locked.yaml:14: legs.a.two: no joint carries this body. Add a joint with `to: two`"
    ):
        fp.load(mechanism(tmp_path, [], rotated=False))


def test_joints_that_nearly_coincide(tmp_path: Path) -> None:
    """A platform of a nanometre: its joints are neither one point nor apart."""
    path = tmp_path / "tiny.yaml"
    text = fp.catalogue()["3-rps"].read_text(encoding="utf-8")
    path.write_text(text.replace("on: [0.2, 0, 0]", "on: [3e-9, 0, 0]"), encoding="utf-8")
    with pytest.raises(RobotBuildError, match="rounding decides how the platform of 3-rps can move: joints on it"):
        fp.load(path)
