"""Static deflection and small motions in independent coordinates, of any robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.closed_legs import ClosedLegs, evaluate, platform_jacobian
from flexapod.analysis.model.flexible_equilibrium import refuse_unbalanced
from flexapod.analysis.model.leg_dynamics import labelled, no_reasons, state_variables
from flexapod.analysis.model.leg_model import holding_forces, leg_stiffness, leg_terms, matrices_at
from flexapod.analysis.model.leg_request import leg_request
from flexapod.analysis.model.linear_solve import solved
from flexapod.analysis.model.load_sequence import load_sequence
from flexapod.analysis.model.point_load import load_rows
from flexapod.analysis.model.vibration import is_definite
from flexapod.analysis.requests.loads import is_loaded, refuse_out_of_plane
from flexapod.analysis.requests.properties import COMPILED
from flexapod.analysis.requests.request import NO_LOAD
from flexapod.analysis.requests.results import Variable, force_unit, raise_failed
from flexapod.analysis.requests.state import State
from flexapod.analysis.requests.validity import warn_unstable
from flexapod.arrays import Array
from flexapod.motions.motion import ActuatorMotion, Motion
from flexapod.robot.elastic_plan import driven_columns, undriven

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.model.small_motions import LinearMatrices
    from flexapod.analysis.requests.request import Request
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot

Variables = dict[str, Variable]


def at_rest(motion: StateOrMotion) -> Any:
    """The poses of a motion or state, without motion."""
    if isinstance(motion, ActuatorMotion):
        none = np.zeros_like(motion.velocity)
        return ActuatorMotion(time=motion.time, position=motion.position, velocity=none, acceleration=none)
    if isinstance(motion, Motion):
        return State(position=motion.position, rotation=motion.rotation)
    return State(position=motion.position, rotation=motion.rotation, elastic=motion.elastic)


def general_static_deflection(robot: Robot, asked: Request) -> xr.Dataset:
    """Deflection and holding forces under gravity and load; see `static_deflection`.

    An `ActuatorMotion` holds the actuators; a `State` the platform's pose.

    Checked by: tests/analysis/test_flexible_legs.py.
    """
    state, on_error = asked.at, asked.on_error
    reasons, still = no_reasons(state), at_rest(state)
    if asked.sequence:
        request = load_sequence(robot, still, asked.load, reasons)
    else:
        request = leg_request(robot, asked.with_state(still, elastic="static"), reasons)
    refuse_out_of_plane(robot, request.wrench)
    rho, K, N = leg_stiffness(robot, request.state, request.wrench, reasons, asked.load)
    force, residual = holding_forces(robot, rho, N)
    raise_failed("static deflection", robot, reasons.astype(str), state, on_error)
    stable = is_stable(robot, K)
    warn_unstable(robot, stable, reasons, is_loaded(asked.wrench))
    e, _ = request.state.elastic(robot)
    energy = evaluate(robot, "elastic_potential", request.state.inputs(), reasons)["elastic_potential"]
    variables: Variables = {
        **{k: v for k, v in state_variables(robot, request.state).items() if k != "elastic_velocity"},
        "elastic": (("elastic_coordinate",), e, "m or rad"),
        "force": (("actuator",), force, force_unit(robot)),
        "residual": ((), residual, "N or N m"),
        "stable": ((), stable, ""),
        "elastic_energy": ((), np.array(energy).reshape(len(reasons)), "J"),
    }
    return labelled(robot, state, variables, reasons, on_error)


def is_stable(robot: Robot, K: Array) -> NDArray[np.bool_]:
    """Whether each stiffness matrix (n, u, u) is positive definite with the actuators held."""
    driven = driven_columns(robot)
    free = [k for k, column in enumerate(robot.elastic_plan.independent) if column not in driven]
    return is_definite(K[:, free][:, :, free])


HELD = 1e-8
"""Force left over at an equilibrium, of the largest one, or of the stiffness times 1 rad or 1 m: poses have nine digits."""

UNHELD = (
    "this pose is not an equilibrium: the robot has fewer actuators than DOF, and nothing holds it there against weight and "
    "load; give a pose where it hangs at rest, or prestress=False for its small motions without weight"
)


def general_linear_model(robot: Robot, asked: Request, reasons: Reasons) -> LinearMatrices:
    """M, D, K, B in independent coordinates about the states; with prestress about the static equilibrium.

    Source: Briot 2014, section 5. Checked by: tests/analysis/test_flexible_legs.py.
    """
    from flexapod.analysis.model.small_motions import LinearMatrices

    still, prestress = at_rest(asked.at), asked.prestress
    given = prestress or (isinstance(still, State) and still.elastic is not None)
    request = leg_request(robot, asked.with_state(still, elastic=None if given else "zero"), reasons)
    refuse_out_of_plane(robot, request.wrench)
    closed = request.state
    good = np.flatnonzero(reasons == "")
    own, none = np.full(len(good), "", dtype=object), np.zeros((len(good), 6))
    part, wrench = closed.rows(good), request.wrench[good]
    if not prestress and len(robot.elastic_plan.columns) > COMPILED:  # one large kernel instead of two
        terms = leg_terms(robot, part, none, False, own)
        M, N = terms.M, terms.N
    else:
        load = load_rows(asked.load, good) if prestress else NO_LOAD
        rho, K, N = leg_stiffness(robot, part, wrench if prestress else none, own, load)
        M = _mass(robot, part, own)
    K_z, D_z = matrices_at(robot, part, own)
    Nt = np.swapaxes(N, 1, 2)
    if not prestress:
        K = Nt @ K_z @ N
    variables: Variables = {"elastic": (("elastic_coordinate",), closed.elastic(robot)[0], "m or rad")}
    if prestress:
        force = np.full((len(reasons), len(robot.actuators)), np.nan)
        force[good], left = holding_forces(robot, rho, N)
        if isinstance(still, State) and still.elastic is not None and robot.elastic_names:
            _refuse_unbalanced(robot, part, (rho, K), own)
        if undriven(robot):
            size = np.maximum(np.abs(rho).max(axis=1), np.abs(K).max(axis=(1, 2)))
            own[(left > HELD * size) & (own == "")] = UNHELD
        variables["force"] = (("actuator",), force, force_unit(robot))
    J, _ = platform_jacobian(robot, part, own)
    reasons[good] = np.where(reasons[good] == "", own, reasons[good])
    return LinearMatrices(
        M=M, D=Nt @ D_z @ N, K=K, B=np.swapaxes(N[:, driven_columns(robot)], 1, 2), P=J, rotation=part.rotation,
        names=list(robot.independent), good=good, variables=variables,
    )  # fmt: skip


def _refuse_unbalanced(robot: Robot, state: ClosedLegs, forces: tuple[Array, Array], reasons: Reasons) -> None:
    """Reasons of states with given elastic coordinates that are no equilibrium: Newton's step with the actuators held."""
    rho, K = forces
    driven = driven_columns(robot)
    free = [k for k, column in enumerate(robot.elastic_plan.independent) if column not in driven]
    step = solved(K[:, free][:, :, free], rho[:, free])
    refuse_unbalanced(step, state.elastic(robot)[0], robot.characteristic_length, reasons)


def _mass(robot: Robot, state: ClosedLegs, reasons: Reasons) -> Array:
    """Mass matrix (n, u, u) by the cheapest kernel."""
    if len(robot.elastic_plan.columns) <= COMPILED:
        return evaluate(robot, "elastic_mass_matrix", state.inputs(), reasons)["mass_matrix"]
    return leg_terms(robot, state, np.zeros((len(reasons), 6)), False, reasons).M
