r"""Forward kinematics where loops run through the platform's own link or several legs: all closed from the actuators.

.. math:: r(z) = 0\ \text{at}\ u,\qquad \dot x = J\dot u,\qquad \ddot x = J\ddot u + \dot J\dot u

Legs cannot be closed one by one here; the actuators move from home to where they are wanted, and the loops are closed on the way
(`closed_legs.close_along`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.model.closed_legs import ActuatorState, close_along, platform_jacobian
from flexapod.analysis.model.closing_signs import wrong_way
from flexapod.analysis.requests.program_refusals import undetermined
from flexapod.analysis.requests.results import OnError, dataset, raise_failed
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion
from flexapod.robot.elastic_plan import chosen_drives, undriven

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.actuator_targets import Samples
    from flexapod.analysis.requests.results import Variable
    from flexapod.robot.robot import Robot


def forward_kinematics_of_loops(
    robot: Robot, target: Array, at: Samples, motion: ArrayLike | ActuatorMotion, guess: object, on_error: OnError
) -> xr.Dataset:
    """Poses, and rates along an `ActuatorMotion`; see `forward_kinematics`.

    Args:
        target: (n, actuators); at: what they belong to; motion: as the user gave it.

    Source: Briot 2014 Eqs. (28)-(40). Checked by: tests/robot/test_inner_loops.py.
    """
    if guess is not None:
        raise InputError(
            f"guess: poses of {robot.name}, whose loops run through its platform or several legs, are followed from home; "
            "leave it out"
        )
    own, driven = chosen_drives(robot)
    if undriven(robot):
        raise undetermined(robot)
    reasons = np.full(len(target), "", dtype=object)
    rates = motion.velocity if isinstance(motion, ActuatorMotion) else np.zeros_like(target)
    none = np.zeros((len(target), len(robot.elastic_names)))
    state = close_along(robot, ActuatorState(q=target, e=none, qd=rates, ed=none), reasons)
    if not robot.elastic_names:
        wrong = wrong_way(robot, np.array(state.joint_position), np.array(state.position), np.array(state.rotation))
        reasons[reasons == ""] = wrong[reasons == ""]
    raise_failed("forward kinematics", robot, reasons.astype(str), at, on_error)
    variables: dict[str, Variable] = {
        "position": (("axis",), np.array(state.position), "m"),
        "rotation": (("axis", "body_axis"), np.array(state.rotation), ""),
        "joint_position": (("joint",), np.array(state.joint_position), "m or rad"),
    }
    if isinstance(motion, ActuatorMotion):
        J, drift = platform_jacobian(robot, state, reasons)
        second = np.zeros((len(target), J.shape[2]))
        second[:, driven] = motion.acceleration[:, own]
        V = np.einsum("niu,nu->ni", J, second) + drift
        variables |= {
            "velocity": (("axis",), np.array(state.velocity), "m/s"),
            "angular_velocity": (("axis",), np.array(state.angular_velocity), "rad/s"),
            "acceleration": (("axis",), V[:, :3].copy(), "m/s^2"),
            "angular_acceleration": (("axis",), V[:, 3:].copy(), "rad/s^2"),
        }
    variables["residual"] = (("actuator",), np.array(state.actuators(robot)[0] - target), "m or rad")
    for _, values, _ in variables.values():
        values[reasons != ""] = np.nan
    return dataset(robot, variables, at, reasons.astype(str) if on_error == "mask" else None)
