"""Speeds, forces and powers of the actuators along a motion, against the limits in the robot's file."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexapod.analysis.requests.violations import Collector
from flexapod.analysis.space.limits import SLACK, Array, Limits
from flexapod.analysis.verbs.inverse_dynamics import inverse_dynamics
from flexapod.analysis.verbs.inverse_kinematics import inverse_kinematics
from flexapod.motions.motion import Motion

Variables = dict[str, tuple[Any, Any, str]]


def drive_limits(limits: Limits, motion: Motion, friction: bool, wrench: Any, collector: Collector) -> Variables:
    """Margins of speed, and of force and power where the file limits them; what is violated is reported.

    Forces are those of inverse dynamics, powers force times rate; both count by size: an actuator that brakes takes power.

    Args:
        friction, wrench: as `inverse_dynamics` takes them.

    Checked by: tests/analysis/test_fit_motion.py.
    """
    robot = limits.robot
    rates = inverse_kinematics(robot, motion, joints=False, on_error="mask")["actuator_velocity"].values
    variables: Variables = {"speed_margin": (("actuator",), limits.speed - np.abs(rates), "m/s or rad/s")}
    _report_text(
        limits, "speed", "is too fast", np.abs(rates), limits.speed, [f"{unit}/s" for unit in robot.actuator_units], collector
    )
    if not np.isfinite([limits.force, limits.power]).any():
        return variables
    needed = inverse_dynamics(robot, motion, friction=friction, wrench=wrench, on_error="mask")
    force, power = np.abs(needed["force"].values), np.abs(needed["power"].values)
    units = ["N" if unit == "m" else "N m" for unit in robot.actuator_units]
    _report_text(limits, "force", "needs too much force", force, limits.force, units, collector)
    _report_text(limits, "power", "needs too much power", power, limits.power, ["W"] * len(units), collector)
    variables["force_margin"] = (("actuator",), limits.force - force, "N or N m")
    variables["power_margin"] = (("actuator",), limits.power - power, "W")
    return variables


def _report_text(
    limits: Limits, kind: str, phrase: str, size: Array, limit: Array, units: list[str], collector: Collector
) -> None:
    for k, name in enumerate(limits.robot.actuators):
        high = float(limit[k])
        if np.isfinite(high):
            collector.beyond(
                kind, name, f"actuator {name} {phrase}", size[:, k], high, size[:, k] - high, units[k], SLACK * max(high, 1.0)
            )
