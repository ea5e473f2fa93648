"""From a request (motion or state, elastic coordinates, load) to closed coordinates of all joints, for any robot.

Legs with a closed form are closed by it, deformed joints included; rigid general legs by inverse kinematics; what deforms itself
by Newton's method from its neighbour or from home (`leg_request`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.closed_legs import ClosedLegs
from flexapod.analysis.elastic_state import elastic_state
from flexapod.analysis.flexible_load import flexible_load
from flexapod.analysis.inverse_kinematics import platform_inputs, solve_from_home
from flexapod.analysis.kernels import kernel
from flexapod.analysis.leg_request import LegRequest, leg_request
from flexapod.analysis.loads import platform_wrench
from flexapod.analysis.results import reasons
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]


def closed_request(
    robot: Robot, motion: Any, elastic: Any, elastic_velocity: Any, load: tuple[Any, Any, str], friction: bool,
    words: NDArray[Any],
) -> LegRequest:  # fmt: skip
    """Closed states of a request; arguments as for `inverse_dynamics`, `load` = (wrench, point, axes).

    Checked by: tests/analysis/test_general_dynamics.py.
    """
    if robot.elastic_legs:
        return leg_request(robot, motion, elastic, elastic_velocity, load, friction, words)
    from flexapod.analysis.platform_motion import as_platform

    inputs = platform_inputs(as_platform(robot, motion))
    modes = np.zeros((len(words), 0))
    rates, source = modes, "zero"
    wrench = platform_wrench(robot, inputs, *load)
    if robot.flexible_platform is not None:
        acting = flexible_load(robot, inputs, *load)
        found = elastic_state(robot, motion, inputs, acting, elastic, elastic_velocity, words)
        modes, rates, source = found.elastic, found.elastic_velocity, found.source
        wrench, pressed = acting.at(inputs["rotation"], modes)
        if np.any(pressed):
            raise InputError("point: a load at a point of a flexible platform has no reactions here; give it at the origin")
    q, qd = _joints(robot, inputs, modes, rates, words)
    state = ClosedLegs(
        joint_position=q, joint_velocity=qd, position=inputs["position"], rotation=inputs["rotation"],
        velocity=inputs["velocity"], angular_velocity=inputs["angular_velocity"], modes=modes, modes_velocity=rates,
    )  # fmt: skip
    acceleration = np.concatenate([inputs["acceleration"], inputs["angular_acceleration"]], axis=1)
    return LegRequest(state=state, actuator_acceleration=None, acceleration=acceleration, wrench=wrench, source=source)


def _joints(robot: Robot, inputs: dict[str, Array], modes: Array, rates: Array, words: NDArray[Any]) -> tuple[Array, Array]:
    """Joint coordinates and rates (n, joints) where every leg follows from the platform."""
    if robot.flexible_platform is None:
        bound = kernel(robot, "inverse_kinematics", detail="joints")
        batch, given = solve_from_home(bound, inputs)
    else:
        bound = kernel(robot, "flexible_kinematics", detail="joints")
        at = {**inputs, "elastic": modes, "elastic_velocity": rates, "elastic_acceleration": np.zeros_like(modes)}
        given = {i.name: at[i.name] for i in bound.signature.inputs}
        batch = bound.batch(given)
    why = reasons(bound.signature, batch.status, given)
    words[words == ""] = why[words == ""]
    return batch.outputs["joint_position"], batch.outputs["joint_velocity"]
