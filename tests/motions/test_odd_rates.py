"""Rates in another unit than positions are named; coarse, noisy and resting motions are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import flexapod as fp
from flexapod.motions.odd_rates import odd_rates
from flexapod.motions.papers import staicu_motion


def circle(samples: int = 61) -> fp.Motion:
    return fp.motions.circle(center=[0, 0, 0.5], radius=0.05, speed=0.1, samples=samples)


def test_units_are_named() -> None:
    motion = circle()
    mm = replace(motion, position=1000 * motion.position)
    assert odd_rates(mm) == "velocity is 0.001 times the derivative of position: are they given in different units?"
    degrees = replace(motion, acceleration=np.degrees(motion.acceleration))
    assert odd_rates(degrees).startswith("acceleration is 57 times the derivative of velocity")


@pytest.mark.parametrize("samples", [3, 11, 12, 13, 31, 301])
def test_coarse_and_noisy_motions_are_not(samples: int) -> None:
    """Few samples per revolution, down to five in two."""
    motion = circle(samples)
    assert odd_rates(motion) == ""
    noise = np.random.default_rng(samples).normal(scale=0.01, size=(samples, 3))
    assert odd_rates(replace(motion, position=motion.position + noise)) == ""
    many = fp.motions.circle(center=[0, 0, 0.5], radius=0.05, speed=0.1, revolutions=0.4 * samples, samples=samples)
    assert odd_rates(many) == ""


def test_rest_says_nothing() -> None:
    motion = staicu_motion("vertical-z")
    still = replace(motion, velocity=0 * motion.velocity, acceleration=0 * motion.acceleration)
    assert odd_rates(still) == ""


def test_check_motion_warns() -> None:
    robot = fp.load("hexapod")
    motion = fp.motions.circle(center=robot.home.position, radius=0.01, speed=0.1)
    with pytest.warns(fp.FlexapodWarning, match=r"^motion: velocity is 1e\+03 times the derivative of position"):
        fp.check_motion(robot, replace(motion, velocity=1000 * motion.velocity, acceleration=1000 * motion.acceleration))
