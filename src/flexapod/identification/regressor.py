"""`regressor`: inverse dynamics of a motion as a matrix times the parameters of the robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.results import dataset, raise_failed
from flexapod.analysis.verbs.inverse_kinematics import platform_inputs
from flexapod.analysis.verbs.platform_motion import as_platform
from flexapod.errors import InputError
from flexapod.identification.linear_model import Legs, linear_model, model_inputs

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import ActuatorMotion, Motion
    from flexapod.robot.robot import Robot


@checked
def regressor(
    robot: Robot, motion: Motion | ActuatorMotion | State, *, friction: bool = True, legs: Legs = "each",
    loads: ArrayLike | xr.DataArray | None = None,
) -> xr.Dataset:  # fmt: skip
    r"""Actuator forces as :math:`\Gamma = Y\theta`, exact.

    Args:
        robot: any robot with rigid bodies.
        motion: where to evaluate.
        friction: with columns for the friction coefficients that the file gives (not zero).
        legs: ``"each"`` leg has its own parameters; ``"alike"``: one parameter for the same part of all legs.
        loads: (n, places) normal and reaction forces [N] that load-dependent friction multiplies, e.g. the `load` of an earlier
            result; left out: those of the robot's own numbers.
    Returns:
        Dataset with `regressor` (.., actuator, parameter), `value` (parameter): the robot's numbers, `parameter_unit`, and
        `load` (.., place) where there is friction, `known_force` (.., actuator) [N or N m] of force elements, preloads,
        bump stops, and dampers of drives. `regressor @ value` and `known_force` add up to `inverse_dynamics`. Names are those of
        the robot file; first moments and tensors are about the origin of the body's frame, in its axes.

    Checked by: tests/identification/test_regressor.py.
    """
    refuse(robot, "regressor")
    model = linear_model(robot, friction=friction, legs=legs)
    at = as_platform(robot, motion)
    inputs, reasons = model_inputs(robot, platform_inputs(at))
    given = model.loads(inputs, reasons) if loads is None else _loads(loads, len(reasons))
    if loads is not None and not model.friction:
        raise InputError(f"loads: {robot.name} has no friction here that they would multiply; leave them out")
    Y = model.rows(inputs, given, reasons)
    known = model.known(inputs, reasons)
    raise_failed("regressor", robot, reasons, at, "raise")
    variables: dict[str, tuple[Any, Any, str]] = {
        "regressor": (("actuator", "parameter"), Y, "N or N m per unit of the parameter")
    }
    if isinstance(known, np.ndarray):
        variables["known_force"] = (("actuator",), known, "N or N m")
    if given is not None:
        variables["load"] = (("place",), given, "N")
    result = dataset(robot, variables, at, names={"parameter": model.names})
    return result.assign(value=("parameter", model.values)).assign_coords(parameter_unit=("parameter", list(model.units)))


def _loads(loads: object, count: int) -> np.ndarray:
    try:
        array = np.asarray(getattr(loads, "values", loads), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"loads: expected finite numbers of shape ({count}, places), got {type(loads).__name__}") from error
    if array.ndim != 2 or len(array) != count or not np.all(np.isfinite(array)):
        raise InputError(f"loads: expected finite numbers of shape ({count}, places), got shape {array.shape}")
    return np.ascontiguousarray(array)
