"""Elastic coordinates of flexible legs integrated along an actuator motion: `elastic="simulate"`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.leg_request import LegRequest
from flexapod.analysis.loads import platform_wrench
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

STEP = 1e-3
"""Largest step [s]: the Gauss method of order 6 keeps the phase of a 100 Hz vibration to 1e-6 of a turn per step."""


def simulated_request(robot: Robot, motion: Any, load: tuple[Any, Any, str], friction: bool, words: NDArray[Any]) -> LegRequest:
    """States along an actuator motion, from the static deflection at its start.

    Checked by: tests/simulation/test_leg_simulation.py.
    """
    from flexapod.simulation.leg_run import LegLayout
    from flexapod.simulation.leg_simulate import check_size, closed_rows, integrate

    if not isinstance(motion, ActuatorMotion) or len(motion) < 2:
        raise InputError(f"elastic='simulate' of {robot.name} integrates along an ActuatorMotion, not a {type(motion).__name__}")
    if load[0] is not None:
        raise InputError("elastic='simulate' of flexible legs takes no wrench; leave it out")
    check_size(robot)
    layout = LegLayout(robot=robot, drive="actuators", friction=friction, method="implicit")
    time = motion.time - motion.time[0]
    counts = np.maximum(np.ceil(np.diff(time) / STEP - 1e-9).astype(int), 1)
    inner = [np.linspace(time[k], time[k + 1], n, endpoint=False) for k, n in enumerate(counts)]
    rows, stopped = integrate(layout, motion, None, None, np.append(np.concatenate(inner), time[-1]), False)
    at = np.concatenate([[0], np.cumsum(counts)])
    if stopped:
        known = at < len(rows)
        words[~known] = stopped
        at = np.minimum(at, len(rows) - 1)
    chosen = rows[at]
    parts = layout.split(chosen.T)
    n = len(robot.elastic_plan.independent)
    state = closed_rows(layout, parts["y"].T, parts["modes"].T, chosen[:, layout.size : layout.size + n])
    none = platform_wrench(robot, state.inputs(), None, None, "world")
    return LegRequest(state=state, actuator_acceleration=motion.acceleration, acceleration=None, wrench=none, source="simulate")
