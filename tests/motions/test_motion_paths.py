"""Line and circle: geometry, derivatives, geodesic, errors."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motion_checks import check_motion
from scipy.spatial.transform import Rotation, Slerp

from flexapod.errors import InputError
from flexapod.motions import LAWS, circle, line, rotvec_rotation, s_curve

ROUNDING = 1e-13
"""[m] and entries of rotations: a few roundings of sums below a metre."""
R0, R1 = rotvec_rotation([0.3, -0.2, 0.5]), rotvec_rotation([-0.4, 0.9, 0.1])
ENDS = {"start": (0.1, 0.2, 0.3), "end": (-0.3, 0.5, 0.9)}
PEAK = 1e-12
"""Of a limit: speeds and accelerations along a line are the law's, times a unit vector."""
CENTRIPETAL = 1e-11
"""Of the centripetal acceleration, or of 1 m/s^2: roundings of the arm, divided by it."""
CLOSED = 1e-12
"""[m]: rounding of cosines of up to 12 rad."""


@pytest.mark.parametrize("law", [name for name in LAWS if name != "constant-acceleration"])
def test_line_derivatives(law: str) -> None:
    motion = line(**ENDS, duration=1.5, law=law, start_rotation=R0, end_rotation=R1)
    check_motion(motion, np.linspace(0.1, 1.4, 21), 2e-3)
    np.testing.assert_allclose(motion.position[[0, -1]], [ENDS["start"], ENDS["end"]], rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(motion.rotation[[0, -1]], [R0, R1], rtol=0, atol=ROUNDING)


def test_line_is_straight_and_turns_as_slerp() -> None:
    motion = line(**ENDS, duration=1.5, start_rotation=R0, end_rotation=R1, samples=41)
    way = np.subtract(ENDS["end"], ENDS["start"])
    s = (motion.position - ENDS["start"]) @ way / (way @ way)
    assert np.abs(np.cross(motion.position - ENDS["start"], way)).max() < ROUNDING
    slerp = Slerp([0, 1], Rotation.from_matrix([R0, R1]))(np.clip(s, 0, 1)).as_matrix()
    assert np.abs(motion.rotation - slerp).max() < ROUNDING


def test_line_with_a_law_of_its_own_time() -> None:
    way = float(np.linalg.norm(np.subtract(ENDS["end"], ENDS["start"])))
    law = s_curve(distance=way, speed=0.5, acceleration=2.0, jerk=20.0)
    motion = line(**ENDS, law=law, samples=2001)
    assert motion.time[-1] == law.duration
    assert np.linalg.norm(motion.velocity, axis=1).max() <= 0.5 * (1 + PEAK)
    assert np.linalg.norm(motion.acceleration, axis=1).max() <= 2.0 * (1 + PEAK)


@given(
    normal=st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(lambda n: np.linalg.norm(n) > 0.1),
    start=st.floats(-6, 6),
    direction=st.sampled_from(["clockwise", "counterclockwise"]),
    speed=st.floats(0.05, 2.0),
)
@settings(max_examples=80, deadline=None)
def test_circle_geometry(normal: list[float], start: float, direction: str, speed: float) -> None:
    center, r = np.array([0.3, -0.1, 0.8]), 0.15
    motion = circle(center=center, radius=r, speed=speed, plane=normal, start_angle=start, direction=direction, samples=31)
    n = np.array(normal) / np.linalg.norm(normal)
    arm = motion.position - center
    assert np.abs(np.linalg.norm(arm, axis=1) - r).max() < ROUNDING
    assert np.abs(arm @ n).max() < ROUNDING
    np.testing.assert_allclose(np.linalg.norm(motion.velocity, axis=1), speed, rtol=PEAK)
    np.testing.assert_allclose(motion.acceleration, -arm * (speed / r) ** 2, rtol=0, atol=CENTRIPETAL * max(1, speed**2 / r))
    rotating = np.cross(arm, motion.velocity) @ n
    assert np.all(rotating > 0) == (direction == "counterclockwise")
    np.testing.assert_allclose(motion.position[0], motion.position[-1], rtol=0, atol=CLOSED)


@pytest.mark.parametrize("plane", ["xy", "xz", "yz", (1.0, 2.0, -0.5)])
def test_circle_derivatives(plane: object) -> None:
    way = {"radius": 0.2, "plane": plane, "direction": "clockwise"}
    motion = circle(center=(0, 0, 1), law="quintic", duration=2.0, revolutions=1.5, **way)
    check_motion(motion, np.linspace(0.1, 1.9, 25), 1e-3)
    assert np.abs(motion.velocity[[0, -1]]).max() < ROUNDING


def test_circle_planes_by_name() -> None:
    first = {"xy": "xy", "xz": "xz", "yz": "yz", "yx": "yx"}
    for plane, (e1, e2) in first.items():
        motion = circle(center=(0, 0, 0), radius=1.0, rpm=15.0, plane=plane, samples=5)
        np.testing.assert_allclose(motion.position[0], np.eye(3)["xyz".index(e1)], rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(motion.position[1], np.eye(3)["xyz".index(e2)], rtol=0, atol=ROUNDING)


def test_circle_by_rpm_for_a_duration() -> None:
    motion = circle(center=(0, 0, 0), radius=0.1, rpm=40.0, duration=3.0, samples=61)
    rotated = np.unwrap(np.arctan2(motion.position[:, 1], motion.position[:, 0]))
    assert rotated[-1] == pytest.approx(2 * 2 * np.pi)
    assert motion.time[-1] == 3.0


def test_motions_can_be_sent_to_another_process() -> None:
    motion = line(**ENDS, duration=1.0, end_rotation=R1)
    copy = pickle.loads(pickle.dumps(motion))
    np.testing.assert_array_equal(copy.formula(motion.time).rotation, motion.rotation)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: circle(center=(0, 0, 0), radius=1.0), "circle: give exactly one of speed, rpm and law, got none"),
        (lambda: circle(center=(0, 0, 0), radius=1.0, rpm=1.0, speed=1.0), ".*got speed and rpm"),
        (lambda: circle(center=(0, 0, 0), radius=0.0, rpm=1.0), "radius: must be positive, got 0"),
        (lambda: circle(center=(0, 0, 0), radius=1.0, rpm=1.0, plane="xx"), "plane: expected one of xy, .*, got 'xx'"),
        (lambda: circle(center=(0, 0, 0), radius=1.0, rpm=1.0, plane=(0, 0, 0)), "plane: the normal is zero"),
        (
            lambda: circle(center=(0, 0, 0), radius=1.0, rpm=1.0, direction="clockwize"),
            "direction: expected one of counterclockwise, clockwise, got 'clockwize'; did you mean 'clockwise'\\?",
        ),
        (
            lambda: circle(center=(0, 0, 0), radius=1.0, rpm=1.0, revolutions=1, duration=2),
            "circle: give duration or revolutions, not both, when the speed is constant",
        ),
        (lambda: line(start=(0, 0, 0), end=(0, 0, 1)), "duration: is missing; only a TimeLaw has"),
        (lambda: line(start=(0, 0, 0), end=(0, 0, 1), duration=1, law="quintik"), ".*did you mean 'quintic'"),
        (
            lambda: line(start=(0, 0, 0), end=(0, 0, 1), duration=1, end_rotation=2 * np.eye(3)),
            "end_rotation: the matrix is not orthonormal",
        ),
    ],
)
def test_errors(make: object, text: str) -> None:
    with pytest.raises(InputError, match=f"^{text}"):
        make()  # type: ignore[operator]
