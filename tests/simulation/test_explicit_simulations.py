"""Explicit and adaptive steps in independent coordinates: against the implicit method, orders, energy, followed actuators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.requests.properties import COMPILED
from support.kinds import robot_of_kind

AGREES = 1e-8
"""Of the largest entry: Gauss of order 6 and Dormand-Prince at 1e-11 over a hundredth of a second; both resolve the vibration."""
BALANCE = 1e-9
"""Energy that is missing, of what was exchanged."""
NAMES = ("position", "actuator_position", "velocity")


def pushed(robot: fp.Robot, method: str, step: float, **options: object) -> object:
    """Ten milliseconds from home under constant forces."""
    start = fp.State.from_actuators(robot, np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)])
    force = 5.0 * np.cos(np.arange(len(robot.actuators)))
    return fp.simulate(
        robot, start, force=force, duration=0.01, step=step, output_step=1e-3, method=method, friction=False, progress=False,
        **options,
    )  # fmt: skip


def apart(found: object, expected: object) -> float:
    return max(float(np.abs(found[n].values - expected[n].values).max() / np.abs(expected[n].values).max()) for n in NAMES)


@pytest.mark.parametrize(
    ("kind", "step"), [("joint springs", 1e-3), pytest.param("elastic drives", 2.5e-4, marks=pytest.mark.full)]
)
def test_methods_agree(kind: str, step: float) -> None:
    """`step`: one that resolves the fastest vibration of the robot, and its half."""
    robot = robot_of_kind(kind)
    expected = pushed(robot, "implicit", 2.5e-4)
    adaptive = pushed(robot, "dopri", 1e-4, rtol=1e-11, atol=1e-13)
    assert apart(adaptive, expected) < AGREES
    coarse, fine = (apart(pushed(robot, "rk4", h), expected) for h in (step, step / 2))
    assert fine < AGREES * 1e3
    assert 8.0 < coarse / fine < 32.0  # order 4


@pytest.mark.full
def test_actuators_that_follow() -> None:
    """The deformation under followed actuators, by explicit and implicit steps."""
    robot = robot_of_kind("flexible legs")
    q = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    t = np.linspace(0.0, 0.004, 9)[:, None]
    w = 2.0 * np.pi * 20.0
    motion = fp.ActuatorMotion(
        time=t[:, 0], position=q + 1e-3 * (1.0 - np.cos(w * t)), velocity=1e-3 * w * np.sin(w * t) + 0.0 * q,
        acceleration=1e-3 * w * w * np.cos(w * t) + 0.0 * q,
    )  # fmt: skip
    runs = [
        fp.simulate(robot, motion, drive="actuators", method=m, step=h, output_step=1e-3, friction=False, progress=False)
        for m, h in (("implicit", 2e-5), ("rk4", 5e-6))
    ]
    assert apart(runs[1], runs[0]) < 1e3 * AGREES
    assert np.abs(runs[1].energy_residual.values).max() < BALANCE * 1e3


def test_many_coordinates() -> None:
    """Beyond what is compiled as one kernel the same explicit steps are taken in numbers: they agree with the implicit ones."""
    robot = fp.load(Path(__file__).parents[1] / "data" / "elastodynamics" / "planar-3-rrr.yaml")
    assert len(robot.elastic_plan.columns) > COMPILED
    start = fp.State.from_actuators(robot, np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)])
    given = {"force": [5.0, 3.0, -2.0], "duration": 4e-4, "output_step": 1e-4, "friction": False}
    implicit, explicit = (fp.simulate(robot, start, method=m, step=h, **given) for m, h in (("implicit", 1e-5), ("rk4", 2e-6)))
    assert apart(explicit, implicit) < AGREES * 10  # fourth order: 2e-7 at twice the step
