"""What the command line says about places of motions and joints is what it does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.chosen_motion import followed_motion, place_text

Run = Callable[..., Any]

ROUNDING = 1e-12
"""Of positions of about a metre, [m] or [rad]."""

NAMES = [name for name in fp.motions.motion_names() if place_text(name)]
PRINTED = 1e-3
"""Relative: a table of four digits."""


@pytest.mark.parametrize("name", NAMES)
def test_motions_are_placed_as_said(run: Run, name: str) -> None:
    robot = fp.load("hexapod")
    text = run("motions", name).stdout
    assert place_text(name) in text
    p = followed_motion(robot, name, {}).position
    if "centres it" in text:
        np.testing.assert_allclose((p.min(axis=0) + p.max(axis=0)) / 2, robot.home.position, rtol=0, atol=ROUNDING)
    else:
        assert "starts it" in text
        np.testing.assert_allclose(p[0], robot.home.position, rtol=0, atol=ROUNDING)


def test_motions_with_a_place_of_their_own_keep_it(run: Run) -> None:
    axes = [f"{kind}-{axis}" for kind in ("cosine", "rotation") for axis in "xyz"]
    assert sorted(NAMES) == sorted([*axes, "circle", "line", "harmonic", "constant-acceleration"])
    assert "home" not in run("motions", "kim-circle").stdout
    moved = followed_motion(fp.load("hexapod"), "harmonic", {"center": (0.0, 0.0, 0.5, 0.0, 0.0, 0.0)})
    assert abs(moved.position[0, 2] - 0.5) < ROUNDING


def test_joints_are_printed(run: Run) -> None:
    """--joints shows the passive joints with their ranges; without it there are none."""
    given = ("kinematics", "hexapod", "--motion", "circle")
    plain, with_joints = run(*given).stdout, run(*given, "--joints").stdout
    assert "A.hip.1" not in plain
    robot = fp.load("hexapod")
    found = fp.inverse_kinematics(robot, followed_motion(robot, "circle", {}))
    for joint in ("A.hip.1", "F.hip.2"):
        row = next(line.split() for line in with_joints.splitlines() if line.startswith(joint))
        q = found.joint_position.sel(joint=joint).values
        assert [float(row[2]), float(row[3])] == pytest.approx([q.min(), q.max()], rel=PRINTED)
    assert "1.13.theta" in run("kinematics", "dualemps", "--joints").stdout
