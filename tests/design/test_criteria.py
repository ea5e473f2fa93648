"""Criteria of space and of robots with limited mobility, against the verbs on robots built for each design."""

from typing import Any

import numpy as np
import pytest

import flexapod as fp
from support.kinds import document_of, robot_of

SAME = 1e-9
"""Relative: the same formulas in another order."""
SAMPLED = 1e-4
"""Of the characteristic length: points along legs are a 200th of a leg apart; found 7e-7."""


def test_volume_and_leg_distance() -> None:
    robot = fp.load("hexapod")
    low, high = robot.home.position - 0.1, robot.home.position + 0.1
    box = {axis: (float(low[k]), float(high[k]), 7) for k, axis in enumerate("xyz")}
    plate = fp.Variable(0.9, 1.1, paths="legs.*.ball.on", how="factor")
    criteria = [{"name": "workspace_volume", "box": box}, "leg_distance"]
    found = fp.study(robot, {"plate": plate}, criteria, plan="grid", count=3)
    assert found.units["workspace_volume"] == "m^3"
    middles = {axis: a + (np.arange(n) + 0.5) * (b - a) / n for axis, (a, b, n) in box.items()}
    for k in range(3):
        valid = fp.workspace(found.robot(k), middles).valid
        assert 0 < int(valid.sum()) < valid.size
        assert float(found.rows.workspace_volume[k]) == pytest.approx(int(valid.sum()) * (0.2 / 7) ** 3, rel=SAME)


def test_distance_of_legs_by_brute_force() -> None:
    """Points along two legs of the rails' robot, as fine as it takes."""
    robot = fp.load("bench-6ups")
    found = float(fp.study(robot, {"platform.mass": (1.0, 2.0)}, "leg_distance", plan="grid", count=2).rows.leg_distance[0])
    ends = [(np.array([robot.values[f"legs.{leg.name}.U.{c}"] for c in "xyz"]),
             robot.home.position + robot.home.rotation @ [robot.values[f"legs.{leg.name}.S.{c}"] for c in "xyz"])
            for leg in robot.legs]  # fmt: skip
    s = np.linspace(0.0, 1.0, 201)[:, None]
    lines = [a + s * (b - a) for a, b in ends]
    gaps = [
        np.linalg.norm(lines[i][:, None] - lines[k][None], axis=2).min() for i in range(6) for k in range(i)
        if min(np.linalg.norm(ends[i][e] - ends[k][e]) for e in (0, 1)) > 1e-6
    ]  # fmt: skip
    assert found == pytest.approx(min(gaps), abs=SAMPLED * robot.characteristic_length)


def test_joint_angle() -> None:
    robot = fp.load("hexapod")
    at = fp.State(position=robot.home.position + np.array([0.02, 0.01, 0.03]))
    found = fp.study(robot, {"platform.mass": (3, 5)}, ["joint_angle", "worst_condition"], at=at, plan="grid", count=2).rows
    space = fp.workspace(robot, {axis: [float(at.position[k])] for k, axis in enumerate("xyz")})
    assert found.joint_angle.values == pytest.approx(float(space.deflection.max()), rel=SAME)
    assert found.worst_condition.values == pytest.approx(float(space.condition_number.max()), rel=SAME)


@pytest.mark.full
def test_limited_mobility() -> None:
    robot, k = fp.load("delta"), 1e5
    at = fp.State(position=robot.home.position + np.array([0.02, 0.01, 0.03]))
    springs = [{"name": name, "stiffness": k} for name in ("stiffness", "lowest_frequency")]
    wanted = ["peak_force", "worst_condition", "singularity_distance", *springs]
    found = fp.study(robot, {"platform.mass": (1, 2)}, wanted, at=at, plan="grid", count=2)
    rows, built = found.rows.isel(design=1), found.robot(1)
    near = fp.conditioning(built, at)
    small = {"actuators": np.full(3, k), "prestress": False}
    expected = {
        "peak_force": np.abs(fp.inverse_dynamics(built, at).force.values).max(),
        "worst_condition": float(near.condition_number), "singularity_distance": float(near.type_2),
        "stiffness": 1 / np.linalg.eigvalsh(fp.cartesian_stiffness(built, at, **small).compliance.values[:3, :3]).max(),
        "lowest_frequency": fp.natural_frequencies(built, at, **small).frequency.values.min(),
    }  # fmt: skip
    for name, value in expected.items():
        assert float(rows[name]) == pytest.approx(value, rel=SAME), name


def test_springs_count_in_the_stiffness_of_a_robot_with_six_degrees_of_freedom() -> None:
    """A strut beside six legs: criteria by verbs where the platform has no constraint, against the verbs on each robot."""
    document, k, load = document_of("bench-6ups"), 1e4, [3.0, -2.0, 5.0, 0.2, 0.1, -0.3]
    document["forces"] = {"strut": {"from": "base", "at": [0.1, 0.05, 0], "to": "platform", "on": [0.02, 0, 0], "stiffness": 5e3}}
    robot = robot_of(document)
    at = fp.State(position=robot.home.position + np.array([[0.02, 0.01, 0.03], [-0.01, 0.02, 0.0]]))
    wanted: list[Any] = ["worst_condition", *({"name": name, "stiffness": k} for name in ("stiffness", "lowest_frequency"))]
    found = fp.study(
        robot, {"forces.strut.stiffness": (2e3, 8e3)}, [*wanted, {"name": "deflection", "stiffness": k, "load": load}], at=at,
        plan="grid", count=2, progress=False,
    )  # fmt: skip
    for design in range(2):
        rows, built = found.rows.isel(design=design), found.robot(design)
        small = {"actuators": np.full(6, k), "prestress": False}
        C = fp.cartesian_stiffness(built, at, **small).compliance.values
        expected = {
            "worst_condition": fp.conditioning(built, at).condition_number.values.max(),
            "stiffness": 1 / np.linalg.eigvalsh(C[:, :3, :3]).max(),
            "deflection": np.linalg.norm((C @ load)[:, :3], axis=1).max(),
            "lowest_frequency": fp.natural_frequencies(built, at, **small).frequency.values.min(),
        }  # fmt: skip
        for name, value in expected.items():
            assert float(rows[name]) == pytest.approx(value, rel=SAME), name


def test_poses_that_a_robot_cannot_follow_are_named() -> None:
    robot = fp.load("delta")
    tilted = fp.State(position=robot.home.position, rotation=np.array([[1, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]]))
    with pytest.raises(fp.InputError, match=r"none of .* designs tried is valid"):
        fp.study(robot, {"platform.mass": (1, 2)}, "peak_force", at=tilted, count=2)
