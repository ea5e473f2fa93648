"""Long computations beside the studio's thread: one at a time, with progress and a cancel that ends them.

What a job computes by `report.call` runs in another process, which is ended when nobody waits for it any more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from flexapod.views.studio.worker import CancelledError, Worker

T = TypeVar("T")

__all__ = ["CancelledError", "JobReport", "Jobs"]


@dataclass(frozen=True, kw_only=True, eq=False)
class JobReport:
    """Handle that a job is given: `report(part)` reports progress from 0 to 1 and raises if the job is no longer wanted."""

    reported: Callable[[float], None]
    wanted: Callable[[], bool]
    worker: Worker

    def __call__(self, part: float) -> None:
        """Report the part that is done."""
        if not self.wanted():
            raise CancelledError
        self.reported(part)

    def call(self, task: Callable[..., object], *args: object, start: float = 0.0, end: float = 1.0) -> Any:
        """The result of `task(*args, report=...)` from the other process; its progress goes from `start` to `end`."""
        return self.worker.call(
            task, *args, report=lambda part: self(start + (end - start) * part), wanted=self.wanted
        )  # fmt: skip


class Jobs:
    """Runs one job at a time in a thread of its own.

    Args:
        post: hands an action to the studio's thread.
        progress: called with the job's name and the part that is done (0 to 1), and None at its end; in the studio's thread.
        failed: called with an exception; in the studio's thread.

    Checked by: tests/studio/test_studio_jobs.py.
    """

    def __init__(
        self,
        post: Callable[[str, Callable[[], object]], None],
        progress: Callable[[str | None, float], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._post, self._progress, self._failed = post, progress, failed
        self._ticket = 0
        self._running: set[int] = set()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self.worker = Worker()

    def start(self, name: str, work: Callable[[JobReport], T], done: Callable[[T], None]) -> None:
        """Start a job; an earlier one is cancelled.

        Args:
            work: computes in the job's thread; its `report(part)` raises where the job is no longer wanted.
            done: takes the result, in the studio's thread.
        """
        with self._lock:
            self._ticket += 1
            ticket = self._ticket
            self._running.add(ticket)
        thread = threading.Thread(target=self._work, args=(ticket, name, work, done), name=f"studio job: {name}", daemon=True)
        self._progress(name, 0.0)
        with self._lock:  # `join` comes at any time, and takes started threads alone
            thread.start()
            self._threads = [t for t in self._threads if t.is_alive()] + [thread]

    def cancel(self, *, quietly: bool = False) -> None:
        """Cancel the running job: its process is ended, its result dropped."""
        with self._lock:
            self._ticket += 1
        if not quietly:
            self._progress(None, 0.0)

    @property
    def running(self) -> bool:
        """A job's thread is alive."""
        return any(t.is_alive() for t in self._threads)

    @property
    def waited_for(self) -> bool:
        """A job runs whose result somebody waits for, or was just handed over."""
        with self._lock:
            return self._ticket in self._running

    def join(self, timeout: float) -> None:
        """Wait for jobs that end soon, then end their process."""
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(timeout)
        self.worker.end()

    def _work(self, ticket: int, name: str, work: Callable[[JobReport], T], done: Callable[[T], None]) -> None:
        def reported(part: float) -> None:
            self._post("job progress", lambda: self._progress(name, part) if ticket == self._ticket else None)

        report = JobReport(reported=reported, wanted=lambda: ticket == self._ticket, worker=self.worker)
        try:
            result = work(report)
        except CancelledError:
            self._running.discard(ticket)
            return
        except Exception as error:
            problem = error
            self._post(f"job {ticket}", lambda: self._end(ticket, lambda: self._failed(problem)))
        else:
            self._post(f"job {ticket}", lambda: self._end(ticket, lambda: done(result)))

    def _end(self, ticket: int, last: Callable[[], None]) -> None:
        try:
            if ticket == self._ticket:
                self._progress(None, 1.0)
                last()
        finally:
            self._running.discard(ticket)
