"""Start of a simulation in independent coordinates: a given state, else the static deflection under weight and load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion, Motion
from flexapod.simulation.system.signals import motion_at
from flexapod.simulation.system.start import complete_start, first_load

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import StateOrMotion
    from flexapod.simulation.system.independent import IndependentLayout
    from flexapod.simulation.system.setup import Setup


def independent_start(
    setup: Setup, layout: IndependentLayout, begin: StateOrMotion | None, step: float
) -> tuple[Array, dict[str, float]]:
    """Carried numbers at time 0 of a `State`, or of the first moment of a motion.

    Checked by: tests/simulation/test_leg_simulation.py.
    """
    from flexapod.analysis.model.leg_dynamics import independent_rates_at
    from flexapod.analysis.model.leg_request import leg_request
    from flexapod.analysis.requests.request import Request
    from flexapod.analysis.requests.results import raise_failed
    from flexapod.analysis.requests.state import State
    from flexapod.simulation.integrators.numeric_rows import drive_determinant_at, is_large

    robot, values = layout.robot, dict(setup.values)
    if isinstance(begin, State) and not begin.single:
        raise InputError("simulate starts from one State; `simulate_study` takes many")
    if isinstance(begin, ActuatorMotion | Motion):
        at = motion_at(begin, np.zeros(1))
        known = float("acceleration" in setup.signals)  # deflections are those of a start that accelerates, or of one at rest
        still = {name: known * getattr(at, name) for name in ("acceleration", "angular_acceleration") if hasattr(at, name)}
        names = ("position", "rotation", "velocity", "angular_velocity")
        begin = type(begin)(time=np.zeros(1), **{n: getattr(at, n) for n in names if hasattr(at, n)}, **still)
    if not isinstance(begin, ActuatorMotion | Motion | State):
        raise InputError(f"motion: expected a Motion, an ActuatorMotion or a State, got {type(begin).__name__}")
    reasons = np.full(1, "", dtype=object)
    state = leg_request(robot, Request(at=begin, wrench=first_load(setup)[0], friction=False), reasons).state
    raise_failed("the start of the simulation", robot, reasons.astype(str), begin, "raise")
    start, place = np.zeros(layout.size), layout.places
    found = {
        "p": state.position[0], "R": state.rotation[0].T.ravel(), "v": state.velocity[0], "w": state.angular_velocity[0],
        "joints": state.joint_position[0], "modes": state.modes[0], "ud": independent_rates_at(robot, state)[0],
    }  # fmt: skip
    for name, numbers in found.items():
        start[place[name]] = numbers
    if "step" in place:
        start[place["step"]] = step
    determinant = drive_determinant_at(robot, state, reasons) if is_large(layout) and "determinant" in place else None
    return complete_start(layout, start, values, determinant), values
