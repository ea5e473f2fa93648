r"""Dragging a robot that is moved by its actuators: the actuator coordinates whose platform comes nearest to a point.

.. math:: q \leftarrow q + J\,N\,(N^T W N)^{-1} N^T W \begin{bmatrix} p^* - p \\ 0 \end{bmatrix}

N spans the twists that the constraints G allow, W counts translations alone (and rotations very little, for uniqueness).
"""

from __future__ import annotations

import numpy as np

import flexapod as fp
from flexapod.arrays import Array
from flexapod.views.studio.moved_coordinates import PoseCoordinates, state_near, state_of, undeformed

STEPS, HALVES = 8, 4
LOOKS = 16
"""Places of a drag's way that are looked at in one call: twice gives its end to 1/256."""
STRIDE = 0.3
"""Longest step of the platform, of the characteristic length: further on the Jacobian is another one."""
SMALL = 1e-6
"""Weight of rotations against translations over the characteristic length."""


def actuators_near(
    robot: fp.Robot, coordinates: PoseCoordinates, values: tuple[float, ...], state: fp.State, target: Array
) -> tuple[float, ...]:
    """Values of the actuators that bring the platform's origin as near to `target` (3,) as they can within their strokes.

    Checked by: tests/studio/test_studio_model.py.
    """
    L = robot.characteristic_length
    factor = np.array([np.degrees(1.0) if item.unit == "deg" else 1.0 for item in coordinates.items])
    low, high = (np.array([getattr(item, side) for item in coordinates.items]) for side in ("low", "high"))
    best, best_gap = np.array(values), float(np.linalg.norm(target - state.position))
    q = np.array(fp.inverse_kinematics(robot, state, joints=False).actuator_position.values)
    for _ in range(STEPS):
        found = fp.jacobian(robot, undeformed(state))
        N = _allowed(found.constraint_jacobian.values, L) if "constraint_jacobian" in found else np.eye(6)
        W = np.diag([1.0] * 3 + [SMALL * L**2] * 3)
        gap = float(np.linalg.norm(target - state.position))
        stride = min(1.0, STRIDE * L / gap) if gap > 0 else 0.0
        wanted = np.concatenate([stride * (target - state.position), np.zeros(3)])
        twist = N @ np.linalg.solve(N.T @ W @ N, N.T @ W @ wanted)
        moved = _tried(robot, q, found.jacobian.values @ twist, state, (low / factor, high / factor))
        if moved is None:
            break
        q, state = moved
        gap = float(np.linalg.norm(target - state.position))
        if gap < best_gap:
            best, best_gap = q * factor, gap
        if gap < 1e-6 * L:
            break
    return tuple(float(x) for x in best)


def halted(
    robot: fp.Robot, coordinates: PoseCoordinates, start: tuple[float, ...], target: tuple[float, ...]
) -> tuple[float, ...]:
    """The last values within all limits on the straight path from `start` to `target`, which is itself where nothing stops it.

    The way is looked at in `LOOKS` places at once, then again between the last good and the first bad of them.

    Checked by: tests/studio/test_studio_drag.py.
    """
    first, way = np.array(start), np.array(target) - np.array(start)
    low, high = 0.0, 1.0
    for _ in range(2):
        parts = np.linspace(low, high, LOOKS + 1)[1:]
        states = state_of(robot, coordinates, first + parts[:, None] * way)
        good = np.asarray(fp.check_pose(robot, undeformed(states)).margins.valid.values, dtype=bool)
        if good.all():
            return target if high == 1.0 else tuple(float(x) for x in first + high * way)
        worst = int(np.argmin(good))
        low, high = (parts[worst - 1] if worst else low), float(parts[worst])
    return tuple(float(x) for x in first + low * way)


def _tried(robot: fp.Robot, q: Array, step: Array, state: fp.State, limits: tuple[Array, Array]) -> tuple[Array, fp.State] | None:
    """The step, or half of it, or a quarter, ...: what the robot can do."""
    for _ in range(HALVES):
        there = np.clip(q + step, *limits)
        try:
            return there, state_near(robot, there, state)
        except fp.FlexapodError:
            step = 0.5 * step
    return None


def _allowed(G: Array, length: float) -> Array:
    """Columns that span the twists with G t = 0."""
    scale = np.array([length] * 3 + [1.0] * 3)
    _, s, vt = np.linalg.svd(G * scale)
    rank = int(np.sum(s > 1e-9 * s[0]))
    return np.asarray(scale[:, None] * vt[rank:].T)
