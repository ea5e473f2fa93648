"""Kernel: a compiled program that evaluates one sample or a batch, with the checks at its boundary."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.arrays import Array
from flexapod.kernels.boundary import as_float, check_batch, check_out, check_parameters, check_sample
from flexapod.kernels.design_columns import ParameterColumns, check_columns, from_rows
from flexapod.kernels.errors import BackendError, KernelStatusError
from flexapod.kernels.forking import FORK_LOCKS
from flexapod.kernels.tape.operations import Operations
from flexapod.kernels.tape.signature import Signature
from flexapod.kernels.tape.tape import Tape
from flexapod.kernels.threads import shared

if TYPE_CHECKING:
    from flexapod.kernels.prepared import Prepared

_REMEMBERED = 16  # parameter sets whose constants a kernel remembers
_BLOCK = 1020  # samples whose parameters are brought into columns at a time
_count = 0
_short_lock = FORK_LOCKS.short


class Executable(Protocol):
    """Executable made from a tape by a backend."""

    backend: str

    def setup(self, parameters: Array) -> Array:
        """Constants (m, S) of parameter sets (m, P)."""

    def run(self, inputs: Sequence[Array], constants: Array, outputs: Sequence[Array], status: NDArray[np.int32]) -> None:
        """Evaluate samples."""

    def run_designs(
        self, inputs: Sequence[Array], columns: ParameterColumns, outputs: Sequence[Array], status: NDArray[np.int32]
    ) -> None:
        """Evaluate samples with parameters of their own."""


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

    def constants(self, parameters: ArrayLike | None = None) -> Array:
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
        inputs: Mapping[str, ArrayLike],
        parameters: ArrayLike | ParameterColumns | None = None,
        *,
        threads: int = 1,
        out: Mapping[str, Array] | None = None,
        samples: int | None = None,
    ) -> Batch:
        """Evaluate many samples.

        Args:
            inputs: arrays (n, *shape) by name.
            parameters: (P,) for all samples, (n, P), or `ParameterColumns`: those that vary alone. Inputs of `np.broadcast_to`
                are then read from their one row.
            threads: number of threads that share the batch.
            out: arrays to write to, C-contiguous float64; new ones if not given.
            samples: number of samples, needed only where the kernel has no inputs.
        """
        varied = parameters is not None and (isinstance(parameters, ParameterColumns) or np.ndim(parameters) == 2)
        arrays, count = check_batch(self.signature, inputs, broadcast=varied)
        if not arrays:
            count = 1 if samples is None else samples
        results = check_out(self.signature, out, count)
        if out is not None:  # the last samples may be evaluated twice, so that inputs must outlive outputs
            arrays = [a.copy() if any(np.may_share_memory(a, o) for o in results.values()) else a for a in arrays]
        flat = [results[o.name].reshape(count, o.size) for o in self.signature.outputs]
        status = np.empty(count, dtype=np.int32)
        if isinstance(parameters, ParameterColumns) or (parameters is not None and varied):
            self._run_designs(arrays, parameters, flat, status, threads)
        else:
            constants, run = self.constants(parameters), self.executable.run
            self._in_threads(count, threads, lambda p: run([a[p] for a in arrays], constants, [o[p] for o in flat], status[p]))
        return Batch(outputs=results, status=status)

    def __call__(self, *, parameters: ArrayLike | None = None, **inputs: ArrayLike) -> dict[str, Array]:
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

    def prepare(self, parameters: ArrayLike | None = None) -> Prepared:
        """Fast path for single samples: fixed buffers, no checks per call."""
        from flexapod.kernels.prepared import Prepared

        return Prepared(self, parameters)

    def _run_designs(
        self,
        arrays: list[Array],
        parameters: ArrayLike | ParameterColumns,
        outputs: list[Array],
        status: NDArray[np.int32],
        threads: int,
    ) -> None:
        name, declared, zeros, count = self.signature.name, self.signature.parameters, self._zero_positions, len(status)
        run = self.executable.run_designs
        if isinstance(parameters, ParameterColumns):
            columns = check_columns(name, declared, parameters, zeros, count)
            self._in_threads(
                count, threads, lambda p: run([a[p] for a in arrays], columns.at(p), [o[p] for o in outputs], status[p])
            )
            return
        rows = as_float(f"{name}: parameters", parameters)
        if rows.shape != (count, len(declared)):
            check_parameters(name, declared, rows, zeros, count)  # raises the reason

        def blocks(p: slice) -> None:
            for start in range(p.start, p.stop, _BLOCK):
                q = slice(start, min(start + _BLOCK, p.stop))
                own = from_rows(check_parameters(name, declared, rows[q], zeros, q.stop - q.start))
                run([a[q] for a in arrays], own, [o[q] for o in outputs], status[q])

        self._in_threads(count, threads, blocks)

    @staticmethod
    def _in_threads(count: int, threads: int, work: Callable[[slice], None]) -> None:
        """Work on parts of a batch, in threads where there are several; multiples of 4 samples, so that results do not change."""
        chunk = -(-count // max(threads, 1))
        chunk = max(chunk + -chunk % 4, 4)
        if chunk >= count:
            work(slice(0, count))
            return
        shared(work, [slice(k, min(k + chunk, count)) for k in range(0, count, chunk)], threads)


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
