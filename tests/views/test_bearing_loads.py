"""Radial and axial loads of joints: parts of the reaction, and a case by hand."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.bearing_loads import bearing_loads, bearing_rows, joint_axes
from flexapod.views.chosen_motion import small_motion
from flexapod.views.sizing import joint_rows

ROUNDING = 1e-13
"""Roundings of sums of a few forces, of the largest."""
DIRECTION = 1e-12
"""Entries of a unit vector: products of a few rotations."""
ALONG = 1e-9
"""Of the largest drive: a reaction without a part along the slide, but for rounding."""


def case(name: str):  # type: ignore[no-untyped-def]
    robot = fp.load(name)
    t = np.linspace(0.0, 1.0, 12)
    p = np.tile(robot.home.position, (12, 1))
    p[:, 2] += 0.01 * np.sin(t)
    v, a = np.zeros((12, 3)), np.zeros((12, 3))
    v[:, 2], a[:, 2] = 0.01 * np.cos(t), -0.01 * np.sin(t)
    zero = np.zeros((12, 3))
    motion = fp.Motion(time=t, position=p, rotation=np.tile(robot.home.rotation, (12, 1, 1)), velocity=v, acceleration=a,
                       angular_velocity=zero, angular_acceleration=zero)  # fmt: skip
    joints = fp.inverse_kinematics(robot, motion).joint_position.values
    return robot, joints, fp.inverse_dynamics(robot, motion, reactions=True)


@pytest.mark.parametrize("name", ["stewart-3-3", "hexaslide"])
def test_parts_make_the_whole_force(name: str) -> None:
    robot, joints, drive = case(name)
    loads = bearing_loads(robot, joints, drive)
    assert loads
    for joint, (radial, axial) in loads.items():
        whole = np.linalg.norm(drive.reaction_force.sel(joint=joint).values, axis=1)
        assert np.allclose(np.hypot(radial, axial), whole, rtol=ROUNDING, atol=0)


def test_axes_are_those_of_the_legs() -> None:
    """A slide's axis points from the hip to the ball of its leg, and its drive's force is not in the reaction."""
    robot, joints, drive = case("stewart-3-3")
    axes = joint_axes(robot, joints)
    corner = robot.home.position + robot.home.rotation @ robot.legs[0].closing.on_platform.position
    hip = robot.legs[0].links[0].placement.position
    along = (corner - hip) / np.linalg.norm(corner - hip)
    assert np.allclose(axes["A.slide"][0], along, rtol=0, atol=DIRECTION)
    radial, axial = bearing_loads(robot, joints, drive)["A.slide"]
    assert axial.max() < ALONG * np.abs(drive.force.values).max()
    assert radial.max() > 1.0


def test_rms_is_the_one_of_the_whole_force() -> None:
    """Over time as in the table of reactions: a pin without axial force has the same RMS in both."""
    robot, joints, drive = case("stewart-3-3")
    rows = {row[0]: row for row in bearing_rows(bearing_loads(robot, joints, drive), drive.time.values)}
    whole = {row[0]: row for row in joint_rows(drive, robot.characteristic_length)}
    assert rows["A.hip.2"][2] == "0"
    assert rows["A.hip.2"][1] == whole["A.hip.2"][1]
    assert rows["A.hip.2"][3] == whole["A.hip.2"][2]


def test_the_radial_load_of_a_planar_robot_is_known_and_the_axial_one_is_not() -> None:
    """Rigid bodies leave the force across the plane open: that is the axial one of the hinges."""
    robot = fp.load("planar-3-rrr")
    motion = small_motion(robot, 12)
    joints = fp.inverse_kinematics(robot, motion).joint_position.values
    drive = fp.inverse_dynamics(robot, motion, reactions=True)
    loads = bearing_loads(robot, joints, drive)
    for joint, (radial, axial) in loads.items():
        F = drive.reaction_force.sel(joint=joint).values
        assert np.array_equal(radial, np.linalg.norm(F[:, :2], axis=1))
        assert np.isnan(axial).all()
    assert bearing_rows(loads, motion.time)[0][2::2] == ["not determined", "not determined"]


def test_rows_have_no_digits_of_rounding() -> None:
    loads = {"a": (np.array([100.0]), np.array([1e-13])), "b": (np.array([np.nan]), np.array([2.0]))}
    rows = bearing_rows(loads, np.zeros(1))
    assert rows[0] == ["a", "100", "0", "100", "0"]
    assert rows[1][1] == "not determined"
