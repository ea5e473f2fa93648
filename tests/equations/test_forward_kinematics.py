"""Forward kinematics as a kernel: returns the pose that inverse kinematics started from, with quadratic convergence."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.robot.geometry import rotation_from_vector
from flexapod.robot.robot import Robot
from support.robots import possible_motion, robot_named, run

POSE = 1e-10
"""[m], entries of rotations: Newton's method ends below it, the square of its last step of 1e-9."""
CLOSED = 1e-12
"""Gap of the loops [m, rad] where Newton's method ends, and rotations that must vanish; found 2e-15."""
UNIT = 1e-14
"""Entries of R^T R: rounding of the last update; found 4e-16."""
SAMPLES = 60
ROBOTS = ["stewart-3-3", "hexapod", "hexa", "delta", "tripteron", "five-bar", "tilting-platform"]


@pytest.fixture(autouse=True)
def _numpy_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")


def test_iterations_are_bounded(tmp_path):
    """A few Newton steps from nearby; from far away the call ends as soon, and says that it has not converged."""
    robot = robot_named("stewart-3-3")
    kernel = fp.kernel(robot, "forward_kinematics", iterations=7)
    goal = robot.home.position + 0.05 * robot.characteristic_length
    q = fp.inverse_kinematics(robot, fp.State(position=goal), joints=False).actuator_position.values
    given = {"actuator_position": q[None], "guess_rotation": robot.home.rotation[None]}
    near = kernel.batch({**given, "guess_position": robot.home.position[None]}).outputs
    assert near["converged"][0] == 1
    assert np.abs(near["position"][0] - goal).max() < POSE
    far = kernel.batch({**given, "guess_position": robot.home.position[None] + [30.0, -20.0, 10.0]}).outputs
    assert far["converged"][0] == 0
    assert max(near["passes"][0], far["passes"][0]) <= 7
    source = fp.export_c(robot, "forward_kinematics", tmp_path, iterations=7)["source"].read_text()
    assert "< 7);" in source, "the loop of the exported function is bounded"
    with pytest.raises(fp.InputError, match="iterations: expected a whole number"):
        fp.kernel(robot, "forward_kinematics", iterations=0)


def solved(robot: Robot, motion: dict[str, np.ndarray], offset: float) -> dict[str, np.ndarray]:
    """Forward kinematics of the actuator coordinates of these poses, from guesses that are off by `offset`."""
    joints, status = run(fp.kernel(robot, "jacobian"), motion)
    assert np.all(status == 0)
    random = np.random.default_rng(16)
    shift, rotation = (random.uniform(-1, 1, (len(motion["position"]), 3)) * offset for _ in range(2))
    given = {
        **motion,
        "actuator_position": joints["actuator_position"],
        "guess_position": motion["position"] + robot.characteristic_length * shift,
        "guess_rotation": np.array([rotation_from_vector(v) for v in rotation]) @ motion["rotation"],
        "guess": joints["joint_position"],
    }
    found, status = run(fp.kernel(robot, "forward_kinematics"), given)
    assert np.all(status == 0)
    return found


@pytest.mark.parametrize("name", ROBOTS)
def test_forward_after_inverse_returns_the_pose(name: str) -> None:
    robot = robot_named(name)
    motion = possible_motion(robot, SAMPLES, seed=17)
    passes = {}
    for offset in (3e-2, 1e-5):
        found = solved(robot, motion, offset)
        assert np.all(found["converged"] == 1.0)
        assert np.abs(found["position"] - motion["position"]).max() < POSE
        assert np.abs(found["rotation"] - motion["rotation"]).max() < POSE
        assert np.abs(found["residual"]).max() < CLOSED
        unit = found["rotation"].transpose(0, 2, 1) @ found["rotation"]
        assert np.abs(unit - np.eye(3)).max() < UNIT
        passes[offset] = found["passes"].max()
    # quadratic: 1e-5 squared is below the last step of 1e-9, so that one step and its check are enough
    assert passes[1e-5] <= 3
    assert passes[3e-2] <= 7


def test_delta_does_not_turn() -> None:
    robot = robot_named("delta")
    found = solved(robot, possible_motion(robot, SAMPLES, seed=18), 1e-2)
    assert np.abs(found["rotation"] - robot.home.rotation).max() < CLOSED


def test_far_guess_is_refused_not_invented() -> None:
    """Actuator lengths that no pose has: not converged, whatever comes out."""
    robot = robot_named("stewart-3-3")
    given = {
        "actuator_position": np.array([[-4.5, 3.0, -4.5, 3.0, -4.5, 3.0]]),
        "guess_position": robot.home.position[None],
        "guess_rotation": robot.home.rotation[None],
        "position": robot.home.position[None],
    }
    found, status = run(fp.kernel(robot, "forward_kinematics"), given)
    assert status[0] != 0 or found["converged"][0] == 0.0
