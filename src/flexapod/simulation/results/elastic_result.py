"""Variables of a simulation with a flexible platform: elastic coordinates, and the deformation due to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flexapod.analysis.model.flexible_load import shapes_at
from flexapod.arrays import Array
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

UNIT = "sqrt(kg) m for mass-normalised modes"


def elastic_result_variables(robot: Robot, e: Array, ed: Array, edd: Array) -> dict[str, Any]:
    """Elastic coordinates (n, N) with rates and accelerations, and the deformation in platform axes.

    `displacement` and `rotation_vector` (n, axis) of the material at the platform's origin, where the body has shapes there, and
    `joint_displacement` (n, leg, axis).

    Source: Long 2014 Eqs. (12), (14), Figs. 6, 7. Checked by: tests/simulation/test_flexible_simulation.py.
    """
    coordinate = ("elastic_coordinate",)
    found: dict[str, Any] = {
        "elastic": (coordinate, e, UNIT),
        "elastic_velocity": (coordinate, ed, f"1/s of {UNIT}"),
        "elastic_acceleration": (coordinate, edd, f"1/s^2 of {UNIT}"),
    }
    try:
        origin = shapes_at(robot, np.zeros(3), "platform origin")
        found["displacement"] = (("axis",), origin.shift(e), "m")
        found["rotation_vector"] = (("axis",), e @ origin.Phi_r.T, "rad")
    except InputError:
        pass  # a file of modes without a node at the origin
    found["joint_displacement"] = (("leg", "axis"), robot.joint_displacements(e), "m")
    return found
