"""Conditioning of the rows of a Jacobian: distance from a type 2 singularity, condition number.

Letters: J (n, actuators, 6) of the actuators, G of the constraints; metres are divided by a characteristic length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.arrays import Array

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot


def row_normalised(rows: Array, length: float) -> Array:
    """[J; G] (n, m, 6) with dimensionless columns and rows of length 1; rows that vanish stay zero."""
    scaled = rows * np.array([length] * 3 + [1.0] * 3)
    size = np.linalg.norm(scaled, axis=2, keepdims=True)
    return np.asarray(scaled / np.where(size > 0.0, size, 1.0))


def type_2_distance(rows: Array, length: float) -> Array:
    """Smallest singular value of the row-normalised [J; G]: 0 at a type 2 singularity, at most 1."""
    return padded(np.asarray(np.linalg.svd(row_normalised(rows, length), compute_uv=False)))[:, 5]


def padded(s: Array) -> Array:
    """Six singular values: those of missing rows are zero (under-actuated robots)."""
    return np.concatenate([s, np.zeros((*s.shape[:-1], max(0, 6 - s.shape[-1])))], axis=-1)


def condition_numbers(robot: Robot, J: Array, G: Array, length: float) -> Array:
    """Condition number of J on the null space of G, metres over `length`."""
    actuators = np.where(np.array(robot.actuator_units) == "rad", 1.0, 1.0 / length)
    scale = np.array([length] * 3 + [1.0] * 3)
    matrix = J * scale * actuators[:, None]
    if G.shape[1]:
        _, _, vt = np.linalg.svd(row_normalised(G, length))
        matrix = matrix @ np.swapaxes(vt[:, G.shape[1] :], 1, 2)
    if matrix.shape[1] < matrix.shape[2]:  # under-actuated: some motion moves no actuator
        return np.full(len(matrix), np.inf)
    s = np.linalg.svd(matrix, compute_uv=False)
    with np.errstate(divide="ignore"):
        return np.asarray(s[:, 0] / s[:, -1])
