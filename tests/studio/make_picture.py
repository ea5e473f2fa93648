"""The picture of the README, made by the studio itself: `python tests/studio/make_picture.py docs/_static/studio.png`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from page import Page

from flexapod.views.studio.app import Studio

COLOURS = 200
"""Of the stored picture: fewer make it small, and nobody sees it."""


def main(place: Path) -> None:
    from PIL import Image
    from playwright.sync_api import sync_playwright

    studio = Studio("stewart-3-3")
    studio.loop.settle(240)
    flags = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
    flags += ["--no-sandbox"] if os.getuid() == 0 else []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = Page(browser, studio, place.parent, width=1280, height=720)
        page.tab("Motion")
        page.choose("Motion", "circle")
        page.press("Compute")
        page.wait_text("#moment", "motion circle")
        page.press("Pause")
        studio.loop.post("show", lambda: (studio.motion.show(1.0), setattr(studio.motion.scrub, "value", 1.0)))
        page.settled()
        page.page.wait_for_timeout(1500)
        path = page.picture(place.stem)
        page.close()
        browser.close()
    studio.stop()
    Image.open(path).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
