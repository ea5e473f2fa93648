"""Poses, twists and accelerations of the platform from actuator coordinates, legs closed one by one or all loops together.

`forward_kinematics` is this for one robot; verbs over many designs follow actuators from pose to pose by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.model.continuous_angles import make_continuous
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.poses.pose_along import search_along
from flexapod.analysis.poses.pose_guess import start_poses
from flexapod.analysis.poses.pose_reasons import PoseNotFoundError, reasons_of_poses
from flexapod.analysis.poses.pose_search import Poses, PoseSearch, Search
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.actuator_targets import Samples, targets
from flexapod.analysis.requests.results import OnError, SampleError, check_option, dataset, raise_failed, reasons_of
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.results import Variable
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot

Assembly = Literal["same", "any"]

CONSISTENT = 1e-9
"""Largest residual of rates of redundant actuators, relative to the largest rate: inputs carry rounding of their own."""

RATES = ("velocity", "angular_velocity", "acceleration", "angular_acceleration")


@dataclass(frozen=True, kw_only=True)
class SolvedPoses:
    """Poses of actuator coordinates with the reason where there is none."""

    poses: Poses
    found: Search
    reasons: NDArray[np.str_]
    at: Samples


def forward_poses(
    robot: Robot,
    actuator_position: ArrayLike | ActuatorMotion,
    guess: State | Motion | xr.Dataset | None = None,
    on_error: OnError = "raise",
    continuation: bool | None = None,
    *,
    assembly: Assembly = "same",
    certify: bool = False,
) -> xr.Dataset:
    """The pose on the assembly mode of the guess; see `forward_kinematics`.

    Checked by: tests/analysis/test_pose_from_actuators.py.
    """
    proofs = None
    refuse(robot, "forward_kinematics", method="newton", certify=certify)
    if not robot.follows_platform:
        from flexapod.analysis.poses.loop_forward import forward_kinematics_of_loops

        return forward_kinematics_of_loops(robot, *targets(robot, actuator_position), actuator_position, guess, on_error)
    solved = solve(robot, actuator_position, guess, continuation, assembly)
    reasons = solved.reasons
    if certify:
        from flexapod.analysis.poses.path_certificate import certify_solved

        if assembly != "same" or solved.at.time is not None or continuation:
            raise InputError("certify: proves paths from the guess to samples; not with assembly='any', continuation or a motion")
        reasons, proofs = certify_solved(robot, solved, guess)
    variables: dict[str, Variable] = {
        "position": (("axis",), solved.poses.position, "m"),
        "rotation": (("axis", "body_axis"), solved.poses.rotation, ""),
        "joint_position": (("joint",), solved.poses.joints, "m or rad"),
    }
    if isinstance(actuator_position, ActuatorMotion):
        more, reasons = platform_rates(robot, solved.poses, actuator_position.velocity, actuator_position.acceleration, reasons)
        variables.update(more)
    raise_unfound(robot, solved, reasons, on_error)
    for _, values, _ in variables.values():
        values[reasons != ""] = np.nan
    variables["residual"] = (("actuator",), solved.found.residual, "m or rad")
    variables["passes"] = ((), solved.found.passes, "")
    if proofs is not None:
        variables["certified"], variables["segments"] = ((), reasons == "", ""), ((), proofs, "")
    return dataset(robot, variables, solved.at, reasons if on_error == "mask" else None)


def solve(
    robot: Robot,
    actuator_position: ArrayLike | ActuatorMotion,
    guess: State | Motion | xr.Dataset | None,
    continuation: bool | None,
    assembly: str,
) -> SolvedPoses:
    """Poses of actuator coordinates, without raising for samples that fail."""
    check_option("assembly", assembly, ("same", "any"))
    target, at = targets(robot, actuator_position)
    along = at.time is not None if continuation is None else bool(continuation)
    search = PoseSearch(robot)
    near = getattr(actuator_position, "start", None) if guess is None else guess
    start, own, refused = start_poses(search, near, len(target))
    if along:
        if len(start) != 1:
            raise InputError("guess: continuation along a motion starts from one pose; give one guess, or continuation=False")
        found = search_along(search, target, start, own, assembly == "any")
    else:
        every = np.zeros(len(target), dtype=np.int64) if len(start) == 1 else np.arange(len(target))
        found = search.search(target, start.at(every), own[every])
        refused = refused[every]
    reasons = reasons_of_poses(robot, search, found, target, assembly)
    guilty = np.broadcast_to(refused, reasons.shape)
    reasons = np.where((guilty != "") & ~np.char.startswith(reasons.astype(str), "input is not"), guilty, reasons).astype(str)
    poses = found.poses.copy()
    poses.joints[reasons != ""] = np.nan
    rotating = np.array([unit == "rad" for unit in robot.coordinate_units], dtype=bool)
    make_continuous(poses.joints, rotating, np.concatenate([leg.home for leg in robot.legs]), along=along)
    poses.joints[:, list(robot.driven)] = target
    return SolvedPoses(poses=poses, found=found, reasons=reasons, at=at)


def raise_unfound(robot: Robot, solved: SolvedPoses, reasons: NDArray[np.str_], on_error: OnError) -> None:
    """Raise for the first sample without a pose, unless a mask is wanted."""
    try:
        raise_failed("forward kinematics", robot, reasons, solved.at, on_error)
    except SampleError as error:
        raise PoseNotFoundError.of(robot, error, solved.found) from None


def platform_rates(
    robot: Robot, poses: Poses, velocity: Array, acceleration: Array | None, reasons: NDArray[np.str_]
) -> tuple[dict[str, Variable], NDArray[np.str_]]:
    """Twist and acceleration of the platform at known poses.

    Args:
        velocity, acceleration: (n, actuators); without acceleration only twists are meant.
        reasons: so far; samples that have one are passed over.
    Returns:
        variables (dimensions, values, unit) by name, and the reasons with new ones.
    """
    bound = kernel(robot, "platform_from_actuators")
    good = np.flatnonzero(reasons == "")
    second = np.zeros_like(velocity) if acceleration is None else acceleration
    given = {
        "position": poses.position[good],
        "rotation": poses.rotation[good],
        "actuator_velocity": np.ascontiguousarray(velocity[good]),
        "actuator_acceleration": np.ascontiguousarray(second[good]),
        "guess": poses.joints[good],
    }
    batch = bound.batch({i.name: given[i.name] for i in bound.signature.inputs})
    result = reasons.astype(object)
    result[good] = reasons_of(
        bound.signature, batch.status, {k: given[k] for k in ("actuator_velocity", "actuator_acceleration")}
    )
    if "rate_residual" in batch.outputs:
        for name, what, size in (("rate_residual", "rates", velocity), ("acceleration_residual", "accelerations", acceleration)):
            if size is None:
                continue
            residual = np.abs(batch.outputs[name])
            limit = CONSISTENT * (1.0 + np.abs(size[good]).max(axis=1) + (velocity[good] ** 2).max(axis=1))
            for k in np.flatnonzero((residual.max(axis=1) > limit) & (result[good] == "")):
                worst = int(residual[k].argmax())
                result[good[k]] = (
                    f"the {what} of the actuators contradict each other: no platform motion fits all {len(robot.actuators)}; "
                    f"actuator {robot.actuators[worst]} misses by {residual[k, worst]:.6g} of the best fit"
                )
    variables: dict[str, Variable] = {}
    for output in bound.signature.outputs:
        if output.name in RATES:
            values = np.full((len(reasons), 3), np.nan)
            values[good] = batch.outputs[output.name]
            variables[output.name] = (("axis",), values, output.unit)
    return variables, result.astype(str)
