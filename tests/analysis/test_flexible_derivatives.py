"""Derivatives of inverse dynamics with a flexible platform, against differences at held elastic coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import flexapod as fp
from flexapod.motions.rotations import rotvec_rotation

AGREEMENT = 1e-6
"""Of the largest entry: central differences at 1e-5; found 1e-8."""
STEP = 1e-5


def force(robot: fp.Robot, motion: fp.Motion, elastic: np.ndarray, rates: np.ndarray) -> np.ndarray:
    return fp.inverse_dynamics(robot, motion, elastic=elastic, elastic_velocity=rates).force.values[0]


def test_derivatives_at_a_held_deformation() -> None:
    robot = fp.load("gough-stewart-flexible")
    random = np.random.default_rng(3)
    names = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")
    arrays = {name: random.uniform(-0.5, 0.5, (1, 3)) for name in names}
    motion = fp.Motion(time=[0.0], position=robot.home.position[None], rotation=robot.home.rotation[None], **arrays)
    found = fp.inverse_dynamics_derivatives(robot, motion, parameters=["gravity.z"])
    at = fp.inverse_dynamics(robot, motion)
    e, ed = at.elastic.values, at.elastic_velocity.values
    for name in ("position", "velocity", "angular_velocity", "acceleration", "angular_acceleration"):
        expected = np.zeros((6, 3))
        for k in range(3):
            up, down = (replace(motion, **{name: getattr(motion, name) + s * STEP * np.eye(3)[k]}) for s in (1, -1))
            expected[:, k] = (force(robot, up, e, ed) - force(robot, down, e, ed)) / (2 * STEP)
        ours = found[f"tau_D_{name}"].values[0]
        assert np.abs(ours - expected).max() < AGREEMENT * max(1.0, np.abs(expected).max()), name
    rotated = np.zeros((6, 3))
    for k in range(3):
        up, down = (replace(motion, rotation=rotvec_rotation(s * STEP * np.eye(3)[k]) @ motion.rotation) for s in (1, -1))
        rotated[:, k] = (force(robot, up, e, ed) - force(robot, down, e, ed)) / (2 * STEP)
    assert np.abs(found.tau_D_rotation.values[0] - rotated).max() < AGREEMENT * np.abs(rotated).max()
    up, down = (robot.with_parameters({"gravity.z": robot.gravity[2] + s * 0.1}) for s in (1, -1))
    slope = (force(up, motion, e, ed) - force(down, motion, e, ed)) / 0.2
    assert np.abs(found.tau_D_parameter.values[0, :, 0] - slope).max() < AGREEMENT * np.abs(slope).max()
