"""Things that misled people in a real browser, each as they met it."""

import threading
from typing import Any

import numpy as np
import pytest
import slow_task
from page import PATIENCE, Page

from flexapod.views.studio import panel_modes, prepare
from flexapod.views.studio.app import Studio
from flexapod.views.studio.exaggeration import MUCH
from flexapod.views.studio.recording import largest_displacement

HELD = """() => new Promise((resolve) => {
  let left = 20;
  const next = () => (left-- ? requestAnimationFrame(next) : resolve());
  next();
})"""
"""As many frames of the page as a key is held down: a camera that has the key moves in each of them."""
SAME = 1e-9
"""[m]: a camera or a ghost that was not moved."""


def compute(page: Page, motion: str, place: str) -> None:
    page.tab("Motion")
    page.choose("Motion", motion)
    page.choose("Placed", place)
    page.press("Compute")
    page.wait_text("#recording", f"motion {motion}")
    page.pause()


def test_a_motion_beyond_limits_is_red_with_its_reason(page: Page, studio: Studio) -> None:
    compute(page, "kim-constant-acceleration", "at the paper's coordinates")
    assert "beyond limits at 301 of 301 samples" in page.text("#beyond")
    assert "starts 3.53 m from home" in page.text("#recording")
    assert page.page.locator("#verdict.bad").count() == 1
    assert "beyond its stroke by" in page.text("#verdict")
    assert float(page.text("#condition")) > 1
    assert page.page.locator("#position-0.red").count() == 1
    assert page.page.locator("#timeline .red-span").count() == 1
    page.press("Jump to worst")
    found = studio.motion.recording
    assert found is not None
    page.wait_text("#moment", f"t = {found.time[found.limits.worst]:.3f}")
    page.wait_text("#fp-strip", "limit exceeded")
    page.keep("mended-limits")


def test_motions_of_papers_start_at_home_unless_asked(page: Page, studio: Studio) -> None:
    compute(page, "kim-constant-acceleration", "relative to home")
    assert "starts at home" in page.text("#recording")
    found = studio.motion.recording
    assert found is not None
    assert np.allclose(found.position[0], studio.session.robot.home.position)
    assert page.page.locator("#timeline .red-span").count() == 0
    assert page.page.locator("#beyond").count() == 0


def camera(studio: Studio) -> list[float]:
    client = next(iter(studio.server.get_clients().values()))
    return [*client.camera.position, *client.camera.look_at]


def test_arrow_keys_on_a_slider_do_not_turn_the_camera(page: Page, studio: Studio) -> None:
    before, value = camera(studio), studio.session.values[0]
    page.page.locator("xpath=//*[text()='x [m]']/following::*[@role='slider'][1]").focus()
    page.page.keyboard.down("ArrowRight")
    page.page.evaluate(HELD)
    page.page.keyboard.up("ArrowRight")
    page.page.evaluate(HELD)
    page.wait_until_idle()
    assert studio.session.values[0] > value, "the slider has the key"
    assert np.allclose(camera(studio), before, rtol=0, atol=SAME), "the camera has it too"


def test_frequencies_of_the_former_robot_do_not_stay(page: Page, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    page.wait_text("#frequencies-of", "stewart-3-3")
    hold, usual = threading.Event(), panel_modes.modes_of

    def slow(*args: Any) -> Any:
        hold.wait(PATIENCE / 1000)
        return usual(*args)

    monkeypatch.setattr(panel_modes, "modes_of", slow)
    page.tab("Robot")
    page.choose("Catalogue", "hexapod")
    page.wait_text("#status", "hexapod is ready")
    assert page.text("#frequencies") == "computing the frequencies of hexapod ..."
    assert page.page.locator("#frequency-0").count() == 0
    assert "Hz" not in page.text("#fp-strip")
    hold.set()
    page.wait_text("#frequencies-of", "hexapod, as in its file")
    page.wait_text("#fp-strip", "Hz")


def test_opening_a_robot_blocks_nothing_and_can_be_cancelled(page: Page, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "prepared", lambda robot: False)
    monkeypatch.setattr(prepare, "prepare", slow_task.wait)
    page.tab("Robot")
    page.choose("Catalogue", "hexapod")
    page.wait_text("#status", "opening hexapod: 2 %")
    page.tab("Pose")
    before = page.text("#numbers")
    page.write("x [m]", "0.2")
    page.page.wait_for_function("t => document.querySelector('#numbers').innerText !== t", arg=before, timeout=PATIENCE)
    page.wait_text("#status", "opening hexapod: ")
    page.press("Cancel")
    page.wait_text("#status", "cancelled")
    page.wait_until_idle()
    for thread in studio.jobs._threads:
        thread.join(PATIENCE / 1000)
    assert studio.jobs.worker.pid is None, "it goes on computing"
    assert studio.session.robot.name == "stewart-3-3"
    assert studio.robot_panel.choice.value == "stewart-3-3"


def test_the_kept_variant_moves_in_step(page: Page, studio: Studio) -> None:
    page.tab("Design")
    page.press("Keep this variant")
    page.wait_text("#status", "kept")
    page.write("Value", "120")
    page.press("Apply")
    page.wait_text("#status", "platform.mass = 120")
    compute(page, "circle", "relative to home")
    kept, found = studio.motion.timeline.kept, studio.motion.recording
    assert kept is not None
    assert found is not None
    page.scrub("1.2")
    ghost = studio.scene.kept
    assert ghost is not None
    assert ghost.last is not None
    i = kept.index(float(studio.motion.timeline.scrub.value))
    assert np.allclose(ghost.last.corners.mean(axis=0), kept.position[i], rtol=0, atol=SAME), "the ghost stays behind"
    assert page.text("#kept-force-0") == f"{kept.force[i, 0]:.6g}"


def test_deformation_is_reported_and_its_factor_fits_the_robot(page: Page, studio: Studio) -> None:
    page.tab("Robot")
    page.choose("Catalogue", "gough-stewart-flexible")
    page.wait_text("#status", "gough-stewart-flexible is ready")
    page.tab("View")
    page.wait_until_idle()
    factor = studio.scene.shown.deformation
    assert factor >= 1
    assert page.text("#factor").startswith(f"deformation x {factor:g}, largest ")
    page.write("Deformation 10^", "5")
    page.wait_text("#status", "with x 1e+05 the drawing does not hold together")
    page.wait_until_idle()
    view, elastic = studio.scene.view, studio.session.numbers.elastic
    assert view is not None
    drawn = studio.scene.shown.deformation * float(largest_displacement(studio.session.robot, elastic[None])[0])
    assert drawn <= MUCH * view.size, "the plate explodes"


def test_values_beyond_a_slider_are_reported_and_boxes_show_all_digits(page: Page, studio: Studio) -> None:
    page.write("x [m]", "99")
    page.wait_text("#status", "x = 99 m is beyond its slider")
    page.wait_until_idle()
    item = studio.session.coordinates.items[0]
    assert studio.session.values[0] == item.high
    box = page.field("z [m]")
    assert float(box.input_value()) == pytest.approx(4.3301)
    assert box.evaluate("e => e.scrollWidth <= e.clientWidth"), "the box cuts digits"
    assert box.evaluate("e => getComputedStyle(e).letterSpacing") == "normal"


def test_an_unstable_mode_is_explained(page: Page, studio: Studio) -> None:
    page.tab("Robot")
    page.choose("Catalogue", "gough-stewart-flexible")
    page.wait_text("#status", "gough-stewart-flexible is ready")
    page.wait_text("#frequencies-of", "gough-stewart-flexible")
    assert "A negative number is no frequency" in page.text("#unstable")


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1400, 900), (1920, 1080)])
def test_the_strip_is_there_at_every_size(page: Page, studio: Studio, width: int, height: int) -> None:
    page.page.set_viewport_size({"width": width, "height": height})
    page.wait_until_idle()
    box = page.page.locator("#fp-strip").bounding_box()
    assert box is not None
    assert (box["x"], box["width"], box["y"] + box["height"]) == (0, width, height)
    assert page.page.evaluate("() => document.querySelector('#fp-strip').scrollWidth") <= width
    for text in ("within all limits", "condition", "singularity distance", "stewart-3-3"):
        assert text in page.text("#fp-strip")
    root = page.page.locator("#root").bounding_box()
    assert root is not None
    assert root["y"] + root["height"] <= box["y"] + 1, "the strip covers the panels"
    assert page.page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
