r"""`jacobian` and `conditioning`: actuator rates per platform twist, and how far a pose is from singular ones.

Twists are made dimensionless by a characteristic length L: (v / L, omega). Type 1 is a leg that cannot follow (its own block is
singular), type 2 a platform that can move although all actuators are locked ([J; G] loses rank).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.poses.pose_jacobians import PoseJacobians, main_parts, pose_jacobians
from flexapod.analysis.poses.row_condition import condition_numbers, padded, row_normalised
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.over_designs import over_designs
from flexapod.analysis.requests.results import OnError, dataset, raise_failed
from flexapod.analysis.requests.sample_blocks import no_reasons
from flexapod.analysis.requests.state import State
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.argument_checks import positive
from flexapod.motions.motion import ActuatorMotion, Motion
from flexapod.robot.leg_positions import ROWS

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.results import Variable
    from flexapod.robot.robot import Robot


SINGULAR = 1e-6
"""Distance below which a pose is called singular: a thousandth of a millimetre per metre of actuator error is then a metre."""

TYPE_1 = ("turning point", "first universal axis")
"""Words of the kernel's statuses that are singularities of a leg, not failures to reach."""


LEG_SINGULAR = {
    "UPS": "along the first universal axis",
    "PUS": "at right angles to the rail (turning point)",
    "RUS": "with rod and crank in line (turning point)",
    "general": "at the end of its reach, or folded (turning point)",
}
"""Singularity of a leg of each architecture, in words."""


@checked
@over_designs
def jacobian(
    robot: Robot,
    state: State | Motion | ActuatorMotion,
    *,
    on_error: OnError = "raise",
    parameters: Mapping[str, ArrayLike] | None = None,
) -> xr.Dataset:
    """Actuator rates per platform twist, and what constrains the platform.

    Args:
        state: pose or poses; twists are not used.
        on_error: ``"raise"``, or ``"mask"`` to get `valid` and `reason` per sample.
        parameters: designs: paths of the robot file to values: (k,) of k designs, for n samples (n,), (k, 1) or (k, n); see
            `docs/design.md`, Many designs in one line.
    Returns:
        Dataset: `jacobian` (.., actuator, twist) [m or rad per m or rad], for limited mobility also `constraint_jacobian`
        (.., constraint, twist): independent rows whose product with the twist vanishes. Twist: vx, vy, vz, wx, wy, wz,
        world axes.
    Raises:
        SampleError: a leg cannot reach the pose, or is singular.

    Checked by: tests/analysis/test_conditioning.py.
    """
    at = _poses(robot, state)
    found = pose_jacobians(robot, at.position.reshape(-1, 3), at.rotation.reshape(-1, 3, 3))
    failed = found.reasons != ""
    reasons = found.reasons.astype(str) if failed.any() else no_reasons(len(failed))
    raise_failed("the Jacobian", robot, reasons, at, on_error)
    if failed.any():
        found.jacobian[failed] = found.constraint[failed] = np.nan
    variables: dict[str, Variable] = {"jacobian": (("actuator", "twist"), found.jacobian, "m or rad, per m or rad")}
    if robot.plan.constraints:
        variables["constraint_jacobian"] = (("constraint", "twist"), found.constraint, "")
    result = dataset(robot, variables, at, reasons if on_error == "mask" else None)
    return result.assign_coords(constraint=("constraint", constraint_names(robot))) if robot.plan.constraints else result


@checked
@over_designs
def conditioning(
    robot: Robot,
    state: State | Motion | ActuatorMotion,
    length: float | None = None,
    *,
    on_error: OnError = "raise",
    parameters: Mapping[str, ArrayLike] | None = None,
) -> xr.Dataset:
    """Condition number and distances to singular poses.

    Args:
        state: pose or poses.
        length: characteristic length [m]; the robot's own if left out.
        on_error: for poses that cannot be reached; singular poses are named in the result, not refused.
        parameters: designs: paths of the robot file to values: (k,) of k designs, for n samples (n,), (k, 1) or (k, n); see
            `docs/design.md`, Many designs in one line.
    Returns:
        Dataset: `condition_number` of the Jacobian over the motions that the constraints allow (twists over `length`,
        prismatic actuators over `length`); `type_1` (.., leg) and `type_2`, 0 at a singular pose and at most 1; `free_motion`
        (.., twist): the platform motion that the actuators hold worst; `singularity`: its description, empty at regular poses.

    Checked by: tests/analysis/test_conditioning.py.
    """
    at = _poses(robot, state)
    scale = robot.characteristic_length if length is None else positive("length", length)
    found = pose_jacobians(robot, at.position.reshape(-1, 3), at.rotation.reshape(-1, 3, 3))
    blocked = np.array([any(word in reason for word in TYPE_1) for reason in found.reasons], dtype=bool)
    reasons = np.where(blocked, "", found.reasons).astype(str)
    raise_failed("conditioning", robot, reasons, at, on_error)
    usable = found.reasons == ""
    condition, type_2, free = np.full(len(reasons), np.nan), np.full(len(reasons), np.nan), np.full((len(reasons), 6), np.nan)
    condition[usable] = condition_numbers(robot, found.jacobian[usable], found.constraint[usable], scale)
    type_2[usable], free[usable] = _weakest(found.rows[usable], scale)
    type_1 = np.where(usable[:, None], found.margin, np.nan)
    singular = np.array([_named(robot, found, i, scale, type_2[i]) for i in range(len(reasons))])
    for i in np.flatnonzero(blocked):
        type_1[i] = [0.0 if found.reasons[i].startswith(f"leg {leg.name}") else np.nan for leg in robot.legs]
        condition[i] = np.inf
    variables: dict[str, Variable] = {
        "condition_number": ((), condition, ""),
        "type_1": (("leg",), type_1, ""),
        "type_2": ((), type_2, ""),
        "free_motion": (("twist",), free, "m or rad"),
        "singularity": ((), singular, ""),
    }
    result = dataset(robot, variables, at, reasons if on_error == "mask" else None)
    return result.assign_attrs(characteristic_length=scale)


def constraint_names(robot: Robot) -> list[str]:
    """Names of the independent constraint rows: leg, closing joint, number of the row."""
    if not any(plan.leftover for plan in robot.plan.legs):  # loops through several legs: rows of no joint in particular
        return [f"loops.{i + 1}" for i in range(len(robot.plan.constraints))]
    rows = [[f"{leg.name}.{c.joint}.{i + 1}" for c in leg.closings for i in range(len(ROWS[c.type]))] for leg in robot.legs]
    every = [own[i] for own, plan in zip(rows, robot.plan.legs, strict=True) for i in plan.leftover]
    return [every[i] for i in robot.plan.constraints]


def _weakest(rows: Array, length: float) -> tuple[Array, Array]:
    """Type 2 distance, and the motion (n, 6) that belongs to it, as a twist of dimensionless size 1."""
    _, s, vt = np.linalg.svd(row_normalised(rows, length))
    direction = vt[:, 5]
    size = np.abs(direction)
    leading = (size > (1.0 - 1e-6) * size.max(axis=1, keepdims=True)).argmax(axis=1)  # the first of equals, whatever the rounding
    first = np.take_along_axis(direction, leading[:, None], axis=1)
    return padded(s)[:, 5], direction * np.sign(first) * np.array([length] * 3 + [1.0] * 3)


def _named(robot: Robot, found: PoseJacobians, i: int, length: float, type_2: float) -> str:
    """Name of a singularity: its kind, the leg, the motion that is free."""
    reason = str(found.reasons[i])
    if reason:
        return f"type 1: {reason}" if any(word in reason for word in TYPE_1) else ""
    reasons = singular_legs(robot, found.margin[i])
    if type_2 < SINGULAR:
        _, s, vt = np.linalg.svd(row_normalised(found.rows[i : i + 1], length)[0])
        null = vt[padded(s)[:6] < SINGULAR]
        parts = main_parts(np.linalg.norm(null, axis=0))
        reasons.append(f"type 2: with all actuators locked the platform is free in {', '.join(parts)}")
    return "; ".join(reasons)


def singular_legs(robot: Robot, margin: Array) -> list[str]:
    """Legs that are singular (type 1), one phrase per kind."""
    groups: dict[str, list[str]] = {}
    for leg, value in zip(robot.legs, margin, strict=True):
        if value < SINGULAR:
            groups.setdefault(LEG_SINGULAR[leg.architecture], []).append(leg.name)
    return [f"type 1: leg{'s' * (len(names) > 1)} {', '.join(names)} {phrase}" for phrase, names in groups.items()]


def _poses(robot: Robot, state: State | Motion | ActuatorMotion) -> State | Motion:
    from flexapod.analysis.verbs.platform_motion import as_platform

    at = as_platform(robot, state)
    if not isinstance(at, State | Motion):
        raise InputError(f"state: expected a State or a Motion, got {type(state).__name__}")
    return at
