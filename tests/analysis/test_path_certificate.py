"""Certified forward kinematics: the pose at the end of the straight path, or the reason; all poses on request."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.poses.path_certificate import _certified, _moving_quadrics, _newton, _Path, _quadrics, _study, certify_path
from flexapod.analysis.poses.pose_reasons import PoseNotFoundError
from flexapod.analysis.verbs.sampling import random_states

SAME_POSE = 1e-9
"""[m], entries of rotations, actuators: one pose by two ways, well conditioned."""


def actuators_at_home(robot: fp.Robot) -> np.ndarray:
    return np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]


@pytest.mark.parametrize("name", ["stewart-3-3", "hexapod", "hexa"])
def test_certified_poses_are_those_that_were_drawn(name):
    robot = fp.load(name)
    drawn = random_states(robot, 2, seed=3)
    at = fp.State(position=drawn["position"], rotation=drawn["rotation"])
    wanted = fp.inverse_kinematics(robot, at, joints=False)["actuator_position"].values
    found = fp.forward_kinematics(robot, wanted, certify=True)
    assert found["certified"].values.all()
    assert np.all(found["segments"].values > 1)
    np.testing.assert_allclose(found["position"].values, at.position, rtol=0, atol=SAME_POSE)
    np.testing.assert_allclose(found["rotation"].values, at.rotation, rtol=0, atol=SAME_POSE)


@pytest.mark.parametrize("name", ["gough-stewart", "hexaslide", "hexa"])
def test_polydiscs_of_segments_hold_every_pose_of_theirs(name):
    """Poses at random actuators of random segments, by Newton's method; the polydiscs are not much too large."""
    robot, random = fp.load(name), np.random.default_rng(7)
    q0, n = actuators_at_home(robot), 12
    way = 0.05 * random.normal(size=6) * np.where(np.array(robot.actuator_units) == "rad", 1.0, robot.characteristic_length)
    t, half = random.uniform(0.0, 1.0, n), 10.0 ** random.uniform(-3.0, -1.0, n)
    path = _Path(robot=robot, q0=q0, way=way)
    start = np.tile(_study(robot.home.position, robot.home.rotation), (n, 1))
    at = _newton(_quadrics(path, t).mid.real, start, 30)
    Q, drift = _moving_quadrics(path, t, half)
    tube, proven = _certified(Q, at, drift)
    assert proven.sum() > n // 2
    chart, largest = np.argmin(tube.rad, axis=1)[:, None], np.zeros(n)
    for u in (-1.0, 1.0, *random.uniform(-1.0, 1.0, 6)):
        x = _newton(_quadrics(path, t + u * half).mid.real, at, 30)
        off = np.abs(x / np.take_along_axis(x, chart, axis=1) - tube.mid)
        assert np.all((off <= tube.rad) | (np.arange(8) == chart) | ~proven[:, None])
        largest = np.maximum(largest, (off.max(axis=1) / tube.rad.max(axis=1)))
    assert np.median(largest[proven]) > 0.2


@pytest.mark.parametrize(("name", "longer", "most"), [("gough-stewart", 1.0, 500), ("bench-6ups", 10.0, 120)])
def test_long_legs_are_certified_in_few_segments(name, longer, most):
    """All legs grow together, and the platform goes far up: changes of single legs would turn it over."""
    robot = fp.load(name)
    found = fp.forward_kinematics(robot, actuators_at_home(robot) + longer, certify=True)
    assert found["certified"].values.all()
    assert int(found["segments"]) < most


def two_sides(robot: fp.Robot) -> tuple[np.ndarray, fp.State]:
    """Actuators, and a pose of theirs on the other side of a singularity than home."""
    q = actuators_at_home(robot)
    modes = fp.assembly_modes(robot, q)
    other = int(np.flatnonzero(np.sign(modes["determinant"].values) != np.sign(modes["determinant"].values[0]))[0])
    return q, fp.State(position=modes["position"].values[other], rotation=modes["rotation"].values[other])


def test_the_path_back_to_the_same_actuators_returns_the_guess():
    robot = fp.load("gough-stewart")
    q, other = two_sides(robot)
    found = fp.forward_kinematics(robot, q, guess=other, certify=True)
    np.testing.assert_allclose(found["position"].values, other.position, rtol=0, atol=SAME_POSE)


def test_a_singular_pose_on_the_way_is_the_reason():
    """Legs too short for any pose: all branches end in a singularity before. The part of the way is certified up to there."""
    robot = fp.load("gough-stewart")
    q = actuators_at_home(robot)
    far = np.where(np.arange(6) % 2 == 0, 1.6 * q, 0.4 * q)
    with pytest.raises(PoseNotFoundError, match="no certified pose: a singular pose lies after"):
        fp.forward_kinematics(robot, far, certify=True)
    proof = certify_path(robot, robot.home.position, robot.home.rotation, q, far)
    assert 0.0 < proof.reached < 1.0
    end = fp.State(position=proof.position, rotation=proof.rotation)
    at = fp.inverse_kinematics(robot, end, joints=False)["actuator_position"].values
    np.testing.assert_allclose(at, q + proof.reached * (far - q), rtol=0, atol=SAME_POSE)
    values = np.linalg.svd(fp.jacobian(robot, end)["jacobian"].values * robot.characteristic_length ** -np.repeat([0, 1], 3))[1]
    assert values[-1] / values[0] < 0.02  # the determinant falls as the root of the way that is left


def test_all_poses_through_forward_kinematics():
    robot = fp.load("gough-stewart")
    q = actuators_at_home(robot)
    every = fp.forward_kinematics(robot, q, method="all", certify=True)
    assert int(every["count"]) == int(fp.assembly_modes(robot, q)["count"])
    assert every["certified"].values.all()
    with pytest.raises(fp.InputError, match="needs no guess"):
        fp.forward_kinematics(robot, q, guess=fp.State(position=robot.home.position), method="all")
    with pytest.raises(fp.InputError, match="method"):
        fp.forward_kinematics(robot, q, method="some")


def test_what_cannot_be_certified_is_refused():
    robot = fp.load("gough-stewart")
    q = actuators_at_home(robot)
    with pytest.raises(fp.InputError, match="six U-P-S, P-U-S or R-U-S legs"):
        fp.forward_kinematics(fp.load("delta"), actuators_at_home(fp.load("delta")), certify=True)
    with pytest.raises(fp.InputError, match="not with assembly='any'"):
        fp.forward_kinematics(robot, q, certify=True, assembly="any")
