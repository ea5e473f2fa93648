"""Linear model of a flexible platform on closed-form legs: M, K and actuator map about its equilibrium."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.flexible_dynamics import world_axes
from flexapod.analysis.model.flexible_equilibrium import MOVING, equilibrium, pose_of
from flexapod.analysis.model.flexible_load import MODAL_UNIT, flexible_load
from flexapod.analysis.model.flexible_tangent import tangent_of
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.model.small_motions import LinearMatrices
from flexapod.analysis.requests.results import TWIST, reasons_of
from flexapod.analysis.verbs.inverse_kinematics import platform_inputs
from flexapod.motions.argument_checks import real_array

if TYPE_CHECKING:
    from flexapod.analysis.requests.request import Request
    from flexapod.analysis.requests.results import Variable
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot


def flexible_model(robot: Robot, request: Request, reasons: Reasons) -> LinearMatrices:
    """M, D, K and actuator map of a robot with a flexible platform at poses, world axes.

    Checked by: tests/analysis/test_flexible_frequencies.py.
    """
    state, prestress, inputs = request.at, request.prestress, platform_inputs(request.at)
    count, N = len(reasons), len(robot.elastic_names)
    still = {**inputs, **{name: np.zeros_like(inputs["velocity"]) for name in MOVING}}
    load = flexible_load(robot, inputs, *request.load)
    e, force = np.zeros((count, N)), np.zeros((count, len(robot.actuators)))
    if prestress:
        found = equilibrium(robot, still, load, state, reasons)
        e, force = found.elastic, found.force
    elif getattr(state, "elastic", None) is not None:
        e = np.array(real_array("elastic", state.elastic, (*state.position.shape[:-1], N))).reshape(count, N)
    whole = kernel(robot, "flexible_mass_matrix")
    at = {**still, "elastic": np.where(np.isfinite(e), e, 0.0), "elastic_velocity": np.zeros((count, N))}
    batch = whole.batch({i.name: np.ascontiguousarray(at[i.name]) for i in whole.signature.inputs})
    why = reasons_of(whole.signature, batch.status, {name: at[name] for name in ("position", "rotation")})
    reasons[reasons == ""] = why[reasons == ""]
    good = np.flatnonzero(reasons == "")
    body = robot.flexible_platform
    assert body is not None
    K, D = np.zeros((len(good), 6 + N, 6 + N)), np.zeros((len(good), 6 + N, 6 + N))
    K[:, 6:, 6:], D[:, 6:, 6:] = body.K_ee, body.D_ee
    if prestress and len(good):
        pose = {name: np.ascontiguousarray(values[good]) for name, values in pose_of(still).items()}
        acting = {"elastic": e[good], "force": force[good], **load.rows(good).inputs()}
        K = tangent_of(robot).batch({**pose, **acting}).outputs["stiffness"]
    T = world_axes(inputs["rotation"][good], N)
    Tt = np.swapaxes(T, 1, 2)
    variables: dict[str, Variable] = {"elastic": (("elastic_coordinate",), e, MODAL_UNIT)}
    if prestress:
        variables["force"] = (("actuator",), force, "N")
    return LinearMatrices(
        M=T @ batch.outputs["mass_matrix"][good] @ Tt,
        D=D,
        K=T @ K @ Tt,
        B=T @ batch.outputs["actuator_map"][good],
        P=np.tile(np.eye(6, 6 + N), (len(good), 1, 1)),
        rotation=inputs["rotation"][good],
        names=[*TWIST, *robot.elastic_names],
        good=good,
        variables=variables,
    )
