r"""Kinematics of robots with a flexible platform: deformed joints, points and energy.

A material point is at r = r_0 + Phi_d e in platform axes and its surroundings are turned by Phi_r e (small angles):

.. math:: V_t = V_p + \begin{bmatrix}\Phi_d\\ \Phi_r\end{bmatrix}\dot e \qquad\text{(Long 2014 Eq. 14)}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.model.closed_state import closed_request
from flexapod.analysis.model.continuous_angles import continue_angles
from flexapod.analysis.model.elastic_coordinates import ElasticCoordinates, elastic_state
from flexapod.analysis.model.flexible_load import MODAL_UNIT, Point, displacements, flexible_load, shapes_at
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.request import Request
from flexapod.analysis.requests.results import OnError, dataset, raise_failed, reasons_of
from flexapod.analysis.requests.state import State
from flexapod.analysis.requests.validity import warn_beyond
from flexapod.analysis.verbs.inverse_kinematics import platform_inputs
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.argument_checks import real_array
from flexapod.motions.motion import ActuatorMotion, Motion
from flexapod.motions.rotations import rotvec_motion

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.results import Variable
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot

Given = tuple[Any, Any, Any]
UNITS = {
    "position": "m",
    "velocity": "m/s",
    "angular_velocity": "rad/s",
    "acceleration": "m/s^2",
    "angular_acceleration": "rad/s^2",
}


def _elastic(
    robot: Robot, motion: StateOrMotion, given: Given, reasons: Reasons
) -> tuple[dict[str, Array], ElasticCoordinates, Array]:
    """Platform inputs, elastic coordinates and rates, and elastic accelerations (n, N)."""
    if isinstance(motion, ActuatorMotion):
        raise InputError("motion: the actuators alone do not fix a flexible platform; give a Motion of the platform frame")
    inputs = platform_inputs(motion)
    load = flexible_load(robot, inputs, None, None, "world")
    e = elastic_state(robot, motion, inputs, load, reasons, elastic=given[0], elastic_velocity=given[1])
    if given[2] is None:
        return inputs, e, _second(robot, inputs, e)
    array = np.asarray(given[2])
    second = real_array("elastic_acceleration", array, e.elastic.shape[1:] if array.ndim == 1 else e.elastic.shape)
    return inputs, e, np.array(np.broadcast_to(second, e.elastic.shape))


def _second(robot: Robot, inputs: dict[str, Array], e: ElasticCoordinates) -> Array:
    """Elastic accelerations: of the inverse model where coordinates were simulated, else zero."""
    none = np.zeros_like(e.elastic)
    if e.source != "simulate":
        return none
    bound = kernel(robot, "flexible_inverse_dynamics")
    given = {**inputs, "elastic": e.elastic, "elastic_velocity": e.elastic_velocity, "elastic_load": none}
    given["wrench"] = np.zeros((len(none), 6))
    return np.asarray(bound.batch({i.name: given[i.name] for i in bound.signature.inputs}).outputs["elastic_acceleration"])


def flexible_inverse_kinematics(robot: Robot, request: Request) -> xr.Dataset:
    """Actuators, joints and bodies with the deformed joints; see `inverse_kinematics`.

    Checked by: tests/analysis/test_flexible_kinematics.py.
    """
    motion, on_error = request.at, request.on_error
    reasons = np.full(len(motion), "", dtype=object)
    inputs, e, second = _elastic(robot, motion, request.given, reasons)
    at = {**inputs, "elastic": e.elastic, "elastic_velocity": e.elastic_velocity, "elastic_acceleration": second}
    variables: dict[str, Variable] = {}
    for detail in [d for d, wanted in (("joints", request.joints), ("bodies", request.bodies)) if wanted] or ["actuators"]:
        bound = kernel(robot, "flexible_kinematics", detail=detail)
        own = {i.name: at[i.name] for i in bound.signature.inputs}
        batch = bound.batch(own)
        why = reasons_of(bound.signature, batch.status, own)
        reasons[reasons == ""] = why[reasons == ""]
        variables.update({o.name: (o.dims, batch.outputs[o.name], o.unit) for o in bound.signature.outputs})
    raise_failed("inverse kinematics", robot, reasons.astype(str), motion, on_error)
    for _, values, _ in variables.values():
        values[reasons != ""] = np.nan
    continue_angles(robot, variables, along=isinstance(motion, Motion))
    warn_beyond(robot, e.elastic, motion)
    result = dataset(robot, variables, motion, reasons.astype(str) if on_error == "mask" else None)
    return result.assign_attrs(elastic=e.source)


def flexible_point_motion(robot: Robot, request: Request, place: Array) -> xr.Dataset:
    """Motion of a material point of the deformed platform; see `point_motion`.

    The surroundings of the point are turned by the rotation vector Phi_r e against the frame: a true rotation.

    Checked by: tests/analysis/test_flexible_kinematics.py.
    """
    motion, name, on_error = request.at, request.point_name, request.on_error
    reasons = np.full(len(motion), "", dtype=object)
    inputs, e, second = _elastic(robot, motion, request.given, reasons)
    raise_failed("point motion", robot, reasons.astype(str), motion, on_error)
    warn_beyond(robot, e.elastic, motion)
    point = shapes_at(robot, place, f"point '{name}'")
    values = deformed_point(inputs, point, e.elastic, e.elastic_velocity, second)
    variables: dict[str, Variable] = {}
    for key, array in values.items():
        variables[key] = (("axis", "body_axis") if key == "rotation" else ("axis",), array, UNITS.get(key, ""))
    result = dataset(robot, variables, motion, reasons.astype(str) if on_error == "mask" else None)
    return result.assign_attrs(point=name, body="platform", elastic=e.source)


def deformed_point(inputs: dict[str, Array], point: Point, e: Array, ed: Array, edd: Array) -> dict[str, Array]:
    """Pose, twist and acceleration (n, ..) of a material point, world axes.

    Source: Long 2014 Eqs. (11)-(14), (18), (22). Checked by: tests/analysis/test_flexible_kinematics.py.
    """
    R, w, alpha = inputs["rotation"], inputs["angular_velocity"], inputs["angular_acceleration"]

    def world(vectors: Array) -> Array:
        return np.asarray(np.einsum("nij,nj->ni", R, vectors))

    Phi = point.columns(e)
    r = world(point.r0 + point.shift(e))
    twice = np.einsum("nai,ni->na", Phi, edd)
    if point.Q is not None:
        twice = twice + np.einsum("aij,ni,nj->na", point.Q, ed, ed)
    rate, second = world(np.einsum("nai,ni->na", Phi, ed)), world(twice)
    own_R, own_w, own_alpha = rotvec_motion(e @ point.Phi_r.T, ed @ point.Phi_r.T, edd @ point.Phi_r.T)  # relative to the frame
    own_w, own_alpha = world(own_w), world(own_alpha)
    spin = np.cross(w, r)
    return {
        "position": inputs["position"] + r,
        "rotation": R @ own_R,
        "velocity": inputs["velocity"] + spin + rate,
        "angular_velocity": w + own_w,
        "acceleration": inputs["acceleration"] + np.cross(alpha, r) + np.cross(w, spin + 2 * rate) + second,
        "angular_acceleration": alpha + own_alpha + np.cross(w, own_w),
    }


@checked
def deformation(
    robot: Robot,
    motion: Motion | State,
    *,
    elastic: ArrayLike | None = None,
    elastic_velocity: ArrayLike | None = None,
    on_error: OnError = "raise",
) -> xr.Dataset:
    """Deformation of a flexible platform at its origin and at each joint, in platform axes.

    Args:
        motion: a `Motion` or `State`s of the platform frame.
        elastic, elastic_velocity: as for `inverse_dynamics`.
    Returns:
        Dataset: `displacement` (.., axis) [m] and `rotation_vector` (.., axis) [rad] of the material at the platform origin,
        where the body has shapes there, and `joint_displacement` (.., leg, axis) [m]; `elastic` and `elastic_velocity` that
        they belong to.

    Source: Long 2014 Eqs. (12), (14), Figs. 6, 7. Checked by: tests/analysis/test_flexible_kinematics.py.
    """
    refuse(robot, "deformation", elastic=elastic, elastic_velocity=elastic_velocity)
    reasons = np.full(len(motion), "", dtype=object)
    found = closed_request(robot, Request(at=motion, elastic=elastic, elastic_velocity=elastic_velocity), reasons)
    raise_failed("deformation", robot, reasons.astype(str), motion, on_error)
    e, ed = found.state.elastic(robot)
    variables = displacements(robot, found.state.modes)
    variables["elastic"] = (("elastic_coordinate",), e, MODAL_UNIT)
    variables["elastic_velocity"] = (("elastic_coordinate",), ed, "1/s of the coordinate")
    return dataset(robot, variables, motion, reasons.astype(str) if on_error == "mask" else None).assign_attrs(
        elastic=found.source
    )


def flexible_energy(robot: Robot, request: Request) -> xr.Dataset:
    """Kinetic and potential energy [J], the elastic part included and given by itself as `elastic`; see `energy`."""
    from flexapod.analysis.model.flexible_dynamics import flexible_terms

    state = request.at
    terms, _, e = flexible_terms(robot, state, "raise")
    inputs = platform_inputs(state)
    rates = np.concatenate([inputs["velocity"], inputs["angular_velocity"], e.elastic_velocity], axis=1)
    kinetic = np.einsum("ni,nij,nj->n", rates, terms["mass_matrix"], rates) / 2.0
    bound = kernel(robot, "flexible_kinematics", detail="bodies")
    none = np.zeros_like(e.elastic)
    at = {**inputs, "elastic": e.elastic, "elastic_velocity": none, "elastic_acceleration": none}
    found = bound.batch({i.name: at[i.name] for i in bound.signature.inputs}).outputs
    body = robot.flexible_platform
    assert body is not None
    elastic = body.elastic_energies(e.elastic)
    potential = elastic - np.einsum("nij,nj->ni", inputs["rotation"], e.elastic @ body.MS_de.T) @ robot.gravity
    for k, part in enumerate(robot.bodies_by_name.values()):
        p, R = found["body_position"][:, k], found["body_rotation"][:, k]
        moment = part.body_axes.T @ part.first_moment
        potential = potential - (part.mass * p + R @ moment) @ robot.gravity
    variables = {"kinetic": ((), kinetic, "J"), "potential": ((), potential, "J"), "elastic": ((), elastic, "J")}
    return dataset(robot, variables, state)
