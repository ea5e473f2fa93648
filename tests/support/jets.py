"""Motion of frames to second order without any velocity formula: 4 x 4 matrices as functions of time.

A jet holds a matrix with its first and second time derivative, each (n, 4, 4). Products follow Leibniz; nothing here knows
what an angular velocity or a Coriolis term is, so that it checks code that does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexapod.robot.geometry import Pose
from flexapod.robot.leg_positions import ROWS
from flexapod.robot.model import Closing, Leg


@dataclass(frozen=True)
class Jet:
    """A matrix and its first two derivatives."""

    x: np.ndarray
    xd: np.ndarray
    xdd: np.ndarray

    def __matmul__(self, other: Jet) -> Jet:
        return Jet(
            self.x @ other.x,
            self.xd @ other.x + self.x @ other.xd,
            self.xdd @ other.x + 2 * self.xd @ other.xd + self.x @ other.xdd,
        )

    @property
    def inverse(self) -> Jet:
        """Inverse of a rigid placement: R^T, -R^T p, by the inverse of the matrix function: (A B)'' = 0."""
        x = np.linalg.inv(self.x)
        xd = -x @ self.xd @ x
        xdd = -(x @ self.xdd + 2 * xd @ self.xd) @ x
        return Jet(x, xd, xdd)

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.x, self.xd, self.xdd

    @property
    def angular(self) -> tuple[np.ndarray, np.ndarray]:
        """Angular velocity and acceleration in world axes, from R' R^T and its derivative."""
        R, Rd, Rdd = (m[:, :3, :3] for m in self.parts)
        W = Rd @ R.transpose(0, 2, 1)
        Wd = Rdd @ R.transpose(0, 2, 1) + Rd @ Rd.transpose(0, 2, 1)
        return _vee(W), _vee(Wd)


def _vee(W: np.ndarray) -> np.ndarray:
    return np.stack([W[:, 2, 1] - W[:, 1, 2], W[:, 0, 2] - W[:, 2, 0], W[:, 1, 0] - W[:, 0, 1]], axis=1) / 2


def _hat(w: np.ndarray) -> np.ndarray:
    x, y, z = w.T
    o = np.zeros_like(x)
    return np.stack([np.stack([o, -z, y], 1), np.stack([z, o, -x], 1), np.stack([-y, x, o], 1)], 1)


def constant(pose: Pose, count: int) -> Jet:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = pose.rotation, pose.position
    still = np.zeros((count, 4, 4))
    return Jet(np.broadcast_to(T, (count, 4, 4)), still, still)


def platform_jet(motion: dict[str, np.ndarray]) -> Jet:
    """The platform frame of pose, twist and acceleration (n, ...)."""
    n = len(motion["position"])
    x, xd, xdd = np.zeros((n, 4, 4)), np.zeros((n, 4, 4)), np.zeros((n, 4, 4))
    W, A = _hat(motion["angular_velocity"]), _hat(motion["angular_acceleration"])
    x[:, :3, :3], x[:, 3, 3] = motion["rotation"], 1.0
    xd[:, :3, :3] = W @ motion["rotation"]
    xdd[:, :3, :3] = (A + W @ W) @ motion["rotation"]
    for matrix, name in ((x, "position"), (xd, "velocity"), (xdd, "acceleration")):
        matrix[:, :3, 3] = motion[name]
    return Jet(x, xd, xdd)


def _joint(kind: str, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Jet:
    n = len(q)
    x, xd, xdd = np.tile(np.eye(4), (n, 1, 1)), np.zeros((n, 4, 4)), np.zeros((n, 4, 4))
    if kind == "P":
        x[:, 2, 3], xd[:, 2, 3], xdd[:, 2, 3] = q, qd, qdd
        return Jet(x, xd, xdd)
    c, s = np.cos(q), np.sin(q)
    for matrix, a, b in ((x, c, s), (xd, -s * qd, c * qd), (xdd, -c * qd**2 - s * qdd, -s * qd**2 + c * qdd)):
        matrix[:, 0, 0], matrix[:, 0, 1], matrix[:, 1, 0], matrix[:, 1, 1] = a, -b, b, a
    return Jet(x, xd, xdd)


def link_jets(leg: Leg, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> list[Jet]:
    """Frames of all links from the coordinates (n, moving) of a leg."""
    result: list[Jet] = []
    column = 0
    for link in leg.links:
        frame = constant(link.placement, len(q))
        if link.parent >= 0:
            frame = result[link.parent] @ frame
        if link.kind != "fixed":
            frame = frame @ _joint(link.kind, q[:, column] + link.zero, qd[:, column], qdd[:, column])
            column += 1
        result.append(frame)
    return result


def half_on_link(leg: Leg, links: list[Jet], count: int) -> Jet:
    half = constant(leg.closing.on_link, count)
    return links[leg.closing.link] @ half if leg.closing.link >= 0 else half


def open_gaps(closing: Closing, on_link: Jet, on_platform: Jet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Closing gaps of a joint, from its definition: entries (n, m) that vanish, with two derivatives.

    The link half is seen from the platform half: T = T_platform^-1 T_link.
    """
    relative = on_platform.inverse @ on_link
    gaps = []
    for k, T in enumerate(relative.parts):
        one = 1.0 if k == 0 else 0.0
        point, z_axis = T[:, :3, 3], T[:, :3, 2] - one * np.eye(3)[2]
        whole = (T[:, :3, :3] - one * np.eye(3)).reshape(len(T), 9)
        gaps.append(
            {
                "spherical": point,
                "universal": np.column_stack([point, T[:, 2, 2]]),
                "revolute": np.column_stack([point, z_axis]),
                "cylindrical": np.column_stack([point[:, :2], z_axis]),
                "prismatic": np.column_stack([point[:, :2], whole]),
                "fixed": np.column_stack([point, whole]),
            }[closing.type]
        )
    return gaps[0], gaps[1], gaps[2]


def row_seconds(closing: Closing, on_link: Jet, on_platform: Jet) -> np.ndarray:
    """(n, m) second derivative of the closing rows as `flexapod.robot.leg_positions.ROWS` lists them."""
    e = tuple(a[:, :3, 3] - b[:, :3, 3] for a, b in zip(on_link.parts, on_platform.parts, strict=True))
    still = np.zeros_like(e[0])
    columns = []
    for kind, i, *rest in ROWS[closing.type]:
        own = tuple(m[:, :3, int(i)] for m in on_platform.parts)
        if kind == "axes":
            other = tuple(m[:, :3, int(rest[0])] for m in on_link.parts)
        else:
            own = (still + np.eye(3)[int(i)], still, still) if kind == "point" else own
            other = e
        columns.append(np.sum(own[2] * other[0] + 2 * own[1] * other[1] + own[0] * other[2], axis=1))
    return np.stack(columns, axis=1)
