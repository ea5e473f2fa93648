"""Recurrences: a kernel over rows one after the other, where some outputs of a row are inputs of the next one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.arrays import Array
from flexapod.kernels.boundary import check_batch
from flexapod.kernels.kernel import Batch, Kernel
from flexapod.kernels.llvm.backend import LlvmExecutable, pointers
from flexapod.kernels.llvm.writer import LANES


def sequence(
    kernel: Kernel,
    inputs: Mapping[str, Array],
    carried: Mapping[str, str],
    start: Mapping[str, float],
    parameters: ArrayLike | None = None,
) -> Batch:
    """Evaluate row after row.

    Args:
        inputs: arrays (n, *shape) of the inputs that are not carried.
        carried: scalar output -> scalar input of the next row.
        start: scalar input -> its value in the first row.
        parameters: (P,).
    Returns:
        The batch; after a row that fails, the others have the status of a bad input.

    Checked by: tests/kernels/test_sequence.py.
    """
    count = len(next(iter(inputs.values())))
    given = {**inputs, **{name: np.full(count, value) for name, value in start.items()}}
    arrays, count = check_batch(kernel.signature, given)
    tracks = {name: np.full(count + LANES, float(value)) for name, value in start.items()}
    rows_in = []
    for declared, array in zip(kernel.signature.inputs, arrays, strict=True):
        own = tracks.get(declared.name)
        rows_in.append(own[:-1, None] if own is not None else np.concatenate([array, array[-1:].repeat(LANES - 1, axis=0)]))
    rows_out = []
    for output in kernel.signature.outputs:
        own = tracks[carried[output.name]] if output.name in carried else None
        rows_out.append(own[1:, None] if own is not None else np.empty((count + LANES - 1, output.size)))
    status = np.zeros(count + LANES - 1, dtype=np.int32)
    _rows(kernel, rows_in, rows_out, status, count, parameters)
    outputs = {o.name: rows[:count].reshape(count, *o.shape) for o, rows in zip(kernel.signature.outputs, rows_out, strict=True)}
    return Batch(outputs=outputs, status=status[:count])


def _rows(
    kernel: Kernel, given: list[Array], gives: list[Array], status: NDArray[np.int32], count: int, parameters: ArrayLike | None
) -> None:
    executable, constants = kernel.executable, kernel.constants(parameters)
    if isinstance(executable, LlvmExecutable):
        executable.steps(count, pointers(given), constants.ctypes.data, pointers(gives), status.ctypes.data)
        return
    for i in range(count):
        row = slice(i, i + 1)
        executable.run([a[row] for a in given], constants, [o[row] for o in gives], status[row])
