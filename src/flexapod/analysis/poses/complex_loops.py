r"""Loop equations of any robot over the complex numbers: closing rows, their derivatives, Newton, paths of the actuators.

Unknowns: position p, rotation R (complex with R^T R = 1) and the passive coordinates; a step is (v, omega, dq) with
p <- p + v, R <- exp(omega) R, q <- q + dq. Rows as in `flexapod.robot.leg_positions`; over-constrained robots have more rows than
unknowns and are squared by a fixed random matrix, which keeps their solutions. Letters: N points in a batch, products without
conjugation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.poses.generic_balls import with_generic_balls
from flexapod.analysis.poses.rigid_chains import rigid_chain
from flexapod.arrays import Array, Complex, Rows
from flexapod.robot.build import has_inner_loops
from flexapod.robot.leg_positions import ROWS, ancestors, leg_rows
from flexapod.rotation_arrays import cross

if TYPE_CHECKING:
    from flexapod.robot.model import Closing, Leg
    from flexapod.robot.robot import Robot


Numbers = Array | Complex
Frame = tuple[Numbers, Numbers]
"""Rotation (N, 3, 3) and origin (N, 3) of a frame, real or complex."""


@dataclass(frozen=True, kw_only=True)
class Points:
    """Platform position (N, 3) and rotation (N, 3, 3), all joint coordinates (N, joints)."""

    p: Complex
    R: Complex
    q: Complex

    def __len__(self) -> int:
        return len(self.p)

    def at(self, index: Rows | list[int]) -> Points:
        """Some of the points."""
        return Points(p=self.p[index], R=self.R[index], q=self.q[index])

    def where(self, mask: NDArray[np.bool_], other: Points) -> Points:
        """These points where the mask holds, else the others."""
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


class ComplexLoops:
    """Closing equations of a robot, undeformed; spherical joints inside legs have coordinates of their own."""

    def __init__(self, robot: Robot, seed: int = 5) -> None:
        self.robot, self.length = robot, robot.characteristic_length
        loops = has_inner_loops(robot.legs)  # whose closings name links by their places
        self.legs = [leg if loops else with_generic_balls(rigid_chain(leg)) for leg in robot.legs]
        links = [leg.links[i] for leg in self.legs for i in leg.moving]
        self.driven = [k for k, link in enumerate(links) if link.actuated]
        self.passive = [k for k, link in enumerate(links) if not link.actuated and not link.elastic]
        self.rotating = np.array([link.kind == "R" for link in links])
        counts = [len(leg.moving) for leg in self.legs]
        self.first = [sum(counts[:i]) for i in range(len(counts))]
        self.rows = sum(len(leg_rows(leg)) + len(leg.couplings) for leg in self.legs)
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
        residuals, platform, joints, _ = self._closed(x)
        J = np.concatenate(joints, axis=1)
        rows = np.concatenate([np.concatenate(platform, axis=1), J[:, :, self.passive]], axis=2)
        return np.concatenate(residuals, axis=1), rows, J[:, :, self.driven]

    def _closed(self, x: Points) -> tuple[list[Complex], list[Complex], list[Complex], NDArray[np.bool_]]:
        """Equations of closing joints and couplings: residual (N, m), derivatives by the platform (N, m, 6) and by all joints
        (N, m, n), and whether all axes are aligned (N,)."""
        legs, N, total = self.legs, len(x), x.q.shape[1]
        frames = [link_frames(leg, x.q[:, at : at + len(leg.moving)]) for leg, at in zip(legs, self.first, strict=True)]
        residuals, platform, joints, aligned = list[Complex](), list[Complex](), list[Complex](), np.ones(N, dtype=bool)
        for i, leg in enumerate(legs):
            for closing in leg.closings:
                far = None if closing.to is None else frame_of(frames[closing.to[0]], closing.to[1], N)
                rows = closing_at(closing, frame_of(frames[i], closing.link, N), far or (x.R, x.p), self.length)
                wide = np.zeros((N, rows.residual.shape[1], total), dtype=complex)
                wide[:, :, self.first[i] : self.first[i] + len(leg.moving)] = rows.by_joints(leg, frames[i], closing.link)
                if closing.to is not None:
                    k, other = closing.to[0], legs[closing.to[0]]
                    wide[:, :, self.first[k] : self.first[k] + len(other.moving)] -= rows.by_joints(
                        other, frames[k], closing.to[1]
                    )
                residuals.append(rows.residual)
                joints.append(wide)
                platform.append(rows.by_platform(x.p) if far is None else np.zeros((N, rows.residual.shape[1], 6), dtype=complex))
                aligned &= rows.aligned
            for coupling in leg.couplings:
                wide = np.zeros((N, 1, total), dtype=complex)
                for k, index, factor in coupling.terms:
                    wide[:, 0, self.first[k] + index] = factor
                residuals.append((wide[:, 0] * x.q).sum(axis=1, keepdims=True) - coupling.home)
                joints.append(wide)
                platform.append(np.zeros((N, 1, 6), dtype=complex))
        return residuals, platform, joints, aligned

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

    def newton(self, x: Points, squared: bool = True) -> tuple[Points, Array, Array]:
        """One Newton step: points, size of the step, size of the residual before it. It is a least-squares step of the
        equations as they are: squared equations have solutions that solve nothing, and would attract it."""
        f, A, _ = self.evaluate(x)
        step = -self.solve(A, f) if squared or self.rows == self.unknowns else -least_squares(A, f)
        size, error = (np.nan_to_num(np.abs(v).max(axis=1), nan=np.inf) for v in (step, f))
        return self.stepped(x, step), size, error

    def stepped(self, x: Points, step: Complex) -> Points:
        """Points after a step of at most 1, with rotations made orthogonal again."""
        size = np.abs(step).max(axis=1)
        moved = self.moved(x, step * np.minimum(1.0, 1.0 / np.maximum(size, 1e-300))[:, None])
        R = moved.R @ (3.0 * np.eye(3) - np.swapaxes(moved.R, 1, 2) @ moved.R) / 2.0
        return Points(p=moved.p, R=R, q=moved.q)

    def singularity(self, x: Points) -> Array:
        """Smallest singular value of the rows relative to the largest: 0 where the actuators do not determine the pose."""
        values = np.linalg.svd(self.evaluate(x)[1], compute_uv=False)
        return np.asarray(values[:, -1] / values[:, 0])

    def aligned(self, x: Points) -> NDArray[np.bool_]:
        """Whether joints whose rows leave a sign or an exchange of axes open are closed with the right one."""
        return self._closed(x)[3]


SIGNED = {"revolute": (2,), "cylindrical": (2,), "prismatic": (0, 1, 2), "fixed": (0, 1, 2)}
"""Axes of the closing joints that must be parallel, while their rows would also admit opposite or exchanged ones: their products
are 1, -1 or 0 at a solution."""


@dataclass(frozen=True, kw_only=True)
class ClosingAt:
    """Rows of a closing joint, lengths relative to `length`: residual (N, m), forces on the relative twist (N, m, 3) linear and
    angular, the joint's centre p (N, 3), and whether axes are parallel rather than opposite or exchanged (N,)."""

    residual: Complex
    linear: Complex
    angular: Complex
    p: Numbers
    aligned: NDArray[np.bool_]
    length: float

    def by_joints(self, leg: Leg, frames: list[tuple[Complex, Complex]], link: int) -> Complex:
        """Derivatives (N, m, n) by the coordinates of a leg whose link is on the near side."""
        result = np.zeros((*self.residual.shape, len(leg.moving)), dtype=complex)
        for i in ancestors(leg, link):
            if leg.links[i].kind == "fixed":
                continue
            frame, origin = frames[i]
            z = frame[:, :, 2]
            if leg.links[i].kind == "P":
                column = self.linear @ z[..., None] / self.length
            else:
                column = self.linear @ (cross(z, self.p - origin) / self.length)[..., None] + self.angular @ z[..., None]
            result[:, :, leg.moving.index(i)] = column[..., 0]
        return result

    def by_platform(self, p: Numbers) -> Complex:
        """Derivatives (N, m, 6) by (v / length, omega) of the platform at p, on the far side."""
        arm = (self.p - p) / self.length
        return np.concatenate([-self.linear, -(self.angular + cross(arm[:, None], self.linear))], axis=2)


def closing_at(closing: Closing, near: Frame, far: Frame, length: float) -> ClosingAt:
    """Rows of a closing joint between two frames (rotation, origin); see `ROWS`."""
    (R_l, p_l), (R_p, p_p) = near, far
    N = len(p_l)
    p_l, R_l = p_l + R_l @ closing.on_link.position, R_l @ closing.on_link.rotation
    p_p, R_p = p_p + R_p @ closing.on_platform.position, R_p @ closing.on_platform.rotation
    gap, none = (p_l - p_p) / length, np.zeros((N, 3))
    residual: list[Any] = []  # real or complex, as the frames are
    linear: list[Any] = []
    angular: list[Any] = []
    for row in ROWS[closing.type]:
        i = int(row[1])
        if row[0] == "axes":
            u, c = R_p[:, :, i], R_l[:, :, int(row[2])]
            residual.append((u * c).sum(axis=1))
            linear.append(none)
            angular.append(cross(c, u))
        else:
            u = np.broadcast_to(np.eye(3)[i], (N, 3)) if row[0] == "point" else R_p[:, :, i]
            residual.append((u * gap).sum(axis=1))
            linear.append(u)
            angular.append(none)
    rotation = np.swapaxes(R_p, 1, 2) @ R_l
    aligned = np.all([rotation[:, i, i].real > 0.5 for i in SIGNED.get(closing.type, ())] or [np.ones(N, dtype=bool)], axis=0)
    return ClosingAt(
        residual=np.stack(residual, axis=1), linear=np.stack(linear, axis=1), angular=np.stack(angular, axis=1), p=p_l,
        aligned=aligned, length=length,
    )  # fmt: skip


def leg_closure(
    leg: Leg, q: Numbers, p: Numbers, R: Numbers, length: float
) -> tuple[Complex, Complex, Complex, NDArray[np.bool_]]:
    """Rows of the joint between a leg and the platform, lengths relative to `length`.

    Args:
        q: (N, n) coordinates of the leg; p: (N, 3), R: (N, 3, 3) platform; real or complex.
    Returns:
        Residual (N, m), derivatives by the coordinates (N, m, n) and by (v / length, omega) (N, m, 6), and (N,) whether axes that
        the joint aligns are parallel rather than opposite or exchanged.
    """
    frames = link_frames(leg, q)
    rows = closing_at(leg.closing, frame_of(frames, leg.closing.link, len(p)), (R, p), length)
    return rows.residual, rows.by_joints(leg, frames, leg.closing.link), rows.by_platform(p), rows.aligned


def frame_of(frames: list[tuple[Complex, Complex]], link: int, count: int) -> Frame:
    """Frame of a link; of the world below zero."""
    return frames[link] if link >= 0 else (np.broadcast_to(np.eye(3), (count, 3, 3)), np.zeros((count, 3)))


def leg_origins(leg: Leg, q: Numbers) -> Complex:
    """Origins of all link frames of a leg, (N, 3 links)."""
    return np.concatenate([p for _, p in link_frames(leg, q)], axis=1)


def link_frames(leg: Leg, q: Numbers) -> list[tuple[Complex, Complex]]:
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


def least_squares(A: Complex, f: Complex, cut: float = 1e-15) -> Complex:
    """Solutions (N, unknowns) of least squares, without singular values below `cut`, relative to the largest; NaN for points that
    are not numbers."""
    finite = np.all(np.isfinite(A), axis=(1, 2)) & np.all(np.isfinite(f), axis=1)
    step = np.full((len(A), A.shape[2]), np.nan, dtype=complex)
    step[finite] = (np.linalg.pinv(A[finite], cut) @ f[finite][..., None])[..., 0]
    return step


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
