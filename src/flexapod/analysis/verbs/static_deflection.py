"""`static_deflection`: the equilibrium of a flexible robot under gravity and load, and the forces that hold it.

`flexapod.analysis.model.flexible_equilibrium` has the equations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.model.flexible_equilibrium import MOVING, given_elastic, pose_of, solve_static
from flexapod.analysis.model.flexible_load import flexible_load
from flexapod.analysis.model.flexible_tangent import tangent_of
from flexapod.analysis.model.held_actuators import held_actuators, held_stable
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.fast_paths import answer
from flexapod.analysis.requests.over_designs import over_designs
from flexapod.analysis.requests.request import Request
from flexapod.analysis.requests.results import OnError, dataset, raise_failed
from flexapod.analysis.verbs.inverse_kinematics import platform_inputs
from flexapod.motions.motion import ActuatorMotion

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot


@checked
@over_designs
def static_deflection(
    robot: Robot,
    state: StateOrMotion,
    *,
    wrench: ArrayLike | None = None,
    point: str | None = None,
    axes: str = "world",
    sequence: bool = False,
    on_error: OnError = "raise",
    parameters: Mapping[str, ArrayLike] | None = None,
) -> xr.Dataset:
    """Static deflection of a flexible robot under gravity and load, platform frame or actuators held.

    Args:
        state: poses of the platform frame, which is held there; the search starts from elastic coordinates of a `State`, if it
            has any, and a `State` that moves is refused. Or an `ActuatorMotion`: the actuators are held at its coordinates, and
            the load moves the platform. Velocities of a motion are not used.
        sequence: with an `ActuatorMotion`: every sample starts from the equilibrium of the one before, with steps between as
            small as need be. For large deflections, and to stay on one branch; without it every sample starts unloaded.
        wrench: external load (6,) or (n, 6) [N, N m]; at the named `point` it acts on the material there and bends the
            platform, without `point` it acts on the reference frame.
        on_error: ``"raise"``, or ``"mask"`` to get `valid` and `reason` per sample.
        parameters: designs: paths of the robot file to values: (k,) of k designs, for n samples (n,), (k, 1) or (k, n); see
            `docs/design.md`, Many designs in one line.
    Returns:
        Dataset: `elastic` (.., elastic_coordinate), `force` (.., actuator) that hold the robot, `residual` (..): the largest
        generalized force left over, `elastic_energy` (..) [J]; `stable` (..): False beyond a buckling load (with the actuators
        held), which also warns; with flexible legs or held actuators the pose.
    Raises:
        SampleError: no equilibrium: the load is beyond a buckling load, or the pose is singular or out of reach.

    Source: Long 2014, section 6 (start of a motion). Checked by: tests/analysis/test_flexible_static.py.
    """
    refuse(robot, "static_deflection", wrench=wrench, point=point, axes=axes, sequence=sequence)
    request = Request(at=state, wrench=wrench, point=point, axes=axes, sequence=sequence, on_error=on_error)
    return answer(robot, "static_deflection", request)  # type: ignore[no-any-return]


def static_platform(robot: Robot, request: Request) -> xr.Dataset:
    """Deflection of a flexible platform on closed-form legs, its frame or its actuators held; see `static_deflection`."""
    state, on_error = request.at, request.on_error
    if isinstance(state, ActuatorMotion):
        return held_actuators(robot, state, request.load, on_error)
    inputs = platform_inputs(state)
    still = {**inputs, **{name: np.zeros_like(inputs["velocity"]) for name in MOVING}}
    load = flexible_load(robot, inputs, *request.load)
    reasons = np.full(len(inputs["position"]), "", dtype=object)
    found = solve_static(robot, still, load, reasons, given_elastic(state))
    raise_failed("static deflection", robot, reasons.astype(str), state, on_error)
    given = {**pose_of(inputs), "elastic": found.elastic, "force": found.force, **load.inputs()}
    tangent = tangent_of(robot).batch(given).outputs
    stable = held_stable(robot, tangent, reasons, request.wrench)
    body = robot.flexible_platform
    assert body is not None
    energy = body.elastic_energies(found.elastic)
    variables = {
        "elastic": (("elastic_coordinate",), found.elastic, "sqrt(kg) m"),
        "force": (("actuator",), found.force, "N"),
        "residual": ((), np.abs(tangent["residual"]).max(axis=1), "N"),
        "stable": ((), stable, ""),
        "elastic_energy": ((), energy, "J"),
    }
    return dataset(robot, variables, state, reasons.astype(str) if on_error == "mask" else None)
