"""A running studio, its command as a process, and a real browser that looks at it; pictures are kept in out/studio."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from page import PATIENCE, Page
from studio_process import PICTURES, READY, Command

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


SHARED = ("test_studio_again", "test_studio_mended", "test_studio_view")
"""Files that have one studio and one tab in common: each of their tests begins with a fresh robot."""


def started() -> Iterator[Studio]:
    running = Studio("stewart-3-3")
    assert running.loop.wait_until_idle(READY)
    yield running
    running.stop()


@pytest.fixture(scope="session")
def common() -> Iterator[Studio]:
    """The studio of the files of SHARED."""
    yield from started()


@pytest.fixture(scope="session")
def common_tab(browser: Any, common: Studio) -> Iterator[Page]:
    """Its tab; to load one takes two seconds."""
    page = Page(browser, common, PICTURES, draw="never", width=1280, height=720)
    yield page
    page.close()


@pytest.fixture(scope="module")
def studio(request: pytest.FixtureRequest) -> Iterator[Studio]:
    """A studio in this process, so that tests can look behind the page."""
    if request.module.__name__ not in SHARED:
        yield from started()
        return
    running = request.getfixturevalue("common")
    yield running
    fresh(running)  # nothing goes on playing while tests of other files run


@pytest.fixture(scope="module")
def opened(browser: Any, studio: Studio, request: pytest.FixtureRequest) -> Iterator[Page]:
    """One tab without the drawing for all tests of a file: texts and widgets are judged, and the camera. WINDOW is its size."""
    width, height = getattr(request.module, "WINDOW", (1280, 720))
    if request.module.__name__ in SHARED:
        page = request.getfixturevalue("common_tab")
        page.page.set_viewport_size({"width": width, "height": height})
        yield page
        return
    page = Page(browser, studio, PICTURES, draw="never", width=width, height=height)
    yield page
    page.close()


def fresh(studio: Studio) -> None:
    """The studio with the robot of its start."""
    studio.loop.post("fresh", lambda: studio.open("stewart-3-3"))
    assert studio.loop.wait_until_idle(PATIENCE / 1000)


@pytest.fixture
def page(opened: Page, studio: Studio) -> Iterator[Page]:
    """That tab on a fresh studio; nothing may go wrong on it during a test."""
    fresh(studio)
    opened.tab("Pose")
    opened.wait_until_idle()
    yield opened
    assert not opened.errors, "\n".join(opened.errors)
