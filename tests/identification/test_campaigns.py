"""Simulated campaigns with noise of stated size: estimates lie where their error bars say, and predict new motions within
the noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from measured import exact, noisy, series

import flexapod as fp
from flexapod.identification.file_parameters import ForceFit
from flexapod.identification.problem import Options
from flexapod.identification.signals import derivatives

INSIDE = (0.985, 1.0)
"""Share of estimates within three standard errors: 99.73 % for a normal distribution, pooled over parameters and campaigns.
Residual
covariances are estimates themselves, and what positions with noise add to forces is only nearly normal: a percent is allowed."""
PREDICTED = 1.1
"""Root mean square of the residual on a new motion over that of its noise."""


def hexapod_campaigns(count: int, rate: float = 200.0, seconds: float = 10.0) -> tuple[np.ndarray, np.ndarray]:
    """Encoders with noise of 10 um, forces with 0.2 N; instruments are the motion that was asked for. (z, residual over noise)"""
    robot = fp.load("hexapod")
    motion, other = (series(robot, seconds, rate, size=0.01, seed=s, lowest=0.4) for s in (3, 8))
    force, new = exact(robot, motion)[1], exact(robot, other)[1]
    base = fp.base_parameters(robot, legs="alike")
    options = {"legs": "alike", "cutoff": 12.0, "decimate": 8, "base": base}
    z, ratio = [], []
    for k in range(count):
        data = noisy(motion, force, force_noise=0.2, position_noise=1e-5, seed=10 + k)
        check = noisy(other, new, force_noise=0.2, position_noise=1e-5, seed=5000 + k)
        found = fp.identify(robot, data, method="iv", instruments="reference", validate=check, on_bad="report", **options)
        z.append((found.estimate - found.prior) / found.sigma)
        assert found.validation is not None
        ratio.append(np.mean(found.validation.rms / found.noise))
    return np.array(z), np.array(ratio)


def hexaslide_campaigns(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Friction that depends on the load, in every joint; forces with 0.5 N; loads follow the estimate from wrong coefficients."""
    robot = fp.load("hexaslide")
    motion, other = (series(robot, 6.0, 60.0, size=0.012, seed=s, lowest=0.5) for s in (4, 9))
    platform, force = exact(robot, motion)
    new_platform, new = exact(robot, other)
    wrong = robot.with_parameters({"legs.rail.friction.normal": 0.15, "legs.hip.friction.reaction": 0.004})
    base, true = fp.base_parameters(wrong, legs="alike"), fp.base_parameters(robot, legs="alike").values
    z, ratio = [], []
    for k in range(count):
        data = replace(noisy(motion, force, force_noise=0.5, seed=10 + k), motion=platform)
        check = replace(noisy(other, new, force_noise=0.5, seed=5000 + k), motion=new_platform)
        found = fp.identify(wrong, data, legs="alike", validate=check, on_bad="report", base=base)
        z.append((found.estimate - true) / found.sigma)
        assert found.validation is not None
        ratio.append(np.mean(found.validation.rms / 0.5))
    return np.array(z), np.array(ratio)


DUAL = (
    "legs.1.11.inertial.M", "legs.2.21.inertial.M", "legs.1.11.friction.viscous", "legs.2.21.friction.viscous",
    "legs.1.11.friction.coulomb", "legs.2.21.friction.coulomb",
)  # fmt: skip
"""What the forces of the two drives show best: carriages and their friction."""


def dualemps_campaigns(count: int, seconds: float = 1.6) -> tuple[np.ndarray, np.ndarray]:
    """The flexible robot, deflections integrated along the motion; forces with 2 N, from a start that is 10 % wrong."""
    robot = fp.load("dualemps")
    wrong = robot.with_parameters({name: 0.9 * float(robot.parameter(name)) for name in DUAL})  # type: ignore[arg-type]
    moves = [at_rest_first(series(robot, seconds, 500.0, size=0.012, seed=s, lowest=0.8)) for s in (2, 6)]
    runs = [fp.Measurement(time=m.time, position=m.position, force=np.zeros_like(m.position)) for m in moves]
    true = np.array([robot.parameter(name) for name in DUAL], dtype=np.float64)
    fit = ForceFit(wrong, [runs[0]], DUAL, Options(), True)
    exact_force = ForceFit(robot, [runs[0]], DUAL, Options(), True).forces(true)[0]
    check = ForceFit(robot, [runs[1]], DUAL, Options(), True)
    expected = check.forces(true)
    J = check._jacobian(true, expected)[0]  # forces are linear in these parameters: predictions follow from their derivatives
    random, z, ratio = np.random.default_rng(7), [], []
    for _ in range(count):
        found = fit.estimate([exact_force + 2.0 * random.normal(size=exact_force.shape)])
        z.append((found.beta - true) / found.sigma)
        noise = 2.0 * random.normal(size=expected[0].shape)
        ratio.append(np.sqrt(np.mean((noise - J @ (found.beta - true)) ** 2)) / 2.0)
    return np.array(z), np.array(ratio)


def at_rest_first(motion: fp.ActuatorMotion) -> fp.ActuatorMotion:
    """The same motion from rest: faded in over a quarter of a second."""
    x = np.clip(motion.time / 0.25, 0.0, 1.0)[:, None]
    fade = x**3 * (10 - 15 * x + 6 * x**2)
    q = motion.position[:1] + fade * (motion.position - motion.position[:1])
    qd, qdd = derivatives(motion.time, q)
    return fp.ActuatorMotion(time=motion.time, position=q, velocity=qd, acceleration=qdd)


def check(z: np.ndarray, ratio: np.ndarray) -> None:
    inside = np.mean(np.abs(z) < 3)
    assert INSIDE[0] <= inside <= INSIDE[1], f"{100 * inside:.2f} % of {z.size} estimates within three standard errors"
    assert np.median(ratio) < PREDICTED, f"residual on new motions over noise: {np.median(ratio):.3f}"


def test_a_few_campaigns_of_the_hexapod() -> None:
    z, ratio = hexapod_campaigns(4)
    assert np.mean(np.abs(z) < 3) > 0.95, "84 estimates"
    assert np.median(ratio) < PREDICTED


@pytest.mark.full
@pytest.mark.parametrize("robot", ["hexapod", "hexaslide", "dualemps"])
def test_two_hundred_campaigns(robot: str) -> None:
    check(*globals()[f"{robot}_campaigns"](200))
