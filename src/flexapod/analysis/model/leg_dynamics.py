"""Dynamics in independent coordinates: forces and accelerations by one compiled kernel, mass matrix, generalized forces, energy.

Robots with few coordinates run one compiled kernel; where there are many, kernels give the terms and NumPy solves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.closed_legs import ClosedLegs, LegRequest, evaluate, platform_jacobian
from flexapod.analysis.model.general_dynamics import SINGULAR, chosen_forces, prescribed_rows, quiet
from flexapod.analysis.model.leg_model import LegTerms, elastic_columns, leg_terms, matrices_at
from flexapod.analysis.model.leg_request import leg_request
from flexapod.analysis.model.linear_solve import MASSLESS, inverted, solved
from flexapod.analysis.model.redundancy import Redundancy
from flexapod.analysis.requests.loads import forces, note_force
from flexapod.analysis.requests.properties import COMPILED
from flexapod.analysis.requests.results import TWIST, OnError, Variable, dataset, force_unit, raise_failed
from flexapod.analysis.requests.state import unaccelerated
from flexapod.analysis.requests.validity import spin_variable, warn_beyond
from flexapod.arrays import Array
from flexapod.robot.elastic_plan import driven_columns

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.request import Request
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot

Variables = dict[str, Variable]


def leg_inverse_dynamics(robot: Robot, asked: Request) -> xr.Dataset:
    """Actuator forces and elastic accelerations of a motion; see `inverse_dynamics`.

    Source: Briot 2014 Eqs. (41)-(44). Checked by: tests/analysis/test_flexible_legs.py.
    """
    motion, friction = asked.at, asked.friction
    reasons = no_reasons(motion)
    request = leg_request(robot, asked, reasons)
    force, z = solve_inverse(robot, request, friction, reasons)
    raise_failed("inverse dynamics", robot, reasons.astype(str), motion, asked.on_error)
    rates = request.state.actuators(robot)[1]
    variables: Variables = {
        "force": (("actuator",), force, force_unit(robot)),
        "power": (("actuator",), force * rates, "W"),
        "elastic_acceleration": (("elastic_coordinate",), z[:, elastic_columns(robot)], "1/s^2 of the coordinate"),
        **state_variables(robot, request.state),
    }
    return labelled(robot, motion, variables, reasons, asked.on_error).assign_attrs(
        friction=int(friction), elastic=request.source
    )


def solve_inverse(robot: Robot, request: LegRequest, friction: bool, reasons: Reasons) -> tuple[Array, Array]:
    """Actuator forces (n, actuators) and accelerations of all coordinates (n, z)."""
    state, in_one = request.state, len(robot.elastic_plan.columns) <= COMPILED and request.wrench.shape[1] == 6
    if request.actuator_acceleration is not None and in_one:
        given = {**state.inputs(), "actuator_acceleration": request.actuator_acceleration, "wrench": request.wrench}
        loaded = bool(np.any(request.wrench))
        found = evaluate(robot, "elastic_inverse_dynamics", given, reasons, friction=friction, load=loaded)
        return found["force"], found["coordinate_acceleration"]
    terms = leg_terms(robot, state, request.wrench, friction, reasons)
    J, right = prescribed_rows(robot, request, terms, reasons)
    plain = Redundancy.plain(len(robot.actuators))
    force, u = chosen_forces(terms, J, right, terms.c, quiet(robot, terms, J, right, terms.c, plain))
    _reported(np.concatenate([force, u], axis=1), SINGULAR, reasons)
    return force, np.einsum("nzu,nu->nz", terms.N, u) + terms.beta


def _reported(x: Array, what: str, reasons: Reasons) -> None:
    """Give a reason to samples whose solution is not finite."""
    reasons[np.any(~np.isfinite(x), axis=1) & (reasons == "")] = what


def leg_forward_dynamics(robot: Robot, asked: Request) -> xr.Dataset:
    """Accelerations under forces; see `forward_dynamics`.

    Source: Briot 2014 Eq. (44). Checked by: tests/analysis/test_flexible_legs.py.
    """
    reasons, friction = no_reasons(asked.at), asked.friction
    request = leg_request(robot, replace(unaccelerated(asked), friction=False), reasons)
    given, closed = forces(robot, asked.force, len(reasons)), request.state
    note_force(given, reasons)
    if len(robot.elastic_plan.columns) <= COMPILED and request.wrench.shape[1] == 6:
        loaded = bool(np.any(request.wrench))
        inputs = {**closed.inputs(), "force": given, "wrench": request.wrench}
        found = evaluate(robot, "elastic_forward_dynamics", inputs, reasons, friction=friction, load=loaded)
        z, u = found["coordinate_acceleration"], found["independent_acceleration"]
        _reported(u, MASSLESS, reasons)
    else:
        terms = leg_terms(robot, closed, request.wrench, friction, reasons)
        u = solved(terms.M, np.einsum("nau,na->nu", terms.A, given) - terms.c)
        _reported(u, MASSLESS, reasons)
        z = np.einsum("nzu,nu->nz", terms.N, u) + terms.beta
    J, drift = platform_jacobian(robot, closed, reasons)
    V = np.einsum("niu,nu->ni", J, u) + drift
    raise_failed("forward dynamics", robot, reasons.astype(str), asked.at, asked.on_error)
    variables: Variables = {
        "acceleration": (("axis",), V[:, :3], "m/s^2"),
        "angular_acceleration": (("axis",), V[:, 3:], "rad/s^2"),
        "elastic_acceleration": (("elastic_coordinate",), z[:, elastic_columns(robot)], "1/s^2 of the coordinate"),
        "actuator_acceleration": (("actuator",), z[:, driven_columns(robot)], "m/s^2 or rad/s^2"),
        **state_variables(robot, closed),
    }
    return labelled(robot, asked.at, variables, reasons, asked.on_error).assign_attrs(elastic=request.source)


def no_reasons(motion: StateOrMotion) -> NDArray[Any]:
    """An empty reason per sample of a motion or state."""
    return np.full(len(motion), "", dtype=object)


def state_variables(robot: Robot, state: ClosedLegs) -> Variables:
    """The state that a result was computed for: elastic coordinates, platform pose."""
    e, ed = state.elastic(robot)
    return {
        "elastic": (("elastic_coordinate",), e, "m or rad"),
        "elastic_velocity": (("elastic_coordinate",), ed, "m/s or rad/s"),
        "actuator_position": (("actuator",), state.actuators(robot)[0], "m or rad"),
        "position": (("axis",), np.array(state.position), "m"),
        "rotation": (("axis", "platform_axis"), np.array(state.rotation), ""),
        **spin_variable(robot, state),
    }


def labelled(robot: Robot, at: object, variables: Variables, reasons: Reasons, on_error: OnError) -> xr.Dataset:
    """A result; failed samples are NaN."""
    for _, values, _ in variables.values():
        values[reasons != ""] = np.nan
    return dataset(robot, variables, at, reasons.astype(str) if on_error == "mask" else None)


def general_term(robot: Robot, asked: Request, which: str) -> tuple[Array, list[str]]:
    """Mass matrix (n, k, k) or generalized force (n, k): ``"mass_matrix"``, ``"gravity_force"``, ``"coriolis_force"``.

    Coordinates: ``"independent"`` and ``"actuator"`` are those of ``robot.independent``; ``"platform"`` (v, omega, elastic).
    """
    from flexapod.analysis.model.closed_state import closed_request

    reasons, state, on_error = no_reasons(asked.at), asked.at, asked.on_error
    request = closed_request(robot, replace(unaccelerated(asked), friction=False), reasons)
    terms = leg_terms(robot, request.state, request.wrench, False, reasons)
    raise_failed(which.replace("_", " "), robot, reasons.astype(str), state, on_error)
    warn_beyond(robot, request.state.elastic(robot)[0], state)
    values, names = _chosen(robot, request.state, terms, which, reasons), list(robot.independent)
    if asked.coordinates != "platform":
        return values, names
    J, drift = platform_jacobian(robot, request.state, reasons)
    S = np.concatenate([J, terms.N[:, elastic_columns(robot)]], axis=1)
    back = inverted(S)
    _reported(back.reshape(len(back), -1), "singular: platform and elastic coordinates do not determine this pose", reasons)
    raise_failed(which.replace("_", " "), robot, reasons.astype(str), state, on_error)
    if values.ndim == 3:
        return np.swapaxes(back, 1, 2) @ values @ back, [*TWIST, *robot.elastic_names]
    if which == "coriolis_force":  # at zero accelerations of platform and elastic coordinates, not of the independent ones
        drift = np.concatenate([drift, terms.beta[:, elastic_columns(robot)]], axis=1)
        values = values - np.einsum("nij,njk,nk->ni", terms.M, back, drift)
    return np.einsum("nij,ni->nj", back, values), [*TWIST, *robot.elastic_names]


def _chosen(robot: Robot, state: ClosedLegs, terms: LegTerms, which: str, reasons: Reasons) -> Array:
    if which == "mass_matrix":
        return terms.M
    free = robot.with_parameters({"gravity": [0.0, 0.0, 0.0]})
    none = np.zeros((len(reasons), 6))
    weightless = leg_terms(free, state, none, False, reasons)
    if which == "gravity_force":
        return terms.c - weightless.c
    still = ClosedLegs(**{k: np.zeros_like(v) if "velocity" in k else v for k, v in state.inputs().items()})
    _, D = matrices_at(robot, state, reasons)
    moving = np.einsum("nzu,nu->nz", terms.N, independent_rates_at(robot, state))
    damping = np.einsum("nzu,nz->nu", terms.N, np.einsum("nzy,ny->nz", np.broadcast_to(D, (len(reasons), *D.shape[1:])), moving))
    return np.asarray(weightless.c - leg_terms(free, still, none, False, reasons).c - damping)


def independent_rates_at(robot: Robot, state: ClosedLegs) -> Array:
    """Rates (n, u) of the independent coordinates."""
    z = np.concatenate([state.modes_velocity, state.joint_velocity], axis=1)
    if robot.elastic_plan.carrier is None:
        z = np.concatenate([state.velocity, state.angular_velocity, z], axis=1)
    return np.asarray(z[:, list(robot.elastic_plan.independent)])


def general_energy(robot: Robot, asked: Request) -> xr.Dataset:
    """Kinetic and potential energy [J], the elastic part by itself as `elastic`; see `energy`."""
    from flexapod.analysis.model.closed_state import closed_request

    reasons, state = no_reasons(asked.at), asked.at
    request = closed_request(robot, replace(unaccelerated(asked), friction=False), reasons)
    raise_failed("energy", robot, reasons.astype(str), state, "raise")
    warn_beyond(robot, request.state.elastic(robot)[0], state)
    kinetic, potential, elastic = energies(robot, request.state)
    parts = {"kinetic": kinetic, "potential": potential + elastic, "elastic": elastic}
    return dataset(robot, {name: ((), values, "J") for name, values in parts.items()}, state)


def energies(robot: Robot, state: ClosedLegs) -> tuple[Array, Array, Array]:
    """Kinetic energy, potential of gravity, energy of beams and springs [J], (n,) each."""
    reasons = np.full(len(state.position), "", dtype=object)
    terms = leg_terms(robot, state, np.zeros((len(reasons), 6)), False, reasons)
    rates = independent_rates_at(robot, state)
    kinetic = np.einsum("ni,nij,nj->n", rates, terms.M, rates) / 2.0
    found = evaluate(robot, "elastic_potential", state.inputs(), reasons)
    return kinetic, found["gravity_potential"], found["elastic_potential"]
