"""Splines through samples: order of accuracy, both kinds of orientation splines, sign flips, many turns."""

import numpy as np
import pytest
from motion_checks import check_motion, same

from flexapod.errors import InputError
from flexapod.motions import Motion, actuator_spline, one_minus_cos, platform_spline

ORDERS = {"velocity": 5, "acceleration": 4, "angular_velocity": 5, "angular_acceleration": 4}
"""Quintic splines: values to the 6th power of the step, one less for each derivative."""
KNOTS = 1e-14
"""[m] and entries of rotations: a spline at its own samples."""
ROTATIONS = 1e-5
"""Ends of the spline at a step of 0.01 s and 8 rad/s^2."""
HALF_REVOLUTION = 2e-6
"""Step^4 times the 6th derivative, 0.05^4 * 0.2; a jump would leave errors above 1."""
VELOCITY = 1e-8
"""Of sines of up to 3 rad/s: the 5th power of a step of 0.01 s, at the ends of the spline; found 7e-9."""
ACCELERATION = 1e-5
"""The same with the 4th power; found 4e-6."""
EXACT = 1e-8
"""Accelerations of up to 150: roundings over the squared distance of random samples; found 2e-11."""


def general(samples: int) -> Motion:
    start, amplitude, omega = (0.1, 0, 0.9, 0.2, -0.1, 0.3), (0.1, 0.2, -0.1, 0.4, 0.3, -0.6), (2.0, 3.0, 1.0, 1.5, 2.5, 0.7)
    return one_minus_cos(start, amplitude, omega, 3.0, samples)


@pytest.mark.parametrize("orientation", ["rotvec", "quaternion"])
def test_order_of_accuracy(orientation: str) -> None:
    errors = []
    for samples in (61, 121):
        exact = general(samples)
        fit = platform_spline(time=exact.time, position=exact.position, rotation=exact.rotation, orientation=orientation)
        inner = slice(samples // 4, -(samples // 4))
        errors.append({k: np.abs(getattr(fit, k) - getattr(exact, k))[inner].max() for k in ORDERS})
    for name, order in ORDERS.items():
        # inside, symmetric splines may do one better
        assert order - 0.3 < np.log2(errors[0][name] / errors[1][name]) < order + 1.5, (name, errors)


@pytest.mark.parametrize("orientation", ["rotvec", "quaternion"])
def test_derivatives_are_exact_for_the_spline(orientation: str) -> None:
    exact = general(31)
    fit = platform_spline(time=exact.time, position=exact.position, rotation=exact.rotation, orientation=orientation)
    check_motion(fit, np.linspace(0.113, 2.887, 25), 1e-3)
    assert np.abs(fit.rotation - exact.rotation).max() < KNOTS
    assert np.abs(fit.position - exact.position).max() < KNOTS


def test_many_revolutions_go_by_quaternions() -> None:
    exact = one_minus_cos((0,) * 6, (0.1, 0, 0, 0.3, 0, 8.0), 1.0, 6.0, 601)
    fit = platform_spline(time=exact.time, position=exact.position, rotation=exact.rotation)
    same(fit, exact, ROTATIONS)
    with pytest.raises(InputError, match=r"^orientation: rotates by 3.1.* rad from its mean, too far for rotation vectors"):
        platform_spline(time=exact.time, position=exact.position, rotation=exact.rotation, orientation="rotvec")


def test_half_a_revolution_is_no_jump() -> None:
    """Orientations about half a revolution from the world axes: the rotation vector of R itself would jump."""
    exact = one_minus_cos((0, 0, 0, 0, 0, 3.0), (0, 0, 0, 0, 0, 0.2), 1.0, 6.0, 121)
    fit = platform_spline(time=exact.time, position=exact.position, rotation=exact.rotation)
    same(fit, exact, HALF_REVOLUTION)


def test_actuator_spline() -> None:
    t = np.linspace(0, 2, 201)
    q = np.column_stack([np.sin(2 * t), np.cos(3 * t)])
    fit = actuator_spline(time=t, position=q)
    np.testing.assert_allclose(fit.velocity, np.column_stack([2 * np.cos(2 * t), -3 * np.sin(3 * t)]), rtol=0, atol=VELOCITY)
    np.testing.assert_allclose(
        fit.acceleration, np.column_stack([-4 * np.sin(2 * t), -9 * np.cos(3 * t)]), rtol=0, atol=ACCELERATION
    )
    check_motion(fit, np.linspace(0.1, 1.9, 13), 1e-3)


def test_polynomials_of_the_degree_are_exact() -> None:
    t = np.sort(np.random.default_rng(4).uniform(0, 2, 12))
    q = np.column_stack([t**5 - t**2, 2 - t**3])
    fit = actuator_spline(time=t, position=q)
    np.testing.assert_allclose(fit.acceleration, np.column_stack([20 * t**3 - 2, -6 * t]), rtol=0, atol=EXACT)


def test_errors() -> None:
    with pytest.raises(InputError, match=r"^a spline needs at least 4 samples to give accelerations, got 3$"):
        actuator_spline(time=[0, 1.0, 2], position=[[0.0], [1], [2]])
    rotations = np.tile(np.eye(3), (6, 1, 1))
    with pytest.raises(InputError, match=r"^orientation: expected one of auto, rotvec, quaternion, got 'euler'"):
        platform_spline(time=np.arange(6.0), position=np.zeros((6, 3)), rotation=rotations, orientation="euler")
