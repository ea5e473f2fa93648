"""Staicu 2009 and Sinatra 2009 equation by equation: the papers' own matrices and angles against catalogue, motions, kernel."""

import numpy as np
import pytest
import recursive_matrices as paper

import flexapod
from flexapod.analysis.model.kernels import kernel
from flexapod.analysis.verbs.inverse_kinematics import solve_from_starts
from flexapod.analysis.verbs.sampling import random_states
from flexapod.motions.papers import HEXAPOD_HEIGHT, STEWART_HEIGHT
from flexapod.motions.rotations import euler_motion

LEGS = "ABCDEF"
ORDER = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
ROUNDING = 2e-15
"""Geometry of size 1 from a few trigonometric functions."""

PRINTED = 1e-3
"""Angles [deg] and lengths [m] of the papers' notes are printed to three and six digits."""

AGREE = 1e-12
"""Of the largest entry: rounding times the condition of the sampled poses (at most 200); measured below 1e-14."""
SIX_DECIMALS = 1e-6
"""Length [m] as the papers' notes print it."""
HALF_A_MILLIMETRE = 5e-4
"""A distance [m] is written with three decimals."""

ROBOTS = {"stewart-3-3": (paper.stewart_leg, paper.stewart_forces), "hexapod": (paper.hexapod_leg, paper.hexapod_forces)}


def vector(robot, name):
    return np.array([robot.values[f"legs.{name}.{axis}"] for axis in "xyz"])


@pytest.mark.parametrize("leg", LEGS)
def test_stewart_geometry(leg):
    """Staicu Eqs. (1)-(3), (8): base joints, first universal axes and platform joints of the catalogue robot."""
    robot = flexapod.load("stewart-3-3")
    base, axis, joint = paper.stewart_geometry(leg)
    assert np.abs(base - vector(robot, f"{leg}.U")).max() < ROUNDING
    assert np.abs(axis - vector(robot, f"{leg}.axis1")).max() < ROUNDING
    assert np.abs(joint - vector(robot, f"{leg}.S")).max() < ROUNDING


@pytest.mark.parametrize("leg", LEGS)
def test_hexapod_geometry(leg):
    """Sinatra Eqs. (1)-(3), (8): rails, first universal axes and platform joints of the catalogue robot."""
    robot = flexapod.load("hexapod")
    base, a10, to_cross, joint = paper.hexapod_geometry(leg)
    assert np.abs(base - vector(robot, f"{leg}.U")).max() < ROUNDING
    assert np.abs(a10.T @ paper.U3 - vector(robot, f"{leg}.drive")).max() < ROUNDING
    assert np.abs((to_cross @ a10).T @ paper.U3 - vector(robot, f"{leg}.axis1")).max() < ROUNDING
    assert np.abs(joint - vector(robot, f"{leg}.S")).max() < ROUNDING


def test_parameters_of_the_examples():
    """Sinatra Eq. (24) and the relations before Eq. (1); Staicu's height: what follows from them is what the motions use."""
    assert paper.HEXAPOD["h"] == pytest.approx(HEXAPOD_HEIGHT, abs=ROUNDING)
    assert paper.HEXAPOD["l1"] == pytest.approx(0.347537, abs=SIX_DECIMALS)
    assert np.degrees(paper.HEXAPOD["beta0"]) == pytest.approx(59.680, abs=PRINTED)
    assert np.degrees(paper.HEXAPOD["beta"]) == pytest.approx(30.474, abs=PRINTED)
    assert paper.STEWART["l0"] * np.tan(paper.STEWART["beta"]) == pytest.approx(STEWART_HEIGHT, abs=2 * ROUNDING)
    robot = flexapod.load("hexapod")
    assert robot.platform.mass == paper.HEXAPOD["mp"]
    for body, mass in (("slider", "m1"), ("cross", "m2"), ("link", "m3")):
        assert robot.bodies_by_name[f"A.{body}"].mass == paper.HEXAPOD[mass]


@pytest.mark.parametrize("name", ROBOTS)
def test_loops_close(name):
    """Eq. (7) of both papers: every leg ends at its platform joint, at random poses; at home all angles are zero."""
    robot, make_leg = flexapod.load(name), ROBOTS[name][0]
    states = random_states(robot, 10, seed=2)
    for leg in LEGS:
        joint = vector(robot, f"{leg}.S")
        for p, R in zip(states["position"], states["rotation"], strict=True):
            assert np.abs(paper.end(make_leg(leg, p, R.T)) - p - R @ joint).max() < 4 * ROUNDING
        home = make_leg(leg, robot.home.position, np.eye(3))
        if name == "stewart-3-3":
            assert np.abs(home.a[1] - paper.about_y(paper.STEWART["beta"])).max() < 4 * ROUNDING
        else:
            constant = paper.about_z(paper.HEXAPOD["beta"]) @ paper.THETA1 @ paper.THETA
            assert np.abs(home.a[2] - constant).max() < 4 * ROUNDING


def test_printed_transpose_of_the_hexapod_misses_the_loop():
    """Erratum of Sinatra Eq. (2): with the printed a_2alpha^T the loop of leg A misses by 0.458 m along y; else by nothing."""
    base, a10, to_cross, joint = paper.hexapod_geometry("A")
    target = paper.HEXAPOD["h"] * paper.U3 + joint
    alpha2 = paper.HEXAPOD_SIGN["A"] * (np.pi / 3 + paper.ALPHA0)
    printed = paper.THETA1 @ paper.about_z(alpha2).T @ paper.about_y(paper.HEXAPOD["beta0"]).T
    misses = []
    for cross in (to_cross, printed):
        leg = paper.about_z(paper.HEXAPOD["beta"]) @ paper.THETA1 @ paper.THETA @ cross @ a10
        end = base + paper.HEXAPOD["l1"] * a10.T @ paper.U3 + paper.HEXAPOD["l3"] * leg.T @ paper.U2
        misses.append(np.abs(end - target).max())
    assert misses[0] < 4 * ROUNDING
    assert misses[1] == pytest.approx(0.458, abs=HALF_A_MILLIMETRE)


def test_platform_rotation_and_its_derivatives():
    """Staicu Eqs. (4)-(5), (9), (15), (18); Sinatra Eqs. (4)-(5), (9), (14), (17): the motions' XYZ angles are the papers'."""
    random = np.random.default_rng(1)
    for _ in range(10):
        angles, rates, seconds = random.uniform(-1, 1, (3, 3))
        R, w, alpha = euler_motion("XYZ", angles, rates, seconds)
        assert np.abs(R.T - paper.platform_rotation(angles)).max() < ROUNDING
        assert np.abs(paper.tilde(w) - paper.platform_spin(angles, rates)).max() < 4 * ROUNDING
        matrix = paper.tilde(w) @ paper.tilde(w) + paper.tilde(alpha)
        assert np.abs(matrix - paper.platform_acceleration_matrix(angles, rates, seconds)).max() < 10 * ROUNDING


@pytest.mark.parametrize("name", ROBOTS)
def test_velocities_and_accelerations_along_the_legs(name):
    """Recursions and connectivity (Staicu Eqs. 11-14, 17, 19; Sinatra Eqs. 10-13, 16, 18) against the closed-form kinematics."""
    robot, make_leg = flexapod.load(name), ROBOTS[name][0]
    states = random_states(robot, 8, seed=5)
    found, _ = solve_from_starts(kernel(robot, "inverse_kinematics", detail="joints"), states)
    for i in range(8):
        p, R, v, w, a, alpha = (states[key][i] for key in ORDER)
        for k, leg_name in enumerate(LEGS):
            leg, r = make_leg(leg_name, p, R.T), R @ vector(robot, f"{leg_name}.S")
            rates = np.linalg.solve(paper.connectivity(leg), v + np.cross(w, r))
            assert np.abs(paper.end_velocity(leg, rates) - v - np.cross(w, r)).max() < AGREE
            target = a + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
            still = paper.end_acceleration(leg, paper.motion(leg, rates, np.zeros(3)))
            seconds = np.linalg.solve(paper.connectivity(leg), target - still)
            assert np.abs(paper.end_acceleration(leg, paper.motion(leg, rates, seconds)) - target).max() < 10 * AGREE
            assert abs(rates[leg.actuator] - found.outputs["actuator_velocity"][i, k]) < AGREE
            assert abs(seconds[leg.actuator] - found.outputs["actuator_acceleration"][i, k]) < 10 * AGREE
            # the passive rates too, up to the sign of their axes
            ours = found.outputs["joint_velocity"][i, 3 * k : 3 * k + 3]
            assert np.abs(np.abs(ours) - np.abs(rates)).max() < AGREE


@pytest.mark.parametrize("name", ROBOTS)
def test_forces_of_the_papers_are_those_of_the_kernel(name):
    """The whole method as printed, errata applied (Staicu Eqs. 16, 20-21; Sinatra Eqs. 15, 19-23), at random states."""
    robot, forces = flexapod.load(name), ROBOTS[name][1]
    states = random_states(robot, 20, seed=9)
    literal = [forces(*arrays) for arrays in zip(*(states[key] for key in ORDER), strict=True)]
    found = kernel(robot, "virtual_work").batch({**states, "wrench": np.zeros((20, 6))})
    for key, column in (("force", 0), ("power", 1)):
        expected = np.array([both[column] for both in literal])
        assert np.abs(found.outputs[key] - expected).max() < AGREE * np.abs(expected).max()
