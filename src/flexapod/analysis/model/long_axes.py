r"""Axes and points of all coordinates of a robot with many beam elements, and the work of wrenches at their unit rates.

.. math:: W_{jk} = z_j\cdot(n_k + (P_k - p_j)\times f_k)\ \text{or}\ z_j\cdot f_k\qquad (j\text{ rotates, slides})

gives mass matrix, closing rows, Jacobians and generalized forces. Letters of `equations.elastodynamics.element_loops`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.model.long_places import Places, places
from flexapod.arrays import Array

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Arrays = dict[str, Array]


@dataclass(frozen=True, kw_only=True)
class CoordinateAxes:
    """Axes and points of all coordinates z: axes and points (n, 3, z), and which of them rotate (z,); modes of the platform have
    zero axes.

    rest: (n, 3, z) what the rounded points lack, so that differences of near ones keep their digits.
    """

    z: Array
    p: Array
    rest: Array
    rotates: NDArray[np.bool_]

    def part(self, own: slice) -> CoordinateAxes:
        """Axes of some of the coordinates."""
        return CoordinateAxes(z=self.z[:, :, own], p=self.p[:, :, own], rest=self.rest[:, :, own], rotates=self.rotates[own])

    def work(self, force: Array, moment: Array, point: Array, rest: Array | None = None) -> Array:
        """Power (n, z, k) at unit rates of wrenches (n, 3, k) about points (n, 3, k); `rest`: low parts of the points.

        z . (moment + (point - p) x force) for coordinates that rotate, z . force for those that slide.
        """
        rotating, along = self.rotates, np.swapaxes(self.z, 1, 2)
        result = np.where(rotating[:, None], along @ moment, along @ force)
        z, p, own = (part[:, :, rotating] for part in (self.z, self.p, self.rest))
        moments = np.zeros((len(z), z.shape[2], force.shape[2]))
        for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            lever = point[:, a, None, :] - p[:, a, :, None]
            if rest is not None:
                lever += rest[:, a, None, :] - own[:, a, :, None]
            moments += lever * (force[:, b, None, :] * z[:, c, :, None] - force[:, c, None, :] * z[:, b, :, None])
        result[:, rotating] += moments
        return np.asarray(result)

    def unit_work(self, point: Array) -> Array:
        """Power of unit forces and moments at a point (n, 3) at unit rates: (n, z, 6), the transposed Jacobian of the point."""
        force, moment = (np.broadcast_to(part, (len(point), 3, 6)) for part in (np.eye(3, 6), np.eye(3, 6, 3)))
        return self.work(force, moment, np.repeat(point[:, :, None], 6, axis=2))


def axes(robot: Robot, given: Arrays, found: Arrays) -> CoordinateAxes:
    """Axes and points of all coordinates of a robot."""
    at, plan, count = places(robot), robot.elastic_plan, len(given["joint_position"])
    both = np.zeros((count, 6, len(plan.columns)))
    if plan.carrier is None:
        both[:, :3, :3] = both[:, :3, 3:6] = np.eye(3)
        both[:, 3:, 3:6] = given["position"][:, :, None]
    spread(at, found, "S", both)
    rest = np.zeros((count, 3, both.shape[2]))
    for i, runs in enumerate(at.runs):
        for k, (run, columns) in enumerate(runs):
            own, last = columns.ravel(), columns[:-1, -1]
            steps = np.concatenate([found[f"root_{i}_{k}"][:, :, None], both[:, 3:, last]], axis=2)
            exact = np.repeat(np.cumsum(steps.astype(np.longdouble), axis=2), run.size, axis=2) + both[:, 3:, own]
            both[:, 3:, own] = exact
            rest[:, :, own] = exact - both[:, 3:, own]
    return CoordinateAxes(z=both[:, :3], p=both[:, 3:], rest=rest, rotates=at.rotates)


def spread(at: Places, found: Arrays, name: str, out: Array, backward: bool = False) -> None:
    """Write six numbers per coordinate into (n, 6, z)."""
    for i in range(len(at.robot.legs)):
        if at.columns[i]:
            out[:, :, at.columns[i]] = found[f"{name}_{i}"]
        for k, (run, columns) in enumerate(at.runs[i]):
            own = found[f"{name}_{i}_{k}"][:, :, ::-1] if backward else found[f"{name}_{i}_{k}"]
            shaped = own.reshape(len(out), run.size, 6, len(run.elements))
            out[:, :, columns.ravel()] = shaped.transpose(0, 2, 3, 1).reshape(len(out), 6, columns.size)
