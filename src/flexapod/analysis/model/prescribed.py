r"""Components of the platform's motion that a request prescribes, and the largest step allowed towards a pose.

Letters: J (n, 6, u) platform twist per independent rate, S (n, r, 6) dimensionless rows that choose r components of a twist.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.closed_legs import STRIDE, home, platform_jacobian
from flexapod.analysis.model.leg_model import elastic_columns
from flexapod.analysis.model.linear_solve import pseudo_inverse
from flexapod.arrays import Array
from flexapod.robot.elastic_plan import chosen_drives, undriven
from flexapod.robot.plan import pivots

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

CURVED = 1e-3
"""Part of the foreseen decrease of the error beyond which a step was not straight; after a straight one the next may be twice as
long: a fine screw makes a hundred revolutions, and its path has no curvature."""


RANK = 1e-9
"""Singular values of a Jacobian with unit columns, of the largest, that are rounding: planar legs have 1e-17."""


def twist_scale(robot: Robot) -> Array:
    """(6,) sizes of a twist's components: the characteristic length and one radian."""
    return np.array([robot.characteristic_length] * 3 + [1.0] * 3)


def prescribed_components(robot: Robot, others: Sequence[int] = ()) -> list[int]:
    """Components of the platform's motion (0-2 translation, 3-5 rotation) that the actuators can prescribe, at home.

    Args:
        others: positions of further independent coordinates that may be chosen.
    """
    reasons = np.full(1, "", dtype=object)
    J, _ = platform_jacobian(robot, home(robot, 1), reasons)
    _, driven = chosen_drives(robot)
    return pivots((J[0][:, [*driven, *others]] / twist_scale(robot)[:, None]).T, [[0, 1, 2], [3, 4, 5]])


def met_components(robot: Robot) -> tuple[list[int], list[int]]:
    """Components of a given pose that a state meets, and positions of the undriven independent coordinates that help to meet it:
    those of an under-actuated robot, none where the actuators alone meet as many."""
    driven, others = prescribed_components(robot), undriven(robot)
    rows = prescribed_components(robot, others) if others else driven
    return (rows, others) if len(rows) > len(driven) else (driven, [])


def prescribed(robot: Robot, J: Array, rows: Sequence[int], others: Sequence[int] = ()) -> Array:
    r"""S (n, r, 6): as many components of a twist as there are `rows`, each of the size of `twist_scale`.

    Where nothing deforms, the platform has no other motion, and S spans what it can do where it is (a crank moves its pin along
    x here and along y there): with D the sizes and the first r left singular vectors U of the scaled Jacobian

    .. math:: D^{-1} J_{driven} = U \Sigma V^T,\qquad S = U_r^T D^{-1}

    Where something deforms, the rows themselves; deformation decides the others.

    Checked by: tests/robot/test_inner_loops.py.
    """
    scale = twist_scale(robot)
    chosen = np.tile((np.eye(6) / scale)[list(rows)], (len(J), 1, 1))
    if robot.elastic_names or len(rows) in (0, 6):
        return chosen
    part = J[:, :, [*chosen_drives(robot)[1], *others]] / scale[:, None]
    good = np.isfinite(part).all(axis=(1, 2))
    U = np.linalg.svd(part[good])[0]
    chosen[good] = np.swapaxes(U[:, :, : len(rows)], 1, 2) / scale
    return chosen


def impossible(robot: Robot, J: Array) -> Array:
    """Projectors (n, 6, 6), dimensionless, onto motions of the platform that no coordinate makes, deformations included: out of
    the plane of a planar robot. Zero for samples that are not numbers.

    Checked by: tests/analysis/test_out_of_plane.py.
    """
    part = J / twist_scale(robot)[:, None]
    size = np.linalg.norm(part, axis=1, keepdims=True)
    good = np.isfinite(part).all(axis=(1, 2))
    U, values, _ = np.linalg.svd((part / np.where(size > 0.0, size, 1.0))[good])
    seen = np.zeros((len(U), 6))
    seen[:, : values.shape[1]] = values > RANK * values.max(axis=1, initial=0.0, keepdims=True)
    result = np.zeros((len(J), 6, 6))
    result[good] = np.einsum("nik,nk,njk->nij", U, 1.0 - seen, U)
    return result


def coordinate_sizes(robot: Robot, places: Sequence[int]) -> Array:
    """Sizes of independent coordinates that are no deformations: the characteristic length, or one radian."""
    at = len(robot.elastic_plan.columns) - len(robot.coordinates)
    length = robot.characteristic_length
    columns = [robot.elastic_plan.independent[k] for k in places]
    linear = [c < 3 if c < at else robot.coordinate_units[c - at] != "rad" for c in columns]
    return np.where(linear, length, 1.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Stride:
    """Largest next Newton step of every sample.

    Args:
        reach: (n,) [rad, or times the characteristic length].
        expected: (n,) size of the error after a straight step, and the largest difference from it.
    """

    reach: Array
    expected: tuple[Array, Array]

    @classmethod
    def start(cls, count: int) -> Stride:
        """Stride before the first step: no error is predicted yet."""
        return cls(reach=np.full(count, STRIDE), expected=(np.zeros(count), np.full(count, -1.0)))

    def limited(self, step: Array, sizes: Array, error: Array) -> tuple[Array, Stride]:
        """A step (n, k) of coordinates of `sizes` (k,) at an error (n, r), held within reach, and the next stride."""
        size = np.linalg.norm(error, axis=1)
        straight = np.abs(size - self.expected[0]) <= self.expected[1]
        reach = np.where(straight, 2.0 * self.reach, STRIDE)
        part = reach / np.maximum(reach, np.abs(step / sizes).max(axis=1, initial=0.0))
        return part[:, None] * step, Stride(reach=reach, expected=(size * (1.0 - part), CURVED * size * part))


def actuator_rates(
    robot: Robot, J: Array, chosen: tuple[Array, list[int]], twist: Array, ed: Array
) -> tuple[Array, Array | None]:
    """Actuator rates that give the platform a twist at elastic rates ed, and rates (n, z) of the undriven coordinates, if any.

    Args:
        chosen: what is prescribed (`prescribed`), and the undriven coordinates that help (`met_components`).
    """
    S, others = chosen
    u = np.zeros((len(J), J.shape[2]))
    where = {column: k for k, column in enumerate(elastic_columns(robot))}
    for k, column in enumerate(robot.elastic_plan.independent):
        if column in where:
            u[:, k] = ed[:, where[column]]
    rest = np.einsum("nri,ni->nr", S, twist - np.einsum("nij,nj->ni", J, u))
    own, driven = chosen_drives(robot)
    rates = np.zeros((len(J), len(robot.actuators)))
    found = np.einsum("nij,nj->ni", pseudo_inverse((S @ J)[:, :, [*driven, *others]]), rest)
    rates[:, own] = found[:, : len(own)]
    if not others:
        return rates, None
    whole = np.zeros((len(J), len(robot.elastic_plan.columns)))
    whole[:, [robot.elastic_plan.independent[k] for k in others]] = found[:, len(own) :]
    return rates, whole
