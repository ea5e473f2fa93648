"""The studio in Chromium: command to first picture, slider to numbers.

    python benchmarks/studio.py [--quick]
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from reporting import Effort, joined, print_section, table

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "studio")]

from page import LATENCY, Page  # noqa: E402
from studio_process import READY, Command  # noqa: E402

from flexapod.views.studio.app import Studio  # noqa: E402

GOALS = {"stewart-3-3": 30.0, "gough-stewart-flexible": 60.0}
"""Median [ms] of slider to numbers that each robot shall have; the worst move of both shall take 100 ms at most."""
STARTS = 3
"""Starts of the command, of which the best counts."""
Z_SLIDER, PAUSE = 2, 150
"""Which slider is moved, and how long a hand rests between two moves [ms]."""
PICTURE = """() => {
  const canvas = document.querySelector("canvas");
  let fiber = canvas && canvas[Object.keys(canvas).find((key) => key.startsWith("__reactFiber"))];
  for (; fiber; fiber = fiber.return) {
    const value = fiber.memoizedProps && fiber.memoizedProps.value, page = value && value.mutable && value.mutable.current;
    if (page && page.nodeRefFromName)
      return Object.entries(page.nodeRefFromName).some(([name, node]) => name.startsWith("/robot-") && node);
  }
  return false;
}"""
"""Nodes of the robot are in the scene of the page."""
NUMBERS = "() => document.querySelector('#status')?.innerText.includes('is ready')"
DRAWN = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const gl = document.querySelector("canvas").getContext("webgl2");
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
  done();
})))"""
"""The frame with the robot was asked for, and a pixel of it can be read: whatever draws it has done so."""


def chromium(play: Any) -> Any:
    """The browser, or None where there is none."""
    path = next((p for name in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(name))), None)
    if path is None:
        return None
    flags = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
    if hasattr(os, "getuid") and os.getuid() == 0:
        flags.append("--no-sandbox")
    return play.chromium.launch(executable_path=path, args=flags)


def first_picture(browser: Any, robot: str) -> tuple[float, float, float]:
    """Seconds from the command to its address, to the robot drawn on a page of 1280 x 720, and to its numbers beside it."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    command = Command(robot)
    try:
        page.goto(command.url)
        page.wait_for_function(PICTURE, timeout=1000 * READY)
        page.evaluate(DRAWN)
        drawn = time.monotonic() - command.begin
        page.wait_for_function(NUMBERS, timeout=1000 * READY)
        return command.started, drawn, time.monotonic() - command.begin
    finally:
        page.close()
        command.end()


def latencies(browser: Any, robot: str, moves: int) -> Any:
    """Milliseconds (moves,) from a key on the slider z to changed numbers on the page."""
    studio = Studio(robot)
    try:
        assert studio.loop.wait_until_idle(READY)
        page = Page(browser, studio, ROOT / "out" / "studio", draw=False)
        page.wait_until_idle()
        found = page.page.evaluate(LATENCY, [Z_SLIDER, ["ArrowRight", "ArrowLeft"] * (moves // 2), PAUSE])
        page.close()
        return np.array(found)
    finally:
        studio.stop()


def section(effort: Effort) -> str:
    """Table of latencies and of the start, beside the goals."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return joined(HEAD, "Playwright is not installed: nothing was measured.")
    moves, rows = effort.size(60, 2), []
    with sync_playwright() as play:
        browser = chromium(play)
        if browser is None:
            return joined(HEAD, "There is no Chromium here: nothing was measured.")
        for robot, goal in GOALS.items():
            found = latencies(browser, robot, moves)
            rows.append(
                (f"`{robot}`, slider to numbers, median of {len(found)} moves", f"{np.median(found):.0f} ms", f"{goal:.0f} ms")
            )
            rows.append((f"`{robot}`, slider to numbers, worst", f"{found.max():.0f} ms", "100 ms"))
        starts = [first_picture(browser, "stewart-3-3") for _ in range(effort.size(STARTS, 1))]
        address, drawn, numbers = min(starts, key=lambda start: start[1])
        browser.close()
    rows += [
        ("`stewart-3-3`, command to the page's address", f"{address:.2f} s", None),
        ("`stewart-3-3`, command to the first picture", f"{drawn:.2f} s", "3 s"),
        ("`stewart-3-3`, command to its numbers", f"{numbers:.2f} s", None),
    ]
    return joined(HEAD, table(["", "wall time", "goal, at most"], rows))


HEAD = """## Studio

The studio in headless Chromium, by the wall clock. The latency leaves out the drawing by WebGL, which a machine without a
graphics card does in software; the first picture has it. Everything is in the cache: each robot is opened once before.
"""

if __name__ == "__main__":
    print_section(section, __doc__)
