"""Forward kinematics by continuation: each sample of a motion starts from the pose of the previous one."""

from __future__ import annotations

import numpy as np

from flexapod.analysis.poses.pose_search import DEPARTURE, RESIDUAL, Poses, PoseSearch, Search
from flexapod.arrays import Array


def search_along(search: PoseSearch, target: Array, start: Poses, own: Array, any_mode: bool = False) -> Search:
    """Poses along a motion.

    Args:
        target: (n, actuators) in the order of time.
        start: one assembled pose before the first sample.
        own: (1, actuators) its actuator coordinates.
        any_mode: accept a change of the assembly mode.
    Returns:
        As `PoseSearch.search`; after a sample that fails, the next ones start from the last that was found.
    """
    found = _empty(search, len(target))
    call = search.kernel.prepare()
    outputs, inputs = call.outputs, call.inputs
    determinant, residual, wanted = outputs["determinant"], outputs["residual"], inputs["actuator_position"]
    converged, departure, signed = outputs["converged"], outputs["departure"], search.signed
    last, last_own = start, own
    _write(inputs, last)
    for i in range(len(target)):
        wanted[...] = target[i]
        good = call() == 0 and converged.item() == 1.0 and departure.item() < DEPARTURE
        if good:  # Newton on as many rows as unknowns ends with no residual; redundant rows may contradict
            good = determinant[0] * determinant[1] > 0.0 if signed else np.abs(residual * search.scale).max() < RESIDUAL
        if good:
            found.poses.position[i], found.poses.rotation[i] = outputs["position"], outputs["rotation"]
            found.poses.joints[i], found.residual[i] = outputs["joint_position"], residual
            found.passes[i] = int(outputs["passes"][()])
        else:
            one = search.search(target[i : i + 1], last, last_own)
            good = bool(one.solved[0] and (one.same[0] or any_mode))
            _copy(found, i, one)
        if good:
            last, last_own = found.poses.at(slice(i, i + 1)), target[i : i + 1]
        _write(inputs, last)
    return found


def _write(inputs: dict[str, Array], pose: Poses) -> None:
    inputs["guess_position"][...] = pose.position[0]
    inputs["guess_rotation"][...] = pose.rotation[0]
    if "guess" in inputs:
        inputs["guess"][...] = pose.joints[0]


def _empty(search: PoseSearch, n: int) -> Search:
    actuators, joints = len(search.robot.actuators), len(search.robot.coordinates)
    return Search(
        poses=Poses(position=np.empty((n, 3)), rotation=np.empty((n, 3, 3)), joints=np.empty((n, joints))),
        residual=np.zeros((n, actuators)),
        constraint=np.zeros(n),
        solved=np.ones(n, dtype=bool),
        same=np.ones(n, dtype=bool),
        kept=np.ones(n, dtype=bool),
        singular=np.zeros(n, dtype=bool),
        passes=np.zeros(n, dtype=np.int64),
        reached=np.ones(n),
        status=np.zeros(n, dtype=np.int32),
    )


def _copy(found: Search, i: int, one: Search) -> None:
    found.poses.put(slice(i, i + 1), one.poses)
    for name in ("residual", "constraint", "solved", "same", "kept", "singular", "passes", "reached", "status"):
        getattr(found, name)[i] = getattr(one, name)[0]
