"""Time laws: derivatives, ends, holds, closed forms."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motion_checks import check_law, check_order
from scipy.integrate import trapezoid

from flexapod.errors import InputError
from flexapod.motions import (
    TimeLaw,
    constant_acceleration,
    constant_speed,
    cosine,
    cycloidal,
    harmonic,
    minimum_jerk,
    polynomial,
    quintic,
    s_curve,
    septic,
    trapezoidal,
)

EXACT = 1e-13
"""A few roundings of polynomials with coefficients up to 84."""

LAWS = {
    "cosine": cosine(1.7, distance=0.4),
    "cosine there and back": cosine(3.0, distance=2.0, cycles=1.0),
    "quintic": quintic(1.3, distance=-2.0),
    "septic": septic(0.9, distance=1.5),
    "cycloidal": cycloidal(2.1, distance=0.3),
    "constant speed": constant_speed(2.0, distance=3.0),
    "harmonic": harmonic(2.0, omega=5.0, amplitude=0.7, phase=0.4),
    "minimum jerk": minimum_jerk(1.5, start=(0.1, -0.2, 0.3), end=(0.8, 0.4, -0.5)),
    "polynomial": polynomial(1.2, (0.0, 0.5, -0.2, 0.7), distance=2.0),
    "constant acceleration": constant_acceleration(3.0, acceleration=0.1),
    "trapezoidal": trapezoidal(distance=2.0, speed=0.8, acceleration=1.5),
    "s-curve": s_curve(distance=2.0, speed=0.8, acceleration=1.5, jerk=6.0),
}
RESTS = ["cosine", "quintic", "septic", "cycloidal", "constant acceleration", "trapezoidal", "s-curve"]
STRETCHED = 1e-11
"""Of the distance over the squared duration: roundings of its square."""


@pytest.mark.parametrize("name", LAWS)
def test_derivatives_against_differences(name: str) -> None:
    check_law(LAWS[name])


def test_the_check_finds_a_wrong_derivative() -> None:
    law = quintic(1.0)
    t = np.linspace(0.1, 0.9, 9)
    with pytest.raises(AssertionError, match="order"):
        check_order(lambda x: law(x)[0], 1.001 * law(t)[1], t, 1e-3, "wrong")


@pytest.mark.parametrize("name", LAWS)
def test_holds_before_and_after(name: str) -> None:
    law = LAWS[name]
    ends = law(np.array([0.0, law.duration]))[0]
    s, sd, sdd = law(np.array([-1.0, -1e-9, law.duration + 1e-9, law.duration + 5.0]))
    np.testing.assert_array_equal(s, ends[[0, 0, 1, 1]])
    assert not sd.any()
    assert not sdd.any()


@pytest.mark.parametrize("name", RESTS)
def test_rest_to_rest_laws_reach_the_distance_at_rest(name: str) -> None:
    law = LAWS[name]
    s, sd, _ = law(np.array([0.0, law.duration]))
    assert s[0] == 0.0
    assert abs(s[1] - law.distance) <= EXACT * abs(law.distance)
    assert np.abs(sd).max() <= EXACT * abs(law.distance)


def test_quintic_and_septic_have_no_jump_of_acceleration() -> None:
    for law in (quintic(1.3), septic(1.3), cycloidal(1.3)):
        assert np.abs(law(np.array([0.0, law.duration]))[2]).max() < EXACT / 1.3**2 * 100


def test_cosine_is_staicu_eq_6() -> None:
    t = np.linspace(0, 3, 31)
    s, sd, sdd = cosine(3.0, distance=2.0, cycles=1.0)(t)
    w = 2 * np.pi / 3
    np.testing.assert_allclose(s, 1 - np.cos(w * t), rtol=0, atol=EXACT)
    np.testing.assert_allclose(sd, w * np.sin(w * t), rtol=0, atol=EXACT)
    np.testing.assert_allclose(sdd, w**2 * np.cos(w * t), rtol=0, atol=EXACT)


def test_minimum_jerk_from_rest_to_rest_is_the_quintic() -> None:
    t = np.linspace(0, 1.7, 23)
    for a, b in zip(minimum_jerk(1.7)(t), quintic(1.7)(t), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=EXACT * 10)


@given(
    T=st.floats(0.2, 5.0),
    ends=st.lists(st.floats(-3, 3), min_size=6, max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_minimum_jerk_meets_any_states(T: float, ends: list[float]) -> None:
    law = minimum_jerk(T, start=ends[:3], end=ends[3:])
    values = np.array(law(np.array([0.0, T])))
    scale = 1 + 100 * max(1.0, T, 1 / T) ** 2
    np.testing.assert_allclose(values[:, 0], ends[:3], rtol=0, atol=EXACT * scale)
    np.testing.assert_allclose(values[:, 1], ends[3:], rtol=0, atol=EXACT * scale)


def test_minimum_jerk_has_less_jerk_than_its_rivals() -> None:
    t = np.linspace(0, 1, 20001)

    def cost(law: TimeLaw) -> float:
        return float(trapezoid(np.gradient(law(t)[2], t) ** 2, t))

    assert cost(minimum_jerk(1.0)) < min(cost(septic(1.0)), cost(cycloidal(1.0)))


@given(T=st.floats(0.1, 10), k=st.floats(0.1, 10), d=st.floats(-5, 5).filter(lambda x: abs(x) > 1e-3))
@settings(max_examples=40, deadline=None)
def test_stretched_and_scaled(T: float, k: float, d: float) -> None:
    law, t = quintic(T), np.linspace(0, T, 7)
    other = law.stretched(k * T).scaled(d)
    for i, (a, b) in enumerate(zip(other(k * t), law(t), strict=True)):
        np.testing.assert_allclose(a * k**i, d * b, rtol=0, atol=STRETCHED * abs(d) / min(T, 1) ** 2)
    assert other.distance == pytest.approx(d)


@pytest.mark.parametrize("name", LAWS)
def test_laws_can_be_sent_to_another_process(name: str) -> None:
    law = pickle.loads(pickle.dumps(LAWS[name]))
    np.testing.assert_array_equal(law(0.3), LAWS[name](0.3))


def test_shapes() -> None:
    law = quintic(1.0)
    assert law(0.3)[0].shape == ()
    assert law(np.zeros((2, 3)))[2].shape == (2, 3)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: quintic(0.0), "duration: must be positive, got 0"),
        (lambda: quintic(-1.0), "duration: must be positive, got -1"),
        (lambda: quintic(float("nan")), "duration: every entry must be a finite number; found nan"),
        (lambda: quintic("fast"), "duration: expected real numbers, got the text 'fast'"),
        (lambda: cosine(1.0, distance=0.0), "distance: must not be zero; a law needs a distance to travel"),
        (lambda: quintic(1.0).scaled(0.0), "factor: must not be zero; a law needs a distance to travel"),
        (lambda: harmonic(1.0, omega=1.0, amplitude=0.0), "amplitude: must not be zero; a law needs a distance to travel"),
        (lambda: minimum_jerk(1.0, start=(0, 0)), r"start: expected shape \(3,\), got \(2,\)"),
        (lambda: constant_acceleration(1.0, switch=2.0), r"switch: must lie in \(0, 1\] s, got 2"),
        (lambda: trapezoidal(distance=1.0, speed=-1.0, acceleration=1.0), "speed: must be positive, got -1"),
        (lambda: s_curve(distance=0.0, speed=1, acceleration=1, jerk=1), "distance: must not be zero"),
    ],
)
def test_errors(make: object, text: str) -> None:
    with pytest.raises(InputError, match=f"^{text}"):
        make()  # type: ignore[operator]
