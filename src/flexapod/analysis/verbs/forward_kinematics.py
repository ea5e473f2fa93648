"""`forward_kinematics`: the platform's pose from actuator coordinates; along a motion also twist and acceleration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from numpy.typing import ArrayLike

from flexapod.analysis.poses.forward_poses import Assembly, forward_poses
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.over_designs import over_designs
from flexapod.analysis.requests.results import OnError, check_option
from flexapod.analysis.verbs.assembly_modes import assembly_modes
from flexapod.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import ActuatorMotion, Motion
    from flexapod.robot.robot import Robot

Method = Literal["newton", "all"]


@checked
@over_designs
def forward_kinematics(
    robot: Robot,
    actuator_position: ArrayLike | ActuatorMotion,
    guess: State | Motion | xr.Dataset | None = None,
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
            With ``method="all"``: prove every pose. Without it, a faster check is made; docs/theory/assembly-modes.md has its
            miss rate.
        parameters: designs: paths of the robot file to values: (k,) of k designs, for n samples (n,), (k, 1) or (k, n); see
            `docs/design.md`, Many designs in one line.
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
    return forward_poses(robot, actuator_position, guess, on_error, continuation, assembly=assembly, certify=certify)
