"""Joining, resampling, slowing, reversing and moving motions; with formulas and without."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motion_checks import check_motion, same

from flexapod.errors import InputError
from flexapod.motions import (
    Motion,
    actuator_polygon,
    circle,
    concatenate,
    line,
    offset,
    one_minus_cos,
    resample,
    reverse,
    rotvec_rotation,
    shifted,
    slowed,
    through_poses,
)

ROUNDING = 1e-12
"""Times are computed twice, and accelerations change with them."""

HERMITE_ORDER = {"position": 6, "rotation": 6, "velocity": 5, "acceleration": 4, "angular_velocity": 5, "angular_acceleration": 4}
ORDER = 0.5
"""Of a measured order: the next term of the error is not yet negligible."""
TIMES = 1e-15
"""Relative: one rounding of a multiple of the sampling step."""
HERMITE = 1e-7
"""6th order at a step of 0.015 s, 10 rad."""


def general(samples: int = 61) -> Motion:
    start, amplitude, omega = (0.1, 0, 0.9, 0.2, -0.1, 0.3), (0.1, 0.2, -0.1, 0.4, 0.3, -0.6), (2.0, 3.0, 1.0, 1.5, 2.5, 0.7)
    return one_minus_cos(start, amplitude, omega, 3.0, samples)


def actuators(samples: int = 61):  # type: ignore[no-untyped-def]
    return actuator_polygon(corners=[(0, 0.1), (0.3, 0.2), (-0.1, 0.0)], durations=1.0, rests=0.25, samples=samples)


def constant_speed() -> Motion:
    """Moving at its very ends, where a rounding of time would bring it to rest."""
    return circle(center=(0, 0, 0), radius=0.1, rpm=37.0, duration=1.7, samples=41)


MAKERS = [general, actuators, constant_speed]
CHANGES = {
    "slowed": lambda m: slowed(m, 1.7),
    "reverse": reverse,
    "shifted": lambda m: shifted(m, 0.37),
    "offset": lambda m: offset(m, translation=np.full(m.position.shape[1], 0.2)),
    "all": lambda m: shifted(reverse(slowed(m, 0.3)), -1.1),
}


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("change", CHANGES)
def test_arrays_and_formula_say_the_same(make, change: str) -> None:  # type: ignore[no-untyped-def]
    result = CHANGES[change](make())
    assert result.formula is not None
    same(result.formula(result.time), result, ROUNDING)
    same(pickle.loads(pickle.dumps(result)).formula(result.time), result, ROUNDING)


@pytest.mark.parametrize("change", CHANGES)
def test_changed_motions_keep_their_derivatives(change: str) -> None:
    result = CHANGES[change](general())
    first, last = result.time[[0, -1]]
    step = 1e-3 * (last - first)
    check_motion(result, np.linspace(first + 3 * step, last - 3 * step, 25), step)


@given(st.floats(0.05, 20.0))
@settings(max_examples=40, deadline=None)
def test_slowed_and_back(factor: float) -> None:
    motion = constant_speed()
    same(slowed(slowed(motion, factor), 1 / factor), motion, ROUNDING)
    slow = slowed(motion, factor)
    assert np.linalg.norm(slow.velocity, axis=1) == pytest.approx(np.linalg.norm(motion.velocity, axis=1) / factor)
    same(slow.formula(slow.time), slow, ROUNDING)


@pytest.mark.parametrize("make", MAKERS)
def test_reverse_twice(make) -> None:  # type: ignore[no-untyped-def]
    same(reverse(reverse(make())), make(), ROUNDING)


def test_reverse_goes_back_the_same_way() -> None:
    motion = general()
    back = reverse(motion)
    np.testing.assert_array_equal(back.position, motion.position[::-1])
    np.testing.assert_array_equal(back.angular_velocity, -motion.angular_velocity[::-1])
    np.testing.assert_array_equal(back.angular_acceleration, motion.angular_acceleration[::-1])


def test_offset_moves_the_world_frame() -> None:
    R, d, motion = rotvec_rotation([0.3, -0.8, 0.5]), np.array([0.1, 0.2, -0.3]), general()
    moved = offset(motion, translation=d, rotation=R)
    point = np.array([0.4, -0.2, 0.1])  # fixed in the platform
    old, new = (m.position + m.rotation @ point for m in (motion, moved))
    np.testing.assert_allclose(new, old @ R.T + d, rtol=0, atol=ROUNDING)
    check_motion(moved, np.linspace(0.1, 2.9, 25), 2e-3)
    same(offset(moved, translation=-R.T @ d, rotation=R.T), motion, ROUNDING)


@pytest.mark.parametrize("make", MAKERS)
def test_resample_by_formula_is_exact(make) -> None:  # type: ignore[no-untyped-def]
    motion = make()
    same(resample(resample(motion, samples=17), time=motion.time), motion, 0.0)


def test_resample_by_rate() -> None:
    np.testing.assert_allclose(resample(general(), rate=100.0).time, np.arange(301) / 100, rtol=TIMES)
    assert resample(general(), rate=100.0).time[-1] == 3.0
    assert len(resample(general(), rate=0.9)) == 3


def test_resample_without_formula_has_the_order_of_the_hermite_polynomial() -> None:
    t = np.linspace(0.013, 2.987, 301)
    exact = resample(general(), time=t)
    errors = []
    for samples in (31, 61):
        arrays = replace(general(samples))
        assert arrays.formula is None
        between = resample(arrays, time=t)
        errors.append({k: np.abs(getattr(between, k) - getattr(exact, k)).max() for k in HERMITE_ORDER})
    for name, order in HERMITE_ORDER.items():
        assert np.log2(errors[0][name] / errors[1][name]) == pytest.approx(order, abs=ORDER), (name, errors)


def test_resample_without_formula_meets_its_samples() -> None:
    for motion in (replace(general()), replace(actuators())):
        same(resample(motion, time=motion.time), motion, ROUNDING)


def test_resample_without_formula_over_many_revolutions() -> None:
    rotating = one_minus_cos((0,) * 6, (0, 0, 0, 0, 0, 10.0), 1.0, 6.0, 401)
    t = np.linspace(0, 6, 97)
    same(resample(replace(rotating), time=t), resample(rotating, time=t), HERMITE)


def legs() -> tuple[Motion, Motion]:
    a = line(start=(0, 0, 0), end=(0.1, 0, 0), duration=1.0, end_rotation=rotvec_rotation([0, 0.3, 0]), samples=21)
    b = line(
        start=(0.1, 0, 0), end=(0.1, 0.2, 0), duration=0.5, start_rotation=rotvec_rotation([0, 0.3, 0]), samples=11,
        end_rotation=rotvec_rotation([0.2, 0, 0.1]),
    )  # fmt: skip
    return a, b


def test_concatenate() -> None:
    a, b = legs()
    both = concatenate(a, shifted(b, 7.0), reverse(b))
    assert len(both) == 21 + 10 + 10
    assert both.time[-1] == pytest.approx(2.0)
    np.testing.assert_array_equal(both.position[:21], a.position)
    np.testing.assert_allclose(both.position[20:31], b.position, rtol=0, atol=0)
    same(both.formula(both.time), both, ROUNDING)  # type: ignore[misc]
    same(concatenate(replace(a), b), concatenate(a, b), 0.0)
    assert concatenate(replace(a), b).formula is None


def test_concatenate_is_the_motion_through_poses() -> None:
    a, b = legs()
    poses = through_poses(
        positions=[(0, 0, 0), (0.1, 0, 0), (0.1, 0.2, 0)], durations=(1.0, 0.5), samples=31,
        orientations=[np.eye(3), a.rotation[-1], b.rotation[-1]],
    )  # fmt: skip
    same(resample(concatenate(a, b), time=poses.time), poses, ROUNDING)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: resample(general()), "resample: give exactly one of time, samples and rate"),
        (lambda: resample(general(), samples=5, rate=3), "resample: give exactly one of time, samples and rate"),
        (lambda: resample(general(), time=[0.0, 3.5]), "time: 3.5 s is outside the motion, which lasts from 0 s to 3 s"),
        (lambda: slowed(general(), 0.0), "factor: must be positive, got 0"),
        (lambda: concatenate(), "concatenate: expected at least one motion"),
        (lambda: concatenate(general(), actuators()), "concatenate: expected motions of one kind"),
        (
            lambda: concatenate(legs()[0], legs()[0]),
            r"concatenate: position jumps by 0.1 where motion 1 starts \(t = 1 s\); motions must join",
        ),
        (
            lambda: concatenate(line(start=(0.3, 0, 0), end=(0.1, 0, 0), duration=1.0), constant_speed()),
            "concatenate: velocity jumps by 0.387 where motion 1 starts",
        ),
        (lambda: offset(actuators(), rotation=np.eye(3)), "rotation: actuator coordinates have no world frame"),
        (lambda: offset(general(), translation=(1, 2)), r"translation: expected shape \(3,\), got \(2,\)"),
    ],
)
def test_errors(call: object, text: str) -> None:
    with pytest.raises(InputError, match=f"^{text}"):
        call()  # type: ignore[operator]
