"""Orientation workspace of the report: how far a platform tilts, against a search one pose at a time."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.reports.report_space import DIRECTIONS, STEP_TILT, orientation_blocks, reach_about, rotations, tilt_reach


def valid(robot: fp.Robot, degrees: float, direction: np.ndarray) -> bool:
    R = fp.motions.rotvec_rotation(np.radians(degrees) * direction) @ robot.home.rotation
    at = fp.State(position=robot.home.position, rotation=R)
    return bool(fp.check_pose(robot, at).margins.valid) and float(fp.singularities(robot, at, on_error="mask").side) == 1.0


def test_tilt_is_within_limits_and_no_further() -> None:
    robot = fp.load("stewart-3-3")
    tilts = tilt_reach(robot)
    for k in (0, 7, 20):
        angle = 2 * np.pi * k / DIRECTIONS
        direction = np.array([np.cos(angle), np.sin(angle), 0.0])
        assert valid(robot, tilts[k], direction)
        assert not valid(robot, tilts[k] + STEP_TILT, direction)
    low, high = reach_about(robot, "x")
    assert high == tilts[0]
    assert low == tilts[DIRECTIONS // 2]


def test_rotation_ends_at_the_first_singular_pose(run: Any, tmp_path: Path) -> None:
    """Such pairs of joints: a quarter turn about the vertical is singular (Fichter 1986), whatever the limits."""
    file = tmp_path / "hexapod.yaml"
    run("new", str(file), "--kind", "6-ups")
    file.write_text(re.sub(r"\n  stroke: [0-9.]+", "\n  stroke: 2", file.read_text()))
    assert reach_about(fp.load(file), "z") == (90.0 - STEP_TILT, 90.0 - STEP_TILT)


@pytest.mark.parametrize(
    ("name", "free"),
    [("stewart-3-3", [True] * 3), ("delta", [False] * 3), ("planar-3-rrr", [False, False, True]), ("agile-eye", [True] * 3)],
)
def test_rotations_that_a_robot_has(name: str, free: list[bool]) -> None:
    assert rotations(fp.load(name)) == free


def test_the_picture_of_orientations_is_in_degrees() -> None:
    """Reasons have their heading in the legend; what else is drawn does not come under it."""
    figure = orientation_blocks(fp.load("stewart-3-3"))[-1]
    assert figure.layout.xaxis.title.text == "rx [deg]"
    assert figure.layout.yaxis.title.text == "ry [deg]"
    assert 40 < max(figure.data[0].x) < 120
    reasons = [trace for trace in figure.data if trace.name]
    assert reasons
    assert {trace.legendgrouptitle.text for trace in reasons} == {"not reached because"}
    assert figure.layout.legend.title.text is None


def test_a_robot_without_rotations_says_so() -> None:
    assert "cannot be rotated" in str(orientation_blocks(fp.load("delta"))[0])
