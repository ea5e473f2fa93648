"""State vector of a simulation at time 0: a state of the platform, derived values, the load at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.rotation_arrays import rotation_quaternion
from flexapod.simulation.system.flexible_start import elastic_start

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State
    from flexapod.simulation.system.layout import Layout
    from flexapod.simulation.system.setup import Setup


def first_load(setup: Setup) -> tuple[Array | None, Array | None]:
    """Load on the platform and its acceleration at time 0, where they are known."""
    now = np.zeros(1)
    load = setup.signals["wrench"](now)[0] if "wrench" in setup.signals else None
    if "acceleration" in setup.signals:
        return load, setup.signals["acceleration"](now)[0]
    return load, setup.signals["platform"](now)[0, 18:] if "platform" in setup.signals else None


def start_vector(setup: Setup, state: State, step: float) -> tuple[Array, dict[str, float]]:
    """Carried numbers of a state, and the numbers of the simulation completed with those that depend on the start."""
    from flexapod.analysis.requests.results import raise_failed
    from flexapod.analysis.verbs.inverse_kinematics import joint_rates, platform_inputs

    layout, values = setup.layout, dict(setup.values)
    inputs = platform_inputs(state)
    start, place = np.zeros(layout.size), layout.places
    if layout.elastic:
        e, ed = elastic_start(layout.robot, state, *first_load(setup))
        start[place["e"]], start[place["ed"]] = e[0], ed[0]
    else:
        _, reasons, joints = joint_rates(layout.robot, inputs, accelerations=False)
        raise_failed("the start of the simulation", layout.robot, reasons.astype(str), state, "raise")
    start[place["p"]], start[place["quat"]] = inputs["position"][0], rotation_quaternion(inputs["rotation"])[0]
    start[place["v"]], start[place["w"]] = inputs["velocity"][0], inputs["angular_velocity"][0]
    if place["joints"].stop > place["joints"].start:
        start[place["joints"]] = joints[0]
    if "step" in place:
        start[place["step"]] = step
    return complete_start(layout, start, values), values


def complete_start(layout: Layout, start: Array, values: dict[str, float], determinant: float | None = None) -> Array:
    """Carried numbers with those that follow from the state: determinant, actuators, readings of encoders. Adds to `values`."""
    from flexapod.simulation.integrators.runner import compiled
    from flexapod.simulation.system.observe import determinant_program, observed_at, pick_inputs

    place = layout.places
    if "determinant" in place:
        if determinant is None:
            kernel, parameters = compiled(layout, "determinant", determinant_program, values)
            determinant = float(kernel.batch(pick_inputs(layout, kernel, start[None]), parameters).outputs["determinant"][0])
        start[place["determinant"]], values["determinant.start"] = determinant, abs(determinant)
    q = observed_at(layout, values, start[None])["actuator_position"][0]
    start[place["travel"]] = q
    if "last" in place:
        names = [f"controller.resolution.{a}" for a in layout.robot.actuators]
        unit = np.array([values[name] for name in names])
        start[place["last"]] = np.where(unit > 0, np.floor(q / np.where(unit > 0, unit, 1.0) + 0.5) * unit, q)
    return start
