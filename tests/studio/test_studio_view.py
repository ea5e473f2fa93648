"""Rail, drawer, timeline, keys, themes, link and video of the page, in a real browser."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import numpy as np
import pytest
from page import PATIENCE, Page
from studio_process import PICTURES

import flexapod as fp
from flexapod.views.studio import video
from flexapod.views.studio.app import Studio
from flexapod.views.studio.camera import FILLED, PARALLEL, camera_place
from flexapod.views.studio.plots import plots_png
from flexapod.views.studio.state_address import link_query, read_state
from support.patience import until

SIZES = [(1280, 720), (1400, 900), (1920, 1080)]
WINDOW = SIZES[1]
TABS = ("Pose", "Robot", "Design", "Motion", "Modes", "Space", "View")
APART = """() => {
  const boxes = [...document.querySelectorAll('[data-fp=rail], [data-fp=drawer], [data-fp=view], [data-fp=timeline], #fp-strip')]
    .filter((e) => e.offsetParent !== null || getComputedStyle(e).position === 'fixed')
    .map((e) => [e.dataset.fp || e.id, e.getBoundingClientRect()]);
  const found = [];
  for (const [a, p] of boxes) for (const [b, q] of boxes)
    if (a < b && Math.min(p.right, q.right) - Math.max(p.left, q.left) > 1
        && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 1)
      found.push(`${a} over ${b}`);
  return [boxes.map(([name]) => name).sort(), found];
}"""
"""Names of the parts of the page that are shown, and pairs of them that overlap."""
IN_PLAN = 1e-4
"""Of the distance of the camera: it may be tilted by 0.014 rad."""
LENGTHS = (2.0, 10.0, 60.0)
"""Seconds of a video, the longer ones where a busy machine draws not one picture in the time before."""


def view(page: Page) -> dict[str, float]:
    box = page.page.locator("[data-fp=view]").bounding_box()
    assert box is not None
    return dict(box)


def test_an_icon_opens_one_drawer_and_folds_it(page: Page) -> None:
    assert [t.inner_text().strip() for t in page.page.locator("[data-fp=rail] [role=tab]").all()] == list(TABS)
    assert page.page.locator("[data-fp=rail] [role=tab] svg").count() == len(TABS)
    narrow = view(page)
    page.page.get_by_role("tab", name="Pose", exact=True).click(timeout=PATIENCE)
    page.page.wait_for_function("() => document.body.classList.contains('fp-folded')", timeout=PATIENCE)
    page.wait_until_idle()
    assert until(lambda: view(page)["width"] > narrow["width"] + 300), "the view fills the window"
    assert page.text("#fp-strip"), "the strip never goes away"
    page.page.get_by_role("tab", name="Design", exact=True).click(timeout=PATIENCE)
    page.wait_until_idle()
    page.page.wait_for_function(  # the page lays itself out anew in a frame of its own
        "(width) => document.querySelector('[data-fp=view]').getBoundingClientRect().width === width",
        arg=narrow["width"], timeout=PATIENCE,
    )  # fmt: skip
    assert page.page.get_by_label("Search", exact=True).count() or page.field("Search").is_visible()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_nothing_overlaps_at_any_size(page: Page, studio: Studio, width: int, height: int) -> None:
    page.page.set_viewport_size({"width": width, "height": height})
    page.tab("Motion")
    page.choose("Motion", "circle")
    page.press("Compute")
    page.wait_text("#moment", "motion circle")
    page.pause()
    page.page.wait_for_function("() => document.querySelector('[data-fp=timeline]') !== null", timeout=PATIENCE)
    page.wait_until_idle()
    parts, over = page.page.evaluate(APART)
    assert parts == ["drawer", "fp-strip", "rail", "timeline", "view"]
    assert over == []
    assert view(page)["height"] > 0.4 * height, "the plots leave no room for the robot"
    assert page.page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    scrub = page.field("Time [s]").bounding_box()
    strip = page.page.locator("#fp-strip").bounding_box()
    assert scrub is not None
    assert strip is not None
    assert scrub["y"] + scrub["height"] <= strip["y"] + 1, "the time's box is cut"
    page.keep(f"layout-{width}")


def test_a_narrow_window_opens_on_the_robot_and_its_drawer_lies_over_it(browser: Any, studio: Studio) -> None:
    """The page was shifted to the left, out of the window, and the view a slit."""
    narrow = Page(browser, studio, PICTURES, draw="never", width=640, height=800)
    narrow.page.wait_for_selector("[data-fp=view]", timeout=PATIENCE)
    narrow.wait_until_idle()
    rail = narrow.page.locator("[data-fp=rail]").bounding_box()
    assert rail is not None
    assert (view(narrow)["x"], view(narrow)["width"]) == (rail["width"], 640 - rail["width"])
    assert not narrow.page.locator("#numbers").is_visible(), "the drawer is folded"
    narrow.tab("Pose")
    narrow.wait_until_idle()
    drawer = narrow.page.locator("[data-fp=drawer]").bounding_box()
    assert drawer is not None
    assert drawer["x"] == rail["width"]
    assert drawer["x"] + drawer["width"] <= 640
    assert narrow.page.locator("#numbers").is_visible()
    narrow.move("z [m]", "4.4")
    narrow.close()


def test_a_selected_leg_lights_up_row_bars_and_curve(page: Page, studio: Studio) -> None:
    page.tab("Motion")
    page.choose("Motion", "circle")
    page.press("Compute")
    page.wait_text("#moment", "motion circle")
    page.pause()
    assert studio.scene.view is not None
    studio.scene.view.clicked(2)
    page.page.wait_for_selector("#numbers tr.lit", timeout=PATIENCE)
    assert page.page.locator("#numbers tr.lit").get_attribute("data-leg") == "2"
    page.page.wait_for_selector("#fp-strip [style*=outline]", state="attached", timeout=PATIENCE)
    assert page.page.locator("#fp-strip [style*=outline]").count() == 1
    page.wait_until_idle()
    widths = [series.get("width") for series in studio.motion.timeline.plots[0].plot.series[1:7]]
    assert [k for k, w in enumerate(widths) if w == max(widths)] == [2]
    assert studio.design.path.value.startswith("legs.C.")
    shown = [k for k in range(6) if (node := studio.scene.view._moving.get(f"value {k}")) is not None and node.visible]
    assert shown == [2], "the force of the selected leg is written at its arrow"
    studio.scene.view.clicked(2)
    page.page.wait_for_selector("#numbers tr.lit", state="detached", timeout=PATIENCE)


SWEPT = """() => {
  const canvas = document.querySelector("[data-fp=view] canvas:not([style*='pointer-events: none'])");
  const box = canvas.getBoundingClientRect(), hovered = document.querySelector('#fp-hover'), found = new Set();
  for (let x = box.left; x < box.right; x += 6)
    for (let y = box.top; y < box.bottom; y += 12) {
      canvas.dispatchEvent(new PointerEvent('pointermove', {clientX: x, clientY: y, bubbles: true}));
      if (hovered.style.display === 'block') found.add(hovered.textContent);
    }
  canvas.dispatchEvent(new PointerEvent('pointerdown', {clientX: box.left, clientY: box.top, bubbles: true}));
  canvas.dispatchEvent(new PointerEvent('pointerup', {clientX: box.left, clientY: box.top, bubbles: true}));
  return [...found, hovered.style.display];
}"""
"""Texts that the mouse finds on its way over the whole view, and whether one is left when a button goes down."""


def test_the_mouse_finds_values_in_the_view(page: Page, studio: Studio) -> None:
    """Legs with their numbers, arrows with their forces; as the page's own camera sees them."""
    page.wait_until_idle()
    *found, last = page.page.evaluate(SWEPT)
    assert last == "none"
    for name in studio.session.robot.actuators:
        assert any(text.startswith(f"leg {name}\n{name}: ") for text in found), found
    assert sum(": push " in text for text in found) >= 5, "an arrow may be behind a leg"


def test_keys_have_a_sheet(page: Page, studio: Studio) -> None:
    page.page.keyboard.press("?")
    page.page.wait_for_selector("#fp-sheet.shown", timeout=PATIENCE)
    for text in ("Fit the view", "Orthographic view", "Jump to the worst moment", "Projector theme"):
        assert text in page.text("#fp-sheet")
    page.page.keyboard.press("Escape")
    page.page.wait_for_selector("#fp-sheet:not(.shown)", state="attached", timeout=PATIENCE)
    page.page.keyboard.press("o")
    assert until(lambda: studio.scene.parallel)
    page.wait_until_idle()
    client = next(iter(studio.server.get_clients().values()))
    assert until(lambda: client.camera.fov == pytest.approx(PARALLEL))
    page.page.keyboard.press("o")
    assert until(lambda: not studio.scene.parallel)
    page.wait_until_idle()


def test_the_projector_theme_has_large_letters(page: Page, studio: Studio) -> None:
    size = "() => parseFloat(getComputedStyle(document.querySelector('#fp-strip')).fontSize)"
    small = page.page.evaluate(size)
    page.tab("View")
    studio.loop.post("theme", lambda: studio.view_panel.set_theme("projector"))
    page.page.wait_for_function(f"({size})() > {1.3 * small}", timeout=PATIENCE)
    page.keep("projector")
    studio.loop.post("theme", lambda: studio.view_panel.set_theme("screen"))
    page.page.wait_for_function(f"({size})() === {small}", timeout=PATIENCE)


def test_a_link_brings_back_robot_changes_pose_motion_and_camera(page: Page, studio: Studio) -> None:
    page.tab("Design")
    page.field("Search").fill("platform mass", timeout=PATIENCE)
    page.wait_until_idle()
    assert studio.design.path.value == "platform.mass"
    page.write("Value", "75")
    page.press("Apply")
    page.wait_text("#status", "platform.mass = 75")
    page.tab("Pose")
    page.move("z [m]", "4.5")
    page.tab("Motion")
    page.choose("Motion", "circle")
    page.press("Compute")
    page.wait_text("#moment", "motion circle")
    page.pause()
    page.scrub("1.2")
    values, force = studio.session.values, page.text("#force-0")
    page.tab("View")
    page.press("Link to this state")
    page.page.wait_for_selector("#link a", timeout=PATIENCE)
    address = page.page.locator("#link a").get_attribute("href")
    assert address is not None
    studio.loop.post("other", lambda: studio.open("hexapod"))
    page.wait_text("#status", "hexapod is ready")
    page.page.goto(address, timeout=PATIENCE)
    page.page.wait_for_selector("#moment", timeout=PATIENCE)
    page.wait_text("#moment", "t = 1.2")
    page.wait_until_idle()
    assert studio.session.robot.name == "stewart-3-3"
    assert studio.session.robot.parameter("platform.mass") == 75.0
    assert studio.session.values == pytest.approx(values)
    assert page.text("#force-0") == force
    assert page.page.url.rstrip("/") == studio.url.rstrip("/"), "a reload must not go back to the link"


def test_a_state_is_read_strictly() -> None:
    good = {"robot": "delta", "values": [0.0, 0.1], "changes": ["platform.mass = 2"]}
    assert read_state(urlencode({"state": json.dumps(good)})) == good
    wrong: list[Any] = [{"robot": 3}, [1], {}]
    wrong += [
        {**good, key: value} for key, value in (("values", ["x"]), ("file", "a"), ("values", [float("nan")]), ("camera", [[1]]))
    ]
    bad_ones = ["", "state=", urlencode({"state": "[" * 5000}), urlencode({"state": " " * 20000 + json.dumps(good)})]
    for bad in (*bad_ones, *(urlencode({"state": json.dumps(one)}) for one in wrong)):
        assert read_state(bad) is None, bad


def test_a_link_opens_no_file(page: Page, studio: Studio, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes(fp.catalogue()["delta"].read_bytes())
    page.page.goto(f"{studio.url}/?{urlencode({'state': json.dumps({'robot': str(path)})})}", timeout=PATIENCE)
    page.wait_text("#status", "neither shown nor in the catalogue")
    assert studio.session.robot.name == "stewart-3-3"


def test_pages_of_other_addresses_change_nothing(studio: Studio) -> None:
    from types import SimpleNamespace

    from flexapod.views.studio.viser_private import _by_hand

    def headers(**given: str) -> Any:
        return SimpleNamespace(get_all=lambda name: [given[name]] if name in given else [])

    assert _by_hand(headers(**{"Sec-Fetch-Site": "none"}))
    assert not _by_hand(headers(**{"Sec-Fetch-Site": "cross-site"}))
    assert not _by_hand(headers(Upgrade="websocket"))
    assert parse_qs(link_query(studio))["state"]


def test_what_is_seen_is_recorded(browser: Any, page: Page, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Page(browser, studio, PICTURES, draw="always", width=760, height=420)
    drawn.tab("View")
    for seconds in LENGTHS:
        monkeypatch.setattr(video, "SECONDS", seconds)
        with drawn.page.expect_download(timeout=PATIENCE) as saved:
            drawn.press("Record video")
            drawn.wait_text("#status", f"recording {seconds:.1f} s")
            while not saved.is_done():  # a still view draws no picture, and a video has only those that are drawn
                studio.loop.post("turn", lambda: studio.moved(studio.session.home))
                drawn.page.wait_for_timeout(200)
        path = Path(saved.value.path())
        assert saved.value.suggested_filename.rsplit(".", 1)[1] in ("mp4", "webm")
        head = path.read_bytes()[:16]
        if head:
            break
    assert head.startswith(b"\x1a\x45\xdf\xa3") or b"ftyp" in head, "no video"
    drawn.close()


def test_a_motion_and_a_mode_are_saved_as_gif(browser: Any, page: Page, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    monkeypatch.setattr(video, "MOST", 3)
    monkeypatch.setattr(video, "WAITED", PATIENCE / 1000)
    monkeypatch.setattr(video, "WIDTH", 160)
    drawn = Page(browser, studio, PICTURES, draw="always", width=760, height=420)
    drawn.tab("View")
    drawn.press("Save GIF")
    drawn.wait_text("#status", "compute a motion or animate a mode first")

    def saved() -> Image.Image:
        with drawn.page.expect_download(timeout=PATIENCE) as found:
            drawn.press("Save GIF")
        assert found.value.suggested_filename.endswith(".gif")
        return Image.open(found.value.path())

    studio.loop.post("motion", lambda: studio.motion.ask("circle", 1.0, True, 0.0))
    assert studio.loop.wait_until_idle(PATIENCE / 1000)
    motion = saved()
    assert motion.n_frames == 3
    assert motion.width == 160
    first = np.asarray(motion.convert("RGB"), dtype=int)
    motion.seek(1)
    assert np.abs(np.asarray(motion.convert("RGB"), dtype=int) - first).max() > 30, "nothing moves"
    studio.loop.post("mode", studio.modes._toggle)
    assert until(lambda: studio.modes.playing and studio.modes.found is not None)
    assert saved().n_frames == 3
    studio.loop.post("still", studio.modes.pause)
    drawn.close()


def test_planar_robots_are_seen_in_plan_without_perspective(page: Page, studio: Studio) -> None:
    """So are their modes side by side; who chooses another projection keeps it."""

    def done(step: Any) -> None:
        studio.loop.post("step", step)
        assert studio.loop.wait_until_idle(PATIENCE / 1000)

    studio.scene.orthographic = None
    assert not studio.scene.parallel
    done(lambda: studio.open("planar-3-rrr"))
    page.wait_until_idle()
    assert studio.scene.parallel
    assert studio.view_panel.parallel.value
    client = next(iter(studio.server.get_clients().values()))
    assert client.camera.fov == pytest.approx(PARALLEL)
    studio.modes.row.value = True
    done(studio.modes._started)
    page.wait_until_idle()
    way = np.array(client.camera.position) - np.array(client.camera.look_at)
    assert way[2] == pytest.approx(np.linalg.norm(way), rel=IN_PLAN), "the row is not seen in plan"
    studio.modes.row.value = False
    done(studio.modes.pause)
    done(lambda: studio.view_panel.set_parallel(False))
    assert not studio.scene.parallel
    studio.scene.orthographic = None
    done(lambda: studio.open("stewart-3-3"))
    assert not studio.scene.parallel
    assert not studio.view_panel.parallel.value


def test_plots_are_saved_as_a_picture(studio: Studio) -> None:
    from flexapod.views.studio.recording import motion_of, record

    robot = fp.load("stewart-3-3")
    found = record(robot, motion_of(robot, "circle", start_at_home=True), "circle")
    assert plots_png(found, None, ["forces", "strokes"]).startswith(b"\x89PNG")


def test_the_camera_sees_the_whole_box() -> None:
    up = np.array([0.0, 0.0, 1.0])
    box = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-2.0, 2.0) for z in (0.0, 3.0)])
    for direction in (np.array([1.0, 2.0, 0.7]), np.array([0.001, 0.0, 1.0]), np.array([0.0, 1.0, 0.0])):
        for aspect in (0.5, 1.0, 2.5):
            position, middle = camera_place(box, up, direction, 0.8, aspect)
            d = (position - middle) / np.linalg.norm(position - middle)
            assert np.allclose(d, direction / np.linalg.norm(direction))
            right = np.cross(up, d) / np.linalg.norm(np.cross(up, d))
            above = np.cross(d, right)
            corners, t = box - position, np.tan(0.4)
            tall, wide = (corners @ above / -(corners @ d) / t, corners @ right / -(corners @ d) / (t * aspect))
            assert max(np.abs(tall).max(), np.abs(wide).max()) == pytest.approx(FILLED), "as near as it can be"
            filled = tall if np.abs(tall).max() > np.abs(wide).max() else wide
            assert filled.max() == pytest.approx(-filled.min()), "in the middle of the view"


def test_variants_are_drawn_beside_each_other_or_overlaid(studio: Studio) -> None:
    def done(step: Any) -> None:
        studio.loop.post("step", step)
        assert studio.loop.wait_until_idle(PATIENCE / 1000)

    done(lambda: studio.open("stewart-3-3"))
    done(studio.design._keep)
    assert studio.scene.kept is not None
    assert np.linalg.norm(studio.scene.kept.root.position) > 1.0
    done(lambda: studio.design._overlaid(True))
    assert np.linalg.norm(studio.scene.kept.root.position) == 0.0
    done(lambda: studio.design._overlaid(False))
    assert np.linalg.norm(studio.scene.kept.root.position) > 1.0
    done(studio.design._drop)
    assert studio.scene.kept is None
