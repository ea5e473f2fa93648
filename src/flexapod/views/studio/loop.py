"""The one thread that changes a studio: requests in order, the latest of a kind wins, quiet work when nothing waits, a beat.

Callbacks of the page only leave a request here, so that nothing has to be locked, and a slider that moves faster than the numbers
costs one computation, not a queue of them.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

Action = Callable[[], Any]

PATIENCE = 0.15
"""Seconds without a request before quiet work starts: it must not delay a slider that moves."""


class ActionLoop:
    """Runs actions one after the other.

    Args:
        failed: called with an exception in an action; the loop goes on.

    Checked by: tests/studio/test_studio_life.py.
    """

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._changed = threading.Condition()
        self._waiting: dict[str, Action] = {}
        self._quiet: dict[str, Action] = {}
        self._beat: tuple[float, Action] | None = None
        self._quiet_from = self._beat_from = 0.0
        self._stopped = self._busy = False
        self.also_busy: list[Callable[[], bool]] = []
        self._thread = threading.Thread(target=self._act, name="studio", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def post(self, key: str, action: Action) -> None:
        """Ask for an action; a waiting one of the same key is replaced."""
        with self._changed:
            self._waiting[key] = action
            self._quiet_from = time.monotonic() + PATIENCE
            self._changed.notify()

    def quiet(self, key: str, action: Action) -> None:
        """Ask for an action that runs when nothing was asked for during a moment."""
        with self._changed:
            self._quiet[key] = action
            self._quiet_from = time.monotonic() + PATIENCE
            self._changed.notify()

    def beat(self, seconds: float | None, action: Action | None = None) -> None:
        """Run an action regularly, at most every so many seconds; None ends it."""
        with self._changed:
            self._beat = None if seconds is None or action is None else (seconds, action)
            self._changed.notify()

    def wait_until_idle(self, timeout: float, *, alone: bool = False) -> bool:
        """Wait until nothing waits or runs, here and, unless `alone`, in what is `also_busy`.

        Quiet work that waits for the end of a beat is not waited for.
        """
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            with self._changed:
                still = not self._waiting and not self._busy and (not self._quiet or self._beat is not None)
                if still and (alone or not any(busy() for busy in self.also_busy)):
                    return True
            time.sleep(0.005)
        return False

    def settle(self, timeout: float, *, alone: bool = False) -> bool:
        """The former name of `wait_until_idle`, for one version."""
        text = "settle is called wait_until_idle now; the former name is removed in the next version"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return self.wait_until_idle(timeout, alone=alone)

    def stop(self, timeout: float = 1.0) -> None:
        """End the thread after the action that runs."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def _act(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                action = None
                while not self._stopped and action is None:
                    action, rest = self._next()
                    if action is None:
                        self._changed.wait(rest)
                if self._stopped or action is None:
                    return
                self._busy = True
            try:
                action()
            except Exception as error:
                self._failed(error)

    def _next(self) -> tuple[Action | None, float | None]:
        """The action to run now, or None and how long to wait (None: until asked)."""
        now = time.monotonic()
        if self._waiting:
            return self._waiting.pop(next(iter(self._waiting))), 0.0
        if self._beat is not None:
            if now >= self._beat_from:
                self._beat_from = now + self._beat[0]
                return self._beat[1], 0.0
            return None, self._beat_from - now
        if self._quiet:
            if now >= self._quiet_from:
                return self._quiet.pop(next(iter(self._quiet))), 0.0
            return None, self._quiet_from - now
        return None, None
