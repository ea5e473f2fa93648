"""Checked arrays: the names and shapes of what a flexible body is made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.flexible.errors import FlexibleBodyError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def floats(name: str, value: ArrayLike, shape: Sequence[int | None]) -> Floats:
    """A read-only float64 copy of an array, or the array itself if nobody can write it; None in `shape` represents any length.

    Raises:
        FlexibleBodyError: not numbers, another shape, or values that are not finite.

    Checked by: tests/flexible/test_flexible_body.py.
    """
    try:
        array = value if _frozen(value) else np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError) as problem:
        raise FlexibleBodyError(f"{name} must be an array of real numbers: {problem}.") from None
    expected = tuple(shape)
    fits = array.ndim == len(expected) and all(b is None or a == b for a, b in zip(array.shape, expected, strict=True))
    if not fits:
        wanted = "(" + ", ".join("any" if n is None else str(n) for n in expected) + ")"
        raise FlexibleBodyError(f"{name} must have the shape {wanted}, has {array.shape}.")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise FlexibleBodyError(f"{name} must be finite, but entry {where} is {array[where]}.")
    array.setflags(write=False)
    return array


def _frozen(value: object) -> TypeGuard[Floats]:
    """An array in its final form: float64 in the order of rows, read-only, with memory of its own."""
    return (
        type(value) is np.ndarray and value.dtype == np.float64 and value.flags.c_contiguous and value.base is None
        and not value.flags.writeable
    )  # fmt: skip


def positive(name: str, value: float, unit: str = "") -> float:
    """A positive finite number."""
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not real or not np.isfinite(value) or value <= 0.0:
        raise FlexibleBodyError(f"{name} must be a positive number{f' of {unit}' if unit else ''}, is {value!r}.")
    return float(value)


def checked_integer(name: str, value: int, least: int = 1) -> int:
    """A whole number, at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise FlexibleBodyError(f"{name} must be a whole number, at least {least}, is {value!r}.")
    return int(value)


def symmetric(name: str, matrix: Floats, tolerance: float) -> Floats:
    """The matrix made exactly symmetric; refuses one that is not symmetric to `tolerance` of its largest entry."""
    error = float(np.abs(matrix - matrix.T).max(initial=0.0))
    largest = float(np.abs(matrix).max(initial=0.0))
    if error > tolerance * largest:
        i, k = (int(v) for v in np.unravel_index(np.abs(matrix - matrix.T).argmax(), matrix.shape))
        raise FlexibleBodyError(
            f"{name} must be symmetric, but entries ({i}, {k}) and ({k}, {i}) are {matrix[i, k]:.6g} and {matrix[k, i]:.6g}."
        )
    half = 0.5 * (matrix + matrix.T)
    half.setflags(write=False)
    return half
