"""Named points: of the platform and of bodies, against finite differences and geometry; unknown names as text."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.motions.rotations import rotvec_motion

DIFFERENCES = 1e-4
"""[m, rad, s] of rates of size 1: central differences over 4 ms, found 2e-6."""
ROUNDING = 1e-14
"""Positions [m] and velocities [m/s] of size up to 5."""
ONE_SUM = 1e-15
"""Of two positions [m] below 1."""
CLOSED = 1e-12
"""Position [m] to which Newton's method closes the loops."""


def motion_at(robot, time):
    """A smooth motion near home with all six components (three for the delta)."""
    s = robot.characteristic_length * 0.1
    rotation = 0.0 if robot.plan.constraints else 0.15
    phase, rate = np.array([0.0, 0.5, 1.0]), np.array([1.0, 1.3, 0.7])
    angle = time[:, None] * rate + phase
    q, qd, qdd = np.sin(angle), rate * np.cos(angle), -(rate**2) * np.sin(angle)
    R, w, alpha = rotvec_motion(rotation * q, rotation * qd, rotation * qdd)
    return fp.Motion(
        time=time,
        position=robot.home.position + s * q,
        rotation=R @ robot.home.rotation,
        velocity=s * qd,
        angular_velocity=w,
        acceleration=s * qdd,
        angular_acceleration=alpha,
    )


POINTS = [
    ("delta", "tool"),
    ("delta", "1.rod"),
    ("stewart-3-3", "A.piston"),
    ("stewart-3-3", "B.cylinder"),
    ("hexa", "2.arm"),
    ("hexapod", "C.link"),
]


@pytest.mark.parametrize(("name", "point"), POINTS)
def test_rates_are_derivatives(name, point):
    """Central differences of position, rotation and velocity: halving the step divides the error by four."""
    robot, errors = fp.load(name), []
    for h in (4e-3, 2e-3):
        found = fp.point_motion(robot, motion_at(robot, 0.4 + h * np.arange(-1, 2)), point)
        p, v, w = (found[k].values for k in ("position", "velocity", "angular_velocity"))
        R = found["rotation"].values
        W = (R[2] - R[0]) / (2 * h) @ R[1].T
        parts = [
            (p[2] - p[0]) / (2 * h) - v[1],
            (v[2] - v[0]) / (2 * h) - found["acceleration"].values[1],
            np.array([W[2, 1], W[0, 2], W[1, 0]]) - w[1],
            (w[2] - w[0]) / (2 * h) - found["angular_acceleration"].values[1],
        ]
        errors.append(max(np.abs(part).max() for part in parts))
    assert errors[0] < DIFFERENCES
    assert 3.5 < errors[0] / errors[1] < 4.5, errors


def test_tool_of_the_delta_hangs_below_its_platform():
    robot = fp.load("delta")
    found = fp.point_motion(robot, fp.State(position=[0.1, 0, -0.7], velocity=[1.0, 2, 3]), "tool")
    np.testing.assert_allclose(found["position"].values, [0.1, 0, -0.73], rtol=0, atol=ONE_SUM)
    np.testing.assert_allclose(found["velocity"].values, [1, 2, 3], rtol=0, atol=ROUNDING)
    assert found["position"].dims == ("axis",)
    assert found.attrs["body"] == "platform"


def test_points_of_a_body(tmp_path):
    """A point on the piston's axis, 0.5 m behind the ball; the piston frame sits at the ball."""
    text = fp.catalogue()["stewart-3-3"].read_text(encoding="utf-8")
    path = tmp_path / "robot.yaml"
    path.write_text(text.replace("piston: {mass: 10,", "piston: {points: {seal: [0, 0, -0.5]}, mass: 10,"), encoding="utf-8")
    robot = fp.load(path)
    at = fp.State(position=[0.2, 0.1, 4.4], angular_velocity=[0, 0, 1.0])
    form = robot.closed_forms[0]
    S = at.position + form.S
    n = (S - form.U) / np.linalg.norm(S - form.U)
    ball, seal = (fp.point_motion(robot, at, name) for name in ("A.piston", "A.piston.seal"))
    np.testing.assert_allclose(ball["position"].values, S, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(seal["position"].values, S - 0.5 * n, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(ball["velocity"].values, np.cross([0, 0, 1], form.S), rtol=0, atol=ROUNDING)


def test_actuator_motion_and_mask():
    robot = fp.load("five-bar")
    home = np.array([leg.home[0] for leg in robot.legs])
    none = np.zeros((2, 2))
    motion = fp.ActuatorMotion(time=[0.0, 1.0], position=np.array([home, home + 0.01]), velocity=none, acceleration=none)
    found = fp.point_motion(robot, motion, "tool")
    assert found["position"].dims == ("time", "axis")
    np.testing.assert_allclose(found["position"].values[0], robot.home.position, rtol=0, atol=CLOSED)
    hexapod = fp.load("hexapod")
    masked = fp.point_motion(hexapod, fp.State(position=[[3.0, 0, 0], hexapod.home.position]), "A.link", on_error="mask")
    assert masked["reason"].values.tolist() == ["leg A cannot reach: its platform joint is too far from the rail", ""]
    assert np.isnan(masked["position"].values[0]).all()


def test_unknown_names():
    robot = fp.load("delta")
    with pytest.raises(fp.InputError) as error:
        fp.point_motion(robot, fp.State(position=[0, 0, -0.75]), "tol")
    assert str(error.value) == (
        "delta has no point 'tol', did you mean 'tool'? Points: platform, tool, 1.arm, 1.cross, 1.rod, 2.arm, 2.cross, 2.rod, "
        "3.arm, 3.cross, 3.rod"
    )
