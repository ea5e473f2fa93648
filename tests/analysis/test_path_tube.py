"""Proofs of segments by contraction: balls hold the legs at every sample, singular segments and broken limits are not proven."""

from dataclasses import replace

import numpy as np
import pytest
from space_robots import planar_3rpr

import flexapod as fp
from flexapod.analysis.space.path_check import PathPoses, SampledCheck, between
from flexapod.analysis.space.path_tube import TubeCheck
from flexapod.motions.rotations import rotvec_rotation

SAMPLES = 400
"""Samples of a segment in the check."""


@pytest.fixture(scope="module")
def robot():
    return planar_3rpr()


def segments(robot, count, size, rotation, seed):
    rng = np.random.default_rng(seed)

    def pose():
        p = robot.home.position + np.array([*rng.uniform(-size, size, 2), 0.0])
        return PathPoses(
            p=p[None], R=rotvec_rotation(np.array([[0.0, 0.0, rng.uniform(-rotation, rotation)]])) @ robot.home.rotation
        )

    return [(pose(), pose()) for _ in range(count)]


def test_what_is_proven_holds_at_samples_and_what_is_singular_is_not_proven(robot):
    tube, check, proven, singular = TubeCheck(robot, False), SampledCheck(robot, False, 0.0, None), 0, 0
    for a, b in segments(robot, 4, 4.0, 1.0, 1):
        signs = set(check.signs(between(a, b, np.linspace(0, 1, SAMPLES))))
        if tube.prove(a, b, 1.0).holds:
            proven += 1
            assert len(signs) == 1
        singular += len(signs) > 1
    assert proven >= 1
    assert singular >= 1


def test_balls_hold_the_coordinates_of_the_legs(robot):
    """Lengths and directions of the legs by elementary geometry, at random poses of each part."""
    tube = TubeCheck(robot, False)
    ((a, b),) = segments(robot, 1, 1.0, 0.2, 2)
    low, width = np.linspace(0, 1, 65)[:-1], np.full(64, 1 / 64)
    parts = tube._evaluated(a, b, low, width)
    assert parts.proven.any()
    base = np.array([[robot.legs[i].links[0].placement.position[k] for k in range(3)] for i in range(3)])
    joints = np.array([leg.closing.on_platform.position for leg in robot.legs])
    largest = 0.0
    for k in np.flatnonzero(parts.proven):
        at = between(a, b, low[k] + width[k] * np.linspace(0, 1, 21))
        d = at.p[:, None] + joints @ np.swapaxes(at.R, 1, 2) - base
        length = np.linalg.norm(d, axis=2) / robot.characteristic_length
        for i in range(3):  # stroke of each leg, over the characteristic length
            gap = np.abs(length[:, i] - length[10, i]).max()
            assert gap <= parts.radius[k, 2 * i + 1]
            largest = max(largest, gap / parts.radius[k, 2 * i + 1])
    assert largest > 0.05, "the balls are not larger than they need to be by more than some twenty times"


def test_strokes_count(robot):
    ((a, b),) = segments(robot, 1, 0.5, 0.1, 3)
    tube = TubeCheck(robot, True)
    assert tube.prove(a, b, 1.0).holds
    state = fp.State(position=between(a, b, np.array([0.5])).p[0], rotation=between(a, b, np.array([0.5])).R[0])
    middle = fp.inverse_kinematics(robot, state)["actuator_position"].values
    tube.limits = replace(tube.limits, high=middle + np.array([1.0, -1e-4, 1.0]))
    found = tube.prove(a, b, 1.0)
    assert not found.holds
    assert found.text.startswith("cannot be proven")


def test_paths_of_a_planar_robot_are_certified(robot):
    ((a, b),) = segments(robot, 1, 1.0, 0.2, 2)
    path = fp.path_between(robot, *(fp.State(position=x.p[0], rotation=x.R[0]) for x in (a, b)))
    assert path.certified
    assert path.boxes > 0
