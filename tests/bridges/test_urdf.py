"""URDF with its loop file, out and in; the tree read by Pinocchio."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from geared_robot import GEARED

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states

SAME = 1e-11
"""Angles of a rotation written as roll, pitch, yaw and read again."""
TOTAL = 1e-12
"""Relative: a sum of masses."""
ROUNDING = 1e-9
"""Of the largest, and [N m]: forces and accelerations of robots that went through files."""
ROTATED = 1e-12
"""Entries of a rotation."""


def some_motion(robot: fp.Robot) -> fp.Motion:
    states = random_states(robot, 4, seed=2)
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    return fp.Motion(time=np.arange(4.0), **{name: states[name] for name in names})


@pytest.mark.parametrize("name", ["stewart-3-3", pytest.param("delta", marks=pytest.mark.full), "five-bar"])
def test_there_and_back(name: str, tmp_path: Path) -> None:
    robot = fp.load(name)
    files = fp.export_urdf(robot, tmp_path / "robot.urdf")
    fp.write_robot_file(fp.import_robot(files["urdf"], platform="platform"), tmp_path / "again.yaml")
    again, motion = fp.load(tmp_path / "again.yaml"), some_motion(robot)
    one, two = (
        {
            f"{leg.name}.{k.coordinate}": tuple(k.limits.stroke)
            for leg in r.legs
            for k in leg.links
            if k.limits and k.limits.stroke
        }
        for r in (robot, again)
    )
    assert one == two
    first, second = (fp.inverse_dynamics(r, motion, friction=False).force.values for r in (robot, again))
    order = [again.actuators.index(a) if a in again.actuators else k for k, a in enumerate(robot.actuators)]
    assert np.abs(second[:, order] - first).max() <= SAME * np.abs(first).max()


def test_pinocchio_reads_the_tree(tmp_path: Path) -> None:
    pinocchio = pytest.importorskip("pinocchio", reason="the wheel of pin is not installed")
    robot = fp.load("stewart-3-3")
    files = fp.export_urdf(robot, tmp_path / "robot.urdf")
    model = pinocchio.buildModelFromUrdf(str(files["urdf"]))
    joints = [name for name in model.names if name in robot.coordinates]
    assert len(joints) == 18
    total = robot.platform.mass + sum(link.body.mass for leg in robot.legs for link in leg.links if link.body)
    assert pinocchio.computeTotalMass(model) == pytest.approx(total, rel=TOTAL)


BAR = """<link name="{n}"><visual><geometry><mesh filename="package://nowhere/{n}.stl"/></geometry></visual>
<inertial><origin xyz="0.125 0 0"/><mass value="{m}"/><inertia ixx="1e-4" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial>
</link>"""
JOINT = """<joint name="{n}" type="{t}"><parent link="{p}"/><child link="{c}"/><origin xyz="{x}" rpy="0 0 {r}"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="100" velocity="100"/></joint>"""


def collection_form() -> str:
    """A five-bar as public collections of parallel robots write it: meshes, fixed links where the loop closes."""
    links = '<link name="base_link"/><link name="closed_l"/><link name="closed_r"/>'
    for n, m, i in (("l1", 0.4, 2e-3), ("l2", 0.3, 1.6e-3), ("r1", 0.4, 2e-3), ("r2", 0.3, 1.6e-3)):
        links += BAR.format(n=n, m=m, i=i)
    rotation, end, words = np.pi / 4, f"{0.1 * 2**0.5} 0 0", ""
    for n, t, p, c, x, r in (
        ("mot_left", "revolute", "base_link", "l1", "-0.1 0 0", 2 * rotation),
        ("elbow_left", "revolute", "l1", "l2", "0.25 0 0", -rotation),
        ("mot_right", "revolute", "base_link", "r1", "0.1 0 0", 2 * rotation),
        ("elbow_right", "revolute", "r1", "r2", "0.25 0 0", rotation),
        ("tip_left", "fixed", "l2", "closed_l", end, 0.0),
        ("tip_right", "fixed", "r2", "closed_r", end, 0.0),
    ):
        words += JOINT.format(n=n, t=t, p=p, c=c, x=x, r=r)
    return f'<robot name="five">{links}{words}</robot>'


def test_the_form_of_public_collections(tmp_path: Path) -> None:
    """Pairs of links that coincide (`closed_loop`, `type`, `name_mot`); forces at rest by Pinocchio."""
    (tmp_path / "robot.urdf").write_text(collection_form())
    loops = {
        "closed_loop": [["closed_r", "closed_l"]],
        "type": ["3d"],
        "name_mot": ["mot_left", "mot_right"],
        "joint_name": [],
        "joint_type": [],
        "gravity": [0, -9.81, 0],
    }
    (tmp_path / "robot.yaml").write_text(yaml.safe_dump(loops))
    found = fp.import_robot(tmp_path / "robot.urdf", platform="l2", loops=tmp_path / "robot.yaml", source="written for this test")
    fp.write_robot_file(found, tmp_path / "five.yaml")
    robot = fp.load(tmp_path / "five.yaml")
    assert robot.mobility.platform == 2
    rest = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    ours = np.sort(fp.inverse_dynamics(robot, rest, friction=False).force.values)
    pinocchio = pytest.importorskip("pinocchio", reason="the wheel of pin is not installed")
    model = pinocchio.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
    model.gravity.linear = np.array([0, -9.81, 0])
    data, q = model.createData(), pinocchio.neutral(model)
    weight = pinocchio.computeGeneralizedGravity(model, data, q)
    J = [pinocchio.computeFrameJacobian(model, data, q, model.getFrameId(f), pinocchio.LOCAL_WORLD_ALIGNED)[:2] for f in
         ("closed_l", "closed_r")]  # fmt: skip
    S = np.zeros((4, 2))
    for k, name in enumerate(("mot_left", "mot_right")):
        S[model.joints[model.getJointId(name)].idx_v, k] = 1.0
    theirs = np.sort(np.linalg.solve(np.c_[S, (J[1] - J[0]).T], weight)[:2])
    assert np.abs(ours - theirs).max() <= ROUNDING * np.abs(theirs).max()

    def refused(change: dict[str, object], text: str) -> None:
        (tmp_path / "robot.yaml").write_text(yaml.safe_dump({**loops, **change}))
        with pytest.raises(fp.ImportedModelError, match=re.escape(text)):
            fp.import_robot(tmp_path / "robot.urdf", platform="l2", loops=tmp_path / "robot.yaml")

    assert robot.actuators == ("mot_left", "mot_right")
    for order in (["mot_left", "mot_right"], ["mot_right", "mot_left"]):  # the file's order is kept
        (tmp_path / "robot.yaml").write_text(yaml.safe_dump({**loops, "name_mot": order}))
        fp.write_robot_file(
            fp.import_robot(tmp_path / "robot.urdf", platform="l2", loops=tmp_path / "robot.yaml"), tmp_path / "o.yaml"
        )
        assert fp.load(tmp_path / "o.yaml").actuators == tuple(order)

    refused({"type": ["3d", "6d"]}, "closed_loop needs pairs of links and one type for each, 3d or 6d")
    refused({"type": ["4d"]}, "has the type '4d'; types: 3d, 6d")
    refused({"joint_name": ["elbow_left"], "joint_type": ["SPHERICAL"]}, "joint_type gives 'elbow_left' another type")
    refused({"closed_loop": [["closed_r", "gone"]]}, "names the link 'gone'")


def collection(tmp_path: Path, text: str, **changes: object) -> fp.Robot:
    loops = {"closed_loop": [["closed_r", "closed_l"]], "type": ["3d"], "name_mot": ["mot_left", "mot_right"],
             "gravity": [0, -9.81, 0], **changes}  # fmt: skip
    (tmp_path / "robot.urdf").write_text(text)
    (tmp_path / "robot.loops.yaml").write_text(yaml.safe_dump({key: value for key, value in loops.items() if value is not None}))
    fp.write_robot_file(fp.import_robot(tmp_path / "robot.urdf", platform="l2"), tmp_path / "robot.yaml")
    return fp.load(tmp_path / "robot.yaml")


def test_what_the_form_of_collections_leaves_open_is_said(tmp_path: Path) -> None:
    """Gravity that it does not give; a loop that does not close where the links are."""
    with pytest.warns(fp.FileWarning, match=r"robot\.loops\.yaml gives no gravity: \[0\.0, 0\.0, -9\.81\] m/s\^2 is taken"):
        robot = collection(tmp_path, collection_form(), gravity=None)
    assert "gives no gravity" in robot.description.file.notes[0]
    end = f"{0.1 * 2**0.5} 0 0"
    longer = collection_form().replace(end, f"{0.1 * 2**0.5 + 0.01} 0 0", 1)
    with pytest.warns(fp.FileWarning, match=r"robot\.urdf: the loop 'closed_r-closed_l' is open by 0\.01 m where the file puts"):
        robot = collection(tmp_path, longer)
    assert "is open by 0.01 m" in robot.description.file.notes[0]


def test_a_floating_joint_is_a_free_one(tmp_path: Path) -> None:
    """A body that nothing holds falls and moves nothing else."""
    more = BAR.format(n="loose", m=0.5, i=1e-3) + JOINT.format(n="float", t="floating", p="l1", c="loose", x="0.1 0 0", r=0.0)
    plain = collection(tmp_path, collection_form())
    loose = collection(tmp_path, collection_form().replace("</robot>", f"{more}</robot>"))
    assert len(loose.coordinates) == len(plain.coordinates) + 6
    rest = fp.State(position=plain.home.position, rotation=plain.home.rotation)
    one, two = (fp.forward_dynamics(r, rest, np.array([0.3, -0.2])).acceleration.values for r in (plain, loose))
    assert np.abs(one - two).max() <= ROUNDING * np.abs(one).max()


def test_limits_and_axes_of_a_urdf(tmp_path: Path) -> None:
    """Effort and velocity of driven joints; the platform has the frame of its link, whatever the axis of its joint."""
    plain = collection(tmp_path, collection_form())
    limits = {link.joint: link.limits for leg in plain.legs for link in leg.links}
    assert (limits["mot_left"].force, limits["mot_left"].speed) == (100.0, 100.0)
    assert (limits["elbow_left"].force, limits["elbow_left"].speed) == (None, None)
    old = '<joint name="elbow_left"'
    head, _, tail = collection_form().partition(old)
    other = collection(tmp_path, head + old + tail.replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 -1"/>', 1))
    assert np.allclose(other.home.rotation, plain.home.rotation, rtol=0, atol=ROTATED)
    rest = fp.State(position=plain.home.position, rotation=plain.home.rotation)
    one, two = (fp.inverse_dynamics(r, rest).force.values for r in (plain, other))
    assert np.abs(one - two).max() <= ROUNDING * np.abs(one).max()


def test_mistakes_name_the_file_and_its_link(tmp_path: Path) -> None:
    for old, new, text in (
        ('<mass value="0.4"', '<mass value="-0.4"', "robot.urdf: <link 'l1'>: mass: must not be below 0, is -0.4"),
        ('izz="0.002"', 'izz="0.2"', "robot.urdf: <link 'l1'>: inertia: no body has this inertia"),
    ):
        assert old in collection_form()
        with pytest.raises(fp.ImportedModelError, match=re.escape(text)):
            collection(tmp_path, collection_form().replace(old, new, 1))


def test_a_spring_beside_a_motor_and_the_platform_of_the_loop_file(tmp_path: Path) -> None:
    """The loop file's springs hold driven joints too, out and in; its `platform` needs not be named again."""
    files = fp.export_urdf(fp.load("five-bar"), tmp_path / "five.urdf")
    loops = yaml.safe_load(files["loops"].read_text())
    stiff = {**loops, "springs": {"left.crank": [5.0, loops["home"]["left.crank"] - 0.1]}}
    force = {}
    for name, document in (("plain", loops), ("stiff", stiff)):
        files["loops"].write_text(yaml.safe_dump(document))
        fp.write_robot_file(fp.import_robot(files["urdf"]), tmp_path / f"{name}.yaml")
        robot = fp.load(tmp_path / f"{name}.yaml")
        home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
        force[name] = fp.inverse_dynamics(robot, home).force.values
        again = yaml.safe_load(fp.export_urdf(robot, tmp_path / "again.urdf")["loops"].read_text())
        assert len(again["springs"]) == len(document["springs"])
        assert not again["couplings"]
    assert np.allclose(force["stiff"] - force["plain"], [0.5, 0.0], rtol=0, atol=ROUNDING)  # k times the way from its rest


def test_a_mimic_joint_is_a_coupling(tmp_path: Path) -> None:
    """The wheel follows the crank by `mimic` instead of a coupling of the loop file."""
    (tmp_path / "geared.yaml").write_text(GEARED)
    robot = fp.load(tmp_path / "geared.yaml")
    files = fp.export_urdf(robot, tmp_path / "robot.urdf")
    loops, text = yaml.safe_load(files["loops"].read_text()), files["urdf"].read_text()
    assert loops.pop("couplings") == {"gear": {"a.one": 2.0, "a.five": 1.0}}
    del loops["home"]["a.five"]  # follows
    files["loops"].write_text(yaml.safe_dump(loops))
    mimic = f'<joint name="a.five" type="continuous"><mimic joint="a.one" multiplier="-2" offset="{np.pi!r}"/>'
    assert '<joint name="a.five" type="continuous">' in text
    files["urdf"].write_text(text.replace('<joint name="a.five" type="continuous">', mimic))
    fp.write_robot_file(fp.import_robot(files["urdf"], platform="platform"), tmp_path / "again.yaml")
    again = fp.load(tmp_path / "again.yaml")
    driven = fp.ActuatorMotion(time=np.zeros(1), position=[[1.6]], velocity=[[2.0]], acceleration=[[3.0]])
    first, second = (fp.inverse_dynamics(r, fp.platform_motion(r, driven), friction=False).force.values for r in (robot, again))
    assert np.abs(second - first).max() <= SAME * np.abs(first).max()


def test_mistakes_have_one_clear_message(tmp_path: Path) -> None:
    robot = fp.load("five-bar")
    files = fp.export_urdf(robot, tmp_path / "robot.urdf")
    good = yaml.safe_load(files["loops"].read_text())
    assert good["gravity"] == [0.0, -9.81, 0.0]

    def refused(document: object, text: str) -> None:
        files["loops"].write_text(yaml.safe_dump(document))
        with pytest.raises(fp.ImportedModelError, match=re.escape(text)):
            fp.import_robot(files["urdf"], platform="platform")

    refused({**good, "loops": good["loops"] * 2}, "two loops have the name")
    refused({**good, "loops": [{**good["loops"][0], "link1": "gone"}]}, "names the link 'gone'")
    refused({**good, "loops": [{**good["loops"][0], "type": "rope"}]}, "has the type 'rope'")
    refused({"loops": []}, "gravity missing")
    refused({**good, "spring": {}}, "robot.loops.yaml: unknown key 'spring'; keys: gravity, platform, actuated")
    refused({**good, "loops": [{**good["loops"][0], "dampin": 1.0}]}, "unknown key 'dampin'; keys: name, type, link1")
    refused({**good, "platform": "gone"}, "platform names the link 'gone', which the URDF does not have")
    strut = {"name": "s", "link1": "world", "at1": [0, 0, 0], "link2": "platform", "at2": [0, 0, 0], "stiffness": 1, "length": 0}
    refused({**good, "struts": [{**strut, "damping": 0}] * 2}, "two struts have the name 's'")
    refused({**good, "gravity": ["a", 0, 0]}, "robot.loops.yaml: gravity: expected 3 numbers, got ['a', 0, 0]")
    refused(
        {**good, "actuated": ["left.krank"]}, "actuated names the joint 'left.krank', which does not exist; joints: left.crank"
    )
    refused({**good, "home": {"left.krank": 1.0}}, "home names the joint 'left.krank', which does not exist")
    refused({**good, "home": {"left.crank": "up"}}, "home of 'left.crank': expected a number, got ['up']")
    refused({**good, "rotor": [1]}, "rotor must be a mapping, got [1]")
    refused({**good, "couplings": {"g": {"gone": 2}}}, "coupling 'g' names the joint 'gone', which does not exist")
    refused({**good, "loops": [{**good["loops"][0], "at1": {"xyz": [0.0, 1.0]}}]}, "at1: xyz: expected 3 numbers, got [0.0, 1.0]")
    refused({**good, "loops": [{**good["loops"][0], "at1": [0.0, 1.0]}]}, "at1: expected a mapping with xyz and quat_wxyz")
    files["loops"].write_text(yaml.safe_dump(good))
    text = files["urdf"].read_text()
    for old, new, message in (
        (
            '<mass value="0.4"',
            '<mass value="abc"',
            "the inertial of <link 'left.proximal'>: <mass>: value is 'abc'; expected a number",
        ),
        ('<mass value="0.4"', "<mass", "<mass>: value is missing; expected a number"),
        (' ixx="', ' jxx="', "the inertial of <link 'left.proximal'>: ixx is missing"),
        ('<child link="left.distal" />', "", "<joint 'left.elbow'>: <child>: link is missing"),
        (
            '<child link="left.distal" />',
            '<child link="gone" />',
            "<joint 'left.elbow'> names the link 'gone', which does not exist",
        ),
        (
            '<parent link="left.proximal" />',
            '<parent link="gone" />',
            "<joint 'left.elbow'> names the link 'gone', which does not",
        ),
        ('<child link="left.distal" />', '<child link="right.distal" />', "two joints carry the link 'right.distal'"),
        ('joint name="left.elbow"', 'joint name="left.crank"', "two joints have the name 'left.crank'"),
        ('<axis xyz="0 0 1"', '<axis xyz="0 0"', "<axis>: xyz is '0 0'; expected 3 numbers"),
        ('<axis xyz="0 0 1"', '<mimic joint="gone" /><axis xyz="0 0 1"', "names the joint 'gone', which does not exist"),
        ('<axis xyz="0 0 1"', '<mimic joint="right.crank" multiplier="2" /><axis xyz="0 0 1"', "does not hold at home"),
    ):
        assert old in text
        files["urdf"].write_text(text.replace(old, new, 1))
        with pytest.raises(fp.ImportedModelError, match=re.escape(message)):
            fp.import_robot(files["urdf"], platform="platform")
    files["loops"].unlink()
    with pytest.raises(fp.ImportedModelError, match=r"there is no file .* of its closing joints; say where it is"):
        fp.import_robot(files["urdf"])
