"""Jacobians at many poses, with the reason where a pose cannot be reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.closed_legs import platform_jacobian
from flexapod.analysis.model.closing_signs import reversed_joints
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.model.leg_model import leg_terms
from flexapod.analysis.model.leg_request import leg_request
from flexapod.analysis.requests.program_refusals import FLOATING, floating
from flexapod.analysis.requests.request import Request
from flexapod.analysis.requests.results import reasons_of
from flexapod.analysis.requests.state import State
from flexapod.analysis.verbs.inverse_kinematics import COMPONENTS, FOLLOW, solve_from_starts
from flexapod.arrays import Array
from flexapod.robot.elastic_plan import driven_columns

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True)
class PoseJacobians:
    """Jacobians per pose.

    Args:
        jacobian: (n, actuators, 6) actuator rates per twist.
        constraint: (n, rows, 6) independent constraint rows; no rows at full mobility.
        margin: (n, legs) distance to type 1.
        reasons: where a pose cannot be reached, else empty.
        status: of the kernel.
        joints: (n, joints) coordinates, where all loops were closed together; else None.
    """

    jacobian: Array
    constraint: Array
    margin: Array
    reasons: NDArray[Any]
    status: NDArray[np.int32]
    joints: Array | None = None

    @property
    def rows(self) -> Array:
        """[J; G] (n, m, 6)."""
        return np.concatenate([self.jacobian, self.constraint], axis=1)


def pose_jacobians(robot: Robot, position: Array, rotation: Array) -> PoseJacobians:
    """Evaluate the Jacobian kernel at poses (n, 3), (n, 3, 3); where loops tie legs or the platform, all together."""
    if not robot.follows_platform or robot.floats:
        return _of_all_loops(robot, position, rotation)
    bound = kernel(robot, "jacobian", joints=False)
    inputs = {"position": np.ascontiguousarray(position), "rotation": np.ascontiguousarray(rotation)}
    batch, given = solve_from_starts(bound, inputs)
    reasons = reasons_of(bound.signature, batch.status, given).astype(object)
    out, kept = batch.outputs, list(robot.plan.constraints)
    G = out["constraint_jacobian"] if "constraint_jacobian" in out else np.zeros((len(position), 0, 6))
    if "constraint" in out:
        off = np.abs(out["constraint"]).max(axis=1) > FOLLOW * max(1.0, robot.characteristic_length)
        for i in np.flatnonzero(off & (reasons == "")):
            reasons[i] = f"the robot cannot reach this pose: it cannot follow {forbidden(robot, G[i], out['constraint'][i])}"
        reasons = np.where(reasons == "", reversed_joints(robot, given), reasons)
    return PoseJacobians(
        jacobian=out["jacobian"], constraint=G[:, kept], margin=out["margin"], reasons=reasons, status=batch.status
    )


def _of_all_loops(robot: Robot, position: Array, rotation: Array) -> PoseJacobians:
    r"""Jacobians from the platform's twist per independent rate, V = P u', and the actuators' q' = A u'.

    .. math:: J = A P^+,\qquad G P = 0

    The distance to type 1 is the smallest singular value of P with dimensionless columns of length 1, the same for all legs.
    """
    if robot.floats:
        raise floating(robot, *FLOATING["jacobian"])
    reasons, length = np.full(len(position), "", dtype=object), robot.characteristic_length
    at = Request(at=State(position=position, rotation=rotation), elastic="zero", friction=False)
    state = leg_request(robot, at, reasons).state
    if not robot.elastic_names:
        wrong = reversed_joints(robot, {"position": position, "rotation": rotation}, np.array(state.joint_position))
        reasons[reasons == ""] = wrong[reasons == ""]
    P, _ = platform_jacobian(robot, state, reasons)
    scale, moves = np.array([length] * 3 + [1.0] * 3), 6 - len(robot.plan.constraints)
    usable = np.all(np.isfinite(P), axis=(1, 2)) & (reasons == "")
    P, driven = np.where(usable[:, None, None], P, 0.0) / scale[:, None], driven_columns(robot)
    J, G = np.zeros((len(P), len(driven), 6)), np.zeros((len(P), 6 - moves, 6))
    margin, A = np.zeros((len(P), len(robot.legs))), np.zeros((len(P), len(driven), P.shape[2]))
    A[usable] = leg_terms(robot, state, np.zeros((len(P), 6)), False, reasons).A[usable]
    U, _, _ = np.linalg.svd(P[usable])
    J[usable] = A[usable] @ np.linalg.pinv(P[usable], rcond=1e-12) / scale
    G[usable] = np.swapaxes(U[:, :, moves:], 1, 2) / scale
    size = np.linalg.norm(P[usable], axis=1, keepdims=True)
    margin[usable] = np.linalg.svd(P[usable] / np.where(size > 0.0, size, 1.0), compute_uv=False)[:, moves - 1 : moves]
    status, joints = (reasons != "").astype(np.int32), np.array(state.joint_position)
    return PoseJacobians(jacobian=J, constraint=G, margin=margin, reasons=reasons, status=status, joints=joints)


def forbidden(robot: Robot, G: Array, residual: Array) -> str:
    """Components of the platform that a residual of its constraints belongs to: the smallest correction, main parts by name."""
    scale = np.array([robot.characteristic_length] * 3 + [1.0] * 3)
    size = np.nan_to_num(residual)
    size = size / max(float(np.abs(size).max()), 1e-300)  # products of the largest numbers overflow
    return " and ".join(main_parts(np.abs(np.linalg.pinv(G * scale, rcond=1e-8) @ size)))


def main_parts(size: Array) -> list[str]:
    """Names of the components above a tenth of the largest, largest first; equal ones (up to rounding) in their own order."""
    part = np.round(size / size.max(), 6)
    return [COMPONENTS[k] for k in np.argsort(-part, kind="stable") if part[k] > 0.1]
