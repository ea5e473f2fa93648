"""Rotations: against SciPy, against finite differences, and round trips."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motion_checks import check_order
from scipy.spatial.transform import Rotation

from flexapod.errors import InputError
from flexapod.motions import (
    euler_motion,
    euler_rotation,
    quat_wxyz_motion,
    quat_wxyz_rotation,
    quat_xyzw_rotation,
    rotation_quat_wxyz,
    rotation_quat_xyzw,
    rotation_rotvec,
    rotvec_motion,
    rotvec_rotation,
)
from flexapod.motions.quaternions import continuous_quaternions
from flexapod.motions.rotations import rotvec_rates
from flexapod.rotation_arrays import skew

ROUNDING = 2e-15
"""Products of three rotations: a few roundings of entries up to 1."""

THREE = ["".join(p) for p in itertools.product("xyz", repeat=3) if p[0] != p[1] and p[1] != p[2]]
SEQUENCES = [*THREE, *(s.upper() for s in THREE), "x", "Y", "zx", "XZ"]
CHANGE = 1e-14
"""One radian, where series and closed forms meet: closed forms lose at most a digit there."""
NORM = 1e-12
"""Of the largest entry: derivatives of a quotient by the norm."""
AXIS = 1e-13
"""[rad]: near half a revolution the axis comes from small differences."""
RATES = 1e-12
"""[rad/s] through rates of a rotation vector of up to 3.1 rad and back: a solve whose determinant falls towards a turn."""
SECOND_RATES = 1e-11
"""The same of second rates [rad/s^2], which take the first."""
HALF_REVOLUTION = 1e-14
"""[rad]: a few roundings of half a revolution."""


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_sequences_as_scipy(sequence: str) -> None:
    angles = np.random.default_rng(1).uniform(-3, 3, (20, len(sequence)))
    ours = euler_rotation(sequence, angles)
    theirs = Rotation.from_euler(sequence, angles).as_matrix()
    assert np.abs(ours - theirs).max() < ROUNDING
    assert np.abs(euler_rotation(sequence, angles[0]) - theirs[0]).max() < ROUNDING


def test_named_products() -> None:
    def rotation(axis: str, angle: float) -> np.ndarray:
        return euler_rotation(axis, [angle])

    a = (0.3, -0.5, 0.7)
    x, y, z = (rotation(c, v) for c, v in zip("xyz", a, strict=True))
    assert np.abs(euler_rotation("XYZ", a) - x @ y @ z).max() < ROUNDING
    assert np.abs(euler_rotation("xyz", a) - z @ y @ x).max() < ROUNDING


def path(seed: int, size: int) -> tuple:
    """A smooth curve of angles with its derivatives, as functions of time."""
    c0, c1, c2, c3 = np.random.default_rng(seed).normal(size=(4, size))

    def value(t: np.ndarray) -> np.ndarray:
        return c0 + np.outer(t, c1) + np.outer(t**2, c2) / 2 + 0.3 * np.outer(np.sin(2 * t), c3)

    def first(t: np.ndarray) -> np.ndarray:
        return c1 + np.outer(t, c2) + 0.6 * np.outer(np.cos(2 * t), c3)

    def second(t: np.ndarray) -> np.ndarray:
        return c2 - 1.2 * np.outer(np.sin(2 * t), c3)

    return value, first, second


def check_rotation_motion(motion: object, t: np.ndarray, h: float) -> None:
    R, w, alpha = motion(t)  # type: ignore[operator]
    check_order(lambda x: motion(x)[0], skew(w) @ R, t, h, "w")  # type: ignore[operator]
    check_order(lambda x: motion(x)[1], alpha, t, h, "alpha")  # type: ignore[operator]


@pytest.mark.parametrize("sequence", ["XYZ", "xyz", "YXZ", "zxz", "ZX"])
def test_euler_rates_against_differences(sequence: str) -> None:
    value, first, second = path(3, len(sequence))
    check_rotation_motion(lambda t: euler_motion(sequence, value(t), first(t), second(t)), np.linspace(-1, 1, 21), 2e-3)


def test_rotvec_rates_against_differences() -> None:
    value, first, second = path(5, 3)
    check_rotation_motion(lambda t: rotvec_motion(value(t), first(t), second(t)), np.linspace(-1, 1, 21), 2e-3)


def test_rotvec_rates_through_zero_and_past_a_radian() -> None:
    """The series and the closed form: along a curve through r = 0, up to 2.4 rad."""
    c = np.array([0.6, -1.2, 0.8])
    d = np.array([0.5, 0.3, -0.4])

    def motion(t: np.ndarray) -> tuple:
        return rotvec_motion(np.outer(t, c) + np.outer(t**2, d), c + np.outer(2 * t, d), np.broadcast_to(2 * d, (len(t), 3)))

    check_rotation_motion(motion, np.linspace(-1.3, 1.3, 41), 2e-3)


def test_coefficients_meet_where_series_and_closed_form_change() -> None:
    n = np.array([1.0, 2.0, -2.0]) / 3
    rates, seconds = np.array([0.3, -0.7, 0.2]), np.array([0.9, 0.1, -0.5])
    below, above = (rotvec_motion(x * n, rates, seconds) for x in (1 - 1e-15, 1 + 1e-15))
    for a, b in zip(below, above, strict=True):
        assert np.abs(a - b).max() < CHANGE


def test_quaternion_rates_against_differences_and_any_norm() -> None:
    value, first, second = path(7, 4)
    t = np.linspace(-1, 1, 21)
    check_rotation_motion(lambda t: quat_wxyz_motion(value(t), first(t), second(t)), t, 2e-3)
    # a norm that changes in time must not matter: q -> (2 + t) q
    k = (2 + t)[:, None]
    q, qd, qdd = value(t), first(t), second(t)
    plain, scaled = quat_wxyz_motion(q, qd, qdd), quat_wxyz_motion(k * q, k * qd + q, k * qdd + 2 * qd)
    for a, b in zip(plain, scaled, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=NORM * np.abs(a).max())


rotvecs = st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3).map(np.array).filter(lambda r: np.linalg.norm(r) < 3.1)
rates = st.lists(st.floats(-2, 2), min_size=3, max_size=3).map(np.array)


@given(r=rotvecs)
@settings(max_examples=200, deadline=None)
def test_rotvec_round_trip_and_scipy(r: np.ndarray) -> None:
    R = rotvec_rotation(r)
    assert np.abs(R - Rotation.from_rotvec(r).as_matrix()).max() < ROUNDING
    assert np.abs(R.T @ R - np.eye(3)).max() < ROUNDING
    assert np.abs(rotation_rotvec(R) - r).max() < AXIS


@given(r=rotvecs, w=rates, alpha=rates)
@settings(max_examples=100, deadline=None)
def test_rotvec_rates_round_trip(r: np.ndarray, w: np.ndarray, alpha: np.ndarray) -> None:
    rd, rdd = rotvec_rates(r, w, alpha)
    _, w2, alpha2 = rotvec_motion(r, rd, rdd)
    assert np.abs(w2 - w).max() < RATES
    assert np.abs(alpha2 - alpha).max() < SECOND_RATES


@given(r=rotvecs)
@settings(max_examples=100, deadline=None)
def test_quaternion_round_trip_and_scipy(r: np.ndarray) -> None:
    R = rotvec_rotation(r)
    wxyz, xyzw = rotation_quat_wxyz(R), rotation_quat_xyzw(R)
    np.testing.assert_array_equal(wxyz, np.roll(xyzw, 1))
    assert np.abs(quat_wxyz_rotation(wxyz) - R).max() < ROUNDING
    assert np.abs(quat_xyzw_rotation(xyzw) - R).max() < ROUNDING
    theirs = Rotation.from_matrix(R).as_quat()
    assert min(np.abs(xyzw - theirs).max(), np.abs(xyzw + theirs).max()) < ROUNDING


def test_half_revolutions() -> None:
    for axis in (*np.eye(3), np.array([1, 1, 0]) / np.sqrt(2), np.array([1, -2, 2]) / 3):
        r = rotation_rotvec(2 * np.outer(axis, axis) - np.eye(3))
        assert np.abs(np.abs(r @ axis) - np.pi) < HALF_REVOLUTION
        assert np.linalg.norm(np.cross(r, axis)) < HALF_REVOLUTION


def test_batches_of_two_axes() -> None:
    r = np.random.default_rng(2).normal(size=(4, 5, 3))
    assert rotation_rotvec(rotvec_rotation(r)).shape == (4, 5, 3)
    np.testing.assert_allclose(rotvec_rotation(r)[2, 3], rotvec_rotation(r[2, 3]), rtol=0, atol=ROUNDING)


def test_signs_of_quaternions_become_continuous() -> None:
    t = np.linspace(0, 3, 50)
    q = np.column_stack([np.cos(2 * t), np.sin(2 * t), 0 * t, 0 * t])
    flips = np.random.default_rng(0).choice([-1.0, 1.0], 50)
    flips[0] = 1.0
    np.testing.assert_array_equal(continuous_quaternions(q * flips[:, None]), q)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: euler_rotation("XyZ", [0, 0, 0.0]), "sequence: expected up to three letters of XYZ .* got 'XyZ'"),
        (lambda: euler_rotation("XXZ", [0, 0, 0.0]), "sequence: 'XXZ' rotates about the same axis twice in a row"),
        (lambda: euler_rotation("XYZ", [0, 0.0]), r"angles: expected shape \(..., 3\) for the sequence 'XYZ', got \(2,\)"),
        (lambda: euler_rotation("", []), "sequence: expected up to three letters"),
        (lambda: quat_wxyz_rotation([1, 1, 0, 0.0]), "quat_wxyz: expected unit quaternions, but a norm is 1.41421356"),
        (lambda: quat_xyzw_rotation([1, 0, 0.0]), r"quat_xyzw: expected shape \(..., 4\), got \(3,\)"),
        (lambda: rotation_quat_wxyz(np.eye(2)), r"rotation: expected shape \(..., 3, 3\), got \(2, 2\)"),
    ],
)
def test_errors(call: object, text: str) -> None:
    with pytest.raises(InputError, match=f"^{text}"):
        call()  # type: ignore[operator]
