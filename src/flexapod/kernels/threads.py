"""Threads that share a batch: one pool for the whole process, made when it is first needed and kept.

Parts of a batch go to the pool only from the main thread of a process that nobody else shares work with: inside the workers of
Dask, joblib or multiprocessing, and in threads that a program made itself, everything runs where it was called, so that as many
threads compute as were asked for. `FLEXAPOD_THREADS` sets their number (1: no threads); without it there is one per processor
that the process may use. Results do not depend on it, to the last bit.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from flexapod.kernels.errors import KernelInputError

T = TypeVar("T")

ENOUGH = 100_000
"""Samples from which a verb uses threads: below, handing parts over costs more than it gains."""

_pools: dict[int, ThreadPoolExecutor] = {}
_lock = threading.Lock()


def thread_count() -> int:
    """Number of threads that may share a batch here and now.

    Checked by: tests/kernels/test_threads.py.
    """
    text = os.environ.get("FLEXAPOD_THREADS", "").strip()
    if text and not (text.isdigit() and int(text) > 0):
        raise KernelInputError(f"FLEXAPOD_THREADS: expected a whole number above 0, got {text!r}")
    if threading.current_thread() is not threading.main_thread() or _is_worker():
        return 1
    return int(text) if text else processors()


def processors() -> int:
    """Processors that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def _is_worker() -> bool:
    """Whether this process was made by a program that shares its work between processes."""
    return multiprocessing.parent_process() is not None or multiprocessing.current_process().name != "MainProcess"


def shared(work: Callable[[T], object], parts: Sequence[T], threads: int) -> None:
    """Work on every part; with several threads in the pool, else one after the other here. The first error is raised."""
    if threads <= 1 or len(parts) <= 1 or threading.current_thread() is not threading.main_thread():
        for part in parts:
            work(part)
        return
    jobs = [_pool(threads).submit(work, part) for part in parts]
    errors = [job.exception() for job in jobs]  # all have ended before anyone touches their arrays
    for error in errors:
        if error is not None:
            raise error


def _pool(threads: int) -> ThreadPoolExecutor:
    """The pool with this many threads."""
    with _lock:
        if threads not in _pools:
            _pools[threads] = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="flexapod")
        return _pools[threads]


def _forget() -> None:
    """A forked process has no threads of its parent."""
    global _lock
    _lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
