"""Tests of exported C and C++ on a machine without a compiler: skipped with a reason, as those of pages without a browser.

`make test` installs g++ where it may (tools/ensure_tools.sh), so that this is the rule of a user without such rights.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import flexapod as fp

COMPILERS = ("cc", "gcc", "g++")
REASON = "NO C COMPILER: install g++ to test exported code (on Debian: apt install g++)"


def lacks_compiler(error: BaseException) -> bool:
    """Whether a program that was not found is a compiler which the machine does not have."""
    if isinstance(error, fp.CompilerError):
        return shutil.which("cc") is None and "there is no C compiler 'cc'" in str(error)
    name = getattr(error, "filename", None)
    return isinstance(error, FileNotFoundError) and name in COMPILERS and shutil.which(name) is None


@contextmanager
def skipped_without_compiler() -> Iterator[None]:
    """Skip a test that called a compiler which the machine does not have."""
    try:
        yield
    except (FileNotFoundError, fp.CompilerError) as error:
        if lacks_compiler(error):
            pytest.skip(REASON)
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    """Skip where a fixture calls a compiler that is missing."""
    with skipped_without_compiler():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Skip where the test itself calls a compiler that is missing."""
    with skipped_without_compiler():
        return (yield)
