"""Locks of this package, released in forked processes.

`fork` copies locks as they are: one that another thread holds stays locked in the child for ever, and LLVM, copied in the middle
of a compilation, is in no usable state. So a fork waits until no thread holds one of these, and both sides go on with all of them
free.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ForkLocks:
    """Taken in this order: kernels (look-up, derivation, compilation), llvm, short (counters and remembered constants)."""

    kernels: Any = field(default_factory=threading.RLock)
    llvm: Any = field(default_factory=threading.RLock)
    short: Any = field(default_factory=threading.RLock)

    def take(self) -> None:
        """Wait for all."""
        for lock in (self.kernels, self.llvm, self.short):
            lock.acquire()

    def give(self) -> None:
        """Free all."""
        for lock in (self.short, self.llvm, self.kernels):
            lock.release()


FORK_LOCKS = ForkLocks()
"""Checked by: tests/kernels/test_cache_safety.py::test_fork_while_another_thread_compiles."""

_register: Callable[..., None] | None = getattr(os, "register_at_fork", None)
if _register is not None:
    _register(before=FORK_LOCKS.take, after_in_parent=FORK_LOCKS.give, after_in_child=FORK_LOCKS.give)
