"""CPU seconds of every test, children included: figures that do not depend on what else the machine does.

`make test` prints the longest tests and the sum of every folder. A fixture of a module or session counts for the test that first
needs it; a process that outlives its test counts where it is waited for. Of tests with a browser its processes count as well: it
draws in software, and takes more than the test itself. BUDGETS has the limit of each folder.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

BUDGETS = {
    "analysis": 135, "views": 105, "studio": 90, "equations": 85, "project": 55, "simulation": 60, "robot": 55, "bridges": 40,
    "kernels": 40, "elastodynamics": 35, "laws": 35, "flexible": 30, "generator": 30, "design": 20, "identification": 20,
    "description": 20, "docs": 15, "examples": 10, "motions": 10, "spatial": 5,
}  # fmt: skip
"""CPU seconds of a folder in the usual run, browsers included. The log marks a folder that takes more: then choose among its
cases, or take a robot and options whose kernels another test has, rather than raise the number."""
LEAST = 0.5
"""Seconds below which a test is not listed."""
STARTED = pytest.StashKey[float]()


def spent(item: pytest.Item) -> float:
    """CPU seconds of this process and of the children it waited for; for a test with a browser, also of those that still run."""
    times = os.times()
    own = times.user + times.system + times.children_user + times.children_system
    return own + living() if "browser" in getattr(item, "fixturenames", ()) else own


def living() -> float:
    """CPU seconds of the processes below this one, and of those that they waited for."""
    import psutil

    total = 0.0
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system + times.children_user + times.children_system
    return total


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-seconds", type=int, default=0, metavar="N", help="list the N tests that took most CPU time")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[Any]:
    item.stash[STARTED] = spent(item)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[Any]:
    """Setup, call and teardown: each report carries its own part, also from a worker to the process that prints."""
    report = yield
    now = spent(item)
    report.cpu_seconds = max(0.0, now - item.stash[STARTED])  # the seconds of a browser that has ended are no longer counted
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
    longest = [pair for pair in tests.most_common(asked) if pair[1] >= LEAST]
    for name, seconds in [*folders.most_common(), *longest]:
        budget = BUDGETS.get(name.removeprefix("tests/"), seconds)
        terminalreporter.write_line(f"{seconds:8.1f}  {name}" + f"  (above its budget of {budget})" * (seconds > budget))
