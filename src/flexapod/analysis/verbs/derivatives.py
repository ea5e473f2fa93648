"""`inverse_dynamics_derivatives`: how actuator forces change with the motion and with parameters of the robot file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.model.elastic_coordinates import elastic_state
from flexapod.analysis.model.flexible_load import flexible_load
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.model.rigid_dynamics import note
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked, scalar_parameter
from flexapod.analysis.requests.loads import platform_wrench
from flexapod.analysis.requests.properties import holds
from flexapod.analysis.requests.results import dataset, raise_failed
from flexapod.analysis.verbs.inverse_kinematics import joint_rates, platform_inputs
from flexapod.arrays import Array
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.results import Variable
    from flexapod.analysis.requests.state import State, StateOrMotion
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot

STEP = 1e-4
"""Relative step of the differences of a robot's values by a file parameter. Inertial values are polynomials of degree two at
most in masses and centres of mass, for which central differences are exact; what is left is rounding, 1e-12."""


@checked
def inverse_dynamics_derivatives(
    robot: Robot, motion: Motion | State, *, parameters: Sequence[str] = (), wrench: ArrayLike | None = None
) -> xr.Dataset:
    """Derivatives of the actuator forces, friction left out; of a flexible robot at its elastic coordinates as they are.

    Args:
        motion: where to differentiate. A State may carry `elastic` and `elastic_velocity`; left out, flexible bodies have their
            static deflection, which is held.
        parameters: dotted paths of scalar parameters of the robot file, e.g. ``"platform.mass"``.
        wrench: external load on the platform, as for `inverse_dynamics`.

    Where loops run through several legs or the platform's own link, legs deform, or force elements or springs act, these are
    differences of eighth order (1e-10, of flexible legs 1e-8), along motions that the robot can make; components that its loops
    forbid, or that deformation decides, have no part in them.

    Returns:
        Dataset with `tau_D_position`, `tau_D_rotation` (by a small rotation vector in world axes), `tau_D_velocity`,
        `tau_D_angular_velocity`, `tau_D_acceleration`, `tau_D_angular_acceleration` (.., actuator, axis), and
        `tau_D_parameter` (.., actuator, parameter).
    """
    refuse(robot, "inverse_dynamics_derivatives", parameters=parameters, wrench=wrench)
    inputs = platform_inputs(motion)
    inputs["wrench"] = platform_wrench(robot, inputs, wrench, None, "world")
    if not leg_by_leg(robot):
        return _by_general_model(robot, motion, inputs["wrench"], parameters)
    if robot.elastic_names:
        reasons = np.full(len(inputs["position"]), "", dtype=object)
        found = elastic_state(robot, motion, inputs, flexible_load(robot, inputs, wrench, None, "world"), reasons)
        inputs |= {"elastic": found.elastic, "elastic_velocity": found.elastic_velocity}
    else:
        _, reasons, guess = joint_rates(robot, inputs)
        inputs = {**inputs, "guess": guess}
    bound = kernel(robot, "motion_derivatives")
    batch = bound.batch({i.name: inputs[i.name] for i in bound.signature.inputs})
    note(bound, batch.status, reasons, inputs)
    raise_failed("derivatives of inverse dynamics", robot, reasons, motion, "raise")
    variables: dict[str, Variable] = {o.name: (o.dims, batch.outputs[o.name], "") for o in bound.signature.outputs}
    if parameters:
        by_value, names = value_changes(robot, parameters)
        bound = kernel(robot, "value_derivatives", values=names)
        J = bound.batch({i.name: inputs[i.name] for i in bound.signature.inputs}).outputs["tau_D_values"]
        variables["tau_D_parameter"] = (("actuator", "parameter"), J @ by_value, "")
    return dataset(robot, variables, motion, names={"parameter": list(parameters)})


def leg_by_leg(robot: Robot) -> bool:
    """Whether the legs close one by one, and only masses and loads act: kernels have the derivatives."""
    return robot.follows_platform and not holds(robot, "more than masses") and not holds(robot, "flexible legs")


def _by_general_model(robot: Robot, motion: StateOrMotion, wrench: Array, parameters: Sequence[str]) -> xr.Dataset:
    from flexapod.analysis.model.general_derivatives import general_derivatives

    found = general_derivatives(robot, motion, wrench, parameters)
    last = found.pop("tau_D_parameter", None)
    variables: dict[str, Variable] = {name: (("actuator", "axis"), values, "") for name, values in found.items()}
    if last is not None:
        variables["tau_D_parameter"] = (("actuator", "parameter"), last, "")
    return dataset(robot, variables, motion, names={"parameter": list(parameters)})


def value_changes(robot: Robot, parameters: Sequence[str]) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Change of the robot's values (values, parameters) per unit of each file parameter, and the names of those that change."""
    columns = []
    for path in parameters:
        at = scalar_parameter(robot, path)
        h = STEP * max(abs(at), 1e-3)
        low = max(at - h, 0.0) if at >= 0.0 else at - h
        up, down = robot.with_parameters({path: at + h}).values, robot.with_parameters({path: low}).values
        columns.append({k: (up[k] - down[k]) / (at + h - low) for k in up if up[k] != down[k]})
    names = tuple(sorted({k for column in columns for k in column if not k.endswith(".home")}))
    if not names:
        raise InputError(f"parameters: {', '.join(parameters)} change nothing that inverse dynamics depends on")
    return np.array([[column.get(k, 0.0) for column in columns] for k in names]), names
