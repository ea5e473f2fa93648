r"""Loop equations of any robot over the complex numbers: closing rows, their derivatives, Newton, paths of the actuators.

Unknowns: position p, rotation R (complex with R^T R = 1) and the passive coordinates; a step is (v, omega, dq) with
p <- p + v, R <- exp(omega) R, q <- q + dq. Rows as in `flexapod.robot.chain`; over-constrained robots have more rows than
unknowns and are squared by a fixed random matrix, which keeps their solutions. Letters: N points in a batch, products without
conjugation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.generic_balls import with_generic_balls
from flexapod.analysis.rigid_chains import rigid_chain
from flexapod.robot.chain import ROWS, ancestors

if TYPE_CHECKING:
    from flexapod.robot.model import Leg
    from flexapod.robot.robot import Robot

Complex = NDArray[np.complex128]
Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Points:
    """Platform position (N, 3) and rotation (N, 3, 3), all joint coordinates (N, joints)."""

    p: Complex
    R: Complex
    q: Complex

    def __len__(self) -> int:
        return len(self.p)

    def at(self, index: Any) -> Points:
        """Some of them."""
        return Points(p=self.p[index], R=self.R[index], q=self.q[index])

    def where(self, mask: NDArray[np.bool_], other: Points) -> Points:
        """These where the mask holds, else the others."""
        return Points(
            p=np.where(mask[:, None], self.p, other.p),
            R=np.where(mask[:, None, None], self.R, other.R),
            q=np.where(mask[:, None], self.q, other.q),
        )


def join(*parts: Points) -> Points:
    """Points after each other."""
    return Points(
        p=np.concatenate([x.p for x in parts]), R=np.concatenate([x.R for x in parts]), q=np.concatenate([x.q for x in parts])
    )


class Loops:
    """Closing equations of a robot, undeformed; spherical joints inside legs have coordinates of their own."""

    def __init__(self, robot: Robot, seed: int = 5) -> None:
        self.robot, self.length = robot, robot.characteristic_length
        self.legs = [with_generic_balls(rigid_chain(leg)) for leg in robot.legs]
        links = [leg.links[i] for leg in self.legs for i in leg.moving]
        self.driven = [k for k, link in enumerate(links) if link.actuated]
        self.passive = [k for k, link in enumerate(links) if not link.actuated]
        self.turning = np.array([link.kind == "R" for link in links])
        self.rows = sum(len(ROWS[leg.closing.type]) for leg in robot.legs)
        self.unknowns = 6 + len(self.passive)
        random = np.random.default_rng(seed)
        mixed = random.normal(size=(self.unknowns, self.rows)) + 1j * random.normal(size=(self.unknowns, self.rows))
        self.square = np.eye(self.rows) if self.rows == self.unknowns else np.linalg.qr(mixed.T)[0].T
        home = np.concatenate([leg.home for leg in self.legs])
        self.home = Points(
            p=robot.home.position[None].astype(complex), R=robot.home.rotation[None].astype(complex), q=home[None].astype(complex)
        )

    def evaluate(self, x: Points) -> tuple[Complex, Complex, Complex]:
        """Residual (N, m), derivatives by (platform / length, passive) (N, m, unknowns) and by actuators (N, m, actuators)."""
        N, residuals, platform, joints, k = len(x), [], [], [], 0
        total = x.q.shape[1]
        for leg in self.legs:
            n = len(leg.moving)
            residual, by_leg, by_platform, _ = leg_closure(leg, x.q[:, k : k + n], x.p, x.R, self.length)
            wide = np.zeros((N, residual.shape[1], total), dtype=complex)
            wide[:, :, k : k + n] = by_leg
            residuals.append(residual)
            platform.append(by_platform)
            joints.append(wide)
            k += n
        J = np.concatenate(joints, axis=1)
        rows = np.concatenate([np.concatenate(platform, axis=1), J[:, :, self.passive]], axis=2)
        return np.concatenate(residuals, axis=1), rows, J[:, :, self.driven]

    def moved(self, x: Points, step: Complex) -> Points:
        """Points after a step (N, unknowns)."""
        q = x.q.copy()
        q[:, self.passive] += step[:, 6:]
        return Points(p=x.p + step[:, :3] * self.length, R=_exp(step[:, 3:6]) @ x.R, q=q)

    def solve(self, A: Complex, f: Complex) -> Complex:
        """Solution of the squared equations, (N, unknowns), in double precision whatever that of the rows."""
        A, f = ((self.square @ v).astype(np.complex128) for v in (A, f[..., None]))
        try:
            return np.asarray(np.linalg.solve(A, f)[..., 0])
        except np.linalg.LinAlgError:
            finite = np.all(np.isfinite(A), axis=(1, 2))  # paths that leave overflow
            step = np.full(A.shape[:2], np.nan, dtype=complex)
            step[finite] = (np.linalg.pinv(A[finite]) @ f[finite])[..., 0]
            return step

    def newton(self, x: Points) -> tuple[Points, Array, Array]:
        """One step: points, size of the step, size of the residual before it."""
        f, A, _ = self.evaluate(x)
        step = -self.solve(A, f)
        size = np.abs(step).max(axis=1)
        step = step * np.minimum(1.0, 1.0 / np.maximum(size, 1e-300))[:, None]
        moved = self.moved(x, step)
        R = moved.R @ (3.0 * np.eye(3) - np.swapaxes(moved.R, 1, 2) @ moved.R) / 2.0
        size, error = (np.nan_to_num(v, nan=np.inf) for v in (size, np.abs(f).max(axis=1)))
        return Points(p=moved.p, R=R, q=moved.q), size, error

    def singularity(self, x: Points) -> Array:
        """Smallest singular value of the rows relative to the largest: 0 where the actuators do not determine the pose."""
        values = np.linalg.svd(self.evaluate(x)[1], compute_uv=False)
        return np.asarray(values[:, -1] / values[:, 0])

    def aligned(self, x: Points) -> NDArray[np.bool_]:
        """Joints whose rows leave a sign or an exchange of axes open are closed with the right one."""
        good, k = np.ones(len(x), dtype=bool), 0
        for leg in self.legs:
            n = len(leg.moving)
            good &= leg_closure(leg, x.q[:, k : k + n], x.p, x.R, self.length)[3]
            k += n
        return good


_SIGNED = {"revolute": (2,), "cylindrical": (2,), "prismatic": (0, 1, 2), "fixed": (0, 1, 2)}
"""Axes of the closing joints that must be parallel, while their rows would also admit opposite or exchanged ones: their products
are 1, -1 or 0 at a solution."""


def leg_closure(leg: Leg, q: Any, p: Any, R: Any, length: float) -> tuple[Complex, Complex, Complex, NDArray[np.bool_]]:
    """Closing rows of a leg, lengths relative to `length`.

    Args:
        q: (N, n) coordinates of the leg; p: (N, 3), R: (N, 3, 3) platform; real or complex.
    Returns:
        Residual (N, m), derivatives by the coordinates (N, m, n) and by (v / length, omega) (N, m, 6), and (N,) whether axes that
        the joint aligns are parallel rather than opposite or exchanged.
    """
    closing, frames = leg.closing, _frames(leg, q)
    N = len(p)
    R_l, p_l = frames[closing.link] if closing.link >= 0 else (np.broadcast_to(np.eye(3), (N, 3, 3)), np.zeros((N, 3)))
    p_l, R_l = p_l + R_l @ closing.on_link.position, R_l @ closing.on_link.rotation
    p_p, R_p = p + R @ closing.on_platform.position, R @ closing.on_platform.rotation
    gap, none = (p_l - p_p) / length, np.zeros((N, 3))
    residual, linear, angular = [], [], []
    for row in ROWS[closing.type]:
        i = int(row[1])
        if row[0] == "axes":
            u, c = R_p[:, :, i], R_l[:, :, int(row[2])]
            residual.append((u * c).sum(axis=1))
            linear.append(none)
            angular.append(_cross(c, u))
        else:
            u = np.broadcast_to(np.eye(3)[i], (N, 3)) if row[0] == "point" else R_p[:, :, i]
            residual.append((u * gap).sum(axis=1))
            linear.append(u)
            angular.append(none)
    lin, ang = np.stack(linear, axis=1), np.stack(angular, axis=1)
    by_leg = np.zeros((N, len(residual), len(leg.moving)), dtype=complex)
    for i in ancestors(leg, closing.link):
        if leg.links[i].kind == "fixed":
            continue
        frame, origin = frames[i]
        z = frame[:, :, 2]
        if leg.links[i].kind == "P":
            column = lin @ z[..., None] / length
        else:
            column = lin @ (_cross(z, p_l - origin) / length)[..., None] + ang @ z[..., None]
        by_leg[:, :, leg.moving.index(i)] = column[..., 0]
    arm = (p_l - p) / length
    by_platform = np.concatenate([-lin, -(ang + _cross(arm[:, None], lin))], axis=2)
    turn = np.swapaxes(R_p, 1, 2) @ R_l
    aligned = np.all([turn[:, i, i].real > 0.5 for i in _SIGNED.get(closing.type, ())] or [np.ones(N, dtype=bool)], axis=0)
    return np.stack(residual, axis=1), by_leg, by_platform, aligned


def leg_origins(leg: Leg, q: Any) -> Complex:
    """Origins of all link frames of a leg, (N, 3 links)."""
    return np.concatenate([p for _, p in _frames(leg, q)], axis=1)


def _frames(leg: Leg, q: Complex) -> list[tuple[Complex, Complex]]:
    """Rotation and origin of every link."""
    N, k = len(q), 0
    result: list[tuple[Any, Any]] = []
    for link in leg.links:
        R, p = (np.broadcast_to(np.eye(3), (N, 3, 3)), np.zeros((N, 3))) if link.parent < 0 else result[link.parent]
        p, R = p + R @ link.placement.position, R @ link.placement.rotation
        if link.kind == "R":
            c, s = np.cos(q[:, k] + link.zero), np.sin(q[:, k] + link.zero)
            c, s, x, y = c[:, None], s[:, None], R[:, :, 0], R[:, :, 1]
            R = np.stack([x * c + y * s, y * c - x * s, R[:, :, 2]], axis=2)
        elif link.kind == "P":
            p = p + R[:, :, 2] * (q[:, k] + link.zero)[:, None]
        k += link.kind != "fixed"
        result.append((R, p))
    return result


def _cross(u: Any, v: Any) -> Any:
    return u[..., [1, 2, 0]] * v[..., [2, 0, 1]] - u[..., [2, 0, 1]] * v[..., [1, 2, 0]]


def _exp(w: Complex) -> Complex:
    """Rotation of a complex rotation vector (N, 3), by Rodrigues' formula."""
    square = (w * w).sum(axis=1)
    small = np.abs(square) < 1e-8
    angle = np.sqrt(np.where(small, 1.0, square))
    sine = np.where(small, 1.0 - square / 6.0, np.sin(angle) / angle)
    cosine = np.where(small, 0.5 - square / 24.0, (1.0 - np.cos(angle)) / angle**2)
    K = np.zeros((len(w), 3, 3), dtype=complex)
    K[:, 0, 1], K[:, 0, 2], K[:, 1, 2] = -w[:, 2], w[:, 1], -w[:, 0]
    K -= np.swapaxes(K, 1, 2)
    return np.asarray(np.eye(3) + sine[:, None, None] * K + cosine[:, None, None] * (K @ K))
