"""Laws of every robot: all loops close in position, rate and acceleration; bodies move as the joints say.

The loops are evaluated from the joint coordinates alone, with matrix functions of time (support/jets.py): neither the closing
rows nor a velocity formula of the package is used.
"""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from support.jets import constant, half_on_link, link_jets, open_gaps, platform_jet
from support.robots import FILES, possible_motion, robot_named, run, split
from support.usual_run import counted

CLOSED = 1e-12
"""Of the largest entry of the same quantity: a few hundred roundings of sums over a chain of at most a dozen frames."""

SAMPLES = counted(60, 200)


@pytest.fixture(params=FILES, scope="module")
def moved(request: pytest.FixtureRequest):
    """A robot, motions that it can follow, joint coordinates with rates and accelerations."""
    robot = robot_named(request.param)
    motion = possible_motion(robot, SAMPLES, seed=1)
    outputs, status = run(fp.kernel(robot, "inverse_kinematics", detail="joints"), motion)
    assert np.all(status == 0)
    joints = [split(robot, outputs[f"joint_{name}"]) for name in ("position", "velocity", "acceleration")]
    return robot, motion, outputs, joints


def test_loops_close_to_second_order(moved) -> None:
    robot, motion, _, (q, qd, qdd) = moved
    platform = platform_jet(motion)
    worst = np.zeros(3)
    for i, leg in enumerate(robot.legs):
        end = half_on_link(leg, link_jets(leg, q[i], qd[i], qdd[i]), SAMPLES)
        half = platform @ constant(leg.closing.on_platform, SAMPLES)
        sizes = [np.abs(m[:, :3]).max() for m in end.parts]
        gaps = [np.abs(g).max() for g in open_gaps(leg.closing, end, half)]
        worst = np.maximum(worst, np.array(gaps) / np.maximum(sizes, 1.0))
    assert np.all(worst < CLOSED), worst


def test_rows_left_over_vanish_on_motions_the_robot_can_follow(moved) -> None:
    robot, _, outputs, _ = moved
    if "constraint" not in outputs:
        pytest.skip("no row is left over")
    for name, size in (("constraint", robot.size), ("constraint_rate", 1.0), ("constraint_acceleration", 1.0)):
        scale = max(size, np.abs(outputs.get(name.replace("constraint_", "joint_"), 1.0)).max())
        second = np.abs(outputs["joint_velocity"]).max() ** 2 if name.endswith("acceleration") else 0.0
        assert np.abs(outputs[name]).max() < CLOSED * max(scale, second, np.abs(outputs["joint_acceleration"]).max())


def test_bodies_move_as_the_joints_say(moved) -> None:
    robot, motion, _, (q, qd, qdd) = moved
    outputs, status = run(fp.kernel(robot, "inverse_kinematics", detail="bodies"), motion)
    assert np.all(status == 0)
    expected = {"platform": platform_jet(motion)}
    for i, leg in enumerate(robot.legs):
        frames = link_jets(leg, q[i], qd[i], qdd[i])
        for link, frame in zip(leg.links, frames, strict=True):
            if link.body is not None:
                axes = np.eye(4)
                axes[:3, :3] = link.body.body_axes
                still = np.zeros((SAMPLES, 4, 4))
                expected[f"{leg.name}.{link.body.name}"] = frame @ type(frame)(np.tile(axes, (SAMPLES, 1, 1)), still, still)
    assert list(expected) == list(robot.bodies_by_name)
    jets = list(expected.values())
    wanted = {
        "position": np.stack([j.x[:, :3, 3] for j in jets], 1),
        "rotation": np.stack([j.x[:, :3, :3] for j in jets], 1),
        "velocity": np.stack([j.xd[:, :3, 3] for j in jets], 1),
        "acceleration": np.stack([j.xdd[:, :3, 3] for j in jets], 1),
        "angular_velocity": np.stack([j.angular[0] for j in jets], 1),
        "angular_acceleration": np.stack([j.angular[1] for j in jets], 1),
    }
    for name, values in wanted.items():
        error = np.abs(outputs[f"body_{name}"] - values).max()
        assert error < CLOSED * max(1.0, np.abs(values).max()), name


def test_actuators_are_the_driven_joints(moved) -> None:
    robot, _, outputs, _ = moved
    driven = [leg.links[i].actuated for leg in robot.legs for i in leg.moving]
    for name in ("position", "velocity", "acceleration"):
        np.testing.assert_array_equal(outputs[f"actuator_{name}"], outputs[f"joint_{name}"][:, driven])
    kinds = [leg.links[i].kind for leg in robot.legs for i in leg.moving]
    assert list(robot.coordinate_units) == [{"P": "m", "R": "rad"}[kind] for kind in kinds]
    assert list(robot.actuator_units) == [unit for unit, mine in zip(robot.coordinate_units, driven, strict=True) if mine]
    assert robot.driven == tuple(np.flatnonzero(driven))
