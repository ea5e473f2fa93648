"""The peers' model of the robot `bench-6ups` and the motion that all engines are measured on."""

from __future__ import annotations

import numpy as np

import flexapod as fp

ROBOT = fp.load("bench-6ups")
HOME = float(ROBOT.home.position[2])
OMEGA, DEPTH, ROTATION = 2 * np.pi / 3, 0.15, np.deg2rad(15.0)


def motion(times: np.ndarray) -> fp.Motion:
    """Down by 2 x 0.15 m and round by 2 x 15 degrees in 3 s, both as 1 - cos."""
    s, sd, sdd = 1 - np.cos(OMEGA * times), OMEGA * np.sin(OMEGA * times), OMEGA**2 * np.cos(OMEGA * times)
    up, c, d = np.array([0.0, 0.0, 1.0]), np.cos(ROTATION * s), np.sin(ROTATION * s)
    R = np.zeros((len(times), 3, 3))
    R[:, 0, 0], R[:, 0, 1], R[:, 1, 0], R[:, 1, 1], R[:, 2, 2] = c, -d, d, c, 1.0
    return fp.Motion(
        time=times,
        position=np.outer(HOME - DEPTH * s, up),
        rotation=R,
        velocity=np.outer(-DEPTH * sd, up),
        angular_velocity=np.outer(ROTATION * sd, up),
        acceleration=np.outer(-DEPTH * sdd, up),
        angular_acceleration=np.outer(ROTATION * sdd, up),
    )


def geometry() -> tuple[np.ndarray, np.ndarray]:
    """Base points (6, 3) in the world and platform points (6, 3) in the platform frame."""
    forms = ROBOT.closed_forms
    return np.array([f.U for f in forms if f]), np.array([f.S for f in forms if f])


def tree_state(m: fp.Motion, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leg coordinates (universal about x, then y, then length) of one sample, with rates and accelerations, (6, 3) each."""
    base, plate = geometry()
    p, R, v, w, a, alpha = (getattr(m, n)[k] for n in _FIELDS)
    r = plate @ R.T
    d = p + r - base
    length = np.linalg.norm(d, axis=1)
    n = d / length[:, None]
    q = np.stack([np.arctan2(-n[:, 1], n[:, 2]), np.arcsin(n[:, 0]), length], axis=1)
    x, y = np.array([1.0, 0.0, 0.0]), np.stack([0 * q[:, 0], np.cos(q[:, 0]), np.sin(q[:, 0])], axis=1)
    J = np.stack([np.cross(x, d), np.cross(y, d), n], axis=2)
    qd = np.linalg.solve(J, (v + np.cross(w, r))[:, :, None])[:, :, 0]
    rotation = x * qd[:, :1] + y * qd[:, 1:2]
    gyro = np.cross(x, y) * (qd[:, :1] * qd[:, 1:2])
    bias = np.cross(gyro, d) + np.cross(rotation, np.cross(rotation, d)) + 2 * qd[:, 2:] * np.cross(rotation, n)
    point = a + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
    return q, qd, np.linalg.solve(J, (point - bias)[:, :, None])[:, :, 0]


_FIELDS = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
ACTUATED = 6 + 3 * np.arange(6) + 2
PASSIVE = np.setdiff1d(np.arange(24), ACTUATED)


def quat_wxyz(R: np.ndarray) -> np.ndarray:
    """Unit quaternion of a rotation matrix near the identity."""
    w = 0.5 * np.sqrt(1 + np.trace(R))
    return np.array([w, (R[2, 1] - R[1, 2]) / (4 * w), (R[0, 2] - R[2, 0]) / (4 * w), (R[1, 0] - R[0, 1]) / (4 * w)])


def body(name: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass and tensor about it of a body of the robot file, in the axes that peers use."""
    b = ROBOT.bodies_by_name[name]
    moment, tensor = b.body_axes.T @ b.first_moment, b.body_axes.T @ b.inertia @ b.body_axes
    com = moment / b.mass
    return b.mass, com, tensor - b.mass * (com @ com * np.eye(3) - np.outer(com, com))
