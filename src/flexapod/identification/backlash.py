r"""Backlash: a gap b between the encoder on the motor and the robot behind it.

While a drive moves one way, its flank touches on that side, and the robot is half the gap behind the encoder:

.. math:: q = q_m - \tfrac12 b\operatorname{sign}(\dot q_m),\qquad
          \Gamma(q) \approx \Gamma(q_m) - \sum_k \frac{\partial\Gamma}{\partial q_k}\,
          \tfrac12\operatorname{sign}(\dot q_{m,k})\,b_k

linear in the gaps. It holds where friction keeps the robot on the driven flank; the passage through the gap at a reversal follows
no such law, and `least_speed` leaves it out. Letters: q_m measured positions, Gamma forces of the file's numbers, their slopes by
central differences.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flexapod.arrays import Array
from flexapod.identification.pose_track import PoseTrack

STEP = 1e-5
"""Step of the differences, over the robot's characteristic length (of lengths; angles: in radians). Central differences of smooth
forces are then right to 1e-9 of them."""


def backlash_columns(track: PoseTrack, part: slice, force: Callable[[dict[str, Array]], Array]) -> Array:
    """(n, actuators, actuators) change of the forces per unit of the gap of each drive.

    Args:
        force: forces (n, actuators) of inputs of the kernels.

    Checked by: tests/identification/test_backlash.py.
    """
    robot, rates = track.robot, track.states[1][part]
    columns = []
    for k, unit in enumerate(robot.actuator_units):
        step = np.zeros(rates.shape[1])
        step[k] = STEP * (1.0 if unit == "rad" else robot.characteristic_length)
        slope = (force(track.inputs(part, step)) - force(track.inputs(part, -step))) / (2 * step[k])
        columns.append(-0.5 * np.sign(rates[:, k : k + 1]) * slope)
    return np.stack(columns, axis=2)
