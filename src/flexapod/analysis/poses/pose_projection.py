"""Poses of limited-mobility robots brought onto their constraints: some components are given, the others follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexapod.analysis.model.kernels import kernel
from flexapod.arrays import Array
from flexapod.motions.rotations import rotation_rotvec, rotvec_rotation

if TYPE_CHECKING:
    from flexapod.analysis.model.kernels import RobotKernel
    from flexapod.robot.robot import Robot


CLOSED, TAKEN = 1e-12, 1e-9
"""Residual of the constraints at which Newton stops, and with which a pose is taken [m, rad]."""

STEPS = 8
"""Parts of the way from home in which poses are followed, so that the branch of home is kept."""

LARGEST_STEP = 0.3
"""Newton steps are held below this [rad, characteristic lengths]."""

NORMAL = 1e8
"""Condition of normal equations up to which they are used: eight digits of a Newton step are left."""


def onto_constraints(robot: Robot, position: Array, rotation: Array, free: list[int]) -> tuple[Array, Array, Array]:
    """Poses that the robot can reach, the given components kept.

    Args:
        position, rotation: (n, 3), (n, 3, 3) wanted; free components are taken as a start only.
        free: components that may change: 0-2 translation, 3-5 rotation vector from home, world axes.
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
    wanted = np.hstack([position[rest], rotation_rotvec(rotation[rest] @ robot.home.rotation.T)])
    start = np.concatenate([robot.home.position, np.zeros(3)])
    fixed = [k for k in range(6) if k not in free]
    x, joints = np.tile(start, (len(rest), 1)), q[rest]
    for step in range(1, STEPS + 1):
        part = step / STEPS
        x[:, fixed] = (1.0 - part) * start[fixed] + part * wanted[:, fixed]  # at the end exactly
        _newton(robot, bound, x, joints, free)
    rotated = rotvec_rotation(x[:, 3:]) @ robot.home.rotation
    good = _residual(_evaluate(bound, x[:, :3], rotated, joints)) < TAKEN
    p[rest[good]], R[rest[good]], q[rest[good]] = x[good, :3], rotated[good], joints[good]
    return p, R, q


def _newton(robot: Robot, bound: RobotKernel, x: Array, q: Array, free: list[int]) -> None:
    r"""Free components of x = (position, rotation vector from home) (n, 6) by Newton, in place.

    .. math:: G_p\,\delta p + G_\omega J_l(\tau)\,\delta\tau = -g, \qquad R = \exp(\tau)\,R_{home}

    Samples that cannot be closed stay where they are.
    """
    scale = np.array([robot.characteristic_length] * 3 + [1.0] * 3)[free]
    for _ in range(30):
        out = _evaluate(bound, x[:, :3], rotvec_rotation(x[:, 3:]) @ robot.home.rotation, q)
        active = np.flatnonzero(_residual(out) > CLOSED)
        active = active[np.all(np.isfinite(out["constraint_jacobian"][active]), axis=(1, 2))]
        if len(active) == 0:
            return
        G = out["constraint_jacobian"][active].copy()
        G[:, :, 3:] = G[:, :, 3:] @ left_jacobian(x[active, 3:])
        delta = -least_squares(G[:, :, free] * scale, out["constraint"][active])
        largest = np.abs(delta).max(axis=1, keepdims=True)
        delta *= np.minimum(1.0, LARGEST_STEP / np.maximum(largest, 1e-300))
        if float(largest.max()) < 1e-13:
            return
        x[active[:, None], free] += delta * scale
        q[active] = out["joint_position"][active]


def left_jacobian(rotation: Array) -> Array:
    r"""Angular velocity in world axes per rate of a rotation vector (n, 3): (n, 3, 3).

    .. math:: J_l(\tau) = 1 + \frac{1 - \cos\theta}{\theta^2}[\tau]_\times
              + \frac{\theta - \sin\theta}{\theta^3}[\tau]_\times^2, \qquad \theta = |\tau|

    Checked by: tests/analysis/test_pose_projection.py.
    """
    angle = np.linalg.norm(rotation, axis=1)[:, None, None]
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    first = np.where(small, 0.5 - angle**2 / 24.0, 2.0 * (np.sin(0.5 * safe) / safe) ** 2)
    second = np.where(small, 1.0 / 6.0 - angle**2 / 120.0, (safe - np.sin(safe)) / safe**3)
    x, y, z = rotation.T
    zero = np.zeros(len(rotation))
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=1).reshape(-1, 3, 3)
    return np.asarray(np.eye(3) + first * cross + second * (cross @ cross))


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


def _evaluate(bound: RobotKernel, p: Array, R: Array, q: Array) -> dict[str, Array]:
    outputs: dict[str, Array] = bound.batch({"position": p, "rotation": R, "guess": q}).outputs
    return outputs


def _residual(out: dict[str, Array]) -> Array:
    return np.asarray(np.nan_to_num(np.abs(out["constraint"]).max(axis=1), nan=np.inf))
