r"""Self-motions: curves of poses with the same leg lengths, and isolated poses of higher multiplicity.

At a singular end of a path the quadrics f = x^T Q x / 2 have a null direction in the tangent space. If Newton's method returns
to the solutions after steps along it, and the Jacobian is singular there too, again and again, the end lies on a curve of
solutions; if not, it is an isolated pose that counts several times. Letters as in `flexapod.equations.homotopy.tracker.six_legs`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.poses import quaternion_algebra as quat
from flexapod.analysis.poses.path_tracking import projective_gap
from flexapod.analysis.poses.pose_certificate import joined, leg_quadrics, study_quadric
from flexapod.arrays import Array, Complex

RANK = 1e-5
"""Smallest singular value, relative to the largest, that counts as zero on a curve of solutions: they are found to 1e-8 or so."""

ON = 1e-11
"""Largest residual of a point on the curve, relative to the size of the equations."""

STRIDE = 0.03
"""Length of a step along the null direction, |x| being 1."""

STEPS = 4
"""Steps that must all succeed."""


def quadrics(a: Array, b: Array, s: Array) -> Array:
    """Matrices (7, 8, 8) of six legs and Study's quadric, scaled to unit size."""
    Q = joined(leg_quadrics(a, b, s, 0.0), study_quadric()).mid.real
    return np.asarray(Q / np.linalg.norm(Q, axis=(1, 2), keepdims=True))


def onto(Q: Array, x: Complex, passes: int = 40) -> tuple[Complex, float, float, Complex]:
    """Nearest solution by Gauss and Newton with small singular values left out.

    Returns:
        The point, its residual, the smallest relative singular value of [f_x; x^H], and the direction that belongs to it.
    """
    right = np.zeros(8, dtype=np.complex128)
    ratio = 1.0
    for _ in range(passes):
        x = x / np.linalg.norm(x)
        rows = np.concatenate([Q @ x, np.conj(x)[None]])
        f = np.append(0.5 * (Q @ x) @ x, 0.0)
        u, values, vh = np.linalg.svd(rows)
        ratio, right = float(values[-1] / values[0]), np.conj(vh[-1])
        kept = values > RANK * values[0]
        step = np.conj(vh).T[:, kept] @ ((np.conj(u).T @ f)[kept] / values[kept])
        x = x - step
        if np.linalg.norm(step) < 1e-14:
            break
    x = x / np.linalg.norm(x)
    return x, float(np.abs(0.5 * (Q @ x) @ x).max()), ratio, right


def on_curve(Q: Array, x: Complex) -> bool:
    """Whether a point lies on a curve of solutions with a rotation (e.e not zero)."""
    x, residual, ratio, direction = onto(Q, x)
    if residual > ON or ratio > RANK:
        return False
    for _ in range(STEPS):
        following, residual, ratio, ahead = onto(Q, x + STRIDE * direction)
        way = float(np.sqrt(max(projective_gap(x[None], following[None])[0, 0], 0.0)))
        if residual > ON or ratio > RANK or not 0.3 * STRIDE < way < 3.0 * STRIDE:
            return False
        phase = np.vdot(direction, ahead)
        direction = ahead * (np.conj(phase) / abs(phase) if abs(phase) > 0.1 else 1.0)
        x = following
    return bool(abs(np.sum(x[:4] ** 2)) > 1e-6 * np.sum(np.abs(x[:4]) ** 2))


def self_motions(a: Array, b: Array, s: Array, ends: Complex, random: np.random.Generator) -> tuple[bool, bool]:
    """Whether the ends lie on a curve of complex poses, and whether a curve of real poses was found.

    Args:
        a, b, s: one platform, (6, 3), (6, 3), (6,).
        ends: (n, 8) singular ends of paths.

    Checked by: tests/analysis/test_assembly_modes.py.
    """
    Q = quadrics(a, b, s)
    if not any(on_curve(Q, x) for x in ends[:6]):
        return False, False
    starts = [x / x[np.abs(x).argmax()] for x in ends]
    size = np.sqrt(s.mean())
    for _ in range(60):
        e, p = random.normal(size=4), size * random.normal(size=3)
        starts.append(np.concatenate([e, _times(p, e)]).astype(np.complex128))
    return True, any(on_curve(Q, x.real.astype(np.complex128)) for x in starts)


NEAR = 1e-3
"""Ends of paths that are nearer than this at a pose of higher multiplicity belong together: they are found to 1e-5 or so."""


def multiple_poses(a: Array, b: Array, s: Array, ends: Complex) -> tuple[Array, Array, Array]:
    """Real isolated poses at which several paths end: positions (r, 3), rotations (r, 3, 3), relative errors of leg lengths (r,).

    Checked by: tests/analysis/test_assembly_modes.py.
    """
    Q, kept = quadrics(a, b, s), np.zeros((0, 8))
    for x in ends:
        x = x / x[np.abs(x).argmax()]
        if np.abs(x.imag).max() > NEAR:
            continue
        found, residual, _, _ = onto(Q, x.real.astype(np.complex128))
        y = (found / found[np.abs(found).argmax()]).real
        new = len(kept) == 0 or projective_gap(kept.astype(np.complex128), y[None].astype(np.complex128)).min() > NEAR**2
        if residual < ON and new and y[:4] @ y[:4] > 1e-6 * (y @ y):
            kept = np.concatenate([kept, y[None]])
    e, g = kept[:, :4], kept[:, 4:]
    square = (e * e).sum(axis=1)
    p = quat.product(g, quat.conjugate(e))[:, 1:] / square[:, None]
    R = quat.matrix(e)
    length = np.linalg.norm(p[:, None] + b @ np.swapaxes(R, 1, 2) - a, axis=2)
    return p, R, np.abs(length / np.sqrt(s) - 1.0).max(axis=1, initial=0.0)


def _times(p: NDArray[np.float64], e: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(quat.product(quat.pure(p), e))
