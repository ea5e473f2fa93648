"""Paths in actuator coordinates: from corner to corner with rests, and the square in joint space of Briot."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.calls import by_name
from flexapod.errors import InputError
from flexapod.motions.argument_checks import finite_array, number
from flexapod.motions.motion import ActuatorMotion, sampled
from flexapod.motions.schedule import LawMaker, Schedule, schedule


@by_name
def actuator_polygon(
    *, corners: ArrayLike, durations: ArrayLike, rests: ArrayLike = 0.0, law: LawMaker = "quintic", samples: int = 301
) -> ActuatorMotion:
    """Straight from corner to corner in actuator coordinates, at rest at each of them.

    Args:
        corners: (k, actuators) [m or rad].
        durations, rests, law: as for `through_poses`.

    Checked by: tests/motions/test_actuator_paths.py.
    """
    shape = np.shape(corners)
    if len(shape) != 2 or shape[0] < 2 or shape[1] < 1:
        raise InputError(f"corners: expected shape (corners, actuators) with at least 2 corners, got {shape}")
    q = finite_array("corners", corners, shape)
    plan = schedule(shape[0] - 1, durations=durations, rests=rests, law=law)
    return sampled(partial(_polygon, q=q, plan=plan), plan.duration, samples)


def _polygon(t: Array, *, q: Array, plan: Schedule) -> ActuatorMotion:
    i, s, sd, sdd = plan(t)
    way = q[i + 1] - q[i]
    return ActuatorMotion(time=t, position=q[i] + s[:, None] * way, velocity=sd[:, None] * way, acceleration=sdd[:, None] * way)


@by_name
def joint_square(
    *,
    side: float,
    corner: ArrayLike = (0.0, 0.0),
    duration: float = 1.8,
    rests: ArrayLike = 0.0,
    law: LawMaker = "quintic",
    samples: int = 301,
) -> ActuatorMotion:
    """A square in the plane of two actuator coordinates: the first one out, the second out, the first back, the second back.

    Args:
        side: [m or rad]; corner: (2,) where it starts and ends.
        duration: of each edge [s]; rests: after every edge, or 5 numbers, the first before the start [s].
        law: on each edge.

    Source: Briot 2014, section 5, Fig. 7. Checked by: tests/motions/test_actuator_paths.py.
    """
    unit = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0, 0)], dtype=np.float64)
    corners = finite_array("corner", corner, (2,)) + number("side", side) * unit
    return actuator_polygon(corners=corners, durations=duration, rests=rests, law=law, samples=samples)
