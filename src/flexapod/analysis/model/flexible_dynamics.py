"""Verbs on robots with a flexible platform: inverse and forward dynamics, mass matrix, forces and energy.

A fast path of the verbs. World axes outside, platform axes in the kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.elastic_coordinates import ElasticCoordinates, elastic_state
from flexapod.analysis.model.flexible_load import MODAL_UNIT, flexible_load
from flexapod.analysis.model.kernels import evaluated, kernel
from flexapod.analysis.model.linear_solve import inverted
from flexapod.analysis.requests.loads import forces
from flexapod.analysis.requests.results import TWIST, OnError, check_option, dataset, force_unit, raise_failed
from flexapod.analysis.requests.validity import warn_beyond
from flexapod.analysis.verbs.inverse_kinematics import platform_inputs
from flexapod.arrays import Array

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.request import Request
    from flexapod.analysis.requests.results import Variable
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot

FORMULATIONS = ("auto", "virtual_power")
"""Names of the one compiled equation: that of the paper is by virtual power."""


def flexible_platform_inverse_dynamics(robot: Robot, request: Request) -> xr.Dataset:
    """Actuator forces and elastic accelerations of a motion; see `inverse_dynamics`.

    Source: Long 2014 Eqs. (44)-(49). Checked by: tests/analysis/test_flexible_dynamics.py.
    """
    motion = request.at
    check_option("formulation", request.formulation, FORMULATIONS)
    inputs = platform_inputs(motion)
    reasons = np.full(len(inputs["position"]), "", dtype=object)
    load = flexible_load(robot, inputs, *request.load)
    e = elastic_state(robot, motion, inputs, load, reasons, elastic=request.elastic, elastic_velocity=request.elastic_velocity)
    inputs["wrench"], inputs["elastic_load"] = load.at(inputs["rotation"], e.elastic)
    found = evaluated(robot, "flexible_inverse_dynamics", with_elastic(inputs, e), reasons)
    raise_failed("inverse dynamics", robot, reasons.astype(str), motion, request.on_error)
    force, power = found["force"], found["power"]
    variables: dict[str, Variable] = {
        "force": (("actuator",), force, force_unit(robot)),
        "power": (("actuator",), power, "W"),
        "elastic_acceleration": (("elastic_coordinate",), found["elastic_acceleration"], "1/s^2 of the coordinate"),
        **elastic_variables(e),
    }
    if "joint_force" in found:
        variables["joint_force"] = (("leg", "axis"), found["joint_force"], "N")
    _mask(variables, reasons)
    result = dataset(robot, variables, motion, reasons.astype(str) if request.on_error == "mask" else None)
    return result.assign_attrs(formulation=request.formulation, friction=0, elastic=e.source)


def flexible_platform_forward_dynamics(robot: Robot, request: Request) -> xr.Dataset:
    """Accelerations of platform frame and elastic coordinates under forces; see `forward_dynamics`.

    Checked by: tests/analysis/test_flexible_dynamics.py.
    """
    state = request.at
    check_option("formulation", request.formulation, FORMULATIONS)
    inputs = platform_inputs(state)
    still = {**inputs, **{k: np.zeros_like(inputs["velocity"]) for k in ("acceleration", "angular_acceleration")}}
    reasons = np.full(len(inputs["position"]), "", dtype=object)
    load = flexible_load(robot, inputs, *request.load)
    e = elastic_state(robot, state, still, load, reasons, elastic=request.elastic, elastic_velocity=request.elastic_velocity)
    inputs["wrench"], inputs["elastic_load"] = load.at(inputs["rotation"], e.elastic)
    inputs["force"] = forces(robot, request.force, len(reasons))
    found = evaluated(robot, "flexible_forward_dynamics", with_elastic(inputs, e), reasons)
    raise_failed("forward dynamics", robot, reasons.astype(str), state, request.on_error)
    variables: dict[str, Variable] = {
        "acceleration": (("axis",), found["acceleration"], "m/s^2"),
        "angular_acceleration": (("axis",), found["angular_acceleration"], "rad/s^2"),
        "elastic_acceleration": (("elastic_coordinate",), found["elastic_acceleration"], "1/s^2 of the coordinate"),
        **elastic_variables(e),
    }
    _mask(variables, reasons)
    result = dataset(robot, variables, state, reasons.astype(str) if request.on_error == "mask" else None)
    return result.assign_attrs(formulation=request.formulation, elastic=e.source)


def _mask(variables: dict[str, Variable], reasons: Reasons) -> None:
    for _, values, _ in variables.values():
        values[reasons != ""] = np.nan


def with_elastic(inputs: dict[str, Array], e: ElasticCoordinates) -> dict[str, Any]:
    """Kernel inputs with elastic coordinates."""
    return {**inputs, "elastic": e.elastic, "elastic_velocity": e.elastic_velocity}


def elastic_variables(e: ElasticCoordinates) -> dict[str, Variable]:
    """The elastic coordinates that a result was computed for."""
    return {
        "elastic": (("elastic_coordinate",), e.elastic.copy(), MODAL_UNIT),
        "elastic_velocity": (("elastic_coordinate",), e.elastic_velocity.copy(), f"1/s of {MODAL_UNIT}"),
    }


def flexible_terms(
    robot: Robot, state: State | Motion, on_error: OnError
) -> tuple[dict[str, Array], NDArray[Any], ElasticCoordinates]:
    """M, bias, gravity_force, coriolis_force (n, 6 + N ..) in world axes, and B (n, 6 + N, actuators)."""
    inputs = platform_inputs(state)
    still = {**inputs, **{k: np.zeros_like(inputs["velocity"]) for k in ("acceleration", "angular_acceleration")}}
    reasons = np.full(len(inputs["position"]), "", dtype=object)
    load = flexible_load(robot, inputs, None, None, "world")
    e = elastic_state(robot, state, still, load, reasons)
    given = with_elastic(inputs, e)
    found = evaluated(robot, "flexible_mass_matrix", given, reasons)
    raise_failed("mass matrix", robot, reasons.astype(str), state, on_error)
    warn_beyond(robot, e.elastic, state)
    T = world_axes(inputs["rotation"], e.elastic.shape[1])
    M = T @ found["mass_matrix"] @ np.swapaxes(T, 1, 2)
    bias = np.einsum("nij,nj->ni", T, found["bias"])
    bound = kernel(robot, "flexible_mass_matrix")
    weightless = bound.parameters.copy()
    weightless[[p.name.startswith("gravity.") for p in bound.signature.parameters]] = 0.0
    names = [i.name for i in bound.signature.inputs]
    free = bound.batch({k: given[k] for k in names}, weightless).outputs["bias"]
    free = np.einsum("nij,nj->ni", T, free)
    body = robot.flexible_platform
    assert body is not None
    spring = np.zeros_like(bias)
    spring[:, 6:] = body.elastic_forces(e.elastic) + e.elastic_velocity @ body.D_ee
    terms = {
        "mass_matrix": M, "bias": bias, "gravity_force": bias - free, "coriolis_force": free - spring,
        "actuator_map": T @ found["actuator_map"],
    }  # fmt: skip
    return terms, reasons, e


def flexible_term(robot: Robot, request: Request, which: str) -> tuple[Array, list[str]]:
    """Mass matrix (n, k, k) or generalized force (n, k) in the chosen coordinates, and their names."""
    from flexapod.analysis.model.rigid_terms import SINGULAR

    terms, reasons, _ = flexible_terms(robot, request.at, request.on_error)
    T, names = in_coordinates(robot, terms, request.coordinates)
    reasons[~np.isfinite(T).all(axis=(1, 2)) & (reasons == "")] = SINGULAR
    raise_failed("actuator coordinates", robot, reasons.astype(str), request.at, request.on_error)
    if which == "mass_matrix":
        return np.einsum("nij,nik,nkl->njl", T, terms[which], T), names
    return np.einsum("nij,ni->nj", T, terms[which]), names


def world_axes(rotation: Array, modes: int) -> Array:
    """(n, 6 + N, 6 + N): coordinates of platform axes to world axes, elastic ones as they are."""
    T = np.tile(np.eye(6 + modes), (len(rotation), 1, 1))
    T[:, :3, :3], T[:, 3:6, 3:6] = rotation, rotation
    return T


def in_coordinates(robot: Robot, terms: dict[str, Array], coordinates: str) -> tuple[Array, list[str]]:
    """Rates (n, 6 + N, k) of platform and elastic coordinates per rate of the chosen ones, and their names.

    ``"platform"`` and ``"independent"`` are (v, omega in world axes, elastic); ``"actuator"`` is (actuators, elastic): the
    platform follows from q' = B_p^T V + B_e^T e'.
    """
    B = terms["actuator_map"]
    n, N = B.shape[1], B.shape[1] - 6
    elastic = list(robot.elastic_names)
    T = np.tile(np.eye(n), (len(B), 1, 1))
    if coordinates != "actuator":
        return T, [*TWIST, *elastic]
    back = inverted(np.swapaxes(B[:, :6], 1, 2))
    T[:, :6, :6], T[:, :6, 6:] = back, -back @ np.swapaxes(B[:, 6:], 1, 2)
    assert T.shape[2] == 6 + N
    return T, [*robot.actuators, *elastic]
