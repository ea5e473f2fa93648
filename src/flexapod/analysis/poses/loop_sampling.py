r"""Random states of robots whose loops run through several legs or the platform's own link: drawn by the actuators, on all loops.

.. math:: q = q_0 + J\,\delta,\qquad \dot q = J\,V,\qquad \ddot q = J\,\dot V

with J the Jacobian at home and delta, V, V' drawn in the `sampling` box; the platform follows by forward kinematics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.errors import FlexapodError
from flexapod.motions.motion import ActuatorMotion

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

NAMES = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def random_loop_states(robot: Robot, count: int, seed: int) -> dict[str, Array]:
    """Pose, twist and acceleration of `count` random states that are better conditioned than the file's bound.

    Checked by: tests/identification/test_regressor.py.
    """
    from flexapod.analysis.poses.pose_jacobians import pose_jacobians
    from flexapod.analysis.requests.state import State
    from flexapod.analysis.verbs.forward_kinematics import forward_kinematics
    from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics

    random, box = np.random.default_rng(seed), robot.sampling
    home = State.at_home(robot)
    q0 = inverse_kinematics(robot, home).actuator_position.values
    J = pose_jacobians(robot, robot.home.position[None], robot.home.rotation[None]).jacobian[0]
    halves = [(box.position, box.rotation), (box.velocity, box.angular_velocity), (box.acceleration, box.angular_acceleration)]
    parts: list[dict[str, Array]] = []
    for _ in range(20):
        many = max(count - sum(len(p["position"]) for p in parts), 16)
        drawn = []
        for linear, angular in halves:
            half = np.concatenate([np.broadcast_to(np.asarray(part, dtype=float), 3) for part in (linear, angular)])
            drawn.append(random.uniform(-1.0, 1.0, (many, 6)) * half @ J.T)
        motion = ActuatorMotion(time=np.arange(float(many)), position=q0 + drawn[0], velocity=drawn[1], acceleration=drawn[2])
        found = forward_kinematics(robot, motion, continuation=False, on_error="mask")
        good = np.isfinite(found.position.values).all(axis=1)
        poses = pose_jacobians(robot, found.position.values[good], found.rotation.values[good])
        good[good] = (poses.reasons == "") & _well_conditioned(robot, poses.rows)
        parts.append({name: found[name].values[good] for name in NAMES})
        if sum(len(p["position"]) for p in parts) >= count:
            return {name: np.concatenate([p[name] for p in parts])[:count] for name in NAMES}
    raise FlexapodError(
        f"the sampling box of {robot.name} holds too few usable poses: make `sampling` smaller or raise `condition`"
    )


def _well_conditioned(robot: Robot, rows: Array) -> NDArray[np.bool_]:
    """Rows (n, m, 6) with unit norms, lengths by the characteristic one, below the file's bound."""
    scaled = rows * np.array([robot.characteristic_length] * 3 + [1.0] * 3)
    norms = np.linalg.norm(scaled, axis=2, keepdims=True)
    singular = np.linalg.svd(scaled / np.where(norms > 0, norms, 1.0), compute_uv=False)
    return np.asarray(singular[:, 0] < robot.sampling.condition * singular[:, -1])
