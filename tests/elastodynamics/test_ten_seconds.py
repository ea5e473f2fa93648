"""Energy balance of flexible robots over ten seconds of free motion, and planar against spatial models in motion."""

from __future__ import annotations

import numpy as np
import pytest
from beam_alone import beam_alone, hub

import flexapod as fp

BALANCE = 1e-9
"""Of the largest kinetic energy, all of which comes from the fall: what the issue asks (found: see each case)."""
SAME = 1e-8
"""Tip of the planar and the spatial model after a second, of the length."""
LAWS = {"linear": "stiffening: false, poisson: 0.3, ", "stiffened": "poisson: 0.3, ", "exact": "theory: exact, poisson: 0.3, "}
STEP = {"linear": 1e-3, "stiffened": 1e-3, "exact": 1e-3}


def fall(law: str, duration: float, planar: bool = True, elements: int = 2):
    """A flexible pendulum let go at the horizontal."""
    robot = beam_alone(elements=elements, words=LAWS[law], planar=planar, gravity="0, -9.81, 0", hub=0.01, tip=0.2)
    return fp.simulate(robot, hub(), duration=duration, step=STEP[law], friction=False, watch=())


def broken(result) -> float:
    """Largest error of the energy balance, of what was exchanged."""
    return float(np.abs(result.energy_residual.values).max() / np.abs(result.kinetic_energy.values).max())


@pytest.mark.full
@pytest.mark.parametrize("law", LAWS)
def test_pendulum_over_ten_seconds(law: str) -> None:
    result = fall(law, 10.0)
    assert float(result.time[-1]) == pytest.approx(10.0)
    assert np.abs(result.elastic.values).max() > 1e-3, "it bends"
    assert broken(result) < BALANCE


@pytest.mark.full
@pytest.mark.parametrize("law", LAWS)
def test_planar_and_spatial_pendulum(law: str) -> None:
    flat, space = (fall(law, 1.0, planar, elements=1) for planar in (True, False))
    assert np.abs(flat.position.values - space.position.values).max() < SAME


@pytest.mark.full
def test_dualemps_over_ten_seconds() -> None:
    """Sliders on springs, without friction, from a pull: its beams vibrate for ten seconds."""
    robot = fp.load("dualemps")
    q = np.array([[0.01, -0.005]])
    start = fp.ActuatorMotion(time=[0.0], position=q, velocity=0 * q, acceleration=0 * q)
    springs = fp.Springs(stiffness=4e4, free=0.0)
    result = fp.simulate(robot, start, controller=springs, duration=10.0, step=5e-4, friction=False)
    assert float(result.time[-1]) == pytest.approx(10.0)
    assert broken(result) < BALANCE
