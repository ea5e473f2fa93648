"""Payload online: against least squares over all samples, at rest and in motion, and as C."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from measured import exact, series

import flexapod as fp
from flexapod.analysis.verbs.inverse_kinematics import platform_inputs
from flexapod.identification.linear_model import model_inputs
from flexapod.identification.problem import payload_rows

PAYLOAD = np.array([0.8, 0.8 * 0.02, 0.0, -0.8 * 0.05])
"""Mass and first moments; the tensor of a point mass belongs to it."""
PRIOR = 1e-4
"""Relative: the recursion starts from a wide prior."""
SIGMAS = 4
"""Standard errors: one estimate is that far away in one case of 16 000."""
FOLLOWED = 0.02
"""[kg] of 0.8 kg: with a memory of 20 samples, 100 after the change."""


def carried(robot: fp.Robot, motion: fp.Motion) -> np.ndarray:
    inputs, _ = model_inputs(robot, platform_inputs(motion))
    return payload_rows(robot, inputs)[:, :, :4] @ PAYLOAD


def test_recursive_is_least_squares_over_all_samples() -> None:
    robot = fp.load("hexapod")
    motion = series(robot, 2.0, 50.0, size=0.01, seed=3, lowest=0.5)
    platform, force = exact(robot, motion)
    noise = 0.1 * np.random.default_rng(2).normal(size=force.shape)
    measured = force + carried(robot, platform) + noise
    estimator = fp.PayloadEstimator(robot, noise=0.1, largest_mass=1e4, reach=1.0)
    estimator.update(platform, measured)
    inputs, _ = model_inputs(robot, platform_inputs(platform))
    Y = payload_rows(robot, inputs)[:, :, :4].reshape(-1, 4)
    whole, *_ = np.linalg.lstsq(Y, (measured - force).ravel(), rcond=None)
    np.testing.assert_allclose(estimator.estimate, whole, rtol=PRIOR, atol=PRIOR / 10)
    assert abs(estimator.mass - 0.8) < SIGMAS * estimator.mass_sigma
    assert np.all(np.abs(estimator.com - PAYLOAD[1:] / 0.8) < SIGMAS * estimator.com_sigma)


def test_at_rest_the_height_stays_unknown() -> None:
    robot = fp.load("hexapod")
    home = fp.State(position=robot.home.position[None], rotation=robot.home.rotation[None])
    still = fp.Motion(
        time=np.arange(20.0), position=np.tile(home.position, (20, 1)), rotation=np.tile(home.rotation, (20, 1, 1)),
        **{k: np.zeros((20, 3)) for k in ("velocity", "angular_velocity", "acceleration", "angular_acceleration")},
    )  # fmt: skip
    force = fp.inverse_dynamics(robot, still).force.values + carried(robot, still)
    estimator = fp.PayloadEstimator(robot, noise=0.1)
    estimator.update(still, force + 0.1 * np.random.default_rng(0).normal(size=force.shape))
    assert abs(estimator.mass - 0.8) < SIGMAS * estimator.mass_sigma < 0.1
    assert estimator.com_sigma[2] > 20 * estimator.com_sigma[0], "gravity along z says nothing about the height"


def test_forgetting_follows_a_change() -> None:
    robot = fp.load("hexapod")
    motion = series(robot, 4.0, 50.0, size=0.01, seed=3, lowest=0.5)
    platform, force = exact(robot, motion)
    loaded = force + np.where(np.arange(len(force))[:, None] < 100, 0.0, 1.0) * carried(robot, platform)
    keeps, forgets = (fp.PayloadEstimator(robot, noise=0.1, forgetting=f) for f in (1.0, 0.95))
    for estimator in (keeps, forgets):
        estimator.update(platform, loaded)
    assert abs(forgets.mass - 0.8) < FOLLOWED < abs(keeps.mass - 0.8)


@pytest.mark.full
def test_exported_step_compiles_and_agrees(tmp_path: Path) -> None:
    files = fp.export_payload_estimator(fp.load("hexapod"), tmp_path)
    program = tmp_path / "test"
    subprocess.run(["cc", "-std=c99", "-O1", str(files["source"]), str(files["test"]), "-lm", "-o", str(program)], check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_refusals() -> None:
    robot = fp.load("hexapod")
    with pytest.raises(fp.InputError, match="noise: expected a standard deviation above 0"):
        fp.PayloadEstimator(robot, noise=0.0)
    with pytest.raises(fp.InputError, match=r"forgetting: expected a factor from 0\.5 to 1"):
        fp.PayloadEstimator(robot, noise=1.0, forgetting=1.2)
