"""Working modes: every branch holds the pose; closed forms agree with Newton's search; counts of known legs."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states
from flexapod.analysis.verbs.working_modes import NoBranchError, _searched

HOLDS = 1e-12  # distance of the joint from its place, relative to the robot's size; measured 1e-15
SAME = 1e-8  # an actuator by two ways


def some_pose(robot: fp.Robot, seed: int = 3) -> fp.State:
    drawn = random_states(robot, 1, seed)
    return fp.State(position=drawn["position"][0], rotation=drawn["rotation"][0])


@pytest.mark.parametrize(
    ("name", "branches"),
    [
        ("gough-stewart", [1] * 6),
        ("hexaslide", [2] * 6),
        ("hexa", [2] * 6),
        ("delta", [2] * 3),
        ("five-bar", [1, 2]),
        ("tripteron", [2] * 3),
    ],
)
def test_branches_of_known_legs(name, branches):
    """The platform of the five-bar is the end of its left leg, whose orientation is part of the pose: one branch."""
    robot = fp.load(name)
    modes = fp.working_modes(robot, some_pose(robot))
    assert modes["branches"].values.tolist() == branches
    assert modes.sizes["working_mode"] == np.prod(branches)
    assert int(modes["home"].sum()) == 1


@pytest.mark.parametrize("name", ["hexapod", "hexa", "stewart-3-3", "delta"])
def test_the_first_mode_is_that_of_inverse_kinematics(name):
    robot = fp.load(name)
    at = some_pose(robot)
    modes = fp.working_modes(robot, at)
    wanted = fp.inverse_kinematics(robot, at, joints=False)["actuator_position"].values
    gap = np.abs(modes["actuator_position"].values - wanted).max(axis=1)
    assert gap.min() < SAME


@pytest.mark.parametrize("name", ["hexapod", "hexa"])
def test_closed_forms_agree_with_the_search(name):
    """Two independent ways: quadratic equation of the leg, Newton's method from random starts on its closing rows."""
    robot = fp.load(name)
    at = some_pose(robot)
    modes = fp.working_modes(robot, at)
    for k, leg in enumerate(robot.legs):
        known = np.unique(np.round(modes["actuator_position"].values[:, k], 9))
        found = np.array([q[0] for q in _searched(robot, leg, at)])
        gap = known[:, None] - found[None]
        if robot.actuator_units[k] == "rad":
            gap = np.arctan2(np.sin(gap), np.cos(gap))
        assert np.abs(gap).min(axis=1).max() < SAME
        assert np.abs(gap).min(axis=0).max() < SAME


def test_every_mode_of_a_slider_robot_keeps_the_rod_lengths():
    robot = fp.load("hexaslide")
    at = some_pose(robot)
    modes = fp.working_modes(robot, at)
    for k, form in enumerate(robot.closed_forms):
        d = modes["actuator_position"].values[:, k] + robot.legs[k].links[0].zero
        rod = np.linalg.norm(at.position + at.rotation @ form.S - (form.U + d[:, None] * form.drive), axis=1)
        assert np.abs(rod - form.length).max() < HOLDS


def test_a_leg_that_cannot_reach_is_named():
    robot = fp.load("hexapod")
    with pytest.raises(NoBranchError, match=f"leg {robot.legs[0].name} cannot reach the pose"):
        fp.working_modes(robot, fp.State(position=robot.home.position + np.array([0.0, 0.0, 50.0])))
    with pytest.raises(fp.InputError, match="expected one State"):
        fp.working_modes(robot, fp.State(position=np.zeros((2, 3))))


def test_a_slider_beyond_its_zero_is_found():
    """The centre leg of a Tricept also reaches the pose mirrored at its universal joint, with a negative stroke."""
    robot = fp.load("tricept")
    centre = next(leg for leg in robot.legs if not any(leg.links[i].actuated for i in leg.moving))
    mirrored = 2.0 * centre.links[0].placement.position - robot.home.position
    modes = fp.working_modes(robot, fp.State(position=mirrored, rotation=robot.home.rotation))
    assert modes.sizes["working_mode"] >= 1


def test_a_leg_that_can_move_by_itself_is_named():
    """At the poses of a spherical robot where the axes of a leg coincide its elbow goes round a circle."""
    robot = fp.load("agile-eye")
    modes = fp.assembly_modes(robot, np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)], certify=False)
    texts = []
    for p, R in zip(modes["position"].values, modes["rotation"].values, strict=True):
        try:
            assert fp.working_modes(robot, fp.State(position=p, rotation=R)).sizes["working_mode"] == 8
        except fp.InputError as error:
            texts.append(str(error))
    assert len(modes["position"]) == 8, "Gosselin, Sefrioui and Richard 1994: eight poses"
    assert len(texts) == 4
    assert all("can move while the platform is at rest at this pose" in text for text in texts)


def test_a_pose_that_is_not_finite_is_refused():
    with pytest.raises(fp.InputError, match="pose: every entry of position and rotation must be a finite number"):
        fp.working_modes(fp.load("gough-stewart"), fp.State(position=[np.nan, 0.0, 1.0]))
