"""A running studio, its command as a process, and a real browser that looks at it; pictures are kept in out/studio."""

from __future__ import annotations

from collections.abc import Callable, Iterator

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
