r"""Boxes cut by planes: how much of a box certainly keeps all limits, and how much possibly does.

Over a box with middle m and half widths r, a limit lies between two affine functions,

.. math:: g(p) \in [g(m)] + \nabla g(m)\cdot(p-m) \pm \sum_k |\nabla g(\text{box})-\nabla g(m)|_k\,r_k

The part of the cube [-1, 1]^n where alpha + w.t >= 0 has a closed form (Polya; inclusion and exclusion over its corners),

.. math:: \frac{1}{n!\,2^n\prod w_k}\sum_{e\in\{-1,1\}^n} \Big(\prod e_k\Big)\max(0,\ \alpha + e\cdot w)^n
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SMALL = 0.02
"""Components of w below this share of the largest one join alpha on the safe side: the closed form would cancel digits."""

ROUNDING = 1e-9
"""Error of a share: digits that the closed form loses for w of `SMALL`."""


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


def cut_shares(
    g_low: Array, g_high: Array, at_low: Array, at_high: Array, box_low: Array, box_high: Array,
    opened: NDArray[np.bool_], radius: Array, free: NDArray[np.int64],
) -> tuple[Array, Array]:  # fmt: skip
    """Certain and possible shares (n,) of boxes.

    Args:
        g_low, g_high: (n, m) limits at the middle; at_low, at_high: (n, m, k) their gradients there.
        box_low, box_high: (n, m, k) gradients over the box.
        opened: (n, m) limits that are not certain.
        radius: (k,) half widths; free: axes that have a width.
    """
    n, m = g_low.shape
    lost, most = np.zeros(n), np.ones(n)
    for i in range(m):
        own = np.flatnonzero(opened[:, i])
        if len(own) == 0:
            continue
        with np.errstate(invalid="ignore"):
            slope = ((at_low[own, i] + at_high[own, i]) / 2)[:, free]
        spread = np.maximum(box_high[own, i][:, free] - slope, slope - box_low[own, i][:, free])
        with np.errstate(invalid="ignore"):
            rest = (spread @ radius[free]) * (1 + 1e-13)
        w = slope * radius[free]
        good = np.isfinite(rest) & np.all(np.isfinite(w), axis=1)
        rest, w = np.where(good, rest, 0.0), np.where(good[:, None], w, 0.0)
        certain = np.where(good, half_space_share(np.where(good, g_low[own, i], 0.0) - rest, w, -1), 0.0)
        possible = np.where(good, half_space_share(np.where(good, g_high[own, i], 0.0) + rest, w, 1), 1.0)
        lost[own] += 1.0 - certain
        most[own] = np.minimum(most[own], possible)
    return np.maximum(1.0 - lost, 0.0), most
