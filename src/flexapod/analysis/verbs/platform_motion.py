"""`platform_motion`: the platform's motion from the actuators' motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.poses.forward_poses import RATES, platform_rates, raise_unfound, solve
from flexapod.analysis.requests.arguments import checked
from flexapod.analysis.requests.state import State
from flexapod.analysis.verbs.forward_kinematics import forward_kinematics
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.argument_checks import real_array
from flexapod.motions.motion import ActuatorMotion, Motion, with_formula

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.request import Request
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot


@checked
def platform_motion(robot: Robot, motion: ActuatorMotion, guess: State | Motion | xr.Dataset | None = None) -> Motion:
    """The motion of the platform that a motion of the actuators makes, exact to second order.

    Poses follow by continuation from the guess (home if left out); twist and acceleration solve the first- and second-order
    closing equations, so that nothing is differentiated numerically. A formula of the motion is kept: the result can be
    evaluated at other times as exactly.

    Args:
        robot: any robot with as many actuators as degrees of freedom, or more.
        motion: of the actuators.
        guess: pose near the first sample: a `State`, or an earlier result.
    Returns:
        `Motion` of the platform frame at the times of the actuator motion, world axes.
    Raises:
        PoseNotFoundError: names the time, the actuator and by how much it misses.

    Checked by: tests/analysis/test_actuator_motion.py.
    """
    if not isinstance(motion, ActuatorMotion):
        raise InputError(f"motion: expected an ActuatorMotion, got {type(motion).__name__}")
    result = forward_kinematics(robot, motion, guess)
    found = _as_motion(motion.time, result)
    formula = motion.formula
    if formula is None:
        return found

    def at(time: Array) -> Motion:
        """Other times: each sample starts from the nearest known one."""
        nearest = np.abs(np.asarray(time)[:, None] - motion.time[None, :]).argmin(axis=1)
        other = formula(time)
        near = result.isel(time=nearest)
        return _as_motion(other.time, forward_kinematics(robot, other, near, continuation=False))

    return with_formula(found, at)


def as_platform(robot: Robot, motion: StateOrMotion) -> Any:
    """An `ActuatorMotion` as the platform's motion; anything else as it is."""
    return platform_motion(robot, motion) if isinstance(motion, ActuatorMotion) else motion


def _as_motion(time: Array, result: xr.Dataset) -> Motion:
    return Motion(time=time, **{name: result[name].values for name in ("position", "rotation", *RATES)})


def pose_from_actuators(
    robot: Robot, request: Request, velocity: ArrayLike | None, guess: State | Motion | xr.Dataset | None
) -> State:
    """The undeformed platform's state from actuator coordinates and rates; see `State.from_actuators`."""
    from flexapod.analysis.model.elastic_coordinates import refuse_elastic

    refuse_elastic(robot, request.elastic, request.elastic_velocity)
    position = request.at
    solved = solve(robot, position, guess, None, "same")
    rows = np.zeros((len(solved.at), len(robot.actuators)))
    if velocity is not None:
        rows[...] = real_array("velocity", velocity, np.shape(position)).reshape(rows.shape)
    found, reasons = platform_rates(robot, solved.poses, rows, None, solved.reasons)
    raise_unfound(robot, solved, reasons, "raise")
    pick = 0 if solved.at.single else slice(None)
    return State(
        position=solved.poses.position[pick],
        rotation=solved.poses.rotation[pick],
        velocity=found["velocity"][1][pick],
        angular_velocity=found["angular_velocity"][1][pick],
    )
