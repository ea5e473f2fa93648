"""Widgets that no other test of the page uses, as a person does: what they do is what the verbs say."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page import PATIENCE, Page
from studio_process import PICTURES, READY

import flexapod as fp
from flexapod.views.studio.app import Studio
from support.patience import until

WRITTEN = 1e-6
"""Relative: the file has ten digits."""
TRACKING = 0.05
"""[m]: a PD controller follows."""
SAME = 1e-9
"""Of the largest reaction: the same verb."""


@pytest.fixture(scope="module")
def page(browser: Any, studio: Studio) -> Iterator[Page]:
    """A tab without the drawing, which takes the time of a machine without a graphics card."""
    opened = Page(browser, studio, PICTURES, draw="never")
    opened.wait_until_idle()
    yield opened
    opened.close()


def compute(page: Page, studio: Studio, button: str = "Compute") -> None:
    page.tab("Motion")
    page.press(button)
    page.wait_text("#moment", "t = ")
    studio.loop.post("hold", studio.motion.pause)
    page.wait_until_idle()


def test_a_motion_is_saved_as_a_table(studio: Studio, page: Page, tmp_path: Path) -> None:
    """Time, forces and the rest of every sample, as the plots show them."""
    compute(page, studio)
    with page.page.expect_download(timeout=PATIENCE) as saved:
        page.press("Save CSV")
    path = tmp_path / "motion.csv"
    saved.value.save_as(path)
    head, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    found = studio.motion.recording
    assert found is not None
    assert len(rows) == len(found.time)
    table = np.array(rows, dtype=float)
    columns = [k for k, name in enumerate(head) if name.startswith("force")]
    np.testing.assert_allclose(table[:, columns], found.force, rtol=WRITTEN)


def test_a_controller_is_simulated_with_its_tracking_error(studio: Studio, page: Page) -> None:
    page.tab("Motion")
    page.page.get_by_text("Simulation", exact=True).click(timeout=PATIENCE)
    page.choose("Controller", "PD")
    page.press("Simulate")
    page.wait_text("#tracking", "tracking error")
    studio.loop.post("hold", studio.motion.pause)
    page.wait_until_idle()
    found = studio.motion.recording
    assert found is not None
    assert np.isfinite(found.tracking).all()
    assert 0.0 < found.tracking.max() < TRACKING


def test_a_force_on_the_platform_changes_the_forces(studio: Studio, page: Page) -> None:
    page.tab("Pose")
    page.press("Home")
    page.wait_until_idle()
    page.page.get_by_label("Force on the platform").check(timeout=PATIENCE)
    page.wait_until_idle()
    before = page.text("#force-0")
    boxes = page.page.locator("xpath=//*[text()='Force [N]']/following::input[not(@type='hidden')]")
    for k, value in enumerate(("0", "0", "-500")):
        boxes.nth(k).fill(value, timeout=PATIENCE)
        boxes.nth(k).press("Tab")
        page.wait_until_idle()
    page.page.wait_for_function("t => document.querySelector('#force-0').innerText !== t", arg=before, timeout=PATIENCE)
    robot, state = studio.session.robot, studio.session.numbers.state
    wanted = fp.inverse_dynamics(robot, state, wrench=[0.0, 0.0, -500.0, 0.0, 0.0, 0.0]).force.values
    page.wait_until_idle()
    assert [page.text(f"#force-{k}") for k in range(6)] == [f"{x + 0.0:.6g}" for x in wanted]
    page.page.get_by_label("Force on the platform").uncheck(timeout=PATIENCE)
    page.wait_until_idle()
    assert page.text("#force-0") == before


def test_reactions_are_drawn_on_request(studio: Studio, page: Page) -> None:
    page.tab("View")
    assert studio.session.numbers.reaction == {}
    page.page.get_by_label("Joint reactions").check(timeout=PATIENCE)
    page.wait_until_idle()
    wanted = fp.inverse_dynamics(studio.session.robot, studio.session.numbers.state, reactions=True).reaction_force
    shown = studio.session.numbers.reaction
    assert set(shown) == set(wanted.joint.values)
    for name, force in shown.items():
        np.testing.assert_allclose(force, wanted.sel(joint=name).values, rtol=0, atol=SAME * float(np.abs(wanted).max()))
    page.page.get_by_label("Joint reactions").uncheck(timeout=PATIENCE)
    page.wait_until_idle()
    assert studio.session.numbers.reaction == {}


def test_modes_are_shown_side_by_side(studio: Studio, page: Page) -> None:
    page.tab("Modes")
    page.page.get_by_label("Side by side").check(timeout=PATIENCE)
    page.press("Animate")
    page.page.get_by_role("button", name="Stop", exact=True).wait_for(timeout=PATIENCE)
    assert until(lambda: len(studio.scene.row) > 1)
    assert until(lambda: not studio.scene.view.root.visible)
    page.press("Stop")
    page.page.get_by_role("button", name="Animate", exact=True).wait_for(timeout=PATIENCE)
    page.page.get_by_label("Side by side").uncheck(timeout=PATIENCE)
    page.wait_until_idle()
    assert studio.scene.row == []
    assert studio.scene.view.root.visible


def test_colours_of_displacement_have_a_legend_whatever_drawer_is_open(studio: Studio, page: Page) -> None:
    legend = page.page.locator("#fp-legend")
    assert not legend.is_visible()
    studio.loop.post("robot", lambda: studio.open("gough-stewart-flexible"))
    assert studio.loop.wait_until_idle(READY)
    page.wait_text("#status", "gough-stewart-flexible is ready")
    for tab in ("Pose", "Design", "Modes", "View"):
        page.tab(tab)
        page.wait_until_idle()
        assert legend.is_visible(), tab
        assert f"{1e3 * studio.scene.shown.largest:.3g} mm" in legend.inner_text()
        assert f"drawn x {studio.scene.shown.deformation:.3g}" in legend.inner_text()
    page.page.get_by_role("tab", name="View", exact=True).click(timeout=PATIENCE)  # folded
    page.wait_until_idle()
    box = legend.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= page.page.viewport_size["width"]
    studio.loop.post("robot", lambda: studio.open("stewart-3-3"))
    assert studio.loop.wait_until_idle(READY)
    page.wait_text("#status", "stewart-3-3 is ready")
    page.wait_until_idle()
    assert not legend.is_visible(), "a rigid robot has no colours of displacement"
