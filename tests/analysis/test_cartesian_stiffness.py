"""Cartesian stiffness: textbook beams, actuator springs, static deflection under a small load."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import flexapod as fp
from flexapod.description import description_from_document
from flexapod.robot.geometry import rotation_from_vector
from flexapod.robot.leg_positions import link_poses
from flexapod.robot.robot import build_robot

LINEAR = 1e-5
"""Deflections are 2e-8 m and more: rounding of positions is 1e-8 of that, third-order effects (both signs are used) are less."""
ROUNDING = 1e-12
"""Of the largest entry: products of six numbers and one inverse; home coordinates [m, rad] of two robots."""
DIFFERENCES = 1e-6
"""Of the largest force: central differences over a hundredth of a small deflection; other moments are off by a thousandth."""
SAME_MODES = 1e-9
"""Two eigenvalue problems of the same matrices, squared in one; a stiffness that is not symmetric is off by 1.6e-3."""
NOTICED = 1e-3
"""Of the tool's motion: what bends in the platform is more (found 2.7e-3)."""


def at_home(robot: fp.Robot) -> fp.State:
    return fp.State(position=robot.home.position, rotation=robot.home.rotation)


def test_actuator_springs_of_a_rigid_robot() -> None:
    """K = J^T k J without prestress."""
    robot = fp.load("gough-stewart")
    k = np.full(6, 1e7)
    found = fp.cartesian_stiffness(robot, at_home(robot), actuators=k, prestress=False)
    J = fp.jacobian(robot, at_home(robot)).jacobian.values
    expected = J.T @ np.diag(k) @ J
    assert np.allclose(found.stiffness.values, expected, rtol=ROUNDING, atol=ROUNDING * np.abs(expected).max())
    assert np.allclose(found.compliance.values @ expected, np.eye(6), rtol=0, atol=ROUNDING)
    assert float(found["rank"]) == 6


def test_compliance_is_the_deflection_of_a_small_load() -> None:
    """Against the nonlinear static deflection of flexible legs, actuators locked."""
    robot = fp.load("dualemps")
    q = np.array([[0.03, -0.02]])
    still = fp.ActuatorMotion(time=[0.0], position=q, velocity=0 * q, acceleration=0 * q)
    found = fp.cartesian_stiffness(robot, fp.State.from_actuators(robot, q[0]))
    for load in ([1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0.05, 0]):
        there, back = (fp.static_deflection(robot, still, wrench=sign * np.array(load, dtype=float)) for sign in (1, -1))
        rotation = there.rotation.values[0] @ back.rotation.values[0].T
        moved = np.append((there.position - back.position).values[0], (rotation[0, 2] - rotation[2, 0]) / 2) / 2
        expected = (np.nan_to_num(found.compliance.values) @ np.array(load))[[0, 1, 2, 4]]
        size = np.array([1, 1, 1, robot.characteristic_length])
        assert np.allclose(moved * size, expected * size, rtol=0, atol=LINEAR * np.abs(expected * size).max())
    assert float(found["rank"]) == 3  # in the plane
    within = [0, 2, 4]  # x, z, rotation about y
    for values in (found.compliance.values, found.stiffness.values):
        assert np.isfinite(values[np.ix_(within, within)]).all()
        assert np.count_nonzero(np.isnan(values)) == 36 - 9
    assert found.attrs["not_in_model"].startswith("dualemps is planar: its model has no stiffness or compliance out of its plane")


def test_a_moment_of_the_load_is_semi_tangential(monkeypatch: pytest.MonkeyPatch) -> None:
    """The moment goes half way with a small rotation: equilibrium beside the pose, by forces of displaced poses."""
    monkeypatch.setenv("FLEXAPOD_BACKEND", "numpy")
    robot, k, change = fp.load("gough-stewart"), np.full(6, 3e5), np.array([30.0, -20.0, 10.0, 4.0, -3.0, 5.0])
    moment, h = np.array([900.0, -700.0, 500.0]), 1e-2
    compliance = fp.cartesian_stiffness(robot, at_home(robot), actuators=k, wrench=[0, 0, 0, *moment]).compliance.values
    shift, rotation = np.split(compliance @ change, 2)
    q = fp.inverse_kinematics(robot, at_home(robot)).actuator_position.values

    def missing(s: float) -> np.ndarray:
        """Force that the springs lack at a pose on the way of the deflection."""
        half = rotation_from_vector(s * rotation / 2.0)
        pose = fp.State(position=robot.home.position + s * shift, rotation=half @ half @ robot.home.rotation)
        force = fp.inverse_dynamics(robot, pose, friction=False, wrench=[0, 0, 0, *(half @ moment)]).force.values
        return np.asarray(force + k * (fp.inverse_kinematics(robot, pose).actuator_position.values - q))

    J = fp.jacobian(robot, at_home(robot)).jacobian.values
    found = J.T @ (missing(h) - missing(-h)) / (2.0 * h)
    np.testing.assert_allclose(found, change, rtol=0, atol=DIFFERENCES * np.abs(change).max())
    modes = fp.natural_frequencies(robot, at_home(robot), actuators=k, wrench=[0, 0, 0, *moment])
    rates = np.sort(np.abs(modes.eigenvalue.values.imag).ravel())[::2] / (2.0 * np.pi)
    np.testing.assert_allclose(rates, modes.frequency.values.ravel(), rtol=SAME_MODES)


def test_point_of_the_platform() -> None:
    """The tool's compliance is the frame's, moved by its arm."""
    robot = fp.load("hexaslide")
    name = next(iter(robot.platform.points), None)
    if name is None:
        pytest.skip("no named point")
    k = np.full(6, 1e8)
    frame = fp.cartesian_stiffness(robot, at_home(robot), actuators=k, prestress=False).compliance.values
    tool = fp.cartesian_stiffness(robot, at_home(robot), actuators=k, prestress=False, point=name).compliance.values
    r = robot.home.rotation @ robot.platform.points[name]
    T = np.eye(6)
    T[:3, 3:] = -np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    assert np.allclose(tool, T @ frame @ T.T, rtol=0, atol=ROUNDING * np.abs(tool).max())


def test_a_robot_that_moves_freely_is_refused() -> None:
    robot = fp.load("gough-stewart")
    with pytest.raises(fp.FlexapodError, match="lock its actuators"):
        fp.cartesian_stiffness(robot, at_home(robot), actuators=np.zeros(6), prestress=False)


def test_point_of_a_flexible_platform_deforms() -> None:
    """A load at a material point bends the platform: against the deflection with the frame held, and springs of the actuators.

    Held, the load w asks for forces df and bends by de; on springs k the actuators give way by -df/k, and the frame follows.
    """
    robot = fp.load("gough-stewart-flexible").with_parameters({"gravity": [0.0, 0.0, 0.0]})
    at, k = at_home(robot), np.full(6, 1e6)
    found = fp.cartesian_stiffness(robot, at, actuators=k, prestress=False, point="tool").compliance.values
    J = fp.jacobian(robot, at).jacobian.values
    w = np.array([3.0, -2.0, 5.0, 0.0, 0.0, 0.0])
    moved = np.zeros(3)
    for sign in (0.5, -0.5):
        held = fp.static_deflection(robot, at, wrench=sign * w, point="tool")
        e = held.elastic.values
        q = [fp.inverse_kinematics(robot, at, joints=False, elastic=x).actuator_position.values for x in (e, 0 * e)]
        x = np.linalg.solve(J, -held.force.values / k - (q[0] - q[1]))
        bent, straight = (fp.point_motion(robot, at, "tool", elastic=z).position.values for z in (e, 0 * e))
        arm = straight - at.position
        moved += sign / 0.5 * (x[:3] + np.cross(x[3:], arm) + bent - straight)
    assert np.allclose(moved, (found @ w)[:3], rtol=0, atol=LINEAR * np.abs(moved).max())
    frame = fp.cartesian_stiffness(robot, at, actuators=k, prestress=False).compliance.values
    assert not np.allclose((frame @ w)[:3], moved, rtol=0, atol=NOTICED * np.abs(moved).max())


RODS = 1e-9
"""Of the largest entry: rods of 1e7 N/m beside bending of 1e4 N/m, inverted twice."""


def test_flexible_rods_between_universal_and_ball_joints_are_springs_along_them() -> None:
    """Six P-U-S legs whose rods are beams laid by `direction: home`: K = sum E A / l w w^T, w = (n, r x n), sliders locked."""
    data = copy.deepcopy(fp.load("hexapod").description.document)
    section = {"shape": "tube", "outer": 0.02, "inner": 0.01}
    beam = {"type": "beam", "length": 0.5, "young": 200e9, "poisson": 0.3, "density": 7800, "section": section}
    data["legs"]["template"]["bodies"]["link"] = {"flexible": beam}
    data["legs"]["template"]["joints"]["ball"]["at"] = [0.5, 0, 0]
    robot, plain = build_robot(description_from_document(data)), fp.load("hexapod")
    assert np.allclose([leg.home[:3] for leg in robot.legs], [leg.home for leg in plain.legs], rtol=0, atol=ROUNDING)
    expected = np.zeros((6, 6))
    for leg in plain.legs:
        S = plain.home.position + plain.home.rotation @ leg.closing.on_platform.position
        n = (S - link_poses(leg, leg.home)[2][1]) / 0.5
        w = np.concatenate([n, np.cross(S - plain.home.position, n)])
        expected += 200e9 * np.pi / 4 * (0.02**2 - 0.01**2) / 0.5 * np.outer(w, w)
    found = fp.cartesian_stiffness(robot, at_home(robot), prestress=False).stiffness.values
    assert np.allclose(found, expected, rtol=0, atol=RODS * np.abs(expected).max())
