"""Options of `--motion` that do not exist are refused by name, also beside a file."""

from pathlib import Path

import pytest

import flexapod as fp
from flexapod.views.chosen_motion import followed_motion


@pytest.mark.parametrize(
    ("name", "option", "text"),
    [
        ("visit.csv", "radius", "there is no option 'radius'; a motion file takes kind, derivatives, columns"),
        ("visit.csv", "delimitter", "there is no option 'delimitter'; did you mean 'delimiter'"),
        ("visit.csv", "path", "there is no option 'path'"),
        ("circle", "name", "circle: there is no option 'name'; --motion names the motion"),
    ],
)
def test_an_option_that_does_not_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, option: str, text: str
) -> None:
    """Before, they were reported as faults of flexapod."""
    monkeypatch.chdir(tmp_path)
    fp.motions.motion_to_file(fp.motions.staicu_motion("vertical-z"), "visit.csv")
    with pytest.raises(fp.InputError, match=text):
        followed_motion(fp.load("stewart-3-3"), name, {option: 1})
