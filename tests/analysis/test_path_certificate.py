"""Certified forward kinematics: the pose at the end of the straight path, or the reason; all poses on request."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.path_certificate import certify_path
from flexapod.analysis.pose_reasons import PoseNotFoundError
from flexapod.analysis.sampling import random_states

SAME_POSE = 1e-9


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
    np.testing.assert_allclose(found["position"].values, at.position, atol=SAME_POSE)
    np.testing.assert_allclose(found["rotation"].values, at.rotation, atol=SAME_POSE)


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
    np.testing.assert_allclose(found["position"].values, other.position, atol=SAME_POSE)


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
    np.testing.assert_allclose(at, q + proof.reached * (far - q), atol=1e-9)
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
