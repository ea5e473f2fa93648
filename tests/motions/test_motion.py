"""`Motion` and `ActuatorMotion` themselves: planar motions, formulas, errors."""

from dataclasses import replace

import numpy as np
import pytest

from flexapod.errors import InputError
from flexapod.motions import ActuatorMotion, Motion, line, rotation_rotvec
from flexapod.rotation_arrays import skew

ROUNDING = 1e-14
"""Entries of rotations: a few roundings of cosines."""
NORMALS = {"xy": (0, 0, 1), "yz": (1, 0, 0), "xz": (0, -1, 0)}
t = np.linspace(0, 1, 2001)
x, y, angle = 0.1 * np.sin(3 * t), 0.2 * np.cos(2 * t), 0.8 * np.sin(2.5 * t)
rates = np.column_stack([0.3 * np.cos(3 * t), -0.4 * np.sin(2 * t), 2.0 * np.cos(2.5 * t)])
accelerations = np.column_stack([-0.9 * np.sin(3 * t), -0.8 * np.cos(2 * t), -5.0 * np.sin(2.5 * t)])
DIFFERENCES = 1e-5
"""[1/s]: the step of 0.5 ms squared, times the third derivative; found 2e-6."""
ORDER = 0.2
"""Of a measured order: the next term of the error is not yet negligible."""


@pytest.mark.parametrize("plane", NORMALS)
def test_planar_turns_from_its_first_axis_to_its_second(plane: str) -> None:
    motion = Motion.planar(time=t, x=x, y=y, angle=angle, rates=rates, accelerations=accelerations, plane=plane)
    i, j = ("xyz".index(c) for c in plane)
    np.testing.assert_allclose(motion.rotation[:, i, i], np.cos(angle), rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(motion.rotation[:, j, i], np.sin(angle), rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(rotation_rotvec(motion.rotation), np.outer(angle, NORMALS[plane]), rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(motion.position[:, [i, j]], np.column_stack([x, y]), rtol=0, atol=0)
    # R' = [w] R: the rotation and the angular velocity turn the same way
    slope = np.gradient(motion.rotation, t, axis=0, edge_order=2)
    assert np.abs(slope - skew(motion.angular_velocity) @ motion.rotation).max() < DIFFERENCES


def test_planar_by_differences_is_of_second_order() -> None:
    def error(count: int) -> float:
        s = slice(None, None, count)
        motion = Motion.planar(time=t[s], x=x[s], y=y[s], angle=angle[s])
        inner = slice(2, -2)  # at the ends the differences are one-sided twice, of first order
        return float(np.abs(motion.angular_acceleration[inner, 2] - accelerations[s][inner, 2]).max())

    assert np.log2(error(20) / error(10)) == pytest.approx(2, abs=ORDER)


def test_replace_drops_the_formula() -> None:
    motion = line(start=(0, 0, 0), end=(0, 0, 1), duration=1.0)
    assert motion.formula is not None
    assert replace(motion, position=motion.position + 1).formula is None


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Motion.planar(time=t, x=x, y=y, angle=angle, plane="zx"), "plane: expected xy, xz or yz, got 'zx'"),
        (lambda: Motion.planar(time=[0, 1.0], x=[0, 1], y=[0, 1], angle=[0, 1]), "a motion of fewer than 3 samples needs its"),
        (
            lambda: ActuatorMotion(time=[0, 1.0], position=[0.0, 1], velocity=[0.0, 1], acceleration=[0.0, 1]),
            r"position: expected shape \(2, actuators\), got \(2,\)",
        ),
        (
            lambda: ActuatorMotion(time=[0, 0.0], position=[[0.0], [1]], velocity=[[0.0], [1]], acceleration=[[0.0], [1]]),
            r"time: must increase, but entry 1 \(0 s\) does not",
        ),
    ],
)
def test_errors(make: object, text: str) -> None:
    with pytest.raises(InputError, match=f"^{text}"):
        make()  # type: ignore[operator]
