"""Joint positions from the place of a leg's end: closed forms against Newton's method, branches, turning points, lost shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from slides_and_balls import slides_and_balls

import flexapod as fp
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.verbs.sampling import random_states
from flexapod.robot.architecture import closes, reach, roots

COUNT = 60
AGREE = 1e-11
"""Of rates and accelerations of up to 100 rad/s^2; Newton's method stops where its last step squared is below rounding."""
ROTATIONS = 1e-14
"""Differences [rad] of angles of up to six half turns."""

REACHES = {
    "delta": "RUS", "4-ruu": "RUS", "3-puu": "PUS", "3-upu": "UPS", "five-bar": "RR", "planar-3-rrr": "RR", "planar-4-prr": "PR",
    "planar-3-rpr": "RP", "3-prs": "PR", "3-rps": "RP", "tricept": "UPS", "tripteron": "PRR", "agile-eye": "general",
    "3-rsr": "RSR",
}  # fmt: skip
"""Robot -> reach of its first leg."""


@pytest.mark.parametrize("kind", sorted(set(REACHES.values())))
def test_reaches_are_recognised(kind: str) -> None:
    for name in (name for name, own in REACHES.items() if own == kind):
        assert reach(fp.load(name).legs[0]) == kind, name


KINDS = [
    "crank and rod in space", "two cranks", "slide and rod", "cranks in a tilted plane", "crank and ball", "cranks on a slide",
    "slide and ball",
]  # fmt: skip


@pytest.mark.parametrize("where", KINDS)
def test_closed_forms_agree_with_newton(where: str, tmp_path: Path) -> None:
    names = dict(zip(KINDS, ("delta", "five-bar", "planar-4-prr", "planar-3-rrr", "3-rsr", "tripteron"), strict=False))
    robot = slides_and_balls(tmp_path) if where == "slide and ball" else fp.load(names[where])
    assert any(closes(leg, plan.rows) for leg, plan in zip(robot.legs, robot.plan.legs, strict=True))
    if where == "cranks in a tilted plane":
        robot = robot.with_parameters({"legs.1.elbow.at": [0.31, 0.02, 0.0]})
    states = random_states(robot, COUNT, seed=3)
    states["guess"] = np.tile(np.concatenate([leg.home for leg in robot.legs]), (COUNT, 1))
    found = []
    for closed_form in (True, False):
        bound = kernel(robot, "inverse_kinematics", detail="bodies", closed_form=closed_form)
        batch = bound.batch({i.name: states[i.name] for i in bound.signature.inputs})
        assert not batch.status.any()
        found.append(batch.outputs)
    for key, values in found[0].items():
        assert np.abs(values - found[1][key]).max(initial=0.0) < AGREE, key


def test_angles_are_those_nearest_to_the_guess() -> None:
    robot = fp.load("five-bar")
    states = random_states(robot, 1, seed=3)
    bound = kernel(robot, "inverse_kinematics", detail="joints")
    home = np.concatenate([leg.home for leg in robot.legs])
    rotated = home + 2.0 * np.pi * np.arange(len(home))
    near, far = (
        bound.batch({i.name: g[None] if i.name == "guess" else states[i.name] for i in bound.signature.inputs}).outputs
        for g in (home, rotated)
    )
    assert np.allclose(far["joint_position"] - near["joint_position"], rotated - home, rtol=0, atol=ROTATIONS)


def test_forces_on_the_other_branch(tmp_path: Path) -> None:
    """Elbows inwards: the same triangle with its other root."""
    robot = fp.load("delta")
    text = fp.catalogue()["delta"].read_text(encoding="utf-8")
    (tmp_path / "delta.yaml").write_text(text.replace("branch: -1", "branch: 1"), encoding="utf-8")
    other = fp.load(tmp_path / "delta.yaml")
    assert [roots(leg)[0] for leg in other.legs] == [-roots(leg)[0] for leg in robot.legs]
    given = {**random_states(other, 8, seed=1), "wrench": np.zeros((8, 6))}
    given["guess"] = np.tile(np.concatenate([leg.home for leg in other.legs]), (8, 1))
    forces = []
    for quantity in ("link_inverse_dynamics", "newton_euler"):
        bound = kernel(other, quantity)
        batch = bound.batch({i.name: given[i.name] for i in bound.signature.inputs})
        assert not batch.status.any()
        forces.append(batch.outputs["force"])
    assert np.abs(forces[0] - forces[1]).max() < AGREE * np.abs(forces[1]).max()


def test_rows_outside_the_plane_are_left_to_newton() -> None:
    """A leg whose plan solves a rotation, or a point out of its plane, is not closed by the triangle in its plane."""
    robot = fp.load("3-rps")
    assert reach(robot.legs[1]) == "RP"
    assert not closes(robot.legs[1], robot.plan.legs[1].rows)
    assert all(choice.closed for choice in robot.link_plan.legs)
