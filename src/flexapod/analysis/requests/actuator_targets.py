"""Actuator coordinates whose pose is sought: one sample, many, or those of a motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.analysis.requests.abilities import refuse
from flexapod.arrays import Array
from flexapod.errors import InputError, amount
from flexapod.motions.argument_checks import real_array
from flexapod.motions.motion import ActuatorMotion

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Dimension of a result: samples or times."""

    count: int
    single: bool = False
    time: Array | None = None

    def __len__(self) -> int:
        return self.count


def targets(robot: Robot, actuator_position: ArrayLike | ActuatorMotion) -> tuple[Array, Samples]:
    """Wanted coordinates (n, actuators), and the samples that they belong to."""
    n = len(robot.actuators)
    refuse(robot, "forward_kinematics")
    if isinstance(actuator_position, ActuatorMotion):
        motion = actuator_position
        if motion.position.shape[1] != n:
            many = amount(motion.position.shape[1], "actuator")
            raise InputError(f"actuator_position: the motion has {many}, {robot.name} has {n}")
        return motion.position, Samples(count=len(motion), time=motion.time)
    shape = np.shape(actuator_position)
    if shape not in ((n,), (*shape[:1], n)) or len(shape) not in (1, 2):
        raise InputError(f"actuator_position: expected shape ({n},) or (n, {n}) for {robot.name}, got {shape}")
    array = real_array("actuator_position", actuator_position, shape)
    return array.reshape(-1, n), Samples(count=array.size // n, single=array.ndim == 1)
