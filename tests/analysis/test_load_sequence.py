"""Static equilibria with the actuators held: sequences of loads, loads that turn with the platform, stiffness under load."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp

sys.path.insert(0, str(Path(__file__).parents[1] / "elastodynamics"))
from beam_alone import beam_alone, hub
from element_chain import chain

EI = 70e9 * 0.02 * 0.01**3 / 12
AGREE = 1e-8
"""Two searches for the same equilibrium, of the length of the beam."""
RESIDUAL = 1e-9
"""Left of the equilibrium, of EI / m^2; found 6e-13."""
BY_HAND = 1e-9
"""Relative: one moment of a force."""


def test_a_sequence_bends_far() -> None:
    """Loads up to P L^2 / EI = 5 and back: every equilibrium as the element chain of the tests finds it; back at rest."""
    robot = beam_alone(elements=4)
    loads = np.zeros((5, 6))
    loads[:, 1] = EI * np.array([1.0, 3.0, 5.0, 2.0, 0.0])
    with pytest.warns(fp.ValidityWarning, match="theory: exact"):
        found = fp.static_deflection(robot, hub(np.full(5, 0.3)), wrench=loads, sequence=True)
    c, s = np.cos(0.3), np.sin(0.3)
    for k in range(4):
        force = np.array([s * loads[k, 1], c * loads[k, 1], 0.0])  # the same in axes of the hub
        _, tip = chain(robot.beams["1"][0], 4).static(force, loads=6)
        world = np.array([c * tip[0] - s * tip[1], s * tip[0] + c * tip[1], 0.0])
        assert np.abs(found.position.values[k] - world).max() < AGREE
    assert np.abs(found.elastic.values[-1]).max() < AGREE


def test_a_load_too_large_for_one_step_is_reached_in_steps() -> None:
    """P L^2 / EI = 20 on exact elements: without a sequence the same equilibrium as with one, beside a small load."""
    robot, loads = beam_alone(elements=8, words="theory: exact, poisson: 0.3, "), np.zeros((2, 6))
    loads[:, 1] = EI * np.array([1.0, 20.0])
    with pytest.warns(fp.ValidityWarning, match="strained"):
        found = fp.static_deflection(robot, hub(np.zeros(2)), wrench=loads)
    with pytest.warns(fp.ValidityWarning, match="strained"):
        after = fp.static_deflection(robot, hub(np.zeros(2)), wrench=loads, sequence=True)
    assert np.abs(found.position.values - after.position.values).max() < AGREE
    assert found.stable.all()
    assert np.abs(found.residual.values).max() < RESIDUAL * EI


def test_a_load_that_turns_with_the_platform() -> None:
    """In platform axes the equilibrium is found under the load as it is at the end: residual in the force across the tip."""
    robot = beam_alone(elements=4)
    found = fp.static_deflection(robot, hub(), wrench=[0, 1.5 * EI, 0, 0, 0, 0], axes="platform")
    R, p = found.rotation.values[0], found.position.values[0]
    force = R @ [0, 1.5 * EI, 0]
    assert float(found.force[0, 0]) == pytest.approx(-(p[0] * force[1] - p[1] * force[0]), rel=BY_HAND)
    dead = fp.static_deflection(robot, hub(), wrench=[*force, 0, 0, 0])
    assert np.abs(dead.position.values - p).max() < AGREE


def test_a_load_beyond_buckling_is_said_to_be_unstable() -> None:
    """Straight columns are in equilibrium under any load; above Euler's load that is no place to stay."""
    robot, euler = beam_alone(elements=4), np.pi**2 * EI / 4
    loads = np.zeros((2, 6))
    loads[:, 0] = [-0.9 * euler, -1.1 * euler]
    with pytest.warns(fp.ValidityWarning, match=r"equilibrium of sample 1 is unstable.*fp.buckling"):
        found = fp.static_deflection(robot, hub(np.zeros(2)), wrench=loads)
    assert found.stable.values.tolist() == [True, False]


def test_bad_input() -> None:
    robot = beam_alone(elements=4)
    with pytest.raises(fp.FlexapodError, match="sequence: needs an ActuatorMotion"):
        fp.static_deflection(robot, fp.State(position=[1.0, 0, 0], rotation=np.eye(3)), sequence=True)
    with pytest.raises(fp.FlexapodError, match=r"wrench: expected shape \(6,\) or \(2, 6\)"):
        fp.static_deflection(robot, hub(np.zeros(2)), wrench=np.zeros((3, 6)), sequence=True)
    plate = fp.load("gough-stewart-flexible")
    still = fp.State(position=plate.home.position, rotation=plate.home.rotation)
    with pytest.raises(fp.FlexapodError, match="sequence: available for robots with flexible legs"):
        fp.static_deflection(plate, still, sequence=True)
