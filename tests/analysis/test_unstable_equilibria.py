"""Equilibria that are unstable on held actuators are said by every verb that gives them; `buckling` finds where they begin."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
import xarray as xr

import flexapod as fp
from flexapod.analysis.model.vibration import is_definite

NEARLY_LINEAR = 1e-3
"""Of the buckling factor: deflections before buckling change it little in this robot."""
NEUTRAL = 2e-2
"""Lowest eigenvalue of the tangent where the shape is taken, next to the factor; 1 without the load."""
MIRRORED = 1e-9
"""Of the factor, whose search ends at 1e-10 of it."""


def home(robot: fp.Robot) -> fp.State:
    return fp.State(position=robot.home.position, rotation=robot.home.rotation)


def said(verb: str, robot: fp.Robot, **options: object) -> tuple[object, str]:
    with warnings.catch_warnings(record=True) as got:
        warnings.simplefilter("always")
        found = getattr(fp, verb)(robot, home(robot), **options)
    return found, "\n".join(str(w.message) for w in got if issubclass(w.category, fp.ValidityWarning))


@pytest.mark.parametrize("verb", ["static_deflection", "cartesian_stiffness", "linearize"])
@pytest.mark.parametrize("name", ["gough-stewart-flexible", "gough-stewart-flexible-legs"])
def test_a_platform_that_its_weight_buckles(name: str, verb: str) -> None:
    found, words = said(verb, fp.load(name))
    assert f"{name}: the equilibrium is unstable, its weight is beyond a buckling load; see fp.natural_frequencies" in words
    if verb != "linearize":
        assert not found.stable  # type: ignore[attr-defined]
    if verb == "cartesian_stiffness":
        assert np.diag(found.compliance.values).min() < 0.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("verb", ["static_deflection", "cartesian_stiffness", "linearize"])
def test_a_load_beyond_buckling(verb: str) -> None:
    robot = fp.load("dualemps")
    _, words = said(verb, robot, wrench=[1e6, 0, 0, 0, 0, 0])
    assert "the equilibrium is unstable, the load is beyond a buckling load; see fp.buckling" in words
    assert "is strained by 0.102 of its length" in words
    found, words = said(verb, robot, wrench=[1.0, 0, 0, 0, 0, 0])
    assert not words
    assert verb == "linearize" or found.stable  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore::flexapod.ValidityWarning")
def test_held_actuators_say_it_too() -> None:
    """On the soft plate no equilibrium is found from the undeformed one, with a reason; a thick one is stable."""
    robot = fp.load("gough-stewart-flexible")
    q = fp.inverse_kinematics(robot, home(robot), joints=False, elastic="zero").actuator_position.values
    none = np.zeros((1, 6))
    held = fp.ActuatorMotion(time=[0.0], position=q[None], velocity=none, acceleration=none)
    with pytest.raises(fp.FlexapodError, match="no static deflection found: the load buckles the platform"):
        fp.static_deflection(robot, held)
    thick = robot.with_parameters({"platform.flexible.thickness": 0.08})
    assert bool(fp.static_deflection(thick, home(thick)).stable)
    assert fp.static_deflection(thick, held).stable.values.all()


@functools.cache
def buckling(axis: int, sign: float) -> xr.Dataset:
    """Of dualemps at home, under a load along an axis."""
    robot = fp.load("dualemps")
    return fp.buckling(robot, home(robot), sign * np.eye(6)[axis])


@pytest.mark.filterwarnings("ignore::flexapod.ValidityWarning")
@pytest.mark.parametrize("direction", [(0, -1.0), (0, 1.0), (2, -1.0), (2, 1.0)], ids=lambda d: f"{'xyz'[d[0]]}{d[1]:+.0f}")
def test_buckling_finds_the_load_that_the_warning_speaks_of(direction: tuple[int, float]) -> None:
    """Newton's method does not settle at the factor itself; equilibria on both sides of it do, stable and not."""
    robot, (axis, sign) = fp.load("dualemps"), direction
    load = sign * np.eye(6)[axis]
    found = buckling(axis, sign)
    factor = float(found.factor)
    assert factor == pytest.approx(float(found.linear_factor), rel=NEARLY_LINEAR)
    assert abs(float(found.stability)) < NEUTRAL
    for part, stable in ((0.995, True), (1.005, False)):
        assert bool(fp.static_deflection(robot, home(robot), wrench=part * factor * load).stable) is stable
        lowest = fp.natural_frequencies(robot, home(robot), wrench=part * factor * load).omega_squared.values[0]
        assert (lowest > 0.0) == stable


def test_buckling_is_the_same_to_both_sides() -> None:
    both = [float(buckling(0, sign).factor) for sign in (1.0, -1.0)]
    assert both[0] == pytest.approx(both[1], rel=MIRRORED)


def test_definite_matrices() -> None:
    """Rounding of a neutral direction is no instability; what is no number is not stable."""
    K = np.array([np.diag([1e9, 1.0]), np.diag([1e9, -1.0]), [[1.0, 1.0], [1.0, 1.0]], [[np.nan, 0.0], [0.0, 1.0]]])
    np.testing.assert_array_equal(is_definite(K), [True, False, True, False])
