"""Poses from loop equations: known counts, closed forms of five-bar and Delta, operation modes, derivatives."""

import numpy as np
import pytest
from pose_robots import planar

import flexapod as fp
from flexapod.analysis.complex_loops import Loops, Points
from flexapod.analysis.loop_paths import follow
from flexapod.analysis.operation_modes import fingerprint, generic_solutions, search

DERIVATIVE = 1e-6  # central differences with a step of 1e-5, error of second order
CLOSED_FORM = 1e-10  # intersection of circles or spheres against Newton; measured 1e-15
SAME_POSE = 1e-9


def actuators_at_home(robot: fp.Robot) -> np.ndarray:
    return np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]


@pytest.mark.parametrize("name", ["delta", "tripteron", "five-bar", "gough-stewart"])
def test_derivatives_of_closing_rows(name):
    loops = Loops(fp.load(name))
    random = np.random.default_rng(1)
    step = 1e-5 * (random.normal(size=(1, loops.unknowns)) + 1j * random.normal(size=(1, loops.unknowns)))
    _, rows, by_actuators = loops.evaluate(loops.home)
    ahead, behind = loops.evaluate(loops.moved(loops.home, step))[0], loops.evaluate(loops.moved(loops.home, -step))[0]
    assert np.abs((ahead - behind) / 2.0 - (rows @ step[..., None])[..., 0]).max() < DERIVATIVE * np.abs(step).max()
    move = 1e-5 * random.normal(size=len(loops.driven))
    q1, q2 = loops.home.q.copy(), loops.home.q.copy()
    q1[:, loops.driven] += move
    q2[:, loops.driven] -= move
    values = [loops.evaluate(Points(p=loops.home.p, R=loops.home.R, q=q))[0] for q in (q1, q2)]
    assert np.abs((values[0] - values[1]) / 2.0 - by_actuators @ move).max() < DERIVATIVE * np.abs(move).max()


def test_a_real_path_agrees_with_forward_kinematics():
    robot = fp.load("delta")
    loops = Loops(robot)
    q0 = actuators_at_home(robot)
    q1 = q0 + np.array([0.2, -0.1, 0.15])
    x, arrived = follow(loops, loops.home, q0.astype(complex), q1.astype(complex))
    assert arrived.all()
    np.testing.assert_allclose(x.p[0].real, fp.forward_kinematics(robot, q1)["position"].values, atol=SAME_POSE)


def test_five_bar_has_the_two_intersections_of_its_circles():
    robot = fp.load("five-bar")
    q = actuators_at_home(robot) + np.array([0.1, -0.05])
    found = fp.assembly_modes(robot, q)
    assert int(found["complex_count"]) == int(found["count"]) == 2
    assert "not certified" in str(found["detail"].values)
    assert str(found["completeness"].values) == "trace-tested"
    elbow = np.array([[-0.1, 0.0], [0.1, 0.0]]) + 0.25 * np.stack([np.cos(q), np.sin(q)], axis=1)
    middle, across = elbow.mean(axis=0), elbow[1] - elbow[0]
    height = np.sqrt(0.25**2 - across @ across / 4.0)
    normal = np.array([-across[1], across[0]]) / np.linalg.norm(across)
    expected = np.array([middle + height * normal, middle - height * normal])
    gap = np.abs(found["position"].values[:, None, :2] - expected[None]).max(axis=2)
    assert gap.min(axis=0).max() < CLOSED_FORM
    assert gap.min(axis=1).max() < CLOSED_FORM


@pytest.mark.parametrize("kind", ["rrr", "rpr"])
def test_planar_robots_have_six_complex_poses(kind, tmp_path):
    """C. Gosselin, J. Merlet, The direct kinematics of planar parallel manipulators (1994)."""
    robot = planar(kind, tmp_path)
    q = actuators_at_home(robot) + np.array([0.03, -0.02, 0.05])
    found = fp.assembly_modes(robot, q)
    assert int(found["complex_count"]) == 6
    assert int(found["count"]) % 2 == 0
    near = fp.forward_kinematics(robot, q)
    np.testing.assert_allclose(found["position"].values[0], near["position"].values, atol=SAME_POSE)
    assert found["certified"].values.all()
    assert str(found["completeness"].values) == "proven"


def delta_by_spheres(robot: fp.Robot, q: np.ndarray) -> np.ndarray:
    """The two positions of a translating Delta: three spheres about the elbows, moved by the wrists."""
    centres = []
    for k in range(3):
        angle = 2.0 * np.pi * k / 3.0
        Z = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        turn = np.array([[np.cos(q[k]), 0, np.sin(q[k])], [0, 1, 0], [-np.sin(q[k]), 0, np.cos(q[k])]])
        centres.append(Z @ (np.array([0.2, 0, 0]) + turn @ np.array([0.3, 0, 0]) - np.array([0.045, 0, 0])))
    c = np.array(centres)
    A, rhs = 2.0 * (c[1:] - c[0]), (c[1:] ** 2).sum(axis=1) - (c[0] ** 2).sum()
    direction = np.cross(A[0], A[1])
    point = np.linalg.lstsq(A, rhs, rcond=None)[0]
    w = point - c[0]
    roots = np.roots([direction @ direction, 2.0 * direction @ w, w @ w - 0.8**2])
    return np.array([point + t.real * direction for t in roots])


def test_delta_has_two_translational_poses_and_others_are_labelled():
    robot = fp.load("delta")
    q = actuators_at_home(robot) + np.array([0.1, -0.05, 0.07])
    found = fp.assembly_modes(robot, q)
    mode = found["operation_mode"].values
    still = found["position"].values[mode == "translational"]
    expected = delta_by_spheres(robot, q)
    assert len(still) == 2
    assert np.abs(still[:, None] - expected[None]).max(axis=2).min(axis=1).max() < CLOSED_FORM
    turned = np.abs(found["rotation"].values - np.eye(3)).max(axis=(1, 2))
    assert np.all((turned < SAME_POSE) == (mode == "translational"))
    _, generic = generic_solutions(robot)
    assert np.bincount(generic.mode).tolist() == [2, 80, 2]
    assert int(found["count"]) == 16


@pytest.mark.full
def test_delta_at_home_has_sixteen_real_poses():
    found = fp.assembly_modes(fp.load("delta"), actuators_at_home(fp.load("delta")))
    assert int(found["count"]) == 16
    assert np.sum(found["operation_mode"].values == "translational") == 2


@pytest.mark.full
def test_the_stored_solutions_of_the_delta_are_found_again():
    generic = search(Loops(fp.load("delta")))
    assert np.bincount(generic.mode).tolist() == [2, 80, 2]


def test_a_robot_of_other_lengths_does_not_take_stored_solutions():
    robot = fp.load("delta")
    assert fingerprint(robot) != fingerprint(robot.with_parameters({"home.position": [0, 0, -0.76]}))


def test_exchanged_axes_do_not_close_a_fixed_joint():
    """The rows of a fixed joint vanish also where its axes are exchanged in a circle, with products of 0 and rounding."""
    robot = fp.load("tricept")
    loops, closing = Loops(robot), robot.legs[0].closing
    assert closing.type == "fixed"
    home, count = loops.home, 20
    noise = 1e-16 * np.random.default_rng(1).normal(size=(count, 3, 3))
    exchanged = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    frame = home.R[0] @ closing.on_platform.rotation
    R = frame @ (exchanged + noise) @ closing.on_platform.rotation.T
    turned = Points(p=np.repeat(home.p, count, axis=0), R=R, q=np.repeat(home.q, count, axis=0))
    assert loops.aligned(home).all()
    assert not loops.aligned(turned).any()


def test_tripteron_has_one_pose():
    robot = fp.load("tripteron")
    q = actuators_at_home(robot) + np.array([0.02, -0.05, 0.03])
    found = fp.assembly_modes(robot, q)
    assert int(found["count"]) == 1
    np.testing.assert_allclose(found["position"].values[0], fp.forward_kinematics(robot, q)["position"].values, atol=SAME_POSE)


def test_loops_and_spheres_agree_on_a_hexapod():
    """The general way on a robot that has the special one, along one path: the pose of home continued to other actuators."""
    robot = fp.load("gough-stewart")
    loops, q0 = Loops(robot), actuators_at_home(robot)
    q1 = q0 + np.array([0.01, -0.02, 0.015, 0.0, 0.02, -0.01])
    x, arrived = follow(loops, loops.home, q0.astype(complex), q1.astype(complex))
    assert arrived.all()
    found = fp.assembly_modes(robot, q1, certify=False)
    assert np.abs(found["position"].values - x.p.real).max(axis=1).min() < SAME_POSE
