"""Paths of the loop equations of any robot while its actuators move straight through complex coordinates.

A step predicts by the rule of Runge and Kutta on the tangents and corrects by Newton; it counts if Newton contracts fast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.poses.complex_loops import ComplexLoops, Points
from flexapod.analysis.poses.quaternion_algebra import matrix
from flexapod.arrays import Array, Complex

CORRECTION = 0.02
"""Largest first Newton step after a prediction [rad or characteristic lengths]."""

SMALLEST = 1e-7
"""Part of a path below which a step is given up."""

DONE = 1e-9
"""Largest last Newton step of a solution; one more squares it."""

ROUNDING = 1e-10
"""Second Newton step that always counts as small."""

UNSURE = 1e-4
"""Second Newton step up to which rounding may be what is left of it."""

SAME = 1e-6
"""Poses nearer than this, relative, are one."""

FAR = 1e6
"""Positions beyond this many characteristic lengths count as infinite."""

NEARLY, LEAVING = 0.99, 1e2
"""Near the end of a path, positions beyond this are cut short: real poses are no farther than the legs are long."""


def track_paths(
    loops: ComplexLoops, x: Points, q0: Complex, q1: Complex, leaving: float = LEAVING
) -> tuple[Points, NDArray[np.bool_]]:
    """Ends of the paths from solutions x at actuators q0 to actuators q1, and which paths arrived.

    Args:
        q0, q1: (actuators,) complex.
        leaving: characteristic lengths beyond which a path is given up near its end.

    Checked by: tests/analysis/test_loop_poses.py.
    """
    x = Points(p=x.p.copy(), R=x.R.copy(), q=x.q.copy())
    N, way = len(x), q1 - q0
    t, h = np.zeros(N), np.full(N, 0.05)
    lost = np.zeros(N, dtype=bool)
    for _ in range(600):
        active = np.flatnonzero((t < 1.0) & ~lost)
        if len(active) == 0:
            break
        H = np.minimum(h[active], 1.0 - t[active])
        start = x.at(active)
        with np.errstate(all="ignore"):
            trial = _predicted(loops, start, q0, way, t[active], H)
            trial, first, _ = loops.newton(trial)
            trial, second, _ = loops.newton(trial)
        good = (first < CORRECTION) & (second < np.maximum(0.05 * first, ROUNDING * _magnitude(trial)))
        unsure = (first < CORRECTION) & ~good & (second < UNSURE)
        good[unsure] = second[unsure] < _floor(loops, trial.at(unsure))
        x = _put(x, active[good], trial.at(good))
        t[active[good]] += H[good]
        t[active[good & (1.0 - t[active] + H * good <= H)]] = 1.0
        ratio = np.clip(0.7 * (CORRECTION / np.maximum(first, 1e-12)) ** 0.2, 0.2, 2.5)
        h[active] = np.where(good, np.minimum(H * ratio, 0.3), H * np.minimum(ratio, 0.5))
        t = np.where(t > 1.0 - 1e-13, 1.0, t)
        away = np.abs(x.p).max(axis=1) / loops.length
        lost |= (h < SMALLEST) | (away > FAR) | ((t > NEARLY) & (away > leaving))
    return x, (t >= 1.0) & ~lost


def _predicted(loops: ComplexLoops, x: Points, q0: Complex, way: Complex, t: Array, H: Array) -> Points:
    """Points after a step of Runge and Kutta, with the actuators where they are then."""

    def tangent(at: Points) -> Complex:
        _, A, B = loops.evaluate(at)
        return -loops.solve(A, B @ way)

    def after(step: Complex, part: float) -> Points:
        moved = loops.moved(x, step)
        moved.q[:, loops.driven] = q0 + (t + part * H)[:, None] * way
        return moved

    h = H[:, None]
    k1 = tangent(x)
    k2 = tangent(after(0.5 * h * k1, 0.5))
    k3 = tangent(after(0.5 * h * k2, 0.5))
    k4 = tangent(after(h * k3, 1.0))
    return after(h * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0, 1.0)


def polished(loops: ComplexLoops, x: Points, passes: int = 6) -> tuple[Points, NDArray[np.bool_], Array]:
    """Points after Newton's method down to rounding, whether it converged, and the largest residual at the end."""
    size = np.full(len(x), np.inf)
    with np.errstate(all="ignore"):
        for _ in range(passes):
            x, size, _ = loops.newton(x)
        residual = np.nan_to_num(np.abs(loops.evaluate(x)[0]).max(axis=1), nan=np.inf) if len(x) else size
    scale = _magnitude(x)
    return x, (scale < FAR**2) & (size < DONE * scale) & (residual < DONE * scale), residual


def in_extended_precision(x: Points) -> Points:
    """Points in extended precision, where the machine has one: Newton's rows keep digits that large rotations cost."""
    return Points(p=x.p.astype(np.clongdouble), R=x.R.astype(np.clongdouble), q=x.q.astype(np.clongdouble))


def _magnitude(x: Points) -> Array:
    """Size of the terms of the closing rows: complex rotations grow far from the real ones."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 + np.abs(x.R).max(axis=(1, 2)) ** 2) if len(x) else np.ones(0)


def _floor(loops: ComplexLoops, x: Points) -> Array:
    """Newton step (N,) that rounding of the rows alone can cause."""
    if len(x) == 0:
        return np.zeros(0)
    A = loops.square @ loops.evaluate(x)[1]
    A[~np.all(np.isfinite(A), axis=(1, 2))] = np.eye(A.shape[1])  # overflow: an infinite floor would accept any step
    smallest = np.linalg.svd(A, compute_uv=False)[:, -1]
    return np.asarray(10.0 * np.finfo(float).eps * _magnitude(x) / np.maximum(smallest, 1e-300))


def solutions_near_real_rotations(loops: ComplexLoops, x: Points, q: Complex, others: list[Complex]) -> tuple[Points, Complex]:
    """Solutions x at actuators q, followed to those of some others where most arrive and the largest rotation matrix is smallest:
    far from real rotations digits are lost."""
    best, at, rank = x, q, (len(x), -float(np.abs(x.R).max(initial=0.0)))
    for other in others:
        ends, arrived = track_paths(loops, x, q, other, leaving=FAR)
        ends, good, _ = polished(loops, ends.at(arrived), 3)
        ends = ends.at(good)
        if (len(ends), -float(np.abs(ends.R).max(initial=0.0))) > rank:
            best, at, rank = ends, other, (len(ends), -float(np.abs(ends.R).max(initial=0.0)))
    return best, at


def _put(x: Points, index: NDArray[np.int64], others: Points) -> Points:
    x.p[index], x.R[index], x.q[index] = others.p, others.R, others.q
    return x


def distinct(loops: ComplexLoops, x: Points) -> Points:
    """Solutions with each pose of the platform once."""
    keys = pose_keys(loops, x)
    kept: list[int] = []
    for i in range(len(x)):
        if not kept or np.abs(keys[kept] - keys[i]).max(axis=1).min() > SAME * (1.0 + np.abs(keys[i]).max()):
            kept.append(i)
    return x.at(kept)


def pose_keys(loops: ComplexLoops, x: Points) -> Complex:
    """Numbers (N, 12) that distinguish poses."""
    return np.concatenate([x.p / loops.length, x.R.reshape(len(x), 9)], axis=1)


def random_solutions(loops: ComplexLoops, q: Complex, count: int, random: np.random.Generator) -> Points:
    """Solutions at actuators q by Newton from random complex starts: they may lie in any operation mode."""
    x = random_starts(loops, q, count, random)
    with np.errstate(all="ignore"):
        for _ in range(40):
            x, size, _ = loops.newton(x, squared=False)
            x = x.at(np.isfinite(size) & (np.abs(x.p).max(axis=1) < FAR * loops.length))
            if len(x) == 0:
                return x
    x, good, _ = polished(loops, x, 3)
    return x.at(good)


def random_starts(loops: ComplexLoops, q: Complex, count: int, random: np.random.Generator) -> Points:
    """Random points at actuators q, which solve nothing: real rotations, complex positions and joints."""
    N, joints = count, loops.home.q.shape[1]

    def normal(*shape: int) -> Complex:
        return random.normal(size=shape) + 0.5j * random.normal(size=shape)

    rotation = random.normal(size=(N, 4))
    angles, strokes = np.pi * random.uniform(-1.0, 1.0, (N, joints)), loops.length * random.normal(size=(N, joints))
    q0 = np.where(loops.rotating, angles, strokes) + 0.3j * random.normal(size=(N, joints))
    x = Points(p=loops.home.p + loops.length * normal(N, 3), R=matrix(rotation).astype(complex), q=q0)
    x.q[:, loops.driven] = q
    return x


def reach(loops: ComplexLoops) -> Array:
    """Size of random moves: a radian, or the robot's size, per actuator."""
    return np.where(loops.rotating[loops.driven], 1.0, loops.robot.size)


def complex_normal(random: np.random.Generator, n: int) -> Complex:
    """Normally distributed complex numbers."""
    return random.normal(size=n) + 1j * random.normal(size=n)
