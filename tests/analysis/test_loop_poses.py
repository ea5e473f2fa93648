"""Poses from loop equations: known counts, closed forms of five-bar and Delta, operation modes, derivatives."""

import numpy as np
import pytest
from pose_robots import planar
from space_robots import planar_3rpr, planar_3rpr_of

import flexapod as fp
from flexapod.analysis.model.closing_signs import wrong_way
from flexapod.analysis.poses.complex_loops import ComplexLoops, Points
from flexapod.analysis.poses.generic_balls import with_generic_balls
from flexapod.analysis.poses.loop_paths import distinct, polished, track_paths
from flexapod.analysis.poses.operation_modes import fingerprint, generic_solutions, search
from flexapod.analysis.poses.sphere_legs import is_on_spheres
from flexapod.analysis.requests.results import SampleError
from flexapod.analysis.verbs.assembly_modes import SelfMotionError
from flexapod.motions.rotations import rotvec_rotation
from flexapod.robot.leg_positions import link_poses

DERIVATIVE = 1e-6  # central differences with a step of 1e-5, error of second order
CLOSED_FORM = 1e-10  # intersection of circles or spheres against Newton; measured 1e-15
SAME_POSE = 1e-9  # one pose by two ways, well conditioned; parts of a pose that vanish
DOUBLE_POSE = 1e-6  # a root of the rounding, relative to the characteristic length; measured 4e-8
ROUNDING = 1e-15
"""Positions [m] below 1 and entries of rotations: a chain of three."""


def actuators_at_home(robot: fp.Robot) -> np.ndarray:
    return np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]


@pytest.mark.parametrize("name", ["delta", "tripteron", "five-bar", "gough-stewart"])
def test_derivatives_of_closing_rows(name):
    loops = ComplexLoops(fp.load(name))
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
    loops = ComplexLoops(robot)
    q0 = actuators_at_home(robot)
    q1 = q0 + np.array([0.2, -0.1, 0.15])
    x, arrived = track_paths(loops, loops.home, q0.astype(complex), q1.astype(complex))
    assert arrived.all()
    np.testing.assert_allclose(x.p[0].real, fp.forward_kinematics(robot, q1)["position"].values, rtol=0, atol=SAME_POSE)


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


@pytest.mark.parametrize("revolutions", [1, -159])
def test_whole_revolutions_of_an_actuator_change_nothing(revolutions):
    robot = fp.load("five-bar")
    q = actuators_at_home(robot) + np.array([0.05, -0.1])
    near, far = (fp.assembly_modes(robot, q + np.array([rotation, 0.0])) for rotation in (0.0, 2.0 * np.pi * revolutions))
    assert int(far["count"]) == 2
    np.testing.assert_allclose(far["position"].values, near["position"].values, rtol=0, atol=SAME_POSE)


@pytest.mark.parametrize("kind", ["rrr", "rpr"])
def test_planar_robots_have_six_complex_poses(kind, tmp_path):
    """C. Gosselin, J. Merlet, The direct kinematics of planar parallel manipulators (1994)."""
    robot = planar(kind, tmp_path)
    q = actuators_at_home(robot) + np.array([0.03, -0.02, 0.05])
    found = fp.assembly_modes(robot, q)
    assert int(found["complex_count"]) == 6
    assert int(found["count"]) % 2 == 0
    near = fp.forward_kinematics(robot, q)
    np.testing.assert_allclose(found["position"].values[0], near["position"].values, rtol=0, atol=SAME_POSE)
    assert found["certified"].values.all()
    assert str(found["completeness"].values) == "proven"


def test_a_3rpr_with_similar_triangles_is_trace_tested():
    """It has 4 generic poses (two of 6 are at infinity), below the proven number: completeness is the trace test's."""
    robot = fp.load("planar-3-rpr")
    found = fp.assembly_modes(robot, actuators_at_home(robot) + np.array([0.03, -0.02, 0.05]))
    assert int(found["complex_count"]) == 4
    assert found["certified"].values.all()
    assert str(found["completeness"].values) == "trace-tested"
    home = fp.assembly_modes(robot, actuators_at_home(robot))
    assert "the trace test found all generic poses, but some of their paths end at infinity" in str(home["detail"].values)


def delta_by_spheres(robot: fp.Robot, q: np.ndarray) -> np.ndarray:
    """The two positions of a translating Delta: three spheres about the elbows, moved by the wrists."""
    centres = []
    for k in range(3):
        angle = 2.0 * np.pi * k / 3.0
        Z = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
        rotation = np.array([[np.cos(q[k]), 0, np.sin(q[k])], [0, 1, 0], [-np.sin(q[k]), 0, np.cos(q[k])]])
        centres.append(Z @ (np.array([0.2, 0, 0]) + rotation @ np.array([0.3, 0, 0]) - np.array([0.045, 0, 0])))
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
    rotated = np.abs(found["rotation"].values - np.eye(3)).max(axis=(1, 2))
    assert np.all((rotated < SAME_POSE) == (mode == "translational"))
    _, generic = generic_solutions(robot)
    assert np.bincount(generic.mode).tolist() == [2, 80, 2]
    assert int(found["count"]) == 16
    assert int(found["complex_count"]) == 84
    assert str(found["completeness"].values) == "trace-tested"
    assert "trace test of degree 728" in str(found["detail"].values)


def test_rods_of_parallelograms_are_six_spheres():
    """A Delta whose forearms are two rods each: the translational poses by the spheres of the Delta, all of them proven."""
    robot = fp.load("delta-parallelograms")
    assert is_on_spheres(robot)
    q = actuators_at_home(robot) + np.array([0.3, 0.1, -0.2])
    found = fp.assembly_modes(robot, q)
    still = found["operation_mode"].values == "translational"
    expected = delta_by_spheres(robot, q)
    assert still.sum() == 2
    assert np.abs(found["position"].values[still][:, None] - expected[None]).max(axis=2).min(axis=1).max() < CLOSED_FORM
    assert int(found["count"]) == 16
    assert str(found["completeness"].values) == "proven"
    near = fp.forward_kinematics(robot, q)
    np.testing.assert_allclose(found["position"].values[0], near["position"].values, rtol=0, atol=SAME_POSE)
    assert not is_on_spheres(fp.load("orthoglide"))
    assert not is_on_spheres(fp.load("h4"))


STORED = {
    "five-bar": (2, 8), "tripteron": (1, 1), "dualemps": (2, 4), "spherical-five-bar": (2, 12), "agile-eye": (8, 56),
    "3-ups-s": (8, 16), "exechon": (16, 64), "4-ruu": (16, 94), "tricept": (24, 56), "delta": (84, 728),
    "par4": (8, 56),
}  # fmt: skip
"""Complex poses and the degree of the trace test, as `python tools/make_start_systems.py` found them."""


def test_stored_poses_are_those_of_the_catalogue_and_trace_tested(monkeypatch):
    monkeypatch.setattr("flexapod.analysis.poses.operation_modes.search", lambda *_: pytest.fail("searched, not stored"))
    for name, (count, degree) in STORED.items():
        robot = fp.load(name)
        loops, generic = generic_solutions(robot)
        assert (len(generic.x), generic.degree) == (count, degree), name
        assert loops.aligned(generic.x).all(), name
        assert len(distinct(loops, generic.x)) == count, name
    assert fingerprint(fp.load("delta-flexible")) == fingerprint(fp.load("delta"))
    assert fingerprint(fp.load("dualemps-8")) == fingerprint(fp.load("dualemps"))


@pytest.mark.full
def test_delta_at_home_has_sixteen_real_poses():
    found = fp.assembly_modes(fp.load("delta"), actuators_at_home(fp.load("delta")))
    assert int(found["count"]) == 16
    assert np.sum(found["operation_mode"].values == "translational") == 2


@pytest.mark.full
def test_the_stored_solutions_of_the_delta_are_found_again():
    generic = search(ComplexLoops(fp.load("delta")))
    assert np.bincount(generic.mode).tolist() == [2, 80, 2]


def test_a_robot_of_other_lengths_does_not_take_stored_solutions():
    robot = fp.load("delta")
    assert fingerprint(robot) != fingerprint(robot.with_parameters({"home.position": [0, 0, -0.76]}))


def test_exchanged_axes_do_not_close_a_fixed_joint():
    """The rows of a fixed joint vanish also where its axes are exchanged in a circle, with products of 0 and rounding."""
    robot = fp.load("tricept")
    loops, closing = ComplexLoops(robot), robot.legs[0].closing
    assert closing.type == "fixed"
    home, count = loops.home, 20
    noise = 1e-16 * np.random.default_rng(1).normal(size=(count, 3, 3))
    exchanged = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    frame = home.R[0] @ closing.on_platform.rotation
    R = frame @ (exchanged + noise) @ closing.on_platform.rotation.T
    rotated = Points(p=np.repeat(home.p, count, axis=0), R=R, q=np.repeat(home.q, count, axis=0))
    assert loops.aligned(home).all()
    assert not loops.aligned(rotated).any()


@pytest.mark.parametrize(("name", "axis"), [("five-bar", "X"), ("tripteron", "Z"), ("tricept", "Z")])
def test_poses_with_a_reversed_joint_are_refused(name, axis):
    """Half a revolution of the platform at home keeps all rows of its closing joints at zero, with opposite axes."""
    robot = fp.load(name)
    rotated = fp.motions.euler_rotation(axis, [np.pi]) @ robot.home.rotation
    state = fp.State(position=robot.home.position, rotation=rotated)
    for verb in (fp.inverse_kinematics, fp.singularities):
        with pytest.raises(SampleError, match=r"the robot cannot reach this pose: joint \w+ of leg \w+ would be reversed"):
            verb(robot, state)
    assert "would be reversed" in str(fp.check_pose(robot, state))


@pytest.mark.parametrize(("name", "joint"), [("h4", "hinge"), ("orthoglide", "wrist")])
def test_reversed_joints_of_loops_through_several_legs_are_named(name, joint):
    """Joints of home with the platform turned over; the pose of home itself has none."""
    robot = fp.load(name)
    q, p, R = np.concatenate([leg.home for leg in robot.legs])[None], robot.home.position[None], robot.home.rotation[None]
    assert wrong_way(robot, q, p, R)[0] == ""
    rotated = fp.motions.euler_rotation("X", [np.pi]) @ R
    assert f"joint {joint} of leg" in wrong_way(robot, q, p, rotated)[0]


def test_forward_kinematics_finds_no_pose_with_a_reversed_joint():
    """Of the tricept, the platform is fixed to the slide of a universal joint: its y axis stays normal to the first axis, x."""
    robot, random = fp.load("tricept"), np.random.default_rng(1)
    q = actuators_at_home(robot) + np.array([0.01, 0.02, -0.01])
    position = robot.home.position + random.normal(size=(60, 3))
    guess = fp.State(position=position, rotation=rotvec_rotation(1.8 * random.normal(size=(60, 3))))
    found = fp.forward_kinematics(robot, np.tile(q, (60, 1)), guess=guess, assembly="any", on_error="mask")
    valid = found["valid"].values
    assert valid.any()
    assert np.abs(found["rotation"].values[valid, 0, 1]).max() < SAME_POSE


def test_tripteron_has_one_pose():
    robot = fp.load("tripteron")
    q = actuators_at_home(robot) + np.array([0.02, -0.05, 0.03])
    found = fp.assembly_modes(robot, q)
    assert int(found["count"]) == 1
    forward = fp.forward_kinematics(robot, q)["position"].values
    np.testing.assert_allclose(found["position"].values[0], forward, rtol=0, atol=SAME_POSE)


def test_loops_and_spheres_agree_on_a_hexapod():
    """The general way on a robot that has the special one, along one path: the pose of home continued to other actuators."""
    robot = fp.load("gough-stewart")
    loops, q0 = ComplexLoops(robot), actuators_at_home(robot)
    q1 = q0 + np.array([0.01, -0.02, 0.015, 0.0, 0.02, -0.01])
    x, arrived = track_paths(loops, loops.home, q0.astype(complex), q1.astype(complex))
    assert arrived.all()
    found = fp.assembly_modes(robot, q1, certify=False)
    assert np.abs(found["position"].values - x.p.real).max(axis=1).min() < SAME_POSE


def circles_of_a_3rsr(q: np.ndarray) -> np.ndarray:
    """Side lengths squared (.., 3) of the triangle of the balls, from crank angles q (.., 3): cranks of 0.2 m at 0.1 m from the
    axis, 120 degrees apart. The platform's cranks are equal to the base's, so that poses are angles with the same sides."""
    r, z = 0.1 + 0.2 * np.cos(q), 0.2 * np.sin(q)
    pairs = [(0, 1), (1, 2), (2, 0)]
    sides = [r[..., i] ** 2 + r[..., j] ** 2 + r[..., i] * r[..., j] + (z[..., i] - z[..., j]) ** 2 for i, j in pairs]
    return np.stack(sides, axis=-1)


def test_the_3rsr_has_sixteen_poses():
    """Its balls lie on three circles of the platform, three equations of degree 2 in each of two half tangents. Their Groebner
    basis modulo 32003 leaves a quotient ring of dimension 16, and the resultant in one half tangent has, over the rational
    numbers, factors of degree 1, 1 and 14: the pose that mirrors the base, the one that lies on it, and the others."""
    robot = fp.load("3-rsr")
    q = actuators_at_home(robot) + np.array([0.1, -0.05, 0.07])
    found = fp.assembly_modes(robot, q)
    assert int(found["complex_count"]) == 16
    assert str(found["completeness"].values) == "proven"
    p, R = found["position"].values, found["rotation"].values
    folded = np.abs(p).max(axis=1) + np.abs(R - np.eye(3)).max(axis=(1, 2))
    assert np.sum(folded < SAME_POSE) == 1
    angle = 2.0 * np.pi * np.arange(3) / 3.0
    radial = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    balls = (0.1 + 0.2 * np.cos(q))[:, None] * radial + 0.2 * np.sin(q)[:, None] * np.array([0.0, 0.0, 1.0])
    normal = np.cross(balls[1] - balls[0], balls[2] - balls[0])
    normal /= np.linalg.norm(normal)
    mirrored = 2.0 * normal * (normal @ balls[0])
    assert np.abs(p - mirrored).max(axis=1).min() < CLOSED_FORM
    seen = np.einsum("nji,nkj->nki", R, balls - p[:, None])  # balls in platform axes
    along = np.einsum("nki,ki->nk", seen, radial)
    assert np.abs(np.einsum("nki,ki->nk", seen, np.cross([0.0, 0.0, 1.0], radial))).max() < CLOSED_FORM
    assert np.abs(np.hypot(along - 0.1, seen[..., 2]) - 0.2).max() < CLOSED_FORM
    own = np.arctan2(seen[..., 2], along - 0.1)
    assert np.abs(circles_of_a_3rsr(own) - circles_of_a_3rsr(q)).max() < CLOSED_FORM


@pytest.mark.full
def test_loops_and_spheres_agree_on_the_3rsr():
    """Monodromy on the loop equations, where the pose on the base has singular coordinates unless balls are generic."""
    robot = fp.load("3-rsr")
    loops = ComplexLoops(robot)
    generic = search(loops)
    assert sorted(np.bincount(generic.mode)) == [1, 1, 14]
    q = actuators_at_home(robot) + np.array([0.1, -0.05, 0.07])
    x, arrived = track_paths(loops, generic.x, generic.q, q.astype(complex))
    assert arrived.all()
    x, good, _ = polished(loops, x)  # ends of paths are found to 1e-8 only
    assert good.all()
    real = np.abs(x.p.imag).max(axis=1) + np.abs(x.R.imag).max(axis=(1, 2)) < SAME_POSE
    found = fp.assembly_modes(robot, q)["position"].values
    assert int(real.sum()) == len(found)
    assert np.abs(x.p[real].real[:, None] - found[None]).max(axis=2).min(axis=1).max() < SAME_POSE


def test_generic_balls_are_the_same_joints():
    """Home of the leg in its new coordinates, and a random rotation of the ball, which old coordinates reach too."""
    leg = fp.load("3-rsr").legs[1]
    new, on, at = with_generic_balls(leg), leg.closing.on_link, []
    for one in (leg, new):
        R, p = link_poses(one, one.home)[one.closing.link]
        at.append((p + R @ one.closing.on_link.position, R @ one.closing.on_link.rotation))
    np.testing.assert_allclose(at[0][0], at[1][0], rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(at[0][1], at[1][1], rtol=0, atol=ROUNDING)
    R, p = link_poses(new, new.home + np.array([0.0, 0.4, -0.7, 0.3]))[new.closing.link]
    ball = link_poses(leg, leg.home)[1][1]
    assert np.linalg.norm(p + R @ new.closing.on_link.position - ball) == pytest.approx(np.linalg.norm(on.position), abs=ROUNDING)


def test_flexible_legs_are_taken_undeformed_on_spheres():
    rigid, flexible = fp.load("gough-stewart"), fp.load("gough-stewart-flexible-legs")
    assert is_on_spheres(flexible)
    found = fp.assembly_modes(flexible, actuators_at_home(flexible))
    assert int(found["complex_count"]) == 40
    assert str(found["completeness"].values) == "proven"
    assert int(found["count"]) == int(fp.assembly_modes(rigid, actuators_at_home(rigid))["count"])


def test_poses_with_a_pin_the_wrong_way_do_not_hide_right_ones():
    """Of a spherical five-bar, the pin of the second leg may also point backwards at the same pose, with other joint angles."""
    robot = fp.load("spherical-five-bar")
    assert len(search(ComplexLoops(robot)).x) == 2


def test_the_stretched_five_bar_has_one_double_pose():
    """Elbows at (-0.25, 0.2) and (0.25, 0.2), distal links of 0.25 m: the two circles touch at (0, 0.2)."""
    angle = np.arccos(0.6)
    found = fp.assembly_modes(fp.load("five-bar"), [np.pi - angle, angle])
    assert int(found["count"]) == int(found["complex_count"]) == 1
    np.testing.assert_allclose(found["position"].values[0], [0.0, 0.2, 0.0], rtol=0, atol=DOUBLE_POSE)
    assert found["residual"].values[0] < CLOSED_FORM
    assert str(found["self_motion"].values) == "none"
    assert str(found["completeness"].values) == "unknown"
    assert "1 real pose of higher multiplicity" in str(found["detail"].values)


def test_a_five_bar_whose_elbows_coincide_has_a_self_motion():
    """Both elbows at (0, 0.229): the tip turns about them."""
    angle = np.arccos(-0.4)
    with pytest.raises(SelfMotionError, match="the platform can move while the actuators are at rest"):
        fp.assembly_modes(fp.load("five-bar"), [np.pi - angle, angle])


def test_a_singular_pose_on_circles_is_listed_and_not_certified():
    """Legs of a 3-RPR at a pose where their lines meet in a point, found by bisection of the determinant over the rotation."""
    robot = planar_3rpr()
    a, b = np.array([[0, 0], [15.91, 0], [0, 10.0]]), np.array([leg.closing.on_platform.position[:2] for leg in robot.legs])

    def lines(angle: float) -> tuple[np.ndarray, float]:
        arm = b @ np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        d = np.array([-5.0, 10.0]) + arm - a
        return d, float(np.linalg.det(np.column_stack([d, arm[:, 0] * d[:, 1] - arm[:, 1] * d[:, 0]])))

    low, high = -0.5, -0.45
    assert lines(low)[1] * lines(high)[1] < 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if lines(middle)[1] * lines(low)[1] > 0.0 else (low, middle)
    found = fp.assembly_modes(robot, np.linalg.norm(lines(low)[0], axis=1))
    assert int(found["count"]) == 1
    assert int(found["complex_count"]) == 5  # four simple ones, one double
    double = DOUBLE_POSE * robot.characteristic_length
    np.testing.assert_allclose(found["position"].values[0], [-5.0, 10.0, 0.0], rtol=0, atol=double)
    assert not found["certified"].values.any()


def test_congruent_triangles_on_equal_legs_have_a_self_motion_beside_isolated_poses():
    """The platform of a 3-RPR translates on a circle."""
    triangle = [[0.0, 0.0, 0.0], [10.0, 0.0, 0.0], [3.0, 8.0, 0.0]]
    robot = planar_3rpr_of(triangle, triangle)
    found = fp.assembly_modes(robot, actuators_at_home(robot))
    assert str(found["self_motion"].values) == "real"
    assert str(found["completeness"].values) == "unknown"
    assert np.abs(found["rotation"].values - np.eye(3)).max(axis=(1, 2)).min() > 0.1, "poses on the circle are not isolated"
