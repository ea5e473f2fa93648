"""Actuators that follow a motion exactly: kinematics give the motion, inverse dynamics the forces; only work is integrated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.motion import ActuatorMotion, Motion
from flexapod.rotation_arrays import rotation_quaternion
from flexapod.simulation.results.result import energy_balance, labelled, observed, provenance, with_reactions
from flexapod.simulation.system.friction_wrench import check_friction
from flexapod.simulation.system.layout import Layout
from flexapod.simulation.system.load_friction import smooth
from flexapod.simulation.system.setup import Setup, as_platform
from flexapod.simulation.system.signals import motion_at, over_time

if TYPE_CHECKING:
    import xarray as xr

    from flexapod.analysis.requests.state import State
    from flexapod.robot.robot import Robot
    from flexapod.simulation.system.signals import Given


def follow_exactly(
    robot: Robot, motion: Motion | ActuatorMotion | State, options: dict[str, Any], wrench: Given | None, reactions: bool
) -> xr.Dataset:
    """The result of `simulate(drive="actuators")`: work by Simpson's rule over steps.

    Args:
        options: of the simulation; `duration`, `step`, `output_step` and `friction` are among them.

    Checked by: tests/simulation/test_simulate.py.
    """
    from flexapod.analysis.requests.results import raise_failed
    from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics
    from flexapod.analysis.verbs.inverse_kinematics import joint_rates, platform_inputs

    if not isinstance(motion, Motion | ActuatorMotion):
        raise InputError("drive='actuators' needs a motion: give an ActuatorMotion or a Motion, not a State")
    duration, step, output_step = (options[name] for name in ("duration", "step", "output_step"))
    count = max(1, int(np.ceil(duration / step - 1e-9)))
    every = 1 if output_step is None else max(1, round(output_step / (duration / count)))
    times = np.linspace(0.0, duration, 2 * count + 1)
    platform = motion_at(as_platform(robot, motion), times)
    load = None if wrench is None else over_time("wrench", wrench, 6)(times)
    robot, sliding = _with_friction(robot, options["friction"])
    forces = inverse_dynamics(robot, platform, friction=sliding, wrench=load, reactions=reactions)
    rates, reasons, joints = joint_rates(robot, platform_inputs(platform))
    raise_failed("the motion", robot, reasons.astype(str), platform, "raise")
    force = forces.force.values
    twist = np.concatenate([platform.velocity, platform.angular_velocity], axis=1)
    work = _simpson(force * rates, duration / count)
    loaded = np.zeros((len(times), 1)) if load is None else np.sum(load * twist, axis=1, keepdims=True)
    heat = np.zeros((len(times), 1))
    if sliding:  # friction power: actuator power beyond that of the motion without friction
        smooth_force = inverse_dynamics(robot, platform, friction=False, wrench=load).force.values
        heat = np.sum((force - smooth_force) * rates, axis=1, keepdims=True)
    lost = _simpson(heat, duration / count)
    external = _simpson(loaded, duration / count)
    travel = _simpson(rates, duration / count)
    layout = Layout(robot=robot, controller=None, method="rk4", rows=1)
    setup = Setup(layout=layout, values=dict(robot.values), signals={}, start=np.zeros(layout.size))
    keep = np.unique(np.append(np.arange(0, count + 1, every), count))
    at, place = 2 * keep, layout.places
    states = np.zeros((len(keep), layout.size))
    states[:, place["p"]], states[:, place["quat"]] = platform.position[at], rotation_quaternion(platform.rotation[at])
    states[:, place["v"]], states[:, place["w"]] = platform.velocity[at], platform.angular_velocity[at]
    if place["joints"].stop > place["joints"].start:
        states[:, place["joints"]] = joints[at]
    seen = observed(setup, states)
    axis, act = ("axis",), ("actuator",)
    unit = "m" if set(robot.actuator_units) == {"m"} else "rad" if set(robot.actuator_units) == {"rad"} else "m or rad"
    variables: dict[str, Any] = {
        "position": (axis, platform.position[at], "m"), "rotation": (("axis", "body_axis"), platform.rotation[at], ""),
        "velocity": (axis, platform.velocity[at], "m/s"), "angular_velocity": (axis, platform.angular_velocity[at], "rad/s"),
        "acceleration": (axis, platform.acceleration[at], "m/s^2"),
        "angular_acceleration": (axis, platform.angular_acceleration[at], "rad/s^2"),
        "actuator_position": (act, seen["actuator_position"], unit),
        "actuator_velocity": (act, seen["actuator_velocity"], f"{unit}/s"),
        "actuator_travel": (act, seen["actuator_position"][0] + travel[keep], unit),
        "force": (act, force[at], forces.force.attrs["units"]), "power": (act, (force * rates)[at], "W"),
        "joint_position": (("joint",), seen["joint_position"], "m or rad"),
        **energy_balance(seen["energy"], work[keep], external[keep, 0], lost[keep, 0]),
    }  # fmt: skip
    attrs = {**provenance(setup, options), "interrupted": 0, "events": []}
    result = labelled(setup, variables, times[at], attrs)
    return with_reactions(result, forces.isel(time=at)) if reactions else result


def _with_friction(robot: Robot, friction: bool | str) -> tuple[Robot, bool]:
    """The robot with smooth friction, and whether its joints have any."""
    kind = check_friction(robot, friction)
    return (smooth(robot), True) if kind else (robot, False)


def _simpson(values: Array, step: float) -> Array:
    """Integrals (n + 1, k) at the ends of steps from values (2 n + 1, k) at ends and middles."""
    parts = step / 6.0 * (values[0:-1:2] + 4.0 * values[1::2] + values[2::2])
    return np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(parts, axis=0)])
