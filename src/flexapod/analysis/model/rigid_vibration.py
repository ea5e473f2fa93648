r"""Linear model of a rigid robot on actuator springs: M, and the stiffness due to gravity and holding forces.

.. math:: \rho(x) = g(x) - J(x)^T\Gamma - w,\qquad K_T = \frac{\partial\rho}{\partial x}

by sixth-order central differences of the exact gravity force g and Jacobian J over displacements and rotations of the platform,
world axes. Their error is about 1e-10 of g and J^T Gamma.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.model.point_load import moment_by_rotation
from flexapod.analysis.model.rigid_dynamics import state_inputs
from flexapod.analysis.model.small_motions import LinearMatrices
from flexapod.analysis.requests.loads import lever, platform_wrench
from flexapod.analysis.requests.results import TWIST
from flexapod.analysis.verbs.platform_motion import as_platform
from flexapod.arrays import Array
from flexapod.motions.rotations import rotvec_rotation

if TYPE_CHECKING:
    from flexapod.analysis.requests.request import Request
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot


STEP = 4e-3
"""Displacement of the differences, in characteristic lengths or radians."""

HELD = 1e-8
"""Force that is left over at an equilibrium, of the largest one: rounding of the Jacobian times its condition number."""

UNHELD = "the actuators cannot hold this pose (singular); prestress=False needs no equilibrium"

BORDER = "a neighbouring pose, needed to differentiate the prestress, cannot be reached; use prestress=False"
"""Reason why a pose at the border of reach has no prestress."""

WEIGHTS = {1: 3.0 / 4.0, 2: -3.0 / 20.0, 3: 1.0 / 60.0}


def rigid_model(robot: Robot, request: Request, reasons: Reasons) -> LinearMatrices:
    """M, K_T and actuator map of a rigid robot at poses, in its independent platform coordinates.

    Checked by: tests/analysis/test_flexible_frequencies.py.
    """
    inputs, why = state_inputs(robot, as_platform(robot, request.at))
    reasons[reasons == ""] = why[reasons == ""]
    terms = _terms(robot, inputs)
    dof = terms["basis"].shape[2]
    tangent, variables = np.zeros((len(reasons), dof, dof)), {}
    if request.prestress:
        load = platform_wrench(robot, inputs, *request.load)
        Jt = np.swapaxes(terms["jacobian"], 1, 2)
        force = np.full((len(reasons), Jt.shape[2]), np.nan)
        known = reasons == ""
        force[known] = np.einsum("nij,nj->ni", np.linalg.pinv(Jt[known]), (terms["gravity_force"] - load)[known])
        rest = np.abs(np.einsum("nij,nj->ni", Jt, force) - (terms["gravity_force"] - load)).max(axis=1)
        size = np.abs(terms["gravity_force"] - load).max(axis=1) + 1e-300
        reasons[known & ~(rest <= HELD * size)] = UNHELD
        known &= reasons == ""
        variables["force"] = (("actuator",), force, "N or N m")
        tangent = _derivative(robot, inputs, force)
        if request.point is not None and request.wrench is not None:  # the load goes with its point
            at_point = platform_wrench(robot, inputs, request.wrench, None, request.axes)
            tangent[:, 3:, 3:] -= moment_by_rotation(lever(robot, inputs["rotation"], request.point), at_point[:, :3])
        reasons[known & ~np.isfinite(tangent).all(axis=(1, 2))] = BORDER
    good = np.flatnonzero(reasons == "")
    N = terms["basis"][good]
    Nt = np.swapaxes(N, 1, 2)
    M = Nt @ terms["mass_matrix"][good] @ N
    B = Nt @ np.swapaxes(terms["jacobian"][good], 1, 2)
    names = [TWIST[i] for i in robot.plan.platform_independent]
    return LinearMatrices(
        M=M, D=np.zeros_like(M), K=tangent[good], B=B, P=N, rotation=inputs["rotation"][good], names=names, good=good,
        variables=variables,
    )  # fmt: skip


def _terms(robot: Robot, inputs: dict[str, Array]) -> dict[str, Array]:
    bound = kernel(robot, "mass_matrix")
    still = {**inputs, "velocity": np.zeros_like(inputs["velocity"]), "angular_velocity": np.zeros_like(inputs["velocity"])}
    return bound.batch({i.name: np.ascontiguousarray(still[i.name]) for i in bound.signature.inputs}).outputs


def _derivative(robot: Robot, inputs: dict[str, Array], force: Array) -> Array:
    """K_T (n, 6, 6): forces held, a load on the frame constant in the world."""
    count, length = len(force), robot.characteristic_length
    K = np.zeros((count, 6, 6))
    for j in range(6):
        h = STEP * (length if j < 3 else 1.0)
        for k, weight in WEIGHTS.items():
            for sign in (1.0, -1.0):
                dx = np.zeros(6)
                dx[j] = sign * k * h
                rotation = rotvec_rotation(dx[3:])
                moved = {**inputs, "position": inputs["position"] + dx[:3], "rotation": rotation @ inputs["rotation"]}
                terms = _terms(robot, moved)
                rho = terms["gravity_force"] - np.einsum("nji,nj->ni", terms["jacobian"], force)
                K[:, :, j] += sign * weight / h * rho
    return K
