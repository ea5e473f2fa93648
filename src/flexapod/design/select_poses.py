r"""`select_poses`: the poses to measure so that a calibration determines its parameters best (D-optimal).

.. math:: \max_S \det \sum_{j \in S} J_j^T J_j,\qquad \det(M + J^T J) = \det M\,\det(I + J M^{-1} J^T)

Poses are added one by one by the largest gain, then exchanged while an exchange raises the determinant.

Source: Fedorov, Theory of Optimal Experiments (1972); Daney, Papegay, Madeline, Choosing measurement poses for robot calibration
(Int. J. Robotics Research, 2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.requests.abilities import refuse
from flexapod.analysis.requests.arguments import check_states, checked
from flexapod.arrays import Array
from flexapod.design.pose_errors import PerturbedPoses
from flexapod.design.variables import scalars
from flexapod.errors import InputError

if TYPE_CHECKING:
    from flexapod.analysis.requests.state import State
    from flexapod.motions.motion import Motion
    from flexapod.robot.robot import Robot


START = 1e-8
"""Information, of the largest, that is assumed before the first pose: it decides nothing once all parameters are seen."""

PASSES = 20


@checked(candidates=check_states)
def select_poses(robot: Robot, candidates: State, parameters: Sequence[str], count: int) -> NDArray[np.int64]:
    """Indices (count,) of the candidates (`State`) to measure, full poses with equal weights (rotations times the length).

    Args:
        candidates: poses (n of them) that could be measured.
        parameters: paths to calibrate, as for `calibrate`.
        count: how many poses to choose.
    Returns:
        (count,) indices into the candidates, ascending.

    Checked by: tests/design/test_calibrate.py.
    """
    refuse(robot, "select_poses")
    paths = list(dict.fromkeys(path for text in parameters for path in scalars(robot, text)))
    J = information_rows(robot, candidates, paths)
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= len(J):
        raise InputError(f"count: expected 1 to {len(J)}, the number of candidates, got {count!r}")
    if 6 * count < len(paths):
        raise InputError(f"count: {count} poses give {6 * count} numbers for {len(paths)} parameters; measure more")
    J = J / np.sqrt((J**2).sum(axis=(0, 1)).clip(1e-300))
    M = START * np.eye(len(paths))
    chosen: list[int] = []
    for _ in range(count):
        gains = _gains(J, M)
        gains[chosen] = -np.inf
        chosen.append(int(gains.argmax()))
        M = M + J[chosen[-1]].T @ J[chosen[-1]]
    for _ in range(PASSES):
        before = list(chosen)
        for k in range(count):
            rest = M - J[chosen[k]].T @ J[chosen[k]]
            gains = _gains(J, rest)
            gains[[c for i, c in enumerate(chosen) if i != k]] = -np.inf
            best = int(gains.argmax())
            if gains[best] > gains[chosen[k]] + 1e-9:
                chosen[k] = best
            M = rest + J[chosen[k]].T @ J[chosen[k]]
        if chosen == before:
            break
    return np.sort(np.array(chosen, dtype=np.int64))


def information_rows(robot: Robot, at: State | Motion, paths: list[str]) -> Array:
    """Derivative (m, 6, d) of poses by parameters; rotations times the characteristic length."""
    D = PerturbedPoses(robot, paths, at).derivative()
    return np.asarray(D * np.array([1.0] * 3 + [robot.characteristic_length] * 3)[:, None])


def _gains(J: Array, M: Array) -> Array:
    """log det(I + J M^-1 J^T) of every candidate."""
    inner = np.eye(J.shape[1]) + J @ np.linalg.solve(M, np.swapaxes(J, 1, 2))
    return np.asarray(np.linalg.slogdet((inner + np.swapaxes(inner, 1, 2)) / 2)[1])
