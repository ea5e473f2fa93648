"""`flexapod studio` as a process, and where its tests keep pictures."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from support.patience import PATIENCE

PICTURES = Path(__file__).resolve().parents[2] / "out" / "studio"
READY = 900.0
"""Seconds that equations may take to compile on a busy machine, where nothing is in the cache."""


def _interruptible() -> None:
    """A test run in the background ignores interrupts, and so would the program that it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Command:
    """`flexapod studio` as people start it."""

    def __init__(self, *words: str) -> None:
        self.begin = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "flexapod.views.cli", "studio", "--port", "0", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
            preexec_fn=_interruptible,
        )  # fmt: skip
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://([\w.]+):(\d+)", line)
        if found is None:
            self.process.kill()
            raise AssertionError(f"no address in {line!r}\n{self.process.communicate()[1]}")
        self.url, self.port = found.group(0), int(found.group(2))
        self.started = time.monotonic() - self.begin

    def end(self, number: int = signal.SIGINT) -> tuple[int, str, str]:
        """Exit code, output and errors after a signal."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err
