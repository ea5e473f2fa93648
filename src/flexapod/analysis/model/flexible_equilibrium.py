r"""Equilibrium of a flexible platform at a given pose of its frame, by Newton's method.

Unknown are the actuator forces Gamma and the elastic coordinates e:

.. math:: M_V(e)\,\dot V + c(e) - B(e)\,\Gamma - \text{load}(e) = 0

(6 + N equations; V' is zero at rest and the frame's acceleration in the quasi-static case). Newton's step uses the exact
derivative at rest, which the frame's motion hardly changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.flexible_load import FlexibleLoad
from flexapod.analysis.model.flexible_tangent import tangent_of
from flexapod.analysis.model.kernels import RobotKernel, kernel
from flexapod.analysis.model.linear_solve import solved
from flexapod.analysis.requests.results import reasons_of
from flexapod.arrays import Array

if TYPE_CHECKING:
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot


MOVING = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")

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
