r"""Running summary of a study: statistics and Pareto front, block after block in their order.

.. math:: \bar x = \bar x_a + \frac{n_b}{n}\,\delta,\qquad S = S_a + S_b + \frac{n_a n_b}{n}\,\delta^2,\qquad
          \delta = \bar x_b - \bar x_a

Blocks are merged in the order of their numbers, so that the result is the same to the last bit however the work was cut.

Source: Chan, Golub, LeVeque, Updating formulae and a pairwise algorithm for computing sample variances (1979).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array

FRONT = 20_000
"""Designs of a Pareto front at most; beyond, those found first stay and `complete` is False."""


@dataclass(kw_only=True)
class Summary:
    """Statistics of the designs so far.

    `signs` (c,): 1 where low is better, -1 where high. Rows of `front`: index, variables, criteria.
    """

    signs: Array
    width: int
    designs: int = 0
    valid: int = 0
    mean: Array = field(default_factory=lambda: np.zeros(0))
    square: Array = field(default_factory=lambda: np.zeros(0))
    lowest: Array = field(default_factory=lambda: np.zeros(0))
    highest: Array = field(default_factory=lambda: np.zeros(0))
    lowest_at: list[int] = field(default_factory=list)
    highest_at: list[int] = field(default_factory=list)
    reasons: dict[str, int] = field(default_factory=dict)
    front: Array = field(default_factory=lambda: np.zeros((0, 0)))
    complete: bool = True

    def add(self, other: Summary) -> None:
        """Merge the summary of the next block.

        Checked by: tests/design/test_summary.py.
        """
        for reason, count in other.reasons.items():
            self.reasons[reason] = self.reasons.get(reason, 0) + count
        self.designs += other.designs
        if other.valid == 0:
            return
        if self.valid == 0:
            for name in ("valid", "mean", "square", "lowest", "highest", "lowest_at", "highest_at", "front"):
                setattr(self, name, getattr(other, name))
            return
        n = self.valid + other.valid
        delta = other.mean - self.mean
        self.mean = self.mean + delta * (other.valid / n)
        self.square = self.square + other.square + delta**2 * (self.valid * other.valid / n)
        lower, higher = other.lowest < self.lowest, other.highest > self.highest
        self.lowest_at = [b if take else a for a, b, take in zip(self.lowest_at, other.lowest_at, lower, strict=True)]
        self.highest_at = [b if take else a for a, b, take in zip(self.highest_at, other.highest_at, higher, strict=True)]
        self.lowest, self.highest = np.minimum(self.lowest, other.lowest), np.maximum(self.highest, other.highest)
        self.valid = n
        both = np.concatenate([self.front, other.front])
        kept = both[pareto(both[:, -len(self.signs) :] * self.signs)]
        self.complete = self.complete and other.complete and len(kept) <= FRONT
        self.front = kept[:FRONT]

    def state(self) -> dict[str, Any]:
        """State of the statistics as plain data for JSON; numbers are restored bit for bit."""
        arrays = ("mean", "square", "lowest", "highest", "front")
        plain = ("designs", "valid", "lowest_at", "highest_at", "reasons", "complete")
        return {name: getattr(self, name).tolist() for name in arrays} | {name: getattr(self, name) for name in plain}

    def restore(self, state: dict[str, Any]) -> None:
        """Take a kept state."""
        for name, value in state.items():
            current = getattr(self, name)
            setattr(self, name, np.array(value, dtype=np.float64) if isinstance(current, np.ndarray) else value)
        self.front = self.front.reshape(-1, self.width)


def block_summary(start: int, x: Array, criteria: Array, texts: Sequence[str], signs: Array) -> Summary:
    """Summary of one block: designs (n, d), criteria (n, c), reasons (n,) empty where valid."""
    result = Summary(signs=signs, width=1 + x.shape[1] + criteria.shape[1], designs=len(x))
    bad = np.array([text != "" for text in texts], dtype=bool)
    result.reasons = dict(sorted(Counter(text for text in texts if text).items()))
    good = np.flatnonzero(~bad)
    if len(good) == 0:
        return result
    values = criteria[good]
    result.valid = len(good)
    result.mean = values.mean(axis=0)
    result.square = ((values - result.mean) ** 2).sum(axis=0)
    result.lowest, result.highest = values.min(axis=0), values.max(axis=0)
    result.lowest_at = [int(start + good[i]) for i in values.argmin(axis=0)]
    result.highest_at = [int(start + good[i]) for i in values.argmax(axis=0)]
    kept = pareto(values * signs)
    result.complete, kept = len(kept) <= FRONT, kept[:FRONT]
    chosen = good[kept]
    result.front = np.column_stack([(start + chosen).astype(np.float64), x[chosen], criteria[chosen]])
    return result


def pareto(costs: Array) -> NDArray[np.int64]:
    """Indices, in order, of the rows that no other row dominates (as low everywhere, lower somewhere); equal rows stay.

    Checked by: tests/design/test_summary.py.
    """
    if costs.shape[1] == 1:
        return np.flatnonzero(costs[:, 0] == costs[:, 0].min(initial=np.inf))
    order = np.lexsort(costs.T[::-1])
    if costs.shape[1] == 2:
        first, second = costs[order].T
        before = np.minimum.accumulate(second)
        start = np.searchsorted(first, first)  # first of those with an equal first cost
        least = np.where(start > 0, before[np.maximum(start - 1, 0)], np.inf)
        kept = (second < least) & (second == second[start])
        return np.sort(order[kept])
    left, front = order, []
    while len(left):
        best = costs[left[0]]
        front.append(left[0])
        rest = left[1:]
        left = rest[np.any(costs[rest] < best, axis=1) | np.all(costs[rest] == best, axis=1)]
    return np.sort(np.array(front, dtype=np.int64))
