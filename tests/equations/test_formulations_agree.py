"""Every formulation of rigid inverse dynamics gives the same forces; power, forward dynamics and the mass matrix fit them."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states
from flexapod.equations.minimal.planning import applies
from flexapod.robot.model import RigidBody
from support.robots import RIGID

STATES = 10_000

AGREE = 1e-10
"""Formulations share no algebra; their rounding differs by some 1e-14 of the largest force times the condition of the pose
(bounded by the sampling box to a few hundred)."""

IDENTITY = 1e-9
"""Forward after inverse dynamics: the condition of the mass matrix (up to 1e4 here) times rounding."""
SYMMETRIC = 1e-14
"""Of the largest entry: rounding of sums; found 3e-16."""


@functools.cache
def case(name: str) -> tuple[fp.Robot, fp.Motion]:
    robot = fp.load(name)
    states = random_states(robot, STATES, seed=11)
    return robot, fp.Motion(time=np.arange(float(STATES)), **states)


@functools.cache
def reference(name: str) -> np.ndarray:
    robot, motion = case(name)
    return fp.inverse_dynamics(robot, motion, friction=False, formulation="virtual_power").force.values


@pytest.mark.parametrize("name", RIGID)
@pytest.mark.parametrize("formulation", ["links", "virtual_work", "newton_euler", "minimal"])
def test_formulations_agree(name: str, formulation: str) -> None:
    robot, motion = case(name)
    if formulation == "minimal" and applies(robot):
        with pytest.raises(fp.InputError, match="does not apply"):
            fp.inverse_dynamics(robot, motion, friction=False, formulation="minimal")
        return
    force = fp.inverse_dynamics(robot, motion, friction=False, formulation=formulation).force.values
    expected = reference(name)
    assert np.abs(force - expected).max() <= AGREE * np.abs(expected).max()


@pytest.mark.parametrize("name", RIGID)
@pytest.mark.parametrize("formulation", ["links", "virtual_power", "virtual_work", "newton_euler"])
def test_external_wrench(name: str, formulation: str) -> None:
    """A wrench at a named point in platform axes does the work that the actuators must give less."""
    robot, motion = case(name)
    part = fp.Motion(**{k: getattr(motion, k)[:200] for k in motion.__dataclass_fields__ if k != "formula"})
    load = np.random.default_rng(3).normal(size=(200, 6)) * 10
    tool = fp.inverse_dynamics(robot, part, friction=False, formulation=formulation, wrench=load, point="tool", axes="platform")
    free = fp.inverse_dynamics(robot, part, friction=False, formulation=formulation)
    f = np.einsum("nij,nj->ni", part.rotation, load[:, :3])
    m = np.einsum("nij,nj->ni", part.rotation, load[:, 3:])
    arm = part.rotation @ robot.platform.points["tool"]
    velocity = part.velocity + np.cross(part.angular_velocity, arm)
    power = np.einsum("ni,ni->n", f, velocity) + np.einsum("ni,ni->n", m, part.angular_velocity)
    change = (tool.power - free.power).sum("actuator").values
    terms = np.abs(tool.power.values).sum(1) + np.abs(free.power.values).sum(1) + np.abs(power)
    assert np.abs(change + power).max() <= AGREE * terms.max()


@pytest.mark.parametrize("name", RIGID)
def test_forward_after_inverse_is_the_identity(name: str) -> None:
    robot, motion = case(name)
    formulations = ["links", "virtual_power"] if applies(robot) else ["links", "virtual_power", "minimal"]
    for formulation in formulations:
        found = fp.forward_dynamics(robot, motion, reference(name), friction=False, formulation=formulation)
        for key in ("acceleration", "angular_acceleration"):
            scale = np.abs(motion.acceleration).max() / robot.characteristic_length + np.abs(motion.angular_acceleration).max()
            unit = robot.characteristic_length if key == "acceleration" else 1.0
            assert np.abs(found[key].values - getattr(motion, key)).max() <= IDENTITY * scale * unit


@pytest.mark.parametrize("name", RIGID)
def test_mass_matrix_is_symmetric_positive_definite(name: str) -> None:
    robot, motion = case(name)
    coordinates = "platform" if robot.mobility.rank == 6 else "independent"
    M = fp.mass_matrix(robot, motion, coordinates=coordinates).values
    assert np.abs(M - np.swapaxes(M, 1, 2)).max() <= SYMMETRIC * np.abs(M).max()
    assert np.linalg.eigvalsh(M).min() > 0


@pytest.mark.parametrize("name", RIGID)
def test_equation_of_motion_in_actuator_coordinates(name: str) -> None:
    """M q'' + c + g = force with terms from the mass matrix kernel and q'' from kinematics."""
    robot, motion = case(name)
    if len(robot.actuators) != robot.mobility.rank:
        with pytest.raises(fp.InputError, match="as many actuators as degrees of freedom"):
            fp.mass_matrix(robot, motion, coordinates="actuator")
        return
    M = fp.mass_matrix(robot, motion, coordinates="actuator").values
    bias = fp.coriolis_force(robot, motion, coordinates="actuator") + fp.gravity_force(robot, motion, coordinates="actuator")
    qdd = fp.inverse_kinematics(robot, motion, joints=False).actuator_acceleration.values
    force = np.einsum("nij,nj->ni", M, qdd) + bias.values
    expected = reference(name)
    assert np.abs(force - expected).max() <= AGREE * np.abs(expected).max()


@pytest.mark.parametrize("name", RIGID)
def test_power_balance(name: str) -> None:
    """Actuator power equals the power that all bodies take: Newton and Euler for each in NumPy, from its own motion."""
    robot, motion = case(name)
    result = fp.inverse_dynamics(robot, motion, friction=False, formulation="virtual_power")
    bodies = fp.inverse_kinematics(robot, motion, joints=False, bodies=True)
    taken, terms = np.zeros(STATES), np.zeros(STATES)
    for k, body in enumerate(robot.bodies_by_name.values()):
        part = {key: bodies[f"body_{key}"].values[:, k] for key in KEYS}
        for power in _body_powers(body, part, robot.gravity):
            taken, terms = taken + power, terms + np.abs(power)
    drives = [link.inertia for leg in robot.legs for link in leg.links if link.actuated]
    rotors = bodies.actuator_velocity.values * bodies.actuator_acceleration.values * np.array(drives)
    taken, terms = taken + rotors.sum(1), terms + np.abs(rotors).sum(1) + np.abs(result.power.values).sum(1)
    assert (np.abs(result.power.values.sum(1) - taken) <= AGREE * terms).all()


KEYS = ("rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def _body_powers(body: RigidBody, m: dict[str, np.ndarray], gravity: np.ndarray) -> list[np.ndarray]:
    """Powers of force and moment that a body's motion takes, about its frame origin, all samples."""
    R, v, w, a, alpha = (m[key] for key in KEYS)
    c = R @ (body.body_axes.T @ body.first_moment)
    inertia = R @ (body.body_axes.T @ body.inertia @ body.body_axes) @ np.swapaxes(R, 1, 2)
    lifted = a - gravity
    f = body.mass * lifted + np.cross(alpha, c) + np.cross(w, np.cross(w, c))
    spin = np.einsum("nij,nj->ni", inertia, w)
    n = np.cross(c, lifted) + np.einsum("nij,nj->ni", inertia, alpha) + np.cross(w, spin)
    return [np.einsum("ni,ni->n", f, v), np.einsum("ni,ni->n", n, w)]
