r"""Loops closed at given poses of the platform, also where the path through actuator coordinates is lost.

.. math:: r(q, x_s) = 0,\qquad x_s = x_{home} + s\,(x - x_{home}),\quad s = 1/n \ldots 1

Near positions where the actuators hardly hold the platform, a small step of theirs moves it far, and the search by their
coordinates leaves what it can close. The joints as functions of the pose are smooth there.
Letters: q joint coordinates, r closing equations, x pose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from flexapod.analysis.model.closed_legs import SAME, ClosedLegs, home
from flexapod.analysis.model.dead_point import NOT_CLOSED, hold_of_actuators
from flexapod.analysis.model.kernels import kernel
from flexapod.arrays import Array
from flexapod.robot.chosen_dependents import with_plan
from flexapod.robot.elastic_plan import elastic_plan

if TYPE_CHECKING:
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot


Closing = Callable[[ClosedLegs], tuple[Array, NDArray[np.bool_]]]
"""Joints (n, coordinates) at the poses of states, from the joints of these, and whether they close the loops."""

DEAD = 1e-6
"""Smallest singular value of the dimensionless rows with which the actuators count as holding the platform: at a dead point it
is up to the root of rounding, and forces of any size would come out."""

STRIDES = 12
"""Poses on the way from home; each starts from the joints of the one before."""


def walk_to_poses(
    robot: Robot, state: ClosedLegs, position: Array, rotation: Array, elastic: Array, reasons: Reasons
) -> ClosedLegs:
    """States at rest at the poses of samples whose loops were not closed; their reasons are removed where that succeeds.

    Args:
        state: of all samples; others than the failed ones stay as they are.
        position, rotation: (n, 3), (n, 3, 3) wanted.
        elastic: (n, N) coordinates of what deforms, which stay.
        reasons: per sample.

    Checked by: tests/robot/test_inner_loops.py.
    """
    failed = np.array([k for k, text in enumerate(reasons) if str(text).startswith(NOT_CLOSED)], dtype=int)
    if robot.floats or not len(failed):
        return state
    part = home(robot, len(failed))
    part.joint_position[:, list(robot.elastic_indices)] = elastic[failed, len(robot.platform_modes) :]
    part.modes[:] = elastic[failed, : len(robot.platform_modes)]
    way = position[failed] - robot.home.position
    relative = Rotation.from_matrix(rotation[failed] @ robot.home.rotation.T).as_rotvec()
    close = _deformed(robot) if robot.elastic_names else _undeformed(robot)
    closed = np.zeros(len(failed), dtype=bool)
    for k in range(1, STRIDES + 1):
        share = k / STRIDES
        R = Rotation.from_rotvec(share * relative).as_matrix() @ robot.home.rotation if k < STRIDES else rotation[failed]
        part = replace(part, position=robot.home.position + share * way if k < STRIDES else position[failed], rotation=R)
        q, closed = close(part)
        part = replace(part, joint_position=np.where(closed[:, None], q, part.joint_position))
    for i in np.flatnonzero(closed):
        closed[i] = hold_of_actuators(robot, part.position[i], part.rotation[i], part.joint_position[i]) > DEAD
    reasons[failed[closed]] = ""
    return state.with_rows(failed[closed], part.rows(closed))


def _undeformed(robot: Robot) -> Closing:
    """Close all loops of a rigid robot together."""
    bound = kernel(robot, "loop_jacobian")

    def close(at: ClosedLegs) -> tuple[Array, NDArray[np.bool_]]:
        given = {"position": at.position, "rotation": at.rotation, "guess": at.joint_position}
        batch = bound.batch({name: np.ascontiguousarray(values) for name, values in given.items()})
        return batch.outputs["joint_position"], batch.status == 0

    return close


def _deformed(robot: Robot) -> Closing:
    """Loops solved for joints, actuators among them, while deformations stay as they are; loops that are over-constrained when
    rigid bend some of these."""
    joints = [name for k, name in enumerate(robot.coordinates) if k not in robot.elastic_indices]
    other = with_plan(robot, elastic_plan(robot, joints, tied="elastic"))
    bound, free = kernel(other, "elastic_closing"), len(other.elastic_plan.independent)

    def close(at: ClosedLegs) -> tuple[Array, NDArray[np.bool_]]:
        given = {**at.inputs(), "independent_velocity": np.zeros((len(at.position), free))}
        batch = bound.batch({i.name: np.ascontiguousarray(given[i.name]) for i in bound.signature.inputs})
        moved = np.abs(batch.outputs["platform_position"] - at.position).max(axis=1) / robot.characteristic_length
        rotated = np.abs(batch.outputs["platform_rotation"] - at.rotation).max(axis=(1, 2))
        there = (moved < SAME) & (rotated < SAME)  # loops may be solved for the pose itself where joints do not suffice
        return batch.outputs["closed_position"], (batch.status == 0) & there

    return close
