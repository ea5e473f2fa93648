"""The gallery says what the robot files say: every page is what the tool would write now, and its picture shows that robot."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import flexapod as fp

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "docs" / "gallery"
AGAIN = "run: python tools/make_gallery.py"
PRINTED = {"gough-stewart": 1e-3, "gough-stewart-flexible": 0.1, "dualemps": 0.015}
"""Relative distance of computed from printed results: print has four digits; modes 8 to 10 of Long's plate are up to 10 % above
any converged plate; the fifth frequency of Briot's model is 1.1 % from ours, the others within 0.5 %."""


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_gallery", ROOT / "tools" / "make_gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_gallery"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", list(fp.catalogue()))
def test_pages_are_current(tool: ModuleType, name: str) -> None:
    path = GALLERY / f"{name}.md"
    assert path.is_file(), f"{name} has no page; {AGAIN}"
    assert path.read_text(encoding="utf-8") == tool.page(fp.load(name)), f"{path.name} is out of date; {AGAIN}"


@pytest.mark.parametrize("name", list(fp.catalogue()))
def test_pictures(tool: ModuleType, name: str) -> None:
    """The fingerprint in a page is that of its robot (checked above); a picture is small and shows the first leg."""
    import numpy as np
    from PIL import Image

    path = GALLERY / "pictures" / f"{name}.png"
    assert path.stat().st_size < 60_000
    with Image.open(path) as image:
        assert image.size == tool.SIZE
        pixels = np.asarray(image.convert("RGB"), dtype=int)
    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    first = (blue > red + 60) & (blue > green + 25) & (green > red)  # the first leg, in light and shade
    assert first.sum() > 300
    rows, columns = (np.flatnonzero((pixels.min(axis=2) < 245).any(axis=k)) for k in (1, 0))
    part = max(np.ptp(rows) / tool.SIZE[1], np.ptp(columns) / tool.SIZE[0])
    assert part > 0.9, "a thumbnail has room for the robot alone"
    assert abs(rows.min() + rows.max() - tool.SIZE[1]) < 8, "it is in the middle"
    assert abs(columns.min() + columns.max() - tool.SIZE[0]) < 8, "it is in the middle"


def test_overview_is_current(tool: ModuleType) -> None:
    assert (GALLERY / "index.md").read_text(encoding="utf-8") == tool.index(), AGAIN


def test_no_page_without_a_robot() -> None:
    assert {path.stem for path in GALLERY.glob("*.md")} == {"index", *fp.catalogue()}


def test_a_changed_robot_changes_its_page(tool: ModuleType) -> None:
    robot = fp.load("delta")
    heavy = robot.with_parameters({"platform.mass": 0.9})
    assert tool.page(heavy) != tool.page(robot)
    assert tool.fingerprint(heavy) == tool.fingerprint(robot)  # looks the same
    longer = robot.with_parameters({"legs.wrist.at": [0.0, 0.0, 0.85]})
    assert tool.fingerprint(longer) != tool.fingerprint(robot)


@pytest.mark.parametrize("name", list(PRINTED))
def test_published_results(tool: ModuleType, name: str) -> None:
    robot = fp.load(name)
    for entry in tool.PUBLISHED[name]:
        assert entry.ours(robot) == pytest.approx(float(entry.printed), rel=PRINTED[name]), entry.what


def test_every_published_result_has_a_bound(tool: ModuleType) -> None:
    assert {*PRINTED} == {*tool.PUBLISHED}
