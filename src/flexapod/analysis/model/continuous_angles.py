"""Angles of joints without jumps: near home, and continuous along a motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from flexapod.analysis.requests.results import Variable
    from flexapod.robot.robot import Robot


def continue_angles(robot: Robot, variables: Mapping[str, Variable], along: bool) -> None:
    """Angles of actuators and joints near home and without jumps along a motion, in place."""
    for name, kinds in (("actuator_position", robot.actuator_units), ("joint_position", robot.coordinate_units)):
        if name in variables:
            angles = np.array([unit == "rad" for unit in kinds], dtype=bool)
            near = np.concatenate([leg.home for leg in robot.legs])
            near = near if name == "joint_position" else near[list(robot.driven)]
            make_continuous(variables[name][1], angles, near, along=along)


def make_continuous(values: NDArray[np.float64], angles: NDArray[np.bool_], near: NDArray[np.float64], along: bool) -> None:
    """Shift angles by whole revolutions, in place: within half a revolution of home, and without jumps along a motion.

    Args:
        values: (n, k) coordinates; NaN where a sample failed.
        angles: (k,) which of them are angles.
        near: (k,) coordinates at home.
        along: the samples follow each other in time.
    """
    revolution = 2.0 * np.pi
    if not angles.any() or (len(values) and np.all(np.abs(_extremes(values) - near)[:, angles] < revolution / 4.0)):
        return  # none is farther from another than half a revolution
    good = np.all(np.isfinite(values), axis=1)
    chosen = np.ix_(good, angles)
    if not values[chosen].size:
        return
    part = values[chosen]
    part = part - revolution * np.round((part - near[angles]) / revolution)
    values[chosen] = np.unwrap(part, axis=0) if along else part


def _extremes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """(2, k) smallest and largest of every column; NaN where there is one."""
    return np.array([values.min(axis=0), values.max(axis=0)])
