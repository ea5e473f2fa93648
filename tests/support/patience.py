"""How long tests wait for processes: a limit for those that never answer, not a measure of speed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 900.0
"""Limit [s]. A test that waits for less fails on a machine with ten other things to do; one that waits in vain waits once."""


def until(true: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Wait until a condition holds; False if it does not in time."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def computed(pid: int) -> float:
    """CPU seconds of a process so far (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
