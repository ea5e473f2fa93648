"""MJCF out and in, checked by MuJoCo itself."""

import re
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from geared_robot import GEARED
from mujoco_tools import Engine

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states
from flexapod.bridges.body_tree import Inertial, robot_tree
from flexapod.bridges.drive_springs import merge_drive_springs
from flexapod.bridges.mjcf_in import read_mjcf
from flexapod.bridges.mjcf_out import held_points, mjcf_text
from flexapod.bridges.mjcf_softness import mobilities, softness
from flexapod.bridges.split_bodies import halved
from flexapod.simulation.stepper import step_setup

EXACT = 1e-9
"""Of the largest force: hard loops solved by least squares."""
SOFT = 2e-4
"""MuJoCo's own solver with an impedance of 0.9999: what it leaves of the loops at a single state, relative to what they change
in the norm of the mass matrix; and, after settling, the largest acceleration of an actuator."""
SAME = 1e-12
"""The same numbers, written and read in decimal."""
SAME_PLACE = 1e-11
"""Of lengths below 2 m, masses below 1 t and moments: rotations written as matrices and quaternions, multiplied along a leg."""
LOOPED = ["delta-parallelograms", "h4", "orthoglide", "par4"]
"""With loops inside or between their legs."""
RIGID = [
    n for n in fp.catalogue() if not n.startswith("dualemps") and "flexible" not in n and n not in (*LOOPED, "hexapod-floating")
]
SETTLED = 0.02
"""Time after which MuJoCo has settled to the loops [s]: ten time constants of them."""
MECHANISMS = Path(__file__).parents[1] / "data" / "mechanisms"
SLIDING = ["planar-3-rrp", "spatial-3-rrc"]
"""Closed by prismatic and by cylindrical joints; files of the tests."""
QUICK = ("stewart-3-3", "five-bar", "delta", "planar-3-rrp")
RATES = 1e-11
"""[m/s, rad/s] of a few: loops that are closed in positions, multiplied by rates."""
PREDICTED = 1e-3
"""Of the bound that is computed without MuJoCo: its solver has a tolerance of its own."""
PRINCIPAL = 1e-12
"""Relative: moments through principal axes and back."""
NO_MOMENT = 1e-13
"""[kg m^2]: moments that vanish."""


def quick(names: list[str]) -> list[object]:
    return [pytest.param(n, marks=[] if n in QUICK else pytest.mark.full) for n in names]


def named(name: str) -> fp.Robot:
    if name in SLIDING:
        return fp.load(MECHANISMS.parent / "virtual_work" / f"{name}.yaml")
    return fp.physical_equivalent(fp.load(name)) if name == "gough-stewart" else fp.load(name)


def some_motion(robot: fp.Robot, count: int = 4) -> fp.Motion:
    states = random_states(robot, count, seed=2)
    names = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
    return fp.Motion(time=np.arange(float(count)), **{name: states[name] for name in names})


@pytest.mark.parametrize("name", quick([*RIGID, *SLIDING]))
def test_inverse_dynamics_agrees_with_mujoco(name: str, tmp_path: Path) -> None:
    robot = named(name)
    engine = Engine(fp.export_mjcf(robot, tmp_path / "robot.xml").read_text())
    motion = some_motion(robot)
    joints, force = fp.inverse_kinematics(robot, motion), fp.inverse_dynamics(robot, motion, friction=False).force.values
    for k in range(len(motion)):
        acceleration = engine.put(robot, motion, joints, k)
        M, bias, J, S = engine.parts()
        assert np.abs(engine.data.efc_pos[: len(J)]).max() <= SAME  # our loops are closed there
        assert np.abs(J @ engine.data.qvel).max() <= RATES
        order = [robot.actuators.index(_actuator(robot, engine.model.actuator(a).name)) for a in range(engine.model.nu)]
        rest = M @ acceleration + bias - S @ force[k][order]  # what the loops must carry
        carried = J.T @ np.linalg.lstsq(J.T, rest, rcond=1e-10)[0]
        assert np.abs(carried - rest).max() <= EXACT * max(1.0, np.abs(force[k]).max())


def _actuator(robot: fp.Robot, joint: str) -> str:
    return next(a for a in robot.actuators if joint == a or joint.split(".")[0] == a or a.startswith(joint))


@pytest.mark.parametrize("name", quick([*RIGID, *SLIDING]))
def test_the_soft_solver_comes_near(name: str, tmp_path: Path) -> None:
    """At single states, in motion and at rest."""
    robot = named(name)
    engine = Engine(fp.export_mjcf(robot, tmp_path / "robot.xml").read_text())
    moving = some_motion(robot)
    none = np.zeros_like(moving.velocity)  # at rest any velocity that the loops allow is an acceleration that they allow
    resting = replace(moving, velocity=none, angular_velocity=none, acceleration=moving.velocity,
                      angular_acceleration=moving.angular_velocity)  # fmt: skip
    order = [robot.actuators.index(_actuator(robot, engine.model.actuator(a).name)) for a in range(engine.model.nu)]
    for motion in (moving, resting):
        joints, force = fp.inverse_kinematics(robot, motion), fp.inverse_dynamics(robot, motion, friction=False).force.values
        for k in range(len(motion)):
            wanted, M = engine.put(robot, motion, joints, k), engine.parts()[0]
            engine.data.ctrl[:] = force[k][order]
            mujoco.mj_forward(engine.model, engine.data)
            left, changed = engine.data.qacc - wanted, engine.data.qacc_smooth - wanted
            assert left @ M @ left <= SOFT**2 * (changed @ M @ changed)


@pytest.mark.parametrize(("name", "least"), [("hexaglide", 4), ("hexapod", 2), ("five-bar", 1)])
def test_copies_are_chosen_by_what_the_solver_leaves(name: str, least: int, tmp_path: Path) -> None:
    """Mobilities of bodies are MuJoCo's own; what one copy leaves at home, under forces that hold the weight, is at most what is
    computed without MuJoCo, and of that size; the file says how many copies it has."""
    robot = fp.load(name)
    tree = halved(merge_drive_springs(robot_tree(robot)))
    left = softness(tree, {loop.name: held_points(loop) for loop in tree.loops})
    path = fp.export_mjcf(robot, tmp_path / "robot.xml", copies=1)
    once, engine = path.read_text(), Engine(path.read_text())
    m, d = engine.model, engine.data
    for body, mobility in mobilities(tree).items():
        assert body == "world" or abs(m.body_invweight0[m.body(body).id][0] - mobility) <= EXACT * mobility, body
    motion = resting_at_home(robot)
    wanted = engine.put(robot, motion, fp.inverse_kinematics(robot, motion), 0)
    order = [robot.actuators.index(_actuator(robot, m.actuator(a).name)) for a in range(m.nu)]
    d.ctrl[:] = fp.inverse_dynamics(robot, motion, friction=False).force.values[0][order]
    mujoco.mj_forward(m, d)
    M, gap, changed = engine.parts()[0], d.qacc - wanted, d.qacc_smooth - wanted
    assert 0.05 * left <= np.sqrt((gap @ M @ gap) / (changed @ M @ changed)) <= left * (1 + PREDICTED)
    chosen = fp.export_mjcf(robot, tmp_path / "chosen.xml").read_text()
    count = chosen.count("<connect") // once.count("<connect")
    assert count >= least
    assert (count == 1) == (least == 1)
    assert "written" not in once
    assert least == 1 or f"each loop is written {count} times" in chosen


def resting_at_home(robot: fp.Robot) -> fp.Motion:
    none = np.zeros((1, 3))
    return fp.Motion(time=np.zeros(1), position=robot.home.position[None], rotation=robot.home.rotation[None], velocity=none,
                     angular_velocity=none, acceleration=none, angular_acceleration=none)  # fmt: skip


@pytest.mark.parametrize("name", quick([*RIGID, *SLIDING]))
def test_steps_of_the_soft_solver_settle_to_our_accelerations(name: str, tmp_path: Path) -> None:
    """MuJoCo's own steps from a random state under constant forces: accelerations of the actuators where it arrives."""
    robot = named(name)
    engine = Engine(fp.export_mjcf(robot, tmp_path / "robot.xml").read_text())
    m, d, motion = engine.model, engine.data, some_motion(robot, 2)
    m.opt.timestep, m.opt.integrator, m.opt.tolerance, m.opt.iterations = 1e-4, mujoco.mjtIntegrator.mjINT_RK4, 1e-16, 200
    joints, force = fp.inverse_kinematics(robot, motion), fp.inverse_dynamics(robot, motion, friction=False).force.values[1]
    engine.put(robot, motion, joints, 1)
    order = [robot.actuators.index(_actuator(robot, m.actuator(a).name)) for a in range(m.nu)]
    d.ctrl[:] = force[order]
    mujoco.mj_step(m, d, round(SETTLED / m.opt.timestep))
    mujoco.mj_forward(m, d)
    driven = m.actuator_trnid[:, 0]
    q, qd, theirs = np.zeros((3, m.nu))
    q[order], qd[order], theirs[order] = d.qpos[m.jnt_qposadr[driven]], d.qvel[m.jnt_dofadr[driven]], d.qacc[m.jnt_dofadr[driven]]
    state = _arrived(robot, engine, q, qd, fp.State(position=motion.position[1], rotation=motion.rotation[1]))
    found = fp.forward_dynamics(robot, state, force, friction=False)
    parts = {name: getattr(state, name)[None] for name in ("position", "rotation", "velocity", "angular_velocity")}
    parts |= {name: found[name].values[None] for name in ("acceleration", "angular_acceleration")}
    ours = fp.inverse_kinematics(robot, fp.Motion(time=np.zeros(1), **parts)).actuator_acceleration.values[0]
    assert np.abs(theirs - ours).max() <= SOFT * np.abs(ours).max()


def _arrived(robot: fp.Robot, engine: Engine, q: np.ndarray, qd: np.ndarray, guess: fp.State) -> fp.State:
    """The state of the actuators; of redundant ones, which soft loops let differ by nanometres, that of the floating platform."""
    if len(q) == robot.mobility.platform:
        return fp.State.from_actuators(robot, q, qd, guess=guess)
    d, R = engine.data, np.zeros(9)
    mujoco.mju_quat2Mat(R, d.qpos[3:7])
    p, R, v = d.qpos[:3].copy(), R.reshape(3, 3), np.array([*d.qvel[:3], *(R.reshape(3, 3) @ d.qvel[3:6])])
    if robot.mobility.platform == 3:  # in the plane xy
        angle = np.arctan2(R[1, 0], R[0, 0])
        c, s = np.cos(angle), np.sin(angle)
        p[2], v[2:5], R = robot.home.position[2], 0.0, np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return fp.State(position=p, rotation=R, velocity=v[:3], angular_velocity=v[3:])


@pytest.mark.parametrize("name", quick([*RIGID, *SLIDING]))
def test_there_and_back_gives_the_same_numbers(name: str, tmp_path: Path) -> None:
    robot = named(name)
    path = fp.export_mjcf(robot, tmp_path / "robot.xml")
    fp.write_robot_file(fp.import_robot(path, platform="platform"), tmp_path / "robot.yaml")
    again = fp.load(tmp_path / "robot.yaml")
    motion = some_motion(robot)
    first, second = (fp.inverse_dynamics(r, motion, friction=False).force.values for r in (robot, again))
    order = [again.actuators.index(a) if a in again.actuators else k for k, a in enumerate(robot.actuators)]
    assert np.abs(second[:, order] - first).max() <= EXACT * np.abs(first).max()
    # MJCF -> robot file -> MJCF: the same model
    one, two = (at_home(Engine(text)) for text in (path.read_text(), mjcf_text(robot_tree(again))))
    assert len(one[0]) == len(two[0])
    for body in one[0]:
        assert np.abs(two[0] - body).max(axis=1).min() <= SAME_PLACE, body
    assert len(one[1]) == len(two[1])
    for name, (number, axis, anchor, kind) in one[1].items():
        own = two[1].get(name) or min(two[1].values(), key=lambda j: np.abs(j[1] - axis).max() + np.abs(j[2] - anchor).max())
        assert kind == own[3]
        assert np.abs(own[0] - number).max() <= SAME_PLACE, name
        assert np.abs(own[1] - axis).max() <= SAME_PLACE, name
        if kind == mujoco.mjtJoint.mjJNT_HINGE:  # any point of the axis
            assert np.linalg.norm(np.cross(axis, own[2] - anchor)) <= SAME_PLACE, name
    assert sorted(one[2]) == sorted(two[2])


def at_home(engine: Engine) -> tuple[np.ndarray, dict[str, tuple], list[int]]:
    """What does not depend on the frames of bodies, at home: per body mass, centre and inertia in world axes; per joint its
    range, armature, friction and spring, its axis, a point of it and its kind; the kinds of equalities."""
    m, d = engine.model, engine.data
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    R = d.ximat.reshape(-1, 3, 3)
    tensors = R @ (m.body_inertia[:, :, None] * R.transpose(0, 2, 1))
    heavy = m.body_mass > 1e-12  # bodies without inertia have the least that MuJoCo takes
    bodies = np.column_stack([m.body_mass, d.xipos, tensors.reshape(-1, 9)])[heavy]
    joints = {}
    for j in range(m.njnt):
        dof, kind = int(m.jnt_dofadr[j]), int(m.jnt_type[j])
        numbers = [*m.jnt_range[j], m.dof_armature[dof], m.dof_damping[dof], m.dof_frictionloss[dof], m.jnt_stiffness[j]]
        joints[m.joint(j).name] = (np.array(numbers), d.xaxis[j].copy(), d.xanchor[j].copy(), kind)
    return bodies, joints, m.eq_type.tolist()


def inner(name: str, folder: Path) -> fp.Robot:
    if name != "geared":
        return fp.load(name if name in LOOPED else MECHANISMS / f"{name}.yaml")
    (folder / "geared.yaml").write_text(GEARED)
    return fp.load(folder / "geared.yaml")


INNER = [pytest.param(n, marks=[] if n == "geared" else pytest.mark.full) for n in ("geared", "andrews", *LOOPED)]


@pytest.mark.parametrize("name", INNER)
def test_inner_loops_couplings_and_springs(name: str, tmp_path: Path) -> None:
    """Loops inside legs and between them, gears, joint springs and force elements: MuJoCo's terms, and the way back."""
    robot = inner(name, tmp_path)
    path = fp.export_mjcf(robot, tmp_path / "robot.xml")
    fp.write_robot_file(fp.import_robot(path, platform="platform"), tmp_path / "again.yaml")
    again, engine = fp.load(tmp_path / "again.yaml"), Engine(path.read_text())
    home = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    random = np.random.default_rng(6)
    q, qd, qdd = home + random.uniform(-0.1, 0.1, (3, len(home))), *random.uniform(-2, 2, (2, 3, len(home)))
    driven = fp.ActuatorMotion(time=np.arange(3.0), position=q, velocity=qd, acceleration=qdd)
    motion = fp.platform_motion(robot, driven)
    joints, force = fp.inverse_kinematics(robot, motion), fp.inverse_dynamics(robot, motion, friction=False).force.values
    for k in range(3):
        acceleration = engine.put(robot, motion, joints, k)
        M, bias, J, S = engine.parts()
        assert np.abs(engine.data.efc_pos[: len(J)]).max() <= SAME
        rest = M @ acceleration + bias - engine.data.qfrc_passive - S @ force[k]
        carried = J.T @ np.linalg.lstsq(J.T, rest, rcond=1e-10)[0]
        assert np.abs(carried - rest).max() <= EXACT * max(np.abs(force[k]).max(), np.abs(rest).max())
        if name in LOOPED:  # its own solver
            engine.data.ctrl[:] = force[k]
            mujoco.mj_forward(engine.model, engine.data)
            left, changed = engine.data.qacc - acceleration, engine.data.qacc_smooth - acceleration
            assert left @ M @ left <= SOFT**2 * (changed @ M @ changed)
    back = fp.inverse_dynamics(again, fp.platform_motion(again, driven), friction=False).force.values
    assert np.abs(back - force).max() <= EXACT * np.abs(force).max()
    second = Engine(fp.export_mjcf(again, tmp_path / "again.xml").read_text()).model
    assert (second.nv, second.neq, second.ntendon) == (engine.model.nv, engine.model.neq, engine.model.ntendon)


@pytest.mark.full
def test_a_floating_base_with_legs_on_it(tmp_path: Path) -> None:
    """Legs that begin on another leg's body are branches of the tree; MuJoCo's terms with hard loops give our accelerations."""
    robot = fp.load("hexapod-floating")
    engine = Engine(fp.export_mjcf(robot, tmp_path / "robot.xml").read_text())
    m, d = engine.model, engine.data
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    assert np.abs(d.efc_pos).max() <= SAME
    twist, force = np.array([0.1, 0.2, -0.1, 0.1, 0.2, 0.3]), np.array([0.5, -1.0, 0.3, 2.0, -0.7, 1.0])
    state = fp.State(position=robot.home.position, rotation=robot.home.rotation, velocity=twist[:3], angular_velocity=twist[3:])
    setup = step_setup(robot, state, step=1e-3, method="implicit", wrench=False, friction=True, watch=())
    rates = dict(zip(robot.independent, setup.start[setup.layout.places["ud"]], strict=True))
    dof = {m.joint(j).name: int(m.jnt_dofadr[j]) for j in range(m.njnt)}
    at, J = dof["platform"], d.efc_J.reshape(-1, m.nv)[: d.ne].copy()
    known = {at + k: value for k, value in enumerate(twist)}
    known |= {dof[f"{n}.slide" if n in robot.actuators else n]: value for n, value in rates.items()}
    others = [k for k in range(m.nv) if k not in known]
    d.qvel[list(known)] = list(known.values())
    d.qvel[others] = -np.linalg.lstsq(J[:, others], J @ d.qvel, rcond=None)[0]
    assert np.abs(J @ d.qvel).max() <= RATES
    assert np.abs(d.qvel[[dof[f"A.float.{k}"] for k in range(1, 7)]]).max() == 0.0  # only the platform moves
    d.ctrl[:] = force
    mujoco.mj_forward(m, d)
    M, bias, J, S = engine.parts()
    system = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    found = np.linalg.solve(system, np.concatenate([S @ force - bias, d.efc_aref[: d.ne]]))[at : at + 6]
    ours = fp.forward_dynamics(robot, state, force)
    wanted = np.concatenate([ours.acceleration.values, ours.angular_acceleration.values])
    assert np.abs(found - wanted).max() <= EXACT * np.abs(wanted).max()


@pytest.mark.parametrize("form", ["xml", pytest.param("urdf", marks=pytest.mark.full)])
def test_legs_on_a_floating_body_come_back(form: str, tmp_path: Path) -> None:
    """They are branches of one leg, each with names of its own."""
    robot, path = fp.load("hexapod-floating"), tmp_path / f"robot.{form}"
    fp.export_mjcf(robot, path) if form == "xml" else fp.export_urdf(robot, path)
    fp.write_robot_file(fp.import_robot(path, platform="platform"), tmp_path / "again.yaml")
    again = fp.load(tmp_path / "again.yaml")
    assert [name.rpartition(".")[2] for name in again.actuators] == [f"{leg}_slide" for leg in "ABCDEF"]
    assert again.mobility.platform == robot.mobility.platform
    masses = [sorted(link.body.mass for leg in r.legs for link in leg.links if link.body) for r in (robot, again)]
    assert np.allclose([m for m in masses[0] if m], [m for m in masses[1] if m], rtol=SAME, atol=0)
    if form == "xml":
        return
    state, force = fp.State(position=robot.home.position, rotation=robot.home.rotation), [0.5, -1.0, 0.3, 2.0, -0.7, 1.0]
    one, two = (fp.forward_dynamics(r, state, np.array(force)).acceleration.values for r in (robot, again))
    assert np.abs(one - two).max() <= EXACT * np.abs(one).max()


def test_halves_and_copies_are_read_as_they_were(tmp_path: Path) -> None:
    """Loops, bodies and numbers of joints of what is read are those of what was written."""
    for copies in (1, 3):
        tree = robot_tree(fp.load("delta"))
        again = read_mjcf(fp.export_mjcf(fp.load("delta"), tmp_path / "r.xml", copies=copies))
        assert {(k.name, k.type, k.first, k.second) for k in again.loops} == {
            (k.name, k.type, k.first, k.second) for k in tree.loops
        }
        for node in (n for n in tree.nodes if n.inertial.mass):
            found = again.node(node.name).inertial
            assert found.mass == pytest.approx(node.inertial.mass, rel=SAME)
            one, two = (np.linalg.eigvalsh(x.tensor) for x in (found, node.inertial))
            assert np.allclose(one, two, rtol=PRINCIPAL, atol=NO_MOMENT)


HAND = """
<mujoco model="hand written">
  <compiler angle="degree"/>
  <option gravity="0 -9.81 0"/>
  <default><joint damping="0"/><default class="crank"><joint axis="0 0 1" armature="0.01"/></default></default>
  <asset><mesh name="m" file="nowhere.stl"/></asset>
  <worldbody>
    <body name="l1" pos="-0.1 0 0" euler="0 0 90" childclass="crank">
      <joint name="left"/><inertial pos="0.125 0 0" mass="0.4" diaginertia="1e-4 2e-3 2e-3"/>
      <body name="l2" pos="0.25 0 0" euler="0 0 -45">
        <joint name="lelbow" axis="0 0 1" armature="0"/>
        <inertial pos="0.125 0 0" mass="0.3" fullinertia="1e-4 1.6e-3 1.6e-3 0 0 0"/>
        <site name="lend" pos="{x} 0 0"/><site name="lend2" pos="{x} 0 1"/><site name="lend3" pos="{x} 0 2"/>
      </body>
    </body>
    <body name="r1" pos="0.1 0 0" euler="0 0 90">
      <joint name="right" axis="0 0 1" armature="0.01"/><inertial pos="0.125 0 0" mass="0.4" diaginertia="1e-4 2e-3 2e-3"/>
      <body name="r2" pos="0.25 0 0" euler="0 0 45">
        <joint name="relbow" axis="0 0 1"/><inertial pos="0.125 0 0" mass="0.3" diaginertia="1e-4 1.6e-3 1.6e-3"/>
        <site name="rend" pos="{x} 0 0"/><site name="rend2" pos="{x} 0 1"/><site name="rend3" pos="{x} 0 2"/>
      </body>
    </body>
  </worldbody>
  <equality>
    <connect name="pin" site1="rend" site2="lend"/><connect name="pin2" site1="rend2" site2="lend2"/>
  </equality>
  <actuator><motor joint="left"/><motor joint="right"/></actuator>
</mujoco>
""".format(x=0.1 * 2**0.5)


def test_a_hand_written_five_bar_is_imported(tmp_path: Path) -> None:
    """In the form of public closed-loop models: degrees, default classes, a mesh that does not exist, no free platform."""
    path = tmp_path / "hand.xml"
    path.write_text(HAND.replace('<joint name="relbow"', '<joint name="relbow" range="-90 60"'))
    fp.write_robot_file(fp.import_robot(path, platform="l2", source="written for this test"), tmp_path / "hand.yaml")
    robot = fp.load(tmp_path / "hand.yaml")
    limits = {link.coordinate: link.limits.stroke for leg in robot.legs for link in leg.links if link.limits}
    assert list(limits) == ["relbow"]  # a passive joint
    assert np.allclose(limits["relbow"], np.deg2rad([-90, 60]), rtol=SAME, atol=0)
    assert robot.mobility.platform == 2
    assert np.allclose(robot.gravity, [0, -9.81, 0])
    engine = Engine(re.sub(r"<asset>.*?</asset>", "", HAND))
    _, bias, J, S = _at_zero(engine)
    rest = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    ours = fp.inverse_dynamics(robot, rest, friction=False).force.values
    theirs = np.linalg.lstsq(np.c_[S, J.T], bias, rcond=1e-10)[0][:2]
    assert np.abs(np.sort(ours) - np.sort(theirs)).max() <= EXACT * np.abs(theirs).max()


@pytest.mark.parametrize("tag", ["bodies", "weld"])
def test_loops_given_by_bodies_meet_where_the_file_stands(tmp_path: Path, tag: str) -> None:
    """The form of most public models: two bodies and an anchor in the first."""
    x = 0.1 * 2**0.5
    pins = "".join(f'<connect name="pin{k or ""}" body1="r2" body2="l2" anchor="{x} 0 {k}"/>' for k in (0, 1))
    text = re.sub(r"<connect.*?/><connect.*?/>", pins if tag == "bodies" else '<weld name="pin" body1="r2" body2="l2"/>', HAND)
    (tmp_path / "a.xml").write_text(HAND)
    (tmp_path / "b.xml").write_text(text)
    by_sites, by_bodies = (read_mjcf(tmp_path / name).loops[0] for name in ("a.xml", "b.xml"))
    assert (by_bodies.first, by_bodies.second) == ("r2", "l2")
    if tag == "bodies":
        assert by_bodies.type == by_sites.type == "revolute"
        assert np.allclose(by_bodies.on_first.position, by_sites.on_first.position, rtol=0, atol=SAME)
        assert np.allclose(by_bodies.on_second.position, by_sites.on_second.position, rtol=0, atol=SAME)
    else:
        assert by_bodies.type == "fixed"


def _at_zero(engine: Engine) -> tuple[np.ndarray, ...]:
    mujoco.mj_forward(engine.model, engine.data)
    m, d = engine.model, engine.data
    S = np.zeros((m.nv, m.nu))
    for a in range(m.nu):
        S[m.jnt_dofadr[m.actuator_trnid[a, 0]], a] = 1.0
    return np.eye(m.nv), d.qfrc_bias.copy(), d.efc_J.reshape(-1, m.nv)[: d.ne].copy(), S


SPATIAL = '<spatial name="t" {}="1"><site site="lend"/><site site="rend3"/></spatial>'


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('name="pin2"', 'name="pin"', "two loops have the name 'pin'"),
        ('<inertial pos="0.125 0 0" mass="0.3" diaginertia="1e-4 1.6e-3 1.6e-3"/>', '<geom type="mesh" mesh="m"/>',
         "body 'r2' has geometry but no `inertial`"),
        ('site1="rend"', 'site1="gone"', "names the site 'gone', which does not exist"),
        ('<joint name="relbow" axis="0 0 1"/>', '<joint name="relbow" type="ball"/>', "type 'ball' is read only where"),
        ("<worldbody>", '<include file="x.xml"/><worldbody>', "includes other files"),
        ('name="r2"', 'name="l2"', "two bodies have the name 'l2'"),
        ("</equality>", '<joint name="g" joint1="left" joint2="right" polycoef="0 1 1"/></equality>', "is not a linear relation"),
        ("</equality>", '<connect name="p3" site1="rend3" site2="lend3"/></equality>', "lie on one line; two of"),
        ("</equality>", '<joint name="g" joint1="left" joint2="gone"/></equality>', "names the joint 'gone', which does not"),
        ("</equality>", '<joint name="g" joint1="left" joint2="right" polycoef="1 1"/></equality>', "does not hold at home"),
        ('mass="0.4"', 'mass="abc"', "wrong.xml: <inertial> of body 'l1': mass is 'abc'; expected a number"),
        (' mass="0.4"', "", "wrong.xml: <inertial> of body 'l1': mass is missing; expected a number"),
        ('diaginertia="1e-4 2e-3 2e-3"', 'diaginertia="1e-4"', "diaginertia is '1e-4'; expected 3 numbers"),
        ('pos="-0.1 0 0"', 'pos="-0.1 0"', "wrong.xml: <body 'l1'>: pos is '-0.1 0'; expected 3 numbers"),
        ('euler="0 0 90"', 'euler="0 90"', "wrong.xml: <body 'l1'>: euler is '0 90'; expected 3 numbers"),
        ('euler="0 0 90"', 'quat="0 0 0 0"', "wrong.xml: <body 'l1'>: quat is zero; expected a direction"),
        ('euler="0 0 90"', 'xyaxes="1 0 0 2 0 0"', "expected two directions that differ"),
        ('<joint name="relbow" axis="0 0 1"/>', '<joint name="relbow" axis="0 0 0"/>',
         "<joint 'relbow'> of body 'r2': axis is zero"),
        ('gravity="0 -9.81 0"', 'gravity="down"', "wrong.xml: <option>: gravity is 'down'; expected 3 numbers"),
        ('<compiler angle="degree"/>', '<compiler eulerseq="xy"/>', "eulerseq 'xy'; expected three of x, y, z"),
        ("</mujoco>", '<keyframe><key name="k" qpos="0 0 0"/></keyframe></mujoco>',
         "<key 'k'>: qpos is '0 0 0'; expected 4 numbers"),
        ("</mujoco>",
         '<tendon><spatial name="t" stiffness="1"><site site="gone"/><site site="rend"/></spatial></tendon></mujoco>',
         "<spatial 't'> names the site 'gone', which does not exist"),
        ('<joint name="relbow"', '<joint name="lelbow"', "two joints have the name 'lelbow'; give each its own"),
        ('<motor joint="left"/>', '<motor joint="gone"/>',
         "<motor> names the joint 'gone', which does not exist; joints: left, lelbow"),
        ('<motor joint="left"/>', '<motor tendon="gone"/>', "<motor> does not drive a joint"),
        ('<motor joint="left"/>', '<motor joint="right"/>', "two actuators drive the joint 'right'; keep one"),
        ('<motor joint="left"/>', '<motor name="m" joint="left" gear="50"/>',
         "<motor 'm'> has gear '50', which a robot file cannot"),
        ("<joint damping", '<motor gear="50"/><joint damping', "<motor> has gear '50', which a robot file cannot describe"),
        ('<motor joint="left"/>', '<position joint="left" kp="500"/>',
         "<position> is a controller, and robots are driven by forces"),
        ('<motor joint="left"/>', '<general joint="left" biastype="affine"/>', "<general> has biastype 'affine'"),
        ('<body name="r1"', '<body gravcomp="1" name="r1"', "<body 'r1'> has gravcomp '1'"),
        ('<compiler angle="degree"/>', '<compiler inertiafromgeom="true"/>', "<compiler> has inertiafromgeom 'true'"),
        ("</worldbody>", '<composite type="cable"/></worldbody>', "<composite> makes bodies, which is not read"),
        ("<joint damping", '<general gear="50"/><joint damping', "<motor> has gear '50', which a robot file cannot describe"),
        ('<motor joint="left"/>', '<motor joint="left" armature="2"/>', "<motor> has armature '2', which a robot file"),
        ('<motor joint="left"/>', '<motor joint="left" damping="2"/>', "<motor> has damping '2', which a robot file"),
        ('<motor joint="left"/>', '<motor joint="left" class="gone"/>', "<motor> names the default class 'gone', which does not"),
        ('<joint axis="0 0 1" armature="0.01"/>', '<joint axis="0 0 1" springdamper="1 1"/>',
         "<joint 'left'> has springdamper '1 1'"),
        ('<joint name="left"/>', '<joint name="left" damping="1 2"/>', "<joint 'left'> has damping '1 2': a spring or damper"),
        ('<joint name="left"/>', '<joint name="left" springyield="1"/>', "<joint 'left'> has springyield '1'"),
        ('<option gravity="0 -9.81 0"/>', '<option><flag damper="disable"/></option>', "<flag> has damper 'disable'"),
        ('<option gravity="0 -9.81 0"/>', '<option actuatorgroupdisable="0"/>', "<option> has actuatorgroupdisable '0'"),
        ('<compiler angle="degree"/>', '<compiler balanceinertia="true"/>', "<compiler> has balanceinertia 'true'"),
        ("</mujoco>", f'<tendon>{SPATIAL.format("frictionloss")}</tendon></mujoco>', "<spatial 't'> has frictionloss '1'"),
        ("</mujoco>", f'<tendon>{SPATIAL.format("armature")}</tendon></mujoco>', "<spatial 't'> has armature '1'"),
        ("</mujoco>", f'<tendon>{SPATIAL.format("range")}</tendon></mujoco>'.replace('"1"', '"0 1"'),
         "limits of tendons are not read"),
        ("</mujoco>", '<tendon><fixed name="t" stiffness="5"><joint joint="left" coef="1"/></fixed></tendon></mujoco>',
         "<fixed 't'> has stiffness '5', which a robot file cannot describe; write springs and dampers at joints"),
        ("</equality>", '<tendon name="rope" tendon1="t"/></equality><tendon>' + SPATIAL.format("width") + "</tendon>",
         "the equality 'rope' holds no fixed tendon; only these are supported: 't'"),
    ],
)  # fmt: skip
def test_mistakes_have_one_clear_message(tmp_path: Path, old: str, new: str, text: str) -> None:
    path = tmp_path / "wrong.xml"
    assert old in HAND
    path.write_text(HAND.replace(old, new, 1))
    with pytest.raises(fp.ImportedModelError, match=re.escape(text)):
        fp.import_robot(path, platform="l2")


def test_frames_and_switches_are_read(tmp_path: Path) -> None:
    """A body inside `frame` is where it was; an equality that is switched off is none; gravity may be switched off."""
    whole = '<body name="r1" pos="0.1 0 0" euler="0 0 90">'
    framed = HAND.replace(whole, '<frame pos="0.1 0 0"><frame euler="0 0 90"><body name="r1">')
    framed = framed.replace("</worldbody>", "</frame></frame></worldbody>")
    off = HAND.replace("</equality>", '<weld name="off" active="false" site1="rend3" site2="lend"/></equality>')
    off = off.replace('<option gravity="0 -9.81 0"/>', '<option><flag gravity="disable"/></option>')
    for name, text in (("plain", HAND), ("framed", framed), ("off", off)):
        (tmp_path / f"{name}.xml").write_text(text)
    plain, framed, off = (read_mjcf(tmp_path / f"{name}.xml") for name in ("plain", "framed", "off"))  # type: ignore[assignment]
    for one, two in zip(plain.nodes, framed.nodes, strict=True):
        assert one.name == two.name
        assert np.allclose(one.place.position, two.place.position, rtol=0, atol=SAME)
        assert np.allclose(one.place.rotation, two.place.rotation, rtol=0, atol=SAME)
    assert [loop.name for loop in off.loops] == [loop.name for loop in plain.loops]
    assert not off.gravity.any()


def test_what_mjcf_cannot_say_is_refused(tmp_path: Path) -> None:
    with pytest.raises(fp.InputError, match="dualemps has flexible legs, which MJCF and URDF cannot describe"):
        fp.export_mjcf(fp.load("dualemps"), tmp_path / "r.xml")
    with pytest.raises(fp.InputError, match="is not a physical body"):
        fp.export_mjcf(fp.load("gough-stewart"), tmp_path / "r.xml")
    with pytest.raises(fp.InputError, match=r"ends in \.xml"):
        fp.export_mjcf(fp.load("delta"), tmp_path / "r.txt")
    with pytest.raises(fp.InputError, match="copies is 0; every loop is written once at least"):
        fp.export_mjcf(fp.load("delta"), tmp_path / "r.xml", copies=0)
    tree = robot_tree(fp.load("delta"))
    with pytest.raises(
        fp.InputError, match=r"the universal joint 1\.\w+ closes a loop between 1\.rod and platform, which have no mass"
    ):
        mjcf_text(replace(tree, nodes=tuple(replace(n, inertial=Inertial()) for n in tree.nodes)))
    (tmp_path / "free.xml").write_text(HAND)
    advice = re.escape("no body floats; name the platform (platform=..., --platform NAME), one of: l1, l2")
    with pytest.raises(fp.ImportedModelError, match=advice):
        fp.import_robot(tmp_path / "free.xml")
    assert read_mjcf(tmp_path / "free.xml").name == "hand-written"


REFERRED = """<mujoco model="referred"><compiler angle="degree"/><option gravity="0 -9.81 0"/><worldbody>
  <body name="l1" pos="-0.2 0 0"><joint name="a1" axis="0 0 1" {a1}/>
    <inertial pos="0.15 0 0" mass="0.5" diaginertia="0.001 0.004 0.004"/>
    <body name="e1" pos="-0.1 0.28 0"><joint name="a2" {a2}/>
      <inertial pos="0 0.05 0" mass="1" diaginertia="0.01 0.02 0.03"/></body></body>
  <body name="m1" pos="0.2 0 0"><joint name="b1" axis="0 0 1"/>
    <inertial pos="0.05 0.14 0" mass="0.5" diaginertia="0.004 0.004 0.001"/>
    <body name="l2" pos="0.1 0.28 0"><joint name="b2" axis="0 0 1"/>
      <inertial pos="-0.15 0.1 0" mass="0.4" diaginertia="0.004 0.004 0.002"/></body></body>
</worldbody><equality><connect name="loop" body1="e1" body2="l2" anchor="0.3 0.1 0"/></equality>
<actuator>{motors}</actuator>{key}</mujoco>"""
"""A five-bar whose loop closes where the file stands: at `ref`."""
MOTORS = '<motor joint="a1"/><motor joint="b1"/>'


def imported(text: str, folder: Path, platform: str) -> fp.Robot:
    (folder / "given.xml").write_text(text)
    fp.write_robot_file(fp.import_robot(folder / "given.xml", platform=platform), folder / "given.yaml")
    return fp.load(folder / "given.yaml")


def hard_acceleration(text: str, force: np.ndarray, body: str) -> np.ndarray:
    """MuJoCo's acceleration of a body's frame (6,) at rest, with hard loops, world axes; forces in the order of the motors."""
    engine = Engine(text)
    m, d = engine.model, engine.data
    if m.nkey:
        mujoco.mj_resetDataKeyframe(m, d, 0)
    d.ctrl[:] = force
    mujoco.mj_forward(m, d)
    M, J = np.zeros((m.nv, m.nv)), d.efc_J.reshape(-1, m.nv)[: d.ne]
    mujoco.mj_fullM(m, d, M)
    loads = np.concatenate([d.qfrc_actuator + d.qfrc_passive - d.qfrc_bias, np.zeros(len(J))])
    system = np.block([[M, J.T], [J, np.zeros((len(J), len(J)))]])
    found = np.linalg.lstsq(system, loads, rcond=1e-12)[0][: m.nv]
    both = np.zeros((6, m.nv))
    mujoco.mj_jac(m, d, both[:3], both[3:], d.xpos[m.body(body).id], m.body(body).id)
    return both @ found


def accelerations_agree(text: str, folder: Path, platform: str) -> fp.Robot:
    robot, force = imported(text, folder, platform), np.array([1.5, -0.7])
    found = fp.forward_dynamics(robot, fp.State(position=robot.home.position, rotation=robot.home.rotation), force)
    ours = np.concatenate([found.acceleration.values, found.angular_acceleration.values])
    theirs = hard_acceleration(text, force, platform)
    assert np.abs(ours - theirs).max() <= EXACT * np.abs(theirs).max()
    return robot


@pytest.mark.parametrize(
    ("a1", "a2"),
    [
        ('ref="20"', ""),
        ("", 'ref="20" stiffness="5" springref="10" range="-5 70"'),
        ("", 'axis="0 0 -1" pos="0.02 0.01 0" ref="5"'),
    ],
)
def test_a_model_starts_at_ref_and_the_platform_has_the_frame_of_its_body(tmp_path: Path, a1: str, a2: str) -> None:
    """Without a key frame the file as it is is home; angles of passive joints are counted from there."""
    text = REFERRED.format(a1=a1, a2=a2, motors=MOTORS, key="")
    robot = accelerations_agree(text, tmp_path, "e1")
    assert np.allclose(robot.home.position, [-0.3, 0.28, 0.0], rtol=0, atol=SAME)
    assert np.allclose(robot.home.rotation, np.eye(3), rtol=0, atol=SAME)
    if "range" in a2:
        stroke = next(link.limits.stroke for link in robot.legs[0].links if link.joint == "a2")
        assert np.allclose(stroke, np.deg2rad([-25, 50]), rtol=0, atol=SAME)


def test_actuators_have_the_order_and_the_names_of_the_file(tmp_path: Path) -> None:
    for joints in (("a1", "b1"), ("b1", "a1")):
        motors = "".join(f'<motor joint="{joint}"/>' for joint in joints)
        robot = accelerations_agree(REFERRED.format(a1="", a2="", motors=motors, key=""), tmp_path, "e1")
        assert robot.actuators == joints
        assert not robot.description.file.notes
    both = REFERRED.format(a1="", a2="", motors='<motor joint="a2"/><motor joint="a1"/>', key="")
    assert imported(both, tmp_path, "e1").description.file.notes == [
        "actuators: 2.a1 is the joint a1, 2.a2 is the joint a2; the order of the imported file is a2, a1"
    ]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('<inertial pos="0.15 0 0" mass="0.5" diaginertia="0.001 0.004 0.004"/>', "",
         "given.xml: body 'l1' moves and has no mass, nor has a body that is fixed on it: write its `inertial`"),
        ('mass="0.4"', 'mass="-0.4"', "given.xml: <body 'l2'>: mass: must not be below 0, is -0.4"),
        ('diaginertia="0.01 0.02 0.03"', 'diaginertia="0.01 0.02 3"',
         "given.xml: <body 'e1'>: inertia: no body has this inertia"),
    ],
)  # fmt: skip
def test_mistakes_name_the_file_and_its_element(tmp_path: Path, old: str, new: str, text: str) -> None:
    given = REFERRED.format(a1="", a2="", motors=MOTORS, key="")
    assert old in given
    with pytest.raises(fp.ImportedModelError, match=re.escape(text)):
        imported(given.replace(old, new, 1), tmp_path, "e1")


@pytest.mark.parametrize("words", ['stiffness="20" springref="30"', 'stiffness="20" damping="0.3"'])
def test_a_spring_beside_a_motor(tmp_path: Path, words: str) -> None:
    """It is a joint of its own that a coupling moves with the motor's, and one joint again in MJCF."""
    given = REFERRED.format(a1="", a2="", motors=MOTORS, key="")
    text = given.replace('name="a1" axis="0 0 1"', f'name="a1" axis="0 0 1" {words}', 1)
    assert text != given
    accelerations_agree(text, tmp_path, "e1")
    robot = imported(text, tmp_path, "e1")
    back = fp.export_mjcf(robot, tmp_path / "back.xml")
    one, two = (mujoco.MjModel.from_xml_string(t) for t in (text, back.read_text()))
    for found in (one, two):
        assert sorted(found.jnt_stiffness[found.jnt_stiffness > 0]) == [20.0]
        assert found.nu == 2
    assert two.neq == one.neq
    k, j = (int(np.flatnonzero(found.jnt_stiffness)[0]) for found in (one, two))
    assert np.isclose(two.qpos_spring[two.jnt_qposadr[j]], one.qpos_spring[one.jnt_qposadr[k]], rtol=0, atol=SAME)


def test_defaults_of_tendons_and_equalities(tmp_path: Path) -> None:
    """A spring by its default class is read, an equality that its class switches off is none, and names are made unique."""
    spring = '<spatial class="soft"><site site="lend"/><site site="rend3"/></spatial>'
    soft = '<default class="soft"><tendon stiffness="30" springlength="0.4"/><equality active="false"/></default></default>'
    text = HAND.replace("</default></default>", f"</default>{soft}").replace(
        "</mujoco>", f"<tendon>{spring}{spring}</tendon></mujoco>"
    )
    text = text.replace("</equality>", '<joint class="soft" joint1="left" joint2="right"/></equality>')
    path = tmp_path / "hand.xml"
    path.write_text(text)
    tree = read_mjcf(path)
    assert [(strut.stiffness, strut.length) for strut in tree.struts] == [(30.0, 0.4)] * 2
    assert not tree.gears
    assert len(fp.import_robot(path, platform="l2").document["forces"]) == 2


def test_a_body_may_have_its_mass_in_one_that_is_fixed_on_it(tmp_path: Path) -> None:
    inertial = '<inertial pos="0.15 0 0" mass="0.5" diaginertia="0.001 0.004 0.004"/>'
    text = REFERRED.format(a1="", a2="", motors=MOTORS, key="").replace(inertial, f'<body name="part">{inertial}</body>')
    accelerations_agree(text, tmp_path, "e1")


def test_a_loop_that_the_key_frame_leaves_open_is_said(tmp_path: Path) -> None:
    text = REFERRED.format(a1="", a2="", motors=MOTORS, key='<keyframe><key qpos="0.1 -0.2 0.1 0.05"/></keyframe>')
    with pytest.warns(fp.FileWarning, match=r"given\.xml: the loop 'loop' is open by 0\.022 m where the file puts its bodies"):
        robot = imported(text, tmp_path, "e1")
    assert "the loop 'loop' is open by 0.022 m" in robot.description.file.notes[0]


FLOATING = """<mujoco model="floating"><compiler angle="radian"/><option gravity="0 -9.81 0"/><worldbody>
  <body name="c1" pos="-0.2 0 0"><joint name="a" axis="0 0 1"/>
    <inertial pos="0 0.1 0" mass="0.5" diaginertia="0.004 0.001 0.004"/></body>
  <body name="rod" pos="-0.2 0.2 0"><freejoint/><inertial pos="0.05 0.1 0" mass="0.3" diaginertia="0.003 0.001 0.004"/></body>
  <body name="c2" pos="0.2 0 0"><joint name="b" axis="0 0 1"/>
    <inertial pos="0 0.15 0" mass="0.6" diaginertia="0.004 0.001 0.004"/></body>
  <body name="p" pos="0 0.4 0" euler="0 0 0.3"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.02"/></body>
</worldbody><equality>{loops}</equality><actuator><motor joint="a"/><motor joint="b"/></actuator>{key}</mujoco>"""


def test_bodies_that_float_beside_the_platform(tmp_path: Path) -> None:
    """A rod of six coordinates, held by its loops alone; the key frame places what floats."""
    pairs = (("c1", "rod", "0 0.2"), ("rod", "p", "0.1 0.2"), ("c2", "p", "0 0.35"))
    loops = "".join(f'<connect body1="{one}" body2="{two}" anchor="{at} {z}"/>' for one, two, at in pairs for z in (0, 1))
    text = FLOATING.format(loops=loops, key="")
    robot = accelerations_agree(text, tmp_path, "p")
    moved = fp.forward_kinematics(robot, [0.05, -0.03])
    joints = fp.inverse_kinematics(robot, fp.State(position=moved.position.values, rotation=moved.rotation.values))
    rod = dict(zip(robot.coordinates, joints.joint_position.values, strict=True))
    x, y, angle = (next(v for k, v in rod.items() if k.endswith(end)) for end in (".1", ".2", ".6"))
    rotated = float(np.arctan2(moved.rotation.values[1, 0], moved.rotation.values[0, 0]))
    qpos = [0.05, x - 0.2, y + 0.2, 0, np.cos(angle / 2), 0, 0, np.sin(angle / 2), -0.03, *moved.position.values,
            np.cos(rotated / 2), 0, 0, np.sin(rotated / 2)]  # fmt: skip
    key = f'<keyframe><key qpos="{" ".join(repr(float(v)) for v in qpos)}"/></keyframe>'
    again = accelerations_agree(FLOATING.format(loops=loops, key=key), tmp_path, "p")
    assert np.allclose(again.home.position, moved.position.values, rtol=0, atol=EXACT)


PIN = (Path(fp.__file__).parent / "robots" / "planar-3-rpr.yaml").read_text()
HELD = ["friction: {viscous: 0.1},", "damping: 0.2,", "stiffness: 5, damping: 0.1,", "stiffness: 5, rest: 0.2, preload: 0.3,"]


@pytest.mark.parametrize("words", HELD)
def test_friction_and_springs_of_closing_joints(tmp_path: Path, words: str) -> None:
    """MuJoCo's passive forces with hard loops, and the way back by MJCF and URDF."""
    (tmp_path / "robot.yaml").write_text(PIN.replace("pin: {type: revolute,", f"pin: {{type: revolute, {words}"))
    robot = fp.load(tmp_path / "robot.yaml")
    engine, motion = Engine(fp.export_mjcf(robot, tmp_path / "robot.xml").read_text()), some_motion(robot)
    joints, force = fp.inverse_kinematics(robot, motion), fp.inverse_dynamics(robot, motion).force.values
    free = fp.inverse_dynamics(fp.load("planar-3-rpr"), motion).force.values
    assert np.abs(force - free).max() > 0.1  # what acts at the joint shows
    for k in range(len(motion)):
        acceleration = engine.put(robot, motion, joints, k)
        M, bias, J, S = engine.parts()
        rest = M @ acceleration + bias - engine.data.qfrc_passive - S @ force[k]
        carried = J.T @ np.linalg.lstsq(J.T, rest, rcond=1e-10)[0]
        assert np.abs(carried - rest).max() <= EXACT * np.abs(force[k]).max()
    fp.export_urdf(robot, tmp_path / "robot.urdf")
    for form in ("xml", "urdf"):
        fp.write_robot_file(fp.import_robot(tmp_path / f"robot.{form}", platform="platform"), tmp_path / "again.yaml")
        again = fp.load(tmp_path / "again.yaml")
        assert again.actuators == robot.actuators
        assert np.abs(fp.inverse_dynamics(again, motion).force.values - force).max() <= EXACT * np.abs(force).max()
        Engine(fp.export_mjcf(again, tmp_path / "again.xml").read_text())  # MuJoCo takes it again


def test_friction_that_mjcf_has_no_word_for_is_said(tmp_path: Path) -> None:
    with pytest.warns(fp.FlexapodWarning) as said:
        fp.export_mjcf(fp.load("hexaslide"), tmp_path / "robot.xml")
    texts = [str(warning.message) for warning in said]
    assert any("by joint loads has no counterpart and is left out" in text for text in texts)
    assert any("spherical joints that close loops, is left out" in text for text in texts)


@pytest.mark.parametrize("form", ["xml", "urdf"])
def test_limits_of_force_go_out_and_come_back(tmp_path: Path, form: str) -> None:
    speed = ", speed: 0.4" if form == "urdf" else ""
    (tmp_path / "robot.yaml").write_text(PIN.replace("stroke: [0.35, 0.75]", f"stroke: [0.35, 0.75], force: 120{speed}"))
    robot, path = fp.load(tmp_path / "robot.yaml"), tmp_path / f"robot.{form}"
    fp.export_mjcf(robot, path) if form == "xml" else fp.export_urdf(robot, path)
    fp.write_robot_file(fp.import_robot(path), tmp_path / "again.yaml")
    one, two = ([link.limits for leg in r.legs for link in leg.links if link.actuated]
                for r in (robot, fp.load(tmp_path / "again.yaml")))  # fmt: skip
    assert one == two
    if form == "xml":
        assert np.array_equal(Engine(path.read_text()).model.actuator_forcerange, [[-120.0, 120.0]] * 3)


def test_limits_of_motors(tmp_path: Path) -> None:
    """The smallest of what limits a force; a range that is not the same both ways is said and left out."""
    motors = '<motor joint="a1" ctrlrange="-5 5" forcerange="-3 3"/><motor joint="b1" ctrlrange="-1 2"/>'
    given = REFERRED.format(a1="", a2="", motors=motors, key="")
    with pytest.warns(fp.FileWarning, match="the force limit of 'b1' is -1 to 2; limits of robot files are symmetric"):
        robot = imported(given, tmp_path, "e1")
    limits = {link.joint: link.limits for leg in robot.legs for link in leg.links if link.actuated}
    assert limits["a1"] is not None
    assert limits["a1"].force == 3.0
    assert limits["b1"] is None


def test_a_massless_end_of_a_loop_is_refused(tmp_path: Path) -> None:
    piston = "piston: {mass: 0.6, com: [-0.16, 0, 0], inertia: {diagonal: [0.0001, 0.005, 0.005]}}"
    assert piston in PIN
    (tmp_path / "robot.yaml").write_text(PIN.replace(piston, "piston: {}"))
    with pytest.raises(fp.InputError, match=r"export: 1\.piston, 2\.piston, 3\.piston would be moving bodies without mass"):
        fp.export_mjcf(fp.load(tmp_path / "robot.yaml"), tmp_path / "robot.xml")


GROUNDED = """flexapod: 1
name: grounded
source: written for this test
gravity: [0.5, -9.81, 0]
characteristic_length: 0.3
home: {position: [0, 0.1, 0]}
platform: {body: a.coupler}
legs:
  each:
    a:
      frame: {rotation: {Z: 30 deg}, position: [0.1, 0, 0]}
      joints:
        motor: {type: revolute, from: base, to: crank, axis: [0, 0, 1], actuated: true, start: 90 deg}
        pin: {type: revolute, from: crank, to: coupler, at: [0.1, 0, 0], axis: [0, 0, 1], start: -90 deg}
        tip: {type: revolute, from: coupler, to: rocker, at: [0.3, 0, 0], axis: [0, 0, 1], start: -116.565 deg}
        foot: {type: revolute, from: rocker, to: base, at: [0.1118033988749895, 0, 0], on: [0.25, 0, 0], axis: [0, 0, 1]WORDS}
      bodies: {crank: BODY, coupler: BODY, rocker: BODY}
"""


@pytest.mark.parametrize("words", ["", ", friction: {viscous: 0.1}"])
def test_loops_that_end_on_the_base(tmp_path: Path, words: str) -> None:
    """A loop written from its last body to the base: MuJoCo's terms with hard loops."""
    body = "{mass: 1, com: [0.05, 0.01, 0], inertia: {diagonal: [0.001, 0.002, 0.003]}}"
    text = GROUNDED.replace("WORDS", words).replace("BODY", body)
    text = text.replace("home: {position: [0, 0.1, 0]}", "home: {position: [0.05, 0.0866025403784, 0], rotation: {Z: 30 deg}}")
    (tmp_path / "robot.yaml").write_text(text)
    robot = fp.load(tmp_path / "robot.yaml")
    engine = Engine(fp.export_mjcf(robot, tmp_path / "robot.xml").read_text())
    driven = fp.ActuatorMotion(time=[0.0, 1.0], position=[[1.6], [1.8]], velocity=[[2.0], [-1.0]], acceleration=[[3.0], [5.0]])
    motion = fp.platform_motion(robot, driven)
    joints, force = fp.inverse_kinematics(robot, motion), fp.inverse_dynamics(robot, motion).force.values
    for k in range(2):
        acceleration = engine.put(robot, motion, joints, k)
        M, bias, J, S = engine.parts()
        assert np.abs(engine.data.efc_pos[: len(J)]).max() <= SAME
        rest = M @ acceleration + bias - engine.data.qfrc_passive - S @ force[k]
        carried = J.T @ np.linalg.lstsq(J.T, rest, rcond=1e-10)[0]
        assert np.abs(carried - rest).max() <= EXACT * np.abs(force[k]).max()
    fp.export_urdf(robot, tmp_path / "robot.urdf")
    for form in ("xml", "urdf"):
        fp.write_robot_file(fp.import_robot(tmp_path / f"robot.{form}", platform="platform"), tmp_path / "again.yaml")
        again = fp.load(tmp_path / "again.yaml")
        back = fp.inverse_dynamics(again, fp.platform_motion(again, driven)).force.values
        assert np.abs(back - force).max() <= EXACT * np.abs(force).max()
