"""Backlash of the drives beside masses, on data of a robot that lags behind its encoders."""

from __future__ import annotations

import numpy as np
import pytest
from measured import exact, noisy, series

import flexapod as fp

GAPS = np.array([8e-4, 0.0, 4e-4, 0.0, 1e-3, 2e-4])
"""Of the six drives [m]."""
SIGMAS = 4.0
"""Of 27 estimates none is that far away, but for one case in 500."""
KNOWN = 2e-4
"""[m] Standard error below which data say something about gaps of 2e-4 to 1e-3 m."""


def lagging(robot: fp.Robot, motion: fp.ActuatorMotion) -> np.ndarray:
    """Forces of the robot, which is half a gap behind its encoders."""
    behind = motion.position - 0.5 * GAPS * np.sign(motion.velocity)
    late = fp.ActuatorMotion(time=motion.time, position=behind, velocity=motion.velocity, acceleration=motion.acceleration)
    return exact(robot, late)[1]


def test_gaps_are_found() -> None:
    robot = fp.load("hexapod")
    motion = series(robot, 12.0, 100.0, size=0.01, seed=3, lowest=0.4)
    data = noisy(motion, lagging(robot, motion), force_noise=0.02)
    base = fp.base_parameters(robot, legs="alike")
    found = fp.identify(robot, data, legs="alike", base=base, backlash=True)
    assert found.backlash is not None
    assert found.backlash_sigma is not None
    assert np.all(found.backlash_sigma < KNOWN), "the data say something about the gaps"
    assert np.abs((found.backlash - GAPS) / found.backlash_sigma).max() < SIGMAS
    assert np.abs((found.estimate - base.values) / found.sigma).max() < SIGMAS
    without = fp.identify(robot, data, legs="alike", base=base)
    assert np.all(without.noise >= found.noise * (1 - 1e-3)), "the term explains something"
    assert "backlash A" in found.table()
    with pytest.raises(fp.BadDataError, match=r"excitation: the motion does not distinguish the parameters.*offset of"):
        fp.identify(robot, data, legs="alike", base=base, offset=True)  # the weight of equal sliders is an offset
    assert found.dataset().backlash.dims == ("actuator",)


def test_refusals() -> None:
    robot = fp.load("hexapod")
    motion = series(robot, 4.0, 50.0, size=0.01, seed=3, lowest=0.4)
    platform, force = exact(robot, motion)
    seen = fp.Measurement(time=motion.time, position=motion.position, force=force, motion=platform)
    with pytest.raises(fp.InputError, match="backlash: needs the actuators' own positions"):
        fp.identify(robot, seen, legs="alike", backlash=True)
    with pytest.raises(fp.InputError, match="backlash: not available with named parameters"):
        fp.identify(robot, seen, parameters=["platform.mass"], backlash=True)
