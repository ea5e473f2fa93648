"""The studio in a real browser: what people do with it, and what they see."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page import LATENCY, PATIENCE, Page
from studio_process import PICTURES, READY

import flexapod as fp
from flexapod.views.scene.colours import PUSH, rgb
from flexapod.views.studio.app import Studio

ROBOTS = [name for name in fp.catalogue() if name not in ("dualemps-8", "hexapod-floating")]
"""The catalogue, but for a robot that is another one with more beam elements, whose equations take long to compile, and one that
has no static forces (test_studio_robots.py opens it)."""
KINDS = ["five-bar", "gough-stewart-flexible"]
"""Robots of the usual run: below six DOF, flexible; the other tests have `stewart-3-3`, and `make test-full` takes all."""
BEATS = 200
"""Slider steps whose latency is measured."""

Tab = Callable[..., Page]
SAME = 1e-9
"""[m]: two poses of the same actuators, solved by Newton's method."""


@pytest.fixture
def tab(browser: Any, studio: Studio) -> Iterator[Tab]:
    """Open the studio in a tab; at the end nothing may have gone wrong in any of them."""
    opened: list[Page] = []

    def one(**options: Any) -> Page:
        opened.append(Page(browser, studio, PICTURES, **options))
        return opened[-1]

    yield one
    for page in opened:
        page.close()


@pytest.fixture(scope="module")
def drawn(browser: Any, studio: Studio) -> Iterator[Page]:
    """A tab with the drawing, for all tests of this file: loading it in software takes seconds."""
    page = Page(browser, studio, PICTURES)
    yield page
    page.close()


@pytest.fixture
def page(drawn: Page, fresh: Studio) -> Iterator[Page]:
    """The tab on a fresh studio; nothing may go wrong on it during a test."""
    if drawn.resting:
        drawn.open()
    drawn.tab("Pose")
    drawn.wait_until_idle()
    yield drawn
    assert not drawn.errors, "\n".join(drawn.errors)


@pytest.fixture
def fresh(studio: Studio) -> Studio:
    """The studio as it was at its start."""
    studio.loop.post("fresh", lambda: studio.open("stewart-3-3"))
    assert studio.loop.wait_until_idle(READY)
    return studio


def forces(page: Page, count: int) -> list[str]:
    return [page.text(f"#force-{k}") for k in range(count)]


def own_units(robot: fp.Robot) -> list[str]:
    """What follows each force of the table: its unit where forces and torques are in one column, whose head then has none."""
    units = {"m": " N", "rad": " N m"}
    return [units[unit] if len(set(robot.actuator_units)) > 1 else "" for unit in robot.actuator_units]


def not_blank(path: Path) -> None:
    """A picture of a robot has many colours between the panels."""
    from PIL import Image

    middle = np.asarray(Image.open(path).convert("RGB"))[150:700, 420:1040]
    assert len(np.unique(middle.reshape(-1, 3), axis=0)) > 200


@pytest.mark.parametrize("names", [KINDS, pytest.param(ROBOTS, marks=pytest.mark.full)], ids=["kinds", "all"])
def test_every_robot_is_loaded_and_moved(fresh: Studio, page: Page, names: list[str]) -> None:
    """From the list; then a slider moves it, and the forces are those of inverse dynamics, to the last digit shown."""
    for name in names:
        page.tab("Robot")
        if fresh.session.robot.name != name:
            page.choose("Catalogue", name)
        page.wait_text("#status", f"{name} is ready")
        page.tab("Pose")
        page.wait_until_idle()
        item = fresh.session.coordinates.items[0]
        page.move(f"{item.name} [{item.unit}]", f"{item.home + 0.1 * (item.high - item.home):.3g}")
        robot, state = fresh.session.robot, fresh.session.numbers.state
        wanted = fp.inverse_dynamics(robot, state).force.values
        shown = forces(page, len(wanted))
        assert shown == [f"{x + 0.0:.6g}{unit}" for x, unit in zip(wanted, own_units(robot), strict=True)], name
        assert fresh.session.values[0] != item.home, name
        not_blank(page.picture(f"robot-{name}"))


def test_out_of_reach_is_red_with_leg_and_reason(fresh: Studio, page: Page) -> None:
    page.write("x [m]", "2.6")
    page.wait_text("#verdict", "actuator B is above its stroke")
    assert page.page.locator("#verdict.bad").count() == 1
    page.wait_until_idle()
    path = page.picture("out-of-reach")
    from PIL import Image

    middle = np.asarray(Image.open(path).convert("RGB"))[150:800, 420:1040].astype(int)
    red = (middle[..., 0] > 150) & (middle[..., 1] < 90) & (middle[..., 2] < 90)
    assert red.sum() > 300, "the legs at fault are not red"
    page.press("Home")
    page.wait_text("#verdict", "within all limits")


FLAT = 0.95
"""Pixels inside of arrows, not at their smoothed edges, in their commonest colour; of shaded solids it has a sixteenth."""


def test_arrows_are_flat(fresh: Studio, page: Page) -> None:
    """Arrows have one colour without light or shade, that of the legend's pushing forces."""
    from PIL import Image
    from scipy.ndimage import binary_erosion

    page.wait_until_idle()
    middle = np.asarray(Image.open(page.picture("flat-arrows")).convert("RGB"))[150:800, 470:1440].astype(int)
    red, green, blue = np.moveaxis(middle, -1, 0)
    drawn = (blue > red + 20) & (red > green + 15) & (blue > 90)
    purple = middle[binary_erosion(drawn, np.ones((3, 3)), iterations=2)]
    colours, counts = np.unique(purple, axis=0, return_counts=True)
    assert len(purple) > 2000, "six arrows"
    assert counts.max() > FLAT * len(purple)
    assert np.abs(colours[counts.argmax()] - rgb(PUSH)).max() < 20, "the page's camera brightens colours a little"


UNCOVERED = 0.7
"""Part of a small platform that is seen through the thin lines of its handle."""


def test_the_handle_does_not_cover_a_small_platform(fresh: Studio, page: Page) -> None:
    from PIL import Image

    fresh.loop.post("open", lambda: fresh.open("delta"))
    page.wait_text("#status", "delta is ready")

    def platform(name: str) -> int:
        """Pixels in the dark blue of platforms, whatever its shade; legs are brighter or of another hue."""
        page.wait_until_idle()
        red, green, blue = np.moveaxis(np.asarray(Image.open(page.picture(name)).convert("RGB"))[:780, 470:].astype(int), -1, 0)
        return int(((blue - red > 25) & (blue - red < 90) & (green > red) & (green < blue) & (red > 15) & (blue < 150)).sum())

    covered = platform("handle")
    page.page.get_by_text("Handle to drag", exact=True).locator("xpath=following::input[@type='checkbox'][1]").click(
        timeout=PATIENCE
    )
    whole = platform("no-handle")
    page.page.get_by_text("Handle to drag", exact=True).locator("xpath=following::input[@type='checkbox'][1]").click(
        timeout=PATIENCE
    )
    page.wait_until_idle()
    assert whole > 300, "no platform is seen"
    assert UNCOVERED * whole < covered < whole


def test_parameter_undo_compare_save_and_load(fresh: Studio, page: Page, tmp_path: Path) -> None:
    first = forces(page, 6)
    page.wait_text("#frequencies", "Hz")
    page.wait_until_idle()
    slow = page.text("#frequency-0")
    page.tab("Design")
    page.press("Keep this variant")
    page.wait_text("#status", "kept")
    page.write("Value", "120")
    page.press("Apply")
    page.wait_text("#status", "platform.mass = 120")
    page.wait_until_idle()
    heavy = fp.load("stewart-3-3").with_parameters({"platform.mass": 120.0})
    wanted = [f"{x:.6g}" for x in fp.inverse_dynamics(heavy, fresh.session.numbers.state).force.values]
    assert forces(page, 6) == wanted
    assert page.text("#kept-force-0") == first[0]
    assert float(page.text("#frequency-0")) < float(slow), "a heavier platform vibrates slower"
    page.keep("compare")
    page.tab("Robot")
    with page.page.expect_download(timeout=PATIENCE) as saved:
        page.press("Save as robot file")
    path = tmp_path / saved.value.suggested_filename
    saved.value.save_as(path)
    assert fp.load(path).parameter("platform.mass") == 120.0
    page.tab("Design")
    page.press("Undo")
    page.wait_text("#status", "undone")
    page.wait_until_idle()
    assert forces(page, 6) == first
    page.keep("undone")
    page.press("Discard the kept variant")
    page.wait_text("#status", "one variant")
    page.tab("Robot")
    with page.page.expect_file_chooser(timeout=PATIENCE) as chooser:
        page.press("Open a robot file ...")
    chooser.value.set_files(path)
    page.wait_text("#status", "is ready")
    page.wait_until_idle()
    assert forces(page, 6) == wanted
    page.keep("opened-file")


def test_a_bad_file_is_explained_and_changes_nothing(fresh: Studio, tab: Tab, tmp_path: Path) -> None:
    page = tab(draw="never")
    path = tmp_path / "broken.yaml"
    path.write_text("name: <b>x</b>\nplatform: {mass: -1}\n")
    page.tab("Robot")
    with page.page.expect_file_chooser(timeout=PATIENCE) as chooser:
        page.press("Open a robot file ...")
    chooser.value.set_files(path)
    page.wait_text("#status", "broken.yaml")
    assert fresh.session.robot.name == "stewart-3-3"
    assert page.page.locator("#status b").count() == 0, "a file wrote into the page"


def test_motion_is_played_scrubbed_and_plotted(fresh: Studio, page: Page) -> None:
    page.tab("Motion")
    page.choose("Motion", "circle")
    page.press("Compute")
    page.wait_text("#moment", "motion circle")
    shown = page.text("#moment")
    page.page.wait_for_function("t => document.querySelector('#moment').innerText !== t", arg=shown, timeout=PATIENCE)  # it plays
    page.keep("motion")
    page.pause()
    page.scrub("1.2")
    found = fresh.motion.recording
    assert found is not None
    at = float(re.search(r"t = ([\d.]+) s", page.text("#moment")).group(1))  # type: ignore[union-attr]
    i = int(np.abs(found.time - at).argmin())
    assert forces(page, 6) == [f"{x:.6g}" for x in found.force[i]]
    state = fp.inverse_dynamics(fresh.session.robot, _motion_at(fresh, i))
    assert forces(page, 6) == [f"{x:.6g}" for x in state.force.values[0]]
    assert page.page.locator(".u-title").filter(has_text="actuator force [N]").count() == 1
    assert page.page.locator(".u-title").filter(has_text="actuator power [W]").count() == 1
    page.keep("scrubbed")


def _motion_at(studio: Studio, i: int) -> fp.Motion:
    """The sample by itself, as a motion of one moment."""
    from flexapod.views.studio.recording import motion_of

    m = motion_of(studio.session.robot, "circle")
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    return fp.Motion(time=m.time[i : i + 1], **{name: getattr(m, name)[i : i + 1] for name in names})


def test_modes_are_animated_with_frequency_and_damping(fresh: Studio, page: Page) -> None:
    page.tab("Robot")
    page.choose("Catalogue", "gough-stewart-flexible")
    page.wait_text("#status", "gough-stewart-flexible is ready")
    page.wait_until_idle()
    page.tab("Modes")
    found = fresh.modes.found
    assert found is not None
    page.choose("Mode", f"5: {found.frequency[4]:.5g} Hz")
    page.wait_text("#mode", "mode 5")
    wanted = fp.natural_frequencies(fresh.session.robot, fresh.session.numbers.state)
    assert f"{float(wanted.frequency[4]):.6g} Hz" in page.text("#mode")
    assert f"damping {100 * float(wanted.damping[4]):.4g} %" in page.text("#mode")
    page.wait_until_idle()
    one = page.picture("mode").read_bytes()
    assert any(page.picture("mode-later").read_bytes() != one for _ in range(30)), "nothing moves"
    page.press("Stop")
    page.tab("View")
    page.write("Deformation 10^", "1.6")
    page.wait_text("#factor", "deformation x ")
    page.wait_until_idle()
    page.keep("deformed")


def test_poses_are_listed_and_one_is_chosen(fresh: Studio, page: Page) -> None:
    page.tab("Pose")
    page.move("z [m]", "4.5")
    page.wait_until_idle()
    q = fresh.session.numbers.actuator.copy()
    page.tab("Space")
    page.press("All poses")
    page.wait_text("#space", "poses of these actuators")
    other = next(name for name, state in fresh.space.found.items() if state.position[2] < 0.0)
    page.choose("Go to pose", other)
    page.wait_until_idle()
    assert fresh.session.numbers.state.position[2] < 0.0, "below the base"
    assert np.allclose(fresh.session.numbers.actuator, q, rtol=0, atol=SAME), "the same lengths of the legs"
    page.press("Singular curves")
    page.wait_text("#space", "singular pose")
    page.keep("space")
    page.press("Remove drawings")
    page.wait_until_idle()
    assert not fresh.scene.space


def test_slice_reload_and_second_tab(fresh: Studio, page: Page, tab: Tab) -> None:
    first = page
    first.tab("View")
    first.press("Compute slice")
    first.wait_text("#slice", "condition number")
    first.wait_until_idle()
    first.keep("slice")
    first.tab("Pose")
    first.move("z [m]", "4.5")
    second = tab(width=1100)
    assert forces(second, 6) == forces(first, 6), "a second tab shows the same robot"
    second.move("z [m]", "4.1")
    wanted = [f"{x:.6g}" for x in fp.inverse_dynamics(fresh.session.robot, fresh.session.numbers.state).force.values]
    first.page.wait_for_function("t => document.querySelector('#force-0').innerText === t", arg=wanted[0], timeout=PATIENCE)
    assert forces(first, 6) == wanted
    second.keep("second-tab")
    first.open()
    assert forces(first, 6) == wanted, "a reload keeps the state"
    first.keep("reloaded")


@pytest.mark.full
@pytest.mark.parametrize(("name", "goal"), [("stewart-3-3", 30.0), ("gough-stewart-flexible", 60.0)])
def test_latency_is_reported(
    fresh: Studio, drawn: Page, tab: Tab, record_property: Callable[[str, object], None], name: str, goal: float
) -> None:
    """From a key on a slider to changed numbers in the page, drawing by software left out. Told, not judged: machines differ."""
    drawn.rest()
    page = tab(draw="never")
    fresh.loop.post("open", lambda: fresh.open(name))
    assert fresh.loop.wait_until_idle(READY)
    page.wait_until_idle()
    found = page.page.evaluate(LATENCY, [2, ["ArrowRight", "ArrowLeft"] * (BEATS // 2), 150])
    assert len(found) == BEATS
    line = f"{name}: slider to numbers {np.median(found):.0f} ms median, {max(found):.0f} ms worst of {BEATS}"
    line += f" (goals {goal:.0f} and 100 ms)"
    record_property("studio latency", line)
    PICTURES.mkdir(parents=True, exist_ok=True)
    (PICTURES / f"latency-{name}.txt").write_text(line + "\n")
    print(line)
