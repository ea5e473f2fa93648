"""A box of positions that no pose of a robot with closed-form legs can leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.space.limits import limits_of
from flexapod.arrays import Array
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.robot.model import Leg
    from flexapod.robot.robot import Robot


def search_box(robot: Robot, rotation: Array | bool | None = None) -> dict[str, tuple[float, float]]:
    """Axis -> (smallest, largest) of the platform's position at an orientation; for any orientation if rotation is False.

    Every spherical centre lies within a leg's reach of where its universal centre can be.
    """
    limits, R = limits_of(robot), robot.home.rotation if rotation is None else rotation
    low, high = np.full(3, -np.inf), np.full(3, np.inf)
    for k, leg in enumerate(robot.legs):

        def value(name: str, leg: Leg = leg) -> Array:
            return np.array([robot.values[f"legs.{leg.name}.{name}.{a}"] for a in "xyz"])

        def scalar(name: str, leg: Leg = leg) -> float:
            return float(robot.values[f"legs.{leg.name}.{name}"])

        S = value("S")
        if leg.architecture == "RUS":
            centres, reach = value("pivot")[None], float(np.linalg.norm(value("U") - value("pivot"))) + scalar("length")
        elif not np.isfinite([limits.low[k], limits.high[k]]).all():
            raise InputError(f"{robot.name}: actuator {robot.actuators[k]} has no stroke; give the region of the paving")
        elif leg.architecture == "UPS":
            centres, reach = value("U")[None], limits.high[k] + scalar("length") + scalar("zero")
        else:
            travel = np.array([limits.low[k], limits.high[k]]) + scalar("zero")
            centres, reach = value("U") + travel[:, None] * value("drive"), scalar("length")
        if R is False:
            offset, reach = np.zeros(3), reach + float(np.linalg.norm(S))
        else:
            offset = R @ S
        low = np.maximum(low, centres.min(axis=0) - reach - offset)
        high = np.minimum(high, centres.max(axis=0) + reach - offset)
    if np.any(low >= high):
        raise InputError(f"{robot.name}: no position is within the reach of all legs at this orientation")
    return {name: (float(a), float(b)) for name, a, b in zip("xyz", low, high, strict=True)}
