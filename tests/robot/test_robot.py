"""The Robot: immutable, with parameters, tables, a structure hash; two ways to write the same leg agree."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest

import flexapod as fp
from flexapod.description import ParameterError, description_from_document
from flexapod.robot.robot import build_robot
from support.robots import FILES, drawn_motion, robot_named, run

PRINTED = 1e-3
"""Joint values of the paper's Table 4 are printed with three decimals."""
AT_HOME = 1e-12
"""Joint coordinates [m, rad] against those of the assembly; found 8e-15."""
LENGTHS = 1e-14
"""Relative, and [m] of lengths of 5 m less their zero: roots of sums of squares; found 9e-16."""
ROUNDING = 1e-12
"""Of the largest rate, or of 1: one leg written in two ways."""
SAME_FRAME = 1e-15
"""Position [m] and entries of a rotation: one frame by two chains; found 3e-16."""


# -- immutable ---------------------------------------------------------------------------------------------------------------
def arrays(value: object, path: str = "robot"):
    """Every array below a dataclass, tuple or mapping."""
    if isinstance(value, np.ndarray):
        yield path, value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.name != "description":
                yield from arrays(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, tuple | list):
        for i, part in enumerate(value):
            yield from arrays(part, f"{path}[{i}]")
    elif hasattr(value, "items"):
        for key, part in value.items():
            yield from arrays(part, f"{path}[{key}]")


@pytest.mark.parametrize("name", FILES)
def test_nothing_can_be_changed(name: str) -> None:
    robot = robot_named(name)
    found = [*arrays(robot), *arrays(robot.closed_forms, "closed_forms"), *arrays(robot.bodies_by_name, "bodies")]
    assert len(found) > 20
    assert not [path for path, array in found if array.flags.writeable]
    with pytest.raises(dataclasses.FrozenInstanceError):
        robot.gravity = np.zeros(3)  # type: ignore[misc]
    for mapping in (robot.values, robot.parameters, robot.bodies_by_name, robot.platform.points):
        with pytest.raises(TypeError):
            mapping["platform.mass"] = 1.0  # type: ignore[index]


def test_a_variant_leaves_the_robot_as_it_was() -> None:
    robot = robot_named("stewart-3-3")
    before = dict(robot.values)
    heavy = robot.with_parameters({"platform.mass": 60.0, "legs.cylinder.mass": "16 kg", "legs.A.cylinder.mass": 17})
    assert dict(robot.values) == before
    assert heavy.parameter("platform.mass") == 60.0
    assert heavy.platform.mass == 60.0
    assert heavy.values["legs.A.in_L.0.mass"] == 17.0
    assert heavy.values["legs.B.in_L.0.mass"] == 16.0
    assert robot.parameter("platform.mass") == 50.0
    with pytest.raises(ParameterError, match=r"platform\.mas"):
        robot.with_parameters({"platform.mas": 1.0})


def test_parameters_have_values_and_units() -> None:
    parameters = robot_named("hexaslide").parameters
    assert (parameters["platform.mass"].value, parameters["platform.mass"].unit) == (10.7673, "kg")
    assert parameters["legs.1.rail.axis"].value == (0.7500041250340316, 0.43300238151964754, 0.5000027500226877)
    assert len(parameters) > 50


# -- tables --------------------------------------------------------------------------------------------------------------------
def test_tables_are_readable() -> None:
    robot = robot_named("stewart-3-3")
    assert str(robot.loops).splitlines()[2] == "A    UPS   hip.1 - hip.2 - slide  ball (spherical)"
    assert str(robot.bodies).splitlines()[2].split() == ["platform", "50", "(0,", "0,", "0)", "(40,", "40,", "80)"]
    rows = {r[0]: r[1:] for r in robot.joints.rows}
    assert rows["A.slide"] == ("prismatic", "actuated", "(-1.5, 1.5)")
    assert rows["A.ball"] == ("spherical", "closes the loop", "")
    text = str(robot)
    assert text.startswith("stewart-3-3: 3-3 Stewart platform, 6-UPS\nStaicu, ")
    assert "mobility 6 by rank, 6 by the count formula" in text
    assert repr(robot) == "<Robot stewart-3-3: 6 legs, 6 actuators>"


@pytest.mark.parametrize("name", FILES)
def test_every_robot_prints(name: str) -> None:
    robot = robot_named(name)
    text = f"{robot}\n{robot.joints}"
    for leg in robot.legs:
        assert f"{leg.name}.{leg.closing.joint}" in text
    assert len(robot.bodies) == len(robot.bodies_by_name)


# -- structure -----------------------------------------------------------------------------------------------------------------
def test_structure_does_not_hang_on_numbers_names_or_order_of_keys() -> None:
    robot = robot_named("stewart-3-3")
    data = copy.deepcopy(robot.description.document)
    shuffled = {key: data[key] for key in reversed(data)}
    shuffled["legs"] = {
        "each": data["legs"]["each"],
        "template": {k: data["legs"]["template"][k] for k in reversed(data["legs"]["template"])},
    }
    shuffled["legs"]["template"]["bodies"] = dict(reversed(data["legs"]["template"]["bodies"].items()))
    shuffled |= {"name": "another", "title": "x", "gravity": [0, 0, -1.62]}
    other = build_robot(description_from_document(shuffled))
    assert other.structure == robot.structure
    assert other.with_parameters({"platform.mass": 1.0}).structure == robot.structure


def test_structure_distinguishes_robots() -> None:
    robot = robot_named("stewart-3-3")

    def edited(edit) -> str:
        data = copy.deepcopy(robot.description.document)
        edit(data)
        return build_robot(description_from_document(data)).structure

    def swap(data) -> None:
        names = list(data["legs"]["each"])
        data["legs"]["each"] = {name: data["legs"]["each"][name] for name in [names[1], names[0], *names[2:]]}

    structures = {
        robot.structure,
        edited(swap),
        edited(lambda d: d["legs"]["each"].pop("F")),
        edited(lambda d: d["legs"]["template"]["joints"]["ball"].update(friction={"viscous": 1.0})),
        edited(lambda d: d["platform"]["points"].update(nose=[1, 0, 0])),
        edited(lambda d: d["legs"]["template"]["joints"]["hip"].pop("cross") and d["legs"]["template"]["bodies"].pop("cross")),
        *(robot_named(name).structure for name in FILES if name != "stewart-3-3"),
    }
    assert len(structures) == 6 + len({robot_named(name).structure for name in FILES} - {robot.structure})


# -- coordinates ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", FILES)
def test_passive_angles_are_zero_at_home_unless_in_a_table(name: str) -> None:
    robot = robot_named(name)
    still = {key: np.zeros((1, 3)) for key in ("velocity", "angular_velocity", "acceleration", "angular_acceleration")}
    pose = {"position": robot.home.position[None], "rotation": robot.home.rotation[None]}
    found, status = run(fp.kernel(robot, "inverse_kinematics", detail="joints"), {**pose, **still})
    assert status[0] == 0
    at = 0
    for leg in robot.legs:
        for i in leg.moving:
            link = leg.links[i]
            value = found["joint_position"][0, at]
            assert abs(value - leg.home[leg.moving.index(i)]) < AT_HOME
            if link.kind == "R" and not link.actuated and not link.from_table:
                assert abs(value) < AT_HOME, f"{leg.name}.{link.coordinate}"
            at += 1


def test_actuator_zeros() -> None:
    def at_home(name: str) -> np.ndarray:
        robot = robot_named(name)
        return fp.inverse_kinematics(
            robot, fp.State(position=robot.home.position, rotation=robot.home.rotation)
        ).actuator_position.values

    np.testing.assert_allclose(at_home("stewart-3-3"), 0.0, rtol=0, atol=LENGTHS)  # length - 5 m
    np.testing.assert_allclose(at_home("hexapod"), 0.0, rtol=0, atol=LENGTHS)  # rail distance - l1
    robot = robot_named("hexaslide")  # distance along the rail
    for form, q in zip(robot.closed_forms, at_home("hexaslide"), strict=True):
        rod = robot.home.point(form.S) - (form.U + q * form.drive)
        np.testing.assert_allclose(np.linalg.norm(rod), 0.9, rtol=LENGTHS)
    robot = robot_named("gough-stewart")  # leg length
    for form, q in zip(robot.closed_forms, at_home("gough-stewart"), strict=True):
        np.testing.assert_allclose(q, np.linalg.norm(robot.home.point(form.S) - form.U), rtol=LENGTHS)


def test_khalil_tables_give_the_joint_values_of_the_paper() -> None:
    """Long 2014, Table 4: 18 printed values, which the file has as start values."""
    robot = robot_named("gough-stewart")
    for leg in robot.legs:
        printed = [link.start for link in leg.links]
        np.testing.assert_allclose(leg.home, printed, rtol=0, atol=PRINTED)


def explicit_gough_stewart():
    """The Gough-Stewart robot of the tables, written with joints: the same axes and centres, z along the leg."""
    table = robot_named("gough-stewart")
    data = copy.deepcopy(table.description.document)
    joints = {
        "hip": {"type": "universal", "from": "base", "cross": "cross", "to": "cylinder", "direction": "home"},
        "slide": {"type": "prismatic", "from": "cylinder", "to": "piston", "axis": [0, 0, 1], "actuated": True},
        "ball": {"type": "spherical", "from": "piston", "to": "platform"},
    }
    each = {}
    for name, own in data["legs"]["each"].items():
        gamma, d = own["1"]["gamma"], own["1"]["d"]
        c, s = np.cos(gamma), np.sin(gamma)
        # Rz(gamma) Rx(-90 deg) turns z to Rz(gamma) y
        each[name] = {"hip": {"at": [d * c, d * s, 0], "axis1": [-s, c, 0]}, "ball": {"on": own["ball"]["on"]}}
    data["legs"] = {
        "template": {
            "frame": data["legs"]["template"]["frame"],
            "joints": joints,
            "bodies": {"cross": {"mass": 1}, "cylinder": {"mass": 1}, "piston": {"mass": 1}},
        },
        "each": each,
    }
    return build_robot(description_from_document(data))


def test_khalil_table_and_joints_are_the_same_leg() -> None:
    table, joints = robot_named("gough-stewart"), explicit_gough_stewart()
    drawn = drawn_motion(table, 100, seed=7)
    motion = fp.Motion(time=np.arange(100.0), **drawn)
    ours, theirs = (fp.inverse_kinematics(r, motion, bodies=True) for r in (table, joints))
    for key in ("actuator_position", "actuator_velocity", "actuator_acceleration"):
        np.testing.assert_allclose(ours[key].values, theirs[key].values, rtol=0, atol=ROUNDING * np.abs(ours[key].values).max())
    # passive rates agree up to the sign of the second axis, body motions exactly
    for k, name in ((1, "cross"), (2, "cylinder"), (3, "piston")):
        rows = [f"{leg.name}.{k}" for leg in table.legs], [f"{leg.name}.{name}" for leg in joints.legs]
        for key in ("position", "velocity", "acceleration", "angular_velocity", "angular_acceleration"):
            a, b = ours[f"body_{key}"].sel(body=rows[0]).values, theirs[f"body_{key}"].sel(body=rows[1]).values
            np.testing.assert_allclose(a, b, rtol=0, atol=ROUNDING * max(1.0, np.abs(a).max()))


def test_platform_that_is_a_leg_s_own_link() -> None:
    robot = robot_named("five-bar")
    assert robot.platform.mass == 0.0
    assert robot.legs[0].closing.type == "fixed"
    assert robot.legs[0].links[robot.legs[0].closing.link].body.name == "tool"
    state = fp.State(position=robot.home.position, rotation=robot.home.rotation, velocity=[0, 0, 0])
    result = fp.inverse_kinematics(robot, state, bodies=True)
    for key in ("position", "rotation"):
        tool, platform = (result[f"body_{key}"].sel(body=body).values for body in ("left.tool", "platform"))
        np.testing.assert_allclose(tool, platform, rtol=0, atol=SAME_FRAME)


def test_the_summary_names_couplings_and_forces(tmp_path):
    """What acts between bodies is part of what a robot is made of; a platform that is a link has no mass of its own."""
    path = tmp_path / "press.yaml"
    path.write_text(
        "flexapod: 1\nname: press\nsource: written for this test\ngravity: [0, 0, -9.81]\nhome: {position: [0, 0, 0]}\n"
        "platform: {body: ram.ram}\nlegs:\n  each:\n    ram:\n      joints:\n"
        "        guide: {type: prismatic, from: base, to: ram, axis: [0, 0, 1]}\n"
        "        shaft: {type: revolute, from: base, to: rotor, axis: [0, 0, 1], actuated: true}\n"
        "      bodies: {ram: {mass: 8}, rotor: {mass: 1, inertia: {diagonal: [1, 1, 2]}}}\n"
        "couplings:\n  rack: {ram.shaft: 0.1, ram.guide: -2}\n"
        "forces:\n  gas: {from: base, at: [0, 0, -1], to: platform, preload: -60, damping: 20}\n",
        encoding="utf-8",
    )
    lines = [line.split() for line in str(fp.load(path)).splitlines()]
    assert lines[0] == ["press"]
    assert " ".join(lines[2]) == "mobility 1 by rank, 1 by the count formula"  # the rack ties two joints
    assert ["platform", "is", "ram.ram"] in lines
    assert ["rack", "0.1", "ram.shaft", "-", "2", "ram.guide"] in lines
    assert ["gas", "base", "-", "platform", "0", "0", "20", "-60"] in lines
