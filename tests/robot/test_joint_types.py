"""Screw, planar and free joints, drives and springs where loops close, legs on legs, bump stops: against formulas and the same
mechanism in other words."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import flexapod as fp
from flexapod.robot.catalogue import catalogue

ROUNDING = 1e-12
"""Of forces by hand: a few roundings of sums of moments."""
DIFFERENCED = 1e-6
"""Of a square of a rate by central differences over 2e-6 rad: rounding of rotations, 1e-16, over the step, with room."""
KEPT = 1e-10
"""Of the energy exchanged: RK4 over five hundred smooth steps of a millisecond."""
STRAIGHT = 1e-6
"""Spread of the mean speed [m/s] of the centre of mass: what a position is off, over a step of a millisecond."""
CONTACT = 1e-5
"""Of the deepest point: it lies between two steps, and the stop begins within one."""
TWO_STEPS = 1e-9
"""Position [m] after two steps of a millisecond of a block that swings at 1.6 Hz."""
SAME = 1e-10
"""Relative; the same mechanism in other words is closed by other equations, each to 1e-12."""
BALANCE = 1e-5
"""Of the energy exchanged; the steps pass the kink of a bump stop, where their order is lost."""

HEAD = """flexapod: 1
name: made
source: written for this test
gravity: [0, 0, -9.81]
characteristic_length: 0.5
home: {position: HOME}
platform: {PLATFORM}
legs:
  each:
"""
BAR = "{mass: 2, com: [0.2, 0, 0], inertia: {diagonal: [0.1, 0.2, 0.3]}}"


def made(folder: Path, legs: str, *, home: str = "[0, 0, 0]", platform: str = "body: a.bar") -> fp.Robot:
    """A robot with the legs of a text."""
    path = folder / "made.yaml"
    path.write_text(HEAD.replace("HOME", home).replace("PLATFORM", platform) + legs.replace("BAR", BAR), encoding="utf-8")
    return fp.load(path)


def moment(p: list[float], R: object, v: list[float], w: list[float], a: list[float], alpha: list[float]) -> fp.Motion:
    """A motion of one sample."""
    return fp.Motion(
        time=[0.0], position=[p], rotation=[R], velocity=[v], angular_velocity=[w], acceleration=[a], angular_acceleration=[alpha]
    )


def test_a_screw_lifts_and_turns_its_nut(tmp_path: Path) -> None:
    """Torque = (J + m r^2) alpha + m g r with r = pitch / 2 pi, for a mass in the axis."""
    legs = """    a:
      joints: {spindle: {type: screw, from: base, to: bar, axis: [0, 0, 1], pitch: 20 mm, actuated: true, inertia: 0.01}}
      bodies: {bar: {mass: 3, inertia: {diagonal: [0.1, 0.1, 0.02]}}}
"""
    robot = made(tmp_path, legs)
    r, rate, alpha = 0.02 / (2 * np.pi), 4.0, 7.0
    assert robot.mobility.rank == 1
    state = moment([0, 0, 0], np.eye(3), [0, 0, r * rate], [0, 0, rate], [0, 0, r * alpha], [0, 0, alpha])
    force = fp.inverse_dynamics(robot, state).force.values[0]
    assert force == pytest.approx([(0.01 + 0.02 + 3 * r**2) * alpha + 3 * 9.81 * r], rel=ROUNDING)
    finer = robot.with_parameters({"legs.a.joints.spindle.pitch": 0.01})
    still = fp.inverse_dynamics(finer, fp.State(position=[0, 0, 0])).force.values
    assert still == pytest.approx([3 * 9.81 * r / 2], rel=ROUNDING)


FOUR_BAR = """    a:
      joints:
        crank: {type: revolute, from: base, to: bar, axis: [0, 1, 0]}
        pin: {type: revolute, from: bar, to: coupler, at: [0.4, 0, 0], axis: [0, 1, 0]}
"""
BODIES = """      bodies: {bar: BAR, coupler: BAR"""
INSIDE = """        knee: {type: revolute, from: coupler, to: rocker, at: [0.5, 0, 0], axis: [0, 1, 0], KNEE}
        foot: {type: revolute, from: rocker, to: base, at: [0.4, 0, 0], on: [0.8, 0, -0.1], axis: [0, 1, 0]}
"""
ON_LEG = """    b:
      joints:
        knee: {type: revolute, from: a.coupler, to: rocker, at: [0.5, 0, 0], axis: [0, 1, 0], KNEE}
        foot: {type: revolute, from: rocker, to: base, at: [0.4, 0, 0], on: [0.8, 0, -0.1], axis: [0, 1, 0]}
      bodies: {rocker: BAR}
"""
CLOSING = """    b:
      frame: {position: [0.8, 0, -0.1]}
      joints:
        foot: {type: revolute, from: base, to: rocker, axis: [0, 1, 0], start: -1.6}
        knee: {type: revolute, from: rocker, to: a.coupler, at: [0.4, 0, 0], on: [0.5, 0, 0], axis: [0, 1, 0], KNEE}
      bodies: {rocker: {mass: 2, com: [0.2, 0, 0], inertia: {diagonal: [0.1, 0.2, 0.3]}}}
"""
KNEE = "actuated: true, start: 1.5, inertia: 0.02, damping: 0.5, friction: {viscous: 0.3}"
START = -0.7


def four_bar(folder: Path, how: str) -> fp.Robot:
    """A four-bar whose knee is driven: one tree, a leg that begins on the other's coupler, or a driven closing joint."""
    folder = folder / how
    folder.mkdir()
    first = FOUR_BAR.replace("axis: [0, 1, 0]}\n        pin", f"axis: [0, 1, 0], start: {START}}}\n        pin", 1)
    text = {
        "inside": first + INSIDE + BODIES + ", rocker: BAR}\n",
        "on a leg": first + BODIES + "}\n" + ON_LEG,
        "closing": first + BODIES + "}\n" + CLOSING,
    }[how]
    rotation = f"{{axis: [0, 1, 0], angle: {START}}}"
    return made(folder, text.replace("KNEE", KNEE), home=f"[0, 0, 0], rotation: {rotation}")


@pytest.mark.parametrize("how", ["on a leg", "closing"])
def test_a_driven_knee_in_other_words(tmp_path: Path, how: str) -> None:
    """Drive, rotor, damper and friction act at the same joint, wherever the tree is cut."""
    one, other = (four_bar(tmp_path, which) for which in ("inside", how))
    assert one.mobility.rank == other.mobility.rank == 1
    state = moment([0, 0, 0], one.home.rotation, [0, 0, 0], [0, 1.3, 0], [0, 0, 0], [0, 2.0, 0])
    expected, found = (fp.inverse_dynamics(robot, state, friction=True) for robot in (one, other))
    sign = -1.0 if how == "closing" else 1.0  # the same angle, counted from the other side
    assert abs(expected.force.values[0]) > 1.0
    assert found.force.values == pytest.approx(sign * expected.force.values, rel=SAME)
    again = fp.forward_dynamics(other, state, found.force.values, friction=True)
    assert again.angular_acceleration.values[0] == pytest.approx([0, 2.0, 0], rel=SAME, abs=SAME)


def test_friction_of_a_loop_that_closes_before_the_platform(tmp_path: Path) -> None:
    """An inner loop that stands in the file before the joint to the platform has its friction too: more torque, as it turns."""
    legs = """    a:
      joints:
        crank: {type: revolute, from: base, to: bar, axis: [0, 1, 0], actuated: true, start: -0.7}
        pin: {type: revolute, from: bar, to: coupler, at: [0.4, 0, 0], axis: [0, 1, 0]}
        knee: {type: revolute, from: coupler, to: rocker, at: [0.5, 0, 0], axis: [0, 1, 0], start: 1.5}
        foot: {type: revolute, from: rocker, to: base, at: [0.4, 0, 0], on: [0.8, 0, -0.1], axis: [0, 1, 0], FRICTION}
        end: {type: fixed, from: bar, to: platform}
      bodies: {bar: BAR, coupler: BAR, rocker: BAR}
"""
    forces = []
    for friction in ("friction: {viscous: 0.7}", "start: 0"):
        home = f"[0, 0, 0], rotation: {{axis: [0, 1, 0], angle: {START}}}"
        robot = made(tmp_path, legs.replace("FRICTION", friction), home=home, platform="mass: 0.1")
        state = moment([0, 0, 0], robot.home.rotation, [0, 0, 0], [0, 1.0, 0], [0, 0, 0], [0, 0, 0])
        forces.append(fp.inverse_dynamics(robot, state, friction=True).force.values[0, 0])
    rate = rocker_rate(robot)
    assert forces[0] - forces[1] == pytest.approx(0.7 * rate**2, rel=DIFFERENCED)


def rocker_rate(robot: fp.Robot) -> float:
    """Rate of the rocker against the base per rate of the crank, by differences of rotations."""
    angles = []
    for h in (-1e-6, 1e-6):
        R = Rotation.from_rotvec([0, START + h, 0]).as_matrix()
        found = fp.inverse_kinematics(robot, fp.State(position=[0, 0, 0], rotation=R), bodies=True)
        angles.append(found.body_rotation.sel(body="a.rocker").values)
    return float(Rotation.from_matrix(angles[1] @ angles[0].T).as_rotvec()[1] / 2e-6)


def test_planar_joint_slides_and_turns(tmp_path: Path) -> None:
    """A plate on a table, driven by a slide and a crank: the same forces as two slides and a hinge in a row."""
    drives = """    b:
      joints:
        push: {type: prismatic, from: base, to: block, at: [0, 0.2, 0], axis: [1, 0, 0], actuated: true}
        pin: {type: cylindrical, from: block, to: a.bar, on: [0, 0.2, 0], axis: [0, 0, 1]}
      bodies: {block: {mass: 1}}
"""
    one = """    a:
      joints: {plate: {type: planar, from: base, to: bar, axis: [0, 0, 1], start: [0, 0, 0]}}
      bodies: {bar: BAR}
"""
    three = """    a:
      joints:
        x: {type: prismatic, from: base, to: first, axis: [1, 0, 0]}
        y: {type: prismatic, from: first, to: second, axis: [0, 1, 0]}
        z: {type: revolute, from: second, to: bar, axis: [0, 0, 1]}
      bodies: {bar: BAR, first: {}, second: {}}
"""
    found = []
    for text in (one, three):
        robot = made(tmp_path, text + drives)
        assert robot.mobility.rank == 2
        state = fp.State(position=[0, 0, 0], velocity=[0.3, 0, 0], angular_velocity=[0, 0, 0.5])
        found.append(fp.energy(robot, state).kinetic.values)
    assert found[0] == pytest.approx(found[1], rel=SAME)


@pytest.mark.compiled
def test_a_free_body_falls_and_keeps_its_spin(tmp_path: Path) -> None:
    """A free body with a mass that a motor slides along it: the centre of all falls freely, angular momentum stays."""
    legs = """    a:
      joints:
        float: {type: free, from: base, to: bar}
        slide: {type: prismatic, from: bar, to: block, axis: [1, 0, 0], actuated: true}
      bodies: {bar: {mass: 2, inertia: {diagonal: [0.1, 0.2, 0.25]}}, block: {mass: 1}}
"""
    robot = made(tmp_path, legs)
    assert robot.mobility.rank == 7
    start = fp.State(position=[0, 0, 0], velocity=[1.0, 0, 2.0], angular_velocity=[0.2, 0.3, 0.4])
    result = fp.simulate(robot, start, drive="force", force=[0.4], duration=0.5, step=1e-3)
    exchanged = float(result.kinetic_energy.max())
    assert float(np.abs(result.energy_residual).max()) < KEPT * exchanged
    block = result.position.values + result.rotation.values[:, :, 0] * result.actuator_position.values
    centre = (2 * result.position.values + block) / 3
    t = result.time.values
    fall = centre[:, 2] - centre[0, 2] + 9.81 * t**2 / 2
    assert np.ptp(np.diff(fall) / np.diff(t)) < STRAIGHT  # straight but for gravity


@pytest.mark.compiled
def test_a_mass_bounces_on_its_bump_stop(tmp_path: Path) -> None:
    """A mass falls 0.1 m on a stop and comes back: half a period of free fall and one contact by hand."""
    legs = """    a:
      joints: {slide: {type: prismatic, from: base, to: bar, axis: [0, 0, 1], actuated: true, LIMITS}}
      bodies: {bar: {mass: 2}}
"""
    robot = made(tmp_path, legs.replace("LIMITS", "limits: {stroke: [-0.1, 0.3], stop: 1e4 N/m}"))
    start = fp.State(position=[0, 0, 0])
    result = fp.simulate(robot, start, drive="force", force=[0.0], duration=0.4, step=2e-4)
    m, g, k, h = 2.0, 9.81, 1e4, 0.1
    deepest = m * g / k + np.sqrt((m * g / k) ** 2 + 2 * m * g * h / k)
    assert float(result.actuator_position.min()) == pytest.approx(-h - deepest, rel=CONTACT)
    assert float(np.abs(result.energy_residual).max()) < BALANCE * m * g * h
    held = fp.inverse_dynamics(robot, fp.State(position=[0, 0, -0.101])).force.values
    assert held == pytest.approx([m * g - k * 0.001], rel=ROUNDING)


def test_rest_and_preload_of_a_joint_spring(tmp_path: Path) -> None:
    """Torque of a spring that is unloaded away from home, and of a constant torque, by hand."""
    legs = """    a:
      joints:
        hinge: {type: revolute, from: base, to: bar, axis: [0, 0, 1], actuated: true}
        pin: {type: prismatic, from: bar, to: block, axis: [1, 0, 0], stiffness: 50 N/m, rest: 0.1, preload: -2 N}
      bodies: {bar: BAR, block: {mass: 0.5}}
"""
    robot = made(tmp_path, legs)
    start = fp.State(position=[0, 0, 0])
    result = fp.simulate(robot, start, drive="force", force=[0.0], duration=2e-3, step=1e-3)
    omega, amplitude = np.sqrt(50 / 0.5), 0.1 + 2 / 50  # the block swings about where spring and constant force are in balance
    slide = result.joint_position.sel(joint="a.pin").values
    assert slide == pytest.approx(amplitude * (1 - np.cos(omega * result.time.values)), abs=TWO_STEPS)


@pytest.mark.parametrize(
    ("joint", "says"),
    [
        ("type: screw, from: base, to: bar, axis: [0, 0, 1], actuated: true", "pitch: is missing: a screw joint needs it"),
        ("type: revolute, from: base, to: bar, axis: [0, 0, 1], pitch: 1 mm, actuated: true", "pitch: does not belong"),
        ("type: free, from: base, to: bar, actuated: true", "a free joint cannot be actuated"),
        ("type: revolute, from: base, to: bar, axis: [0, 0, 1], actuated: true, rest: 0.1", "rest: has no meaning without"),
        (
            "type: revolute, from: base, to: bar, axis: [0, 0, 1], actuated: true, stiffness: 5, rest: 0.1",
            "rest: has no meaning for",
        ),
        (
            "type: free, from: base, to: bar}, "
            "x: {type: planar, from: bar, to: base, axis: [0, 0, 1], limits: {stroke: [0, 1], stop: 1}",
            "limits.stop: does not belong to a planar joint",
        ),
        ("type: revolute, from: b.rod, to: bar, axis: [0, 0, 1], actuated: true", "no leg has the body b.rod"),
        ("type: prismatic, from: base, to: bar, axis: [0, 0, 1], actuated: true, limits: {stop: 1}", "stop: needs a stroke"),
    ],
)
def test_wrong_joints_are_named(tmp_path: Path, joint: str, says: str) -> None:
    with pytest.raises(fp.FlexapodError, match=says):
        made(tmp_path, f"    a:\n      joints: {{hinge: {{{joint}}}}}\n      bodies: {{bar: BAR}}\n")


PRESS = """    a:
      joints:
        guide: {type: prismatic, from: base, to: bar, axis: [0, 0, 1]}
        shaft: {type: revolute, from: base, to: rotor, at: [0.2, 0, 0], axis: [0, 0, 1], actuated: true}
        bearing: {type: revolute, from: base, to: nut, axis: [0, 0, 1]}
        thread: {type: screw, from: nut, to: bar, axis: [0, 0, 1], pitch: 200 mm}
      bodies: {bar: {mass: 8}, nut: {mass: 2}, rotor: {mass: 1}}
couplings:
  gear: {a.shaft: 1, FACTOR}
"""


@pytest.mark.parametrize("factor", ["a.bearing: -5", "a.thread.1: 5", "a.thread.2: 157.07963267948966"])
def test_couplings_name_coordinates_by_number(tmp_path: Path, factor: str) -> None:
    """The same gear at the nut, at the rotation of the thread and at its slide: motor torque m g p / (2 pi) / 5."""
    press = made(tmp_path, PRESS.replace("FACTOR", factor))
    torque = fp.inverse_dynamics(press, fp.State(position=[0, 0, 0])).force.values
    assert np.abs(torque) == pytest.approx([8 * 9.81 * 0.2 / (2 * np.pi) / 5], rel=SAME)


def test_a_gear_at_a_joint_that_closes_a_loop(tmp_path: Path) -> None:
    """The closing joint then has a coordinate: pin angle of a parallelogram is minus its crank's, and the gear says so twice."""
    legs = """    a:
      joints:
        crank: {type: revolute, from: base, to: bar, axis: [0, 1, 0], actuated: true}
        other: {type: revolute, from: base, to: second, at: [0, 0, 0.3], axis: [0, 1, 0]}
        elbow: {type: revolute, from: bar, to: rod, at: [0.4, 0, 0], axis: [0, 1, 0]}
        pin: {type: revolute, from: rod, to: second, at: [0, 0, 0.3], on: [0.4, 0, 0], axis: [0, 1, 0]}
      bodies: {bar: BAR, second: BAR, rod: BAR}
"""
    plain = made(tmp_path, legs)
    geared = made(tmp_path, legs + "couplings:\n  gear: {a.crank: 1, a.pin: -1}\n")
    assert "pin" in [link.coordinate for link in geared.legs[0].links]
    assert (plain.mobility.rank, geared.mobility.rank) == (1, 1)


@pytest.mark.parametrize(
    ("factor", "says"),
    [
        (
            "a.thread: 5",
            r"made.yaml:\d+: couplings.gear.a.thread: a.thread has 2 coordinates. Name one of a.thread.1",
        ),
        ("a.bering: 5", "no joint coordinate is called a.bering. Did you mean a.bearing?"),
        ("a.bearing.1: 5", "a.bearing has one coordinate. Write a.bearing."),
        ("a.bearing: -5}\n  belt: {a.shaft: 1, a.bearing: -4", r"made.yaml:\d+: couplings gear, belt: together with the loops"),
        ("bearing: 5", "'bearing' is not leg.joint or leg.joint.number"),
    ],
)
def test_wrong_coordinates_of_couplings_are_named(tmp_path: Path, factor: str, says: str) -> None:
    with pytest.raises(fp.FlexapodError, match=says):
        made(tmp_path, PRESS.replace("FACTOR", factor))


@pytest.mark.parametrize("file", ["planar-3-rrr.yaml", "3-puu.yaml", "delta.yaml"])
def test_a_damper_at_the_platform_joint(tmp_path: Path, file: str) -> None:
    """The file is assembled with it, far from its start values too. At rest it has no force, moving it takes the power d w^2."""
    plain = fp.load(file.removesuffix(".yaml"))
    text = plain.description.path.read_text(encoding="utf-8")
    path = tmp_path / file
    path.write_text(text.replace("to: platform,", "to: platform, damping: 0.5,"), encoding="utf-8")
    damped = fp.load(path)
    assert damped.mobility.rank == plain.mobility.rank
    home = fp.State(position=plain.home.position, rotation=plain.home.rotation)
    at_rest = fp.inverse_dynamics(plain, home).force.values
    assert fp.inverse_dynamics(damped, home).force.values == pytest.approx(at_rest, rel=SAME, abs=SAME)
    moving = fp.State(position=plain.home.position, rotation=plain.home.rotation, velocity=[0.1, 0.2, 0])
    legs = fp.inverse_kinematics(damped, moving)
    joints = [str(joint) for joint in legs.joint.values]
    last = {f"{leg.name}.{leg.closing.joint.removesuffix('/end')}" for leg in damped.legs}
    own = [k for k, joint in enumerate(joints) if joint in last or joint.rpartition(".")[0] in last]
    forces = [fp.inverse_dynamics(robot, moving, friction=False).force.values for robot in (damped, plain)]
    taken = (forces[0] - forces[1]) @ legs.actuator_velocity.values
    assert taken == pytest.approx(0.5 * np.sum(legs.joint_velocity.values[own] ** 2), rel=SAME)


@pytest.mark.full
@pytest.mark.parametrize(
    "name", [name for name, path in catalogue().items() if "flexible" not in path.read_text(encoding="utf-8")]
)
def test_dampers_at_platform_joints_leave_the_assembly(tmp_path: Path, name: str) -> None:
    """The actuators are where they are without them, so that the legs are in the same branches."""
    plain = fp.load(name)
    text = re.sub("to: platform(?=[,}])", "to: platform, damping: 0.5", plain.description.path.read_text(encoding="utf-8"))
    path = tmp_path / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    homes = [np.concatenate([leg.home for leg in r.legs])[list(r.driven)] for r in (fp.load(path), plain)]
    assert homes[0] == pytest.approx(homes[1], abs=SAME)


FRAME = """    a:
      joints: {clamp: {type: fixed, from: base, to: wall}, RAIL}
      bodies: {wall: {WALL}, CART}
"""
ON_FRAME = """    b:
      joints: {rail: {type: prismatic, from: a.wall, to: bar, at: [0.8, 0, 0], axis: [0, 0, 1], actuated: true}}
      bodies: {bar: BAR}
"""
BEAM = "flexible: {type: beam, length: 0.8, elements: 2, material: steel, section: {shape: rectangle, width: 0.02, height: 0.01}}"


@pytest.mark.parametrize("wall", ["mass: 3", BEAM])
def test_a_base_frame_is_a_leg_of_its_own(tmp_path: Path, wall: str) -> None:
    """It needs no way to the platform where another leg begins on it; against the same frame and rail as one leg."""
    rail = "rail: {type: prismatic, from: wall, to: bar, at: [0.8, 0, 0], axis: [0, 0, 1], actuated: true}"
    one = FRAME.replace("RAIL", rail).replace("WALL", wall).replace("CART", "bar: BAR")
    two = FRAME.replace(", RAIL", "").replace("WALL", wall).replace(", CART", "") + ON_FRAME
    wanted = made(tmp_path, one, home="[0.8, 0, 0]")
    found = made(tmp_path, two, home="[0.8, 0, 0]", platform="body: b.bar")
    assert found.mobility.rank == wanted.mobility.rank == 1
    motion = fp.ActuatorMotion(time=[0.0], position=[[0.1]], velocity=[[0.3]], acceleration=[[2.0]])
    forces = [fp.inverse_dynamics(robot, motion).force.values for robot in (found, wanted)]
    moved = [fp.platform_motion(robot, motion) for robot in (found, wanted)]
    assert forces[0] == pytest.approx(forces[1], rel=SAME)
    assert moved[0].acceleration == pytest.approx(moved[1].acceleration, abs=SAME)


def test_a_leg_on_which_nothing_begins_needs_the_platform(tmp_path: Path) -> None:
    legs = FRAME.replace(", RAIL", "").replace("WALL", "mass: 3").replace(", CART", "")
    legs += ON_FRAME.replace("from: a.wall", "from: base")
    with pytest.raises(fp.FlexapodError, match=r"leg does not reach the platform. Add a joint with `to: platform`"):
        made(tmp_path, legs, home="[0.8, 0, 0]", platform="body: b.bar")


@pytest.mark.parametrize("rotated", ["{Y: 0}", "{Y: 60 deg}", "{Y: 90 deg}", "{XYZ: [40 deg, 90 deg, 20 deg]}"])
def test_a_sprung_ball_is_the_same_in_every_direction(rotated: str, tmp_path: Path) -> None:
    """Three rotations in a row have other angles between them where the joint is turned at home, and none at a right angle."""
    (tmp_path / "ball.yaml").write_text(f"""flexapod: 1
name: ball
source: written for this test
gravity: [0, 0, 0]
characteristic_length: 0.1
home: {{rotation: {rotated}}}
platform: {{mass: 1, inertia: {{diagonal: [0.1, 0.2, 0.25]}}}}
legs:
  each:
    L:
      joints:
        slide: {{type: prismatic, from: base, to: car, axis: [0, 0, 1], actuated: true}}
        ball: {{type: spherical, from: car, to: platform, stiffness: 100, damping: 3}}
      bodies: {{car: {{mass: 1}}}}
""")
    robot = fp.load(tmp_path / "ball.yaml")
    assert robot.mobility.rank == 4
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    squares = fp.natural_frequencies(robot, home, actuators="locked").omega_squared.values
    np.testing.assert_allclose(squares, 100 / np.array([0.25, 0.2, 0.1]), rtol=ROUNDING)  # k / I, to rounding


def test_dampers_at_the_balls_of_legs_at_right_angles(tmp_path: Path) -> None:
    """Horizontal and upright legs: those whose axis is a right angle from the platform's are not at a lock."""
    text = fp.catalogue()["8-ups"].read_text(encoding="utf-8")
    ball = "ball: {type: spherical, from: piston, to: platform"
    assert ball in text
    (tmp_path / "damped.yaml").write_text(text.replace(ball, f"{ball}, damping: 50"), encoding="utf-8")
    damped = fp.load(tmp_path / "damped.yaml")
    assert (damped.mobility.rank, damped.mobility.platform) == (6, 6)
    assert len(damped.elastic_plan.independent) == 6


def test_a_leg_that_only_a_coupling_holds_is_reported_where_to_stand(tmp_path: Path) -> None:
    legs = """    a:
      joints: {hinge: {type: revolute, from: base, to: bar, axis: [0, 0, 1], actuated: true}}
      bodies: {bar: BAR}
    w:
      joints: {axle: {type: revolute, from: base, to: wheel, at: [0, 1, 0], axis: [0, 0, 1]}}
      bodies: {wheel: BAR}
couplings: {gear: {a.hinge: 1, w.axle: -3}}
"""
    with pytest.raises(fp.FlexapodError, match=r"What only a coupling \(gear\) holds belongs to the leg that it is coupled to"):
        made(tmp_path, legs)
