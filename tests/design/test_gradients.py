"""Gradients of criteria from derivative kernels, against differences of the verbs on built robots and of the evaluator."""

from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.design.criteria import RULES, make_criteria
from flexapod.design.evaluate import Evaluator
from flexapod.design.gradients import _differences, gradient
from flexapod.design.reductions import longest_vector
from flexapod.design.variables import make_axes

AGREES = 1e-6
"""Of the largest slope of a criterion: fourth-order differences carry rounding of some 1e-10 of the value over steps of 1e-3."""

DISTANCE = 1e-5
"""Of central differences of lengths of about 3."""
CENTRAL = 1e-8
"""The square of the distance, and rounding of 1e-15 over it: some 1e-10."""

OPTIONS: dict[str, dict[str, Any]] = {
    "stiffness": {"stiffness": 2e7}, "lowest_frequency": {"stiffness": 2e7},
    "deflection": {"stiffness": 2e7, "load": [100.0, 50.0, -900.0, 5.0, 7.0, 9.0]},
}  # fmt: skip
QUICK = [
    "peak_force",
    "rms_force",
    "peak_power",
    "stroke",
    "longest",
    "worst_condition",
    "singularity_distance",
    "stiffness",
    "mass",
]
"""Criteria of kernels that are compiled in a second or two."""

EXACT = [name for name, rule in RULES.items() if rule.slope is not None and name != "joint_angle"]


PLATE = {
    "legs.A.hip.at.x": (2.4, 2.6), "platform.mass": (20, 60),
    "plate": fp.Variable(0.9, 1.1, paths="legs.*.ball.on", how="factor"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "variables", "wanted"),
    [
        ("stewart-3-3", PLATE, QUICK),
        pytest.param("stewart-3-3", PLATE, EXACT, marks=pytest.mark.full),
        pytest.param("delta", {"platform.mass": (0.5, 3.0)}, EXACT, marks=pytest.mark.full),
    ],
)
def test_gradients_agree_with_differences(name: str, variables: dict[str, Any], wanted: list[str]) -> None:
    robot = fp.load(name)
    criteria = make_criteria([{"name": c, **OPTIONS.get(c, {})} for c in wanted])
    evaluator = Evaluator(robot, make_axes(robot, variables), criteria, sway(robot))
    assert evaluator.by_kernels
    x = np.array([0.45 * a.low + 0.55 * a.high for a in evaluator.axes])
    found, expected = gradient(evaluator, x), _differences(evaluator, x)
    size = np.maximum(np.abs(expected).max(axis=1), 1e-12)[:, None]
    error = np.abs((found - expected) / size).max(axis=1)
    assert np.all(error < AGREES), dict(zip(wanted, error, strict=True))


@pytest.mark.parametrize("variables", [1, 2, 3, 5])
def test_the_slope_of_the_longest_vector_is_that_of_its_length(variables: int) -> None:
    """Vectors that are linear in the variables, NaN where undetermined; three variables are as many as axes."""
    random = np.random.default_rng(variables)
    start, along = random.normal(size=(4, 6, 3)), random.normal(size=(variables, 4, 6, 3))
    start[1, 2] = along[:, 1, 2] = np.nan
    value, slope = longest_vector("reaction_force")
    found = slope({"reaction_force": start}, {"reaction_force": along}, {})
    designs = np.concatenate([start + sign * DISTANCE * along for sign in (1.0, -1.0)])
    ends = value({"reaction_force": designs.reshape(2, variables, 4, 6, 3).reshape(-1, 4, 6, 3)}, {}).reshape(2, variables)
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * DISTANCE), rtol=0, atol=CENTRAL)


def sway(robot: fp.Robot) -> fp.Motion:
    """A short translation away from home, where no two actuators do the same."""
    t = np.linspace(0.0, 0.4, 5)[:, None]
    a, w = 0.03 * robot.characteristic_length * np.array([1.0, -0.7, 0.5]), np.array([7.0, 5.0, 4.0])
    return fp.Motion(
        time=t[:, 0], position=robot.home.position + a * np.sin(w * t + 0.3), velocity=a * w * np.cos(w * t + 0.3),
        acceleration=-a * w**2 * np.sin(w * t + 0.3), rotation=np.tile(robot.home.rotation, (5, 1, 1)),
        angular_velocity=np.zeros((5, 3)), angular_acceleration=np.zeros((5, 3)),
    )  # fmt: skip
