"""A running studio, its command as a process, and a real browser that looks at it; pictures are kept in out/studio."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from studio_process import READY, Command

from flexapod.views.studio.app import Studio


@pytest.fixture
def command() -> Iterator[Callable[..., Command]]:
    """Start the command; whatever still runs at the end is ended."""
    running: list[Command] = []

    def start(*words: str) -> Command:
        running.append(Command(*words))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


@pytest.fixture(scope="module")
def studio() -> Iterator[Studio]:
    """A studio in this process, so that tests can look behind the page."""
    running = Studio("stewart-3-3")
    assert running.loop.settle(READY)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, as installed on the machine, with WebGL in software."""
    path = next((p for name in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(name))), None)
    if path is None:
        pytest.skip("NO BROWSER: install chromium to test the studio as people see it")
    from playwright.sync_api import sync_playwright

    flags = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
    if hasattr(os, "getuid") and os.getuid() == 0:
        flags.append("--no-sandbox")
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=path, args=flags)
        yield chromium
        chromium.close()
