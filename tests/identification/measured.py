"""Simulated measurements for the tests of identification: smooth motions, forces of the robot's own model, noise of stated
size."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import flexapod as fp

DATA = Path(__file__).parent / "data"
RIGID = (
    "stewart-3-3",
    "bench-6ups",
    "gough-stewart",
    "hexapod",
    "hexaslide",
    "hexa",
    "delta",
    "five-bar",
    "planar-4-prr",
    "tripteron",
)
"""Every robot of the catalogue with rigid bodies."""


def series(robot: fp.Robot, seconds: float, rate: float, *, size: float, seed: int, lowest: float = 0.3) -> fp.ActuatorMotion:
    """A Fourier series of five harmonics per actuator about home, with its exact derivatives.

    Args:
        size: of the coefficients [m or rad].
        lowest: frequency of the first harmonic [Hz].
    """
    random = np.random.default_rng(seed)
    n = len(robot.actuators)
    home = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    t = np.arange(round(seconds * rate)) / rate
    w = 2 * np.pi * lowest * np.arange(1, 6)
    a, phase = random.normal(size=(n, 5)) * size / np.sqrt(np.arange(1, 6)), random.uniform(0, 2 * np.pi, (n, 5))
    angle = t[:, None, None] * w + phase
    q, qd, qdd = np.sin(angle), w * np.cos(angle), -(w**2) * np.sin(angle)
    q, qd, qdd = ((a * x).sum(axis=2) for x in (q, qd, qdd))
    return fp.ActuatorMotion(time=t, position=home + q, velocity=qd, acceleration=qdd)


def exact(robot: fp.Robot, motion: fp.ActuatorMotion) -> tuple[fp.Motion, np.ndarray]:
    """Platform motion and forces without noise."""
    platform = fp.platform_motion(robot, motion)
    return platform, fp.inverse_dynamics(robot, platform).force.values


def noisy(
    motion: fp.ActuatorMotion, force: np.ndarray, *, force_noise: float, position_noise: float = 0.0, seed: int = 0
) -> fp.Measurement:
    """White noise of a standard deviation on forces [N, N m] and positions [m, rad]."""
    random = np.random.default_rng(seed)
    return fp.Measurement(
        time=motion.time,
        position=motion.position + position_noise * random.normal(size=motion.position.shape),
        force=force + force_noise * random.normal(size=force.shape),
        reference=motion.position,
    )
