"""Kinematics of the deformed platform: reference coordinates, differences over time, points, deformation."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.motions.rotations import rotvec_motion
from support.flexible_robots import at_home, plate_robot, random_flexible, reference_robot, reference_states

REFERENCE = 1e-13
"""Joint coordinates [rad, m] of the reference have 16 digits."""
DIFFERENCES = 1e-8
"""Of the largest rate: fourth-order differences over 2e-4 s."""

BACK = 1e-12
"""Of the robot's size: Newton's method on the loops ends at rounding."""
ACCELERATIONS = 1e-11
"""Of the largest acceleration of the reference; found 5e-13."""
ROUNDING = 1e-14
"""Positions [m] of size 1: a chain of rotations."""
ONE_SUM = 1e-15
"""Of two positions [m] of size 1."""
ACROSS = 1e-12
"""Displacement [m] in the plane of a plate whose modes have none."""


@pytest.mark.parametrize("kind", ["plate", "generic"])
def test_reference_coordinates(kind: str) -> None:
    robot = reference_robot(kind)
    keys = ("position", "rotation", "velocity", "angular_velocity")
    for name, given, entry in reference_states(kind):
        motion = fp.Motion(time=[0.0], **{k: given[k][None] for k in (*keys, "acceleration", "angular_acceleration")})
        found = fp.inverse_kinematics(
            robot, motion, elastic=given["elastic"], elastic_velocity=given["elastic_velocity"],
            elastic_acceleration=np.array(entry["inverse"]["qe_ddot"]),
        )  # fmt: skip
        legs = entry["legs"]
        assert np.abs(found.joint_position.values[0] - np.ravel(legs["q"])).max() < REFERENCE, name
        assert np.abs(found.joint_velocity.values[0] - np.ravel(legs["qdot"])).max() < REFERENCE, name
        second = np.ravel(legs["qddot_inverse"])
        assert np.abs(found.joint_acceleration.values[0] - second).max() < ACCELERATIONS * max(1.0, np.abs(second).max()), name


def along(robot: fp.Robot, t: float) -> tuple[fp.Motion, dict[str, np.ndarray]]:
    """A smooth motion with vibration at a time."""
    N = len(robot.elastic_names)
    w = np.arange(1, N + 1) * 3.0
    angle = np.array([0.1, -0.05, 0.08])
    R, omega, alpha = rotvec_motion(angle * np.sin(2 * t), angle * 2 * np.cos(2 * t), -angle * 4 * np.sin(2 * t))
    d = np.array([0.03, 0.02, -0.04])
    motion = fp.Motion(
        time=[0.0], position=[robot.home.position + d * np.sin(3 * t)], velocity=[d * 3 * np.cos(3 * t)],
        acceleration=[-d * 9 * np.sin(3 * t)], rotation=[R], angular_velocity=[omega], angular_acceleration=[alpha],
    )  # fmt: skip
    e = 0.01 * np.sin(w * t + np.arange(N))
    ed, edd = 0.01 * w * np.cos(w * t + np.arange(N)), -(w**2) * e
    return motion, {"elastic": e, "elastic_velocity": ed, "elastic_acceleration": edd}


def differences(values: dict[int, np.ndarray], h: float) -> np.ndarray:
    return (8 * (values[1] - values[-1]) - (values[2] - values[-2])) / (12 * h)


def test_rates_are_derivatives() -> None:
    """Of actuators, of leg bodies and of the tool, over time."""
    robot, h, at = plate_robot(), 2e-4, 0.3
    now = along(robot, at)
    steps = {k: along(robot, at + k * h) for k in (-2, -1, 1, 2)}
    found = fp.inverse_kinematics(robot, now[0], **now[1], bodies=True)
    around = {k: fp.inverse_kinematics(robot, m, **e, bodies=True) for k, (m, e) in steps.items()}
    tool = fp.point_motion(robot, now[0], "tool", **now[1])
    tools = {k: fp.point_motion(robot, m, "tool", **e) for k, (m, e) in steps.items()}
    pairs = [(found, around, f"{what}_position", f"{what}_velocity") for what in ("actuator", "joint", "body")]
    pairs += [(found, around, f"{what}_velocity", f"{what}_acceleration") for what in ("actuator", "joint", "body")]
    pairs += [(tool, tools, "position", "velocity"), (tool, tools, "velocity", "acceleration")]
    pairs += [(tool, tools, "angular_velocity", "angular_acceleration")]
    for data, others, value, rate in pairs:
        expected = differences({k: x[value].values for k, x in others.items()}, h)
        assert np.abs(data[rate].values - expected).max() < DIFFERENCES * np.abs(expected).max(), rate
    rotation = differences({k: x["rotation"].values[0] for k, x in tools.items()}, h) @ tool["rotation"].values[0].T
    spin = np.array([rotation[2, 1], rotation[0, 2], rotation[1, 0]])
    assert np.abs(spin - tool.angular_velocity.values[0]).max() < DIFFERENCES * np.abs(spin).max()


def test_legs_end_at_the_deformed_joints() -> None:
    robot = plate_robot()
    given = random_flexible(robot, 5, seed=31)
    state = fp.State(position=given["position"], rotation=given["rotation"], elastic=given["elastic"])
    bodies = fp.inverse_kinematics(robot, state, bodies=True)
    bent = fp.deformation(robot, state)
    for leg in robot.legs:
        tip = bodies.body_position.sel(body=f"{leg.name}.3").values  # frame 3 sits at the tip (Table 3)
        r = leg.closing.on_platform.position + bent.joint_displacement.sel(leg=leg.name).values
        np.testing.assert_allclose(tip, given["position"] + np.einsum("nij,nj->ni", given["rotation"], r), rtol=0, atol=ROUNDING)


def test_deformation_at_rest() -> None:
    """Fig. 6: mainly along the normal of the plate; joints bend downwards and upwards by millimetres."""
    robot = plate_robot()
    bent = fp.deformation(robot, at_home(robot))
    assert bent.attrs["elastic"] == "static"
    assert np.abs(bent.displacement.values[:2]).max() < ACROSS
    assert 1e-5 < abs(bent.displacement.values[2]) < 1e-2
    assert bent.joint_displacement.shape == (6, 3)
    tool = fp.point_motion(robot, at_home(robot), "tool")
    np.testing.assert_allclose(tool.position, robot.home.position + bent.displacement.values, rtol=0, atol=ONE_SUM)


def test_actuator_motions() -> None:
    """Actuators of a robot with a flexible platform at given elastic coordinates, and back from the pose that they give."""
    robot = plate_robot()
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    e = 1e-4 * np.cos(np.arange(len(robot.elastic_names)))
    q = fp.inverse_kinematics(robot, home, elastic=e).actuator_position.values
    motion = fp.ActuatorMotion(time=[0.0], position=q[None], velocity=np.zeros((1, 6)), acceleration=np.zeros((1, 6)))
    found = fp.inverse_kinematics(robot, motion, elastic=e, elastic_acceleration=np.zeros(len(e)), bodies=True)
    assert np.abs(found.actuator_position.values - q).max() == 0.0
    off = found.body_position.sel(body="platform").values - robot.home.position
    assert np.abs(off).max() < BACK * robot.characteristic_length
    short = fp.ActuatorMotion(time=[0.0], position=np.ones((1, 6)), velocity=np.zeros((1, 6)), acceleration=np.zeros((1, 6)))
    with pytest.raises(fp.FlexapodError, match="out of reach"):
        fp.inverse_kinematics(robot, short)
