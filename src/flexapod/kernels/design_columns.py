"""Parameters that vary per sample, column by column: a base row for all samples, and the values of those that vary."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.kernels.errors import KernelInputError

if TYPE_CHECKING:
    from flexapod.arrays import Rows
    from flexapod.kernels.tape.signature import Parameter


@dataclass(frozen=True, kw_only=True, eq=False)
class ParameterColumns:
    """Parameters of n samples.

    Args:
        base: (P,) values of all parameters.
        places: (m,) which of them vary.
        values: m arrays (n,), contiguous: what these are instead.
        count: n.
    """

    base: Array
    places: NDArray[np.int64]
    values: Sequence[Array]
    count: int

    def at(self, rows: Rows) -> ParameterColumns:
        """Columns of some samples: a slice (views) or indices."""
        count = len(range(self.count)[rows]) if isinstance(rows, slice) else len(rows)
        return ParameterColumns(base=self.base, places=self.places, values=[column[rows] for column in self.values], count=count)

    def rows(self) -> Array:
        """Parameters of all samples (n, P)."""
        found = np.repeat(self.base[None], self.count, axis=0)
        for place, column in zip(self.places, self.values, strict=True):
            found[:, place] = column
        return found

    def addresses(self) -> NDArray[np.int64]:
        """Addresses of the columns."""
        if isinstance(self.values, np.ndarray):
            return np.asarray(self.values.ctypes.data + self.values.strides[0] * np.arange(len(self.values)))
        return np.array([column.ctypes.data for column in self.values], dtype=np.int64)


def from_rows(parameters: Array) -> ParameterColumns:
    """Parameters (n, P) as columns."""
    count = parameters.shape[1]
    base = parameters[0] if len(parameters) else np.zeros(count)
    columns: Any = np.ascontiguousarray(parameters.T)
    return ParameterColumns(base=base, places=np.arange(count), values=columns, count=len(parameters))


def check_columns(
    name: str, declared: Sequence[Parameter], columns: ParameterColumns, zeros: Collection[int], count: int
) -> ParameterColumns:
    """Columns that fit a kernel: one value per sample, finite, and zero where the kernel relies on it.

    Checked by: tests/kernels/test_design_columns.py.
    """
    where = f"{name}: parameters"
    lengths = {len(column) for column in columns.values} | {columns.count}
    if columns.base.shape != (len(declared),) or lengths != {count}:
        got = f"{columns.base.size} and {', '.join(map(str, sorted(lengths)))}"
        raise KernelInputError(f"{where}: expected {len(declared)} values and columns of {count} samples, got {got}")
    fixed = np.isfinite(columns.base)
    fixed[columns.places] = [bool(np.isfinite(column).all()) for column in columns.values]
    used = set(np.flatnonzero(columns.base).tolist()) - set(columns.places.tolist())
    used |= {int(k) for k, values in zip(columns.places, columns.values, strict=True) if k in zeros and values.any()}
    for places, what in ((np.flatnonzero(~fixed).tolist(), "not a finite number: {}"), (sorted(used & set(zeros)), ZEROS)):
        if len(places):
            raise KernelInputError(f"{where}: " + what.format(", ".join(repr(declared[k].name) for k in places[:3])))
    return columns


ZEROS = "this kernel is specialised on zeros, but {} is not zero"
