"""The picture of README and docs shows the studio as it is: its fingerprint is that of what the studio would show now."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AGAIN = "run: make pictures"


def test_the_picture_of_the_studio_is_current() -> None:
    from PIL import Image

    spec = importlib.util.spec_from_file_location("make_studio_picture", ROOT / "tools" / "make_studio_picture.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    note = tool.PICTURE.with_suffix(".txt")
    assert note.read_text(encoding="utf-8").strip() == tool.fingerprint(), f"docs/_static/studio.png is out of date; {AGAIN}"
    with Image.open(tool.PICTURE) as image:
        assert image.size == (1400, 900)
    assert tool.PICTURE.stat().st_size < 400_000


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/studio.md"])
def test_pages_open_with_a_picture(page: str) -> None:
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("!["))
    assert first < 12, "the picture comes first"
    place = lines[first].split("(")[1].split(")")[0]
    assert (ROOT / page).parent.joinpath(place).is_file()
