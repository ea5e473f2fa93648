"""Signal chain: derivatives, poses from noisy actuators, outliers, decimation, delays."""

from __future__ import annotations

import numpy as np
from measured import DATA, exact, noisy, series

import flexapod as fp
from flexapod.identification.pose_track import PoseTrack
from flexapod.identification.signals import averaged, derivatives, outliers, shifted

SAME = 1e-11
"""Poses by Newton, twists by one solve more; over the size of each."""
ORDER = 0.1
"""Allowed distance of a measured order from four."""
FALSE = 0.005
"""Of samples of normal noise that count as outliers."""
ROUNDING = 1e-12
"""Relative: means of means."""
DELAY = 2e-4
"""[s] A tenth of a sample."""
MASS = 0.5
"""[kg] of 95 kg, with noise of 0.5 N."""
LEFT, SLACK = 0.2, 0.1
"""Of the error that outliers make, and [kg] of noise: what is left where they are found."""
NORMAL = 1e-6
"""Normal equations of condition 1e4, without noise."""


def test_central_differences_are_of_order_four() -> None:
    errors = []
    for n in (201, 401):
        t = np.linspace(0.0, 1.0, n)
        q = np.sin(7 * t)[:, None]
        first, second = derivatives(t, q)
        inner = slice(2, -2)
        errors.append(
            [np.abs(first[inner, 0] - 7 * np.cos(7 * t)[inner]).max(), np.abs(second[inner, 0] + 49 * q[inner, 0]).max()]
        )
    orders = np.log2(np.array(errors[0]) / np.array(errors[1]))
    assert np.all(np.abs(orders - 4) < ORDER), orders


def test_poses_and_twists_of_actuator_samples() -> None:
    for name in ("five-bar", "hexapod"):
        robot = fp.load(name)
        motion = series(robot, 2.0, 100.0, size=0.01, seed=3)
        expected = fp.platform_motion(robot, motion)
        found = PoseTrack(robot, motion.position, motion.velocity, motion.acceleration).inputs()
        for key in ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration"):
            value = getattr(expected, key)
            assert np.abs(found[key] - value).max() < SAME * max(np.abs(value).max(), 1.0), f"{name}: {key}"


def test_outliers_are_found_and_noise_is_none() -> None:
    random = np.random.default_rng(0)
    values = np.sin(np.linspace(0, 20, 2000))[:, None] + 0.01 * random.normal(size=(2000, 1))
    assert outliers(values).mean() < FALSE
    values[[100, 777, 1500]] += 0.5
    assert set(np.flatnonzero(outliers(values))) >= {100, 777, 1500}


def test_decimation_is_linear_and_keeps_means() -> None:
    values = np.random.default_rng(1).normal(size=(103, 2, 4))
    small = averaged(values, 10)
    assert small.shape == (10, 2, 4)
    np.testing.assert_allclose(small.mean(axis=0), values[:100].mean(axis=0), rtol=ROUNDING)
    assert averaged(values, 1) is values


def test_delay_is_found_within_a_tenth_of_a_sample() -> None:
    robot = fp.load(DATA / "emps.yaml")
    motion = series(robot, 6.0, 500.0, size=0.01, seed=5)
    force = 95.0 * motion.acceleration + 200.0 * motion.velocity + 20.0 * np.sign(motion.velocity)
    data = noisy(motion, force, force_noise=0.5)
    late = fp.Measurement(time=data.time, position=data.position, force=shifted(data.time, data.force, -0.0035))
    found = fp.identify(robot, late, delay="find", decimate=5)
    assert abs(found.delay - 0.0035) < DELAY, found.delay
    again = fp.identify(robot, late, delay=found.delay, decimate=5)
    assert abs(again.estimate[0] - 95.0) < MASS


def test_outliers_in_forces_are_left_out() -> None:
    robot = fp.load(DATA / "emps.yaml")
    motion = series(robot, 6.0, 500.0, size=0.01, seed=5)
    force = 95.0 * motion.acceleration + 200.0 * motion.velocity + 20.0 * np.sign(motion.velocity)
    data = noisy(motion, force, force_noise=0.5)
    wild = data.force.copy()
    wild[50::100] += 400.0
    spiked = fp.Measurement(time=data.time, position=data.position, force=wild)
    kept, dropped = fp.identify(robot, spiked), fp.identify(robot, spiked, drop_outliers=True)
    robust = fp.identify(robot, spiked, method="robust")
    for found in (dropped, robust):
        assert np.abs(found.estimate[0] - 95.0) < LEFT * np.abs(kept.estimate[0] - 95.0) + SLACK


def test_exact_data_give_exact_parameters() -> None:
    robot = fp.load("hexapod")
    motion = series(robot, 4.0, 100.0, size=0.008, seed=2)
    platform, force = exact(robot, motion)
    data = fp.Measurement(time=motion.time, position=motion.position, force=force, motion=platform)
    found = fp.identify(robot, data)
    assert np.abs(found.estimate - found.prior).max() < NORMAL
