"""Checks of the arrays of users: shape, kind of numbers, rotations. No silent broadcasting."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from flexapod.arrays import Array, given_array, kind_given
from flexapod.errors import InputError, did_you_mean

ORTHONORMAL = 1e-6
"""Largest entry of R^T R - 1 that is accepted as a rotation: single precision data passes, a scaled matrix does not."""


def real_array(name: str, value: object, shape: tuple[int, ...]) -> Array:
    """A float64 array of exactly this shape.

    Args:
        name: used in the message.
        value: array-like of real numbers.
        shape: expected shape.
    """
    array = given_array(name, value, f"numbers of shape {shape}")
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name}: expected real numbers, got {kind_given(array)}")
    if array.shape != shape:
        raise InputError(f"{name}: expected shape {shape}, got {array.shape}")
    return np.asarray(array, dtype=np.float64, order="C")


def finite_array(name: str, value: object, shape: tuple[int, ...]) -> Array:
    """A float64 array of exactly this shape, without NaN or infinity."""
    array = real_array(name, value, shape)
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        where = f" at {tuple(bad[0].tolist())}" if array.ndim else ""
        raise InputError(f"{name}: every entry must be a finite number; found {array[tuple(bad[0])]}{where}")
    return array


def number(name: str, value: object) -> float:
    """One finite number."""
    return float(finite_array(name, value, ()))


def positive(name: str, value: object) -> float:
    """One finite number above zero."""
    result = number(name, value)
    if result <= 0:
        raise InputError(f"{name}: must be positive, got {result:g}")
    return result


def snapped(values: Array, targets: Array) -> Array:
    """Values within a few roundings of a target set to it exactly, so that a time computed twice is the same time."""
    scale = max(np.abs(values).max(initial=0.0), np.abs(targets).max(initial=0.0))
    for target in targets:
        values = np.where(np.abs(values - target) <= 8 * np.finfo(np.float64).eps * scale, target, values)
    return values


def choice(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """One of a few words; the message names the nearest one."""
    if value not in allowed:
        hint = did_you_mean(value, allowed, before="; ")
        raise InputError(f"{name}: expected one of {', '.join(allowed)}, got {value!r}{hint}")
    return str(value)


def mapping(name: str, value: object, example: Mapping[str, object]) -> Mapping[str, Any]:
    """A dictionary, empty for None."""
    if value is not None and not isinstance(value, Mapping):
        raise InputError(f"{name}: expected a dictionary, e.g. {example}, got {value!r}")
    return value or {}


def rotations(name: str, value: object, shape: tuple[int, ...]) -> Array:
    """Rotation matrices; entries that are not numbers are left to the kernel's status."""
    array = real_array(name, value, shape)
    flat = array.reshape(-1, 3, 3)
    x, y, z = np.ascontiguousarray(flat.transpose(2, 1, 0))  # columns (3, n): many samples go through NumPy at once
    with np.errstate(invalid="ignore", over="ignore"):
        products = [(a * b).sum(axis=0) - (a is b) for a, b in combinations_with_replacement((x, y, z), 2)]
        off = np.abs(products).max(axis=0, initial=0.0)
        mirrored = (x * (y[[1, 2, 0]] * z[[2, 0, 1]] - y[[2, 0, 1]] * z[[1, 2, 0]])).sum(axis=0) < 0
        bad = np.flatnonzero((off > ORTHONORMAL) | (mirrored & np.isfinite(off)))
    if len(bad):
        where = f" of sample {bad[0]}" if len(flat) > 1 else ""
        what = "is a reflection" if mirrored[bad[0]] else f"is not orthonormal (off by {off[bad[0]]:.2g})"
        raise InputError(f"{name}: the matrix{where} {what}. Expected world-from-platform rotation matrices")
    return array
