"""Motions in six coordinates: derivatives, sequences, errors."""

import numpy as np
import pytest
from motion_checks import check_motion
from scipy.spatial.transform import Rotation

from flexapod.errors import InputError
from flexapod.motions import (
    constant_acceleration_motion,
    coordinate_motion,
    harmonic_motion,
    motion_from_coordinates,
    one_minus_cos,
    quintic,
)

START = (0.1, -0.2, 0.9, 0.2, -0.3, 0.4)
AMPLITUDE = (0.05, 0.1, -0.2, 0.3, 0.2, -0.5)
OMEGA = (2.0, 3.0, 1.0, 1.5, 2.5, 0.7)
TIMES = np.linspace(0.1, 2.9, 25)
ROUNDING = 1e-14
"""[m] and entries of rotations: a few roundings of sums below a metre."""


@pytest.mark.parametrize("sequence", ["XYZ", "YXZ", "xyz", "ZXZ", "zyx"])
def test_one_minus_cos(sequence: str) -> None:
    motion = one_minus_cos(START, AMPLITUDE, OMEGA, 3.0, 31, sequence)
    check_motion(motion, TIMES, 2e-3)
    q = np.array(START) + np.array(AMPLITUDE) * (1 - np.cos(np.outer(motion.time, OMEGA)))
    assert np.abs(motion.position - q[:, :3]).max() < ROUNDING
    assert np.abs(motion.rotation - Rotation.from_euler(sequence, q[:, 3:]).as_matrix()).max() < ROUNDING


def test_one_omega_for_all() -> None:
    a, b = one_minus_cos(START, AMPLITUDE, 2.0, 3.0, 11), one_minus_cos(START, AMPLITUDE, [2.0] * 6, 3.0, 11)
    np.testing.assert_array_equal(a.angular_acceleration, b.angular_acceleration)


def test_harmonic() -> None:
    phase = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    motion = harmonic_motion(center=START, amplitude=AMPLITUDE, omega=OMEGA, phase=phase, duration=3.0, samples=31)
    check_motion(motion, TIMES, 2e-3)
    z = START[2] + AMPLITUDE[2] * np.sin(OMEGA[2] * motion.time + phase[2])
    assert np.abs(motion.position[:, 2] - z).max() < ROUNDING


def test_coordinate_motion_follows_its_law() -> None:
    motion = coordinate_motion(start=START, change=AMPLITUDE, law=quintic(3.0, distance=7.0), samples=31)
    check_motion(motion, TIMES, 2e-3)
    np.testing.assert_allclose(motion.position[-1], np.array(START[:3]) + AMPLITUDE[:3], rtol=0, atol=ROUNDING)


def test_constant_acceleration() -> None:
    motion = constant_acceleration_motion(start=START, acceleration=AMPLITUDE, duration=3.0, samples=31)
    check_motion(motion, TIMES[np.abs(TIMES - 1.5) > 0.05], 2e-3)


def test_motion_from_coordinates_needs_derivatives_of_the_same_shape() -> None:
    with pytest.raises(InputError, match=r"^qdd: expected shape \(2, 6\), got \(2, 5\)$"):
        motion_from_coordinates(time=[0.0, 1.0], q=np.zeros((2, 6)), qd=np.zeros((2, 6)), qdd=np.zeros((2, 5)))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"start": (0, 0, 0)}, r"start: expected shape \(6,\), got \(3,\)"),
        ({"omega": (1.0, 2.0)}, r"omega: expected shape \(6,\), got \(2,\)"),
        ({"sequence": "XY"}, "sequence: six coordinates need three letters, got 'XY'"),
        ({"duration": -1.0}, "duration: must be positive, got -1"),
        ({"samples": 1}, "samples: expected a whole number of at least 2, got 1"),
        ({"samples": 2.5}, "samples: expected a whole number of at least 2, got 2.5"),
    ],
)
def test_errors(change: dict, text: str) -> None:
    options = {"start": START, "amplitude": AMPLITUDE, "omega": OMEGA, "duration": 3.0, "samples": 31} | change
    with pytest.raises(InputError, match=f"^{text}$"):
        one_minus_cos(**options)
