"""A running studio, its command as a process, and a real browser that looks at it; pictures are kept in out/studio."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from flexapod.views.studio.app import Studio

PICTURES = Path(__file__).resolve().parents[2] / "out" / "studio"
READY = 240.0
"""Seconds that equations may take to compile on a busy machine, where nothing is in the cache."""


class Command:
    """`flexapod studio` as people start it."""

    def __init__(self, *words: str) -> None:
        self.begin = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "flexapod.views.cli", "studio", "--port", "0", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
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
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


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
