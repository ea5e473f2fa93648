"""Polynomials of a robot's numbers against robots built at other designs."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.requests.design_values import design_values, variant
from flexapod.design.variables import make_axes

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


def test_numbers_that_no_polynomial_gives_are_named() -> None:
    robot = fp.load("stewart-3-3")
    axes = make_axes(robot, {"base": fp.Variable(0.8, 1.2, paths="legs.*.hip.at", how="factor")})
    found = design_values(robot, axes, ["legs.A.slide.home", "platform.mass"])
    assert found.unfitted == {"legs.A.slide.home"}
