"""Input shapers: textbook impulses, what they leave of an oscillator's vibration, and motions through them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import flexapod as fp
from flexapod import motions
from flexapod.motions.motion import sampled

F = 4.0
ROUNDING = 1e-14
"""Impulses sum to 1: a few roundings of exponentials and cosines."""
INTEGRATED = 1e-6
"""Of the amplitude without a shaper: tolerances of 1e-9 over a few periods; found 2e-10."""
SAMPLES = 1e-12
"""[m]: a motion of constant accelerations is its Hermite polynomial, also between samples."""
SLOPE = 0.01
"""Of the largest speed: differences across jumps of the acceleration."""


def move(duration: float = 0.3) -> fp.ActuatorMotion:
    """Bang-bang acceleration from 0 to 1 and back by half for a second actuator."""

    def formula(t: np.ndarray) -> fp.ActuatorMotion:
        s = np.clip(t / duration, 0, 1)
        early = s < 0.5
        q = np.where(early, 2 * s**2, 1 - 2 * (1 - s) ** 2)
        v = np.where(early, 4 * s, 4 * (1 - s)) / duration
        a = np.where(early, 4.0, -4.0) / duration**2 * ((t >= 0) & (t <= duration))
        k = np.array([1.0, -0.5])
        return fp.ActuatorMotion(time=t, position=q[:, None] * k, velocity=v[:, None] * k, acceleration=a[:, None] * k)

    return sampled(formula, duration, 301)


def test_textbook_impulses() -> None:
    """ZV 1/2, 1/2; ZVD 1/4, 1/2, 1/4; EI (1+V)/4, (1-V)/2, (1+V)/4 half a period apart; with damping K."""
    half = 0.5 / F
    for kind, amplitude in (("zv", [0.5, 0.5]), ("zvd", [0.25, 0.5, 0.25]), ("ei", [0.2625, 0.475, 0.2625])):
        found = motions.shaper(kind, F)
        assert found.amplitude == pytest.approx(amplitude, rel=ROUNDING)
        assert found.delay == pytest.approx(half * np.arange(len(amplitude)), rel=ROUNDING)
    K = np.exp(-0.1 * np.pi / np.sqrt(0.99))
    assert motions.shaper("zv", F, damping=0.1).amplitude == pytest.approx([1 / (1 + K), K / (1 + K)], rel=ROUNDING)


def test_what_is_left() -> None:
    """None at the frequency, |cos(pi/2 r)| of ZV and its square of ZVD at r times it, the tolerance of EI at it."""
    r = np.array([0.9, 1.0, 1.1])
    assert motions.shaper("zv", F).residual(r * F) == pytest.approx(np.abs(np.cos(np.pi / 2 * r)), abs=ROUNDING)
    assert motions.shaper("zvd", F).residual(r * F) == pytest.approx(np.cos(np.pi / 2 * r) ** 2, abs=ROUNDING)
    assert motions.shaper("ei", F, tolerance=0.05).residual(F) == pytest.approx(0.05, abs=ROUNDING)
    assert motions.shaper("zvd", F, damping=0.2).residual(F, damping=0.2) == pytest.approx(0.0, abs=ROUNDING)
    both = motions.shaper("zv", [F, 7.3])
    assert both.residual([F, 7.3]) == pytest.approx([0, 0], abs=ROUNDING)
    assert both.amplitude.sum() == pytest.approx(1.0, rel=ROUNDING)


@pytest.mark.parametrize("kind", ["zv", "zvd"])
def test_an_oscillator_rests_after_a_shaped_motion(kind: str) -> None:
    """x'' + omega^2 x = -q'' integrated by SciPy along the shaped motion."""
    omega = 2 * np.pi * F
    motion = motions.shaped(move(), motions.shaper(kind, F))
    assert motion.formula is not None
    edges = np.unique(np.concatenate([motions.shaper(kind, F).delay + s for s in (0.0, 0.15, 0.3)]))
    state = np.zeros(2)
    for a, b in pairwise(edges):

        def rate(t: float, x: np.ndarray, low: float = a, high: float = b) -> list[float]:
            inside = min(max(t, low + 1e-12), high - 1e-12)
            return [x[1], -(omega**2) * x[0] - motion.formula(np.array([inside])).acceleration[0, 0]]

        state = solve_ivp(rate, (a, b), state, rtol=1e-9, atol=1e-12).y[:, -1]
    free = 4 / 0.3**2 / omega**2 * 4 * np.sin(omega * 0.075) ** 2  # amplitude after the motion itself
    assert np.hypot(state[0], state[1] / omega) < INTEGRATED * free
    assert free > 0.01


def test_motion_stays_a_motion() -> None:
    """Ends where it would, later by the shaper; samples without a formula agree with those with one; rates fit positions."""
    own = motions.shaper("zvd", F)
    exact = motions.shaped(move(), own)
    assert exact.position[-1] == pytest.approx([1.0, -0.5])
    assert exact.time[-1] == pytest.approx(0.3 + own.duration)
    smooth = motions.resample(move(), samples=301)
    plain = fp.ActuatorMotion(
        time=smooth.time, position=smooth.position, velocity=smooth.velocity, acceleration=smooth.acceleration
    )  # fmt: skip
    assert np.abs(motions.shaped(plain, own).position - exact.position).max() < SAMPLES
    fine = exact.formula(np.linspace(0, exact.time[-1], 4001))  # type: ignore[misc]
    slope = np.gradient(fine.position[:, 0], fine.time)
    assert np.abs(slope - fine.velocity[:, 0])[2:-2].max() < SLOPE * np.abs(fine.velocity).max()


def test_bad_input() -> None:
    with pytest.raises(fp.FlexapodError, match="kind: expected one of 'zv', 'zvd', 'ei', got 'zvx'"):
        motions.shaper("zvx", F)
    with pytest.raises(fp.FlexapodError, match="damping"):
        motions.shaper("zv", F, damping=1.5)
    with pytest.raises(fp.FlexapodError, match="frequency"):
        motions.shaper("zv", -1.0)
    moving = fp.ActuatorMotion(time=[0.0, 1.0], position=[[0.0], [1.0]], velocity=[[1.0], [1.0]], acceleration=[[0.0], [0.0]])
    with pytest.raises(fp.FlexapodError, match="starts and ends at rest"):
        motions.shaped(moving, motions.shaper("zv", F))
