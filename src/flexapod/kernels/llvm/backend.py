"""LLVM backend: 4 samples per vector, the loop over the batch inside the generated code."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.kernels.design_columns import ParameterColumns
from flexapod.kernels.llvm.jit import Function, Library, code_level, compile_text
from flexapod.kernels.llvm.module import designs_module, module_text
from flexapod.kernels.llvm.writer import LANES
from flexapod.kernels.passes.interleaving import interleave
from flexapod.kernels.tape.tape import Tape


def compile_shared(tape: Tape, level: int | None = None) -> bytes:
    """Object code of the main part with constants shared by the batch, and of the set-up part."""
    return _compiled(tape, lambda t: module_text(t, per_sample=False), code_level() if level is None else level)


def compile_per_sample(tape: Tape) -> bytes:
    """Object code of the main part with constants per sample."""
    return _compiled(tape, lambda t: module_text(t, per_sample=True), code_level())


def compile_designs(tape: Tape) -> bytes:
    """Object code of both parts with parameters that vary per sample."""
    level = code_level()
    return _compiled(replace(tape, setup=interleave(tape.setup)) if level else tape, designs_module, level)


def _compiled(tape: Tape, text: Callable[[Tape], str], level: int) -> bytes:
    """Object code with the main part in the order of `interleave`, which LLVM keeps: its own scheduling looks at fewer
    operations. Where little effort is asked for, as the tape is."""
    if level == 0:
        return compile_text(text(tape), level)
    return compile_text(text(replace(tape, main=interleave(tape.main))), level, in_order=True)


VARIANTS = {"shared": compile_shared, "per_sample": compile_per_sample, "designs": compile_designs}
"""Variants of the object code."""


class LlvmExecutable:
    """Compiled code that can be run; `code(variant)` gives the object code of a variant when it is first needed.

    `single`: the code takes one sample a call, see `Program`.
    """

    backend = "llvm"

    def __init__(self, constants: int, code: Callable[[str], bytes], *, single: bool = False) -> None:
        self._single = single
        self._library = Library(code("shared"))
        self._constants = constants
        self._code = code
        self._setup = self._library.function("setup")
        self.main: Function = self._library.function("main")
        self.steps: Function = self._library.function("steps")

    @functools.cached_property
    def _per_sample(self) -> tuple[Library, Function]:
        library = Library(self._code("per_sample"))
        return library, library.function("main")

    @functools.cached_property
    def _designs(self) -> tuple[Library, Function]:
        library = Library(self._code("designs"))
        return library, library.function("designs")

    def setup(self, parameters: Array) -> Array:
        """Constants (m, S) of parameter sets (m, P)."""
        count = len(parameters)
        if 0 < count < LANES:  # the code evaluates 4 at a time
            parameters = parameters[np.minimum(np.arange(LANES), count - 1)]
        constants = np.empty((len(parameters), self._constants))
        if count:
            self._setup(len(parameters), pointers([parameters]), None, pointers([constants]), None)
        return constants if len(constants) == count else constants[:count].copy()

    def run(self, inputs: Sequence[Array], constants: Array, outputs: Sequence[Array], status: NDArray[np.int32]) -> None:
        """Evaluate samples: arrays are (n, size); constants are (S,) or (n, S)."""
        function, count = self.main if constants.ndim == 1 else self._per_sample[1], len(status)
        if self._single and count > 1:
            for k in range(count):
                one = slice(k, k + 1)
                own = constants if constants.ndim == 1 else constants[one]
                self.run([a[one] for a in inputs], own, [o[one] for o in outputs], status[one])
            return
        function(count, pointers(inputs), constants.ctypes.data, pointers(outputs), status.ctypes.data)

    def run_designs(
        self, inputs: Sequence[Array], columns: ParameterColumns, outputs: Sequence[Array], status: NDArray[np.int32]
    ) -> None:
        """Evaluate samples with parameters of their own; an input whose rows are one row in memory is read from there."""
        if not self._single and len(status) >= LANES:
            self._designs_of(inputs, columns, outputs, status)
            return
        for k in range(0, len(status), 1 if self._single else LANES):  # the code evaluates 4 at a time
            part = slice(k, k + 1) if self._single else slice(None)
            self._few_designs([a[part] for a in inputs], columns.at(part), [o[part] for o in outputs], status[part])

    def _designs_of(
        self, inputs: Sequence[Array], columns: ParameterColumns, outputs: Sequence[Array], status: NDArray[np.int32]
    ) -> None:
        count = len(status)
        steps = np.array([int(a.strides[0] != 0) for a in inputs], dtype=np.int64)
        rows = [
            np.ascontiguousarray(a) if step else np.repeat(a[:1], LANES, axis=0) for a, step in zip(inputs, steps, strict=True)
        ]
        block, constants = _aligned(len(columns.base)), _aligned(self._constants)
        block[:] = columns.base[:, None]
        places = np.array([len(columns.places), *columns.places], dtype=np.int64)
        addresses = columns.addresses()  # held until the call has ended, as all arrays in the table
        table = pointers([*rows, steps, block, places, addresses])
        self._designs[1](count, table, constants.ctypes.data, pointers(outputs), status.ctypes.data)

    def _few_designs(
        self, inputs: Sequence[Array], columns: ParameterColumns, outputs: Sequence[Array], status: NDArray[np.int32]
    ) -> None:
        """Fewer than 4 samples: the last one again."""
        at = np.minimum(np.arange(LANES), len(status) - 1)
        out, codes = [np.empty((LANES, o.shape[1])) for o in outputs], np.empty(LANES, dtype=np.int32)
        self._designs_of([a[at] for a in inputs], columns.at(at), out, codes)
        status[:] = codes[: len(status)]
        for target, found in zip(outputs, out, strict=True):
            target[:] = found[: len(status)]


def _aligned(rows: int) -> Array:
    """Room for vectors of 4 doubles."""
    room = np.empty(LANES * (rows + 1))
    start = -(room.ctypes.data // 8) % LANES
    return room[start : start + LANES * rows].reshape(rows, LANES)


def pointers(arrays: Sequence[NDArray[np.generic]]) -> Any:
    """C array of the addresses of arrays."""
    return (ctypes.c_void_p * max(len(arrays), 1))(*[a.ctypes.data for a in arrays])
