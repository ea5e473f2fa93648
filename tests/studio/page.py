"""Hands and eyes of the page tests: tabs, buttons, sliders, texts, pictures."""

from __future__ import annotations

import functools
import itertools
import os
from pathlib import Path
from typing import Any

from flexapod.views.studio.app import Studio
from support import patience
from support.usual_run import counted
from support.webgl import DRAWING_LATER

PATIENCE = 1000 * patience.PATIENCE
"""Milliseconds until a text must appear: a busy machine with software rendering is slow, and failures wait this long once."""
LOOKED = 50
"""Milliseconds between two looks for what a test waits for; Playwright looks at every frame, and so makes the page draw them."""

DRAWING = """() => new Promise((resolve) => {
  window.flexapodDraws = true;
  if (window.flexapodMissed) {
    const canvas = document.querySelector("[data-fp=view] canvas:not([style*='pointer-events: none'])");
    let fiber = canvas[Object.keys(canvas).find((key) => key.startsWith('__reactFiber'))], viewer;
    for (; fiber && !viewer; fiber = fiber.return) {
      const held = fiber.memoizedProps?.value?.mutable?.current;
      if (held?.nodeRefFromName) viewer = held;
    }
    Object.values(viewer.nodeRefFromName).find((node) => node && node.__r3f).__r3f.root.getState().invalidate();
    window.flexapodMissed = false;
  }
  const frames = (count, then) => requestAnimationFrame(() => count ? frames(count - 1, then) : then());
  frames(2, () => { window.flexapodDraws = false; frames(1, resolve); });
})"""
"""The page draws two frames, what it has missed first, and then no longer: they stay in its canvas."""


KEPT = counted(0, 1) == 1 or "FLEXAPOD_PICTURES" in os.environ
"""Whether pictures are taken that no test looks at: drawing one takes a second or two."""

MARKS: dict[Studio, Any] = {}
COUNT = itertools.count(1)
"""Messages reach the page in order: once a mark is there, so is everything before it."""


class Page:
    """One tab of the browser on a studio.

    Args:
        draw: when WebGL draws: `always`; `pictures`, only while `picture` takes one; `never`, texts and widgets only.
    """

    def __init__(
        self, browser: Any, studio: Studio, pictures: Path, *, draw: str = "pictures", width: int = 1440, height: int = 860
    ) -> None:
        self.studio, self.pictures, self.draw = studio, pictures, draw
        self.context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True)
        self.page = self.context.new_page()
        self.page.wait_for_function = functools.partial(self.page.wait_for_function, polling=LOOKED)
        self.errors: list[str] = []
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.on("request", self._requested)
        if draw != "always":
            self.page.add_init_script(DRAWING_LATER)
        self.open()

    def _requested(self, request: Any) -> None:
        here = ("data:", "blob:", "about:", self.studio.url)
        if not request.url.startswith(here):
            self.errors.append(f"request {request.url}")

    def rest(self) -> None:
        """Leave the studio: a tab that draws in software takes the time of all others."""
        self.page.goto("about:blank")
        self.resting = True

    def open(self) -> None:
        """Load the page, or load it again."""
        self.resting = False
        self.page.goto(self.studio.url, timeout=PATIENCE)
        self.page.wait_for_selector("#numbers", state="attached", timeout=PATIENCE)  # a narrow window has its drawer folded
        close = self.page.locator(".mantine-Notification-closeButton")
        if close.count():
            close.first.dispatch_event("click", timeout=PATIENCE)

    def close(self) -> None:
        """The tab is closed; nothing went wrong on it."""
        self.context.close()
        assert not self.errors, "\n".join(self.errors)

    def tab(self, name: str) -> None:
        """Open a drawer by its icon; one that is open stays so (its icon would fold it)."""
        icon = self.page.get_by_role("tab", name=name, exact=True)
        open_now = icon.get_attribute("aria-selected", timeout=PATIENCE) == "true"
        if not open_now or self.page.evaluate("() => document.body.classList.contains('fp-folded')"):
            icon.click(timeout=PATIENCE)

    def press(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).click(timeout=PATIENCE)

    def text(self, selector: str) -> str:
        """Text of an element."""
        return str(self.page.locator(selector).first.inner_text(timeout=PATIENCE))

    def wait_text(self, selector: str, part: str) -> None:
        """Until an element says something."""
        self.page.wait_for_function(
            "([s, t]) => document.querySelector(s)?.innerText.includes(t)", arg=[selector, part], timeout=PATIENCE
        )

    def field(self, label: str) -> Any:
        """The input beside a label."""
        return self.page.locator(f"xpath=//*[text()='{label}']/following::input[not(@type='hidden')][1]")

    def write(self, label: str, value: str) -> None:
        """Type into the input beside a label.

        Number boxes of viser's page drop the first text that is pasted after the server has set them: then it is pasted again.
        """
        box = self.field(label)
        for _ in range(5):
            box.fill(value, timeout=PATIENCE)
            if float_of(box.input_value()) == float_of(value):
                break
        box.press("Tab")

    def pause(self) -> None:
        """Stop the motion, and wait until it stands: a picture under way would set the time box again."""
        self.press("Pause")
        self.page.get_by_role("button", name="Play", exact=True).wait_for(timeout=PATIENCE)
        self.wait_until_idle()

    def scrub(self, seconds: str) -> None:
        """Show a moment of the motion; a text that the box dropped is written again."""
        for _ in range(5):
            self.write("Time [s]", seconds)
            self.wait_until_idle()
            if f"t = {seconds}" in self.text("#moment"):
                return
        self.wait_text("#moment", f"t = {seconds}")

    def move(self, label: str, value: str) -> None:
        """Type a slider's value, and wait for other numbers."""
        before = self.text("#numbers")
        self.write(label, value)
        self.page.wait_for_function("t => document.querySelector('#numbers').innerText !== t", arg=before, timeout=PATIENCE)
        self.wait_until_idle()

    def choose(self, label: str, value: str) -> None:
        """Choose from the list beside a label."""
        self.page.get_by_role("combobox", name=label, exact=True).click(timeout=PATIENCE)
        self.page.get_by_role("option", name=value, exact=True).first.click(timeout=PATIENCE)

    def wait_until_idle(self) -> None:
        """Until the studio has done what was asked, and the page has taken all that came of it, and drawn it."""
        assert self.studio.loop.wait_until_idle(PATIENCE / 1000)
        mark = MARKS.get(self.studio)
        if mark is None:
            mark = MARKS[self.studio] = self.studio.server.gui.add_html("")
        number = str(next(COUNT))
        mark.content = f"<i id='mark' style='display:none'>{number}</i>"
        self.studio.server.flush()
        self.page.wait_for_function("n => document.querySelector('#mark')?.textContent === n", arg=number, timeout=PATIENCE)
        self.page.evaluate("() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r())))")

    def keep(self, name: str) -> None:
        """A picture for people to look at, in the full run or where FLEXAPOD_PICTURES names a folder."""
        if KEPT:
            self.picture(name)

    def picture(self, name: str) -> Path:
        """Keep a picture that a test looks at."""
        self.pictures.mkdir(parents=True, exist_ok=True)
        path = self.pictures / f"{name}.png"
        if self.draw == "pictures":
            self.page.evaluate(DRAWING)
        self.page.screenshot(path=path, timeout=PATIENCE)
        return path


def float_of(text: str) -> float | str:
    """The number in a text, or the text."""
    try:
        return float(text)
    except ValueError:
        return text


LATENCY = """async ([index, keys, pause]) => {
  const thumb = document.querySelectorAll('[role=slider]')[index], found = [];
  for (const key of keys) {
    const before = document.querySelector('#numbers').innerText, begin = performance.now();
    const change = new Promise(resolve => {
      const watch = new MutationObserver(() => {
        const now = document.querySelector('#numbers');
        if (now && now.innerText !== before) { watch.disconnect(); resolve(performance.now() - begin); }
      });
      watch.observe(document.body, {subtree: true, childList: true, characterData: true});
    });
    thumb.focus();
    thumb.dispatchEvent(new KeyboardEvent('keydown', {key, code: key, bubbles: true, cancelable: true}));
    found.push(await change);
    await new Promise(resolve => setTimeout(resolve, pause));
  }
  return found;
}"""
"""Milliseconds from a key on a slider to changed numbers, by the page's own clock, once per key."""
