"""More actuators than degrees of freedom: which of the forces is chosen, and robots whose loops tie actuators together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.sampling import random_states
from support.kinds import robot_of_kind

AGREES = 1e-9
"""Of the largest entry: rounding of two derivations."""
WEIGHTS = np.array([1.0, 2.0, 5.0, 0.5])
PRELOAD = np.array([3.0, -1.0, 2.0, 4.0])


def motion(robot: fp.Robot, count: int = 4) -> fp.Motion:
    return fp.Motion(time=np.arange(float(count)), **random_states(robot, count, seed=3))


def by_jacobian(robot: fp.Robot, at: fp.Motion, force: np.ndarray, weights: np.ndarray, preload: np.ndarray) -> np.ndarray:
    """Forces (n, 4) nearest to the preload with the same generalized force J^T f on the platform, sample by sample."""
    J = fp.jacobian(robot, fp.State(position=at.position, rotation=at.rotation)).jacobian.values[:, :, [0, 1, 5]]
    rows = []
    for own, f in zip(J, force, strict=True):
        demand = own.T @ (f - preload)
        rows.append(preload + np.linalg.solve(np.diag(weights), own @ np.linalg.solve(own.T / weights @ own, demand)))
    return np.array(rows)


@pytest.mark.parametrize("kind", ["redundantly actuated", "redundant with joint springs"])
@pytest.mark.parametrize(("weights", "preload"), [(WEIGHTS, None), (None, PRELOAD), (WEIGHTS, PRELOAD)])
def test_weights_and_preload(kind: str, weights: Any, preload: Any) -> None:
    """Against the Jacobian; the motion is the same, the internal part of the preload is not."""
    robot = robot_of_kind(kind)
    at = motion(robot)
    usual = fp.inverse_dynamics(robot, at, friction=False).force.values
    found = fp.inverse_dynamics(robot, at, friction=False, weights=weights, preload=preload, reactions=True)
    none = np.zeros(4)
    expected = by_jacobian(robot, at, usual, np.ones(4) if weights is None else weights, none if preload is None else preload)
    size = np.abs(expected).max()
    assert np.abs(found.force.values - expected).max() < AGREES * size
    assert np.abs(found.force.values - usual).max() > 1e-3 * size
    state = fp.State(position=at.position, rotation=at.rotation, velocity=at.velocity, angular_velocity=at.angular_velocity)
    back = fp.forward_dynamics(robot, state, found.force.values, friction=False, reactions=True)
    assert np.abs(back.acceleration.values - at.acceleration).max() < AGREES * np.abs(at.acceleration).max()
    reactions = found.reaction_force.values
    known = np.isfinite(reactions)
    assert np.abs(back.reaction_force.values - reactions)[known].max() < AGREES * np.abs(reactions[known]).max()


def test_reactions_of_a_simulation_carry_the_preload() -> None:
    """At the start, against inverse dynamics with the same forces as preload; least-norm forces would leave it out."""
    robot = robot_of_kind("redundantly actuated")
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    held = fp.inverse_dynamics(robot, home, friction=False, preload=PRELOAD, reactions=True)
    run = fp.simulate(
        robot, home, force=held.force.values, duration=2e-3, step=1e-3, friction=False, reactions=True, progress=False
    )  # fmt: skip
    ours, theirs = run.reaction_force.values[0], held.reaction_force.values
    known = np.isfinite(theirs)
    size = np.abs(theirs[known]).max()
    assert np.abs(ours - theirs)[known].max() < AGREES * size
    plain = fp.inverse_dynamics(robot, home, friction=False, reactions=True).reaction_force.values
    assert np.abs(plain - theirs)[known].max() > 0.1 * size


def test_choices_that_are_none() -> None:
    robot = fp.load("five-bar")
    at = motion(robot)
    with pytest.raises(fp.InputError, match=r"weights: five-bar has no more actuators \(2\) than its motion needs"):
        fp.inverse_dynamics(robot, at, weights=[1.0, 1.0])
    redundant = robot_of_kind("redundantly actuated")
    with pytest.raises(fp.InputError, match="weights: expected positive numbers"):
        fp.inverse_dynamics(redundant, motion(redundant), weights=[1.0, 0.0, 1.0, 1.0])
    with pytest.raises(fp.InputError, match="preload: expected shape"):
        fp.inverse_dynamics(redundant, motion(redundant), preload=[1.0])


@pytest.mark.parametrize("kind", ["redundantly actuated", "redundant with joint springs"])
def test_an_idle_actuator_has_no_force(kind: str) -> None:
    """Weight inf: the others move the robot alone, each idle one in turn; of too many the message names them."""
    robot = robot_of_kind(kind)
    at = motion(robot)
    state = fp.State(position=at.position, rotation=at.rotation, velocity=at.velocity, angular_velocity=at.angular_velocity)
    for k in range(4):
        weights = np.ones(4)
        weights[k] = np.inf
        force = fp.inverse_dynamics(robot, at, friction=False, weights=weights).force.values
        assert not force[:, k].any()
        back = fp.forward_dynamics(robot, state, force, friction=False)
        assert np.abs(back.acceleration.values - at.acceleration).max() < 100 * AGREES * np.abs(at.acceleration).max()
    two = ", ".join(robot.actuators[1:3])
    with pytest.raises(fp.InputError, match=rf"without {two} \(weight inf: idle\) .* has 2 actuators for 3 degrees of freedom"):
        fp.inverse_dynamics(robot, at, weights=[1.0, np.inf, np.inf, 1.0])
    with pytest.raises(fp.InputError, match="preload: every entry must be a finite number"):
        fp.inverse_dynamics(robot, at, preload=[1.0, np.nan, 0.0, 0.0])


def test_tied_actuators_as_the_rigid_robot() -> None:
    """Kinematics, masses and energy are those of the rigid robot without springs, by other equations; springs add stiffness."""
    tied = robot_of_kind("redundant with joint springs")
    assert set(tied.independent) < set(tied.actuators)
    passive = next(name for name in tied.actuators if name not in tied.independent)
    at = motion(tied, 2)
    state = fp.State(position=at.position, rotation=at.rotation, velocity=at.velocity, angular_velocity=at.angular_velocity)
    M = fp.mass_matrix(tied, state, coordinates="independent").values
    moved = fp.inverse_kinematics(tied, at)
    rates = moved.actuator_velocity.sel(actuator=list(tied.independent)).values
    energy = fp.energy(tied, state)
    assert np.abs(np.einsum("ni,nij,nj->n", rates, M, rates) / 2.0 - energy.kinetic.values).max() < AGREES * energy.kinetic.max()
    rigid = fp.load("planar-4-prr")
    plain = fp.energy(rigid, state)
    assert np.abs(energy.kinetic.values - plain.kinetic.values).max() < AGREES * float(plain.kinetic.max())
    other = fp.inverse_kinematics(rigid, at)
    assert np.abs(moved.actuator_acceleration.values - other.actuator_acceleration.values).max() < AGREES * 10.0
    stiff = np.array([0.0 if name == passive else 1e4 for name in tied.actuators])
    pose = fp.State(position=at.position, rotation=at.rotation)
    soft = fp.natural_frequencies(tied, pose, actuators=stiff, prestress=False).omega_squared.values
    bare = fp.natural_frequencies(rigid, pose, actuators=stiff, prestress=False).omega_squared.values
    assert np.all(soft >= bare - AGREES * bare.max())  # joint springs only add stiffness
    with pytest.raises(fp.InputError, match="coordinates='actuator' needs as many actuators as freedoms"):
        fp.mass_matrix(tied, state, coordinates="actuator")
