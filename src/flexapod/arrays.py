"""Types used in every folder: arrays of numbers, expressions; and what a user gave as an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexapod.errors import InputError
from flexapod.files import is_number

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



def given_array(name: str, value: object, expected: str = "numbers") -> NDArray[Any]:
    """The array that a user gave; uneven rows and masked entries (NumPy would take the numbers below the mask) are refused.

    Args:
        name: used in the message.
        value: array-like.
        expected: what it should be, for the message about rows of different lengths.

    Checked by: tests/motions/test_given_arrays.py.
    """
    if isinstance(value, np.ma.MaskedArray) and (masked := int(np.sum(value.mask))):
        count = "1 entry is" if masked == 1 else f"{masked} entries are"
        raise InputError(f"{name}: {count} masked, so that there is no number; leave these samples out, or fill them")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise InputError(f"{name}: expected {expected}; the rows have different lengths") from error


def kind_given(array: NDArray[np.generic]) -> str:
    """Kind of an array without real numbers, for a message: its first text in quotes, or its type."""
    texts = [entry for entry in array.ravel() if isinstance(entry, str)]
    if not texts:
        return f"{array.dtype} values"
    wrong = next((text for text in texts if not is_number(text)), texts[0])
    return f"the text {str(wrong)[:40]!r}"
