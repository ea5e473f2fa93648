"""Mass matrix, generalized forces and energy of rigid robots whose legs follow from the platform."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.model.linear_solve import inverted
from flexapod.analysis.model.rigid_dynamics import evaluate_kernel, still_inputs
from flexapod.analysis.requests.results import TWIST, OnError, dataset, raise_failed
from flexapod.analysis.requests.sample_blocks import Room, SampleReasons, in_blocks, room_for
from flexapod.analysis.requests.state import State
from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics, joint_rates, platform_inputs
from flexapod.analysis.verbs.platform_motion import as_platform
from flexapod.arrays import Array
from flexapod.robot.varied_numbers import value_of

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.request import Request
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot

SINGULAR = "singular (type 2): the actuators do not determine the motion of the platform"


def rigid_term(robot: Robot, request: Request, which: str) -> tuple[Array, list[str]]:
    """Mass matrix (n, k, k) or generalized force (n, k) in the chosen coordinates, and their names.

    Checked by: tests/equations/test_formulations_agree.py, tests/analysis/test_fast_paths.py.
    """
    state = as_platform(robot, request.at)
    terms, reasons = _platform_terms(robot, state, request.on_error)
    T, names = _in_coordinates(robot, state, terms, request, reasons)
    whole = request.coordinates != "actuator" and len(names) == 6  # T is the unit matrix
    if which == "mass_matrix":
        return terms[which] if whole else np.swapaxes(T, 1, 2) @ terms[which] @ T, names
    force = terms[which]
    if which == "coriolis_force":
        if request.coordinates == "actuator":  # acceleration of the platform at zero actuator acceleration enters as well
            force = _actuator_bias(robot, state, terms, T)
        else:
            force = force if whole else force + np.einsum("nij,nj->ni", terms["mass_matrix"], terms["beta"])
    return force if whole else np.einsum("nij,ni->nj", T, force), names


def _platform_terms(robot: Robot, state: Motion | State, on_error: OnError) -> tuple[dict[str, Array], NDArray[Any]]:
    bound = kernel(robot, "mass_matrix")

    def block(part: dict[str, Array], rows: slice, room: Room) -> tuple[dict[str, Array], SampleReasons]:
        part, reasons = still_inputs(robot, part, rows)
        return evaluate_kernel(bound, part, reasons, rows=rows, out=room_for(bound.signature, room))

    outputs, reasons = in_blocks(platform_inputs(state), block)
    raise_failed("mass matrix", robot, reasons, state, on_error)
    return outputs, reasons.astype(object)


def _in_coordinates(
    robot: Robot, state: StateOrMotion, terms: dict[str, Array], request: Request, reasons: Reasons
) -> tuple[Array, list[str]]:
    """Twist per unit rate of the chosen coordinates (n, 6, k), and their names."""
    N = terms["basis"]
    if request.coordinates == "platform":
        return N, TWIST
    if request.coordinates == "independent":
        return N, [TWIST[i] for i in robot.plan.platform_independent]
    A = np.einsum("nai,nij->naj", terms["jacobian"], N)
    T = N @ inverted(A)
    reasons[~np.isfinite(T).all(axis=(1, 2)) & (reasons == "")] = SINGULAR
    raise_failed("actuator coordinates", robot, reasons.astype(str), state, request.on_error)
    return T, list(robot.actuators)


def _actuator_bias(robot: Robot, state: Motion | State, terms: dict[str, Array], T: Array) -> Array:
    """Velocity force with the actuators at zero acceleration: platform acceleration found from the second-order closing."""
    inputs = platform_inputs(state)
    zero = np.zeros_like(inputs["velocity"])
    beta = terms["beta"]
    bound = kernel(robot, "inverse_kinematics", detail="actuators")
    _, _, guess = joint_rates(robot, {**inputs, "acceleration": zero, "angular_acceleration": zero}, accelerations=False)
    given = {
        **inputs,
        "acceleration": np.ascontiguousarray(beta[:, :3]),
        "angular_acceleration": np.ascontiguousarray(beta[:, 3:]),
        "guess": guess,
    }
    qdd = bound.batch({i.name: given[i.name] for i in bound.signature.inputs}).outputs["actuator_acceleration"]
    acceleration = beta - np.einsum("nij,nj->ni", T, qdd)
    return np.asarray(terms["coriolis_force"] + np.einsum("nij,nj->ni", terms["mass_matrix"], acceleration))


def rigid_energy(robot: Robot, request: Request) -> xr.Dataset:
    """Kinetic and potential energy [J]; see `energy`."""
    state = as_platform(robot, request.at)
    terms, _ = _platform_terms(robot, state, "raise")
    inputs = platform_inputs(state)
    twist = np.concatenate([inputs["velocity"], inputs["angular_velocity"]], axis=1)
    kinetic = np.einsum("ni,nij,nj->n", twist, terms["mass_matrix"], twist) / 2.0
    poses = State(position=inputs["position"], rotation=inputs["rotation"])
    found = inverse_kinematics(robot, poses, joints=False, bodies=True)
    potential = np.zeros(len(kinetic))
    gravity = _vector(robot, "gravity")
    for k, (mass, moment) in enumerate(_body_moments(robot)):
        p, R = found.body_position.values[:, k], found.body_rotation.values[:, k]
        potential -= np.sum((np.multiply(np.transpose(mass), p.T).T + (R @ moment[..., None])[..., 0]) * gravity, axis=-1)
    return dataset(robot, {"kinetic": ((), kinetic, "J"), "potential": ((), potential, "J")}, state)


def _vector(robot: Robot, name: str) -> Array:
    """Three numbers of the robot (3,), or (n, 3) where they vary."""
    return np.stack(np.broadcast_arrays(*(value_of(robot, f"{name}.{i}") for i in "xyz")), axis=-1)


def _body_moments(robot: Robot) -> Iterator[tuple[float | Array, Array]]:
    """Mass and first moment of every body about its origin, in the axes of the file; of the designs where they vary."""
    names = ["platform", *(f"legs.{leg.name}.{k.coordinate}.body" for leg in robot.legs for k in leg.links if k.body)]
    for name, body in zip(names, robot.bodies_by_name.values(), strict=True):
        yield value_of(robot, f"{name}.mass"), _vector(robot, f"{name}.first_moment") @ body.body_axes
