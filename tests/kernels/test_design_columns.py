"""Parameters that vary per sample, as columns: the same numbers as whole rows, inputs of one row, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_programs import PARAMETERS, inputs_for, nested, straight_line

from flexapod.kernels.design_columns import ParameterColumns
from flexapod.kernels.errors import KernelInputError
from support.plain import compile_kernel


def columns(count: int, places: list[int]) -> ParameterColumns:
    rng = np.random.default_rng(11)
    values = [PARAMETERS[k] * rng.uniform(0.9, 1.1, count) for k in places]
    return ParameterColumns(
        base=np.array(PARAMETERS, dtype=float), places=np.array(places, dtype=np.int64), values=values, count=count
    )


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
@pytest.mark.parametrize("make", [straight_line, nested])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 7, 130])
def test_columns_are_rows(make, count: int, backend: str) -> None:
    kernel = compile_kernel(make(), backend=backend)
    inputs, own = inputs_for(kernel.signature, count), columns(count, [0, 3])
    found, expected = kernel.batch(inputs, own), kernel.batch(inputs, own.rows())
    np.testing.assert_array_equal(found.status, expected.status)
    for name, values in expected.outputs.items():
        np.testing.assert_array_equal(found.outputs[name], values)
    none = columns(count, [])
    for name, values in kernel.batch(inputs, PARAMETERS).outputs.items():
        np.testing.assert_array_equal(kernel.batch(inputs, none).outputs[name], values)


@pytest.mark.parametrize("count", [2, 5, 64])
def test_inputs_of_one_row_are_not_repeated(count: int) -> None:
    kernel = compile_kernel(straight_line(), backend="llvm")
    one = {name: values[:1] for name, values in inputs_for(kernel.signature, 1).items()}
    spread = {name: np.broadcast_to(values, (count, *values.shape[1:])) for name, values in one.items()}
    whole = {name: np.ascontiguousarray(values) for name, values in spread.items()}
    own = columns(count, [1, 2])
    for name, values in kernel.batch(whole, own).outputs.items():
        np.testing.assert_array_equal(kernel.batch(spread, own, threads=2).outputs[name], values)


def test_refusals() -> None:
    kernel = compile_kernel(straight_line(), backend="llvm", zeros=["p1"])
    inputs, own = inputs_for(kernel.signature, 4), columns(4, [0])
    own.base[1] = 0.0
    kernel.batch(inputs, own)
    own.values[0][2] = np.nan
    with pytest.raises(KernelInputError, match="not a finite number: 'p0'"):
        kernel.batch(inputs, own)
    lost = columns(4, [1])
    with pytest.raises(KernelInputError, match="specialised on zeros, but 'p1' is not zero"):
        kernel.batch(inputs, lost)
    with pytest.raises(KernelInputError, match="columns of 4 samples, got 6 and 3"):
        kernel.batch(inputs, columns(3, [0]))
