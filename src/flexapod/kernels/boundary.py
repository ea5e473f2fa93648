"""Checks of the arrays given to a kernel: names, shapes and dtypes, refused with clear messages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array, given_array
from flexapod.errors import InputError, did_you_mean
from flexapod.kernels.errors import KernelInputError
from flexapod.kernels.tape.signature import Input, Output, Parameter, Signature


def check_names(signature: Signature, given: Collection[str]) -> None:
    """Refuse missing and unknown input names."""
    known = [i.name for i in signature.inputs]
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known, before="; ")
            raise KernelInputError(f"{signature.name}: unknown input {name!r}{hint} (inputs: {', '.join(known) or 'none'})")
    missing = [name for name in known if name not in given]
    if missing:
        raise KernelInputError(f"{signature.name}: missing input {', '.join(map(repr, missing))}")


def as_float(where: str, value: ArrayLike) -> Array:
    """C-contiguous float64 array of real numbers; whole numbers are converted if that is exact."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return np.ascontiguousarray(value) if value.ndim else value
    try:
        array = given_array(where, value)
    except InputError as error:
        raise KernelInputError(str(error)) from error
    if array.dtype.kind not in "iuf":
        raise KernelInputError(f"{where}: expected real numbers (float64), got dtype {array.dtype}")
    converted = np.asarray(array, dtype=np.float64, order="C")
    if array.dtype.kind in "iu" and array.size and (np.abs(converted) > 2.0**53).any():
        raise KernelInputError(f"{where}: whole numbers beyond 2^53 are not exact in float64")
    return converted


def check_batch(signature: Signature, given: Mapping[str, ArrayLike], broadcast: bool = False) -> tuple[list[Array], int]:
    """Inputs of a batch as (n, size) arrays in the order of the signature, and n.

    `broadcast`: an array whose rows are one row in memory (`np.broadcast_to`) stays so.
    """
    check_names(signature, given)
    arrays, count, first = [], None, ""
    for declared in signature.inputs:
        where = f"{signature.name}: input {declared.name!r}"
        value = given[declared.name]
        array = value if broadcast and _one_row(value) else as_float(where, value)
        if array.ndim != 1 + len(declared.shape) or array.shape[1:] != declared.shape:
            expected = _text(("n", *declared.shape))
            raise KernelInputError(f"{where}: expected shape {expected}, got {_text(array.shape)}")
        if count is None:
            count, first = len(array), declared.name
        elif len(array) != count:
            raise KernelInputError(f"{where}: {len(array)} samples, but {first!r} has {count}")
        arrays.append(array.reshape(len(array), declared.size))
    return arrays, count or 0


def _one_row(value: ArrayLike) -> TypeGuard[Array]:
    """One row of float64 for all samples."""
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.ndim == 0:
        return False
    return len(value) > 1 and value.strides[0] == 0 and bool(value[0].flags.c_contiguous)


def check_sample(signature: Signature, given: Mapping[str, ArrayLike]) -> list[Array]:
    """Inputs of one sample as (1, size) arrays in the order of the signature."""
    check_names(signature, given)
    arrays = []
    for declared in signature.inputs:
        where = f"{signature.name}: input {declared.name!r}"
        array = as_float(where, given[declared.name])
        if array.shape != declared.shape:
            raise KernelInputError(f"{where}: expected shape {_text(declared.shape)}, got {_text(array.shape)}")
        arrays.append(array.reshape(1, declared.size))
    return arrays


def check_parameters(
    name: str, declared: Sequence[Parameter], value: ArrayLike | None, zeros: Sequence[int], count: int | None
) -> Array:
    """Parameters (P,) or, with `count`, (count, P); finite, and zero where the kernel relies on it."""
    where = f"{name}: parameters"
    if value is None:
        if declared:
            raise KernelInputError(f"{where}: missing, expected {len(declared)} values")
        return np.empty(0)
    array = as_float(where, value)
    allowed = [(len(declared),)] + ([(count, len(declared))] if count is not None else [])
    if array.shape not in allowed:
        expected = " or ".join(_text(shape) for shape in allowed)
        raise KernelInputError(f"{where}: expected shape {expected}, got {_text(array.shape)}")
    rows = np.atleast_2d(array)
    bad = ~np.isfinite(rows).all(axis=0)
    if bad.any():
        names = ", ".join(repr(declared[k].name) for k in np.flatnonzero(bad)[:3])
        raise KernelInputError(f"{where}: not a finite number: {names}")
    places = np.asarray(zeros, dtype=np.intp)
    used = places[rows[:, places].any(axis=0)] if len(places) else places
    if len(used):
        names = ", ".join(repr(declared[k].name) for k in used[:3])
        raise KernelInputError(f"{where}: this kernel is specialised on zeros, but {names} is not zero")
    return array


def check_out(signature: Signature, out: Mapping[str, Array] | None, count: int) -> dict[str, Array]:
    """Arrays for the outputs: the ones given, checked, or new ones."""
    if out is None:
        return {o.name: np.empty((count, *o.shape)) for o in signature.outputs}
    names = [o.name for o in signature.outputs]
    if sorted(out) != sorted(names):
        raise KernelInputError(f"{signature.name}: out must hold {', '.join(names)}, got {', '.join(out)}")
    for declared in signature.outputs:
        _check_out_array(signature, declared, out[declared.name], count)
    return {name: out[name] for name in names}


def _check_out_array(signature: Signature, declared: Output | Input, array: Array, count: int) -> None:
    where = f"{signature.name}: out {declared.name!r}"
    expected = (count, *declared.shape)
    if not isinstance(array, np.ndarray) or array.dtype != np.float64:
        raise KernelInputError(f"{where}: expected a float64 array")
    if array.shape != expected:
        raise KernelInputError(f"{where}: expected shape {_text(expected)}, got {_text(array.shape)}")
    if not array.flags.c_contiguous or not array.flags.writeable:
        raise KernelInputError(f"{where}: must be C-contiguous and writeable")


def _text(shape: Sequence[object]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
