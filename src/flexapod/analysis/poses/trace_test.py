r"""Trace test: whether monodromy found all poses of the operation modes found so far.

The actuators move along an algebraic curve, :math:`q_j = q_{0j} + d_j t` or :math:`e^{i q_j} = e^{i q_{0j}}(1 + d_j t)` for
angles, with generic d; the poses over it form a curve in the space of y = (p, R) and t. On parallel slices
:math:`\ell\cdot y + b\,t = s` the sum of all points of a curve moves straight, and that of a part of its points does not:

.. math:: \sum_k z_k(s) - 2\sum_k z_k(s + \delta) + \sum_k z_k(s + 2\delta) = 0,\qquad z = \lambda\cdot(y, t)

for a generic linear function z. Points of a slice are found by monodromy, this time of the slices; when the sums move straight,
the list of points is complete, and all of them are followed to t = 0, where they are all poses. A whole operation mode that no
start fell into would be missed.

Source: Sommese, Verschelde and Wampler 2002; Leykin, Rodriguez and Sottile 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from flexapod.analysis.poses.complex_loops import ComplexLoops, Points, join
from flexapod.analysis.poses.loop_paths import (
    FAR,
    complex_normal,
    distinct,
    in_extended_precision,
    polished,
    pose_keys,
    reach,
    solutions_near_real_rotations,
    track_paths,
)
from flexapod.arrays import Complex

STRAIGHT = 1e-8
"""Second difference of the sum of a complete list, over the sum of the sizes: points are found to 1e-12 or so."""

ROUNDED, SEEN = 1e-12, 10.0
"""A point whose own second difference is below the first, relative, moves straight; of any other it must be this many times that
of the sum, so that the sum would show a list that lacks such a point. Else nothing is concluded."""

ROUNDS = 60
"""Triangles of slices after which the search ends without an answer."""

CANDIDATES = 5
"""Slices of which the best is taken."""

QUIET, STALLED = 12, 2
"""Triangles without a new point after which the search ends without an answer, and after which it goes on from another slice: a
point that is far away on one slice, so that its path is lost, is near on others."""

GROWING = 0.1
"""Part by which a triangle made the list longer, with which it is not tested yet: the test takes as long as a triangle."""

MOST = 4000
"""Points of a slice after which the search ends without an answer."""


class SlicedLoops(ComplexLoops):
    """Loop equations with the actuators on a curve, cut by a slice.

    Coordinates of points: those of the robot, then t, then the slice: l (12,), b, s. The slice takes the place of the actuators.
    """

    def __init__(self, loops: ComplexLoops, q: Complex, direction: Complex) -> None:
        self.__dict__.update(loops.__dict__)
        self.own, self.q, self.direction, self.total = loops, q, direction, loops.home.q.shape[1]
        self.passive = [*loops.passive, self.total]
        self.driven = list(range(self.total + 1, self.total + 15))
        self.unknowns = loops.unknowns + 1
        self.square = np.zeros((loops.square.shape[0] + 1, loops.square.shape[1] + 1), dtype=loops.square.dtype)
        self.square[:-1, :-1], self.square[-1, -1] = loops.square, 1.0
        self.angles = loops.rotating[loops.driven]

    def actuators(self, t: Complex) -> tuple[Complex, Complex]:
        """Coordinates (N, actuators) at t (N,), and their derivatives."""
        d, x = self.direction, 1.0 + self.direction * t[:, None]
        x = np.where(self.angles, x, 1.0)
        with np.errstate(all="ignore"):  # paths that leave overflow
            along = np.where(self.angles, -1j * np.log(x), d * t[:, None])
            return self.q + along, np.where(self.angles, -1j * d / x, d)

    def on_curve(self, x: Points) -> Points:
        """The points as those of the robot."""
        q = x.q[:, : self.total].copy()
        q[:, self.own.driven] = self.actuators(x.q[:, self.total])[0]
        return Points(p=x.p, R=x.R, q=q)

    def at_slice(self, x: Points, slice_: Complex) -> Points:
        """Solutions of the robot at t = 0 as points with a slice."""
        q = np.concatenate([x.q, np.zeros((len(x), 1)), np.tile(slice_, (len(x), 1))], axis=1)
        return Points(p=x.p, R=x.R, q=q)

    def evaluate(self, x: Points) -> tuple[Complex, Complex, Complex]:
        """Residual and derivatives of the robot's equations, with a column for t and the slice as last row; the last matrix is
        by the slice."""
        t, cut = x.q[:, self.total], x.q[:, self.driven]
        f, A, B = self.own.evaluate(self.on_curve(x))
        along = (B @ self.actuators(t)[1][..., None])[..., 0]
        y, N = pose_keys(self.own, x), len(x)
        value = (cut[:, :12] * y).sum(axis=1) + cut[:, 12] * t - cut[:, 13]
        rows = np.zeros((N, f.shape[1] + 1, self.unknowns), dtype=complex)
        rows[:, :-1, :-1], rows[:, :-1, -1] = A, along
        l = cut[:, 3:12].reshape(N, 3, 3)
        rows[:, -1, :3], rows[:, -1, 3:6] = cut[:, :3], np.cross(x.R, l, axis=1).sum(axis=2)
        rows[:, -1, -1] = cut[:, 12]
        by_slice = np.zeros((N, f.shape[1] + 1, 14), dtype=complex)
        by_slice[:, -1] = np.concatenate([y, t[:, None], np.full((N, 1), -1.0)], axis=1)
        return np.concatenate([f, value[:, None]], axis=1), rows, by_slice


@dataclass(frozen=True, kw_only=True)
class Traced:
    """Result of the test.

    Args:
        complete: the sums move straight, and a list that lacks a curved point would show it.
        x: solutions at the generic actuators, all that were found.
        degree: points of a slice.
        bend: second difference of the sums, relative.
    """

    complete: bool
    x: Points
    degree: int
    bend: float


def trace_test(loops: ComplexLoops, q: Complex, x: Points, seed: int = 0) -> Traced:
    """Test the solutions x at generic actuators q.

    Checked by: tests/analysis/test_trace_test.py.
    """
    random = np.random.default_rng(seed)
    normal = partial(complex_normal, random)
    sliced = SlicedLoops(loops, q, reach(loops) * normal(len(q)))
    still = np.zeros(14, dtype=complex)
    still[12] = 1.0  # t = 0
    base, z = normal(14), normal(13)
    known = _moved(sliced, sliced.at_slice(x, still), still, base)
    known, base = solutions_near_real_rotations(sliced, known, base, [normal(14) for _ in range(CANDIDATES)])
    shift, quiet, bend = np.zeros(14, dtype=complex), 0, np.inf
    shift[13] = normal(1)[0]
    complete, grown = False, 0.0
    for _ in range(ROUNDS):
        if grown < GROWING:
            bend, clear = _bend(sliced, known, base, shift, z)
            complete = clear and bend < STRAIGHT
        if complete or quiet >= QUIET or len(known) > MOST:
            break
        if quiet and quiet % STALLED == 0:
            known, base = _elsewhere(sliced, known, base, [normal(14) for _ in range(CANDIDATES)])
        new, corners = known, [base, normal(14), normal(14), base]
        for source, target in pairwise(corners):
            new = _moved(sliced, new, source, target)
        before = len(known)
        known = distinct(sliced, join(known, new))
        quiet, grown = quiet + 1 if len(known) == before else 0, len(known) / before - 1.0
    if not complete:
        return Traced(complete=False, x=x, degree=len(known), bend=bend)
    ends = _moved(sliced, known, base, still)
    all_ = distinct(loops, join(x, sliced.on_curve(ends)))
    return Traced(complete=True, x=all_, degree=len(known), bend=bend)


def _moved(sliced: SlicedLoops, x: Points, source: Complex, target: Complex) -> Points:
    """Points of a slice followed to another one; those that arrive."""
    x, arrived = track_paths(sliced, x, source, target, leaving=FAR)
    x, good, _ = polished(sliced, x.at(arrived), 3)
    return x.at(good & sliced.own.aligned(sliced.on_curve(x))) if len(x) else x


def _elsewhere(sliced: SlicedLoops, x: Points, base: Complex, others: list[Complex]) -> tuple[Points, Complex]:
    """Points followed to the one of some other slices where most of them arrive."""
    ends = [distinct(sliced, _moved(sliced, x, base, other)) for other in others]
    best = max(range(len(others)), key=lambda k: len(ends[k]))
    return (ends[best], others[best]) if len(ends[best]) else (x, base)


def _bend(sliced: SlicedLoops, x: Points, base: Complex, shift: Complex, z: Complex) -> tuple[float, bool]:
    """Second difference of the sum over three slices, over the sum of sizes; and whether the sum would show a missing point."""
    values: list[Complex] = []
    for k in range(3):
        at, arrived = (x, np.ones(len(x), dtype=bool)) if k == 0 else track_paths(sliced, x, base, base + k * shift, leaving=FAR)
        if not arrived.all():
            return np.inf, False
        at, good, _ = polished(sliced, in_extended_precision(at), 3)
        if not good.all() or len(distinct(sliced, at)) < len(x):
            return np.inf, False
        values.append(np.concatenate([pose_keys(sliced.own, at), at.q[:, [sliced.total]]], axis=1) @ z)
    second = values[0] - 2.0 * values[1] + values[2]
    size = float(np.abs(values).sum())
    own, bend = np.abs(second) / size, float(abs(second.sum()) / size)
    return bend, not bool(np.any((own > ROUNDED) & (own < SEEN * bend)))
