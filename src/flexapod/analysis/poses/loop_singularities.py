"""Singular solutions of the loop equations at given actuators: isolated poses of higher multiplicity, and self-motions.

Paths are given up shortly before a singular end. Steps of Gauss and Newton with small singular values left out lead from there to
the solution. If the same steps stay away from it after a move along its null direction, it lies on a curve of solutions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.poses.complex_loops import ComplexLoops, Points, join, least_squares
from flexapod.analysis.poses.loop_paths import LEAVING, pose_keys, random_starts
from flexapod.arrays import Array, Complex

CUT = 1e-8
"""Singular values, relative to the largest, that a step leaves out: at a double pose Newton comes as near as rounding lets it."""

RANK = 1e-5
"""Smallest singular value, relative to the largest, that counts as zero."""

ON = 1e-11
"""Largest residual [rad or characteristic lengths] of a solution."""

NEAR = 0.05
"""Largest distance [pose keys] of a path's end from its singular solution: about the root of 1e-7, or the third root."""

ONE = 1e-4
"""Poses of higher multiplicity that are nearer than this are one: rounding moves a triple pose by 1e-5."""

STRIDE, STEPS = 0.03, 3
"""Length of a step along the null direction, and the steps that must all succeed."""

STARTS = 60
"""Random real starts from which a real self-motion is looked for where a complex one was found."""


@dataclass(frozen=True, kw_only=True)
class SingularPoses:
    """Classification of the ends of lost paths.

    Args:
        x: isolated real poses; index: the path of each; residual: largest closing error [characteristic lengths or rad].
        self_motion: ``"none"``, ``"real"`` or ``"complex"``.
    """

    x: Points
    index: NDArray[np.int64]
    residual: Array
    self_motion: str


def singular_poses(loops: ComplexLoops, ends: Points, q: Complex, known: Points) -> SingularPoses:
    """Poses at actuators q where paths were given up.

    Args:
        ends: last points of the paths; known: regular solutions.

    Checked by: tests/analysis/test_loop_poses.py.
    """
    index = np.flatnonzero(np.abs(pose_keys(loops, ends)).max(axis=1, initial=0.0) < LEAVING)
    ends = _at(loops, ends.at(index), q)
    x, residual, _ = _onto(loops, _real(ends), real=True)
    good = (residual < ON) & (_gap(loops, x, ends) < NEAR) & loops.aligned(x) & _new(loops, x, known)
    x, index, residual = x.at(good), index[good], residual[good]
    moving = np.array([_on_curve(loops, x.at([i]), real=True) for i in range(len(x))], dtype=bool)
    isolated = np.flatnonzero(~moving)
    motion = "real" if moving.any() else "none"
    if motion == "none":
        y, error, _ = _onto(loops, ends)
        y = y.at((error < ON) & (_gap(loops, y, ends) < NEAR))
        if any(_on_curve(loops, y.at([i])) for i in range(len(y))):
            starts = random_starts(loops, q, STARTS, np.random.default_rng(1))
            starts, error, ratio = _onto(loops, _at(loops, _real(join(ends, loops.home, starts)), q), real=True)
            usable = np.flatnonzero((error < ON) & (ratio < RANK) & loops.aligned(starts))
            motion = "real" if any(_on_curve(loops, starts.at([i]), real=True) for i in usable.tolist()) else "complex"
    return SingularPoses(x=x.at(isolated), index=index[isolated], residual=residual[isolated], self_motion=motion)


def _at(loops: ComplexLoops, x: Points, q: Complex) -> Points:
    """Points with their actuators at q."""
    joints = x.q.copy()
    joints[:, loops.driven] = q
    return Points(p=x.p, R=x.R, q=joints)


def _real(x: Points) -> Points:
    return Points(p=x.p.real.astype(complex), R=x.R.real.astype(complex), q=x.q.real.astype(complex))


def _gap(loops: ComplexLoops, x: Points, y: Points) -> Array:
    """Distance (N,) of poses."""
    return np.asarray(np.abs(pose_keys(loops, x) - pose_keys(loops, y)).max(axis=1, initial=0.0))


def _new(loops: ComplexLoops, x: Points, known: Points) -> NDArray[np.bool_]:
    """Poses that are neither known nor in the list before."""
    keys, others = pose_keys(loops, x), pose_keys(loops, join(known, x))
    near = np.abs(keys[:, None] - others[None]).max(axis=2, initial=0.0) < ONE
    return np.asarray(~np.tril(near, len(known) - 1).any(axis=1))


def _rows(loops: ComplexLoops, x: Points, real: bool) -> tuple[Complex, Complex]:
    f, A, _ = loops.evaluate(x)
    return (f.real.astype(complex), A.real.astype(complex)) if real else (f, A)


def _onto(loops: ComplexLoops, x: Points, real: bool = False, passes: int = 60) -> tuple[Points, Array, Array]:
    """Nearest solutions, their residuals (N,) and smallest relative singular values (N,)."""
    with np.errstate(all="ignore"):
        for _ in range(passes if len(x) else 0):
            f, A = _rows(loops, x, real)
            step = least_squares(A, f, CUT)
            x = loops.stepped(x, -step)
            if np.abs(step).max() < 1e-14:
                break
        f, A = _rows(loops, x, real)
        residual = np.nan_to_num(np.abs(f).max(axis=1, initial=0.0), nan=np.inf)
    A[~np.isfinite(residual)] = 0.0
    values = np.linalg.svd(A, compute_uv=False)
    return x, residual, np.asarray(values[:, -1] / np.maximum(values[:, 0], 1e-300))


def _on_curve(loops: ComplexLoops, x: Points, real: bool = False) -> bool:
    """Whether one solution lies on a curve on which the platform moves."""
    x, residual, ratio = _onto(loops, x, real, passes=1)
    direction = np.zeros(loops.unknowns, dtype=complex)
    for _ in range(STEPS):
        if residual[0] > ON or ratio[0] > RANK:
            return False
        direction = _null(loops, x, direction, real)
        following, residual, ratio = _onto(loops, loops.moved(x, STRIDE * direction[None]), real)
        expected, way = STRIDE * np.linalg.norm(direction[:6]), _gap(loops, x, following)[0]
        if expected < 1e-3 * STRIDE or not 0.3 * expected < way < 3.0 * STRIDE:
            return False
        x = following
    return bool(residual[0] < ON and ratio[0] < RANK)


def _null(loops: ComplexLoops, x: Points, before: Complex, real: bool) -> Complex:
    """Unit null direction (unknowns,) of one point that moves the platform most, with the sign that continues the one before."""
    A = _rows(loops, x, real)[1][0]
    _, values, rows = np.linalg.svd(A.real if real else A)
    null = np.conj(rows[values < RANK * values[0]]).T
    _, _, mix = np.linalg.svd(null[:6])
    direction = null @ np.conj(mix[0])
    along = np.vdot(before, direction)
    return np.asarray(direction * (np.conj(along) / abs(along) if abs(along) > 0.1 else 1.0), dtype=complex)
