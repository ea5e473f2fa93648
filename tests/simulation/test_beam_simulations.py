"""Simo and Vu-Quoc's spin-up of a flexible beam (ASME J. Appl. Mech. 53, 1986): extension in steady rotation, energy balance.

L 10, EA 2.8e7, EI 1.4e4, rho A 1.2, rho I 6e-4; the hub turns by 6/15 (t^2/2 + (15/2 pi)^2 (cos(2 pi t/15) - 1)) to 15 s, then
6 t - 45. Steady: L (tan k/k - 1), k = omega L sqrt(rho A / EA).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp

sys.path.insert(0, str(Path(__file__).parents[1] / "elastodynamics"))
from beam_alone import beam_alone, hub

K = 6 * 10 * np.sqrt(1.2 / 2.8e7)
STEADY = 10 * (np.tan(K) / K - 1)
STATIC, MEAN, BALANCE = 1e-4, 1e-2, 1e-9
"""Of the extension in equilibrium (found 8e-7); of its mean while it rings (found 7e-4); of the work (found 4e-11)."""
PRINTED = 1e-5
"""The extension of the paper, printed with six digits."""
LAG = 0.005
"""[m] Of the largest lag of the tip, 0.574 m: below one per cent."""


def robot() -> fp.Robot:
    return beam_alone(
        elements=4, length=10.0, section="{shape: general, area: 1.0, iy: 5e-4, iz: 5e-4}", young=2.8e7, density=1.2
    )  # fmt: skip


def spin_up() -> fp.ActuatorMotion:
    t = np.linspace(0, 30, 3001)
    late, part = t > 15, 15 / (2 * np.pi)
    angle = np.where(late, 6 * t - 45, 0.4 * (t**2 / 2 + part**2 * (np.cos(t / part) - 1)))
    rate = np.where(late, 6.0, 0.4 * (t - part * np.sin(t / part)))
    acceleration = np.where(late, 0.0, 0.4 * (1 - np.cos(t / part)))
    return fp.ActuatorMotion(time=t, position=angle[:, None], velocity=rate[:, None], acceleration=acceleration[:, None])


@pytest.mark.full
def test_spin_up() -> None:
    assert pytest.approx(5.14317e-4, rel=PRINTED) == STEADY
    still = fp.moving_frequencies(robot(), hub(0.0, 6.0)).elastic.values[0]
    assert still[::3].sum() == pytest.approx(STEADY, rel=STATIC)
    result = fp.simulate(robot(), spin_up(), drive="actuators", duration=30.0, step=0.02)
    q, p = result.actuator_position.values[:, 0], result.position.values
    along = p[:, 0] * np.cos(q) + p[:, 1] * np.sin(q) - 10
    across = p[:, 1] * np.cos(q) - p[:, 0] * np.sin(q)
    assert along[result.time.values > 15].mean() == pytest.approx(STEADY, rel=MEAN)
    assert across.min() == pytest.approx(-0.574, abs=LAG), "the tip lags most at 6.8 s"
    assert np.abs(result.energy_residual.values).max() < BALANCE * np.abs(result.supplied_work.values).max()
