"""Shared numbers: expressions, polar points and directions, against numbers by hand; what is refused, with its line."""

# ruff: noqa: E501 - robot files and messages as they are

from __future__ import annotations

import math

import pytest

import flexapod as fp
from flexapod.description import RobotFileError, read_robot_text
from flexapod.description.expressions import Shared, evaluate, unit_text
from flexapod.description.parameters import ParameterError, get_parameter, list_parameters, set_parameters
from flexapod.description.unit_parser import UnitError
from flexapod.robot.robot import build_robot

EXACT = 1e-15
"""Relative: one rounding of a product."""

HEXAPOD = """flexapod: 1
name: shared
source: made for tests
parameters:
  base: 500 mm
  top: 0.6 * $base
  gap: 0.1
  height: 0.7
  turn: 60 deg
gravity: [0, 0, -9.81]
home: {position: [0, 0, $height]}
platform: {mass: 20, inertia: {diagonal: [0.4, 0.4, 0.8]}, points: {rim: {radius: $top, angle: 30 deg, height: 5 mm}}}
legs:
  template:
    joints:
      hip: {type: universal, from: base, cross: cross, to: cylinder, direction: home}
      slide: {type: prismatic, from: cylinder, to: piston, axis: [0, 0, 1], actuated: true, limits: {stroke: [$height - 0.2, 2 * $height]}}
      ball: {type: spherical, from: piston, to: platform}
    bodies: {cross: {}, cylinder: {mass: 2, com: [0, 0, 0.2]}, piston: {mass: 1, com: [0, 0, -0.2]}}
  each:
    A: {hip: {at: {radius: $base, offset: 0.5 * $gap}, axis1: {azimuth: 90 deg}}, ball: {on: {radius: $top, angle: $turn, offset: -0.5 * $gap}}}
    B: {hip: {at: {radius: $base, offset: -0.5 * $gap}, axis1: {azimuth: 90 deg}}, ball: {on: {radius: $top, angle: -$turn, offset: 0.5 * $gap}}}
    C: {copy: A, rotated: 120 deg}
    D: {copy: B, rotated: 120 deg}
    E: {copy: A, rotated: 240 deg}
    F: {copy: B, rotated: 240 deg}
"""


def refused(text: str) -> str:
    with pytest.raises(RobotFileError) as error:
        read_robot_text(text, name="my.yaml")
    return str(error.value)


def test_numbers_are_those_by_hand() -> None:
    description = read_robot_text(HEXAPOD)
    leg = description.legs["A"]
    assert leg.joints["hip"].at == [0.5, 0.05, 0.0]
    assert leg.joints["hip"].axis1 == [0.0, 1.0, 0.0]
    on, phi = leg.joints["ball"].on, math.pi / 3
    assert on[0] == pytest.approx(0.3 * math.cos(phi) + 0.05 * math.sin(phi), rel=EXACT)
    assert on[1] == pytest.approx(0.3 * math.sin(phi) - 0.05 * math.cos(phi), rel=EXACT)
    assert description.file.platform.points["rim"] == pytest.approx([0.3 * math.cos(phi / 2), 0.15, 0.005], rel=4 * EXACT)
    assert leg.joints["slide"].limits.stroke == pytest.approx([0.5, 1.4], rel=EXACT)
    numbers = {path[1]: value for path, value in description.shared.items() if path[0] == "parameters"}
    assert numbers == {"base": 0.5, "top": 0.3, "gap": 0.1, "height": 0.7, "turn": math.pi / 3}
    robot = build_robot(description)
    assert robot.mobility.rank == 6
    assert {leg.architecture for leg in robot.legs} == {"UPS"}


def test_written_again_it_keeps_its_names() -> None:
    description = read_robot_text(HEXAPOD)
    text = fp.robot_text(description)
    assert "top: 0.6 * $base" in text
    assert "copy: A" in text
    assert read_robot_text(text) == description


def test_the_same_robot_without_names() -> None:
    """What a program sees is the plain document: it makes the same robot."""
    description = read_robot_text(HEXAPOD)
    plain = fp.description_from_document(description.document)
    assert plain.legs == description.legs
    assert plain.written is plain.document


def test_parameters_of_variants() -> None:
    robot = build_robot(read_robot_text(HEXAPOD))
    known = robot.parameters
    assert (known["parameters.base"].value, known["parameters.base"].unit) == (0.5, "m")
    assert (known["legs.A.hip.at.radius"].value, known["legs.A.hip.at.radius"].unit) == (0.5, "m")
    assert known["legs.A.ball.on.angle"].value == pytest.approx(math.pi / 3)
    assert (known["legs.C.rotated"].unit, known["legs.C.rotated"].value) == ("rad", pytest.approx(2 * math.pi / 3))
    assert "legs.C.frame.rotation.Z" not in known
    assert robot.parameter("legs.A.hip.at.radius") == 0.5
    wide = robot.with_parameters({"parameters.base": 0.8})
    assert wide.parameter("parameters.top") == pytest.approx(0.48)
    assert all(wide.description.legs[n].joints["hip"].at[0] == 0.8 for n in "ACE")
    assert wide.legs[2].links[0].placement.position == pytest.approx(
        [0.8 * math.cos(2 * math.pi / 3) - 0.05 * math.sin(2 * math.pi / 3), 0.8 * math.sin(2 * math.pi / 3) - 0.025, 0],
        abs=EXACT,
    )
    rotated = robot.with_parameters({"legs.A.hip.at.radius": "600 mm", "legs.C.rotated": "100 deg", "legs.B.hip.at.y": -0.07})
    assert rotated.description.legs["C"].joints["hip"].at == [0.6, 0.05, 0.0]  # a copy follows
    assert rotated.description.legs["D"].joints["hip"].at == [0.5, -0.07, 0.0]
    assert rotated.parameter("legs.C.rotated") == pytest.approx(math.radians(100))
    own = robot.with_parameters({"legs.C.hip.at": [0.4, 0.0, 0.0]})
    assert own.description.legs["C"].joints["hip"].at == [0.4, 0.0, 0.0]
    assert own.description.legs["E"].joints["hip"].at == [0.5, 0.05, 0.0]
    assert robot.with_parameters({"parameters.top": "0.5 * $base"}).parameter("parameters.top") == 0.25


def test_parameters_that_cannot_be_set() -> None:
    description = read_robot_text(HEXAPOD)
    for path, value, label in [
        ("parameters.bse", 1.0, "there is no parameter"),
        ("parameters.base", "wide", "is not a number with a unit"),
        ("parameters.base", "3 kg", "is in kg: it must be m"),
        ("legs.A.hip.at.radius", "3 kg", "has the wrong unit: it must be m"),
        ("legs.A.hip.at.angel", 1.0, "a vector has no component"),
        ("legs.C.frame.rotation.Z", 1.0, "cannot be given together with rotated"),
    ]:
        with pytest.raises(fp.FlexapodError, match=label):
            set_parameters(description, {path: value})
    with pytest.raises(ParameterError, match="there is no parameter"):
        get_parameter(description, "parameters.bse")
    assert "parameters.gap" in list_parameters(description)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("$a", 2.0, "m"), ("-$a", -2.0, "m"), ("- $a + $a", 0.0, "m"), ("2 * $a", 4.0, "m"), ("$a*$a", 4.0, "m^2"),
        ("$a - 5 mm", 1.995, "m"), ("1e-3 * $a + 1e-3", 0.003, "m"), ("$n * $a", 6.0, ""), ("$n + $a", 5.0, "m"),
        ("2 * 3 * $n", 18.0, ""), ("$w * $w * $a", 2 * math.pi**2 / 324, "m rad^2"), ("50 % * $a", 1.0, "m"),
        ("3 kg m^2 * $n", 9.0, ""), ("$a * 3 m s^-2", 6.0, "m^2 s^-2"),
    ],
)  # fmt: skip
def test_expressions(text: str, value: float, unit: str) -> None:
    known = {
        "a": Shared(2.0, "2 m", (0, 1, 0, 0)),
        "n": Shared(3.0, "3", None),
        "w": Shared(math.pi / 18, "10 deg", (0, 0, 0, 1)),
    }
    found = evaluate(text, known)
    assert found == pytest.approx(value, rel=4 * EXACT)
    assert unit_text(found.dimension) == unit


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("$a +", "not a sum of products"), ("$a / 2", "not a sum of products"), ("($a)", "not a sum of products"), ("$a ** 2", "not a sum of"),
        ("$a $a", "not a sum of products"), ("2 $a", "not a sum of products"), ("$a.real", "not a sum of products"), ("$", "not a sum of products"),
        ("$a + $w", "adds m and rad"), ("$b", "there is no parameter b"), ("$a * 3 furlongs", "is not a unit"),
        ("$a" + " + $a" * 60, "is too long"), ("1e20 * 1e20 * $a", "is too large"), ("__import__('os') * $a", "not a sum of products"),
    ],
)  # fmt: skip
def test_expressions_that_are_none(text: str, label: str) -> None:
    known = {"a": Shared(2.0, "2 m", (0, 1, 0, 0)), "w": Shared(0.1, "0.1 rad", (0, 0, 0, 1))}
    with pytest.raises(UnitError, match=label):
        evaluate(text, known)


@pytest.mark.parametrize(
    ("old", "new", "label"),
    [
        ("top: 0.6 * $base", "top: $bottom", "my.yaml:6: parameters.top: there is no parameter bottom."),
        ("base: 500 mm", "base: 2 * $top", "my.yaml:5: parameters.base: refers to itself through top."),
        ("base: 500 mm", "base: [1]", "my.yaml:5: parameters.base: must be a number, is a list of 1."),
        ("  gap: 0.1", "  gap-x: 0.1", "my.yaml:7: parameters.gap-x: is not a name that values can refer to."),
        ("height: 0.7", "height: 5 kg", "my.yaml:11: home.position[2]: '$height' is in kg: it must be m."),
        ("radius: $top, angle: 30 deg", "radius: $top, angel: 30 deg", "my.yaml:12: platform.points.rim.angel: unknown key. Did you mean"),
        ("angle: 30 deg", "angle: 30 mm", "my.yaml:12: platform.points.rim.angle: '30 mm' has the wrong unit: it must be rad."),
        ("axis1: {azimuth: 90 deg}}, ball: {on: {radius: $top, angle: $turn", "axis1: {azimuth: $base}}, ball: {on: {radius: $top, angle: $turn",
         "legs.A.hip.axis1.azimuth: '$base' is in m: it must be rad."),
        ("stroke: [$height - 0.2", "stroke: [$turn", "my.yaml:17: legs.slide.limits.stroke[0]: $turn does not fit a prismatic joint. Write it in m."),
        ("mass: 20", "mass: $base", "my.yaml:12: platform.mass: '$base' is in m: it must be kg."),
        ("mass: 20", "mass: $base * $base", "platform.mass: '$base * $base' is in m^2"),
        ("mass: 20", "mass: __import__('os') * $gap", "platform.mass: \"__import__('os') * $gap\" is not a sum of products."),
        ("C: {copy: A", "C: {copy: X", "my.yaml:23: legs.C.copy: no leg is called 'X'."),
        ("C: {copy: A", "C: {copy: E", "legs.C.rotated"),
        ("rotated: 120 deg}\n    D", "rotated: 120 mm}\n    D", "my.yaml:23: legs.C.rotated: '120 mm' has the wrong unit: it must be rad."),
        ("rotated: 120 deg}\n    D", "mirrored: up}\n    D", "my.yaml:23: legs.C.mirrored: must be one of xy, xz, yz."),
        ("C: {copy: A, rotated", "C: {mirrored: xz, rotated", "mirrors a leg that `copy` names"),
        ("    joints:\n      hip", "    rotated: 3\n    joints:\n      hip", "my.yaml:15: legs.rotated: belongs to a leg in `each`."),
    ],
)  # fmt: skip
def test_messages_name_the_line(old: str, new: str, label: str) -> None:
    assert old in HEXAPOD
    text = HEXAPOD.replace(old, new, 1)
    if label == "legs.C.rotated":  # a copy of a copy
        assert read_robot_text(text).legs["C"].joints == read_robot_text(text).legs["E"].joints
        return
    assert label in refused(text)


def test_unused_names_are_warned_of() -> None:
    with pytest.warns(fp.RobotFileWarning, match=r"parameters.extra: is not used"):
        read_robot_text(HEXAPOD.replace("  gap: 0.1\n", "  gap: 0.1\n  extra: 3\n"))


def test_titles_may_cost_dollars() -> None:
    assert read_robot_text(HEXAPOD.replace("source: made", "source: $base made")).file.source == "$base made for tests"
