"""Kernel family: the kernel specialised on structural zeros, and the general one for when a zero is lost.

Values of parameters never lead to a compilation; making a structural zero non-zero leads to at most one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from flexapod.arrays import Array
from flexapod.kernels.boundary import as_float
from flexapod.kernels.cache import Along, cached_kernel
from flexapod.kernels.kernel import Batch, Kernel

if TYPE_CHECKING:
    from flexapod.kernels.tape.program import Program


class KernelFamily:
    """Picks the kernel that fits a parameter vector."""

    def __init__(
        self,
        make_program: Callable[[], Program],
        key: str,
        zeros: Collection[str] = (),
        *,
        backend: str | None = None,
        make_general: Callable[[], Program] | None = None,
        level: int | None = None,
    ) -> None:
        """A family of kernels from `make_program`; `make_general` makes the program for values that lost a zero, where the
        first was written for the zeros; `level`: effort of the code generator."""
        self._make_program = make_program
        self._make_general = make_general
        self._key = key
        self.zeros = frozenset(zeros)
        self._backend = backend
        self._level = level

    @property
    def specialised(self) -> Kernel:
        """The kernel that relies on all structural zeros."""
        return cached_kernel(self._key, self._make_program, zeros=self.zeros, backend=self._backend, level=self._level)

    @property
    def general(self) -> Kernel:
        """The kernel that relies on none."""
        if self._make_general is None:
            return cached_kernel(self._key, self._make_program, backend=self._backend, level=self._level)
        return cached_kernel(f"{self._key}|general", self._make_general, backend=self._backend, level=self._level)

    def slopes(self, specialised: bool, along: Along = "parameters") -> Kernel:
        """The kernel with derivatives along directions of parameters or inputs, specialised as `specialised` or general."""
        given: Any = {"backend": self._backend, "level": self._level, "slopes": along}
        if specialised or self._make_general is None:
            return cached_kernel(self._key, self._make_program, zeros=self.zeros if specialised else None, **given)
        return cached_kernel(f"{self._key}|general", self._make_general, **given)

    def pick(self, parameters: ArrayLike | None = None) -> Kernel:
        """The fastest kernel that is right for parameters (P,) or (n, P)."""
        if not self.zeros or parameters is None:
            return self.general
        kernel = self.specialised
        values = as_float(f"{kernel.signature.name}: parameters", parameters)
        positions = [k for k, p in enumerate(kernel.signature.parameters) if p.name in self.zeros]
        fits = values.shape[-1:] == (len(kernel.signature.parameters),)
        if fits and np.any(values[..., positions] != 0.0):
            return self.general
        return kernel

    def batch(
        self,
        inputs: Mapping[str, ArrayLike],
        parameters: ArrayLike | None = None,
        *,
        threads: int = 1,
        out: Mapping[str, Array] | None = None,
    ) -> Batch:
        """`Kernel.batch` of the kernel that fits."""
        return self.pick(parameters).batch(inputs, parameters, threads=threads, out=out)
