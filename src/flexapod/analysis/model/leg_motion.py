"""Elastic coordinates of flexible legs integrated along an actuator motion: `elastic="simulate"`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.closed_legs import LegRequest
from flexapod.analysis.requests.loads import platform_wrench
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion

if TYPE_CHECKING:
    from flexapod.analysis.requests.request import Load
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.setup import Setup

STEP = 1e-3
"""Largest step [s]: the Gauss method of order 6 keeps the phase of a 100 Hz vibration to 1e-6 of a revolution per step."""


def simulated_request(robot: Robot, motion: StateOrMotion, load: Load, friction: bool, reasons: Reasons) -> LegRequest:
    """States along an actuator motion, from the static deflection at its start.

    Checked by: tests/simulation/test_leg_simulation.py.
    """
    from flexapod.simulation.results.result import closed_states, observed
    from flexapod.simulation.system.setup import make_setup

    if not isinstance(motion, ActuatorMotion) or len(motion) < 2:
        raise InputError(f"elastic='simulate' of {robot.name} integrates along an ActuatorMotion, not a {type(motion).__name__}")
    if load[0] is not None and (load[1] is not None or load[2] != "world"):
        raise InputError("elastic='simulate': the load acts at the platform's origin in world axes; leave out point and axes")
    time = motion.time - motion.time[0]
    wrench = None if load[0] is None else (time, np.array(np.broadcast_to(np.asarray(load[0], dtype=float), (len(time), 6))))
    setup = make_setup(
        robot, motion, drive="actuators", controller=None, force=None, wrench=wrench, friction=friction, method="implicit",
        events=(), watch=(), start=None, tolerance=(1e-9, 1e-11), step=STEP,
    )  # fmt: skip
    states = _states(setup, time, reasons)
    state = closed_states(setup.layout, states, observed(setup, states))
    return LegRequest(
        state=state, actuator_acceleration=motion.acceleration, acceleration=None,
        wrench=platform_wrench(robot, state.inputs(), *load), source="simulate",
    )  # fmt: skip


def _states(setup: Setup, time: Array, reasons: Reasons) -> Array:
    """Carried numbers (n, size) at times, each interval in equal steps; samples after a failure get its reason."""
    from flexapod.simulation.integrators.numeric_rows import runner_of
    from flexapod.simulation.system.signals import Span, row_table

    layout, state = setup.layout, setup.start
    runner, result = runner_of(layout, setup.values), np.tile(state, (len(time), 1))
    for k, length in enumerate(np.diff(time)):
        count = max(int(np.ceil(length / STEP - 1e-9)), 1)
        table = np.zeros((count + -count % layout.rows, layout.columns))
        table[:count] = row_table(layout, setup.signals, Span(start=time[k], h=length / count, count=count))
        table[count:, 2:] = np.tile(table[count - 1, -layout.width :], len(layout.nodes))
        state, _ = runner.advance(state, table, np.zeros((len(table), runner.width)))
        code = state[layout.places["code"].start]
        if code != 0.0:
            reasons[k + 1 :] = runner.reason(code)
            break
        result[k + 1] = state
    return result
