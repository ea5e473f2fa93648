"""Jacobians at many poses, with the reason where a pose cannot be taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.inverse_kinematics import COMPONENTS, FOLLOW, solve_from_home
from flexapod.analysis.kernels import kernel
from flexapod.analysis.results import reasons

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PoseJacobians:
    """Jacobians per pose.

    Args:
        jacobian: (n, actuators, 6) actuator rates per twist.
        constraint: (n, rows, 6) independent constraint rows; no rows at full mobility.
        margin: (n, legs) distance to type 1.
        words: reason where a pose cannot be taken, else empty.
        status: of the kernel.
    """

    jacobian: Array
    constraint: Array
    margin: Array
    words: NDArray[Any]
    status: NDArray[np.int32]

    @property
    def rows(self) -> Array:
        """[J; G] (n, m, 6)."""
        return np.concatenate([self.jacobian, self.constraint], axis=1)


def pose_jacobians(robot: Robot, position: Array, rotation: Array) -> PoseJacobians:
    """Evaluate the Jacobian kernel at poses (n, 3), (n, 3, 3)."""
    bound = kernel(robot, "jacobian", joints=False)
    inputs = {"position": np.ascontiguousarray(position), "rotation": np.ascontiguousarray(rotation)}
    batch, given = solve_from_home(bound, inputs)
    words = reasons(bound.signature, batch.status, given).astype(object)
    out, kept = batch.outputs, list(robot.plan.constraints)
    G = out["constraint_jacobian"] if "constraint_jacobian" in out else np.zeros((len(position), 0, 6))
    if "constraint" in out:
        off = np.abs(out["constraint"]).max(axis=1) > FOLLOW * max(1.0, robot.characteristic_length)
        for i in np.flatnonzero(off & (words == "")):
            words[i] = f"the robot cannot take this pose: it cannot follow {forbidden(robot, G[i], out['constraint'][i])}"
    return PoseJacobians(jacobian=out["jacobian"], constraint=G[:, kept], margin=out["margin"], words=words, status=batch.status)


def forbidden(robot: Robot, G: Array, residual: Array) -> str:
    """Components of the platform that a residual of its constraints belongs to: the smallest correction, main parts by name."""
    scale = np.array([robot.characteristic_length] * 3 + [1.0] * 3)
    return " and ".join(main_parts(np.abs(np.linalg.pinv(G * scale, rcond=1e-8) @ residual)))


def main_parts(size: Array) -> list[str]:
    """Names of the components above a tenth of the largest, largest first; equal ones (up to rounding) in their own order."""
    part = np.round(size / size.max(), 6)
    return [COMPONENTS[k] for k in np.argsort(-part, kind="stable") if part[k] > 0.1]
