"""Exciting motions: within all limits, and much better conditioned than random ones of the same length and limits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.identification.excitation import Excitation, optimised

RANDOM = 100
BETTER = 5.0
"""Condition number of the median of the random motions over the optimised one."""
PERIODIC = 1e-12
"""[m, rad]: sums of sines at both ends of a period."""


def compared(name: str, legs: str, passes: int, random: int) -> float:
    robot = fp.load(name)
    base = fp.base_parameters(robot, legs=legs)  # type: ignore[arg-type]
    problem = Excitation(robot=robot, base=base, period=10.0, harmonics=8)
    x = optimised(problem, passes, seed=0)
    assert problem.evaluate(x[None])[0][0] <= 1.0, "all limits are kept"
    drawn = [problem.condition(problem.random(100 + k)) for k in range(random)]
    return float(np.median(drawn)) / problem.condition(x)


@pytest.mark.full
@pytest.mark.parametrize("legs", ["each", "alike"])
def test_five_times_better_than_random(legs: str) -> None:
    assert compared("hexapod", legs, 40 if legs == "each" else 60, RANDOM) > BETTER


def test_better_than_random_and_written_to_a_file(tmp_path: Path) -> None:
    robot = fp.load("five-bar")
    motion = fp.exciting_motion(robot, period=4.0, harmonics=4, rate=50.0, passes=3)
    assert fp.check_motion(robot, motion).violations == ()
    assert np.abs(motion.position[0] - motion.position[-1]).max() < PERIODIC
    path = fp.motions.motion_to_file(motion, tmp_path / "excite.csv", actuators=list(robot.actuators))
    again = fp.motions.motion_from_file(path)
    np.testing.assert_array_equal(again.position, motion.position)
    problem = Excitation(robot=robot, base=fp.base_parameters(robot), period=4.0, harmonics=4)
    drawn = [problem.condition(problem.random(50 + k)) for k in range(9)]
    found = fp.regressor(robot, motion).regressor.values[:, :, list(problem.base.kept)]
    flat = found.reshape(-1, found.shape[2])
    s = np.linalg.svd(flat / np.linalg.norm(flat, axis=0), compute_uv=False)
    assert s[0] / s[-1] < np.median(drawn)


def test_refuses_too_many_harmonics() -> None:
    with pytest.raises(fp.InputError, match="harmonics: expected 1 to 10, got 11"):
        fp.exciting_motion(fp.load("five-bar"), harmonics=11)
