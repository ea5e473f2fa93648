"""Blocks of a study on a Dask cluster: sent a few ahead, returned in order, sent again where a worker or the connection dies.

A block depends on its number alone, so that sending it twice does no harm: its result is taken once, by the process that asked.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import time
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from flexapod.design.study_blocks import BlockTask, ComputedBlock
from flexapod.errors import FlexapodError, InputError

CONNECT = 10.0
"""[s] to reach a scheduler."""

AGAIN = 60.0
"""[s] without connection or worker after which a study gives up."""

TIMES = 20
"""Times that one block is sent to workers that die before the block itself is taken as the cause; lost connections do not
count."""

WITHOUT = 600.0
"""[s] without one result after which a study on a cluster that comes and goes gives up."""

AHEAD = 2
"""Blocks that wait at every thread of the workers."""


class ClusterError(FlexapodError):
    """A cluster that cannot be used, or was lost; what a study has written stays."""


class Cluster:
    """A Dask cluster by its scheduler's address, or by a client.

    Args:
        scheduler: ``"tcp://host:port"``, or a `distributed.Client`, which stays open.

    Checked by: tests/design/test_study_cluster.py.
    """

    def __init__(self, scheduler: Any) -> None:
        self._module = _distributed()
        self._own = isinstance(scheduler, str)
        if not self._own and not isinstance(scheduler, self._module.Client):
            raise InputError(
                f"scheduler: expected an address such as 'tcp://host:8786' or a dask.distributed Client, got {scheduler!r}"
            )
        self.address = scheduler if self._own else scheduler.scheduler.address
        self.client: Any = None if self._own else scheduler
        self._ready(CONNECT, AGAIN)

    def _ready(self, reach: float, workers: float) -> None:
        """A connection that works and at least one worker, tried until the times [s] are over; invalid addresses end at once."""
        start = time.monotonic()
        while True:
            try:
                if self.client is None or self.client.status != "running":
                    self._close()
                    self.client, self._own = self._module.Client(self.address, timeout=CONNECT), True
                if self.client.nthreads():
                    return
                if time.monotonic() - start > workers:
                    raise ClusterError(f"scheduler: {self.address} has no workers; start some with 'dask worker {self.address}'")
            except (ValueError, TypeError, ImportError) as error:
                raise ClusterError(
                    f"scheduler: {self.address!r} is not an address: {error}; expected 'tcp://host:port'"
                ) from None
            except self._lost as error:
                self._close()
                self.client = None
                if time.monotonic() - start > reach:
                    raise ClusterError(f"scheduler: {self.address} cannot be reached ({error or type(error).__name__})") from None
            time.sleep(0.2)

    def _close(self) -> None:
        """Leave a client of our own; one that was lost may not answer."""
        if self._own and self.client is not None:
            with contextlib.suppress(*self._lost):
                self.client.close(timeout=1.0)

    @property
    def threads(self) -> int:
        """Threads of all workers."""
        return max(1, int(sum(self.client.nthreads().values())))

    def ordered(self, task: BlockTask, numbers: range) -> Iterator[ComputedBlock]:
        """Results in the order of their numbers."""
        import cloudpickle  # type: ignore[import-untyped]

        text = cloudpickle.dumps(task)
        sent: deque[tuple[int, Any]] = deque()
        left = iter(numbers)
        tries, last = 0, time.monotonic()

        def send(number: int) -> Any:
            return self.client.submit(run_block, text, number, pure=False)

        try:
            ahead = AHEAD * self.threads + 1
            while True:
                try:
                    while len(sent) < ahead and (number := next(left, None)) is not None:
                        sent.append((number, None))
                    if not sent:
                        return
                    sent = deque((number, future or send(number)) for number, future in sent)
                    block = self._result(sent[0][1])
                except self._lost as error:
                    tries += isinstance(error, self._module.scheduler.KilledWorker)
                    if tries > TIMES or time.monotonic() - last > WITHOUT:
                        why = f"was lost {tries} times" if tries > TIMES else f"has no result after {WITHOUT:g} s"
                        raise ClusterError(f"block {sent[0][0]} {why}: {error}") from error
                    sent = deque((number, None) for number, _ in sent)
                    self._ready(AGAIN, AGAIN)
                    continue
                tries, last = 0, time.monotonic()
                sent.popleft()
                yield block
        finally:
            for _, future in sent:
                if future is not None:
                    future.release()
            self._close()

    def _result(self, future: Any) -> ComputedBlock:
        """A block, once it is there; a cluster without workers for long is given up."""
        since = time.monotonic()
        while True:
            try:
                found: ComputedBlock = future.result(timeout=5.0)
                return found
            except TimeoutError:
                if self.client.nthreads():
                    since = time.monotonic()
                elif time.monotonic() - since > AGAIN:
                    raise ClusterError(
                        f"scheduler: {self.address} has no workers left; repeat the call to continue"
                    ) from None

    @property
    def _lost(self) -> tuple[type[BaseException], ...]:
        """Errors of a future whose worker, scheduler or connection died."""
        d = self._module
        return (
            OSError,
            asyncio.CancelledError,
            concurrent.futures.CancelledError,
            d.scheduler.KilledWorker,
            d.comm.CommClosedError,
        )


def run_block(text: bytes, number: int) -> ComputedBlock:
    """A block in a worker; the task is unpacked once per process."""
    return _unpacked(text)(number)


@lru_cache(maxsize=4)
def _unpacked(text: bytes) -> BlockTask:
    import cloudpickle

    task: BlockTask = cloudpickle.loads(text)
    return task


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError("scheduler: a study on a cluster needs Dask; install flexapod[cluster]") from None
    return distributed
