"""Rules for elastic coordinates and rates of a `State` per verb: used, or refused with the reason; never ignored.

Elastic coordinates of the wrong number are refused everywhere, and so are those of a rigid robot and, unless samples are masked,
those that are no numbers. Verbs that find the deflection themselves start there, or ask that it is an equilibrium.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State, StateOrMotion
    from flexapod.robot.robot import Robot

UNDEFORMED = ("jacobian", "conditioning", "singularities", "check_pose", "working_modes")
"""Verbs of the pose of the undeformed robot."""

AT_REST = ("natural_frequencies", "cartesian_stiffness", "static_deflection", "internal_dynamics", "buckling")
"""Verbs of an equilibrium. A motion gives them its poses; a state that moves is no equilibrium."""


def check_given(verb: str, given: Mapping[str, object]) -> None:
    """Refuse states among the arguments of a verb whose elastic coordinates or rates it cannot use.

    Checked by: tests/analysis/test_state_rules.py.
    """
    from flexapod.analysis.requests.state import State
    from flexapod.robot.robot import Robot

    robot = given.get("robot")
    if not isinstance(robot, Robot):
        return
    mask = given.get("on_error") == "mask"
    for value in given.values():
        if isinstance(value, State):
            _check_elastic(verb, robot, value, mask)
    state = given.get("state")
    if verb in AT_REST and isinstance(state, State):
        _check_rest(verb, robot, state)


def _check_elastic(verb: str, robot: Robot, state: State, mask: bool) -> None:
    if state.elastic is None:
        return
    size, wanted = state.elastic.shape[-1], len(robot.elastic_names)
    if size and not wanted:
        raise InputError(f"elastic: {robot.name} is rigid and has no elastic coordinates; leave it out")
    if size != wanted:
        raise InputError(
            f"elastic: expected {wanted} numbers, one entry per elastic coordinate of {robot.name}, got {size}; "
            "robot.elastic_names lists them"
        )
    for name in ("elastic", "elastic_velocity"):
        good = np.isfinite(np.atleast_2d(getattr(state, name))).all(axis=1)
        if not mask and not good.all():
            raise InputError(f"{name}: is not a finite number in sample {int(good.argmin())} of the state")
    if size and verb in UNDEFORMED:
        raise InputError(
            f"elastic: {verb} is about the undeformed robot and does not use elastic coordinates of a state; "
            "give State(position=..., rotation=...)"
        )


def _check_rest(verb: str, robot: Robot, state: State) -> None:
    if not has_velocity(state):
        return
    there = ", and moving_frequencies along an ActuatorMotion" if robot.elastic_names else ""
    raise InputError(
        f"velocity: {verb} is about an equilibrium at rest and does not use velocities of a state; leave them out. "
        f"linearize has the terms of a motion{there}"
    )


def has_velocity(state: StateOrMotion) -> bool | None:
    """True where a state or motion has a velocity, else None."""
    arrays = (getattr(state, name, None) for name in ("velocity", "angular_velocity", "elastic_velocity"))
    return True if any(array is not None and np.any(array) for array in arrays) else None
