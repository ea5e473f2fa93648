"""Start of a search for a pose: home, a state, or an earlier result, projected onto the robot's constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.model.newton_starts import solve_from_starts
from flexapod.analysis.poses.pose_search import Poses, PoseSearch
from flexapod.analysis.poses.row_condition import type_2_distance
from flexapod.analysis.requests.results import reasons_of
from flexapod.analysis.requests.state import State
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.motion import Motion
from flexapod.robot.geometry import Pose

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.robot.robot import Robot

SINGULAR = 1e-9
"""Smallest singular value of the row-normalised [J; G] below which a guess belongs to no assembly mode."""


def start_poses(search: PoseSearch, guess: State | Motion | xr.Dataset | None, count: int) -> tuple[Poses, Array, NDArray[Any]]:
    """Assembled poses to start from.

    Args:
        guess: None for home, a `State` or `Pose`, or a Dataset with `position`, `rotation` and perhaps `joint_position`.
        count: number of samples; a single guess is used for all.
    Returns:
        poses (count or 1), their actuator coordinates, and reasons where a guess is invalid.
    """
    robot = search.robot
    if guess is None:
        home = np.concatenate([leg.home for leg in robot.legs])[None]
        poses = Poses(position=robot.home.position[None].copy(), rotation=robot.home.rotation[None].copy(), joints=home)
        return poses, home[:, list(robot.driven)], np.array([""], dtype=object)
    position, rotation, joints = _arrays(robot, guess)
    if len(position) not in (1, count):
        raise InputError(f"guess: {len(position)} poses for {count} samples; give one, or one for each sample")
    return _assembled(search, position, rotation, joints)


def _arrays(robot: Robot, guess: State | Motion | Pose | xr.Dataset) -> tuple[Array, Array, Array | None]:
    if isinstance(guess, State | Pose):
        return guess.position.reshape(-1, 3), guess.rotation.reshape(-1, 3, 3), None
    if not isinstance(guess, Motion) and {"position", "rotation"} <= set(getattr(guess, "data_vars", ())):
        joints = guess["joint_position"].values if "joint_position" in guess else None
        own = None if joints is None else np.ascontiguousarray(joints.reshape(-1, len(robot.coordinates)))
        return guess["position"].values.reshape(-1, 3), guess["rotation"].values.reshape(-1, 3, 3), own
    raise InputError(f"guess: expected a State or an earlier result with position and rotation, got {type(guess).__name__}")


def _assembled(search: PoseSearch, position: Array, rotation: Array, joints: Array | None) -> tuple[Poses, Array, NDArray[Any]]:
    robot = search.robot
    bound = kernel(robot, "jacobian")
    inputs = {"position": np.ascontiguousarray(position), "rotation": np.ascontiguousarray(rotation)}
    if joints is not None and "guess" in {i.name for i in bound.signature.inputs}:
        given: dict[str, Any] = {**inputs, "guess": joints}
        batch = bound.batch(given)
    else:
        batch, given = solve_from_starts(bound, inputs)
    reasons = reasons_of(bound.signature, batch.status, given).astype(object)
    for i in np.flatnonzero(reasons != ""):
        reasons[i] = f"the guess is invalid: {reasons[i]}"
    out = batch.outputs
    poses = Poses(position=inputs["position"].copy(), rotation=inputs["rotation"].copy(), joints=out["joint_position"].copy())
    own = out["actuator_position"].copy()
    good = np.flatnonzero(reasons == "")
    if robot.plan.constraints and len(good):
        onto = search.newton(own[good], poses.at(good))
        poses.put(good[onto.solved], onto.poses.at(onto.solved))
        reasons[good[~onto.solved]] = "the guess is invalid: it is too far from what the robot's constraints allow"
        own[good] = poses.joints[good][:, list(robot.driven)]
    singular = good[_type_2(robot, {k: v[good] for k, v in out.items()}) < SINGULAR]
    reasons[singular] = "the guess is a singular pose (type 2), where assembly modes meet; give a guess away from it"
    return poses, own, reasons


def _type_2(robot: Robot, out: dict[str, Array]) -> Array:
    rows = out["jacobian"]
    if "constraint_jacobian" in out:
        rows = np.concatenate([rows, out["constraint_jacobian"][:, list(robot.plan.constraints)]], axis=1)
    return type_2_distance(rows, robot.characteristic_length)
