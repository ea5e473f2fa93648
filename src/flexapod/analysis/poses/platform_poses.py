r"""All poses of platforms on six legs: base points a, platform points b, squared leg lengths s (Gough-Stewart).

The target is centred, scaled and rotated at random, the stored generic start system is multiplied by a random complex unit; the
straight line of parameters between them then meets no singular system, with probability one. Letters as in
`flexapod.equations.homotopy.tracker`; k platforms, n solutions each.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.poses import quaternion_algebra as quat
from flexapod.analysis.poses.monodromy import KnownSolutions, load_start
from flexapod.analysis.poses.path_tracking import ARRIVED, Ends, Tracker, TrackingControl, projective_gap
from flexapod.arrays import Array, Complex
from flexapod.rotation_arrays import cross

SAME = 1e-16
"""Squared sine of the angle below which two solutions count as one: simple ones are polished to 1e-12 or better."""

UNSURE, REFINED = 1e-10, 1e-24
"""Squared last Newton step below which an end is tried with longer residuals, and with which it is then taken as simple: at a
double solution steps only halve, and five of them from 1e-5 leave 1e-13, squared."""

FLAT = 1e-8
"""|e.e| / |e|^2 below which a solution lies at infinity: no rotation belongs to it."""

LEAVING = 1e-2
"""|e.e| / |e|^2 below which a path that is stuck is on its way to infinity and is cut short; it is 1 at a real pose."""

REAL = 1e-10
"""Squared sine of the angle to the complex conjugate below which a solution is tried as a real pose."""

ATTEMPTS = 6
"""Random paths that are tried before fewer solutions than expected are accepted."""

CHUNK = 64
"""Platforms that are tracked together."""


@dataclass(frozen=True, kw_only=True)
class Solutions:
    """Complex solutions of k platforms, in the frames of the question.

    Args:
        x: (k, n, 8) Study coordinates; rows that are not `found` are meaningless.
        found: (k, n) simple, finite and distinct solutions.
        infinite: (k, n) ends without a rotation.
        singular: (k, n) ends where Newton does not converge quadratically or several paths meet.
        attempts: (k,) random paths needed.
        steps: (k,) steps of the tracker.
    """

    x: Complex
    found: NDArray[np.bool_]
    infinite: NDArray[np.bool_]
    singular: NDArray[np.bool_]
    attempts: NDArray[np.int64]
    steps: NDArray[np.int64]


@functools.cache
def six_leg_tracker() -> Tracker:
    """The compiled tracker."""
    from flexapod.equations.homotopy.tracker import six_legs

    return Tracker(six_legs, "six_legs")


def parameters(a: Array, b: Array, s: Array) -> Complex:
    """Parameters (k, 42) of the family: b - a, a + b, s."""
    k = len(a)
    return np.concatenate([(b - a).reshape(k, 18), (a + b).reshape(k, 18), s], axis=1).astype(np.complex128)


def solve_platforms(a: Array, b: Array, s: Array, *, family: str = "six_legs", seed: int = 0) -> Solutions:
    """All complex poses.

    Args:
        a, b: (k, 6, 3) base points in base axes, platform points in platform axes.
        s: (k, 6) squared leg lengths.
        family: ``"six_legs"``, or ``"six_three"`` where the platform's points coincide in the pairs 0-1, 2-3, 4-5.
        seed: of the random paths.

    Checked by: tests/analysis/test_assembly_modes.py.
    """
    start, random = load_start(family), np.random.default_rng(seed)
    parts = [_chunk(start, a[i : i + CHUNK], b[i : i + CHUNK], s[i : i + CHUNK], random) for i in range(0, len(a), CHUNK)]
    if len(parts) == 1:
        return parts[0]
    return Solutions(**{name: np.concatenate([getattr(p, name) for p in parts]) for name in Solutions.__dataclass_fields__})


def _chunk(start: KnownSolutions, a: Array, b: Array, s: Array, random: np.random.Generator) -> Solutions:
    k, n = len(a), len(start.x)
    result = Solutions(
        x=np.zeros((k, n, 8), dtype=np.complex128),
        found=np.zeros((k, n), dtype=bool),
        infinite=np.zeros((k, n), dtype=bool),
        singular=np.zeros((k, n), dtype=bool),
        attempts=np.zeros(k, dtype=np.int64),
        steps=np.zeros(k, dtype=np.int64),
    )
    open_ = np.arange(k)
    for attempt in range(ATTEMPTS):
        x, found, infinite, steps = _attempt(start, a[open_], b[open_], s[open_], random, TrackingControl())
        result.attempts[open_] += 1
        result.steps[open_] += steps
        count, before = found.sum(axis=1), result.found[open_].sum(axis=1)
        better = open_[count >= before]
        kept = count >= before
        result.x[better], result.found[better], result.infinite[better] = x[kept], found[kept], infinite[kept]
        result.singular[better] = ~found[kept] & ~infinite[kept]
        complete = (count == n) | ((count == before) & (attempt > 0) & (count > 0))
        open_ = open_[~complete]
        if len(open_) == 0:
            break
    return result


def _attempt(
    start: KnownSolutions, a: Array, b: Array, s: Array, random: np.random.Generator, control: TrackingControl
) -> tuple[Complex, NDArray[np.bool_], NDArray[np.bool_], NDArray[np.int64]]:
    """Solutions along one random path per platform: x, found, infinite, steps."""
    k, n = len(a), len(start.x)
    centre_a, centre_b = a.mean(axis=1), b.mean(axis=1)
    a0, b0 = a - centre_a[:, None], b - centre_b[:, None]
    scale = np.sqrt(24.0 / ((a0**2).sum(axis=(1, 2)) + (b0**2).sum(axis=(1, 2)) + s.sum(axis=1)))
    q_a, q_b = quat.random_unit(random, k), quat.random_unit(random, k)
    a0 = scale[:, None, None] * a0 @ np.swapaxes(quat.matrix(q_a), 1, 2)
    b0 = scale[:, None, None] * b0 @ np.swapaxes(quat.matrix(q_b), 1, 2)
    target = parameters(a0, b0, scale[:, None] ** 2 * s)
    unit = np.exp(2j * np.pi * random.random(k))[:, None]
    source = np.concatenate([unit * start.p[:36], unit**2 * start.p[36:]], axis=1)
    x0 = np.repeat(start.x[None], k, axis=0)
    x0[:, :, 4:] *= unit[:, :, None]
    rows = np.repeat(np.arange(k), n)
    x0 = x0.reshape(-1, 8)
    ends = six_leg_tracker().track(x0, source, target, control, rows=rows)
    _refine(ends, target[rows])
    bad = _meeting(ends, k)
    for _ in range(2):
        if not bad.any():
            break
        control = control.tighter()
        again = np.flatnonzero(bad.ravel())
        ends.put(again, six_leg_tracker().track(x0[again], source, target, control, rows=rows[again]))
        _refine(ends, target[rows])
        bad = _meeting(ends, k)
    x = ends.x.reshape(k, n, 8)
    e = x[:, :, :4]
    flatness = np.abs((e * e).sum(axis=2)) / (np.abs(e) ** 2).sum(axis=2)
    infinite = flatness < np.where(bad, LEAVING, FLAT)
    found = ~bad & ~infinite
    back = np.zeros((k, 8, 8))  # e <- conj(q_a) e q_b; g <- conj(q_a) g q_b / scale + c_a e - e c_b
    back[:, :4, :4] = quat.left(quat.conjugate(q_a)) @ quat.right(q_b)
    back[:, 4:, 4:] = back[:, :4, :4] / scale[:, None, None]
    back[:, 4:, :4] = (quat.left(quat.pure(centre_a)) - quat.right(quat.pure(centre_b))) @ back[:, :4, :4]
    return x @ np.swapaxes(back, 1, 2), found, infinite, ends.steps.reshape(k, n).sum(axis=1)


def _refine(ends: Ends, p: Complex) -> None:
    """Ends that arrived and at which rounding kept Newton's steps long: again with longer residuals, kept where steps fall."""
    unsure = np.flatnonzero((ends.code == ARRIVED) & (ends.last > SAME) & (ends.last < UNSURE))
    if len(unsure):
        from flexapod.analysis.poses.refined_poses import refined

        x, last = refined(ends.x[unsure], p[unsure])
        moved = projective_gap(x[:, None], ends.x[unsure][:, None])[:, 0, 0]
        good = (last < REFINED) & (moved < UNSURE)
        ends.x[unsure[good]], ends.last[unsure[good]] = x[good], last[good]


def _meeting(ends: Ends, k: int) -> NDArray[np.bool_]:
    """Paths (k, n) that did not arrive at a simple solution of their own."""
    x, n = ends.x.reshape(k, -1, ends.x.shape[1]), len(ends.x) // k
    lost = ((ends.code != ARRIVED) | (ends.last > SAME)).reshape(k, n)
    gap = projective_gap(x, x)
    gap[:, np.arange(n), np.arange(n)] = 1.0
    return np.asarray(lost | (gap < SAME).any(axis=2))


@dataclass(frozen=True, kw_only=True)
class RealPoses:
    """Real poses of one platform or of many, one after the other.

    Args:
        platform: (r,) which platform.
        index: (r,) which of its solutions.
        position: (r, 3); rotation: (r, 3, 3); residual: (r,) largest relative error of a leg length.
    """

    platform: NDArray[np.int64]
    index: NDArray[np.int64]
    position: Array
    rotation: Array
    residual: Array


ROUNDING = 2e-15
"""Relative error of leg lengths below which polishing ends."""

CONVERGED = 1e-11
"""Largest relative error of a leg length of a real pose: polishing leaves 1e-15; a complex pair is caught above 1e-10."""


def real_poses(a: Array, b: Array, s: Array, solutions: Solutions) -> RealPoses:
    """The real ones among the solutions, polished by Newton until rounding."""
    x = solutions.x
    norm = (np.abs(x) ** 2).sum(axis=2)
    gap = 1.0 - np.abs((x * x).sum(axis=2)) ** 2 / np.where(norm > 0.0, norm, 1.0) ** 2
    platform, index = np.nonzero(solutions.found & (gap < REAL))
    y = x[platform, index]
    largest = np.take_along_axis(y, np.abs(y).argmax(axis=1)[:, None], axis=1)
    e, g = (y / largest).real[:, :4], (y / largest).real[:, 4:]
    p = quat.product(g, quat.conjugate(e))[:, 1:] / (e * e).sum(axis=1, keepdims=True)
    e, p, residual = polish(a[platform], b[platform], s[platform], e, p)
    good = residual < CONVERGED
    chosen = {"platform": platform, "index": index, "position": p, "rotation": quat.matrix(e), "residual": residual}
    return RealPoses(**{name: values[good] for name, values in chosen.items()})


def polish(a: Array, b: Array, s: Array, e: Array, p: Array) -> tuple[Array, Array, Array]:
    """Newton on the pose until the residual stops falling: quaternions, positions, relative errors of the leg lengths."""
    length = np.sqrt(s)
    best, e_best, p_best = np.full(len(e), np.inf), e.copy(), p.copy()
    e = e / np.linalg.norm(e, axis=1, keepdims=True)
    for _ in range(6):
        arm = b @ np.swapaxes(quat.matrix(e), 1, 2)
        d = p[:, None] + arm - a
        now = np.linalg.norm(d, axis=2)
        error = np.abs(now / length - 1.0).max(axis=1) if len(e) else best
        better = error < best
        if not better.any():
            break
        best[better], e_best[better], p_best[better] = error[better], e[better], p[better]
        if best.max() < ROUNDING:
            break
        rows = np.concatenate([d, cross(arm, d)], axis=2)
        try:
            step = np.linalg.solve(rows, (length - now)[..., None] * now[..., None])[..., 0]
        except np.linalg.LinAlgError:
            step = (np.linalg.pinv(rows) @ ((length - now) * now)[..., None])[..., 0]
        p = p + step[:, :3]
        e = e + 0.5 * quat.product(quat.pure(step[:, 3:]), e)
        e = e / np.linalg.norm(e, axis=1, keepdims=True)
    return e_best, p_best, best
