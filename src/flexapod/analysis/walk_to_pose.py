r"""Loops closed at given poses of the platform: where the way by the actuators is lost, the platform is taken there itself.

.. math:: r(q, x_s) = 0,\qquad x_s = x_{home} + s\,(x - x_{home}),\quad s = 1/n \ldots 1

Near positions where the actuators hardly hold the platform, a small step of theirs moves it far, and the search by their
coordinates leaves what it can close. The joints as functions of the pose are smooth there.
Letters: q joint coordinates, r closing equations, x pose.
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

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]

DEAD = 1e-6
"""Smallest singular value of the dimensionless rows with which the actuators count as holding the platform: at a dead point it
is up to the root of rounding, and forces of any size would come out."""

STRIDES = 12
"""Poses on the way from home; each starts from the joints of the one before."""


def walk_to_poses(robot: Robot, state: ClosedLegs, position: Array, rotation: Array, words: NDArray[Any]) -> ClosedLegs:
    """States at rest at the poses of samples whose loops were not closed; their reasons are removed where that succeeds.

    Args:
        state: of all samples; others than the failed ones stay as they are.
        position, rotation: (n, 3), (n, 3, 3) wanted.
        words: reasons per sample.

    Checked by: tests/robot/test_inner_loops.py.
    """
    failed = np.array([k for k, text in enumerate(words) if str(text).startswith(NOT_CLOSED)], dtype=int)
    if robot.elastic_names or robot.floats or not len(failed):
        return state
    bound, part = kernel(robot, "loop_jacobian"), home(robot, len(failed))
    way = position[failed] - robot.home.position
    turn = Rotation.from_matrix(rotation[failed] @ robot.home.rotation.T).as_rotvec()
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
