"""Loops inside legs and between them: the same mechanism written in other ways, or known in another form."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from flexapod.robot.catalogue import catalogue
from flexapod.views.chosen_motion import small_motion
from support.usual_run import counted

EQUAL = 1e-11
"""Relative to the largest value; measured below 1e-14, forward dynamics and Coriolis forces below 1e-11."""

LEVEL = 1e-12
"""Of the rotation about the vertical: a platform that four legs keep level, to rounding of its closing."""

STIFF = 1e-6
"""Steel rods of 12 mm under their own weight bend by 1e-5 of their length; forces follow by 6e-8."""

JOINT = "{{type: revolute, from: {0}, to: {1}, at: [{2}, 0, 0], axis: [0, 0, 1]{3}}}"
CRANK = JOINT.format("base", "crank", 0, ", start: 90 deg, actuated: true")
COUPLER = JOINT.format("crank", "coupler", 0.1, ", start: -90 deg")
ROCKER = JOINT.format("base", "rocker", 0.25, ", start: 63 deg")
BODY = "{mass: 1, com: [0.05, 0, 0], inertia: {diagonal: [0.001, 0.002, 0.003]}}"
HEAD = """flexapod: 1
name: four-bar
title: four-bar
plane: xy
source: written for this test
gravity: [0, -9.81, 0]
home: {position: [0, 0.1, 0]}
"""


def in_one_leg() -> str:
    """The loop inside one leg, whose coupler is the platform."""
    last = "{type: revolute, from: rocker, to: coupler, at: [0.1118033988749895, 0, 0], on: [0.3, 0, 0], axis: [0, 0, 1]}"
    return f"""platform: {{body: a.coupler}}
legs:
  each:
    a:
      joints: {{one: {CRANK}, two: {COUPLER}, three: {ROCKER}, four: {last}}}
      bodies: {{crank: {BODY}, coupler: {BODY}, rocker: {BODY}}}
"""


def in_two_legs(platform: str, to: str) -> str:
    """The rocker as a leg of its own, which ends on the coupler."""
    last = f"{{type: revolute, from: rocker, to: {to}, at: [0.1118033988749895, 0, 0], on: [0.3, 0, 0], axis: [0, 0, 1]}}"
    return f"""platform: {{body: {platform}}}
legs:
  each:
    a:
      joints: {{one: {CRANK}, two: {COUPLER}}}
      bodies: {{crank: {BODY}, coupler: {BODY}}}
    b:
      joints: {{three: {ROCKER}, four: {last}}}
      bodies: {{rocker: {BODY}}}
"""


FORMS = {
    "two legs on the platform": in_two_legs("a.coupler", "platform"),
    "one leg": in_one_leg(),
    "a leg on another leg": in_two_legs("a.crank", "a.coupler"),
}


def written(form: str, folder: Path) -> fp.Robot:
    path = folder / "four-bar.yaml"
    home = HEAD.replace("[0, 0.1, 0]", "[0, 0, 0], rotation: {Z: 90 deg}") if "body: a.crank" in FORMS[form] else HEAD
    path.write_text(home + FORMS[form], encoding="utf-8")
    return fp.load(path)


def crank_forces(robot: fp.Robot, reactions: bool = False) -> object:
    angle = robot.legs[0].home[0] + np.array([[0.0], [0.1], [0.25]])
    motion = fp.ActuatorMotion(
        time=np.arange(3.0),
        position=angle,
        velocity=np.array([[1.0], [-2.0], [3.0]]),
        acceleration=np.array([[5.0], [0.0], [-9.0]]),
    )
    platform = fp.platform_motion(robot, motion)
    return fp.inverse_dynamics(robot, platform, reactions=reactions)


def test_a_loop_may_be_cut_anywhere(tmp_path: Path) -> None:
    """Forces and reactions of one four-bar, its loop in one leg, in two, and on a body that is not the platform."""
    found = {}
    for form in FORMS:
        robot = written(form, tmp_path)
        assert robot.mobility.rank == 1
        found[form] = crank_forces(robot, reactions=True)
    first = found["two legs on the platform"]
    for form, other in found.items():
        np.testing.assert_allclose(other.force, first.force, rtol=0, atol=EQUAL * float(np.abs(first.force).max()))
        names = {"a.three": "b.three", "a.four": "b.four"} if form == "one leg" else {}
        for joint in ("a.one", "a.two", "a.three" if names else "b.three", "a.four" if names else "b.four"):
            ours = other.reaction_force.sel(joint=joint).values[:, :2]
            truth = first.reaction_force.sel(joint=names.get(joint, joint)).values[:, :2]
            np.testing.assert_allclose(ours, truth, rtol=0, atol=EQUAL * float(np.abs(truth).max()), err_msg=f"{form}: {joint}")


@cache
def deltas() -> tuple[fp.Robot, fp.Robot]:
    return fp.load("delta-parallelograms"), fp.load("delta")


def states() -> fp.Motion:
    """A Delta's platform translates only."""
    random = np.random.default_rng(3)
    position = np.array([0.0, 0.0, -0.75]) + random.uniform(-0.08, 0.08, (5, 3))
    zero, still = np.zeros((5, 3)), np.tile(np.eye(3), (5, 1, 1))
    return fp.Motion(
        time=np.arange(5.0), position=position, rotation=still, velocity=random.normal(size=(5, 3)), angular_velocity=zero,
        acceleration=random.normal(size=(5, 3)), angular_acceleration=zero,
    )  # fmt: skip


def close(ours: object, truth: object) -> None:
    a, b = np.asarray(ours), np.asarray(truth)
    np.testing.assert_allclose(a, b, rtol=0, atol=EQUAL * float(np.abs(b).max()))


def test_a_planar_loop_may_stand_anywhere(tmp_path: Path) -> None:
    """In space its rows repeat each other; rotated by any angles, they do so up to rounding: the same forces as in its plane."""
    (tmp_path / "flat.yaml").write_text(HEAD + in_one_leg())
    flat, R = fp.load(tmp_path / "flat.yaml"), fp.motions.rotvec_rotation(np.array([0.4, -0.7, 1.1]))
    matrix = f"{{matrix: {R.tolist()}}}"
    text = (HEAD + in_one_leg()).replace("plane: xy\n", "").replace("    a:\n", f"    a:\n      frame: {{rotation: {matrix}}}\n")
    text = text.replace("[0, -9.81, 0]", str((R @ [0.0, -9.81, 0.0]).tolist()))
    text = text.replace("{position: [0, 0.1, 0]}", f"{{position: {(R @ [0.0, 0.1, 0.0]).tolist()}, rotation: {matrix}}}")
    (tmp_path / "rotated.yaml").write_text(text)
    rotated = fp.load(tmp_path / "rotated.yaml")
    assert rotated.independent == rotated.actuators
    motion = fp.ActuatorMotion(time=[0.0, 1.0], position=[[1.6], [1.8]], velocity=[[2.0], [-1.0]], acceleration=[[3.0], [5.0]])
    close(fp.inverse_dynamics(rotated, motion).force.values, fp.inverse_dynamics(flat, motion).force.values)


def test_parallelograms_move_as_universal_joints_do() -> None:
    """Clavel's Delta with two rods per forearm against the 3-RUU with one: rods of a parallelogram move alike."""
    ours, plain = deltas()
    assert (ours.mobility.rank, ours.mobility.formula) == (3, 3)
    motion = states()
    for key in ("actuator_position", "actuator_velocity", "actuator_acceleration"):
        close(fp.inverse_kinematics(ours, motion)[key], fp.inverse_kinematics(plain, motion)[key])
    q = fp.inverse_kinematics(plain, motion).actuator_position.values
    close(fp.forward_kinematics(ours, q).position, motion.position)
    at = fp.State(position=motion.position)
    close(fp.conditioning(ours, at).condition_number, fp.conditioning(plain, at).condition_number)


def test_parallelograms_need_the_same_forces() -> None:
    ours, plain = deltas()
    motion = states()
    mine, truth = (fp.inverse_dynamics(robot, motion, reactions=True) for robot in (ours, plain))
    close(mine.force, truth.force)
    both = mine.reaction_force.sel(joint="1.wrist") + mine.reaction_force.sel(joint="1.wrist2")
    close(both, truth.reaction_force.sel(joint="1.wrist"))
    close(mine.reaction_force.sel(joint="1.shoulder"), truth.reaction_force.sel(joint="1.shoulder"))
    moving = fp.State(position=motion.position, velocity=motion.velocity)
    close(fp.forward_dynamics(ours, moving, truth.force.values).acceleration, motion.acceleration)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda robot: fp.working_modes(robot, fp.State(position=[0, 0, -0.75])), "has loops inside or between its legs"),
        (lambda robot: fp.kernel(robot, "newton_euler"), "without loops of their own, and delta-parallelograms has loops inside"),
    ],
)
def test_what_takes_simple_legs_only_says_so(call: object, says: str) -> None:
    with pytest.raises(fp.FlexapodError, match=says):
        call(deltas()[0])


POWER = 1e-7
"""Of the largest power: differences of energies over 2e-4 s; measured 1e-9."""


@pytest.mark.compiled
def test_an_articulated_platform_of_four_degrees_of_freedom() -> None:
    """H4: legs that end on halves of the platform, which other legs carry. It turns about z only; power is what energy gains."""
    robot = fp.load("h4")
    assert (robot.mobility.rank, robot.plan.platform_independent) == (4, (0, 1, 2, 5))
    home = np.array([leg.home[0] for leg in robot.legs])
    q, v = home + np.array([0.1, -0.05, -0.1, 0.05]), np.array([1.0, -0.5, 0.3, 0.8])
    time = np.array([0.0, -1e-4, 1e-4])
    motion = fp.ActuatorMotion(
        time=np.arange(3.0), position=q + v * time[:, None], velocity=np.tile(v, (3, 1)), acceleration=np.zeros((3, 4))
    )
    platform = fp.platform_motion(robot, motion)
    assert np.abs(platform.angular_velocity[:, :2]).max() < LEVEL * np.abs(platform.angular_velocity).max()
    force = fp.inverse_dynamics(robot, motion).force.values
    close(fp.inverse_dynamics(robot, platform).force, force)
    at = fp.State(
        position=platform.position,
        rotation=platform.rotation,
        velocity=platform.velocity,
        angular_velocity=platform.angular_velocity,
    )
    found = fp.energy(robot, at)
    energy = (found.kinetic + found.potential).values
    gained = (energy[2] - energy[1]) / (time[2] - time[1])
    assert abs(force[0] @ v - gained) < POWER * np.abs(force[0] * v).max()


def geared(tmp_path: Path, factors: str = "{left.crank: 2, right.crank: 1}") -> fp.Robot:
    """The five-bar with one motor: its right crank turns with the left one by a gear."""
    text = fp.load("five-bar").description.path.read_text(encoding="utf-8")
    text = text.replace("crank: {at: [0.1, 0, 0],", "crank: {actuated: false, at: [0.1, 0, 0],").replace(
        "limits: {stroke: [-30 deg, 210 deg]}", ""
    )
    (tmp_path / "geared.yaml").write_text(f"{text}\ncouplings:\n  gear: {factors}\n", encoding="utf-8")
    return fp.load(tmp_path / "geared.yaml")


def test_a_gear_couples_two_cranks(tmp_path: Path) -> None:
    """Mobility, motion and force of a five-bar with a gear, against the five-bar with two motors that move so."""
    robot, plain = geared(tmp_path), fp.load("five-bar")
    assert robot.mobility.rank == 1
    home = np.array([leg.home[0] for leg in plain.legs])
    rotated, rate, second = 0.1, 1.5, -2.0
    one = fp.ActuatorMotion(time=np.zeros(1), position=[[home[0] + rotated]], velocity=[[rate]], acceleration=[[second]])
    factors = np.array([1.0, -2.0])
    two = fp.ActuatorMotion(
        time=np.zeros(1), position=[home + rotated * factors], velocity=[rate * factors], acceleration=[second * factors]
    )
    ours, truth = fp.platform_motion(robot, one), fp.platform_motion(plain, two)
    close(ours.position, truth.position)
    close(ours.acceleration, truth.acceleration)
    both = fp.inverse_dynamics(plain, truth).force.values[0]
    close(fp.inverse_dynamics(robot, one).force.values[0, 0], both @ factors)


@pytest.mark.parametrize(
    ("factors", "says"),
    [
        ("{left.crank: 1}", "couplings.gear: couples fewer than two joints"),
        ("{left.crank: 1, other.crank: 1}", "no joint coordinate is called other.crank. Did you mean"),
        ("{left.crank: 1, right.shoulder: 1}", r"geared.yaml:\d+: couplings.gear.right.shoulder: no joint coordinate is called"),
    ],
)
def test_wrong_couplings_are_named(tmp_path: Path, factors: str, says: str) -> None:
    with pytest.raises(fp.FlexapodError, match=says):
        geared(tmp_path, factors)


def test_a_flexible_platform_takes_one_joint_of_every_leg() -> None:
    """Two rods of a parallelogram on one flexible platform are refused, not taken as one."""
    from flexapod.robot.leg_tree import RobotBuildError

    body = fp.load("gough-stewart-flexible").flexible_platform
    with pytest.raises(RobotBuildError, match="leg 1: a flexible platform takes one joint of every leg"):
        deltas()[0].with_flexible_body("platform", body)


@pytest.mark.parametrize(
    "form", [f if f == "one leg" else pytest.param(f, marks=pytest.mark.full) for f in ("one leg", "two legs on the platform")]
)
def test_all_poses_of_a_loop(form: str, tmp_path: Path) -> None:
    """A four-bar at a given crank has two poses: where the coupler's end meets the circle of the rocker's end."""
    robot = written(form, tmp_path)
    q = robot.legs[0].home[:1] + 0.2
    found = fp.assembly_modes(robot, q, certify=form != "one leg")
    pin = 0.1 * np.array([np.cos(q[0]), np.sin(q[0])])
    across = np.array([0.25, 0.0]) - pin
    distance = np.linalg.norm(across)
    along = (0.3**2 - 0.1118033988749895**2 + distance**2) / (2 * distance)
    side = np.sqrt(0.3**2 - along**2)
    e = across / distance
    wanted = sorted((along * e + sign * side * np.array([-e[1], e[0]])) @ [0.0, 1.0] / 0.3 for sign in (1, -1))
    assert found.sizes["mode"] == 2
    np.testing.assert_allclose(found.position.values[:, :2], [pin, pin], rtol=0, atol=EQUAL)
    np.testing.assert_allclose(sorted(found.rotation.values[:, 1, 0]), wanted, rtol=0, atol=EQUAL)  # sine of its direction
    if form != "one leg":
        assert found.completeness == "trace-tested"
        assert "trace test of degree 6" in str(found.detail.values)  # a coupler curve has degree six


ARM = "{type: revolute, from: base, to: arm, at: [X, 0, 0], axis: [0, 0, 1], actuated: true}"
ELBOW = "{type: revolute, from: arm, to: fore, at: [0, 0.4, 0], axis: [0, 0, 1]}"
PIN = "{type: revolute, from: fore, to: platform, at: [S0.3, 0.2, 0], on: [X, 0, 0], axis: [0, 0, 1]}"
FIVE = """flexapod: 1
name: held-by-a-bar
plane: xy
source: written for this test
gravity: [0, -9.81, 0]
characteristic_length: 0.5
home: {position: [0.35, 0.6, 0]}
platform: {mass: 1, inertia: {diagonal: [0.01, 0.01, 0.02]}}
legs:
  each:
"""


def held_by_a_bar(folder: Path) -> fp.Robot:
    """Two arms carry a short platform; the third motor, on one of them, slides along a bar on the other's forearm."""
    text = FIVE
    for name, x, on, sign in (("A", "0", "-0.05", ""), ("B", "0.7", "0.05", "-")):
        pin = PIN.replace("X", on).replace("S", sign)
        text += f"    {name}:\n      joints: {{motor: {ARM.replace('X', x)}, elbow: {ELBOW}, pin: {pin}}}\n"
        text += f"      bodies: {{arm: {BODY}, fore: {BODY}}}\n"
    text += f"""    C:
      joints:
        motor: {{type: revolute, from: A.arm, at: [0, 0.2, 0], to: bar, axis: [0, 0, 1], actuated: true}}
        slide: {{type: prismatic, from: bar, to: rod, axis: [1, 0, 0], start: 0.2}}
        pin: {{type: revolute, from: rod, to: B.fore, on: [-0.1, 0.05, 0], axis: [0, 0, 1]}}
      bodies: {{bar: {BODY}, rod: {BODY}}}
"""
    path = folder / "held-by-a-bar.yaml"
    path.write_text(text, encoding="utf-8")
    return fp.load(path)


@pytest.mark.compiled
def test_poses_are_found_where_actuators_hardly_hold_the_platform(tmp_path: Path) -> None:
    """A degree of the third motor turns the platform by fifty: the poses are those that both arms reach, none less."""
    robot = held_by_a_bar(tmp_path)
    assert str(robot.mobility) == "mobility 3 by rank, 3 by the count formula"
    x, y = np.linspace(0.1, 0.6, counted(5, 9)), np.linspace(0.3, 0.8, counted(5, 9))
    area = fp.workspace(robot, {"x": x, "y": y})
    X, Y = np.meshgrid(x, y, indexing="ij")
    fore, distances = np.hypot(0.3, 0.2), (np.hypot(X - 0.05, Y), np.hypot(X + 0.05 - 0.7, Y))
    wanted = np.all([(d < 0.4 + fore) & (d > 0.4 - fore) for d in distances], axis=0)
    assert 0 < wanted.sum() < wanted.size
    np.testing.assert_array_equal(area.valid.values, wanted)
    words = set(area["reason_text"].values[area["reason"].values[~wanted]].tolist())
    assert words == {"the loops cannot be closed at this pose: out of reach, or singular"}
    found = fp.inverse_kinematics(robot, fp.State(position=[0.35, 0.4, 0.0]))
    assert found.actuator_position.values[0] == pytest.approx(-found.actuator_position.values[1], abs=EQUAL)  # mirror images
    small = small_motion(robot)  # what commands take where no motion is given: so small that the robot can follow it
    assert np.isfinite(fp.inverse_dynamics(robot, small).force.values).all()
    assert np.abs(small.velocity).max() > 0.0


@pytest.mark.compiled
def test_the_platform_walks_where_actuators_turn_back() -> None:
    """Along the diagonal of the Orthoglide the sliders turn back at a type 2 singularity: closed form of its rods."""
    robot, length = fp.load("orthoglide"), 0.31
    t = np.array([-0.05, -0.12, -0.15, -0.2])
    found = fp.inverse_kinematics(robot, fp.State(position=np.repeat(t[:, None], 3, axis=1)))
    close(found.actuator_position.values, np.repeat((t - np.sqrt(length**2 - 2.0 * t**2) + length)[:, None], 3, axis=1))


@pytest.mark.compiled
def test_a_robot_that_deforms_walks_there_too(tmp_path: Path) -> None:
    """Rods as beams of the same mass: the forces of the rigid robot, also where the actuators turn back."""
    text = catalogue()["orthoglide"].read_text()
    beam = "{flexible: {type: beam, length: 0.31, section: {shape: tube, outer: 12 mm}, material: steel}}"
    (tmp_path / "bent.yaml").write_text(re.sub(r"bar1:\n        mass(.*\n){3}", f"bar1: {beam}\n", text, count=1))
    robot, at = fp.load(tmp_path / "bent.yaml"), fp.State(position=[[-0.12] * 3, [-0.15, -0.15, 0.0]])
    rigid, bent = (fp.inverse_dynamics(r, at).force.values for r in (fp.load("orthoglide"), robot))
    np.testing.assert_allclose(bent, rigid, rtol=STIFF)


SPRUNG = """flexapod: 1
name: sprung
plane: xy
source: written for this test
gravity: [0, -9.81, 0]
characteristic_length: 0.5
home: {position: [0.4, 0, 0]}
platform: {body: A.tip}
legs:
  each:
    A:
      joints:
        motor: {type: revolute, from: base, to: arm, axis: [0, 0, 1], actuated: true}
        elbow: {type: revolute, from: arm, to: tip, at: [0.4, 0, 0], axis: [0, 0, 1]SPRING}
      bodies: {arm: {mass: 1, com: [0.2, 0, 0]}, tip: {mass: 0.5, com: [0.2, 0, 0]}}
"""
GAS = "forces: {gas: {from: base, at: [0.2, -0.5, 0], to: A.tip, on: [0.1, 0, 0], preload: -40}}\n"


@pytest.mark.parametrize(("spring", "more"), [(", stiffness: 5, rest: 0.2", ""), ("", GAS)])
def test_springs_and_forces_choose_no_motion(spring: str, more: str, tmp_path: Path) -> None:
    """One motor of two joints: what the passive one does under its spring is not chosen, and no force is made up for it."""
    path = tmp_path / "sprung.yaml"
    path.write_text(SPRUNG.replace("SPRING", spring) + more, encoding="utf-8")
    robot, home = fp.load(path), fp.State(position=[0.4, 0.0, 0.0])
    with pytest.raises(fp.InputError, match="sprung is under-actuated: 1 actuator cannot control 2 components"):
        fp.inverse_dynamics(robot, home)
    with pytest.raises(fp.InputError, match="actuator coordinates do not determine its pose"):
        fp.forward_kinematics(robot, [0.0])
    with pytest.raises(fp.InputError, match="actuator coordinates do not determine its pose"):
        fp.assembly_modes(robot, [0.0])
    near = fp.singularities(robot, home)
    assert float(near.type_2) == 0.0
    assert "the actuators do not hold" in str(near.text.values)
    second = fp.forward_dynamics(robot, home, [0.0])
    assert np.all(np.isfinite(second.acceleration.values))
