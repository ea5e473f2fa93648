"""A progress bar for long runs: only at a terminal, or when asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LONG = 300_000
"""Samples from which a bar is shown by itself."""


@contextmanager
def progress_bar(title: str, total: int, wanted: bool | None, done: int = 0) -> Iterator[Callable[[int], None]]:
    """A function that takes the number done so far.

    Args:
        wanted: True or False decide; None shows a bar at a terminal for long runs.
        done: where an earlier run ended.
    """
    if wanted is False or (wanted is None and (total < LONG or not sys.stderr.isatty())):
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total, completed=done)
        yield lambda count: bar.update(task, completed=count)
