"""Robots of all kinds in a real browser, every drawer, at three sizes of the window; pictures are kept to be looked at."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page import Page
from studio_process import PICTURES, READY
from test_studio_view import APART, SIZES, TABS

from flexapod.views.studio.app import Studio

KINDS = {
    "stewart-3-3": "six legs that extend",
    "gough-stewart-flexible": "flexible platform",
    "planar-3-rrr": "planar",
    "dualemps": "flexible legs, planar",
    "delta-parallelograms": "parallelograms",
    "delta-flexible": "flexible arms in space",
    "h4": "platform of several bodies",
    "par4": "platform of several bodies, over-constrained",
    "8-ups": "redundant drives",
    "agile-eye": "over-constrained, spherical",
    "hexaglide": "six slides",
    "hexapod-floating": "base that floats",
}
"""One robot of each kind, and why it is here."""
FEW = ("stewart-3-3", "dualemps")
"""Robots of the usual run."""
EVERY_DRAWER = "gough-stewart-flexible"
"""The robot whose drawers are kept as pictures, too."""
KEPT = Path(os.environ["FLEXAPOD_PICTURES"]) if os.environ.get("FLEXAPOD_PICTURES") else PICTURES / "kinds"
"""Where pictures are kept; FLEXAPOD_PICTURES names another folder."""
TEXTS = """() => {
  const area = document.querySelector('[data-fp=drawer]').getBoundingClientRect(), found = [], boxes = [];
  const walk = document.createTreeWalker(document.querySelector('[data-fp=drawer]'), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, owner = node.parentElement;
    if (!node.textContent.trim() || !owner.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    if (owner.closest('[data-fp=rail], style, [aria-hidden=true], #strip-source, #keys-source')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects())
      if (box.width > 1 && box.height > 1) boxes.push([node.textContent.trim(), box]);
  }
  for (const [text, box] of boxes)
    if (box.left < area.left - 1 || box.right > area.right + 1) found.push(`${text} leaves the drawer`);
  for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
    const [a, p] = boxes[i], [b, q] = boxes[j];
    if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 2 && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 4)
      found.push(`${a} over ${b}`);
  }
  for (const box of document.querySelectorAll('[data-fp=drawer] input'))
    if (box.checkVisibility() && box.type !== 'hidden' && box.scrollWidth > box.clientWidth + 1)
      found.push(`the box cuts ${box.value}`);
  const strip = document.querySelector('#fp-strip');
  if (strip.scrollWidth > strip.clientWidth + 1) found.push('the strip scrolls');
  return found;
}"""
"""Texts of the open drawer that overlap or leave it, boxes that cut their digits, a strip that scrolls."""


@pytest.fixture(scope="module")
def opened(browser: Any, studio: Studio) -> Iterator[Page]:
    page = Page(browser, studio, KEPT, width=1280, height=720)
    yield page
    page.close()


def show(page: Page, studio: Studio, name: str) -> None:
    """Open a robot, and wait until it is drawn with all its numbers."""
    studio.loop.post("robot", lambda: studio.open(name))
    assert studio.loop.wait_until_idle(READY)
    page.wait_text("#status", f"{name} is ready")
    page.wait_until_idle()


def in_order(page: Page) -> list[str]:
    """What is wrong with the page as it is."""
    parts, over = page.page.evaluate(APART)
    found = [*over, *page.page.evaluate(TEXTS)]
    if not {"drawer", "fp-strip", "rail", "view"} <= set(parts):
        found.append(f"only {parts} are shown")
    if not page.page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth"):
        found.append("the page scrolls sideways")
    return found


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in FEW else pytest.mark.full, id=name) for name in KINDS])
def test_a_robot_of_each_kind_at_every_size(opened: Page, studio: Studio, name: str) -> None:
    show(opened, studio, name)
    wrong: list[str] = []
    for width, height in SIZES:
        opened.page.set_viewport_size({"width": width, "height": height})
        studio.loop.post("look", studio.scene.look)
        for tab in TABS if (width, height) == SIZES[0] else ("Pose",):
            opened.tab(tab)
            opened.wait_until_idle()
            wrong += [f"{width}x{height} {tab}: {text}" for text in in_order(opened)]
            if tab == "Pose" or name == EVERY_DRAWER:
                opened.keep(f"{name}-{width}-{tab.lower()}")
    assert wrong == []
    assert not opened.errors, "\n".join(opened.errors)
