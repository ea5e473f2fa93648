r"""Plans of designs: grid, random, Latin hypercube, Sobol or a table, as functions of the index.

A block of designs is computed from its number alone: nothing is kept between blocks, and a study that goes on computes the same
designs to the last bit. The Latin hypercube permutes its strata by a Feistel network (four rounds over a domain of a power of
four, walked until the index lies within), so that 1e9 strata need no memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.arrays import Array
from flexapod.design.variables import Axis
from flexapod.errors import InputError

PLANS = ("grid", "random", "latin", "sobol")

MOST = 4_000_000_000
"""Designs of one study at most."""


class DesignPlan:
    """Designs by index.

    Args:
        axes: the variables.
        kind: one of `PLANS`, or a table of designs: mapping name -> (n,) or an array (n, d).
        count: number of designs; for a grid points per variable (one number, or a mapping by name; choices count themselves).
        seed: of random, latin and sobol (scrambling).

    Checked by: tests/design/test_plans.py.
    """

    def __init__(self, axes: Sequence[Axis], kind: str | ArrayLike | Mapping[str, ArrayLike], count: object, seed: int) -> None:
        self.axes, self.seed = tuple(axes), seed
        self.table: Array | None = None
        self.levels: tuple[int, ...] = ()
        if not isinstance(kind, str):
            self.kind, self.table = "table", _table(self.axes, kind)
            self.count = len(self.table)
        elif kind == "grid":
            self.kind, self.levels = kind, _levels(self.axes, count)
            self.count = int(np.prod(np.array(self.levels, dtype=object)))
        elif kind in PLANS:
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
                raise InputError(f"count: expected a whole number of designs above 0, got {count!r}")
            self.kind, self.count = kind, int(count)
        else:
            raise InputError(f"plan: there is no plan {kind!r}; there are: {', '.join(PLANS)}, or a table of designs")
        if self.count > MOST:
            raise InputError(f"count: {self.count:.3g} designs are more than {MOST:.0e}; take fewer points per variable")

    def designs(self, block: int, size: int) -> Array:
        """Designs (n, d) of a block of `size` designs."""
        start, stop = block * size, min((block + 1) * size, self.count)
        index = np.arange(start, stop, dtype=np.int64)
        if self.table is not None:
            return self.table[start:stop]
        if self.kind == "grid":
            return self._grid(index)
        if self.kind == "sobol":
            return self._placed(_sobol(len(self.axes), self.seed, start, stop))
        random = np.random.Generator(np.random.Philox(key=[self.seed, block]))
        u = random.random((len(index), len(self.axes)))
        if self.kind == "latin":
            strata = np.stack([permuted(index, self.count, self.seed, i) for i in range(len(self.axes))], axis=1)
            u = (strata + u) / self.count
        return self._placed(u)

    def _placed(self, u: Array) -> Array:
        return np.stack([axis.placed(u[:, i]) for i, axis in enumerate(self.axes)], axis=1)

    def _grid(self, index: NDArray[np.int64]) -> Array:
        """The last variable runs fastest."""
        columns: list[Array] = []
        for axis, levels in zip(reversed(self.axes), reversed(self.levels), strict=True):
            place, index = index % levels, index // levels
            points = np.array(axis.choices) if axis.choices else np.linspace(axis.low, axis.high, levels)
            columns.append(points[place])
        return np.stack(columns[::-1], axis=1)


def _levels(axes: Sequence[Axis], count: object) -> tuple[int, ...]:
    given = count if isinstance(count, Mapping) else {axis.name: count for axis in axes}
    levels = []
    for axis in axes:
        value = len(axis.choices) if axis.choices else given.get(axis.name)
        least = 1 if axis.choices else 2
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise InputError(f"count: a grid needs two or more points of {axis.name}, got {value!r}")
        levels.append(int(value))
    return tuple(levels)


def _table(axes: Sequence[Axis], table: ArrayLike | Mapping[str, ArrayLike]) -> Array:
    names = [axis.name for axis in axes]
    if isinstance(table, Mapping):
        if set(table) != set(names):
            raise InputError(f"plan: the table has columns {sorted(map(str, table))}, the variables are {sorted(names)}")
        table = np.stack([np.asarray(table[name], dtype=np.float64) for name in names], axis=1)
    try:
        rows = np.ascontiguousarray(table, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"plan: expected one of {', '.join(PLANS)} or a table of numbers, got {type(table).__name__}") from None
    if rows.ndim != 2 or rows.shape[1] != len(axes) or len(rows) == 0 or not np.all(np.isfinite(rows)):
        raise InputError(f"plan: expected a table of finite numbers (n, {len(axes)}), got shape {rows.shape}")
    for i, axis in enumerate(axes):
        low, high = rows[:, i].min(), rows[:, i].max()
        if low < axis.low or high > axis.high:
            raise InputError(
                f"plan: {axis.name} is {low:g} to {high:g} in the table, beyond its limits {axis.low:g} to {axis.high:g}"
            )
    return rows


def _sobol(d: int, seed: int, start: int, stop: int) -> Array:
    from scipy.stats import qmc

    engine = qmc.Sobol(d, scramble=True, bits=32, seed=seed)
    if start:
        engine.fast_forward(start)
        return np.asarray(engine.random(stop - start), dtype=np.float64)
    whole = 1 << (stop - 1).bit_length()  # SciPy warns where a sequence does not begin with a power of two
    return np.asarray(engine.random(whole)[:stop], dtype=np.float64)


def permuted(index: NDArray[np.int64], count: int, seed: int, stream: int) -> NDArray[np.int64]:
    """Places of indices in a random permutation of range(count), without its table."""
    half = max(1, (max(count - 1, 1).bit_length() + 1) // 2)
    mask = np.uint64((1 << half) - 1)
    keys = np.random.Generator(np.random.Philox(key=[seed, (1 << 40) + stream])).integers(0, 2**63, 4, dtype=np.uint64)
    x = index.astype(np.uint64)
    open_ = np.ones(len(x), dtype=bool)
    while np.any(open_):
        y = x[open_]
        left, right = y >> np.uint64(half), y & mask
        for key in keys:
            left, right = right, left ^ (_mixed(right ^ key) & mask)
        x[open_] = (left << np.uint64(half)) | right
        open_ = x >= np.uint64(count)
    return x.astype(np.int64)


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A finaliser of splitmix64: every bit of the result depends on every bit of x."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
