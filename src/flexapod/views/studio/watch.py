"""Watching a robot file: the studio reloads it when it is saved in an editor.

The file is looked at twice a second; a change counts once the file has stayed the same between two looks, so that half-written
files are not read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

EVERY = 0.5
"""Seconds between two looks."""


class FileWatch:
    """A thread that reports changes of one file until it is stopped.

    Args:
        path: of the file; it may vanish for a moment, as editors do when they save.
        changed: called after each change, in the watching thread.

    Checked by: tests/studio/test_studio_jobs.py.
    """

    def __init__(self, path: Path, changed: Callable[[], None], every: float = EVERY) -> None:
        self.path, self._changed, self._every = path, changed, every
        self._stopped = threading.Event()
        self._reported = self._look()
        threading.Thread(target=self._watch, name="studio watch", daemon=True).start()

    def stop(self) -> None:
        """Look no longer."""
        self._stopped.set()

    def _look(self) -> tuple[int, int] | None:
        try:
            facts = self.path.stat()
        except OSError:
            return None
        return facts.st_mtime_ns, facts.st_size

    def _watch(self) -> None:
        before = self._reported
        while not self._stopped.wait(self._every):
            now = self._look()
            if now is not None and now == before and now != self._reported:
                self._reported = now
                self._changed()
            before = now
