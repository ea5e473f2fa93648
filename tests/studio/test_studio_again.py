"""More that misled people in a real browser: cancelled simulations, modes, handles, other origins; and the timeline's speed."""

import itertools
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import slow_task
from page import PATIENCE, Page

from flexapod.views.scene.frames import leg_ends
from flexapod.views.studio import panel_motion, timeline
from flexapod.views.studio.app import Studio
from support.patience import until

TICK = 0.02
"""Seconds that the clock of a test goes on whenever it is read."""
TRIES = 300
"""Clicks on a button before a test gives up."""
CLOSED = 1e-6
"""Distance between a leg's end and its joint on the platform, of the robot's extent, that nobody sees."""
SUMMED = 1e-9
"""[s]: sums of ticks."""
SHOWN = 1e-3
"""[s]: the page shows milliseconds."""


def show(page: Page, studio: Studio, name: str) -> None:
    studio.loop.post("robot", lambda: studio.open(name))
    assert studio.loop.wait_until_idle(PATIENCE / 1000)
    page.wait_until_idle()


def test_the_timeline_plays_at_its_speed(page: Page, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Motion time goes on by the speed of the slider times that of the clock, from where it was scrubbed to."""
    page.tab("Motion")
    page.choose("Motion", "circle")
    page.press("Compute")
    page.wait_text("#moment", "motion circle")
    page.pause()
    ticks, shown, bar = itertools.count(), [], studio.motion.timeline
    usual = bar.show

    def noted(t: float) -> None:
        shown.append(t)
        usual(t)

    monkeypatch.setattr(timeline, "time", SimpleNamespace(monotonic=lambda: TICK * next(ticks)))
    monkeypatch.setattr(bar, "show", noted)
    for speed in (0.5, 2.0):
        page.write("Speed x", f"{speed:g}")
        page.scrub("0.1")
        shown.clear()
        page.press("Play")
        assert until(lambda: len(shown) > 5)
        page.pause()
        assert np.allclose(shown[:5], 0.1 + TICK * speed * np.arange(1, 6), rtol=0, atol=SUMMED), (
            "neither another speed nor a jump"
        )
        last = shown[-1]
        assert float(page.field("Time [s]").input_value()) == pytest.approx(last, abs=SHOWN), "the page shows another time"


def test_a_cancelled_simulation_does_not_go_on(page: Page, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel_motion, "simulated_recording", slow_task.wait)
    page.tab("Motion")
    page.page.get_by_text("Simulation", exact=True).click(timeout=PATIENCE)
    for _ in range(TRIES):  # a click is lost where the folder is still opening
        page.press("Simulate")
        if until(lambda: studio.jobs.waited_for and studio.jobs.worker._lock.locked(), PATIENCE / 1000 / TRIES):
            break
    assert studio.jobs.waited_for, "the process alone may be there since the robot was made ready"
    page.press("Cancel")
    page.wait_text("#status", "cancelled")
    assert until(lambda: studio.jobs.worker.pid is None), "it goes on computing"
    page.page.get_by_text("Simulation", exact=True).click(timeout=PATIENCE)


@pytest.mark.parametrize(("name", "mode"), [("gough-stewart-flexible", 2), ("delta", 3)])
def test_the_platform_of_a_mode_stays_at_its_joints(page: Page, studio: Studio, name: str, mode: int) -> None:
    """Flexible on locked legs and rigid on springs, with the largest amplitude: every drawn leg ends at its joint."""
    show(page, studio, name)
    page.tab("Modes")
    page.wait_text("#frequencies-of", name)
    page.wait_until_idle()
    view, found = studio.scene.view, studio.modes.found
    assert view is not None
    assert found is not None
    rest = view.last
    page.choose("Mode", f"{mode}: {found.frequency[mode - 1]:.5g} Hz")
    page.write("Amplitude x", "4")
    page.wait_text("#mode", f"mode {mode}")
    moved = 0.0
    for _ in range(8):
        before = view.last
        assert until(lambda before=before: view.last is not before)
        now = view.last
        assert now is not None
        assert rest is not None
        assert np.abs(leg_ends(studio.session.robot, now.frames) - now.corners).max() < CLOSED * view.size
        moved = max(moved, float(np.abs(now.corners - rest.corners).max()))
    assert moved > 1e-3 * view.size, "nothing moves"
    page.press("Stop")


HANDLES = """() => {
  const canvas = document.querySelector("[data-fp=view] canvas:not([style*='pointer-events: none'])");
  let fiber = canvas[Object.keys(canvas).find((key) => key.startsWith('__reactFiber'))], viewer;
  for (; fiber && !viewer; fiber = fiber.return) {
    const value = fiber.memoizedProps && fiber.memoizedProps.value;
    if (value && value.mutable && value.mutable.current && value.mutable.current.nodeRefFromName) viewer = value.mutable.current;
  }
  const found = {arrows: 0, rings: 0};
  for (const [name, node] of Object.entries(viewer.nodeRefFromName))
    if (name.startsWith('/drag-') && node) node.traverse((part) => {
      if (!part.geometry || !part.visible) return;
      if (name.endsWith('/arrows') && part.geometry.type === 'ConeGeometry') found.arrows += 1;
      if (name.includes('/ring') && part.geometry.type === 'LineGeometry') found.rings += 1;
    });
  return [found.arrows, found.rings];
}"""
"""Arrows and rings of the handle that the page has in its scene."""


@pytest.mark.parametrize(
    ("name", "arrows", "rings"),
    [("stewart-3-3", 3, 3), ("delta", 3, 0), ("five-bar", 2, 0), ("agile-eye", 0, 3), ("planar-3-rrr", 2, 1)],
)
def test_the_handle_offers_the_motions_of_the_robot_alone(page: Page, studio: Studio, name: str, arrows: int, rings: int) -> None:
    show(page, studio, name)
    assert page.page.evaluate(HANDLES) == [arrows, rings]


CONNECT = """address => new Promise((resolve) => {
  const socket = new WebSocket(address);
  socket.onopen = () => resolve('open');
  socket.onerror = () => resolve('refused');
})"""


def test_a_page_of_another_origin_gets_no_connection(browser: Any, page: Page, studio: Studio) -> None:
    """A page of this very machine at another port; the studio's own page gets one at the same address."""
    address = studio.url.replace("http", "ws", 1)

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<title>other</title>")

        def log_message(self, *_: Any) -> None:
            """Nothing is written."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    other = browser.new_page()
    other.goto(f"http://127.0.0.1:{server.server_port}/")
    assert other.evaluate(CONNECT, address) == "refused"
    assert page.page.evaluate(CONNECT, address) == "open"
    other.close()
    server.shutdown()
    server.server_close()
