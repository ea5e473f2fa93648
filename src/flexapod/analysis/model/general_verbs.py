"""Inverse and forward dynamics of any robot by its general model: with reactions, contributions, friction by joint loads.

The last path of these verbs: it takes every robot and every option.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.closed_legs import platform_jacobian
from flexapod.analysis.model.closed_state import closed_request
from flexapod.analysis.model.contributions import NAMES, contributions, without_leg_mass
from flexapod.analysis.model.general_dynamics import reactions as joint_reactions
from flexapod.analysis.model.general_dynamics import solve_forward, solve_inverse
from flexapod.analysis.model.leg_dynamics import no_reasons, state_variables
from flexapod.analysis.model.leg_model import elastic_columns
from flexapod.analysis.model.redundancy import redundancy
from flexapod.analysis.requests.loads import forces, note_force
from flexapod.analysis.requests.properties import has_friction
from flexapod.analysis.requests.results import Variable, dataset, force_unit, raise_failed
from flexapod.analysis.requests.state import unaccelerated
from flexapod.arrays import Array
from flexapod.equations.elastodynamics.reactions import reaction_joints
from flexapod.robot.elastic_plan import driven_columns

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.model.closed_legs import LegRequest
    from flexapod.analysis.requests.request import Request
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.robot.robot import Robot

Variables = dict[str, Variable]


def general_inverse_dynamics(robot: Robot, asked: Request) -> xr.Dataset:
    """Actuator forces, with the optional results; see `inverse_dynamics`.

    Source: Briot 2014 Eqs. (41)-(44), Kim 2002 Eqs. (20)-(34). Checked by: tests/analysis/test_general_dynamics.py.
    """
    motion, on_error, parts = asked.at, asked.on_error, asked.contributions
    robot = without_leg_mass(robot) if asked.legs == "massless" else robot
    reasons, friction = no_reasons(motion), asked.friction and has_friction(robot)
    request = closed_request(robot, replace(asked, friction=friction), reasons)
    found = solve_inverse(robot, request, friction, reasons, redundancy=redundancy(robot, asked))
    variables: Variables = {
        "force": (("actuator",), found.force, force_unit(robot)),
        "power": (("actuator",), found.force * request.state.actuators(robot)[1], "W"),
    }
    variables |= joint_reactions(robot, request.state, found, reasons) if asked.reactions else {}
    if parts is not None:
        table = contributions(robot, request, found, parts, reasons)
        variables["force_contribution"] = (("contribution", "actuator"), table, force_unit(robot))
    raise_failed("inverse dynamics", robot, reasons.astype(str), motion, on_error)
    result = _labelled(robot, asked, request, found.coordinates, variables, reasons)
    return result.assign_attrs(friction=int(friction), elastic=request.source, formulation="general")


def general_forward_dynamics(robot: Robot, asked: Request) -> xr.Dataset:
    """Accelerations under forces, with reactions if asked for; see `forward_dynamics`.

    Source: Briot 2014 Eq. (44). Checked by: tests/analysis/test_general_dynamics.py.
    """
    state, on_error = asked.at, asked.on_error
    reasons, friction = no_reasons(state), asked.friction and has_friction(robot)
    request = closed_request(robot, replace(unaccelerated(asked), friction=False), reasons)
    force = forces(robot, asked.force, len(reasons))
    note_force(force, reasons)
    found = solve_forward(robot, request, force, friction, reasons)
    J, drift = platform_jacobian(robot, request.state, reasons)
    V = np.einsum("niu,nu->ni", J, found.independent) + drift
    variables: Variables = {
        "acceleration": (("axis",), V[:, :3], "m/s^2"),
        "angular_acceleration": (("axis",), V[:, 3:], "rad/s^2"),
        "actuator_acceleration": (("actuator",), found.coordinates[:, driven_columns(robot)], "m/s^2 or rad/s^2"),
    }
    variables |= joint_reactions(robot, request.state, found, reasons) if asked.reactions else {}
    raise_failed("forward dynamics", robot, reasons.astype(str), state, on_error)
    result = _labelled(robot, asked, request, found.coordinates, variables, reasons)
    return result.assign_attrs(friction=int(friction), elastic=request.source, formulation="general")


def _labelled(robot: Robot, asked: Request, request: LegRequest, z: Array, variables: Variables, reasons: Reasons) -> xr.Dataset:
    """A result with the state that it was computed for; failed samples are NaN."""
    if robot.elastic_names:
        second = z[:, elastic_columns(robot)]
        variables = {**variables, "elastic_acceleration": (("elastic_coordinate",), second, "1/s^2 of the coordinate")}
        variables |= state_variables(robot, request.state)
    for _, values, _ in variables.values():
        values[reasons != ""] = np.nan
    names = {"joint": reaction_joints(robot), "contribution": NAMES}
    return dataset(robot, variables, asked.at, reasons.astype(str) if asked.on_error == "mask" else None, names)
