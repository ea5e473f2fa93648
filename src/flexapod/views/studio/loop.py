"""The one thread that changes a studio: requests in order, the latest of a kind wins, quiet work when nothing waits, a beat.

Callbacks of the page only leave a request here, so that nothing has to be locked, and a slider that moves faster than the numbers
costs one computation, not a queue of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

Action = Callable[[], Any]


class Loop:
    """Runs actions one after the other.

    Args:
        failed: told of an exception in an action; the loop goes on.
    """

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._changed = threading.Condition()
        self._waiting: dict[str, Action] = {}
        self._quiet: dict[str, Action] = {}
        self._beat: tuple[float, Action] | None = None
        self._stopped = False
        self._busy = False
        self._thread = threading.Thread(target=self._run, name="studio", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def post(self, key: str, action: Action) -> None:
        """Ask for an action; a waiting one of the same key is replaced."""
        with self._changed:
            self._waiting[key] = action
            self._changed.notify()

    def quiet(self, key: str, action: Action) -> None:
        """Ask for an action that runs when no other waits."""
        with self._changed:
            self._quiet[key] = action
            self._changed.notify()

    def beat(self, seconds: float | None, action: Action | None = None) -> None:
        """Run an action regularly, at most every so many seconds; None ends it."""
        with self._changed:
            self._beat = None if seconds is None or action is None else (seconds, action)
            self._changed.notify()

    def settle(self, timeout: float) -> bool:
        """Wait until nothing waits or runs; for tests."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            with self._changed:
                if not self._waiting and not self._quiet and not self._busy:
                    return True
            time.sleep(0.005)
        return False

    def stop(self, timeout: float = 5.0) -> None:
        """End the thread after the action that runs."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def _run(self) -> None:
        due = 0.0
        while True:
            with self._changed:
                self._busy = False
                while not self._stopped and not self._waiting and not self._quiet and self._beat is None:
                    self._changed.wait()
                if self._stopped:
                    return
                action = self._next()
                if action is None and self._beat is not None:
                    rest = due - time.monotonic()
                    if rest > 0:
                        self._changed.wait(rest)
                        continue
                    due, action = time.monotonic() + self._beat[0], self._beat[1]
                self._busy = action is not None
            if action is not None:
                try:
                    action()
                except Exception as error:
                    self._failed(error)

    def _next(self) -> Action | None:
        for queue in (self._waiting, self._quiet):
            if queue is self._quiet and self._beat is not None:
                return None
            if queue:
                return queue.pop(next(iter(queue)))
        return None
