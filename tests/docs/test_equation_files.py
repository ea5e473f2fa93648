"""The page of equations by file is what the paper tables say."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import make_equation_files  # noqa: E402


def test_the_page_is_current() -> None:
    text = make_equation_files.PAGE.read_text(encoding="utf-8")
    assert text == make_equation_files.page(), "run python tools/make_equation_files.py"


def test_files_of_names() -> None:
    assert make_equation_files.file_of("flexapod.motions.rotations.euler_rotation") == "motions/rotations.py"
    with pytest.raises(ValueError, match="no such module"):
        make_equation_files.file_of("flexapods.nothing")


def test_neighbours_are_a_range() -> None:
    assert make_equation_files.spans(["1", "2", "3", "7", "8"]) == "(1)-(3), (7), (8)"
