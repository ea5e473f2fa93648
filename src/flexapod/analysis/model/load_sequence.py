"""A sequence of static equilibria of flexible legs with the actuators held: each starts from the one before.

Between two samples actuators and load go on a straight line; a step that finds no equilibrium, or one that is far off, is halved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.closed_legs import ActuatorState, ClosedLegs, LegRequest, close, home
from flexapod.analysis.model.point_load import wrench_and_mode_forces
from flexapod.analysis.model.quasi_static import held_deflection
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.argument_checks import real_array
from flexapod.motions.motion import ActuatorMotion

if TYPE_CHECKING:
    from flexapod.analysis.requests.request import Load
    from flexapod.analysis.requests.sample_blocks import Reasons
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.robot.robot import Robot


HALVINGS = 10
"""Steps between two samples become smaller down to 1/1024 of their distance."""

JUMP = 2.0
"""Largest change of an elastic coordinate in one step [rad, or of the characteristic length]: beyond it is another branch."""


def load_sequence(robot: Robot, motion: StateOrMotion, load: Load, reasons: Reasons) -> LegRequest:
    """Equilibria of the samples in their order; a sample that is not reached ends the sequence.

    Args:
        load: (wrench (6,) or (n, 6), point, axes).
        reasons: per sample, added to.

    Checked by: tests/analysis/test_load_sequence.py.
    """
    if not isinstance(motion, ActuatorMotion):
        raise InputError(f"sequence: needs an ActuatorMotion, whose actuators are held; got {type(motion).__name__}")
    wrench, point, axes = load
    count = len(motion)
    given = np.zeros((count, 6)) if wrench is None else np.array(real_array("wrench", wrench, np.shape(wrench)), dtype=float)
    if given.shape not in ((6,), (count, 6)):
        raise InputError(f"wrench: expected shape (6,) or ({count}, 6), got {given.shape}")
    loads = np.broadcast_to(given, (count, 6))
    state, q, w = home(robot, 1), home(robot, 1).actuators(robot)[0], np.zeros((1, 6))
    found: list[ClosedLegs] = []
    wrenches: list[Array] = []
    for k in range(count):
        if reasons[k] == "" and (k == 0 or reasons[k - 1] == ""):
            state, reason = _walk(robot, state, (q, w), (motion.position[k : k + 1], loads[k : k + 1]), (point, axes))
            reasons[k] = reason
        elif reasons[k] == "":
            reasons[k] = "an earlier sample of the load sequence has no equilibrium"
        q, w = motion.position[k : k + 1], loads[k : k + 1]
        found.append(state)
        wrenches.append(wrench_and_mode_forces(robot, state, (w, point, axes)))
    arrays = {name: np.concatenate([s.inputs()[name] for s in found]) for name in state.inputs()}
    none = np.zeros_like(motion.position)
    whole = np.concatenate(wrenches)
    return LegRequest(state=ClosedLegs(**arrays), actuator_acceleration=none, acceleration=None, wrench=whole, source="static")


def _walk(
    robot: Robot, state: ClosedLegs, start: tuple[Array, Array], end: tuple[Array, Array], how: tuple[str | None, str]
) -> tuple[ClosedLegs, str]:
    """The equilibrium at the end of a straight line of actuators and load, and why it was not found (empty: it was)."""
    at, step, reason = 0.0, 1.0, ""
    while at < 1.0:
        following = min(1.0, at + step)
        q, w = (a + following * (b - a) for a, b in zip(start, end, strict=True))
        own = np.full(1, "", dtype=object)
        e, _ = state.elastic(robot)
        trial = close(robot, state, ActuatorState(q=q, e=e, qd=np.zeros_like(q), ed=np.zeros_like(e)), own)
        load = (w, how[0], how[1]) if np.any(w) else (None, None, "world")
        trial, _ = held_deflection(robot, trial, load, np.zeros_like(q), False, own)
        jump = np.abs(trial.elastic(robot)[0] - e).max(initial=0.0)
        if own[0] == "" and jump < JUMP * max(1.0, robot.characteristic_length):
            state, at, step = trial, following, 2.0 * step
        else:
            reason = str(own[0]) or "no static deflection found: the robot snaps through to another equilibrium"
            step /= 2.0
            if step < 0.5**HALVINGS:
                return state, reason
    return state, ""
