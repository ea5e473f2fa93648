"""CPU seconds of every test, children included: the figures that stay true on a machine that does other things too.

`make test` prints the dearest tests and the sum of every folder. A fixture of a module or session counts for the test that first
needs it; a process that outlives its test counts where it is waited for.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

LEAST = 0.5
"""Seconds below which a test is not worth a line."""
STARTED = pytest.StashKey[float]()


def spent() -> float:
    """CPU seconds of this process and of the children it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-seconds", type=int, default=0, metavar="N", help="list the N tests that took most CPU time")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    item.stash[STARTED] = spent()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[Any]:
    """Setup, call and teardown: each report carries its own part, also from a worker to the process that prints."""
    report = yield
    now = spent()
    report.cpu_seconds = now - item.stash[STARTED]
    item.stash[STARTED] = now
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    asked = terminalreporter.config.getoption("cpu_seconds")
    if not asked:
        return
    tests: Counter[str] = Counter()
    folders: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            seconds = getattr(report, "cpu_seconds", 0.0)
            tests[report.nodeid if seconds else ""] += seconds
            folders[report.nodeid.split("::")[0].rpartition("/")[0] if seconds else ""] += seconds
    terminalreporter.section(f"CPU seconds: {sum(tests.values()):.0f}")
    dearest = [pair for pair in tests.most_common(asked) if pair[1] >= LEAST]
    for name, seconds in [*folders.most_common(), *dearest]:
        terminalreporter.write_line(f"{seconds:8.1f}  {name}")
