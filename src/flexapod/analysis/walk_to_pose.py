r"""Loops closed at given poses of the platform: where the way by the actuators is lost, the platform is taken there itself.

.. math:: r(q, x_s) = 0,\qquad x_s = x_{home} + s\,(x - x_{home}),\quad s = 1/n \ldots 1

Near positions where the actuators hardly hold the platform, a small step of theirs moves it far, and the search by their
coordinates leaves what it can close. The joints as functions of the pose are smooth there.
Robots that deform go there with their independent deformations as they are; loops that are over-constrained when rigid bend the
others. Letters: q joint coordinates, r closing equations, x pose.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from flexapod.analysis.closed_legs import ClosedLegs, home
from flexapod.analysis.dead_point import NOT_CLOSED, hold_of_actuators
from flexapod.analysis.kernels import kernel
from flexapod.robot.geometry import pose
from flexapod.robot.mobility import RANK, loop_jacobian

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]

DEAD = 1e-6
"""Smallest singular value of the dimensionless rows with which the actuators count as holding the platform: at a dead point it
is up to the root of rounding, and forces of any size would come out."""

STRIDES = 12
"""Poses on the way from home; each starts from the joints of the one before."""

NEWTON, CLOSED = 12, 1e-12
"""Newton steps of a pose on the way, which takes four, and the residual, of the robot's size, at which its loops are closed."""


def walk_to_poses(
    robot: Robot, state: ClosedLegs, position: Array, rotation: Array, elastic: Array, words: NDArray[Any]
) -> ClosedLegs:
    """States at rest at the poses of samples whose loops were not closed; their reasons are removed where that succeeds.

    Args:
        state: of all samples; others than the failed ones stay as they are.
        position, rotation: (n, 3), (n, 3, 3) wanted.
        elastic: (n, N) deformations there; those that the loops determine are corrected.
        words: reasons per sample.

    Checked by: tests/robot/test_inner_loops.py.
    """
    failed = np.array([k for k, text in enumerate(words) if str(text).startswith(NOT_CLOSED)], dtype=int)
    if robot.floats or not len(failed):
        return state
    if robot.elastic_names:
        return _walk_deformed(robot, state, failed, (position, rotation, elastic), words)
    bound, part = kernel(robot, "loop_jacobian"), home(robot, len(failed))
    way, turn = _way(robot, position[failed], rotation[failed])
    q, closed = part.joint_position, np.zeros(len(failed), dtype=bool)
    for k in range(1, STRIDES + 1):
        share = k / STRIDES
        R = Rotation.from_rotvec(share * turn).as_matrix() @ robot.home.rotation if k < STRIDES else rotation[failed]
        at = {"position": robot.home.position + share * way if k < STRIDES else position[failed], "rotation": R, "guess": q}
        batch = bound.batch({name: np.ascontiguousarray(values) for name, values in at.items()})
        closed = batch.status == 0
        q = np.where(closed[:, None], batch.outputs["joint_position"], q)
    for i in np.flatnonzero(closed):
        closed[i] = hold_of_actuators(robot, at["position"][i], at["rotation"][i], q[i]) > DEAD
    part = replace(part, joint_position=q, position=at["position"], rotation=at["rotation"])
    words[failed[closed]] = ""
    return state.with_rows(failed[closed], part.rows(closed))


def _way(robot: Robot, position: Array, rotation: Array) -> tuple[Array, Array]:
    """Translation and rotation vector (n, 3) from home to poses, world axes."""
    return position - robot.home.position, Rotation.from_matrix(rotation @ robot.home.rotation.T).as_rotvec()


def _walk_deformed(
    robot: Robot, state: ClosedLegs, failed: NDArray[np.intp], to: tuple[Array, Array, Array], words: NDArray[Any]
) -> ClosedLegs:
    """As `walk_to_poses`, of a robot that deforms: sample by sample, with its independent elastic coordinates held.

    Poses that the robot takes only deformed (rotations below mobility 6) stay with the search by the actuators, and so does a
    flexible platform that is given deformed.
    """
    part, held = home(robot, len(failed)), _held(robot)
    if robot.elastic_plan.carrier is not None:
        return state
    position, rotation, elastic = (values[failed] for values in to)
    q, good, modes = np.array(part.joint_position), np.zeros(len(failed), dtype=bool), part.modes.shape[1]
    q[:, list(robot.elastic_indices)] = elastic[:, modes:]
    for i, (way, turn) in enumerate(zip(*_way(robot, position, rotation), strict=True)):
        found = None if np.any(elastic[i, :modes]) else _walked(robot, q[i], way, turn, held)
        if found is not None and hold_of_actuators(robot, position[i], rotation[i], found) > DEAD:
            q[i], good[i] = found, True
    part = replace(part, joint_position=q, position=position, rotation=rotation)
    words[failed[good]] = ""
    return state.with_rows(failed[good], part.rows(good))


def _held(robot: Robot) -> list[int]:
    """Joint coordinates of the deformations that nothing determines."""
    first = len(robot.elastic_plan.columns) - len(robot.coordinates)
    return [k for k in robot.elastic_indices if first + k in robot.elastic_plan.independent]


def _walked(robot: Robot, q: Array, way: Array, turn: Array, held: list[int]) -> Array | None:
    """Joint coordinates that close the loops after a way from home, or None where a step of it fails."""
    counts = np.cumsum([len(leg.moving) for leg in robot.legs])[:-1]
    free, q = np.setdiff1d(np.arange(len(q)), held), np.array(q)
    for k in range(1, STRIDES + 1):
        share = k / STRIDES
        at = pose(robot.home.position + share * way, Rotation.from_rotvec(share * turn).as_matrix() @ robot.home.rotation)
        for _ in range(NEWTON):
            r, J = loop_jacobian(robot.legs, np.split(q, counts), at)
            if float(np.linalg.norm(r)) < CLOSED * robot.size:
                break
            q[free] -= np.linalg.pinv(J[:, free], rcond=RANK) @ r
        else:
            return None
    return q
