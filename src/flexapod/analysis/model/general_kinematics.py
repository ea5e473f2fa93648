"""Kinematics of any robot, deformed or not: states from actuators, joints, motion of any point of a body."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.model.closed_legs import LegRequest, evaluate
from flexapod.analysis.model.closed_state import closed_request
from flexapod.analysis.model.elastic_coordinates import elastic_array
from flexapod.analysis.model.flexible_kinematics import deformed_point
from flexapod.analysis.model.flexible_load import shapes_at
from flexapod.analysis.model.leg_dynamics import labelled, no_reasons, solve_inverse, state_variables
from flexapod.analysis.model.leg_model import elastic_columns, leg_terms
from flexapod.analysis.model.leg_request import leg_request
from flexapod.analysis.model.linear_solve import pseudo_inverse
from flexapod.analysis.model.prescribed import met_components, prescribed
from flexapod.analysis.requests.program_refusals import FLOATING, floating
from flexapod.analysis.requests.request import Request
from flexapod.analysis.requests.results import raise_failed
from flexapod.analysis.requests.state import State
from flexapod.analysis.requests.state_rules import has_velocity
from flexapod.analysis.requests.validity import warn_beyond
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.argument_checks import real_array
from flexapod.motions.motion import ActuatorMotion
from flexapod.robot.elastic_plan import chosen_drives, driven_columns

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.results import Variable
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot

FOLLOWED = 1e-9
"""Largest acceleration that is not reached, of the largest one: rounding of the Jacobian is 1e-15."""


def general_state_from_actuators(robot: Robot, asked: Request, velocity: ArrayLike | None, guess: object) -> State:
    """The state of actuators and elastic coordinates; see `State.from_actuators`."""
    position, (elastic, elastic_velocity, _) = asked.at, asked.given
    if guess is not None:
        raise InputError(f"guess: is not used, as the loops of {robot.name} are closed starting from home; leave it out")
    n, shape = len(robot.actuators), np.shape(position)
    if shape[-1:] != (n,) or len(shape) > 2:
        raise InputError(f"position: expected shape ({n},) or (n, {n}), got {shape}")
    q = real_array("position", position, shape).reshape(-1, n)
    qd = np.zeros_like(q) if velocity is None else real_array("velocity", velocity, shape).reshape(-1, n)
    time = np.arange(float(len(q)))
    moving = ActuatorMotion(time=time, position=q, velocity=qd, acceleration=np.zeros_like(q))
    if elastic is None or (isinstance(elastic, str) and elastic == "static"):
        still = ActuatorMotion(time=time, position=q, velocity=np.zeros_like(q), acceleration=np.zeros_like(q))
        reasons = no_reasons(still)
        found = leg_request(robot, Request(at=still, elastic="static", friction=False), reasons)
        raise_failed("state", robot, reasons.astype(str), State(position=np.zeros((len(q), 3))), "raise")
        elastic = found.state.elastic(robot)[0]
    reasons = no_reasons(moving)
    wanted = Request(at=moving, elastic=elastic, elastic_velocity=elastic_velocity, friction=False)
    state = leg_request(robot, wanted, reasons).state
    raise_failed("state", robot, reasons.astype(str), State(position=np.zeros((len(q), 3))), "raise")
    pick = 0 if len(shape) == 1 else slice(None)
    e, ed = state.elastic(robot)
    return State(
        position=state.position[pick], rotation=state.rotation[pick], velocity=state.velocity[pick],
        angular_velocity=state.angular_velocity[pick], elastic=e[pick], elastic_velocity=ed[pick],
    )  # fmt: skip


def accelerations(robot: Robot, request: LegRequest, given: Array | None, friction: bool, reasons: Reasons) -> Array:
    """Accelerations (n, z) of all coordinates: with given elastic ones, or as the inverse model has them.

    Where nothing deforms they are kinematics alone: of redundant and of under-actuated robots too.
    """
    if given is None and robot.elastic_names:
        return solve_inverse(robot, request, friction, reasons)[1]
    none = np.zeros(0) if given is None else given
    edd = elastic_array("elastic_acceleration", none, len(reasons), len(robot.elastic_names))
    terms = leg_terms(robot, request.state, request.wrench, False, reasons)
    u = np.zeros((len(reasons), terms.M.shape[1]))
    where = {column: k for k, column in enumerate(elastic_columns(robot))}
    for k, column in enumerate(robot.elastic_plan.independent):
        if column in where:
            u[:, k] = edd[:, where[column]]
    chosen, own = chosen_drives(robot)
    if request.actuator_acceleration is not None:
        u[:, own] = request.actuator_acceleration[:, chosen]
    else:
        assert request.acceleration is not None
        found = evaluate(robot, "elastic_point", {**request.state.inputs(), "point": np.zeros((len(reasons), 3))}, reasons)
        rows, others = met_components(robot)
        own = [*own, *others]
        S = prescribed(robot, found["jacobian"], rows, others)
        rest = request.acceleration - found["drift"] - np.einsum("niu,nu->ni", found["jacobian"], u)
        rest = np.einsum("nri,ni->nr", S, rest)
        J = (S @ found["jacobian"])[:, :, own]
        u[:, own] = np.einsum("nij,nj->ni", pseudo_inverse(J), rest)
        left = np.abs(np.einsum("nij,nj->ni", J, u[:, own]) - rest).max(axis=1, initial=0.0)
        lost = ~(left <= FOLLOWED * (1.0 + np.abs(rest).max(axis=1, initial=0.0)))
        reasons[lost & (reasons == "")] = "the actuators cannot produce this acceleration of the platform: the pose is singular"
    return np.asarray(np.einsum("nzu,nu->nz", terms.N, u) + terms.beta)


def general_inverse_kinematics(robot: Robot, asked: Request) -> xr.Dataset:
    """Actuators, joints and bodies of a motion, legs deformed; see `inverse_kinematics`.

    Where actuators can move while the platform is at rest, a pose leaves the rest open: it is as near home as it can be.
    """
    motion, on_error, edd = asked.at, asked.on_error, asked.elastic_acceleration
    reasons = no_reasons(motion)
    if robot.floats and (not isinstance(motion, State) or has_velocity(motion)):
        raise floating(robot, *FLOATING["inverse_kinematics"])
    request = closed_request(robot, asked, reasons)
    if edd is None and isinstance(motion, State) and any(k.elastic and k.spring for leg in robot.legs for k in leg.links):
        edd = np.zeros(len(robot.elastic_names))  # motors behind springs: their motion does not follow from the platform's
    columns = len(robot.elastic_plan.columns)
    z = np.zeros((len(reasons), columns)) if robot.floats else accelerations(robot, request, edd, True, reasons)
    raise_failed("inverse kinematics", robot, reasons.astype(str), motion, on_error)
    state, at = request.state, z.shape[1] - len(robot.coordinates)
    q, qd = state.actuators(robot)
    variables = {
        **{k: v for k, v in state_variables(robot, state).items() if k.startswith("elastic")},
        "actuator_position": (("actuator",), q, "m or rad"),
        "actuator_velocity": (("actuator",), qd, "m/s or rad/s"),
        "actuator_acceleration": (("actuator",), z[:, driven_columns(robot)], "m/s^2 or rad/s^2"),
        "joint_position": (("joint",), np.array(state.joint_position), "m or rad"),
        "joint_velocity": (("joint",), np.array(state.joint_velocity), "m/s or rad/s"),
        "joint_acceleration": (("joint",), np.array(z[:, at:]), "m/s^2 or rad/s^2"),
    }
    kept = {k: v for k, v in variables.items() if asked.joints or not k.startswith("joint")}
    kept |= _bodies(robot, request, z, reasons) if asked.bodies else {}
    return labelled(robot, motion, kept, reasons, on_error)


def _bodies(robot: Robot, request: LegRequest, z: Array, reasons: Reasons) -> dict[str, Any]:
    """Motion of every body's frame at accelerations z; of a beam that of its root."""
    found = evaluate(robot, "elastic_bodies", {**request.state.inputs(), "coordinate_acceleration": z}, reasons)
    axes = np.array([np.eye(3), *(k.body.body_axes for leg in robot.legs for k in leg.links if k.body is not None)])
    found["body_rotation"] = found["body_rotation"] @ axes
    dims = {name: ("body", "axis", "body_axis") if name == "body_rotation" else ("body", "axis") for name in found}
    units = {"position": "m", "velocity": "m/s", "acceleration": "m/s^2", "rotation": ""}
    units |= {"angular_velocity": "rad/s", "angular_acceleration": "rad/s^2"}
    return {name: (dims[name], values, units[name.removeprefix("body_")]) for name, values in found.items()}


def general_point_motion(robot: Robot, asked: Request) -> xr.Dataset:
    """Motion of a named point of a deformed robot; see `point_motion`.

    Elastic accelerations that are left out are those of the inverse model at this motion; a `State` is taken at rest.

    Checked by: tests/analysis/test_flexible_legs.py.
    """
    from flexapod.analysis.verbs.point_motion import UNITS, named_point

    motion, name, on_error, edd = asked.at, asked.point_name, asked.on_error, asked.elastic_acceleration
    body, place = named_point(robot, name)
    reasons = no_reasons(motion)
    request = closed_request(robot, asked, reasons)
    edd = np.zeros(len(robot.elastic_names)) if edd is None and isinstance(motion, State) else edd
    z = accelerations(robot, request, edd, True, reasons)
    options, axes = {}, np.eye(3)
    if body != "platform":
        leg = next(leg for leg in robot.legs if body.startswith(f"{leg.name}."))
        link = next(i for i, k in enumerate(leg.links) if k.body is not None and f"{leg.name}.{k.body.name}" == body)
        options, axes = {"leg": leg.name, "link": link}, np.asarray(robot.bodies_by_name[body].body_axes)
    deformed = body == "platform" and request.state.modes.shape[1] > 0
    inputs = {**request.state.inputs(), "point": np.tile(0.0 * place if deformed else axes @ place, (len(reasons), 1))}
    found = evaluate(robot, "elastic_point", inputs, reasons, **options)
    raise_failed("point motion", robot, reasons.astype(str), motion, on_error)
    warn_beyond(robot, request.state.elastic(robot)[0], motion)
    u = z[:, list(robot.elastic_plan.independent)]
    V = np.einsum("niu,nu->ni", found["jacobian"], u) + found["drift"]
    values = {
        "position": found["point_position"], "rotation": found["point_rotation"] @ axes,
        "velocity": found["point_velocity"], "angular_velocity": found["point_angular_velocity"],
        "acceleration": V[:, :3].copy(), "angular_acceleration": V[:, 3:].copy(),
    }  # fmt: skip
    if deformed:  # the material of a flexible platform moves against its frame
        first = len(robot.elastic_plan.columns) - len(robot.coordinates)
        count, point = request.state.modes.shape[1], shapes_at(robot, place, f"point '{name}'")
        second = z[:, first - count : first]
        values = deformed_point(values, point, request.state.modes, request.state.modes_velocity, second)
    variables: dict[str, Variable] = {
        key: (("axis", "body_axis") if key == "rotation" else ("axis",), array, UNITS.get(key, ""))
        for key, array in values.items()
    }
    return labelled(robot, motion, variables, reasons, on_error).assign_attrs(point=name, body=body, elastic=request.source)
