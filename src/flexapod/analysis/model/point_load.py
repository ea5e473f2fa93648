r"""A load on the platform of any robot along its coordinates: wrench on the frame, forces on the platform's modes, their slope.

Letters: f, m force and moment at a named point, world axes, constant there; r = R (r_0 + u(e)) lever of the material point; C its
displacement and Phi_r its rotation per mode, platform axes; w wrench on the frame at its origin, p forces on the modes.

.. math:: w = \begin{pmatrix} f \\ m + r\times f \end{pmatrix},\qquad p = C^TR^Tf + \Phi_r^TR^Tm

.. math:: \delta w_m = (r f^T - r^Tf\,1)\,\delta\theta - \hat f R C\,\delta e,\qquad
          \delta p = (C^TR^T\hat f + \Phi_r^TR^T\hat m)\,\delta\theta + \frac{\partial C^T}{\partial e}R^Tf\,\delta e
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.flexible_load import FlexibleLoad, flexible_load
from flexapod.analysis.requests.loads import platform_wrench
from flexapod.analysis.requests.request import Load
from flexapod.arrays import Array, Rows
from flexapod.rotation_arrays import skew

if TYPE_CHECKING:
    from flexapod.analysis.model.closed_legs import ClosedLegs
    from flexapod.robot.robot import Robot


def wrench_and_mode_forces(robot: Robot, state: ClosedLegs, load: Load) -> Array:
    """(n, 6) wrench on the platform frame, world axes; at a point (n, 6 + N), with forces on its N modes.

    Args:
        load: (wrench, point, axes) of a request.

    Checked by: tests/analysis/test_point_load.py.
    """
    if load[0] is None or load[1] is None:
        return platform_wrench(robot, state.inputs(), *load)
    return np.concatenate(_flexible(robot, state, load).at(state.rotation, state.modes), axis=1)


def load_slope(robot: Robot, state: ClosedLegs, load: Load) -> Array | None:
    """(n, 6 + N, 6 + N): change of (w, p) per displacement, rotation (world axes) and mode; None for a load on the frame."""
    if load[0] is None or load[1] is None:
        return None
    given = _flexible(robot, state, load)
    point, R = given.point, state.rotation
    f, m = given.at_point[:, :3], given.at_point[:, 3:]
    r = np.einsum("nij,nj->ni", R, point.r0 + point.shift(state.modes))
    C, rotations = R @ point.columns(state.modes), R @ point.Phi_r
    N = C.shape[2]
    slope = np.zeros((len(f), 6 + N, 6 + N))
    slope[:, 3:6, 3:6] = moment_by_rotation(r, f)
    slope[:, 3:6, 6:] = -skew(f) @ C
    slope[:, 6:, 3:6] = np.swapaxes(C, 1, 2) @ skew(f) + np.swapaxes(rotations, 1, 2) @ skew(m)
    if point.Q is not None:
        slope[:, 6:, 6:] = np.einsum("aij,nba,nb->nij", point.Q, R, f)
    return slope


def load_rows(load: Load, chosen: Rows) -> Load:
    """The load of some samples."""
    wrench, point, axes = load
    return (wrench if wrench is None or np.ndim(wrench) == 1 else np.asarray(wrench)[chosen]), point, axes


def moment_by_rotation(r: Array, f: Array) -> Array:
    """(n, 3, 3): change of the moment r x f per rotation of the lever r, the force f constant; (n, 3) each, world axes."""
    return np.asarray(r[:, :, None] * f[:, None, :] - np.einsum("ni,ni->n", r, f)[:, None, None] * np.eye(3))


def _flexible(robot: Robot, state: ClosedLegs, load: Load) -> FlexibleLoad:
    return flexible_load(robot, state.inputs(), *load)
