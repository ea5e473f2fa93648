"""Parameters that vary per sample, column by column: a base row for all samples, and the values of those that vary."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import KernelInputError

if TYPE_CHECKING:
    from .signature import Parameter

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Columns:
    """Parameters of n samples.

    Args:
        base: (P,) values of all parameters.
        places: (m,) which of them vary.
        values: (m, n) what these are instead, every row contiguous.
    """

    base: Array
    places: NDArray[np.int64]
    values: Array

    def __len__(self) -> int:
        return self.values.shape[1]

    def at(self, rows: Any) -> Columns:
        """Those of some samples: a slice (a view) or indices."""
        return Columns(base=self.base, places=self.places, values=self.values[:, rows])

    def rows(self) -> Array:
        """All parameters (n, P)."""
        found = np.repeat(self.base[None], len(self), axis=0)
        found[:, self.places] = self.values.T
        return found


def from_rows(parameters: Array) -> Columns:
    """Parameters (n, P) as columns."""
    count = parameters.shape[1]
    base = parameters[0] if len(parameters) else np.zeros(count)
    return Columns(base=base, places=np.arange(count), values=np.ascontiguousarray(parameters.T))


def check_columns(name: str, declared: Sequence[Parameter], columns: Columns, zeros: Collection[int], count: int) -> Columns:
    """Columns that fit a kernel: one value per sample, finite, and zero where the kernel relies on it.

    Checked by: tests/kernels/test_design_columns.py.
    """
    where = f"{name}: parameters"
    if columns.base.shape != (len(declared),) or len(columns) != count:
        raise KernelInputError(
            f"{where}: expected {len(declared)} values and columns of {count} samples, got {columns.base.size} and {len(columns)}"
        )
    fixed = np.isfinite(columns.base)
    fixed[columns.places] = np.isfinite(columns.values).all(axis=1)
    used = set(np.flatnonzero(columns.base)) - set(columns.places.tolist())
    used |= {int(k) for k, values in zip(columns.places, columns.values, strict=True) if k in zeros and values.any()}
    for places, what in ((np.flatnonzero(~fixed), "not a finite number: {}"), (sorted(used & set(zeros)), ZEROS)):
        if len(places):
            raise KernelInputError(f"{where}: " + what.format(", ".join(repr(declared[k].name) for k in places[:3])))
    return columns


ZEROS = "this kernel is specialised on zeros, but {} is not zero"
