"""Decisions about boxes of poses after one evaluation: inside, outside or undecided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Boxes (n,): proven inside, proven outside; `groups` (n, g) of limits that parts of a box need to look at again.

    `open` (n, m) are limits that are not certain, for the list of reasons.
    """

    inside: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    groups: NDArray[np.bool_]
    open: NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Trim:
    """Boxes (n,) trimmed along one axis each, as in `flexapod.equations.box_trims`.

    Args:
        axis: (n,) number of the axis.
        ends: (n, 4) o_1, i_1, i_2, o_2 on [-1, 1]: inside between i_1 and i_2, outside beyond o_1 and o_2.
        certain, possible: (n,) fractions of the box that are inside, and that are not outside.
    """

    axis: NDArray[np.int64]
    ends: NDArray[np.float64]
    certain: NDArray[np.float64]
    possible: NDArray[np.float64]

    def parts(self, low: NDArray[np.float64], high: NDArray[np.float64], which: str) -> tuple[Any, Any]:
        """Corners (k, axes) of the `inside` or `undecided` parts of boxes with corners (n, axes)."""
        middle, half = (low + high) / 2, (high - low) / 2
        lows, highs = [low[:0]], [high[:0]]
        for first, last in ((1, 2),) if which == "inside" else ((0, 1), (2, 3)):
            own = np.flatnonzero(self.ends[:, first] < self.ends[:, last])
            for corners, column, kept in ((lows, first, low), (highs, last, high)):
                at, j = kept[own].copy(), self.axis[own]
                t = self.ends[own, column]
                rows = np.arange(len(own))
                at[rows, j] = np.where(np.abs(t) == 1.0, at[rows, j], middle[own, j] + t * half[own, j])
                corners.append(at)
        return np.concatenate(lows), np.concatenate(highs)
