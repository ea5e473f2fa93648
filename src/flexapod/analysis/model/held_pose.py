r"""Quasi-static deflection of flexible legs with the platform held at a pose: Newton in actuators and deformations together.

Letters: e deformations, q actuators, rho_e forces left on the deformations, K their derivative, J platform motion per coordinate.

.. math:: \begin{bmatrix} K_{ee} & K_{eq} \\ J_e & J_q \end{bmatrix} \begin{pmatrix} \delta e \\ \delta q \end{pmatrix} =
          \begin{pmatrix} -\rho_e \\ \text{pose error} \end{pmatrix}

A held pose may be in equilibrium where the robot on locked actuators is not stable. Redundant actuators follow the others by the
loops; their forces f, A_q^T f = rho_q, are those that `Redundancy` chooses, and leave rho_e - A_e^T f on the deformations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.closed_legs import REACHED, STRIDE, ActuatorState, ClosedLegs, platform_jacobian, pose_error
from flexapod.analysis.model.leg_model import elastic_columns, leg_stiffness, leg_terms
from flexapod.analysis.model.linear_solve import pseudo_inverse, solved
from flexapod.analysis.model.point_load import wrench_and_mode_forces
from flexapod.analysis.model.prescribed import actuator_rates, coordinate_sizes, prescribed, prescribed_components, twist_scale
from flexapod.analysis.model.quasi_static import LIMIT, NOTHING, SETTLED, rounding, searched
from flexapod.arrays import Array
from flexapod.robot.elastic_plan import chosen_drives

if TYPE_CHECKING:
    from flexapod.analysis.model.redundancy import Redundancy
    from flexapod.analysis.requests.request import Load
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldPose:
    """Poses (n, ...), twists and accelerations (n, 6) of the platform, world axes, the load = (wrench, point, axes), and how the
    forces of redundant actuators are chosen."""

    position: Array
    rotation: Array
    twist: Array
    acceleration: Array
    load: Load
    friction: bool
    choice: Redundancy


def held_pose(robot: Robot, state: ClosedLegs, pose: HeldPose, reasons: Reasons) -> ClosedLegs:
    """The deflected states at the poses, e' = e'' = 0.

    Args:
        state: near the poses, e.g. undeformed.
        reasons: per sample, added to.

    Checked by: tests/analysis/test_flexible_legs.py, tests/analysis/test_held_pose.py.
    """
    rows, (own, driven) = prescribed_components(robot), chosen_drives(robot)
    where = {column: k for k, column in enumerate(elastic_columns(robot))}
    soft = [k for k, column in enumerate(robot.elastic_plan.independent) if column in where]
    moved = [where[robot.elastic_plan.independent[k]] for k in soft]
    if not soft:
        return state
    length = robot.characteristic_length
    scale, sizes = twist_scale(robot)[rows], coordinate_sizes(robot, driven)
    largest, before = np.full(len(reasons), NOTHING * length), np.full(len(reasons), np.inf)
    for _ in range(LIMIT):
        J, _drift = platform_jacobian(robot, state, reasons)
        error = pose_error(robot, state, pose.position, pose.rotation)[:, rows]
        de, dq = _step(robot, state, pose, error, (rows, soft, driven), reasons)
        part = np.minimum(1.0, STRIDE / np.maximum(np.abs(dq / sizes).max(axis=1, keepdims=True, initial=0.0), 1e-300))
        q, e = np.array(state.actuators(robot)[0]), np.array(state.elastic(robot)[0])
        q[:, own] += part * dq
        e[:, moved] += part * de
        rates = actuator_rates(robot, J, (prescribed(robot, J, rows), []), pose.twist, np.zeros_like(e))[0]
        to = ActuatorState(q=q, e=e, qd=rates, ed=np.zeros_like(e))
        state = searched(robot, state, to, np.zeros(len(reasons), dtype=bool), reasons)
        size, reached = np.abs(de).max(axis=1), np.abs(error / scale).max(axis=1, initial=0.0) < REACHED
        largest = np.maximum(largest, np.maximum(size, np.abs(e).max(axis=1)))
        still = (size < rounding(robot, largest)) & (size > before / 2.0)
        if np.all((reached & ((size <= SETTLED * largest) | still)) | (reasons != "")):
            return state
        before = size
    late = ~(size <= rounding(robot, largest)) & (reasons == "")
    reasons[late] = "no static deflection found: the load buckles a leg, or the pose is singular"
    return state


def _step(
    robot: Robot, state: ClosedLegs, pose: HeldPose, error: Array, columns: tuple[list[int], list[int], list[int]],
    reasons: Reasons,
) -> tuple[Array, Array]:  # fmt: skip
    """Newton's step of deformations (n, e) and independent actuators (n, q); zero for samples that have a reason.

    Args:
        columns: followed components of the platform, deformations and actuators among the independent coordinates.
    """
    rows, soft, driven = columns
    J, drift = platform_jacobian(robot, state, reasons)
    wrench = wrench_and_mode_forces(robot, state, pose.load)
    terms = leg_terms(robot, state, wrench, pose.friction, reasons)
    _, K, _ = leg_stiffness(robot, state, wrench, reasons, pose.load)
    inverse = pseudo_inverse(J[:, rows][:, :, driven])
    qdd = np.einsum("nij,nj->ni", inverse, pose.acceleration[:, rows] - drift[:, rows])
    rho = terms.c + np.einsum("nij,nj->ni", terms.M[:, :, driven], qdd)
    left, K_e = rho[:, soft], K[:, soft]
    if terms.A.shape[1] > len(driven):
        A_q, A_e = (np.swapaxes(terms.A[:, :, k], 1, 2) for k in (driven, soft))
        left = left - np.einsum("nea,na->ne", A_e, pose.choice.nearest(A_q, rho[:, driven]))
        K_e = K_e - A_e @ pose.choice.inverse(A_q) @ K[:, driven]
    J_e, K_ee, K_eq = J[:, rows][:, :, soft], K_e[:, :, soft], K_e[:, :, driven]
    reach = np.einsum("nij,nj->ni", inverse, error)
    good = (reasons == "") & np.all(np.isfinite(left), axis=1) & np.all(np.isfinite(reach), axis=1)
    de, dq = np.zeros_like(left), np.zeros_like(reach)
    de[good] = -solved((K_ee - K_eq @ inverse @ J_e)[good], (left + np.einsum("nij,nj->ni", K_eq, reach))[good])
    dq[good] = (reach - np.einsum("nij,nj->ni", inverse @ J_e, de))[good]
    return de, dq
