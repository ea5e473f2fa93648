"""The paving of a workspace: boxes proven inside, undecided ones, bounds of the volume."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.analysis.space.box_columns import SlabColumns
from flexapod.analysis.space.box_decision import Trim
from flexapod.arrays import Array
from flexapod.errors import InputError
from flexapod.motions.argument_checks import finite_array

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, kw_only=True)
class Paving:
    """A paving of a workspace.

    Args:
        axes: of the poses; those with one value have no width.
        low, high: (k,) corners of the first box.
        inside, undecided: per level the whole numbers (n, k) of the boxes: corner = low + number * (high - low) / 2^level.
        volume_low, volume_high: proven bounds of the workspace's volume in the first box [m^3, m^2 for a plane, rad^..].
        boxes: how many were examined.
        reasons: limit -> number of the smallest undecided boxes in which it is open.
        trimmed, columns: how the undecided boxes are trimmed per level, and what is left of them cut again (`cut=False`).
    """

    robot: str
    axes: tuple[str, ...]
    low: Array
    high: Array
    inside: dict[int, NDArray[np.int64]]
    undecided: dict[int, NDArray[np.int64]]
    volume_inside: float
    volume_undecided: float
    volume_low: float
    volume_high: float
    boxes: int
    reasons: dict[str, int] = field(default_factory=dict)
    bounds: Any = field(default=None, repr=False)
    trimmed: dict[int, Trim] = field(default_factory=dict, repr=False)
    columns: SlabColumns | None = field(default=None, repr=False)

    def corners(self, which: str) -> tuple[Array, Array]:
        """Low and high corners (n, k) of the `inside` or `undecided` boxes."""
        lows, highs = [np.zeros((0, len(self.low)))], [np.zeros((0, len(self.low)))]
        for level, numbers in getattr(self, which).items():
            if which == "undecided" and self.trimmed:
                continue
            low, high = self._corners(level, numbers)
            lows.append(low)
            highs.append(high)
        for level, trim in self.trimmed.items():
            if which == "inside":
                low, high = trim.parts(*self._corners(level, self.undecided[level]), which)
                lows.append(low)
                highs.append(high)
        if self.columns is not None:
            low, high = self.columns.parts(self.bounds, which)
            lows.append(low)
            highs.append(high)
        return np.concatenate(lows), np.concatenate(highs)

    def _corners(self, level: int, numbers: NDArray[np.int64]) -> tuple[Array, Array]:
        h = (self.high - self.low) * 0.5**level
        low = self.low + numbers * h
        return low, low + h

    def where(self, points: ArrayLike, *, alone: bool = True) -> NDArray[np.int8]:
        """1: proven inside, -1: proven outside, 0: undecided, of poses (n, k) in the first box.

        Args:
            alone: poses of undecided boxes are judged by themselves, as boxes without a size.
        """
        at = finite_array("points", points, np.shape(points))
        if at.ndim != 2 or at.shape[1] != len(self.low):
            raise InputError(f"points: expected shape (n, {len(self.low)}), got {at.shape}")
        found = np.where(np.all((at >= self.low) & (at <= self.high), axis=1), -1, 0).astype(np.int8)
        for value, boxes in ((0, self.undecided), (1, self.inside)):
            for level, numbers in boxes.items():
                number = self._numbers(at, level)
                hit = np.isin(self._key(number, level), self._key(numbers, level))
                found[hit & (found == -1)] = value
        left = np.flatnonzero((found == 0) & np.all((at >= self.low) & (at <= self.high), axis=1))
        if alone and self.bounds is not None and len(left):
            decided = self.bounds.decide(at[left], at[left], np.ones((len(left), 3), dtype=bool))
            found[left] = decided.inside.astype(np.int8) - decided.outside.astype(np.int8)
        return found

    def _numbers(self, at: Array, level: int) -> NDArray[np.int64]:
        width = np.where(self.high > self.low, self.high - self.low, 1.0)
        return np.clip(np.floor((at - self.low) / width * 2.0**level), 0, 2**level - 1).astype(np.int64)

    @staticmethod
    def _key(numbers: NDArray[np.int64], level: int) -> NDArray[np.int64]:
        key = np.zeros(len(numbers), dtype=np.int64)
        for column in numbers.T:
            key = (key << level) + column
        return key

    def table(self) -> xr.Dataset:
        """Inside and undecided boxes as a Dataset over `box`: `low`, `high` (box, axis), `proven`."""
        import xarray as xr

        parts = [self.corners("inside"), self.corners("undecided")]
        low, high = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
        proven = np.arange(len(low)) < len(parts[0][0])
        data = {"low": (("box", "axis"), low), "high": (("box", "axis"), high), "proven": ("box", proven)}
        notes = {"robot": self.robot, "volume_low": self.volume_low, "volume_high": self.volume_high}
        return xr.Dataset(data, coords={"axis": list(self.axes)}, attrs=notes)
