"""Distance [m] by which a leg cannot reach a pose: closed form for sliders and cranks, least squares for general legs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.geometry import pose
from flexapod.robot.leg_positions import closure, leg_rows
from flexapod.robot.model import Leg

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


def shortfall(robot: Robot, index: int, position: Array, rotation: Array) -> float:
    """Gap that remains at the platform joint of a leg when it comes as near as it can [m]; 0 where it reaches.

    Checked by: tests/analysis/test_limits.py.
    """
    leg, form = robot.legs[index], robot.closed_forms[index]
    if form is None:
        return _least_squares(leg, position, rotation)
    if leg.architecture == "UPS":
        return 0.0
    S = position + rotation @ form.S
    if leg.architecture == "PUS":
        d = S - form.U
        return max(0.0, float(np.linalg.norm(d - form.drive * (d @ form.drive))) - form.length)
    crank, d = form.U - form.pivot, S - form.pivot
    e = form.drive
    along = float(e @ crank)
    A, B = float(d @ crank) - along * float(e @ d), float(d @ np.cross(e, crank))
    middle, swing = float(d @ d + crank @ crank) - 2.0 * along * float(e @ d), 2.0 * float(np.hypot(A, B))
    nearest, farthest = np.sqrt(max(0.0, middle - swing)), np.sqrt(middle + swing)
    return float(max(0.0, nearest - form.length, form.length - farthest))


def _least_squares(leg: Leg, position: Array, rotation: Array) -> float:
    from scipy.optimize import least_squares

    platform = pose(position, rotation)
    lengths = np.array([row[0] != "axes" for row in leg_rows(leg)])

    def residual(q: Array) -> Array:
        return closure(leg, q, platform)[0]

    def derivative(q: Array) -> Array:
        return closure(leg, q, platform)[1]

    found = least_squares(residual, leg.home, jac=derivative, x_scale="jac")
    return float(np.linalg.norm(residual(found.x)[lengths]))
