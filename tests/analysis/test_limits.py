"""Strokes, joint angles, speeds and reach: margins by independent kinematics, violations as text."""

import re

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.space.limits import limits_of
from flexapod.analysis.space.reach import shortfall
from flexapod.analysis.verbs.sampling import random_states
from flexapod.motions.rotations import rotvec_rotation
from flexapod.robot.leg_positions import link_poses
from support.robots import RIGID

ROUNDING = 1e-12
"""Angles [rad] and lengths [m] of size 1: a chain of rotations."""
GRID = 1e-9
"""Smallest gap [m] over a grid of 1e-5 m or rad: the square of its step over lengths of 0.1 m; found 2e-12."""
STRETCHED = 1e-6
"""Gap [m] of a stretched chain, searched where its Jacobian is singular; found 6e-10."""


def edited(tmp_path, name, *changes):
    """A catalogue robot with words of its file replaced."""
    text = fp.catalogue()[name].read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return fp.load(path)


def angle(a, b):
    return np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)


def bend_of(robot, swivel, q, platform):
    """Deflection from link frames in NumPy: the leg's direction, seen from the body on the other side, against home."""
    leg = robot.legs[swivel.leg]

    def seen(coordinates, R_platform):
        frames = link_poses(leg, coordinates)
        R, p = frames[swivel.link]
        end = frames[leg.closing.link]
        if swivel.closing and leg.closing.type == "revolute":
            d = R @ leg.closing.on_link.rotation[:, 0]
        elif not swivel.closing and sum(link.joint == swivel.joint for link in leg.links) == 1:
            d = R[:, 0]  # a hinge
        elif leg.links[leg.closing.link].kind == "P":
            first = next(i for i, link in enumerate(leg.links) if link.parent == -1)
            alone = first == leg.closing.link  # a slide and nothing before it
            d = end[0][:, 2] if alone else end[1] + end[0] @ leg.closing.on_link.position - frames[first][1]  # from U to S
        else:
            d = end[1] + end[0] @ leg.closing.on_link.position - p
        other = R_platform if swivel.before is None else np.eye(3) if swivel.before < 0 else frames[swivel.before][0]
        return other.T @ d

    return angle(seen(q, platform), seen(leg.home, robot.home.rotation))


@pytest.mark.parametrize("name", RIGID)
def test_deflections_agree_with_link_frames(name):
    robot = fp.load(name)
    drawn = random_states(robot, 12, seed=8)
    at = fp.State(position=drawn["position"], rotation=drawn["rotation"])
    joints = fp.inverse_kinematics(robot, at)["joint_position"].values
    found = fp.check_pose(robot, at).margins["deflection"].values
    parts = np.cumsum([len(leg.moving) for leg in robot.legs])[:-1]
    for i in range(12):
        own = np.split(joints[i], parts)
        for k, swivel in enumerate(limits_of(robot).swivels):
            bend = bend_of(robot, swivel, own[swivel.leg], at.rotation[i])
            assert found[i, k] == pytest.approx(bend, abs=ROUNDING), (name, swivel)


def test_strokes_in_words():
    robot = fp.load("stewart-3-3")
    assert fp.check_pose(robot, fp.State(position=robot.home.position)).ok
    assert str(fp.check_pose(robot, fp.State(position=robot.home.position))) == "all limits are kept"
    check = fp.check_pose(robot, fp.State(position=[2.0, 0, 5.0]))
    assert not check
    assert str(check) == (
        "actuator B is above its stroke: 1.72681 m, limit 1.5 m, by 0.227 m\n"
        "actuator E is above its stroke: 1.72681 m, limit 1.5 m, by 0.227 m"
    )
    length = np.linalg.norm(np.array([2.0, 0, 5.0]) + robot.closed_forms[1].S - robot.closed_forms[1].U)
    violation = check.violations[0]
    assert (violation.kind, violation.name, violation.unit, violation.limit) == ("stroke", "B", "m", 1.5)
    assert violation.value == pytest.approx(length - 5.0, abs=ROUNDING)
    assert float(check.margins["stroke_margin"].sel(actuator="B")) == pytest.approx(6.5 - length, abs=ROUNDING)


def test_batch_names_the_worst_sample():
    robot = fp.load("stewart-3-3")
    check = fp.check_pose(robot, fp.State(position=[[0, 0, 4.3], [2.0, 0, 5.0], [2.2, 0, 5.0]]))
    texts = [v.text for v in check.violations]
    assert len(texts) == 2
    assert all(re.search(r"is above its stroke: .*; worst at sample 2, 2 of 3 samples$", text) for text in texts)
    assert check.margins["valid"].values.tolist() == [True, False, False]
    assert check.margins["reason"].values[1] == "actuator B is above its stroke [-1.5, 1.5] m"


def test_joint_angles_in_words(tmp_path):
    robot = edited(
        tmp_path,
        "stewart-3-3",
        ("hip: {type: universal,", "hip: {limits: {angle: 12 deg}, type: universal,"),
        ("ball: {type: spherical,", "ball: {limits: {angle: 15 deg}, type: spherical,"),
    )
    at = fp.State(position=robot.home.position, rotation=rotvec_rotation(np.array([0.3, 0, 0])))
    check = fp.check_pose(robot, at)
    kinds = {v.kind for v in check.violations}
    assert kinds == {"angle"}
    for violation in check.violations:
        bent = np.degrees(float(check.margins["deflection"].sel(swivel=violation.name)))
        assert violation.value == pytest.approx(bent)
        limit = 12 if "hip" in violation.name else 15
        assert violation.text == (
            f"joint {violation.name} is beyond its angle limit: {bent:.6g} deg, limit {limit} deg, by {bent - limit:.3g} deg"
        )
    assert any("ball" in v.name for v in check.violations)
    assert float(check.margins["angle_margin"].min()) < 0


def test_stroke_of_a_passive_joint(tmp_path):
    robot = edited(tmp_path, "planar-4-prr", ("root: {type", "root: {limits: {stroke: [-5 deg, 5 deg]}, type"))
    at = fp.State(position=[0.05, 0.02, 0])
    check = fp.check_pose(robot, at)
    roots = fp.inverse_kinematics(robot, at)["joint_position"]
    wanted = [n for n in robot.coordinates if n.endswith("root") and abs(float(roots.sel(joint=n))) > np.radians(5)]
    assert [v.name for v in check.violations] == wanted
    pattern = r"joint \w+\.root is (above|below) its stroke: -?0\.\d+ rad, limit -?0\.0872665 rad, by"
    assert re.match(pattern, check.violations[0].text)
    area = fp.workspace(robot, {"x": [0.0, 0.05], "y": [0.0, 0.02]})
    assert area["valid"].values[0, 0]
    assert not area["valid"].values[1, 1]
    assert "root is beyond its stroke [-0.0872665, 0.0872665] rad" in area["reason_text"].values[area["reason"].values[1, 1]]


def test_speeds_and_times_of_a_motion(tmp_path):
    robot = edited(tmp_path, "stewart-3-3", ("limits: {stroke: [-1.5, 1.5]}", "limits: {stroke: [-1.5, 1.5], speed: 0.5}"))
    t = np.linspace(0, 1, 11)
    z = robot.home.position[2] + 0.4 * t**2
    none = np.zeros((11, 3))
    motion = fp.Motion(
        time=t,
        position=np.column_stack([0 * t, 0 * t, z]),
        rotation=np.tile(np.eye(3), (11, 1, 1)),
        velocity=np.column_stack([0 * t, 0 * t, 0.8 * t]),
        angular_velocity=none,
        acceleration=none + np.array([0, 0, 0.8]),
        angular_acceleration=none,
    )
    check = fp.check_motion(robot, motion)
    rate = fp.inverse_kinematics(robot, motion)["actuator_velocity"].values[:, 0]
    count = int(np.sum(rate > 0.5))
    assert len(check.violations) == 6
    assert check.violations[0].text == (
        f"actuator A is too fast: {rate[-1]:.6g} m/s, limit 0.5 m/s, by {rate[-1] - 0.5:.3g} m/s; "
        f"first at t = {t[11 - count]:g} s, worst at t = 1 s, {count} of 11 samples"
    )
    assert check.margins["speed_margin"].dims == ("time", "actuator")
    with pytest.raises(fp.InputError, match="state: expected a State, got Motion; check_motion checks motions"):
        fp.check_pose(robot, motion)
    with pytest.raises(fp.InputError, match="motion: expected a Motion or an ActuatorMotion, got State"):
        fp.check_motion(robot, fp.State(position=[0, 0, 4.0]))


def test_out_of_reach_says_how_much():
    robot = fp.load("hexapod")
    at = fp.State(position=[0.3, 0, 0.6])
    check = fp.check_pose(robot, at)
    assert str(check) == "leg A cannot reach: its platform joint is too far from the rail; 0.00604858 m are missing"
    form = robot.closed_forms[0]
    along = np.linspace(-2, 2, 400_001)
    rail = form.U + along[:, None] * form.drive
    brute = np.linalg.norm(at.position + form.S - rail, axis=1).min() - form.length
    assert check.violations[0].value == pytest.approx(brute, abs=GRID)


def test_reach_of_cranks_against_brute_force():
    robot = fp.load("hexa")
    form, relative = robot.closed_forms[0], np.linspace(-np.pi, np.pi, 400_001)
    for position, rotation in (([0.0, 0, -1.2], np.eye(3)), ([0.5, 0, -0.4], np.eye(3)), (robot.home.position, np.eye(3))):
        crank = rotvec_rotation(relative[:, None] * form.drive) @ (form.U - form.pivot) + form.pivot
        gaps = np.linalg.norm(np.array(position) + rotation @ form.S - crank, axis=1) - form.length
        brute = 0.0 if gaps.min() < 0 < gaps.max() else np.abs(gaps).min()
        assert shortfall(robot, 0, np.array(position), rotation) == pytest.approx(brute, abs=GRID)


def test_reach_of_general_legs():
    """The delta's arm and rod, stretched: the gap is the distance beyond 0.3 + 0.8 m from the shoulder."""
    robot = fp.load("delta")
    position = np.array([-0.9, 0, -0.75])
    shoulder, wrist = np.array([0.2, 0, 0]), position + np.array([0.045, 0, 0])
    assert shortfall(robot, 0, position, np.eye(3)) == pytest.approx(np.linalg.norm(wrist - shoulder) - 1.1, abs=STRETCHED)
    text = str(fp.check_pose(robot, fp.State(position=position)))
    assert re.match(r"leg [123] .*reach.*; 0\.\d+ m are missing", text), text


def test_forbidden_pose_and_singularities_in_words():
    robot = fp.load("delta")
    check = fp.check_pose(robot, fp.State(position=[0, 0, -0.75], rotation=rotvec_rotation(np.array([0.1, 0, 0]))))
    assert str(check) == "the robot cannot reach this pose: it cannot follow rotation about x"
    robot = fp.load("stewart-3-3")
    at = fp.State(position=[0, 0, 4.0], rotation=rotvec_rotation(np.array([0, 0, np.pi / 2])))
    texts = [v.text for v in fp.check_pose(robot, at).violations if v.kind == "singular"]
    assert texts == ["type 2: the platform is not held by the actuators; conditioning() names the free motion"]
    flat = [v.text for v in fp.check_pose(robot, fp.State(position=[0.0, 0, 0])).violations if v.kind == "singular"]
    assert flat[0] == "type 1: leg A along the first universal axis"
    assert len(flat) == 7
