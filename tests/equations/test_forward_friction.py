"""Forward dynamics with friction undoes inverse dynamics with friction; reactions come with it."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states

IDENTITY = 1e-9
"""Of the largest acceleration: the coupling stops at 1e-12 of the largest force, times the condition of the mass matrix."""

COUNT = 2000


@pytest.fixture(scope="module")
def with_friction_law() -> tuple[fp.Robot, fp.Motion]:
    robot = fp.load("hexaslide")
    return robot, fp.Motion(time=np.arange(float(COUNT)), **random_states(robot, COUNT, seed=6))


def test_forward_after_inverse_is_the_identity(with_friction_law: tuple[fp.Robot, fp.Motion]) -> None:
    robot, motion = with_friction_law
    force = fp.inverse_dynamics(robot, motion).force.values
    found = fp.forward_dynamics(robot, motion, force)
    for key, size in (("acceleration", 5.0), ("angular_acceleration", 5.0 / robot.characteristic_length)):
        assert np.abs(found[key].values - getattr(motion, key)).max() <= IDENTITY * size


def test_strong_friction_still_has_an_acceleration() -> None:
    """Eight times the friction of the file: where inverse dynamics has forces, forward dynamics nearly always finds a motion."""
    robot = fp.load("hexaslide")
    stronger = {f"legs.{joint}": 8.0 * robot.parameter(f"legs.{joint}") for joint in
                ("rail.friction.normal", "hip.friction.reaction", "ball.friction.reaction")}  # fmt: skip
    states = random_states(robot, 400, seed=1)
    strong = robot.with_parameters(stronger)
    motion = fp.Motion(time=np.arange(400.0), **states)
    force = fp.inverse_dynamics(strong, motion, on_error="mask").force.values
    known = np.isfinite(force).all(axis=1)
    assert known.mean() > 0.9
    found = fp.forward_dynamics(strong, motion, np.where(known[:, None], force, 0.0), on_error="mask").acceleration.values
    assert np.isfinite(found[known]).all(axis=1).mean() > 0.95  # 0.45 with Anderson's acceleration


def test_friction_matters_here(with_friction_law: tuple[fp.Robot, fp.Motion]) -> None:
    robot, motion = with_friction_law
    force = fp.inverse_dynamics(robot, motion).force.values
    smooth = fp.forward_dynamics(robot, motion, force, friction=False)
    assert np.abs(smooth.acceleration.values - motion.acceleration).max() > 0.1


def test_general_legs_with_friction() -> None:
    """Constant torques and viscous friction in the joints of the five-bar."""
    robot = fp.load("five-bar").with_parameters(
        {"legs.crank.friction.viscous": 0.02, "legs.elbow.friction.coulomb": 0.05, "legs.crank.friction.coulomb": 0.1}
    )
    motion = fp.Motion(time=np.arange(50.0), **random_states(robot, 50, seed=2))
    force = fp.inverse_dynamics(robot, motion).force.values
    found = fp.forward_dynamics(robot, motion, force)
    assert np.abs(found.acceleration.values - motion.acceleration).max() <= IDENTITY * np.abs(motion.acceleration).max()
    without = fp.inverse_dynamics(robot, motion, friction=False).force.values
    assert np.abs(force - without).max() > 0.05


def test_reactions_are_those_of_the_motion_found(with_friction_law: tuple[fp.Robot, fp.Motion]) -> None:
    robot, motion = with_friction_law
    drive = fp.inverse_dynamics(robot, motion, reactions=True)
    found = fp.forward_dynamics(robot, motion, drive.force.values, reactions=True)
    assert found.reaction_force.dims == ("time", "joint", "axis")
    largest = np.abs(drive.reaction_force.values).max()
    assert np.abs(found.reaction_force.values - drive.reaction_force.values).max() <= IDENTITY * largest
    one = fp.State(position=robot.home.position)
    held = fp.forward_dynamics(robot, one, fp.inverse_dynamics(robot, one).force.values, reactions=True)
    assert held.reaction_force.dims == ("joint", "axis")
