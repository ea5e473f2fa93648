"""Kernel: a compiled program that evaluates one sample or a batch, with the checks at its boundary."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .boundary import as_float, check_batch, check_out, check_parameters, check_sample
from .errors import BackendError, KernelStatusError
from .forking import FORK_LOCKS
from .operations import Operations
from .signature import Signature
from .tape import Tape, make_tape

if TYPE_CHECKING:
    from .prepared import Prepared
    from .program import Program

Array = NDArray[np.float64]
_REMEMBERED = 16  # parameter sets whose constants a kernel remembers
_BLOCK = 4096  # samples whose constants are held at a time where parameters vary per sample
_count = 0
_short_lock = FORK_LOCKS.short


class Executable(Protocol):
    """What a backend makes of a tape."""

    backend: str

    def setup(self, parameters: Array) -> Array:
        """Constants (m, S) of parameter sets (m, P)."""

    def run(self, inputs: Sequence[Array], constants: Array, outputs: Sequence[Array], status: NDArray[np.int32]) -> None:
        """Evaluate samples."""


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Results of a batch: outputs (n, *shape) by name, and a status per sample (0 is good)."""

    outputs: dict[str, Array]
    status: NDArray[np.int32]


class Kernel:
    """A compiled program."""

    def __init__(
        self,
        *,
        signature: Signature,
        operations: Operations,
        setup_operations: Operations,
        zeros: Collection[str],
        executable: Executable,
        tape: Callable[[], Tape],
    ) -> None:
        self.signature = signature
        self.operations = operations
        self.setup_operations = setup_operations
        self.zeros = frozenset(zeros)
        self.executable = executable
        self._tape = tape
        self._zero_positions = [k for k, p in enumerate(signature.parameters) if p.name in self.zeros]
        self._remembered: OrderedDict[bytes, Array] = OrderedDict()

    @property
    def backend(self) -> str:
        """Name of the backend."""
        return self.executable.backend

    @property
    def tape(self) -> Tape:
        """The operations behind the kernel."""
        return self._tape()

    def __repr__(self) -> str:
        """Name, backend and size."""
        return f"<Kernel {self.signature.name}, {self.backend}, {self.operations.total} operations>"

    def constants(self, parameters: Any = None) -> Array:
        """Results of the set-up part for one parameter set; remembered, with its checks."""
        declared = self.signature.parameters
        row = as_float(f"{self.signature.name}: parameters", () if parameters is None else parameters)
        key = row.tobytes()
        if row.shape == (len(declared),):
            with _short_lock:
                if key in self._remembered:
                    self._remembered.move_to_end(key)
                    return self._remembered[key]
        row = check_parameters(self.signature.name, declared, parameters, self._zero_positions, None)
        constants: Array = self.executable.setup(row[None, :])[0]
        constants.flags.writeable = False
        with _short_lock:
            self._remembered[key] = constants
            while len(self._remembered) > _REMEMBERED:
                self._remembered.popitem(last=False)
        return constants

    def batch(
        self,
        inputs: Mapping[str, Any],
        parameters: Any = None,
        *,
        threads: int = 1,
        out: Mapping[str, Any] | None = None,
        samples: int | None = None,
    ) -> Batch:
        """Evaluate many samples.

        Args:
            inputs: arrays (n, *shape) by name.
            parameters: (P,) for all samples, or (n, P).
            threads: number of threads that share the batch.
            out: arrays to write to, C-contiguous float64; new ones if not given.
            samples: number of samples, needed only where the kernel has no inputs.
        """
        arrays, count = check_batch(self.signature, inputs)
        if not arrays:
            count = 1 if samples is None else samples
        results = check_out(self.signature, out, count)
        if out is not None:  # the last samples may be evaluated twice, so that inputs must outlive outputs
            arrays = [a.copy() if any(np.may_share_memory(a, o) for o in results.values()) else a for a in arrays]
        flat = [results[o.name].reshape(count, o.size) for o in self.signature.outputs]
        status = np.empty(count, dtype=np.int32)
        if np.ndim(parameters) == 2:
            own = check_parameters(self.signature.name, self.signature.parameters, parameters, self._zero_positions, count)
            self._run_studied(arrays, own, flat, status)
        else:
            self._run_threaded(arrays, self.constants(parameters), flat, status, threads)
        return Batch(outputs=results, status=status)

    def __call__(self, *, parameters: Any = None, **inputs: Any) -> dict[str, Array]:
        """Evaluate one sample; raises KernelStatusError if it has a status."""
        arrays = check_sample(self.signature, inputs)
        results = {o.name: np.empty(o.shape) for o in self.signature.outputs}
        flat = [results[o.name].reshape(1, o.size) for o in self.signature.outputs]
        status = np.empty(1, dtype=np.int32)
        self.executable.run(arrays, self.constants(parameters), flat, status)
        self.raise_for(int(status[0]))
        return results

    def raise_for(self, code: int) -> None:
        """Raise KernelStatusError unless the status is 0."""
        if code:
            status = self.signature.status(code)
            raise KernelStatusError(code, f"{self.signature.name}: {status.text}", status.fields)

    def prepare(self, parameters: Any = None) -> Prepared:
        """Fast path for single samples: fixed buffers, no checks per call."""
        from .prepared import Prepared

        return Prepared(self, parameters)

    def _run_studied(self, arrays: list[Array], parameters: Array, outputs: list[Array], status: NDArray[np.int32]) -> None:
        for start in range(0, len(status), _BLOCK):
            part = slice(start, start + _BLOCK)
            constants = self.executable.setup(parameters[part])
            self.executable.run([a[part] for a in arrays], constants, [o[part] for o in outputs], status[part])

    def _run_threaded(
        self,
        arrays: list[Array],
        constants: Array,
        outputs: list[Array],
        status: NDArray[np.int32],
        threads: int,
    ) -> None:
        count = len(status)
        chunk = -(-count // max(threads, 1))
        chunk = max(chunk + -chunk % 4, 4)
        if chunk >= count:
            self.executable.run(arrays, constants, outputs, status)
            return
        with ThreadPoolExecutor(max_workers=threads) as pool:
            parts = [slice(start, start + chunk) for start in range(0, count, chunk)]
            jobs = [
                pool.submit(self.executable.run, [a[p] for a in arrays], constants, [o[p] for o in outputs], status[p])
                for p in parts
            ]
            for job in jobs:
                job.result()


def compilations() -> int:
    """Number of kernels compiled in this process; kernels from the cache do not count."""
    return _count


def count_compilation() -> None:
    """Note that a kernel was compiled."""
    global _count
    with _short_lock:
        _count += 1


def choose_backend(backend: str | None = None) -> str:
    """The backend asked for, else FLEXAPOD_BACKEND, else llvm where llvmlite is installed, else numpy."""
    name = backend or os.environ.get("FLEXAPOD_BACKEND") or None
    if name not in (None, "llvm", "numpy"):
        raise BackendError(f"unknown backend {name!r}; choose llvm or numpy")
    if name == "numpy":
        return "numpy"
    from importlib.util import find_spec

    if find_spec("llvmlite") is None:
        if name == "llvm":
            raise BackendError("the backend llvm needs the package llvmlite")
        return "numpy"
    return "llvm"


def compile_kernel(program: Program, *, backend: str | None = None, zeros: Collection[str] | None = None) -> Kernel:
    """Compile a program, in memory only; `cached_kernel` keeps the result on disk."""
    from .packing import kernel_from_tape

    return kernel_from_tape(make_tape(program, zeros), choose_backend(backend))[0]
