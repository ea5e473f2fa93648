"""LLVM backend: 4 samples per vector, the loop over the batch inside the generated code."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .jit import Function, Library, compile_text
from .llvm_module import module_text
from .llvm_writer import LANES
from .tape import Tape

Array = NDArray[np.float64]


def compile_shared(tape: Tape) -> bytes:
    """Object code of the main part with constants shared by the batch, and of the set-up part."""
    return compile_text(module_text(tape, per_sample=False))


def compile_per_sample(tape: Tape) -> bytes:
    """Object code of the main part with constants per sample."""
    return compile_text(module_text(tape, per_sample=True))


class LlvmExecutable:
    """Compiled code that can be run."""

    backend = "llvm"

    def __init__(self, code: bytes, constants: int, per_sample_code: Callable[[], bytes]) -> None:
        self._library = Library(code)
        self._constants = constants
        self._per_sample_code = per_sample_code
        self._setup = self._library.function("setup")
        self.main: Function = self._library.function("main")
        self.steps: Function = self._library.function("steps")

    @functools.cached_property
    def _per_sample(self) -> tuple[Library, Function]:
        library = Library(self._per_sample_code())
        return library, library.function("main")

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
        function = self.main if constants.ndim == 1 else self._per_sample[1]
        function(len(status), pointers(inputs), constants.ctypes.data, pointers(outputs), status.ctypes.data)


def pointers(arrays: Sequence[Array]) -> Any:
    """C array of the addresses of arrays."""
    return (ctypes.c_void_p * max(len(arrays), 1))(*[a.ctypes.data for a in arrays])
