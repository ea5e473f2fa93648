"""A task for the studio's other process that takes its time."""

import time
from collections.abc import Callable
from typing import Any

from support.patience import PATIENCE


def wait(*_: Any, report: Callable[[float], None]) -> str:
    """Longer than any test waits, at its first per mille all the time: what a page shows of it stays."""
    for _ in range(int(10 * PATIENCE)):
        report(0.001)
        time.sleep(0.1)
    return "waited"


def add(a: float, b: float, report: Callable[[float], None]) -> float:
    """A sum."""
    report(0.5)
    print("what a library prints is no answer")
    return a + b


def fail(report: Callable[[float], None]) -> None:
    """A mistake of the user."""
    import flexapod as fp

    raise fp.InputError("no such motion")
