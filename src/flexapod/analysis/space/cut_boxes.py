r"""Boxes cut by planes: the part of a box that certainly keeps all limits, and the part that possibly does.

Over a box with middle m and half widths r, a limit lies between two affine functions,

.. math:: g(p) \in [g(m)] + \nabla g(m)\cdot(p-m) \pm \sum_k |\nabla g(\text{box})-\nabla g(m)|_k\,r_k

The part of the cube [-1, 1]^n where alpha + w.t >= 0 has a closed form (Polya; inclusion and exclusion over its corners),

.. math:: \frac{1}{n!\,2^n\prod w_k}\sum_{e\in\{-1,1\}^n} \Big(\prod e_k\Big)\max(0,\ \alpha + e\cdot w)^n
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from flexapod.analysis.space.box_decision import Decision, Trim
from flexapod.arrays import Array

SMALL = 0.02
"""Components of w below this share of the largest one join alpha on the safe side: the closed form would cancel digits."""

ROUNDING = 1e-9
"""Error of a share: digits that the closed form loses for w of `SMALL`."""

LEAST = 1e-300
"""Number in place of a slope of zero along the axis that a box is trimmed on."""


def half_space_share(alpha: Array, w: Array, safe: int) -> Array:
    """Share (n,) of the cube [-1, 1]^k where alpha + w.t >= 0, rounded up (safe = 1) or down (-1).

    Checked by: tests/analysis/test_pave.py.
    """
    size = np.sort(np.abs(w), axis=1)[:, ::-1]
    small = size < SMALL * size[:, :1]
    alpha = alpha + safe * np.where(small, size, 0.0).sum(axis=1)
    count = size.shape[1] - small.sum(axis=1)
    share = np.where(alpha >= 0, 1.0, 0.0)
    for k in range(1, size.shape[1] + 1):
        own = np.flatnonzero((count == k) & (size[:, 0] > 0))
        if len(own):
            share[own] = _share(alpha[own], size[own, :k]) + safe * ROUNDING
    total = np.where(small, 0.0, size).sum(axis=1)
    share = np.where(alpha >= total, 1.0, np.where(alpha < -total, 0.0, share))
    return np.clip(share, 0.0, 1.0)


def _share(alpha: Array, w: Array) -> Array:
    k = w.shape[1]
    total = np.zeros(len(alpha))
    for minus in range(k + 1):
        for chosen in combinations(range(k), minus):
            signs = np.ones(k)
            signs[list(chosen)] = -1.0
            total += (-1.0) ** minus * np.maximum(alpha + w @ signs, 0.0) ** k
    return np.asarray(total / (math.factorial(k) * 2.0**k * np.prod(w, axis=1)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Planes:
    """Limits over boxes.

    Args:
        g_low, g_high: (n, m) limits at the middle; at_low, at_high: (n, m, k) their gradients there.
        box_low, box_high: (n, m, k) gradients over the box.
        opened: (n, m) limits that are not certain.
        radius: (n, k) half widths.
    """

    g_low: Array
    g_high: Array
    at_low: Array
    at_high: Array
    box_low: Array
    box_high: Array
    opened: NDArray[np.bool_]
    radius: Array

    @property
    def free(self) -> NDArray[np.int64]:
        """Axes along which some box has a width."""
        return np.flatnonzero(np.any(self.radius > 0, axis=0))


def cut_fractions(planes: Planes) -> tuple[Array, Array]:
    """Certain and possible fractions (n,) of boxes."""
    lost, most = np.zeros(len(planes.g_low)), np.ones(len(planes.g_low))
    for own, low, high, w in _affine(planes):
        lost[own] += 1.0 - half_space_share(low, w, -1)
        most[own] = np.minimum(most[own], half_space_share(high, w, 1))
    return np.maximum(1.0 - lost, 0.0), most


class CutBoxes(ABC):
    """Bounds over boxes whose undecided boxes are cut by planes.

    Checked by: tests/analysis/test_pave.py, tests/analysis/test_tube_bounds.py.
    """

    whole: NDArray[np.bool_]
    """Boxes of the last decision of which no part can be proven to be inside."""

    @abstractmethod
    def decide(self, low: Array, high: Array, groups: NDArray[np.bool_]) -> Decision:
        """Decide boxes; open limits are evaluated again in parts of a box."""

    @abstractmethod
    def planes(self, low: Array, high: Array, own: NDArray[np.int64]) -> Planes:
        """Limits of some boxes of the last decision; `low`, `high`: corners of those boxes alone."""

    def cut(
        self, low: Array, high: Array, groups: NDArray[np.bool_], decision: Decision, rest: NDArray[np.bool_]
    ) -> tuple[Array, Array]:
        """Certain and possible fractions of the undecided boxes of the last decision, cut by planes."""
        own = np.flatnonzero(rest)
        certain, possible = cut_fractions(self.planes(low, high, own))
        return np.where(self.whole[own], 0.0, certain), possible

    def trim(self, low: Array, high: Array, groups: NDArray[np.bool_], rest: NDArray[np.bool_] | None = None) -> Trim:
        """Undecided boxes trimmed along an axis each; without `rest`, they are judged first."""
        if rest is None:
            self.decide(low, high, groups)
        own = np.arange(len(low)) if rest is None else np.flatnonzero(rest)
        return trimmed(self.planes(low, high, own), self.whole[own])


UNKNOWN = 1e300
"""Size of a limit that has no bounds in a box: it may be kept or broken anywhere."""


def _affine(planes: Planes) -> Iterator[tuple[NDArray[np.int64], Array, Array, Array]]:
    """Limit by limit: boxes in which it is open, its least and largest value at the middle, and slopes times half widths."""
    free = planes.free
    for i in range(planes.g_low.shape[1]):
        own = np.flatnonzero(planes.opened[:, i])
        if len(own) == 0:
            continue
        least, most, radius = planes.g_low[own, i], planes.g_high[own, i], planes.radius[own][:, free]
        with np.errstate(invalid="ignore"):
            slope = ((planes.at_low[own, i] + planes.at_high[own, i]) / 2)[:, free]
            spread = np.maximum(planes.box_high[own, i][:, free] - slope, slope - planes.box_low[own, i][:, free])
            rest = np.einsum("nk,nk->n", spread, radius) * (1 + 1e-13)
        w = slope * radius
        good = np.isfinite(rest) & np.all(np.isfinite(w), axis=1) & np.isfinite(least) & np.isfinite(most)
        rest, w = np.where(good, rest, UNKNOWN), np.where(good[:, None], w, 0.0)
        yield own, np.where(good, least, 0.0) - rest, np.where(good, most, 0.0) + rest, w


def trimmed(planes: Planes, whole: NDArray[np.bool_]) -> Trim:
    """Boxes trimmed along the axis that leaves least undecided, as `flexapod.equations.box_trims` does; see there.

    Args:
        whole: (n,) boxes of which no part can be proven to be inside.

    Checked by: tests/analysis/test_pave.py.
    """
    n, free = len(planes.g_low), planes.free
    ends = np.tile([-1.0, -1.0, 1.0, 1.0], (n, len(free), 1))
    for own, low, high, w in _affine(planes):
        others, size, up = np.abs(w).sum(axis=1, keepdims=True) - np.abs(w), np.maximum(np.abs(w), LEAST), w >= 0
        with np.errstate(over="ignore"):
            sure, maybe = (np.clip(x / size, -2.0, 2.0) for x in (others - low[:, None], -others - high[:, None]))
        for k, side, end in ((0, up, maybe), (1, up, sure), (2, ~up, -sure), (3, ~up, -maybe)):
            narrower = np.maximum(ends[own, :, k], end) if k < 2 else np.minimum(ends[own, :, k], end)
            ends[own, :, k] = np.where(side, narrower, ends[own, :, k])
    o1, o2 = np.maximum(ends[..., 0] - ROUNDING, -1.0), np.minimum(ends[..., 3] + ROUNDING, 1.0)
    i1, i2 = np.maximum(ends[..., 1], -1.0) + ROUNDING, np.minimum(ends[..., 2], 1.0) - ROUNDING
    none = ~(i1 < i2) | whole[:, None]
    i1, i2 = np.where(none, o2, i1), np.where(none, o2, i2)
    certain, possible = (i2 - i1) / 2, np.maximum(o2 - o1, 0.0) / 2
    best = np.argmin(possible - certain, axis=1)
    rows = np.arange(n)
    parts = np.stack([o1, i1, i2, o2], axis=-1)[rows, best]
    return Trim(axis=free[best], ends=parts, certain=certain[rows, best], possible=possible[rows, best])
