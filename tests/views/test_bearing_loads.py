"""Radial and axial loads of joints: parts of the reaction, and a case by hand."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.bearing_loads import bearing_loads, bearing_rows, joint_axes

ROUNDING = 1e-10
"""Roundings of sums of a few forces, of the largest."""


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
        assert np.allclose(np.hypot(radial, axial), whole, rtol=ROUNDING)


def test_axes_are_those_of_the_legs() -> None:
    """A slide's axis points from the hip to the ball of its leg, and its drive's force is not in the reaction."""
    robot, joints, drive = case("stewart-3-3")
    axes = joint_axes(robot, joints)
    corner = robot.home.position + robot.home.rotation @ robot.legs[0].closing.on_platform.position
    hip = robot.legs[0].links[0].placement.position
    along = (corner - hip) / np.linalg.norm(corner - hip)
    assert np.allclose(axes["A.slide"][0], along, atol=1e-12)
    radial, axial = bearing_loads(robot, joints, drive)["A.slide"]
    assert axial.max() < 1e-9 * np.abs(drive.force.values).max()
    assert radial.max() > 1.0


def test_rows_have_no_digits_of_rounding() -> None:
    rows = bearing_rows({"a": (np.array([100.0]), np.array([1e-13])), "b": (np.array([np.nan]), np.array([2.0]))})
    assert rows[0] == ["a", "100", "0", "100", "0"]
    assert rows[1][1] == "not determined"
