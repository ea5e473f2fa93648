"""Types used in every folder: arrays of numbers, expressions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Mask = NDArray[np.bool_]
Texts = NDArray[np.str_] | NDArray[np.object_]
Rows = slice | NDArray[np.int64] | NDArray[np.bool_]
"""Which samples: a slice, indices or a mask."""
SX = Any
"""`casadi.SX`, or a number in its place: formulas take both."""
