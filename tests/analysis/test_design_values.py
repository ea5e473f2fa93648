"""Polynomials of a robot's numbers against robots built at other designs."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.requests.design_values import design_values, variant
from flexapod.description import read_robot_text
from flexapod.design.variables import make_axes
from flexapod.robot.robot import build_robot

ROUNDING = 1e-12
"""Of a number's size: rounding of building a robot."""


@pytest.mark.filterwarnings("ignore::flexapod.RobotFileWarning")
@pytest.mark.parametrize(
    ("variables", "degree"),
    [
        ({"platform.mass": (20, 100), "base": fp.Variable(0.8, 1.2, paths="legs.*.hip.at", how="factor")}, 1),
        ({"legs.cylinder.com.z": (0.5, 1.0), "legs.cylinder.mass": (5, 10)}, 2),
    ],
)
def test_numbers_of_a_design(variables: dict, degree: int) -> None:
    robot = fp.load("stewart-3-3")
    axes = make_axes(robot, variables)
    names = [p.name for p in fp.kernel(robot, "virtual_power").signature.parameters]
    found = design_values(robot, axes, names)
    assert found.degree == degree
    assert not found.unfitted
    x = np.array([a.low + 0.37 * (a.high - a.low) for a in axes])
    built = variant(robot, axes, x)
    assert found.at(x[None])[0] == pytest.approx([built.values[name] for name in found.names], rel=ROUNDING, abs=ROUNDING)
    still = [name for name in names if name not in found.names]
    assert [built.values[n] for n in still] == pytest.approx([robot.values[n] for n in still], rel=ROUNDING, abs=ROUNDING)


COPIED = """
flexapod: 1
name: copied
source: test
gravity: [0, -9.81, 0]
plane: xy
home: {position: [0, 0, 0]}
platform: {mass: 1, inertia: {diagonal: [0.01, 0.01, 0.01]}}
legs:
  each:
    A:
      joints:
        crank: {type: revolute, from: base, to: upper, at: [0.5, 0, 0], axis: [0, 0, 1], actuated: true, start: 125 deg}
        elbow: {type: revolute, from: upper, to: lower, at: [0.3, 0, 0], axis: [0, 0, 1], start: 110 deg}
        pin: {type: revolute, from: lower, to: platform, at: [0.3, 0, 0], on: [0.1, 0, 0], axis: [0, 0, 1]}
      bodies: {upper: {mass: 1, com: [0.1, 0, 0]}, lower: {mass: 0.5, com: [0.1, 0, 0]}}
    B: {copy: A, rotated: 120 deg}
    C: {copy: A, rotated: 240 deg}
"""


def test_a_copy_of_a_leg_keeps_its_own_variable_where_that_has_the_value_of_the_file() -> None:
    """The original moves; the copy is named as well, and does not follow, in polynomials and in robots of designs."""
    robot = build_robot(read_robot_text(COPIED))
    axes = make_axes(robot, {f"legs.{leg}.upper.mass": (0.5, 1.5) for leg in "AB"})
    masses = [f"legs.{leg}.crank.body.mass" for leg in "ABC"]
    found = design_values(robot, axes, masses)
    assert not found.unfitted
    for x in ([1.2, 1.0], [1.0, 1.2], [1.2, 1.3]):
        expected = [x[0], x[1], x[0]]
        named = robot.with_parameters({"legs.A.upper.mass": x[0], "legs.B.upper.mass": x[1]})
        assert [named.values[name] for name in masses] == expected
        assert [variant(robot, axes, x).values[name] for name in masses] == expected
        moved = dict(zip(found.names, found.at(np.array([x]))[0], strict=True))
        assert [moved.get(name, robot.values[name]) for name in masses] == pytest.approx(expected, rel=ROUNDING)


def test_numbers_that_no_polynomial_gives_are_named() -> None:
    robot = fp.load("stewart-3-3")
    axes = make_axes(robot, {"base": fp.Variable(0.8, 1.2, paths="legs.*.hip.at", how="factor")})
    found = design_values(robot, axes, ["legs.A.slide.home", "platform.mass"])
    assert found.unfitted == {"legs.A.slide.home"}
