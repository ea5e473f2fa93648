"""Makes `support` importable from every test folder. One BLAS thread: `make test` runs a process per core, and small matrices
wait for each other's threads longer than they compute. Random examples are the same in every run, and none fails because a busy
machine is slow. Kernels come from the user's cache, which all workers and commands share. Compiled modules are kept
(PYTHONDONTWRITEBYTECODE does not hold here): else every worker, command and child process would compile the package again.
"""

import contextlib
import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from support.patience import PATIENCE

pytest_plugins = ["support.compilers", "support.cpu_seconds", "support.usual_run"]

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

COLLECT = (20_000, 20, 20)
"""Thresholds of the garbage collector: derivations make hundreds of thousands of small objects, few of them in cycles."""

settings.register_profile("usual", derandomize=True, deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("full", deadline=None, suppress_health_check=[HealthCheck.too_slow])


def pytest_configure(config: pytest.Config) -> None:
    """New random examples belong to the full run."""
    from flexapod.kernels.tape.quick_operators import quick_operators
    from support.usual_run import usual

    settings.load_profile("usual" if usual(config) else "full")
    quick = contextlib.ExitStack()
    quick.enter_context(quick_operators())  # tests derive programs themselves, as the cache does
    config.add_cleanup(quick.close)


def pytest_collection_finish() -> None:
    """What was collected stays: the garbage collector need not walk through thousands of tests again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT)


def _patient(make: Callable[..., Any]) -> Callable[..., Any]:
    """Contexts and pages that wait as long as tests do, not Playwright's 30 seconds."""

    def made(**options: Any) -> Any:
        place = make(**options)
        place.set_default_timeout(1000 * PATIENCE)
        return place

    return made


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, as installed on the machine, with WebGL in software; one for all tests of a process.

    The rest of a page is drawn without WebGL: with it, a graphics card in software would draw every text, at twice the time.
    """
    path = next((p for name in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(name))), None)
    if path is None:
        pytest.skip("NO BROWSER: install chromium to test pages as people see them")
    from playwright.sync_api import sync_playwright

    flags = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
    flags += ["--disable-gpu-rasterization", "--disable-gpu-compositing"]
    if hasattr(os, "getuid") and os.getuid() == 0:
        flags.append("--no-sandbox")
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=path, args=flags)
        for name in ("new_context", "new_page"):
            setattr(chromium, name, _patient(getattr(chromium, name)))
        yield chromium
        chromium.close()
