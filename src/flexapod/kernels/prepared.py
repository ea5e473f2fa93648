"""Prepared call: fixed buffers for one sample, for loops in Python that call a kernel very often."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.kernels.errors import KernelError

if TYPE_CHECKING:
    from flexapod.kernels.kernel import Kernel


class Prepared:
    """Write to `inputs[name][...]`, call, read `outputs[name]`; the call returns the status code."""

    def __init__(self, kernel: Kernel, parameters: ArrayLike | None = None) -> None:
        self.kernel = kernel
        self._constants = kernel.constants(parameters)
        self._status = np.zeros(1, dtype=np.int32)
        self.inputs: dict[str, Array] = {i.name: np.zeros(i.shape) for i in kernel.signature.inputs}
        self.outputs: dict[str, Array] = {o.name: np.full(o.shape, np.nan) for o in kernel.signature.outputs}
        self._rows_in = [self.inputs[i.name].reshape(1, i.size) for i in kernel.signature.inputs]
        self._rows_out = [self.outputs[o.name].reshape(1, o.size) for o in kernel.signature.outputs]
        self._call = self._make_call()

    def __reduce__(self) -> Any:
        """A prepared call holds machine code and buffers of this process."""
        raise KernelError("a prepared call belongs to its process; pickle the kernel, and call prepare() where it arrives")

    def __call__(self) -> int:
        """Evaluate the sample in `inputs`; 0 is good."""
        return self._call()

    def _make_call(self) -> Callable[[], int]:
        executable = self.kernel.executable
        if executable.backend != "llvm":

            def interpret() -> int:
                executable.run(self._rows_in, self._constants, self._rows_out, self._status)
                return int(self._status[0])

            return interpret

        from flexapod.kernels.llvm.backend import LlvmExecutable, pointers

        assert isinstance(executable, LlvmExecutable)
        code = ctypes.c_int32.from_address(self._status.ctypes.data)
        main, one = executable.main, ctypes.c_int64(1)
        given, gives = pointers(self._rows_in), pointers(self._rows_out)
        constants = ctypes.c_void_p(self._constants.ctypes.data)
        status = ctypes.c_void_p(self._status.ctypes.data)

        def call() -> int:
            main(one, given, constants, gives, status)  # type: ignore[arg-type]
            return code.value

        return call
