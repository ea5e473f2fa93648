"""A flexible platform with stiffening in whole robots: weight and frequencies of the catalogue's robot, other routes, refusals.

That its equations agree with the second formulation, balance powers and have the right tangent is tested beside those of linear
platforms, in `test_flexible_platform.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.robot.leg_tree import RobotBuildError
from support.flexible_robots import at_home, curving_robot, off, plate_robot

GENERAL = 1e-9
"""Relative: forces through joint reactions by the general model, over two solves."""
FIRST = 1.0
"""Geometric stiffness is in proportion to the load, and so is the part by which it changes a deflection."""

ROUNDED = 1e-11
"""Two reductions of one plate: numbers of pairs of modes that are zero on paper follow the rounding of LAPACK."""
ORDER = 0.1
"""Of that power, by two loads; found 0.06."""
WRITTEN_LINEAR = 1e-3
"""omega^2 [1/s^2] of the linear plate, a small difference of large terms, written with four decimals."""
WRITTEN_STIFFENED = 0.02
"""omega^2 [1/s^2], written with two decimals."""


def test_without_the_word_nothing_changes() -> None:
    """The papers' plate has no quadratic shapes, no new values and the compiled code of before."""
    robot, other = plate_robot(), curving_robot(None)
    shape, _ = robot.flexible_shape
    assert not shape.quadratic
    assert not shape.stretches
    assert not robot.joint_curving
    body = other.flexible_platform
    assert body is not None
    plain = other.with_flexible_body("platform", body.unstiffened())
    assert plain.values.keys() == robot.values.keys()
    assert dict(plain.values) == pytest.approx(dict(robot.values), rel=ROUNDED, abs=ROUNDED)
    assert plain.structure == robot.structure


@pytest.mark.full
def test_the_general_model_finds_the_same() -> None:
    """Reactions come from the model in all coordinates with multipliers, forces alone from the closed form."""
    robot = curving_robot()
    still = fp.static_deflection(robot, at_home(robot))
    state = at_home(
        robot, elastic=1.2 * still.elastic.values, elastic_velocity=0.3 * np.ones(3), velocity=[0.1, 0.2, -0.1],
        angular_velocity=[0.3, -0.2, 0.4],
    )  # fmt: skip
    force = still.force.values
    closed = fp.forward_dynamics(robot, state, force)
    general = fp.forward_dynamics(robot, state, force, reactions=True)
    for name in ("acceleration", "angular_acceleration", "elastic_acceleration"):
        assert off(general[name].values, closed[name].values) < GENERAL, name


def test_its_effect_falls_with_the_load() -> None:
    """Against the linear plate: the part of the deflection that stiffening changes is halved with the weight."""
    robot = curving_robot()
    body = robot.flexible_platform
    assert body is not None
    linear = robot.with_flexible_body("platform", body.unstiffened())
    missing = []
    for part in (0.1, 0.05):
        change = {"gravity": (part * np.array([0, 0, -9.81])).tolist()}
        pair = [fp.static_deflection(r.with_parameters(change), at_home(r)).elastic.values for r in (robot, linear)]
        missing.append(np.abs(pair[0] - pair[1]).max() / np.abs(pair[1]).max())
    assert 1e-6 < missing[1] < missing[0] < 1e-2
    assert np.log2(missing[0] / missing[1]) == pytest.approx(FIRST, abs=ORDER)


@pytest.mark.full
def test_weight_of_the_catalogue_robot() -> None:
    """Held at home: 0.5 % in force, first omega^2 on locked actuators from -6.55 to -3.95 1/s^2: still unstable."""
    found = []
    for robot in (plate_robot(), curving_robot(None)):
        modes = fp.natural_frequencies(robot, at_home(robot))
        assert modes.stable.values.tolist() == [False] + 9 * [True]
        found.append((float(modes.omega_squared[0]), modes.force.values))
    (linear, before), (stiffened, after) = found
    assert linear == pytest.approx(-6.5517, abs=WRITTEN_LINEAR)
    assert stiffened == pytest.approx(-3.95, abs=WRITTEN_STIFFENED)
    assert off(after, before) < 5e-3


def test_refused_where_a_joint_passes_moments() -> None:
    robot = curving_robot()
    body = robot.flexible_platform
    assert body is not None
    other = fp.load("tripteron")
    with pytest.raises(RobotBuildError, match=r"no interface at the joint|ends in a .* joint, whose moments would stiffen"):
        _ = other.with_flexible_body("platform", body).values
