r"""`static_deflection`: the equilibrium of a flexible robot under gravity and load, and the forces that hold it.

Unknown are the actuator forces Gamma and the elastic coordinates e at a given pose of the platform frame:

.. math:: M_V(e)\,\dot V + c(e) - B(e)\,\Gamma - \text{load}(e) = 0

(6 + N equations; V' is zero at rest and the frame's acceleration in the quasi-static case). Newton's step uses the exact
derivative at rest, which the frame's motion hardly changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.model.flexible_load import FlexibleLoad, flexible_load
from flexapod.analysis.model.flexible_tangent import tangent_of
from flexapod.analysis.model.held_actuators import held_actuators, held_stable
from flexapod.analysis.model.kernels import RobotKernel, kernel
from flexapod.analysis.model.linear_solve import solved
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.fast_paths import answer
from flexapod.analysis.requests.over_designs import over_designs
from flexapod.analysis.requests.request import Request
from flexapod.analysis.requests.results import OnError, dataset, raise_failed, reasons_of
from flexapod.analysis.verbs.inverse_kinematics import platform_inputs
from flexapod.arrays import Array
from flexapod.motions.motion import ActuatorMotion

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot


LIMIT = 30
"""Newton steps; a deflection within the linear range takes four."""

CLOSED = 1e-12
"""Largest last step of e, of the largest e or of the weight's deflection: the step after it is below rounding."""


BALANCED, NOTHING = 1e-4, 1e-5
"""Distance of given elastic coordinates from the equilibrium, of the largest of them, up to which they are it; and the smallest
one that counts, of the characteristic length."""

UNBALANCED = (
    "the elastic coordinates of the state are not an equilibrium at this pose under weight and load; leave them out, and "
    "the equilibrium is found"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Static:
    """Elastic coordinates (n, N), actuator forces (n, actuators), Newton steps taken."""

    elastic: Array
    force: Array
    steps: int


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


MOVING = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")


def pose_of(inputs: dict[str, Array]) -> dict[str, Array]:
    """Position and rotation of the inputs."""
    return {name: inputs[name] for name in ("position", "rotation")}


def given_elastic(state: StateOrMotion | None) -> Array | None:
    """Elastic coordinates (n, N) of states that have their own, else None."""
    elastic = getattr(state, "elastic", None)
    return None if elastic is None else np.atleast_2d(elastic)


def equilibrium(
    robot: Robot, inputs: dict[str, Array], load: FlexibleLoad, state: StateOrMotion | None, reasons: Reasons
) -> Static:
    """As `solve_static`, with a reason for samples whose states have elastic coordinates that are no equilibrium."""
    start = given_elastic(state)
    found = solve_static(robot, inputs, load, reasons, start)
    if start is not None:
        refuse_unbalanced(found.elastic - start, start, robot.characteristic_length, reasons)
    return found


def refuse_unbalanced(off: Array, elastic: Array, length: float, reasons: Reasons) -> None:
    """Reasons of samples whose given elastic coordinates (n, N) are off an equilibrium by more than its rounding."""
    size = np.maximum(np.abs(elastic).max(axis=1, initial=0.0), NOTHING * length)
    far = ~(np.abs(off).max(axis=1, initial=0.0) <= BALANCED * size)
    reasons[far & (reasons == "")] = UNBALANCED


def solve_static(
    robot: Robot, inputs: dict[str, Array], load: FlexibleLoad, reasons: Reasons, start: Array | None = None
) -> Static:
    """Deflection and forces at e'' = e' = 0 for the frame's motion in `inputs`.

    Args:
        inputs: pose, twist and acceleration of the platform frame (n, ...), world axes.
        load: of the n samples.
        reasons: per sample, added to in place; failed samples are NaN.
        start: (n, N) where the search starts; undeformed if left out.
    """
    count, N, n = len(inputs["position"]), len(robot.elastic_names), len(robot.actuators)
    tangent = tangent_of(robot)
    e, force = np.zeros((count, N)) if start is None else np.array(start), np.zeros((count, n))
    moving = any(np.any(inputs[name]) for name in MOVING)
    active, steps, scale = np.flatnonzero(reasons == ""), 0, np.abs(e).max(axis=1, initial=0.0)
    while len(active) and steps < LIMIT:
        steps += 1
        part = {name: np.ascontiguousarray(values[active]) for name, values in inputs.items()}
        own = load.rows(active)
        batch = tangent.batch({**pose_of(part), "elastic": e[active], "force": force[active], **own.inputs()})
        good = batch.status == 0
        for k, text in zip(active[~good], reasons_of(tangent.signature, batch.status, part | own.inputs())[~good], strict=True):
            reasons[k] = f"no static deflection found: {text}"
        rho, K, B = (batch.outputs[name] for name in ("residual", "stiffness", "actuator_map"))
        if moving:
            rho = rho + _inertia(kernel(robot, "flexible_mass_matrix"), part, e[active])
        system = np.concatenate([-B, K[:, :, 6:]], axis=2)
        step = solved(system, -rho) if good.all() else solved(system[good], -rho[good])
        force[active[good]] += step[:, :n]
        e[active[good]] += step[:, n:]
        largest = np.abs(step[:, n:]).max(axis=1, initial=0.0)
        scale[active[good]] = np.maximum(scale[active[good]], largest)  # the first step is the linear deflection
        going = ~(largest <= CLOSED * scale[active[good]])
        active = active[good][going & np.all(np.isfinite(step), axis=1)]
    for k in active:
        reasons[k] = "no static deflection found: the load buckles the platform, or the pose is singular"
    lost = (~np.all(np.isfinite(e), axis=1)) & (reasons == "")
    reasons[lost] = "no static deflection found: the actuators cannot hold this pose (singular)"
    e[reasons != ""], force[reasons != ""] = np.nan, np.nan
    return Static(elastic=e, force=force, steps=steps)


def _inertia(whole: RobotKernel, part: dict[str, Array], e: Array) -> Array:
    """Part of the residual due to the motion of the frame: (M V' + c) in motion less c at rest."""
    none = np.zeros_like(e)
    at = {**part, "elastic": e, "elastic_velocity": none}
    still = {**at, **{name: np.zeros_like(part["velocity"]) for name in ("velocity", "angular_velocity")}}
    names = [i.name for i in whole.signature.inputs]
    moved, rest = whole.batch({k: at[k] for k in names}).outputs, whole.batch({k: still[k] for k in names}).outputs
    R = part["rotation"]
    V = np.concatenate([np.einsum("nji,nj->ni", R, part[k]) for k in ("acceleration", "angular_acceleration")], axis=1)
    return np.asarray(np.einsum("nij,nj->ni", moved["mass_matrix"][:, :, :6], V) + moved["bias"] - rest["bias"])
