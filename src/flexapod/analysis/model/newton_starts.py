"""Newton's method for general legs, started at home, and from poses already solved where home is too far away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.kernels import RobotKernel, kernel
from flexapod.arrays import Array

if TYPE_CHECKING:
    from flexapod.kernels.kernel import Batch
    from flexapod.robot.robot import Robot

ROUNDS = 20
"""Times that failed samples start again from the nearest solved ones."""

STRIDES = (12, 96)
"""Steps of the walks from home to samples that have no solved neighbour; the long one for a few samples only."""

FEW = 1000


def solve_from_starts(
    bound: RobotKernel, inputs: dict[str, Array], rows: slice | None = None, out: Mapping[str, Array] | None = None
) -> tuple[Batch, dict[str, Any]]:
    """Run a kernel; general legs start from home, then from the nearest sample that was solved, then walk there from home.

    Args:
        rows: which samples of a verb these are; all where left out.
        out: arrays to write to; new ones if not given.
    Returns:
        The batch, and the inputs with the `guess` that was used.

    Checked by: tests/laws/test_reach_and_branch.py.
    """
    if "guess" not in {i.name for i in bound.signature.inputs}:
        return bound.batch(inputs, rows=rows, out=out), inputs
    first = 0 if rows is None else rows.start
    given = {**inputs, "guess": np.tile(_home(bound.robot), (len(inputs["position"]), 1))}
    batch = bound.batch(given, rows=rows, out=out)
    walks = list(STRIDES)
    for _ in range(ROUNDS):
        failed, good = np.flatnonzero(batch.status > 0), np.flatnonzero(batch.status == 0)
        if len(failed) == 0:
            break
        known = joint_positions(bound.robot, {k: v[good] for k, v in given.items()}, first + good)
        if len(good) and _solve_again(bound, batch, given, (first, failed), known[_nearest(bound.robot, inputs, failed, good)]):
            continue
        if not walks or (len(walks) == 1 and len(failed) > FEW):
            break
        start = _walk(bound.robot, {k: v[failed] for k, v in given.items()}, walks.pop(0), first + failed)
        _solve_again(bound, batch, given, (first, failed), start)
    return batch, given


def _solve_again(
    bound: RobotKernel, batch: Batch, given: dict[str, Array], which: tuple[int, NDArray[np.int64]], guess: NDArray[np.float64]
) -> bool:
    """Start failed samples again from other coordinates, in place; returns whether any was solved.

    Args:
        which: number of the first sample of the batch among all, and the failed ones counted from there.
    """
    first, failed = which
    part = {k: np.ascontiguousarray(v[failed]) for k, v in given.items()}
    part["guess"] = np.where(np.isfinite(guess), guess, _home(bound.robot))
    retry = bound.batch(part, rows=first + failed)
    solved = failed[retry.status == 0]
    given["guess"][solved] = part["guess"][retry.status == 0]
    batch.status[solved] = 0
    for name, values in batch.outputs.items():
        values[solved] = retry.outputs[name][retry.status == 0]
    return bool(len(solved))


def _walk(robot: Robot, inputs: dict[str, Array], strides: int, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Joint coordinates found on the straight path from home to each pose, as far as it goes; `rows`: which samples they are."""
    from scipy.spatial.transform import Rotation

    way = inputs["position"] - robot.home.position
    rotation = Rotation.from_matrix(inputs["rotation"] @ robot.home.rotation.T).as_rotvec()
    guess = np.tile(_home(robot), (len(way), 1))
    for k in range(1, strides):
        t = k / strides
        pose = {
            "position": robot.home.position + t * way,
            "rotation": Rotation.from_rotvec(t * rotation).as_matrix() @ robot.home.rotation,
            "guess": guess,
        }
        found = joint_positions(robot, pose, rows)
        guess = np.where(np.all(np.isfinite(found), axis=1, keepdims=True), found, guess)
    return guess


def _home(robot: Robot) -> NDArray[np.float64]:
    return np.concatenate([leg.home for leg in robot.legs])


def _nearest(robot: Robot, inputs: dict[str, Array], failed: NDArray[np.int64], good: NDArray[np.int64]) -> NDArray[np.int64]:
    """Index into `good` of the solved sample whose pose is nearest, for each failed sample."""
    from scipy.spatial import cKDTree

    poses = np.hstack([inputs["position"] / robot.characteristic_length, inputs["rotation"].reshape(-1, 9)])
    return np.asarray(cKDTree(poses[good]).query(poses[failed])[1])


def joint_positions(robot: Robot, inputs: dict[str, Array], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Joint coordinates (n, joints) of poses; `rows`: which samples they are."""
    bound = kernel(robot, "jacobian")
    wanted = {i.name: np.ascontiguousarray(inputs[i.name]) for i in bound.signature.inputs}
    return bound.batch(wanted, rows=rows).outputs["joint_position"]
