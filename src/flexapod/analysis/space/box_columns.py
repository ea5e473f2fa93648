r"""Undecided boxes of a paving, cut into columns across the axis along which boxes are trimmed.

An undecided part of a trimmed box is a slab: thin along its axis, as wide as the box across. Its thickness is due to the tilt of
the limits over the width, so that m columns along each side leave a m-th of it undecided:

.. math:: U = \sum_i u_i / m_i,\qquad \text{columns} = \sum_i m_i^2 \to \min \;\Rightarrow\; m_i \propto u_i^{1/3}

u volumes of the slabs. Every column is trimmed by itself, into boxes that are inside, outside and undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array

if TYPE_CHECKING:
    from flexapod.analysis.space.box_decision import Trim

CHUNK = 32_768
"""Columns evaluated at a time."""

MARGIN = 1.03
"""Columns that are cut, over those that the estimate asks for."""

PASSES = 6
"""Passes that a paving takes at most to reach its target."""


class Trims(Protocol):
    """Bounds that say which part of boxes along an axis is inside, outside and undecided."""

    def trim(self, low: Array, high: Array, groups: NDArray[np.bool_], /) -> Trim:
        """The parts of boxes with corners low, high (n, k) and limits (n, g) that may be open."""
        ...


@dataclass(frozen=True, kw_only=True)
class SlabColumns:
    """Slabs and the columns that they are cut into.

    Args:
        low, high: (n, k) corners of the slabs; groups: (n, g) limits that may be open.
        axis: (n,) the one along which they are thin.
        counts: (n,) columns along each side.
        inside, undecided: volumes of the parts of all columns.
        total: number of columns that were examined.
    """

    low: Array
    high: Array
    groups: NDArray[np.bool_]
    axis: NDArray[np.int64]
    counts: NDArray[np.int64]
    inside: float
    undecided: float
    total: int

    def parts(self, bounds: Trims, which: str) -> tuple[Array, Array]:
        """Corners of the `inside` or `undecided` parts, computed again column by column."""
        found = [bounds.trim(low, high, own).parts(low, high, which) for low, high, own in self.each()]
        none = np.zeros((0, self.low.shape[1]))
        return np.concatenate([none, *(a for a, _ in found)]), np.concatenate([none, *(b for _, b in found)])

    def each(self) -> Iterator[tuple[Array, Array, NDArray[np.bool_]]]:
        """Columns in blocks: corners and groups."""
        free = np.any(self.high > self.low, axis=0)
        across = free & (np.arange(len(free)) != self.axis[:, None])
        for m in np.unique(self.counts):
            own = np.flatnonzero(self.counts == m)
            block = max(1, int(CHUNK // m ** min(2, free.sum() - 1)))
            for start in range(0, len(own), block):
                chosen = own[start : start + block]
                low, high = self.low[chosen], self.high[chosen]
                origin = np.arange(len(chosen))
                for k in np.flatnonzero(free):  # split the slabs along every axis but their own
                    split = across[chosen[origin], k]
                    low, high, origin = _split(low, high, origin, int(k), split, int(m))
                yield low, high, self.groups[chosen[origin]]


def _split(
    low: Array, high: Array, origin: NDArray[np.int64], k: int, split: NDArray[np.bool_], m: int
) -> tuple[Array, Array, NDArray[np.int64]]:
    """Boxes cut into m parts along axis k where `split`; neighbours share their corners to the last bit."""
    times = np.where(split, m, 1)
    index = np.repeat(np.arange(len(low)), times)
    number = np.arange(len(index)) - np.repeat(np.cumsum(times) - times, times)
    a, b, parts = low[index, k], high[index, k], times[index]
    low, high = low[index], high[index]
    low[:, k] = np.where(number == 0, a, a + (b - a) * (number / parts))
    high[:, k] = np.where(number + 1 == parts, b, a + (b - a) * ((number + 1) / parts))
    return low, high, origin[index]


def cut_columns(
    bounds: Trims,
    low: Array,
    high: Array,
    groups: NDArray[np.bool_],
    axis: NDArray[np.int64],
    *,
    target: Callable[[float], float],
    most: int,
) -> SlabColumns:
    """Slabs cut until little is undecided.

    Args:
        bounds: with `trim`; low, high, groups, axis: of the slabs.
        target: volume that may stay undecided, as a function of the volume that the columns prove to be inside.
        most: columns to examine.

    Checked by: tests/analysis/test_pave.py.
    """
    free = np.any(high > low, axis=0)
    size = np.prod((high - low)[:, free], axis=1)
    total, allowed = float(size.sum()), float(target(0.0))
    mean = size ** (1 / 3)
    share = float(np.sum(size / np.maximum(mean, 1e-300)))
    factor = share / max(allowed, 1e-300) * MARGIN
    one = np.ones(len(low), dtype=np.int64)
    found = SlabColumns(low=low, high=high, groups=groups, axis=axis, counts=one, inside=0.0, undecided=total, total=0)
    spent = 0
    for _ in range(PASSES):
        counts = np.maximum(np.ceil(factor * mean), 1).astype(np.int64)
        if float(np.sum(counts.astype(float) ** (free.sum() - 1))) > most - spent:
            break
        trial = SlabColumns(**{**vars(found), "counts": counts})
        inside = undecided = 0.0
        columns = 0
        for a, b, own in trial.each():
            trim, volume = bounds.trim(a, b, own), np.prod((b - a)[:, free], axis=1)
            inside += float(volume @ trim.certain)
            undecided += float(volume @ (trim.possible - trim.certain))
            columns += len(a)
        spent += columns
        found = SlabColumns(**{**vars(trial), "inside": inside, "undecided": undecided, "total": spent})
        allowed = float(target(inside))
        if undecided <= allowed:
            break
        factor *= undecided / allowed * MARGIN
    return found
