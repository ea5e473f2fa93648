"""Which tests belong to which run: `make test-quick` leaves out SLOW, `make test` leaves out FULL, `make test-full` runs all.

Tests say `@pytest.mark.full` themselves where they have a sample of their own beside them. This table names what is left to
another test of the usual run, and to which; a name that no test has any more stops the run.
"""

from __future__ import annotations

import pytest

FULL: dict[str, str] = {}
"""Beginning of a test's name -> what the usual run keeps of it."""

SLOW: tuple[str, ...] = ()
"""Files and folders that take long: browsers, documentation, examples, processes that are killed, large comparisons."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: left out by make test-quick; named in tests/support/runs.py")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unused = set(FULL) | set(SLOW)
    for item in items:
        for table, mark in ((FULL, pytest.mark.full), (SLOW, pytest.mark.slow)):
            for name in table:
                if item.nodeid.startswith(f"tests/{name}"):
                    unused.discard(name)
                    item.add_marker(mark)
    if unused and config.args == config.getini("testpaths"):
        raise pytest.UsageError(f"tests/support/runs.py names tests that do not exist: {', '.join(sorted(unused))}")
