"""Closed coordinates of all joints from a request (motion or state, elastic coordinates, load), for any robot.

Legs with a closed form are closed by it, deformed joints included; rigid general legs by inverse kinematics; what deforms itself
by Newton's method from its neighbour or from home (`leg_request`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.closed_legs import ClosedLegs, LegRequest
from flexapod.analysis.model.elastic_coordinates import elastic_state
from flexapod.analysis.model.flexible_load import flexible_load
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.model.leg_request import leg_request
from flexapod.analysis.model.redundancy import redundancy
from flexapod.analysis.requests.fast_paths import answer
from flexapod.analysis.requests.loads import platform_wrench
from flexapod.analysis.requests.results import reasons_of
from flexapod.analysis.verbs.inverse_kinematics import failures, platform_inputs, solve_from_starts
from flexapod.analysis.verbs.platform_motion import as_platform
from flexapod.arrays import Array

if TYPE_CHECKING:
    from flexapod.analysis.requests.request import Request
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot


def closed_request(robot: Robot, request: Request, reasons: Reasons) -> LegRequest:
    """Closed states of a request.

    Args:
        reasons: per sample, added to.

    Checked by: tests/analysis/test_general_dynamics.py.
    """
    found: LegRequest = answer(robot, "closed_state", replace(request, formulation="auto"), reasons)
    return found


def from_elastic_legs(robot: Robot, request: Request, reasons: Reasons) -> LegRequest:
    """Closed states of robots with flexible legs, or given by their actuators: Newton's method from the neighbour or home."""
    return leg_request(robot, request, reasons, redundancy(robot, request))


def from_platform(robot: Robot, request: Request, reasons: Reasons) -> LegRequest:
    """Closed states of rigid legs, from the platform by inverse kinematics."""
    inputs = platform_inputs(as_platform(robot, request.at))
    none = np.zeros((len(reasons), 0))
    bound = kernel(robot, "inverse_kinematics", detail="joints")
    batch, given = solve_from_starts(bound, inputs)
    why = failures(robot, bound, batch, given, False, None)
    if why is not None:
        reasons[reasons == ""] = why[reasons == ""]
    joints = (batch.outputs["joint_position"], batch.outputs["joint_velocity"])
    return _closed(inputs, joints, (none, none), platform_wrench(robot, inputs, *request.load), "zero")


def from_flexible_platform(robot: Robot, request: Request, reasons: Reasons) -> LegRequest:
    """Closed states of closed-form legs, from the deformed joints of a flexible platform."""
    inputs = platform_inputs(request.at)
    acting = flexible_load(robot, inputs, *request.load)
    found = elastic_state(
        robot, request.at, inputs, acting, reasons, elastic=request.elastic, elastic_velocity=request.elastic_velocity
    )
    modes, rates = found.elastic, found.elastic_velocity
    wrench = np.concatenate(acting.at(inputs["rotation"], modes), axis=1)
    bound = kernel(robot, "flexible_kinematics", detail="joints")
    at = {**inputs, "elastic": modes, "elastic_velocity": rates, "elastic_acceleration": np.zeros_like(modes)}
    given = {i.name: at[i.name] for i in bound.signature.inputs}
    batch = bound.batch(given)
    why = reasons_of(bound.signature, batch.status, given)
    reasons[reasons == ""] = why[reasons == ""]
    joints = (batch.outputs["joint_position"], batch.outputs["joint_velocity"])
    return _closed(inputs, joints, (modes, rates), wrench, found.source)


def _closed(
    inputs: dict[str, Array], joints: tuple[Array, Array], modes: tuple[Array, Array], wrench: Array, source: str
) -> LegRequest:
    state = ClosedLegs(
        joint_position=joints[0], joint_velocity=joints[1], position=inputs["position"], rotation=inputs["rotation"],
        velocity=inputs["velocity"], angular_velocity=inputs["angular_velocity"], modes=modes[0], modes_velocity=modes[1],
    )  # fmt: skip
    acceleration = np.concatenate([inputs["acceleration"], inputs["angular_acceleration"]], axis=1)
    return LegRequest(state=state, actuator_acceleration=None, acceleration=acceleration, wrench=wrench, source=source)
