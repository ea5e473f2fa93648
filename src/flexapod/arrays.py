"""Types that every folder names: arrays of numbers, expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from casadi import SX as SX
else:
    SX = Any  # importing types does not import CasADi

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Mask = NDArray[np.bool_]
Texts = NDArray[np.str_] | NDArray[np.object_]
Rows = slice | NDArray[np.int64] | NDArray[np.bool_]
"""Which samples: a slice, indices or a mask."""
Scalar = SX | float
"""An expression, or a number in its place: CasADi leaves out what zeros and ones do."""


def entries(expression: SX) -> list[SX]:
    """All entries of an expression, column by column."""
    found: list[SX] = expression.elements()  # type: ignore[assignment]  # CasADi's hints name a class that Python never sees
    return found
