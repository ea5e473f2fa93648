"""Through poses with rests: rests, joints, derivatives, smooth curve, errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motion_checks import check_motion
from scipy.interpolate import CubicSpline

from flexapod.errors import InputError
from flexapod.motions import cosine, resample, rotation_rotvec, rotvec_rotation, through_poses

ROUNDING = 1e-13
"""[m] and entries of rotations: a few roundings of sums below a metre."""
POSITIONS = np.array([(0, 0, 0.9), (0.1, 0.05, 1.0), (-0.1, 0.1, 0.95), (0, -0.1, 0.85), (0.05, 0, 0.9)])
ROTATIONS = rotvec_rotation(np.array([(0, 0, 0), (0.2, 0.1, -0.3), (-0.4, 0.2, 0.1), (0.1, 0.5, 0.6), (0, 0, 3.0)]))
DURATIONS = np.array([1.0, 0.7, 1.2, 0.9])
RESTS = np.array([0.2, 0.3, 0.0, 0.4, 0.1])
ARRIVALS = np.cumsum(RESTS[:-1] + DURATIONS)
LEAVES = ARRIVALS - DURATIONS
AT_REST = 1e-11
"""Roundings of 60 s / T^2 at the ends of the quintic."""
ACROSS = 1e-6
"""Twice 1e-9 s times the jerk."""


def motion(**options: object):  # type: ignore[no-untyped-def]
    given = {"positions": POSITIONS, "orientations": ROTATIONS, "durations": DURATIONS, "rests": RESTS} | options
    return through_poses(**given)


def inside(margin: float = 0.02) -> np.ndarray:
    t = np.linspace(0.05, ARRIVALS[-1] - 0.05, 60)
    edges = np.concatenate([ARRIVALS, LEAVES])
    return t[np.abs(t[:, None] - edges).min(axis=1) > margin]


@pytest.mark.parametrize("path", ["straight", "smooth"])
@pytest.mark.parametrize("law", ["quintic", "cosine", "septic"])
def test_derivatives(path: str, law: str) -> None:
    check_motion(motion(path=path, law=law), inside(), 1e-3)


@pytest.mark.parametrize("path", ["straight", "smooth"])
def test_poses_are_met_at_rest(path: str) -> None:
    times = np.sort(np.concatenate([ARRIVALS, [0.0], LEAVES[[0]]]))
    at = resample(motion(path=path), time=times)
    order = [0, 0, 1, 2, 3, 4]
    assert np.abs(at.position - POSITIONS[order]).max() < ROUNDING
    assert np.abs(at.rotation - ROTATIONS[order]).max() < ROUNDING
    for name in ("velocity", "acceleration", "angular_velocity", "angular_acceleration"):
        assert np.abs(getattr(at, name)).max() < AT_REST, name


@pytest.mark.parametrize("path", ["straight", "smooth"])
def test_joints_are_continuous(path: str) -> None:
    eps = 1e-9
    formula = motion(path=path).formula
    for b in np.concatenate([ARRIVALS[:-1], LEAVES]):
        two = formula(np.array([b - eps, b + eps]))
        for name in ("position", "velocity", "acceleration", "angular_velocity", "angular_acceleration"):
            assert np.abs(np.diff(getattr(two, name), axis=0)).max() < ACROSS, (name, b)


def test_a_joint_without_rest_belongs_to_the_later_segment() -> None:
    """A law that starts with a jump of acceleration: at the joint it is the later segment's."""
    m = motion(law="cosine")
    at, after = m.formula(ARRIVALS[[1]]), m.formula(ARRIVALS[[1]] + 1e-9)
    np.testing.assert_allclose(at.acceleration, after.acceleration, rtol=0, atol=ACROSS)
    way = POSITIONS[3] - POSITIONS[2]
    np.testing.assert_allclose(at.acceleration[0], way * (np.pi / DURATIONS[2]) ** 2 / 2, rtol=0, atol=ROUNDING * 10)


def test_rest_holds_the_pose() -> None:
    t = np.linspace(ARRIVALS[2] + 1e-6, ARRIVALS[2] + RESTS[3] - 1e-6, 7)
    held = resample(motion(), time=t)
    assert np.abs(held.position - POSITIONS[3]).max() < ROUNDING
    assert not held.velocity.any()
    assert not held.angular_acceleration.any()


def test_orientation_turns_about_one_axis() -> None:
    t = np.linspace(LEAVES[1] + 0.01, ARRIVALS[1] - 0.01, 9)
    w = resample(motion(), time=t).angular_velocity
    axis = ROTATIONS[1] @ rotation_rotvec(ROTATIONS[1].T @ ROTATIONS[2])
    assert np.abs(np.cross(w, axis)).max() < ROUNDING
    assert np.all(w @ axis > 0)


def test_smooth_curve_is_the_cubic_spline_over_chords() -> None:
    x = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(POSITIONS, axis=0), axis=1))])
    curve = CubicSpline(x, POSITIONS)
    for i in range(4):
        t = np.linspace(LEAVES[i] + 0.01, ARRIVALS[i] - 0.01, 9)
        u = (t - LEAVES[i]) / DURATIONS[i]
        way = x[i] + (10 * u**3 - 15 * u**4 + 6 * u**5) * (x[i + 1] - x[i])
        assert np.abs(resample(motion(path="smooth"), time=t).position - curve(way)).max() < ROUNDING


def test_scalar_rest_comes_after_every_arrival() -> None:
    m = through_poses(positions=POSITIONS[:3], durations=1.0, rests=0.5)
    assert m.time[-1] == pytest.approx(3.0)
    np.testing.assert_allclose(m.rotation, np.broadcast_to(np.eye(3), m.rotation.shape), rtol=0, atol=0)


def test_a_law_is_stretched_to_each_segment() -> None:
    a, b = motion(law=cosine(17.0)), motion(law="cosine")
    np.testing.assert_allclose(a.position, b.position, rtol=0, atol=ROUNDING)


@given(st.integers(0, 10_000), st.integers(2, 6))
@settings(max_examples=30, deadline=None)
def test_random_poses_are_met(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    p, R = rng.normal(size=(count, 3)), rotvec_rotation(rng.normal(size=(count, 3)))
    durations, rests = rng.uniform(0.2, 2, count - 1), rng.uniform(0, 1, count)
    m = through_poses(positions=p, orientations=R, durations=durations, rests=rests, path="smooth")
    at = resample(m, time=np.cumsum(durations + rests[:-1]))
    assert np.abs(at.position - p[1:]).max() < ROUNDING * 10
    assert np.abs(at.rotation - R[1:]).max() < ROUNDING


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"positions": POSITIONS[:1]}, r"positions: expected shape \(poses, 3\) with at least 2 poses, got \(1, 3\)"),
        ({"durations": [1.0, 2.0]}, r"durations: expected shape \(4,\), got \(2,\)"),
        ({"durations": [1.0, 2.0, 0.0, 1.0]}, "durations: must be positive, got 0"),
        ({"rests": [0.1] * 4}, r"rests: expected shape \(5,\), got \(4,\)"),
        ({"rests": -1.0}, "rests: must not be negative, got -1"),
        ({"path": "smoth"}, "path: expected one of straight, smooth, got 'smoth'; did you mean 'smooth'\\?"),
        ({"positions": POSITIONS[[0, 1, 1, 2, 3]], "path": "smooth"}, "positions: 1 and 2 are the same point.*path='straight'"),
        ({"orientations": ROTATIONS[:3]}, r"orientations: expected shape \(5, 3, 3\), got \(3, 3, 3\)"),
    ],
)
def test_errors(change: dict, text: str) -> None:
    with pytest.raises(InputError, match=f"^{text}$"):
        motion(**change)
