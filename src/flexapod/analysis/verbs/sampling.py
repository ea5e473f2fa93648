"""Random states that a robot can reach: from the `sampling` box of its file, on its constraints, away from singularities."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.poses.loop_sampling import random_loop_states
from flexapod.arrays import Array
from flexapod.errors import FlexapodError
from flexapod.motions.motion import Motion
from flexapod.robot.geometry import rotation_from_vector

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

TRIES = 20
"""Draws after which a robot counts as one that cannot be closed near home."""
PARTS = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def random_states(robot: Robot, count: int, seed: int = 0) -> dict[str, Array]:
    """Pose, twist and acceleration of `count` random states.

    Poses are drawn in the box around home; on robots of limited mobility they are brought onto the constraints (forward
    kinematics of the actuator coordinates found there), and twist and acceleration are projected likewise. States whose
    Jacobian is worse conditioned than the file's bound are drawn again.
    """
    if not robot.follows_platform:
        return random_loop_states(robot, count, seed)
    random = np.random.default_rng(seed)
    parts: list[dict[str, Array]] = []
    found = 0
    while found < count:
        drawn = _draw(robot, max(count - found, 64), random)
        good = {name: values[_usable(robot, drawn)] for name, values in drawn.items()}
        parts.append(good)
        found += len(good["position"])
        if len(parts) > 200:
            raise FlexapodError(
                f"the sampling box of {robot.name} holds too few usable poses: make `sampling` smaller or raise `condition`"
            )
    joined = {name: np.concatenate([p[name] for p in parts])[:count] for name in parts[0]}
    return _on_constraints(robot, joined)


def random_inputs(robot: Robot, count: int, seed: int = 0) -> dict[str, Array]:
    """Random states by the names of a robot's kernels: closed ones where its equations are in independent coordinates."""
    by_actuators = robot.moved_by == "actuators"
    return random_leg_states(robot, count, seed) if by_actuators else random_states(robot, count, seed)


def dependent_inputs(robot: Robot, states: Mapping[str, Array], names: Collection[str]) -> dict[str, Array]:
    """Joints and actuators that follow from the platform's states, where inputs of a kernel name them.

    Checked by: tests/kernels/test_c_builds.py.
    """
    if "joint_position" in states:
        at = list(robot.driven)
        return {f"actuator_{part}": states[f"joint_{part}"][:, at] for part in ("position", "velocity")}
    if robot.moved_by == "actuators" or "acceleration" not in states:
        return {}
    motion = Motion(time=np.arange(float(len(states["position"]))), **{name: states[name] for name in PARTS})
    found: dict[str, Array] = {}
    if any(name.startswith("actuator_") for name in names):
        from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics

        actuators = inverse_kinematics(robot, motion, joints=False)
        found = {name: actuators[name].values for name in names if name.startswith("actuator_")}
    if "joint_position" in names:
        from flexapod.analysis.model.closed_state import closed_request
        from flexapod.analysis.requests.request import Request

        found |= closed_request(robot, Request(at=motion), np.full(len(motion), "", dtype=object)).state.inputs()
    return found


def random_leg_states(robot: Robot, count: int, seed: int = 0) -> dict[str, Array]:
    """Closed random states of a robot with flexible legs, by the names of its kernels: actuators within 5 % of the robot's size,
    deflections within 0.1 %, rates to match."""
    from flexapod.analysis.model.closed_legs import ActuatorState, close_along

    random, n, N = np.random.default_rng(seed), len(robot.actuators), len(robot.elastic_names)
    home = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    size, parts, found = robot.characteristic_length, [], 0
    while found < count:  # samples that cannot be closed are drawn again
        k = count - found
        q, qd = home + 0.05 * size * random.uniform(-1, 1, (k, n)), 0.3 * random.uniform(-1, 1, (k, n))
        e, ed = 1e-3 * size * random.uniform(-1, 1, (k, N)), 0.05 * random.uniform(-1, 1, (k, N))
        reasons = np.full(k, "", dtype=object)
        closed = close_along(robot, ActuatorState(q=q, e=e, qd=qd, ed=ed), reasons)
        parts.append(closed.rows(reasons == ""))
        found += int((reasons == "").sum())
        if found < count and len(parts) > TRIES:
            raise FlexapodError(f"random states of {robot.name}: {next(reason for reason in reasons if reason)}")
    joined = {name: np.concatenate([part.inputs()[name] for part in parts]) for name in parts[0].inputs()}
    rates = np.zeros((count, len(robot.elastic_plan.independent)))
    return {**joined, "independent_velocity": rates, "point": np.zeros((count, 3))}


def _draw(robot: Robot, count: int, random: np.random.Generator) -> dict[str, Array]:
    box = robot.sampling

    def cube(half: object) -> Array:
        return np.asarray(random.uniform(-1.0, 1.0, (count, 3)) * np.asarray(half))

    rotations = np.array([rotation_from_vector(v) for v in cube(box.rotation)])
    states = {
        "position": robot.home.position + cube(box.position),
        "rotation": rotations @ robot.home.rotation,
        "velocity": cube(box.velocity),
        "angular_velocity": cube(box.angular_velocity),
        "acceleration": cube(box.acceleration),
        "angular_acceleration": cube(box.angular_acceleration),
    }
    return _assembled(robot, states) if robot.plan.constraints else states


def _home(robot: Robot, count: int) -> Array:
    return np.tile(np.concatenate([leg.home for leg in robot.legs]), (count, 1))


def jacobians(robot: Robot, states: dict[str, Array]) -> dict[str, Array]:
    """Outputs of the Jacobian kernel at the poses; NaN where it fails."""
    bound = kernel(robot, "jacobian")
    given = {**states, "guess": _home(robot, len(states["position"]))}
    return bound.batch({i.name: given[i.name] for i in bound.signature.inputs}).outputs


def _assembled(robot: Robot, states: dict[str, Array]) -> dict[str, Array]:
    """Poses of limited-mobility robots brought onto their constraints."""
    found = jacobians(robot, states)
    bound = kernel(robot, "forward_kinematics")
    actuators = found["actuator_position"]
    if len(robot.actuators) > robot.mobility.rank:  # redundant: keep the pose, its constraints hold by the box
        return states
    given = {
        "actuator_position": actuators,
        "guess_position": states["position"],
        "guess_rotation": states["rotation"],
        "guess": np.where(np.isfinite(found["joint_position"]), found["joint_position"], 0.0),
    }
    pose = bound.batch({i.name: given[i.name] for i in bound.signature.inputs}).outputs
    good = pose["converged"] == 1.0
    rotation = np.where(good[:, None, None], pose["rotation"], np.eye(3))
    return {**states, "position": np.where(good[:, None], pose["position"], np.nan), "rotation": rotation}


def _usable(robot: Robot, states: dict[str, Array]) -> NDArray[np.bool_]:
    """States that can be reached and are well conditioned."""
    found = jacobians(robot, states)
    scale = np.array([robot.characteristic_length] * 3 + [1.0] * 3)
    rows = found["jacobian"] * scale
    if "constraint_jacobian" in found:
        rows = np.concatenate([rows, (found["constraint_jacobian"] * scale)[:, list(robot.plan.constraints)]], axis=1)
    usable = np.all(np.isfinite(rows), axis=(1, 2))
    norms = np.linalg.norm(rows[usable], axis=2, keepdims=True)
    singular = np.linalg.svd(rows[usable] / np.where(norms > 0, norms, 1.0), compute_uv=False)
    usable[usable] = singular[:, 0] < robot.sampling.condition * singular[:, -1]
    return np.asarray(usable)


def _on_constraints(robot: Robot, states: dict[str, Array]) -> dict[str, Array]:
    """Twist and acceleration projected onto what the robot can follow."""
    if not robot.plan.constraints:
        return states
    G = jacobians(robot, states)["constraint_jacobian"]
    scale = np.array([robot.characteristic_length] * 3 + [1.0] * 3)
    inverse = np.linalg.pinv(G * scale, rcond=1e-9)
    bound = kernel(robot, "inverse_kinematics", detail="actuators")
    result = dict(states)
    for linear, angular, name in (
        ("velocity", "angular_velocity", "constraint_rate"),
        ("acceleration", "angular_acceleration", "constraint_acceleration"),
    ):
        given = {**result, "guess": _home(robot, len(G))}
        residual = bound.batch({i.name: given[i.name] for i in bound.signature.inputs}).outputs[name]
        correction = np.einsum("nij,nj->ni", inverse, residual) * scale
        result[linear] = result[linear] - correction[:, :3]
        result[angular] = result[angular] - correction[:, 3:]
    return result
