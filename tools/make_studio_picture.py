"""The picture of README and docs, taken of the studio itself in Chromium.

    python tools/make_studio_picture.py           # docs/_static/studio.png and its fingerprint
    make pictures                                  # this and the gallery

The fingerprint is of what the picture shows: the numbers beside the view and in the strip, the timeline, the drawn points and
arrows, and the script of the page. tests/docs/test_studio_picture.py compares it with what the studio would show now.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

import flexapod as fp

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "_static" / "studio.png"
ROBOT, MOTION, MOMENT = "stewart-3-3", "circle", 1.0
COLOURS = 200
"""Of the stored picture: fewer make it small, and nobody sees it."""
PATIENCE = 600_000
"""Milliseconds that a page may take on a busy machine with software rendering."""


def fingerprint() -> str:
    """Twelve digits that change with what the picture shows."""
    from flexapod.views.scene.arrows import actuator_arrows
    from flexapod.views.scene.shapes import drawing, extent, platform_corners
    from flexapod.views.studio import app
    from flexapod.views.studio.camera import level, oblique, upward_direction
    from flexapod.views.studio.flat_arrows import arrow_lines
    from flexapod.views.studio.recording import motion_of, record
    from flexapod.views.studio.robot_view import ARROW
    from flexapod.views.studio.strip import strip_html
    from flexapod.views.studio.tables import ShownMoment, numbers_html
    from flexapod.views.studio.timeline import spans_html

    robot = fp.load(ROBOT)
    found = record(robot, motion_of(robot, MOTION, start_at_home=True), MOTION)
    i = found.index(MOMENT)
    moment = ShownMoment(time=float(found.time[i]), title=f"{found.kind} {found.name}", power=found.power[i])
    numbers = found.numbers(i)
    corners = platform_corners(robot, numbers.state, np.zeros(0))
    size, up = extent(robot), upward_direction(robot)
    shown = drawing(robot, found.joints[i], corners, size, set())
    arrows = actuator_arrows(robot, shown, numbers.force, size, seen=oblique(robot, up, level(robot, up)))
    lines = arrow_lines(arrows.points, ARROW * size).reshape(-1, 3)
    rods = [shown.rods.start, shown.rods.end, shown.hardware.start, shown.hardware.end]
    points = np.round(np.vstack([*rods, lines]), 4) + 0.0
    below = strip_html(robot, numbers, None, asked=False, moment=moment)
    texts = [numbers_html(robot, numbers, None, moment), below, spans_html(found)]
    plain = re.sub(r"data-made='[^']*'", "", "".join(texts))
    script = Path(app.__file__).with_name("page.js").read_text(encoding="utf-8")
    return hashlib.sha256(f"{plain}{points.tolist()}{script}".encode()).hexdigest()[:12]


def photograph(path: Path) -> None:
    """Open the studio, compute the motion, show the moment, keep what is seen."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    from flexapod.views.studio.app import Studio

    studio = Studio(ROBOT)
    studio.loop.wait_until_idle(PATIENCE / 1000)
    flags = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
    flags += ["--no-sandbox"] if hasattr(os, "getuid") and os.getuid() == 0 else []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page: Any = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(PATIENCE)
        page.goto(studio.url)
        page.wait_for_selector("#numbers")
        page.locator(".mantine-Notification-closeButton").first.click(force=True)
        page.get_by_role("tab", name="Motion", exact=True).click()
        studio.loop.post("choose", lambda: setattr(studio.motion.choice, "value", MOTION))
        studio.loop.wait_until_idle(60)
        page.get_by_role("button", name="Compute", exact=True).click()
        page.wait_for_selector("#moment")
        studio.loop.post("hold", studio.motion.pause)
        studio.loop.wait_until_idle(60)
        studio.loop.post("show", lambda: studio.motion.timeline.scrubbed(MOMENT))
        studio.loop.wait_until_idle(60)
        page.wait_for_timeout(5000)
        page.screenshot(path=path, timeout=PATIENCE)
        browser.close()
    studio.stop()
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
        few.save(path, optimize=True)


def main() -> None:
    """Take the picture where it is out of date."""
    note = PICTURE.with_suffix(".txt")
    now = fingerprint()
    if note.is_file() and note.read_text(encoding="utf-8").strip() == now and "--again" not in sys.argv:
        print(f"{PICTURE.relative_to(ROOT)} is up to date")
        return
    photograph(PICTURE)
    note.write_text(f"{now}\n", encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
