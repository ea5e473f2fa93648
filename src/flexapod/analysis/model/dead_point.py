r"""Dead points of the drives: poses at which the actuators do not determine how the loops close, recognised and reported.

.. math:: r(q) = 0\ \text{at a given pose},\qquad \sigma_{min}(A_b) \approx 0

Letters: q joint coordinates, r closing equations, A_b their derivatives by the coordinates that are solved for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.elastic_plan import loop_matrix
from flexapod.robot.geometry import pose
from flexapod.robot.mobility import RANK, loop_jacobian

if TYPE_CHECKING:
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot


DEAD = "a dead point of the actuators: the platform moves while they are at rest; start at another pose, or drive another joint"
NOT_CLOSED = "the loops cannot be closed from here"
NEAR = 1e-4
"""Smallest singular value of the dimensionless rows below which the search by the actuators' coordinates fails."""
CLOSED = 1e-9
"""Residual, of the robot's size, below which a pose counts as one that the loops can reach."""
STEPS, SAMPLES = 30, 16
"""Newton steps; failed samples that are tried."""


def name_dead_points(robot: Robot, position: Array, rotation: Array, joints: Array, reasons: Reasons) -> None:
    """Give samples whose loops were not closed the reason that their pose is a dead point, where it is.

    Args:
        position, rotation: (n, 3), (n, 3, 3) wanted.
        joints: (n, coordinates) from which the search starts.

    Checked by: tests/simulation/test_mechanisms.py.
    """
    if robot.elastic_names:
        return
    failed = [k for k, text in enumerate(reasons) if str(text).startswith(NOT_CLOSED)]
    for k in failed[:SAMPLES]:
        if _is_dead(robot, position[k], rotation[k], joints[k]):
            reasons[k] = DEAD


def _is_dead(robot: Robot, position: Array, rotation: Array, start: Array) -> bool:
    """The loops close at a pose, and there the actuators do not determine the rest."""
    counts = np.cumsum([len(leg.moving) for leg in robot.legs])[:-1]
    q, at = np.concatenate([leg.home for leg in robot.legs]), pose(position, rotation)
    q = np.where(np.isfinite(start), start, q)
    for _ in range(STEPS):
        r, J = loop_jacobian(robot.legs, np.split(q, counts), at)
        if float(np.linalg.norm(r)) < CLOSED * robot.size:
            break
        step = -np.linalg.pinv(J[:, :-6], rcond=RANK) @ r
        q = q + step / max(1.0, float(np.abs(step).max()))
    else:
        return False
    return hold_of_actuators(robot, position, rotation, q) < NEAR


def hold_of_actuators(robot: Robot, position: Array, rotation: Array, q: Array) -> float:
    """Smallest singular value of the dimensionless rows by the coordinates that are solved for: 0 at a dead point."""
    plan, counts = robot.elastic_plan, np.cumsum([len(leg.moving) for leg in robot.legs])[:-1]
    at = np.split(q, counts), pose(position, rotation)
    A = np.vstack(loop_matrix(robot, plan.carrier, plan.first, len(plan.columns), at))
    return float(np.linalg.svd(A[:, list(plan.bound)], compute_uv=False)[-1])
