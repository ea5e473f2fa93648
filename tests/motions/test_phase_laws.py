"""Trapezoidal and S-curve laws: limits respected and reached, shortest among their kind, symmetric."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from motion_checks import check_law

from flexapod.motions import constant_acceleration, s_curve, trapezoidal

EXACT = 1e-12
"""Sums of a few phases; the law is scaled by 1 + rounding to end at its distance."""

limit = st.floats(0.05, 20.0)
distances = st.floats(0.001, 50.0)

CASES = {
    "all limits reached": {"distance": 2.0, "speed": 0.8, "acceleration": 1.5, "jerk": 6.0},
    "no cruise": {"distance": 0.6, "speed": 5.0, "acceleration": 1.5, "jerk": 20.0},
    "acceleration not reached": {"distance": 2.0, "speed": 0.5, "acceleration": 5.0, "jerk": 2.0},
    "neither reached": {"distance": 0.1, "speed": 5.0, "acceleration": 5.0, "jerk": 2.0},
    "backwards": {"distance": -2.0, "speed": 0.8, "acceleration": 1.5, "jerk": 6.0},
}
PEAKS = {
    "all limits reached": (True, True),
    "no cruise": (False, True),
    "acceleration not reached": (True, False),
    "neither reached": (False, False),
    "backwards": (True, True),
}
JERK = 1e-9
"""Relative: differences of accelerations over 1e-4 s; found 6e-12."""
RAMP = 1e-9
"""Relative: durations of three seconds differ by 1.5e-4 s; found 1e-12."""
SYMMETRIC = 1e-12
"""Of the speed: the times of one side are differences."""
SECANT = 1e-6
"""Of the jerk, and a thousandth of it of the acceleration: differences over a millionth of the duration and more."""


@pytest.mark.parametrize("case", CASES)
def test_s_curve_cases(case: str) -> None:
    law = s_curve(**CASES[case])
    check_law(law, count=80)
    t = np.linspace(0, law.duration, 20001)
    _, sd, sdd = law(t)
    for values, key, reached in zip((sd, sdd), ("speed", "acceleration"), PEAKS[case], strict=True):
        peak = np.abs(values).max()
        assert (peak > CASES[case][key] * (1 - 1e-3)) == reached, (key, peak)
    jerk = np.abs(np.diff(sdd) / np.diff(t))
    assert jerk.max() == pytest.approx(CASES[case]["jerk"], rel=JERK)


def test_seven_phases() -> None:
    law = s_curve(**CASES["all limits reached"])
    assert len(law.breaks) == 6


@given(d=distances, v=limit, a=limit, j=limit)
@settings(max_examples=150, deadline=None)
def test_s_curve_respects_its_limits(d: float, v: float, a: float, j: float) -> None:
    law = s_curve(distance=d, speed=v, acceleration=a, jerk=j)
    edges = np.array([0.0, *law.breaks, law.duration])
    t = np.unique(np.concatenate([edges, np.linspace(0, law.duration, 401)]))
    s, sd, sdd = law(t)
    assert s[0] == 0
    assert abs(s[-1] - d) <= EXACT * d
    assert abs(sd[-1]) <= EXACT * v
    assert np.all(sd >= -EXACT * v)
    assert sd.max() <= v * (1 + EXACT)
    assert np.abs(sdd).max() <= a * (1 + EXACT)
    steps = np.diff(t) > SECANT * law.duration
    assert np.all(np.abs(np.diff(sdd)[steps]) <= j * np.diff(t)[steps] * (1 + SECANT) + 1e-3 * SECANT * a)


@given(d=distances, v=limit, a=limit, j=limit)
@settings(max_examples=100, deadline=None)
def test_s_curve_is_continuous_at_its_breaks(d: float, v: float, a: float, j: float) -> None:
    law = s_curve(distance=d, speed=v, acceleration=a, jerk=j)
    eps = 1e-9 * law.duration
    for b in law.breaks:
        before, after = (np.array(law(np.array(b + x))) for x in (-eps, eps))
        bound = 2 * eps * np.array([v, a, j]) * 1.01 + EXACT * np.array([d, v, a]) * 10
        assert np.all(np.abs(after - before) <= bound)


@given(d=distances, v=limit, a=limit)
@settings(max_examples=100, deadline=None)
def test_trapezoidal_respects_its_limits_and_takes_the_known_time(d: float, v: float, a: float) -> None:
    law = trapezoidal(distance=d, speed=v, acceleration=a)
    _, sd, sdd = law(np.linspace(0, law.duration, 301))
    assert sd.max() <= v * (1 + EXACT)
    assert np.abs(sdd).max() <= a * (1 + EXACT)
    expected = d / v + v / a if d > v**2 / a else 2 * np.sqrt(d / a)
    assert law.duration == pytest.approx(expected, rel=EXACT)


def test_s_curve_tends_to_the_trapezoid_with_large_jerk() -> None:
    flat = trapezoidal(distance=2.0, speed=0.8, acceleration=1.5)
    gaps = [s_curve(distance=2.0, speed=0.8, acceleration=1.5, jerk=j).duration - flat.duration for j in (1e3, 1e4)]
    assert gaps[0] / gaps[1] == pytest.approx(10, rel=RAMP)  # the ramps cost a / j
    assert gaps[1] == pytest.approx(1.5e-4, rel=RAMP)


@given(d=distances, v=limit, a=limit, j=limit)
@settings(max_examples=50, deadline=None)
def test_symmetry(d: float, v: float, a: float, j: float) -> None:
    law = s_curve(distance=d, speed=v, acceleration=a, jerk=j)
    t = np.linspace(0, law.duration, 50)
    forth, back = law(t), law(law.duration - t)
    np.testing.assert_allclose(forth[0] + back[0], d, rtol=EXACT * 10)
    np.testing.assert_allclose(forth[1], back[1], rtol=0, atol=SYMMETRIC * v)


def test_constant_acceleration_is_kim_eq_33() -> None:
    law = constant_acceleration(3.0, acceleration=0.1)
    s, sd, sdd = law(np.array([0.0, 0.75, 1.5, 1.5 + 1e-12, 3.0]))
    np.testing.assert_allclose(sdd, [0.1, 0.1, 0.1, -0.1, -0.1])
    np.testing.assert_allclose(sd, [0, 0.075, 0.15, 0.15, 0], rtol=0, atol=EXACT)
    np.testing.assert_allclose(s, [0, 0.1 * 0.75**2 / 2, 0.1125, 0.1125, 0.225], rtol=0, atol=EXACT)
    assert law.breaks == (1.5,)


def test_constant_acceleration_without_turning_round() -> None:
    s, sd, sdd = constant_acceleration(2.0, acceleration=0.3, switch=2.0)(np.array([2.0]))
    assert (s[0], sd[0], sdd[0]) == pytest.approx((0.6, 0.6, 0.3))
