"""All real poses: published counts, poses that inverse kinematics returns, agreement with another solver, self-motions."""

import numpy as np
import pytest
from pose_robots import (
    DIETMAIER_BASE,
    DIETMAIER_LENGTHS,
    DIETMAIER_PLATFORM,
    griffis_duffy,
    hexapod_of,
    random_platforms,
    three_rps,
)

import flexapod as fp
from flexapod.analysis.poses.monodromy import load_start, monodromy
from flexapod.analysis.poses.platform_poses import parameters, real_poses, six_leg_tracker, solve_platforms
from flexapod.analysis.poses.sphere_legs import spheres
from flexapod.analysis.verbs.assembly_modes import SelfMotionError
from flexapod.analysis.verbs.sampling import random_states

LEG_LENGTH = 1e-14  # asked for; measured 5e-16
INVERSE = 1e-12  # asked for; measured 3e-15 [m or rad] where an actuator follows its joint, 5e-16 over the gain elsewhere
FOLLOWS = 1e3  # gain of an actuator up to which its own error is tested: rounding of a pose alone is 1e-16 times the gain
SAME_POSE = 1e-9  # one pose by two ways, well conditioned
DOUBLE = 1e-5
"""Pose [m, entries of a rotation] of multiplicity two, found to half of the digits; measured 8e-7."""
DOUBLE_LEGS = 1e-10
"""Leg equations at such a pose: the square of its error."""
HALF_OF_THE_DIGITS = 1e-6
"""Residual and position [m] of poses of which some have multiplicity two."""
SPHERE_ROBOTS = ["stewart-3-3", "gough-stewart", "hexapod", "hexaslide", "hexa"]


def actuators_at_home(robot: fp.Robot) -> np.ndarray:
    return np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]


def dietmaier(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return tuple(np.repeat(v[None], count, axis=0) for v in (DIETMAIER_BASE, DIETMAIER_PLATFORM, DIETMAIER_LENGTHS**2))


def check_dietmaier(count: int) -> None:
    a, b, s = dietmaier(count)
    solutions = solve_platforms(a, b, s)
    poses = real_poses(a, b, s, solutions)
    assert np.all(np.bincount(poses.platform, minlength=count) == 40)
    assert poses.residual.max() < LEG_LENGTH


def test_dietmaiers_platform_has_forty_real_poses():
    check_dietmaier(10)


@pytest.mark.full
def test_dietmaiers_platform_on_a_thousand_random_paths():
    check_dietmaier(1000)


def test_random_platforms_have_forty_complex_poses():
    """Real ones come in pairs; the pose that the lengths were computed from is among them."""
    a, b, s = random_platforms(40, 5)
    solutions = solve_platforms(a, b, s)
    assert np.all(solutions.found.sum(axis=1) == 40)
    count = np.bincount(real_poses(a, b, s, solutions).platform, minlength=40)
    assert np.all((count >= 2) & (count % 2 == 0))


@pytest.mark.full
def test_ten_thousand_random_platforms():
    """At most 5 may lack a solution; each is named. Prints the histogram of the real counts."""
    a, b, s = random_platforms(10_000, 7)
    solutions = solve_platforms(a, b, s)
    lacking = np.flatnonzero(solutions.found.sum(axis=1) < 40)
    count = np.bincount(real_poses(a, b, s, solutions).platform, minlength=10_000)
    print("real poses:", dict(zip(*np.unique(count, return_counts=True), strict=True)), "lacking:", lacking)
    assert len(lacking) <= 5, lacking


def test_solutions_do_not_depend_on_the_random_path():
    a, b, s = random_platforms(3, 9)
    one, two = (real_poses(a, b, s, solve_platforms(a, b, s, seed=seed)) for seed in (1, 2))
    for i in range(3):
        p, q = one.position[one.platform == i], two.position[two.platform == i]
        assert len(p) == len(q)
        assert np.abs(p[:, None] - q[None]).max(axis=2).min(axis=1).max() < SAME_POSE


def test_monodromy_finds_the_stored_number_of_solutions():
    start = load_start("six_three")
    random = np.random.default_rng(2)

    def member() -> np.ndarray:
        z = random.normal(size=(2, 54))
        values = z[0] + 1j * z[1]
        b = np.repeat(values[18:27].reshape(1, 3, 3), 2, axis=1)
        return parameters(values[:18].reshape(1, 6, 3), b, values[None, 48:])[0]

    found, _ = monodromy(six_leg_tracker(), start.p, start.x[:1], member, quiet=5)
    assert len(found) == 16


def check_inverse_kinematics(name: str, count: int, share: float) -> None:
    """Every pose has the actuators among its working modes, and the pose they were computed from is in the list.

    Beside a turning point of a slider or crank, coordinates q change without bound with the joint at the platform, dq = gain dS
    with gain = |d| / |d . dU/dq| (d from U to S), and the rounding of the pose to numbers of 16 digits shows in q gain times
    larger. There it is the joint that is compared: the error of q over the gain is how far S has to be moved for q to be exact.
    """
    robot = fp.load(name)
    drawn = random_states(robot, count, seed=4)
    at = fp.State(position=drawn["position"], rotation=drawn["rotation"])
    wanted = fp.inverse_kinematics(robot, at, joints=False)["actuator_position"].values
    found = fp.assembly_modes(robot, wanted)
    expected = 16 if name == "stewart-3-3" else 40
    assert np.all(found["complex_count"].values == expected)
    proven = found["completeness"].values == "proven"
    print(name, f"{proven.sum()} of {count} lists proven complete")
    assert np.mean(proven) >= share
    rotating = np.array(robot.actuator_units) == "rad"
    step = 1e-6
    given, ahead, behind = (spheres(robot, wanted + h, arrange=False) for h in (0.0, step, -step))
    crank, extends = (ahead.a - behind.a) / (2.0 * step), (ahead.s - behind.s) / (4.0 * step * np.sqrt(given.s))
    for i in range(count):
        n = int(found["count"].values[i])
        p, R = found["position"].values[i], found["rotation"].values[i]
        way = np.abs(p[:n] - at.position[i]).max(axis=1) + np.abs(R[:n] - at.rotation[i]).max(axis=(1, 2))
        assert way.min() < SAME_POSE
        assert found["certified"].values[i, :n].all()
        for k in range(n):
            modes = fp.working_modes(robot, fp.State(position=p[k], rotation=R[k]))
            gap = modes["actuator_position"].values - wanted[i]
            gap = np.abs(np.where(rotating, np.arctan2(np.sin(gap), np.cos(gap)), gap)).min(axis=0)
            d = p[k] + given.b[i] @ R[k].T - given.a[i]
            length = np.linalg.norm(d, axis=1)
            gain = 1.0 / np.abs(extends[i] + (d * crank[i]).sum(axis=1) / length)
            assert np.all(gap < INVERSE * np.maximum(gain, 1.0))
            assert np.all(gap[gain < FOLLOWS] < INVERSE)
            assert np.abs(length / np.sqrt(given.s[i]) - 1.0).max() < LEG_LENGTH


@pytest.mark.parametrize("name", SPHERE_ROBOTS)
def test_poses_of_robots_satisfy_inverse_kinematics(name):
    check_inverse_kinematics(name, 3, share=1.0)


@pytest.mark.full
@pytest.mark.parametrize("name", SPHERE_ROBOTS)
def test_poses_of_many_actuators_satisfy_inverse_kinematics(name):
    """All 40 are found each time. Of symmetric robots some complex ones lie so far away (e.e of 1e-6) that a certificate in
    double cannot hold them: then completeness is unknown, which must stay the exception."""
    check_inverse_kinematics(name, 60, share=0.5)


def test_newton_from_every_pose_stays_there():
    """Forward kinematics with a pose of the list as its guess returns it: another program, on the pose itself."""
    robot = fp.load("gough-stewart")
    wanted = actuators_at_home(robot) + np.array([0.01, -0.02, 0.015, 0.0, 0.02, -0.01])
    found = fp.assembly_modes(robot, wanted)
    guess = fp.State(position=found["position"].values, rotation=found["rotation"].values)
    again = fp.forward_kinematics(robot, np.tile(wanted, (len(guess), 1)), guess=guess)
    np.testing.assert_allclose(again["position"].values, guess.position, rtol=0, atol=SAME_POSE)
    np.testing.assert_allclose(again["rotation"].values, guess.rotation, rtol=0, atol=SAME_POSE)


def test_signs_of_the_determinant_match_the_jacobian():
    robot = fp.load("gough-stewart")
    found = fp.assembly_modes(robot, actuators_at_home(robot))
    at = fp.State(position=found["position"].values, rotation=found["rotation"].values)
    sign = np.sign(np.linalg.det(fp.jacobian(robot, at)["jacobian"].values))
    assert abs(np.sum(sign * np.sign(found["determinant"].values))) == len(sign)


def test_three_rps_has_sixteen_complex_poses(tmp_path):
    robot = three_rps(tmp_path)
    wanted = actuators_at_home(robot) + np.array([0.05, -0.08, 0.03])
    found = fp.assembly_modes(robot, wanted)
    assert int(found["complex_count"]) == 16
    assert str(found["completeness"].values) == "proven"
    near = fp.forward_kinematics(robot, wanted)
    gap = np.abs(found["position"].values - near["position"].values).max(axis=1)
    gap += np.abs(found["rotation"].values - near["rotation"].values).max(axis=(1, 2))
    assert gap.min() < SAME_POSE


def test_base_points_in_pairs_are_solved_from_the_other_side(tmp_path):
    """3-6: the platform's joints are apart, the base's in pairs; the base seen from the platform is a 6-3."""
    random = np.random.default_rng(3)
    a, b = np.repeat(random.uniform(-1, 1, (3, 3)), 2, axis=0), random.uniform(-1, 1, (6, 3))
    robot = hexapod_of(a, b, np.array([0.1, 0.2, 1.5]), tmp_path, "three-six")
    found = fp.assembly_modes(robot, actuators_at_home(robot))
    assert int(found["complex_count"]) == 16
    np.testing.assert_allclose(found["position"].values[0], [0.1, 0.2, 1.5], rtol=0, atol=SAME_POSE)
    at = fp.State(position=found["position"].values, rotation=found["rotation"].values)
    back = fp.inverse_kinematics(robot, at, joints=False)["actuator_position"].values
    np.testing.assert_allclose(back, np.tile(actuators_at_home(robot), (len(back), 1)), rtol=0, atol=INVERSE)


def test_four_platform_points_leave_thirty_two(tmp_path):
    """6-4: 32 complex poses (J.-P. Merlet, Parallel Robots, 2006); eight paths end at infinity. Completeness is not claimed."""
    a, b, _ = random_platforms(1, 13)
    b[0, 1], b[0, 3] = b[0, 0], b[0, 2]
    p = np.array([0.1, -0.2, 1.4])
    robot = hexapod_of(a[0], b[0], p, tmp_path, "six-four")
    found = fp.assembly_modes(robot, actuators_at_home(robot))
    assert int(found["complex_count"]) == 32
    assert str(found["completeness"].values) == "unknown"
    assert "8 paths end at infinity" in str(found["detail"].values)
    np.testing.assert_allclose(found["position"].values[0], p, rtol=0, atol=SAME_POSE)


def test_griffis_duffy_is_a_self_motion(tmp_path):
    a, b = griffis_duffy()
    robot = hexapod_of(a, b, np.array([0.1, 0.05, 1.5]), tmp_path, "griffis-duffy")
    with pytest.raises(SelfMotionError, match="self-motion: the platform can move while the actuators are at rest"):
        fp.assembly_modes(robot, actuators_at_home(robot))
    masked = fp.assembly_modes(robot, actuators_at_home(robot), on_error="mask")
    assert not bool(masked["valid"])
    assert int(masked["count"]) == 0


def test_equal_triangles_and_legs_have_a_self_motion_beside_isolated_poses():
    """With all legs equal, the octahedron of stewart-3-3 has equal opposite edges: Bricard's flexible octahedron."""
    robot = fp.load("stewart-3-3")
    found = fp.assembly_modes(robot, actuators_at_home(robot))
    assert str(found["self_motion"].values) == "real"
    assert str(found["completeness"].values) == "unknown"
    np.testing.assert_allclose(found["position"].values[0], robot.home.position, rtol=0, atol=SAME_POSE)
    other = fp.assembly_modes(robot, actuators_at_home(robot) + np.array([0.1, -0.2, 0.05, 0.0, 0.15, -0.1]))
    assert str(other["self_motion"].values) == "none"


@pytest.mark.parametrize("seed", [17, 18, 19])
def test_a_singular_pose_is_listed_once_and_not_certified(seed, tmp_path):
    """Lengths of a pose with a singular Jacobian: two paths end there, or 1e-8 apart by rounding, and it is one of 39 poses."""
    a, b, _ = random_platforms(1, seed)

    def determinant(z: float) -> float:
        lines = np.array([0.2, -0.1, z]) + b[0] - a[0]
        return float(np.linalg.det(np.concatenate([lines, np.cross(b[0], lines)], axis=1)))

    heights = np.linspace(-3.0, 3.0, 601)
    signs = np.sign([determinant(z) for z in heights])
    k = int(np.flatnonzero(signs[1:] != signs[:-1])[0])
    low, high = heights[k], heights[k + 1]
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.sign(determinant(middle)) == signs[k] else (low, middle)
    robot = hexapod_of(a[0], b[0], np.array([0.2, -0.1, low]), tmp_path, "singular")
    found = fp.assembly_modes(robot, actuators_at_home(robot))
    np.testing.assert_allclose(found["position"].values[0], [0.2, -0.1, low], rtol=0, atol=DOUBLE)
    assert not bool(found["certified"].values[0])
    assert int(found["complex_count"]) == 39
    assert np.linalg.norm(found["position"].values[1:] - found["position"].values[0], axis=1).min(initial=1.0) > 1e-3
    assert str(found["completeness"].values) == "unknown"


def test_poses_of_higher_multiplicity_are_polished_from_the_ends_of_their_paths():
    """An exact double pose: ends 1e-6 beside it lead back to it, once."""
    from flexapod.analysis.poses import quaternion_algebra as quat
    from flexapod.analysis.poses.self_motion import multiple_poses

    a = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [-1, 0, 0], [0, -1, 0]], dtype=float)
    b = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, -1, 0]], dtype=float)
    p = np.array([0.0, 0.0, 1.0])
    R = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    s = ((p + b @ R.T - a) ** 2).sum(axis=1)
    e = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
    x = np.concatenate([e, quat.product(quat.pure(p), e)])
    random = np.random.default_rng(1)
    ends = x + 1e-6 * (random.normal(size=(2, 8)) + 1j * random.normal(size=(2, 8)))
    position, rotation, residual = multiple_poses(a, b, s, ends)
    assert len(position) == 1
    np.testing.assert_allclose(position[0], p, rtol=0, atol=DOUBLE)
    np.testing.assert_allclose(rotation[0], R, rtol=0, atol=DOUBLE)
    assert residual[0] < DOUBLE_LEGS


def test_a_batch_gives_the_same_as_single_calls():
    robot = fp.load("hexapod")
    drawn = random_states(robot, 4, seed=6)
    at = fp.State(position=drawn["position"], rotation=drawn["rotation"])
    wanted = fp.inverse_kinematics(robot, at, joints=False)["actuator_position"].values
    batch = fp.assembly_modes(robot, wanted, certify=False)
    assert batch["position"].dims == ("sample", "mode", "axis")
    assert "not certified" in str(batch["detail"].values[0])
    for i in range(4):
        one = fp.assembly_modes(robot, wanted[i], certify=False)
        count = int(one["count"])
        assert int(batch["count"].values[i]) == count
        np.testing.assert_allclose(batch["position"].values[i, :count], one["position"].values, rtol=0, atol=SAME_POSE)
        assert np.isnan(batch["position"].values[i, count:]).all()


def test_bad_input_has_its_reason():
    robot = fp.load("gough-stewart")
    with pytest.raises(fp.InputError, match="expected shape"):
        fp.assembly_modes(robot, np.zeros(5))
    with pytest.raises(fp.InputError, match="would have no length or a negative one"):
        fp.assembly_modes(robot, -10.0 * np.ones(6))
    with pytest.raises(fp.InputError, match="arbitrary actuator coordinates contradict the loops"):
        fp.assembly_modes(fp.load("planar-4-prr"), np.zeros(4))
    with pytest.raises(fp.FlexapodError, match="finite"):
        fp.assembly_modes(robot, np.array([np.nan, 1, 1, 1, 1, 1]))
    with pytest.raises(fp.InputError, match="on_error"):
        fp.assembly_modes(robot, np.ones(6), on_error="ignore")


def test_lengths_that_no_pose_has_give_an_empty_list():
    robot = fp.load("gough-stewart")
    lengths = np.array([5.0, 0.1, 5.0, 0.1, 5.0, 0.1]) - actuators_at_home(robot) * 0.0
    found = fp.assembly_modes(robot, lengths)
    assert int(found["count"]) == 0
    assert int(found["complex_count"]) == 40
    assert str(found["completeness"].values) == "proven"


def test_poses_of_higher_multiplicity_are_listed_with_the_others():
    """3-PRS at home: symmetric, some paths end at poses of higher multiplicity."""
    robot = fp.load("3-prs")
    found = fp.assembly_modes(robot, np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)])
    count = int(found["count"])
    assert count == found.sizes["mode"] == int(found["complex_count"]) == 9
    assert np.all(found["residual"].values < HALF_OF_THE_DIGITS), "a root of multiplicity two is found to half of the digits"
    home = np.linalg.norm(found["position"].values - robot.home.position, axis=1).min()
    assert home < HALF_OF_THE_DIGITS


def test_an_empty_list_is_not_called_certified():
    """Legs of a million metres: all paths end at infinity."""
    found = fp.assembly_modes(fp.load("gough-stewart"), np.full(6, 1e6))
    assert str(found["detail"].values) == "0 of at most 40 complex poses found, 40 paths end at infinity"
