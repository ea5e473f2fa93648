"""FLEXAPOD_CODE_LEVEL: code compiled with less effort gives the same numbers, has its own files, and wrong values are refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from kernel_programs import PARAMETERS, functions, inputs_for, nested, selections, straight_line

from flexapod.kernels.cache import cache_entries, cached_kernel, forget
from flexapod.kernels.errors import KernelInputError
from flexapod.kernels.tape.program import Program

AGREE = 1e-13
"""Of the largest entry: products and sums may be fused at one level and not at the other."""


def result(make: Callable[[], Program]) -> dict[str, np.ndarray]:
    kernel = cached_kernel(make.__name__, make, backend="llvm")
    found: dict[str, np.ndarray] = kernel.batch(inputs_for(kernel.signature, 21), PARAMETERS).outputs
    return found


@pytest.mark.parametrize("make", [straight_line, functions, selections, nested])
def test_levels_agree(make: Callable[[], Program], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLEXAPOD_CODE_LEVEL", raising=False)
    usual = result(make)
    monkeypatch.setenv("FLEXAPOD_CODE_LEVEL", "0")
    quick = result(make)
    assert len(cache_entries()) == 2, "one level must not take the other's code"
    for name, values in usual.items():
        np.testing.assert_allclose(quick[name], values, rtol=0, atol=AGREE * max(1.0, np.nanmax(np.abs(values))), err_msg=name)


def test_the_level_of_users_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLEXAPOD_CODE_LEVEL", raising=False)
    first = result(nested)["total"]
    forget()
    monkeypatch.setenv("FLEXAPOD_CODE_LEVEL", "2")
    np.testing.assert_array_equal(result(nested)["total"], first)
    assert len(cache_entries()) == 1


def test_other_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXAPOD_CODE_LEVEL", "fast")
    with pytest.raises(KernelInputError, match=r"^FLEXAPOD_CODE_LEVEL: expected 0, 1, 2 or 3, got 'fast'$"):
        result(nested)
