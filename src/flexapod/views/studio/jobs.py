"""Long computations beside the studio's thread: one at a time, with progress, dropped when a newer one is asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

Report = Callable[[float], None]


class CancelledError(Exception):
    """The job is no longer wanted."""


class Jobs:
    """Runs one job at a time in a thread of its own.

    Args:
        post: hands an action to the studio's thread.
        progress: told the job's name and the part that is done (0 to 1), and None at its end; in the studio's thread.
        failed: told of an exception; in the studio's thread.
    """

    def __init__(
        self,
        post: Callable[[str, Callable[[], Any]], None],
        progress: Callable[[str | None, float], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._post, self._progress, self._failed = post, progress, failed
        self._ticket = 0
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def start(self, name: str, work: Callable[[Report], Any], done: Callable[[Any], None]) -> None:
        """Start a job; an earlier one is cancelled.

        Args:
            work: computes in the job's thread; its `report(part)` raises where the job is no longer wanted.
            done: takes the result, in the studio's thread.
        """
        with self._lock:
            self._ticket += 1
            ticket = self._ticket
        thread = threading.Thread(target=self._run, args=(ticket, name, work, done), name=f"studio job: {name}", daemon=True)
        self._threads = [t for t in self._threads if t.is_alive()] + [thread]
        self._progress(name, 0.0)
        thread.start()

    def cancel(self, *, quietly: bool = False) -> None:
        """The running job is no longer wanted; its result is dropped."""
        with self._lock:
            self._ticket += 1
        if not quietly:
            self._progress(None, 0.0)

    @property
    def running(self) -> bool:
        """A job's thread is alive."""
        return any(t.is_alive() for t in self._threads)

    def join(self, timeout: float) -> None:
        """Wait for jobs that end soon."""
        for thread in self._threads:
            thread.join(timeout)

    def _run(self, ticket: int, name: str, work: Callable[[Report], Any], done: Callable[[Any], None]) -> None:
        def report(part: float) -> None:
            if ticket != self._ticket:
                raise CancelledError(name)
            self._post("job progress", lambda: self._progress(name, part) if ticket == self._ticket else None)

        try:
            result = work(report)
        except CancelledError:
            return
        except Exception as error:
            problem = error
            self._post(f"job {ticket}", lambda: self._end(ticket, lambda: self._failed(problem)))
            return
        self._post(f"job {ticket}", lambda: self._end(ticket, lambda: done(result)))

    def _end(self, ticket: int, last: Callable[[], None]) -> None:
        if ticket == self._ticket:
            self._progress(None, 1.0)
            last()
