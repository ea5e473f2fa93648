"""Internal dynamics of the inverse model: eigenvalues against differences of the elastic accelerations, stability."""

import dataclasses

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs.internal_dynamics import UnstableInternalDynamicsError
from support.flexible_robots import at_home, plate_robot

DIFFERENCES = 1e-7
"""Of the largest eigenvalue: fourth-order differences of e''."""
GROWTH = 1e-8
"""Of the largest real part; fourth-order differences, found 9e-12."""
UNDAMPED = 1e-12
"""Real part of undamped eigenvalues, of the largest: rounding of the solver."""


def test_against_differences_of_the_inverse_model() -> None:
    robot = plate_robot()
    N = len(robot.elastic_names)
    found = fp.internal_dynamics(robot, at_home(robot))
    e0 = found.elastic.values

    def second(e: np.ndarray, ed: np.ndarray) -> np.ndarray:
        state = fp.State(
            position=np.tile(robot.home.position, (len(e), 1)), rotation=np.tile(robot.home.rotation, (len(e), 1, 1)),
            elastic=e, elastic_velocity=ed,
        )  # fmt: skip
        return fp.inverse_dynamics(robot, state).elastic_acceleration.values

    h, base, none = 1e-4, np.tile(e0, (N, 1)), np.zeros((N, N))
    d = h * np.eye(N)
    near, far = (second(base + k * d, none) - second(base - k * d, none) for k in (1, 2))
    by_e = (8 * near - far) / (12 * h)
    by_ed = (second(base, d) - second(base, -d)) / (2 * h)
    A = np.block([[np.zeros((N, N)), np.eye(N)], [by_e.T, by_ed.T]])
    expected = np.linalg.eigvals(A)
    distance = np.abs(found.eigenvalue.values[:, None] - expected[None, :]).min(axis=1).max()
    assert distance < DIFFERENCES * np.abs(expected).max()
    assert bool(found.stable)
    assert float(found.growth) == pytest.approx(expected.real.max(), rel=GROWTH)


def test_undamped_platform_neither_grows_nor_decays() -> None:
    robot = plate_robot()
    body = robot.flexible_platform
    assert body is not None
    bare = robot.with_flexible_body("platform", body.with_damping(0.0))
    found = fp.internal_dynamics(bare, at_home(bare))
    assert abs(float(found.growth)) < UNDAMPED * float(np.abs(found.eigenvalue).max())
    assert bool(found.stable)


def test_an_unstable_platform_is_named() -> None:
    """A platform whose damping feeds energy in cannot be simulated along a motion."""
    robot = plate_robot()
    body = robot.flexible_platform
    assert body is not None
    driven = robot.with_flexible_body("platform", dataclasses.replace(body, D_ee=-0.1 * body.D_ee))
    found = fp.internal_dynamics(driven, at_home(driven))
    assert not bool(found.stable)
    assert float(found.growth) > 1.0
    motion = fp.Motion(
        time=[0.0, 0.1], position=np.tile(robot.home.position, (2, 1)), rotation=np.tile(robot.home.rotation, (2, 1, 1)),
        velocity=np.zeros((2, 3)), angular_velocity=np.zeros((2, 3)), acceleration=np.zeros((2, 3)),
        angular_acceleration=np.zeros((2, 3)),
    )  # fmt: skip
    text = r"elastic='simulate' of gough-stewart-flexible: the internal dynamics of the inverse model is unstable at t = 0 s"
    with pytest.raises(UnstableInternalDynamicsError, match=text) as caught:
        fp.inverse_dynamics(driven, motion, elastic="simulate")
    assert caught.value.growth == pytest.approx(float(found.growth))


def test_over_a_grid() -> None:
    robot = plate_robot()
    poses = robot.home.position + np.random.default_rng(4).uniform(-0.1, 0.1, (50, 3))
    found = fp.internal_dynamics(robot, fp.State(position=poses))
    assert found.eigenvalue.shape == (50, 20)
    assert bool(found.stable.all())
