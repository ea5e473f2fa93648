"""`forward_kinematics`: the platform's pose from actuator coordinates; along a motion also twist and acceleration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.poses.pose_along import search_along
from flexapod.analysis.poses.pose_guess import start_poses
from flexapod.analysis.poses.pose_reasons import PoseNotFoundError, reasons_of_poses
from flexapod.analysis.poses.pose_search import Poses, PoseSearch, Search
from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.actuator_targets import Samples, targets
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.over_designs import over_designs
from flexapod.analysis.requests.results import OnError, SampleError, check_option, dataset, raise_failed
from flexapod.analysis.verbs.assembly_modes import assembly_modes
from flexapod.analysis.verbs.inverse_kinematics import make_continuous
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.results import Variable
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot

Assembly = Literal["same", "any"]
Method = Literal["newton", "all"]


@dataclass(frozen=True, kw_only=True)
class Solved:
    """Poses of actuator coordinates with the reason where there is none."""

    poses: Poses
    found: Search
    reasons: NDArray[np.str_]
    at: Samples


@checked
@over_designs
def forward_kinematics(
    robot: Robot,
    actuator_position: Any,
    guess: Any = None,
    on_error: OnError = "raise",
    continuation: bool | None = None,
    *,
    assembly: Assembly = "same",
    method: Method = "newton",
    certify: bool = False,
    parameters: Mapping[str, ArrayLike] | None = None,
) -> xr.Dataset:
    """The platform's pose from actuator coordinates.

    The pose is the one that the robot reaches when its actuators move straight from the guess's coordinates to the wanted
    ones: the assembly mode of the guess. Convergence is quadratic; where a large step leaves the branch, smaller ones
    are made. Flexible bodies are taken undeformed.

    Args:
        robot: any robot with as many actuators as degrees of freedom, or more.
        actuator_position: (actuators,), (n, actuators) or an `ActuatorMotion` [m or rad].
        guess: pose to start from: a `State`, or an earlier result; home if left out. One, or one per sample.
        on_error: ``"raise"``, or ``"mask"`` to get `valid` and `reason` per sample.
        continuation: each sample starts from the one before; the default for an `ActuatorMotion` only.
        assembly: ``"any"`` accepts poses on another assembly mode than the guess's.
        method: ``"all"`` gives every real pose instead, as `assembly_modes` does; it needs no guess.
        certify: prove that the pose is the one that the robot reaches from the guess along the straight path of the actuators
            without a singular pose, or give the reason why there is none (six UPS, PUS or RUS legs; 0.1 s per sample, half a
            minute where the target is far out of reach).
            With ``method="all"``: prove every pose. Without it, a guard decides; docs/theory/assembly-modes.md has its miss rate.
        parameters: designs: paths of the robot file to values: (k,) of k designs, for n samples (n,), (k, 1) or (k, n); see
            the page on many designs.
    Returns:
        Dataset over `time` or `sample`: `position`, `rotation`, `joint_position`, `residual` (.., actuator), `passes`; for
        an `ActuatorMotion` also `velocity`, `angular_velocity`, `acceleration`, `angular_acceleration`; certified ones also
        `certified` and `segments`.
    Raises:
        PoseNotFoundError: no such pose: names the actuator, its residual and the nearest pose.

    Checked by: tests/analysis/test_pose_from_actuators.py.
    """
    check_option("method", method, ("newton", "all"))
    if method == "all":
        if guess is not None or continuation is not None or assembly != "same":
            raise InputError("method='all' needs no guess, continuation or assembly: it gives all poses")
        return assembly_modes(robot, actuator_position, certify=certify, on_error=on_error)
    proofs = None
    refuse(robot, "forward_kinematics", method=method, certify=certify)
    if not robot.follows_platform:
        from flexapod.analysis.poses.loop_kinematics import loop_forward_kinematics

        return loop_forward_kinematics(robot, *targets(robot, actuator_position), actuator_position, guess, on_error)
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
        from flexapod.analysis.verbs.platform_motion import platform_rates

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
    actuator_position: Any,
    guess: State | Motion | xr.Dataset | None,
    continuation: bool | None,
    assembly: str,
) -> Solved:
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
    return Solved(poses=poses, found=found, reasons=reasons, at=at)


def raise_unfound(robot: Robot, solved: Solved, reasons: NDArray[np.str_], on_error: OnError) -> None:
    """Raise for the first sample without a pose, unless a mask is wanted."""
    try:
        raise_failed("forward kinematics", robot, reasons, solved.at, on_error)
    except SampleError as error:
        raise PoseNotFoundError.of(robot, error, solved.found) from None
