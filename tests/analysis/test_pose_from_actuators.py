"""Forward kinematics: returns the pose it came from, stays on the branch of its guess, names its failures."""

import re
from itertools import pairwise

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.poses.pose_guess import start_poses
from flexapod.analysis.poses.pose_reasons import PoseNotFoundError
from flexapod.analysis.poses.pose_search import PoseSearch
from flexapod.analysis.verbs.sampling import random_states
from flexapod.motions.rotations import rotation_rotvec, rotvec_rotation
from support.robots import RIGID

ROUND_TRIP = 1e-10  # asked for; measured 1e-14
EXACT = 1e-12  # closed form against Newton, rotations that must vanish
SAMPLES = 1000
STEPS = 1000  # of a walk along the straight path of the actuators
STATIONS = 8  # of a walk along the straight path of the platform
BLOCKED = {"4-ruu": 0.02, "hexaglide": 0.06}
"""Largest part of the samples whose straight path of the actuators from home passes a singular pose (measured: 1.5 and 5.7 %);
none of other robots. Home alone does not determine which pose belongs to their coordinates: they are refused."""


@pytest.fixture(scope="module", params=RIGID)
def robot(request):
    return fp.load(request.param)


def state(robot, count=SAMPLES, seed=11):
    drawn = random_states(robot, count, seed)
    return fp.State(position=drawn["position"], rotation=drawn["rotation"])


def actuators(robot, at):
    return fp.inverse_kinematics(robot, at, joints=False)["actuator_position"].values


def test_forward_after_inverse_returns_the_pose(robot):
    at = state(robot)
    wanted = actuators(robot, at)
    found = fp.forward_kinematics(robot, wanted, on_error="mask")
    reached, blocked = np.flatnonzero(found["valid"].values), np.flatnonzero(~found["valid"].values)
    np.testing.assert_allclose(found["position"].values[reached], at.position[reached], rtol=0, atol=ROUND_TRIP)
    np.testing.assert_allclose(found["rotation"].values[reached], at.rotation[reached], rtol=0, atol=ROUND_TRIP)
    assert found["position"].dims == ("sample", "axis")
    assert found["joint_position"].dims == ("sample", "joint")
    part = len(blocked) / SAMPLES
    why = f"{part:.1%} of the straight paths from home are blocked: a smaller sampling box, or a bound in BLOCKED"
    assert part <= BLOCKED.get(robot.name, 0.0), f"{why}; {found['reason'].values[blocked][0]}"
    if len(blocked):
        ends = singular_ends(robot, wanted[blocked])
        for reason, part in zip(found["reason"].values[blocked], ends, strict=True):
            percent = float(re.search(r"singular after ([\d.]+) %", reason).group(1))
            assert percent == pytest.approx(100.0 * part, abs=100.0 / STEPS)
        near = along_platform(robot, fp.State(position=at.position[blocked], rotation=at.rotation[blocked]))
        np.testing.assert_allclose(near["position"].values, at.position[blocked], rtol=0, atol=ROUND_TRIP)
        np.testing.assert_allclose(near["rotation"].values, at.rotation[blocked], rtol=0, atol=ROUND_TRIP)


def singular_ends(robot, wanted):
    """Parts of the straight path of the actuators from home at which the determinant of [J; G] vanishes.

    It falls as the root of what is left of the way (a fold): its square is extrapolated from the last two of small steps.
    """
    search = PoseSearch(robot)
    at, own, _ = start_poses(search, None, 1)
    at, square, ends = at.at(np.zeros(len(wanted), dtype=int)), np.zeros((2, len(wanted))), np.full(len(wanted), np.nan)
    for step in range(1, STEPS + 1):
        trial = search.newton(own + step / STEPS * search._shortest(wanted - own), at)
        now = determinant(robot, fp.State(position=trial.poses.position, rotation=trial.poses.rotation)) ** 2
        new = ~(trial.solved & trial.same) & np.isnan(ends)
        ends[new] = step - 1 + square[1, new] / (square[0, new] - square[1, new])
        at, square = trial.poses, np.stack([square[1], now])
        if not np.isnan(ends).any():
            break
    return ends / STEPS


def along_platform(robot, at):
    """Poses from actuator coordinates where each guess is the pose before it on the straight path of the platform from home."""
    found, tilt = None, rotation_rotvec(at.rotation @ robot.home.rotation.T)
    for part in np.linspace(0.0, 1.0, STATIONS + 1)[1:]:
        position = robot.home.position + part * (at.position - robot.home.position)
        way = fp.State(position=position, rotation=rotvec_rotation(part * tilt) @ robot.home.rotation)
        found = fp.forward_kinematics(robot, actuators(robot, way), guess=found)
    return found


def test_joint_coordinates_are_those_of_inverse_kinematics(robot):
    at = state(robot, 50)
    inverse = fp.inverse_kinematics(robot, at)
    found = fp.forward_kinematics(robot, inverse["actuator_position"].values, on_error="mask")
    reached = found["valid"].values
    assert reached.all() or (robot.name in BLOCKED and reached.sum() > 45)
    expected = inverse["joint_position"].values[reached]
    np.testing.assert_allclose(found["joint_position"].values[reached], expected, rtol=0, atol=EXACT)


@pytest.mark.parametrize("name", ["delta", "tripteron"])
def test_translational_robots_do_not_turn(name):
    robot = fp.load(name)
    random = np.random.default_rng(3)
    home = fp.forward_kinematics(robot, actuators(robot, fp.State(position=robot.home.position)))
    wanted = home["joint_position"].values[list(robot.driven)] + random.uniform(-0.15, 0.15, (200, 3))
    found = fp.forward_kinematics(robot, wanted)
    assert np.abs(found["rotation"].values - np.eye(3)).max() < EXACT


def test_convergence_is_quadratic():
    """The residual after k passes is the square of the one before, down to rounding."""
    robot = fp.load("stewart-3-3")
    R = rotvec_rotation(np.array([0.1, -0.15, 0.2]))
    wanted = actuators(robot, fp.State(position=[0.3, -0.2, 4.6], rotation=R))
    pose, gaps = fp.State(position=robot.home.position), []
    for _ in range(5):
        J = fp.jacobian(robot, pose)["jacobian"].values
        gap = wanted - actuators(robot, pose)
        gaps.append(np.abs(gap).max())
        step = np.linalg.solve(J, gap)
        pose = fp.State(position=pose.position + step[:3], rotation=rotvec_rotation(step[3:]) @ pose.rotation)
    small = [g for g in gaps if g > 1e-14]
    assert all(b < 2.0 * a**2 for a, b in pairwise(small[1:])), gaps
    found = fp.forward_kinematics(robot, wanted)
    assert int(found["passes"]) <= len(small) + 1


def elbows(left, right):
    a = np.array([-0.1, 0.0]) + 0.25 * np.array([np.cos(left), np.sin(left)])
    return a, np.array([0.1, 0.0]) + 0.25 * np.array([np.cos(right), np.sin(right)])


def five_bar(left, right, mode):
    """Closed form: elbows from the cranks, the tip where two circles of 0.25 m about them meet; mode +1 is above."""
    a, b = elbows(left, right)
    middle, half = (a + b) / 2, (b - a) / 2
    rise = np.sqrt(0.25**2 - half @ half) / np.linalg.norm(half)
    tip = middle + mode * rise * np.array([-half[1], half[0]])
    return tip, np.arctan2(*(tip - a)[::-1])


def test_five_bar_both_assembly_modes_by_guess_agree_with_the_closed_form():
    robot = fp.load("five-bar")
    home = np.array([leg.home[0] for leg in robot.legs])
    random = np.random.default_rng(5)
    wanted = home + random.uniform(-0.25, 0.25, (200, 2))
    wanted = np.array([q for q in wanted if np.linalg.norm(np.subtract(*elbows(*q))) < 0.49])  # two links span 0.5 m
    assert len(wanted) > 150
    straight = five_bar(*home, 1)[1]  # the platform is parallel to the world at home
    for mode, guess in ((1, None), (-1, fp.State(position=[0.0, 0.08, 0.0]))):
        found = fp.forward_kinematics(robot, wanted, guess=guess)
        for q, p, R in zip(wanted, found["position"].values, found["rotation"].values, strict=True):
            tip, angle = five_bar(*q, mode)
            tilt = angle - straight
            assert np.abs(p - [*tip, 0.0]).max() < EXACT
            assert np.abs(R[:2, 0] - [np.cos(tilt), np.sin(tilt)]).max() < EXACT


def determinant(robot, at):
    """Determinant of [J; G] at poses that may be singular."""
    found = fp.jacobian(robot, at, on_error="mask")
    rows = [found[name].values for name in ("jacobian", "constraint_jacobian") if name in found]
    return np.linalg.det(np.concatenate(rows, axis=1))


def side(robot, at):
    """Sign of the determinant of [J; G]."""
    return np.sign(determinant(robot, at))


def test_another_assembly_mode_is_refused_unless_wanted():
    """Guesses all over the place: what is returned lies on the guess's side of the singular poses, the rest is refused."""
    robot, random = fp.load("stewart-3-3"), np.random.default_rng(0)
    guess = fp.State(position=random.uniform(-4, 4, (400, 3)), rotation=rotvec_rotation(random.uniform(-1.5, 1.5, (400, 3))))
    wanted = np.full((400, 6), 0.1)
    found = fp.forward_kinematics(robot, wanted, guess=guess, on_error="mask")
    every = fp.forward_kinematics(robot, wanted, guess=guess, on_error="mask", assembly="any")
    good = found["valid"].values
    mine = fp.State(position=found["position"].values[good], rotation=found["rotation"].values[good])
    assert np.all(side(robot, mine) == side(robot, guess)[good])
    np.testing.assert_allclose(actuators(robot, mine), wanted[good], rtol=0, atol=ROUND_TRIP)
    refused = np.flatnonzero([" lies on another assembly mode" in word for word in found["reason"].values])
    assert len(refused) > 3
    assert np.all(every["valid"].values[refused])
    other = fp.State(position=every["position"].values[refused], rotation=every["rotation"].values[refused])
    assert np.all(side(robot, other) == -side(robot, guess)[refused])
    k = refused[0]
    one = fp.State(position=guess.position[k], rotation=guess.rotation[k])
    text = str(refusal(robot, wanted[k], guess=one))
    assert re.fullmatch(
        r"forward kinematics of stewart-3-3: the pose found \(position \(.*\) m\) lies on another assembly mode than the guess "
        r"\(the determinant of the Jacobian has the other sign\): on the straight path of the actuators to it the robot is "
        r"singular after [\d.]+ %; give a guess nearer to the intended pose, or assembly='any'\.",
        text,
    ), text


def test_a_singular_result_is_refused():
    """With equal legs the 3-3 platform has a self-motion: poses that the actuators do not hold are refused."""
    robot, random = fp.load("stewart-3-3"), np.random.default_rng(0)
    guess = fp.State(position=random.uniform(-4, 4, (4000, 3)), rotation=rotvec_rotation(random.uniform(-1.5, 1.5, (4000, 3))))
    found = fp.forward_kinematics(robot, np.zeros((4000, 6)), guess=guess, on_error="mask")
    every = fp.forward_kinematics(robot, np.zeros((4000, 6)), guess=guess, on_error="mask", assembly="any")
    at = fp.State(position=every["position"].values, rotation=every["rotation"].values)
    held = fp.conditioning(robot, at, on_error="mask")["type_2"].values
    loose = np.flatnonzero(held < 1e-6)
    assert len(loose) > 2
    text = r"the pose found \(position \(.*\) m\) is singular \(type 2\): the actuators do not determine it; "
    for word in found["reason"].values[loose]:
        assert re.fullmatch(text + r"give another guess, or assembly='any'", word), word
    assert held[found["valid"].values].min() > 1e-3


def test_guesses_from_an_almost_flat_robot():
    """Next to a singular pose the actuators' straight path is blocked, but the platform's is free."""
    robot = fp.load("stewart-3-3")
    for height in (0.001, -0.001):
        found = fp.forward_kinematics(robot, np.zeros(6), guess=fp.State(position=[0.1, 0.0, height]))
        np.testing.assert_allclose(found["position"].values, np.sign(height) * robot.home.position, rtol=0, atol=ROUND_TRIP)
    below = fp.forward_kinematics(robot, np.zeros(6), guess=fp.State(position=[0.0, 0.0, -4.0]))
    np.testing.assert_allclose(below["position"].values, [0, 0, -robot.home.position[2]], rtol=0, atol=ROUND_TRIP)


@pytest.mark.parametrize(("name", "reach", "tilt"), [("stewart-3-3", 2.0, 1.0), ("gough-stewart", 0.4, 0.8)])
def test_the_branch_is_that_of_small_steps(name, reach, tilt):
    """Far targets: the result is the pose that 400 small steps of the actuators lead to, whatever Newton alone finds."""
    robot, random = fp.load(name), np.random.default_rng(9)
    position = robot.home.position + random.uniform(-reach, reach, (150, 3))
    rotation = rotvec_rotation(random.uniform(-tilt, tilt, (150, 3)))
    wanted = actuators(robot, fp.State(position=position, rotation=rotation))
    found = fp.forward_kinematics(robot, wanted, on_error="mask")
    good = np.flatnonzero(found["valid"].values)
    assert 75 < len(good) <= 150
    search = PoseSearch(robot)
    at, own, _ = start_poses(search, None, 1)
    at = at.at(np.zeros(len(good), dtype=int))
    regular = np.ones(len(good), dtype=bool)
    for part in np.linspace(0.0, 1.0, 401)[1:]:
        step = search.newton(own + part * (wanted[good] - own), at)
        regular &= step.solved & step.same  # ways that pass a singular pose closely need smaller steps than these
        at = step.poses
    assert regular.mean() > 0.9
    np.testing.assert_allclose(found["position"].values[good][regular], at.position[regular], rtol=0, atol=ROUND_TRIP)
    np.testing.assert_allclose(found["rotation"].values[good][regular], at.rotation[regular], rtol=0, atol=ROUND_TRIP)


def test_cranks_know_no_full_revolutions():
    robot = fp.load("hexa")
    at = state(robot, 20)
    wanted = actuators(robot, at)
    found = fp.forward_kinematics(robot, wanted + 2 * np.pi)
    np.testing.assert_allclose(found["position"].values, at.position, rtol=0, atol=ROUND_TRIP)


def test_one_sample_has_no_sample_dimension_and_an_earlier_result_is_a_guess():
    robot = fp.load("delta")
    at = state(robot, 2)
    wanted = actuators(robot, at)
    first = fp.forward_kinematics(robot, wanted[0])
    assert first["position"].shape == (3,)
    home = fp.forward_kinematics(robot, wanted[0], guess=robot.home)
    np.testing.assert_allclose(home["position"], first["position"], rtol=0, atol=EXACT)
    second = fp.forward_kinematics(robot, wanted[1], guess=first)
    np.testing.assert_allclose(second["position"].values, at.position[1], rtol=0, atol=ROUND_TRIP)
    each = fp.forward_kinematics(robot, wanted, guess=at)
    assert np.all(each["passes"].values <= 2), "the guess of each sample is its own pose"


def refusal(robot, wanted, **options):
    with pytest.raises(fp.FlexapodError) as error:
        fp.forward_kinematics(robot, wanted, **options)
    return error.value


def test_out_of_reach_names_actuator_residual_and_nearest_pose():
    robot = fp.load("hexapod")
    error = refusal(robot, np.full(6, 0.5))
    assert isinstance(error, PoseNotFoundError)
    pattern = (
        r"forward kinematics of hexapod: no pose was found with these actuator coordinates: at the nearest one "
        r"\(position \(.*, .*, 0\.75\d*\) m\) actuator [A-F] misses by 0\.116\d* m\."
    )
    assert re.fullmatch(pattern, str(error)), str(error)
    at = fp.State(position=error.position, rotation=error.rotation)
    gap = actuators(robot, at)[robot.actuators.index(error.actuator)] - 0.5
    assert abs(gap - error.residual) < EXACT


def test_contradicting_redundant_actuators_are_named():
    robot = fp.load("planar-4-prr")
    home = np.array([leg.home[0] for leg in robot.legs])
    error = refusal(robot, home + np.array([0.01, 0, 0, 0]))
    assert "the actuators contradict each other: no pose fits all 4; at the nearest one" in str(error)
    assert re.search(r"actuator (south|east|north|west) misses by 0\.00\d+ m", str(error))


def test_messages():
    robot = fp.load("stewart-3-3")
    text = {
        "nan": str(refusal(robot, [0.0, np.nan, 0, 0, 0, 0])),
        "shape": str(refusal(robot, np.zeros(5))),
        "type": str(refusal(robot, np.zeros(6), guess=3)),
        "count": str(refusal(robot, np.zeros((3, 6)), guess=fp.State(position=np.zeros((2, 3))))),
        "flat": str(refusal(robot, np.zeros(6), guess=fp.State(position=[0.0, 0, 0]))),
        "singular": str(refusal(fp.load("five-bar"), [2.0, 1.1], guess=fp.State(position=[0.0, 0.2, 0]))),
        "slider": str(refusal(fp.load("hexapod"), np.zeros(6), guess=fp.State(position=[3.0, 0, 0]))),
        "option": str(refusal(robot, np.zeros(6), assembly="other")),
    }
    assert text == {
        "nan": "forward kinematics of stewart-3-3: input is not a finite number: actuator_position.",
        "shape": "actuator_position: expected shape (6,) or (n, 6) for stewart-3-3, got (5,)",
        "type": "guess: expected a State or an earlier result with position and rotation, got 3",
        "count": "guess: 2 poses for 3 samples; give one, or one for each sample",
        "flat": "forward kinematics of stewart-3-3: the guess is invalid: leg A lies along its first universal axis.",
        "singular": "forward kinematics of five-bar: the guess is a singular pose (type 2), where assembly modes meet; "
        "give a guess away from it.",
        "slider": "forward kinematics of hexapod: the guess is invalid: "
        "leg A cannot reach: its platform joint is too far from the rail.",
        "option": "assembly: expected 'same' or 'any', got 'other'",
    }


def test_too_few_actuators(tmp_path):
    text = fp.catalogue()["stewart-3-3"].read_text(encoding="utf-8")
    path = tmp_path / "five-legs.yaml"
    path.write_text(text[: text.index("    F:\n")], encoding="utf-8")
    assert str(refusal(fp.load(path), np.zeros(5))) == (
        "stewart-3-3 has 5 actuators for 6 DOF of its platform; actuator coordinates do not determine its pose"
    )


def test_mask_keeps_the_good_samples():
    robot = fp.load("stewart-3-3")
    wanted = np.zeros((3, 6))
    wanted[1] = np.nan
    wanted[2] = [-4.0, 1, 1, 1, 1, 1]
    found = fp.forward_kinematics(robot, wanted, on_error="mask")
    assert found["valid"].values.tolist() == [True, False, False]
    assert found["reason"].values[0] == ""
    assert found["reason"].values[1] == "input is not a finite number: actuator_position"
    assert found["reason"].values[2].startswith("no pose was found with these actuator coordinates: at the nearest one")
    assert np.all(np.isnan(found["position"].values[1:]))
    np.testing.assert_allclose(found["position"].values[0], robot.home.position, rtol=0, atol=EXACT)
