"""All poses of any robot with finitely many: paths from its poses at generic actuators to the given ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.poses.complex_loops import ComplexLoops, Points, join
from flexapod.analysis.poses.loop_paths import SAME, complex_normal, polished, pose_keys, reach, track_paths
from flexapod.analysis.poses.loop_singularities import singular_poses
from flexapod.analysis.poses.operation_modes import REGULAR, generic_solutions
from flexapod.arrays import Array, Complex

if TYPE_CHECKING:
    from flexapod.robot.robot import Robot

ATTEMPTS = 4
"""Random ways to the given actuators that are tried while paths are lost and new poses are found."""

FARTHEST = 1e4
"""Characteristic lengths beyond which a path is cut short near its end: complex poses of the Delta lie at 300."""

REAL = 1e-7
"""Largest imaginary part [rad or characteristic lengths] of a solution that is tried as a real pose."""


@dataclass(frozen=True, kw_only=True)
class LoopPoses:
    """Real poses of one set of actuator coordinates.

    Args:
        p, R, q: (r, 3), (r, 3, 3), (r, joints); regular poses, then those of higher multiplicity.
        mode: (r,) operation mode.
        residual: (r,) largest closing error [characteristic lengths or rad].
        complex_count: isolated complex solutions found, poses of higher multiplicity counted once.
        lost: paths that did not end at a regular solution.
        self_motion: ``"none"``, ``"real"`` or ``"complex"``.
        complex_poses: all regular solutions; index: the regular real ones among them.
    """

    p: Array
    R: Array
    q: Array
    mode: NDArray[np.int64]
    residual: Array
    complex_count: int
    lost: int
    self_motion: str
    complex_poses: Points
    index: NDArray[np.int64]


def loop_poses(robot: Robot, actuator_position: Array, seed: int = 0) -> LoopPoses:
    """Real poses of actuator coordinates (actuators,).

    Checked by: tests/analysis/test_loop_poses.py.
    """
    loops, generic = generic_solutions(robot)
    random = np.random.default_rng(seed)
    target = _within_a_revolution(loops, actuator_position).astype(complex)
    known, mode, ends, lost = generic.x.at(slice(0, 0)), generic.mode[:0], generic.x.at(slice(0, 0)), generic.mode[:0]
    for attempt in range(ATTEMPTS):  # where paths are lost, all take another way: a detour of some alone would permute their ends
        x, arrived = generic.x, np.ones(len(generic.x), dtype=bool)
        corner = generic.q + reach(loops) * complex_normal(random, len(target))
        for source, end in pairwise([generic.q, *([corner] if attempt else []), target]):
            x, came = track_paths(loops, x, source, end, leaving=FARTHEST)
            arrived &= came
        y, good, _ = polished(loops, x.at(arrived))
        regular = arrived.copy()
        regular[arrived] = good
        regular[regular] = _regular(loops, y.at(good))
        ends, lost, before = join(ends, x.at(~regular)), np.append(lost, generic.mode[~regular]), len(known)
        known, mode = join(known, y.at(regular[arrived])), np.append(mode, generic.mode[regular])
        fresh = ~_repeated(loops, known)
        known, mode = known.at(fresh), mode[fresh]
        if len(known) == len(generic.x) or (attempt and len(known) == before):
            break
    poses = _real(loops, known, mode, len(generic.x) - len(known))
    return poses if poses.lost == 0 else _with_singular(loops, poses, ends, lost, target)


def _within_a_revolution(loops: ComplexLoops, q: Array) -> Array:
    """Actuator angles less than half a revolution from home, which poses know by e^{iq} only; not those of a gear or belt."""
    home, driven = loops.home.q[0, loops.driven].real, np.array(loops.driven)
    geared = [loops.first[k] + index for leg in loops.legs for coupling in leg.couplings for k, index, _ in coupling.terms]
    free = loops.rotating[driven] & ~np.isin(driven, geared)
    return np.where(free, home + np.remainder(q - home + np.pi, 2.0 * np.pi) - np.pi, q)


def _with_singular(loops: ComplexLoops, poses: LoopPoses, ends: Points, mode: NDArray[np.int64], target: Complex) -> LoopPoses:
    """Poses with those of higher multiplicity at the ends of lost paths."""
    more = singular_poses(loops, ends, target, poses.complex_poses)
    return replace(
        poses,
        p=np.concatenate([poses.p, more.x.p.real]),
        R=np.concatenate([poses.R, more.x.R.real]),
        q=np.concatenate([poses.q, more.x.q.real]),
        mode=np.append(poses.mode, mode[more.index]),
        residual=np.append(poses.residual, more.residual),
        complex_count=poses.complex_count + len(more.x),
        self_motion=more.self_motion,
    )


def _regular(loops: ComplexLoops, x: Points) -> NDArray[np.bool_]:
    """Solutions where the actuators determine the pose. Arms and rotations grow with the distance of a complex pose: the smallest
    singular value of the rows falls with its square over the largest."""
    if len(x) == 0:
        return np.zeros(0, dtype=bool)
    away = np.maximum(np.abs(x.p).max(axis=1) / loops.length, 1.0)
    return np.asarray(loops.singularity(x) * away**2 > REGULAR)


def _repeated(loops: ComplexLoops, x: Points) -> NDArray[np.bool_]:
    """Poses that are in the list before."""
    if len(x) == 0:
        return np.zeros(0, dtype=bool)
    keys = pose_keys(loops, x)
    near = np.abs(keys[:, None] - keys[None]).max(axis=2) < SAME * (1.0 + np.abs(keys).max(axis=1))
    return np.asarray(np.tril(near, -1).any(axis=1))


def _real(loops: ComplexLoops, x: Points, mode: NDArray[np.int64], lost: int) -> LoopPoses:
    gap = np.abs(pose_keys(loops, x).imag).max(axis=1)
    joints = x.q.imag.copy()
    joints[:, ~loops.rotating] /= loops.length
    real = (gap < REAL) & (np.abs(joints).max(axis=1) < REAL)
    every, index = x, np.flatnonzero(real)
    x, mode = x.at(real), mode[real]
    x = Points(p=x.p.real.astype(complex), R=x.R.real.astype(complex), q=x.q.real.astype(complex))
    x, good, residual = polished(loops, x, 4)
    good &= (np.abs(pose_keys(loops, x).imag).max(axis=1) < REAL) if len(x) else good
    x, mode, residual, index = x.at(good), mode[good], residual[good], index[good]
    return LoopPoses(
        p=x.p.real.copy(),
        R=x.R.real.copy(),
        q=x.q.real.copy(),
        mode=mode,
        residual=residual,
        complex_count=len(every),
        lost=lost,
        self_motion="none",
        complex_poses=every,
        index=index,
    )
