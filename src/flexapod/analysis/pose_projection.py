"""Poses of limited-mobility robots brought onto their constraints: some components are given, the others follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.kernels import kernel
from flexapod.motions.rotations import rotation_rotvec, rotvec_rotation

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

Array = NDArray[np.float64]

CLOSED, TAKEN = 1e-12, 1e-9
"""Residual of the constraints at which Newton stops, and with which a pose is taken [m, rad]."""

STEPS = 8
"""Parts of the way from home in which poses are followed, so that the branch of home is kept."""

LARGEST_STEP = 0.3
"""Newton steps are held below this [rad, characteristic lengths]."""

NORMAL = 1e8
"""Condition of normal equations up to which they are used: eight digits of a Newton step are left."""


def onto_constraints(robot: Robot, position: Array, rotation: Array, free: list[int]) -> tuple[Array, Array, Array]:
    """Poses that the robot can take, the given components kept.

    Args:
        position, rotation: (n, 3), (n, 3, 3) wanted; free components are taken as a start only.
        free: components (0-2 translation, 3-5 rotation) that may change.
    Returns:
        position, rotation and joint coordinates; where no such pose exists they are left as they were wanted (joints at home).
    """
    home = np.tile(np.concatenate([leg.home for leg in robot.legs]), (len(position), 1))
    bound = kernel(robot, "jacobian")
    own_general = "guess" in {i.name for i in bound.signature.inputs}
    if not robot.plan.constraints or not own_general:
        return position, rotation, home
    p, R, q = position.copy(), rotation.copy(), home.copy()
    direct = _residual(_evaluate(bound, p, R, q)) < CLOSED
    rest = np.flatnonzero(~direct)
    if len(rest) == 0 or not free:
        return position, rotation, home
    turn = rotation_rotvec(rotation[rest] @ robot.home.rotation.T)
    at = (np.tile(robot.home.position, (len(rest), 1)), np.tile(robot.home.rotation, (len(rest), 1, 1)), q[rest])
    fixed = [k for k in range(3) if k not in free]
    for step in range(1, STEPS + 1):
        part = step / STEPS
        at[0][:, fixed] = (1.0 - part) * robot.home.position[fixed] + part * position[rest][:, fixed]  # at the end exactly
        if 3 not in free:
            at[1][...] = rotvec_rotation(part * turn) @ robot.home.rotation
        _newton(robot, bound, *at, free)
    good = _residual(_evaluate(bound, *at)) < TAKEN
    p[rest[good]], R[rest[good]], q[rest[good]] = at[0][good], at[1][good], at[2][good]
    return p, R, q


def _newton(robot: Robot, bound: Any, p: Array, R: Array, q: Array, free: list[int]) -> None:
    """Free components by Newton, in place; samples that cannot be closed stay where they are."""
    scale = np.array([robot.characteristic_length] * 3 + [1.0] * 3)[free]
    for _ in range(30):
        out = _evaluate(bound, p, R, q)
        active = np.flatnonzero(_residual(out) > CLOSED)
        active = active[np.all(np.isfinite(out["constraint_jacobian"][active]), axis=(1, 2))]
        if len(active) == 0:
            return
        G = out["constraint_jacobian"][active][:, :, free] * scale
        delta = -least_squares(G, out["constraint"][active])
        largest = np.abs(delta).max(axis=1, keepdims=True)
        delta *= np.minimum(1.0, LARGEST_STEP / np.maximum(largest, 1e-300))
        if float(largest.max()) < 1e-13:
            return
        whole = np.zeros((len(active), 6))
        whole[:, free] = delta * scale
        p[active] += whole[:, :3]
        R[active] = rotvec_rotation(whole[:, 3:]) @ R[active]
        q[active] = out["joint_position"][active]


def least_squares(G: Array, r: Array) -> Array:
    """Shortest x (n, k) of least error of G x = r, (n, m, k) and (n, m): normal equations where they keep digits, else by
    singular values, ten times slower."""
    x, bad = np.zeros((len(G), G.shape[2])), np.ones(len(G), dtype=bool)
    if G.shape[1] >= G.shape[2]:
        square, right = np.swapaxes(G, 1, 2) @ G, np.swapaxes(G, 1, 2) @ r[..., None]
        try:
            inverse = np.linalg.inv(square)
        except np.linalg.LinAlgError:
            inverse = np.full(square.shape, np.inf)
        bad = ~(np.abs(square).sum(axis=2).max(axis=1) * np.abs(inverse).sum(axis=2).max(axis=1) < NORMAL)
        x[~bad] = (inverse[~bad] @ right[~bad])[..., 0]
    if bad.any():
        x[bad] = (np.linalg.pinv(G[bad], rcond=1e-9) @ r[bad][..., None])[..., 0]
    return x


def _evaluate(bound: Any, p: Array, R: Array, q: Array) -> dict[str, Array]:
    outputs: dict[str, Array] = bound.batch({"position": p, "rotation": R, "guess": q}).outputs
    return outputs


def _residual(out: dict[str, Array]) -> Array:
    return np.asarray(np.nan_to_num(np.abs(out["constraint"]).max(axis=1), nan=np.inf))
