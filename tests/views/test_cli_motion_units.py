"""Options of motions take units, as `--set` does."""

import math

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.chosen_motion import chosen_motion

SAME = 1e-12
"""One conversion."""


def test_units_of_options() -> None:
    robot = fp.load("stewart-3-3")
    plain = chosen_motion(robot, "circle", {"radius": 0.1, "rpm": 30, "samples": 11})
    said = chosen_motion(robot, "circle", {"radius": "100 mm", "rpm": "180 deg/s", "samples": 11})
    assert np.abs(plain.position - said.position).max() <= SAME
    assert np.abs(plain.velocity - said.velocity).max() <= SAME


def test_omega_in_hertz() -> None:
    robot = fp.load("stewart-3-3")
    options = {"center": [*robot.home.position, 0, 0, 0], "amplitude": [0.05, 0, 0, 0, 0, 0], "duration": 1.0, "samples": 9}
    plain = chosen_motion(robot, "harmonic", {**options, "omega": 2 * math.pi})
    said = chosen_motion(robot, "harmonic", {**options, "omega": "1 Hz"})
    assert np.abs(plain.velocity - said.velocity).max() <= SAME


def test_a_wrong_unit_is_told() -> None:
    with pytest.raises(fp.InputError, match="--option radius=3 parsecs"):
        chosen_motion(fp.load("stewart-3-3"), "circle", {"radius": "3 parsecs"})
    assert fp.si_value("15 mm") == 0.015
