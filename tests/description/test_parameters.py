"""Parameters by dotted path: listed, read, changed; wrong paths and values refused with the nearest names."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flexapod.description import (
    ParameterError,
    RobotFileError,
    RobotFileWarning,
    get_parameter,
    list_parameters,
    read_robot_file,
    read_robot_text,
    set_parameters,
)
from flexapod.description.read import description_from_document
from flexapod.description.unit_parser import parse_unit
from flexapod.robot.catalogue import catalogue

ROUNDING = 1e-15
"""Relative: one rounding of a unit."""


def test_every_listed_parameter_reads_and_sets_to_itself(robot_file: Path) -> None:
    description = read_robot_file(robot_file)
    listed = list_parameters(description)
    assert listed
    for path, info in listed.items():
        assert get_parameter(description, path) == info.value
        assert info.unit or info.doc == "shared number"
        assert info.doc
    again = set_parameters(description, {path: info.value for path, info in listed.items()})
    assert again.legs == description.legs
    assert {path: info.value for path, info in list_parameters(again).items()} == {
        path: info.value for path, info in listed.items()
    }


def test_template_and_leg_paths(ups: str) -> None:
    listed = list_parameters(read_robot_text(ups))
    assert listed["legs.slide.friction.viscous"].value == 20.0
    assert listed["legs.slide.friction.viscous"].unit == "N s/m"
    assert listed["legs.slide.limits.stroke"].value == (-1.0, 1.5)
    assert listed["legs.A.hip.at"].value == (2.5, 0.0, 0.0)
    assert listed["platform.inertia.zz"].value == 80.0
    assert listed["gravity"].unit == "m/s^2"
    assert "legs.hip.at" not in listed
    assert "legs.A.cylinder.mass" not in listed


def test_units_follow_the_joint(planar: str) -> None:
    listed = list_parameters(read_robot_text(planar))
    assert listed["legs.1.rail.limits.stroke"].unit == "m"
    assert listed["legs.1.elbow.limits.stroke"].unit == "rad"
    assert listed["legs.1.elbow.friction.viscous"].unit == "N m s/rad"
    assert listed["legs.1.elbow.rotation.z"].value == (np.pi / 6,)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("platform.mass", 60, 60.0),
        ("platform.mass", "600 g", 0.6),
        ("platform.com", np.array([1, 2, 3]), (1.0, 2.0, 3.0)),
        ("platform.com.z", "3 mm", 0.003),
        ("platform.com.0", 0.1, 0.1),
        ("platform.inertia.xx", 41.0, 41.0),
        ("platform.inertia.xy", 0.5, 0.5),
        ("platform.inertia.diagonal", [41, 41, 80], (41.0, 41.0, 80.0)),
        ("platform.points.tool.z", 0.2, 0.2),
        ("legs.cylinder.mass", 16, 16.0),
        ("legs.A.cylinder.mass", 16, 16.0),
        ("legs.A.cylinder.com.z", 0.8, 0.8),
        ("legs.A.cylinder.inertia.zz", 6, 6.0),
        ("legs.A.hip.at.x", 2.6, 2.6),
        ("legs.A.frame.position", [0, 0, 0.1], (0.0, 0.0, 0.1)),
        ("legs.frame.position.z", 0.1, 0.1),
        ("legs.hip.friction.viscous", 0.1, 0.1),
        ("legs.slide.limits.stroke", ["-90 cm", 1.4], (-0.9, 1.4)),
        ("legs.slide.limits.stroke.0", -0.9, -0.9),
        ("legs.slide.start", 0.1, 0.1),
        ("gravity", [0, 0, "-1.62 m/s^2"], (0.0, 0.0, -1.62)),
        ("gravity.z", -1.62, -1.62),
        ("home.position.z", 4.0, 4.0),
        ("home.rotation.Z", ["10 deg"], (np.pi / 18,)),
        ("sampling.velocity", 2, 2.0),
        ("characteristic_length", 1, 1.0),
    ],
)
def test_set_and_get(ups: str, path: str, value: object, expected: Any) -> None:
    description = read_robot_text(ups)
    changed = set_parameters(description, {path: value})
    assert get_parameter(changed, path) == pytest.approx(expected, rel=ROUNDING)
    assert description == read_robot_text(ups)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("legs.3.inertial.M", 4.0),  # row 3 of the template: leg 3 has no part called inertial
        ("legs.3.IA", 4.0),
        ("legs.1.3.d", 0.1),
        ("legs.q2.alpha", 1.5),
        ("legs.1.q2.inertial.MX", 4.0),
        ("legs.frame.rotation.XYZ.z", 0.1),
    ],
)
def test_table_rows(khalil: str, path: str, value: float) -> None:
    assert get_parameter(set_parameters(read_robot_text(khalil), {path: value}), path) == value


def test_one_leg_or_all(ups: str) -> None:
    description = read_robot_text(ups)
    one = set_parameters(description, {"legs.B.cylinder.mass": 20})
    assert [leg.bodies["cylinder"].mass for leg in one.legs.values()] == [15, 20, 15, 15, 15, 15]
    every = set_parameters(one, {"legs.cylinder.mass": 16})
    assert [leg.bodies["cylinder"].mass for leg in every.legs.values()] == [16, 20, 16, 16, 16, 16]


def test_warnings_are_given_once(ups: str) -> None:
    text = ups.replace("[40, 40, 80]", "[1, 1, 3]").replace("flexapod: 1", "flexapod: 1\nallow_unphysical: true")
    with pytest.warns(RobotFileWarning):
        description = read_robot_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        changed = set_parameters(description, {"platform.mass": 3})
    assert len(changed.warnings) == 1
    with pytest.warns(RobotFileWarning, match="exceeds the sum of the others 1"):
        set_parameters(description, {"platform.inertia.yy": 0})


def test_one_moment_of_a_leg_keeps_the_others(ups: str) -> None:
    changed = set_parameters(read_robot_text(ups), {"legs.B.cylinder.inertia.yy": 14})
    assert changed.legs["B"].bodies["cylinder"].inertia.diagonal == [15, 14, 5]
    assert changed.legs["B"].bodies["cylinder"].inertia.about == "origin"
    assert changed.legs["A"].bodies["cylinder"].inertia.diagonal == [15, 15, 5]


def test_a_leg_without_template_is_changed_in_place(planar: str) -> None:
    changed = set_parameters(read_robot_text(planar), {"legs.1.rail.at.x": 0.1, "legs.2.23.base_parameters.M": 2})
    assert changed.document["legs"]["each"]["1"]["joints"]["rail"]["at"] == [0.1, 0, 0]
    assert changed.legs["2"].bodies["23"].base_parameters is not None
    assert changed.legs["2"].bodies["23"].base_parameters.M == 2


def test_defaults_can_be_read(ups: str) -> None:
    description = read_robot_text(ups)
    assert get_parameter(description, "legs.hip.friction.viscous") == 0.0
    assert get_parameter(description, "legs.C.frame.position") == (0.0, 0.0, 0.0)
    assert get_parameter(description, "sampling.condition") == 1e4
    assert get_parameter(description, "platform.com.x") == 0.0


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "platform.mas",
            "platform.mas: there is no parameter 'mas' here. Did you mean mass? "
            "Valid: mass, com, inertia, base_parameters, frames, points, payloads, flexible, mesh.",
        ),
        (
            "legs.A.cylnder.mass",
            "legs.A.cylnder.mass: there is no such parameter. Did you mean cylinder? Valid: "
            "cross, cylinder, piston, hip, slide, ball, frame, platform_frame, branch, table, joints, bodies.",
        ),
        (
            "legs.cylnder.mass",
            "legs.cylnder.mass: there is no such parameter. Did you mean cylinder?",
        ),
        ("platform.com.w", "platform.com.w: a vector has no component 'w'. Valid: x, y, z."),
        ("platform.com.x.y", "platform.com.x.y: goes on after platform.com.x. Stop there: it is a number."),
        ("platform.points.tol", "platform.points.tol: there is no parameter 'tol' here. Did you mean tool? Valid: tool."),
        ("legs.hip.type", "legs.hip.type: is not a number or a vector. Only quantities are parameters."),
        ("home", "home: is not a number or a vector. Go on with one of position, rotation."),
        ("", "(empty): is not a parameter path. Write e.g. platform.mass."),
        ("legs.hip.at", "legs.hip.at: the legs give their own values. Ask for legs.A.hip.at and so on."),
        ("legs.hip.limits.angle", "legs.hip.limits.angle: has no value in the file. Set it first, or leave it out."),
    ],
)
def test_wrong_paths(ups: str, path: str, message: str) -> None:
    with pytest.raises(ParameterError) as refused:
        get_parameter(read_robot_text(ups), path)
    assert str(refused.value) == message
    assert refused.value.hint


def test_legs_without_template(planar: str) -> None:
    with pytest.raises(ParameterError) as refused:
        get_parameter(read_robot_text(planar), "legs.rail.at")
    assert str(refused.value) == "legs.rail.at: no leg has this name, and there is no template. Valid: 1, 2."


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("platform.mass", -1, "platform.mass: must not be below 0, is -1. Write 0 or more."),
        ("platform.mass", None, "platform.mass: must be a number, is empty. Write a number."),
        (
            "platform.mass",
            "5 m",
            "platform.mass: '5 m' has the wrong unit: it must be kg. Write a number in kg, or a number with its unit.",
        ),
        ("platform.com", [1, 2], "platform.com: must have 3 numbers, has 2. Write e.g. [0, 0, 1]."),
        (
            "platform.com.x",
            [1],
            "platform.com.x: must be a number, is a list of 1. Write a number in m, or a number with its unit.",
        ),
        ("platform.com", 3, "platform.com: must be a list, is 3. Write e.g. [0, 0, 1]."),
        (
            "platform.mass",
            float("nan"),
            "platform.mass: must be a finite number. Write a number in kg, or a number with its unit.",
        ),
        ("legs.hip.at", [0, 0, 0], "legs.hip.at: every leg gives its own value. Set legs.A.hip.at and so on."),
    ],
)
def test_wrong_values(ups: str, path: str, value: object, message: str) -> None:
    with pytest.raises(ParameterError) as refused:
        set_parameters(read_robot_text(ups), {path: value})
    assert str(refused.value) == message


UNITS = ("m", "rad", "kg", "kg m^2", "N", "N m", "N/m", "N s/m", "N m s", "m/s", "rad/s", "m/s^2", "Pa", "kg m", "kg/m^3")


@pytest.mark.parametrize("name", ["hexaslide", "planar-4-prr", "dualemps", "gough-stewart-flexible", "orthoglide"])
def test_a_wrong_unit_is_refused_by_path(name: str) -> None:
    """Every number of a file: a text with the unit of another quantity names the path and the unit that is right."""
    description = read_robot_file(catalogue()[name])
    refused = 0
    for path, info in list_parameters(description).items():
        one = path if isinstance(info.value, float) else f"{path}.0"
        if not info.unit or isinstance(get_parameter(description, one), tuple):
            continue
        own = parse_unit("" if info.unit == "1" else info.unit)[1]
        for unit in UNITS:
            found = parse_unit(unit)[1]
            if found == own or (found[:3] == own[:3] and own[3] < 0):  # N m for N m/rad
                continue
            with pytest.raises(ParameterError) as error:
                set_parameters(description, {one: f"1 {unit}"})
            assert error.value.path == one
            assert info.unit == "1" or error.value.hint.startswith(("Write a number in", "Write it in"))
            assert info.unit == "1" or info.unit in error.value.hint
            refused += 1
    assert refused > 100


def test_units_of_a_joint_by_path(planar: str) -> None:
    """Friction, springs and limits have the unit of their joint's motion."""
    description = read_robot_text(planar)
    for path, value, message in (
        ("legs.1.rail.limits.stroke", ["0 m", "1 rad"], "1 rad does not fit a prismatic joint. Write it in m."),
        ("legs.1.rail.limits.stroke.1", "1 rad", "1 rad does not fit a prismatic joint. Write it in m."),
        ("legs.1.elbow.friction.viscous", "2 N s/m", "2 N s/m does not fit a revolute joint. Write it in N m s/rad."),
    ):
        with pytest.raises(ParameterError) as error:
            set_parameters(description, {path: value})
        assert str(error.value) == f"{path}: {message}"
    changed = set_parameters(description, {"legs.1.elbow.friction.viscous": "2 N m s"})
    assert get_parameter(changed, "legs.1.elbow.friction.viscous") == 2.0


def test_values_that_make_no_robot(ups: str) -> None:
    with pytest.raises(RobotFileError, match=r"legs\.slide\.limits\.stroke: must go from small to large"):
        set_parameters(read_robot_text(ups), {"legs.slide.limits.stroke": [1, -1]})
    with pytest.raises(RobotFileError, match=r"legs\.slide\.axis: is zero"):
        set_parameters(read_robot_text(ups), {"legs.slide.axis.z": 0})


@pytest.mark.parametrize("name", ["stewart-3-3", "five-bar", "gough-stewart", "dualemps"])
def test_numbers_checked_in_part_are_as_checked_in_whole(name: str) -> None:
    """One parameter after another: the same description, and legs that say the same are the same."""
    before = read_robot_file(catalogue()[name])
    paths = [path for path, info in list_parameters(before).items() if isinstance(info.value, float) and info.value > 0.0]
    for path in paths[::5]:
        value = float(get_parameter(before, path)) * 1.01
        try:
            found = set_parameters(before, {path: value})
        except RobotFileError as error:
            problems = [(problem.path, problem.what) for problem in error.problems]
        else:
            whole = description_from_document(found.document, path=before.path, name=before.file.name, known=before.warnings)
            assert found == whole
            assert found.name == whole.name
            if before.warnings == () and not path.startswith("legs"):
                assert all(found.legs[leg] is before.legs[leg] for leg in found.legs)
            continue
        assert problems, path


def test_a_wrong_number_of_one_leg_is_said_as_ever() -> None:
    before = read_robot_file(catalogue()["stewart-3-3"])
    with pytest.raises(RobotFileError, match=r"legs.A.cylinder.inertia: no body has this inertia"):
        set_parameters(before, {"legs.A.cylinder.inertia.xx": 0.1})
    assert get_parameter(before, "legs.A.cylinder.inertia.xx") == 15.0
