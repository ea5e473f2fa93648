"""Jacobians of every robot: derivatives of actuator coordinates and leftover rows by the pose, and singular legs."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.robot.geometry import rotation_from_vector
from support.robots import FILES, drawn_motion, home, possible_motion, robot_named, run

SAMPLES = 40
ROUNDING = 1e-12
"""Of the largest rate, or of 1: products of six numbers; what vanishes."""
DIFFERENCED = 1e-13
"""Of the size of positions: their rounding, before it is divided by the step."""


@pytest.fixture(autouse=True)
def _numpy_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")


def moved(motion: dict[str, np.ndarray], component: int, step: float) -> dict[str, np.ndarray]:
    """Poses after a small twist: translation, or turn about a world axis through the platform's origin."""
    result = dict(motion)
    if component < 3:
        result["position"] = motion["position"] + step * np.eye(3)[component]
    else:
        result["rotation"] = rotation_from_vector(step * np.eye(3)[component - 3]) @ motion["rotation"]
    return result


@pytest.mark.parametrize("name", FILES)
def test_jacobian_is_the_derivative_at_second_order(name: str) -> None:
    robot = robot_named(name)
    bound = fp.kernel(robot, "jacobian")
    motion = drawn_motion(robot, SAMPLES, seed=12)
    exact, status = run(bound, motion)
    assert np.all(status == 0)
    motion["guess"] = exact["joint_position"]
    assert exact["joint_position"].shape == (SAMPLES, len(home(robot)))
    length = robot.characteristic_length
    quantities = [("actuator_position", "jacobian")]
    if "constraint" in exact:
        quantities.append(("constraint", "constraint_jacobian"))
    for positions, jacobian in quantities:
        errors = []
        for step in (4e-3, 2e-3):
            worst = 0.0
            for k in range(6):
                h = step * length if k < 3 else step
                (after, ok), (before, good) = (run(bound, moved(motion, k, s * h)) for s in (1, -1))
                assert np.all(ok == 0)
                assert np.all(good == 0)
                difference = (after[positions] - before[positions]) / (2 * h)
                scale = length if k < 3 else 1.0
                worst = max(worst, scale * np.abs(difference - exact[jacobian][:, :, k]).max())
            errors.append(worst)
        size = np.abs(exact[positions]).max() + 1.0
        assert errors[1] < DIFFERENCED * size / 2e-3 or 3.3 < errors[0] / errors[1] < 4.7, (jacobian, errors)


@pytest.mark.parametrize("name", FILES)
def test_actuator_rates_are_the_jacobian_times_the_twist(name: str) -> None:
    """On motions that the robot can follow; the leftover rows times the twist vanish."""
    robot = robot_named(name)
    motion = possible_motion(robot, SAMPLES, seed=13)
    rates, _ = run(fp.kernel(robot, "inverse_kinematics", detail="actuators"), motion)
    found, _ = run(fp.kernel(robot, "jacobian"), motion)
    twist = np.concatenate([motion["velocity"], motion["angular_velocity"]], axis=1)
    ours = np.einsum("nij,nj->ni", found["jacobian"], twist)
    assert np.abs(ours - rates["actuator_velocity"]).max() < ROUNDING * max(1.0, np.abs(ours).max())
    if "constraint_jacobian" in found:
        size = np.abs(twist).max() * max(1.0, np.abs(found["constraint_jacobian"]).max())
        assert np.abs(np.einsum("nij,nj->ni", found["constraint_jacobian"], twist)).max() < ROUNDING * max(1.0, size)
    assert np.all(found["margin"] > 0.0)


def test_margin_vanishes_where_a_leg_is_singular() -> None:
    """PUS: the rod turns to a right angle with its rail; the margin is the cosine between them."""
    robot = robot_named("hexapod")
    bound = fp.kernel(robot, "jacobian")
    motion = drawn_motion(robot, 200, seed=14)
    found, status = run(bound, motion)
    good = status == 0
    for i, form in enumerate(robot.closed_forms):
        S = motion["position"] + np.einsum("nij,j->ni", motion["rotation"], form.S)
        U = form.U + np.outer(found["actuator_position"][:, i] + robot.legs[i].links[0].zero, form.drive)
        cosine = np.abs((S - U) @ form.drive) / form.length
        np.testing.assert_allclose(found["margin"][good, i], cosine[good], rtol=0, atol=ROUNDING)


def test_planar_rows_do_not_depend_on_the_pose() -> None:
    """A planar robot forbids the same three motions everywhere in its plane."""
    robot = robot_named("planar-4-prr")
    found, _ = run(fp.kernel(robot, "jacobian"), possible_motion(robot, 20, seed=15))
    G = found["constraint_jacobian"]
    assert np.abs(G[:, :, [0, 1, 5]]).max() < ROUNDING
    assert np.all(np.linalg.svd(G, compute_uv=False)[:, 2] > 1e-3)
