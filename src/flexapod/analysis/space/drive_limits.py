"""Speeds, forces and powers of the actuators along a motion, against the limits in the robot's file."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.results import Variable
from flexapod.analysis.requests.violations import Collector
from flexapod.analysis.space.limits import SLACK, RobotLimits
from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics
from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics
from flexapod.arrays import Array
from flexapod.motions.motion import Motion

Variables = dict[str, Variable]


def drive_limits(
    limits: RobotLimits, motion: Motion, friction: bool, wrench: ArrayLike | None, collector: Collector
) -> Variables:
    """Margins of speed, and of force and power where the file limits them; what is violated is reported.

    Forces are those of inverse dynamics, powers force times rate; both count by size: an actuator that brakes takes power.

    Args:
        friction, wrench: as `inverse_dynamics` takes them.

    Checked by: tests/analysis/test_fit_motion.py.
    """
    robot = limits.robot
    rates = inverse_kinematics(robot, motion, joints=False, on_error="mask")["actuator_velocity"].values
    variables: Variables = {"speed_margin": (("actuator",), limits.speed - np.abs(rates), "m/s or rad/s")}
    _report(limits, "speed", np.abs(rates), [f"{unit}/s" for unit in robot.actuator_units], collector)
    if not np.isfinite([limits.force, limits.power]).any():
        return variables
    needed = inverse_dynamics(robot, motion, friction=friction, wrench=wrench, on_error="mask")
    force, power = np.abs(needed["force"].values), np.abs(needed["power"].values)
    units = ["N" if unit == "m" else "N m" for unit in robot.actuator_units]
    _report(limits, "force", force, units, collector)
    _report(limits, "power", power, ["W"] * len(units), collector)
    variables["force_margin"] = (("actuator",), limits.force - force, "N or N m")
    variables["power_margin"] = (("actuator",), limits.power - power, "W")
    return variables


PHRASES = {"speed": "is too fast", "force": "needs too much force", "power": "needs too much power"}


def _report(limits: RobotLimits, kind: str, size: Array, units: list[str], collector: Collector) -> None:
    """Report actuators whose speed, force or power (n, actuators) is above its limit."""
    for k, name in enumerate(limits.robot.actuators):
        high, own = float(getattr(limits, kind)[k]), size[:, k]
        if np.isfinite(high):
            phrase, slack = f"actuator {name} {PHRASES[kind]}", SLACK * max(high, 1.0)
            collector.beyond(kind, name, phrase, value=own, limit=high, excess=own - high, unit=units[k], slack=slack)
