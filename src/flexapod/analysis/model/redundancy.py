r"""Forces of redundant actuators: of the many that give a motion, the nearest to a preload in a weighted norm.

Letters: f forces, p preload, W weights, S f = r the equations that the forces must meet.

.. math:: f = p + W^{-1}S^T(S W^{-1} S^T)^{-1}(r - S p)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.linear_solve import solved
from flexapod.arrays import Array
from flexapod.errors import InputError, amount
from flexapod.motions.argument_checks import finite_array, real_array
from flexapod.robot.elastic_plan import chosen_drives

if TYPE_CHECKING:
    from flexapod.analysis.requests.request import Request
    from flexapod.robot.robot import Robot


@dataclass(frozen=True, kw_only=True, eq=False)
class Redundancy:
    """Choice of forces where actuators are redundant.

    Args:
        weights: (actuators,) positive: what is least is the sum of weight times force squared.
        preload: (actuators,) or (n, actuators) [N or N m]: forces nearest to these, in that norm.
    """

    weights: Array
    preload: Array

    @classmethod
    def plain(cls, actuators: int) -> Redundancy:
        """Forces of least norm."""
        return cls(weights=np.ones(actuators), preload=np.zeros(actuators))

    def inverse(self, S: Array) -> Array:
        """W^-1 S^T (S W^-1 S^T)^-1 (n, actuators, r) of rows S (n, r, actuators)."""
        light = S / self.weights
        return np.swapaxes(solved(light @ np.swapaxes(S, 1, 2), light), 1, 2)

    def nearest(self, S: Array, right: Array) -> Array:
        """Forces (n, actuators) with S f = right (n, r)."""
        near = np.broadcast_to(self.preload, (len(S), S.shape[2]))
        return np.asarray(near + np.einsum("naj,nj->na", self.inverse(S), right - np.einsum("nja,na->nj", S, near)))


def redundancy(robot: Robot, asked: Request) -> Redundancy:
    """The choice among forces that a request makes; those of least norm where it makes none."""
    n = len(robot.actuators)
    weights = np.ones(n) if asked.weights is None else real_array("weights", asked.weights, (n,))
    if not np.all(weights > 0.0):
        raise InputError(f"weights: expected positive numbers, one per actuator, got {weights.tolist()}")
    idle, needed = [a for a, w in zip(robot.actuators, weights, strict=True) if np.isinf(w)], _needed(robot)
    if n - len(idle) < needed:
        raise InputError(
            f"weights: without {', '.join(idle)} (weight inf: idle) {robot.name} has "
            f"{amount(n - len(idle), 'actuator')} for {needed} degrees of freedom; leave fewer of them idle"
        )
    preload = np.zeros(n)
    if asked.preload is not None:
        preload = finite_array("preload", asked.preload, (n,) if np.ndim(asked.preload) == 1 else (len(asked.at), n))
    return Redundancy(weights=weights, preload=preload)


def _needed(robot: Robot) -> int:
    """Number of actuators that the platform's motion needs."""
    own = len(chosen_drives(robot)[0])
    return own if robot.floats else min(own, len(robot.plan.platform_independent))
