"""A flexible platform on legs that pass moments to it: delta, whose legs end in universal joints."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import flexapod as fp

BALANCE_LEFT = 1e-9
"""Of the energy that is exchanged: the method keeps it to rounding where loops, their derivatives and forces belong together."""
STRAIGHT = 1e-13
"""Entries of a rotation that loops closed by Newton's method leave as it is; found 3e-17."""


@cache
def flexible_delta(stiffer: float = 1.0) -> fp.Robot:
    robot = fp.load("delta")
    joints = {leg.name: tuple(leg.closing.on_platform.position) for leg in robot.legs}
    radius, angles = 1.4 * np.linalg.norm(robot.legs[0].closing.on_platform.position), np.arange(6) * np.pi / 3
    outline = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    plate = fp.flexible.plate(
        outline=outline, thickness=0.002, young=70e9 * stiffer, poisson=0.3, density=2700.0, modes=3, interfaces=joints
    )
    return robot.with_flexible_body("platform", plate)


def home(robot: fp.Robot) -> fp.State:
    return fp.State(position=robot.home.position, rotation=robot.home.rotation)


def test_energy_is_kept_in_a_free_run() -> None:
    """Weight, inertia, elastic rotations of the joints and loops to second order are all in the energy balance."""
    robot = flexible_delta()
    held = fp.static_deflection(robot, home(robot))
    result = fp.simulate(robot, home(robot), force=held.force.values * [0.9, 1.05, 1.0], duration=0.06, step=2e-4, friction=False)
    exchanged = np.abs(result.kinetic_energy.values).max() + np.abs(result.supplied_work.values).max()
    assert exchanged > 1e-3
    assert np.ptp(result.elastic.values, axis=0).max() > 0.01 * np.abs(held.elastic.values).max()
    assert np.abs(result.energy_residual.values).max() < BALANCE_LEFT * exchanged


def test_stiff_plate_is_the_rigid_robot() -> None:
    """Holding forces differ from the rigid robot's in proportion to the compliance; frequencies grow with its root."""
    body = flexible_delta().flexible_platform
    assert body is not None
    rigid = fp.load("delta").with_parameters({"platform.mass": float(body.mass)})
    q = np.array([[0.1, 0.05, -0.05]])
    motion = fp.ActuatorMotion(time=[0.0], position=q, velocity=0.5 + 0 * q, acceleration=3.0 + 0 * q)
    expected = fp.inverse_dynamics(rigid, fp.platform_motion(rigid, motion), friction=False).force.values
    errors = []
    for stiffer in (1.0, 1e2, 1e4):
        found = fp.inverse_dynamics(flexible_delta(stiffer), motion, friction=False).force.values
        errors.append(np.abs(found - expected).max() / np.abs(expected).max())
    first, second = errors[0] / errors[1], errors[1] / errors[2]
    assert errors[0] < 1e-2
    assert 50 < first < 200
    assert 50 < second < 200


def test_the_modes_turn_the_joints() -> None:
    """Closed poses at given modes: the platform's frame tilts because universal joints follow the bent plate."""
    robot = flexible_delta()
    flat = fp.State.from_actuators(robot, np.zeros(3), elastic=np.zeros(3))
    bent = fp.State.from_actuators(robot, np.zeros(3), elastic=np.array([1e-4, 0.0, 0.0]))
    assert np.abs(flat.rotation - robot.home.rotation).max() < STRAIGHT
    assert np.abs(bent.rotation - flat.rotation).max() > 1e-6


def test_modes_without_rotations_are_refused() -> None:
    robot = fp.load("delta")
    plate = flexible_delta().flexible_platform
    assert plate is not None
    from dataclasses import replace

    bare = {name: replace(i, Phi_r=None) for name, i in plate.interfaces.items()}
    with pytest.raises(fp.FlexapodError, match="no rotations at the universal joint"):
        robot.with_flexible_body("platform", replace(plate, interfaces=bare))


def test_variants_keep_a_given_body() -> None:
    """Also where the file has a flexible platform of its own."""
    robot = fp.load("gough-stewart-flexible")
    body = robot.flexible_platform
    assert body is not None
    shorter = robot.with_flexible_body("platform", body.truncated(4))
    assert len(shorter.with_parameters({"gravity": [0.0, 0.0, 0.0]}).elastic_names) == 4
    assert len(robot.with_parameters({"gravity": [0.0, 0.0, 0.0]}).elastic_names) == 10
