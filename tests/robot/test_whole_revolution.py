"""A crank-rocker through its whole revolution, in any size, in one leg or two; a press whose motor turns many times."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import flexapod as fp

CRANK, COUPLER, GROUND, ROCKER = 0.2, np.array([0.5, 0.1]), 0.5, 0.3
ANGLES = np.linspace(-np.pi, np.pi, 73)[1:]
CLOSED = 1e-12
"""[rad], and lengths of the robot's size: rounding of loops of four joints is 1e-15."""
FORCES = 1e-9
"""Of the largest force: rounding, divided by the distance from a dead point of the rocker."""

RUN = 1e-5
"""Energy balance of a run with steps of 1 ms at some 40 rad/s, of the largest kinetic energy; found 1e-6."""

JOINTS = {
    "a": "{{type: revolute, from: base, to: crank, axis: [0, 0, 1], actuated: true}}",
    "b": "{{type: revolute, from: crank, to: coupler, at: [0, {0}, 0], axis: [0, 0, 1]}}",
    "c": "{{type: revolute, from: coupler, to: rocker, at: [{2}, {1}, 0], axis: [0, 0, 1]}}",
    "d": "{{type: revolute, from: rocker, to: base, at: [0, -{3}, 0], on: [{2}, 0, 0], axis: [0, 0, 1], axis_on: [0, 0, 1]}}",
}
MASSES = {"crank": 1.0, "coupler": 2.0, "rocker": 1.5}


@cache
def crank_rocker(tmp: Path, size: float) -> fp.Robot:
    """The mechanism with all lengths, and gravity, times `size`: torques are then times its square."""
    lengths = [size * value for value in (CRANK, COUPLER[1], GROUND, ROCKER)]
    lines = [
        "flexapod: 1", "name: crank-rocker", "source: written for this test", f"gravity: [0, {-9.81 * size}, 0]", "plane: xy",
        f"characteristic_length: {GROUND * size}", f"home: {{position: [0, {lengths[0]}, 0]}}", "platform: {body: L.coupler}",
        "legs:", "  each:",
    ]  # fmt: skip
    lines += [
        "    L:",
        "      joints:",
        *(f"        {k}: {joint.format(*lengths)}" for k, joint in JOINTS.items()),
        "      bodies:",
    ]
    spin = f"{{diagonal: {[0.02 * size**2] * 3}}}"
    lines += [f"        {k}: {{mass: {mass}, com: [{0.1 * size}, 0, 0], inertia: {spin}}}" for k, mass in MASSES.items()]
    file = tmp / f"crank-rocker-{size}.yaml"
    file.write_text("\n".join(lines) + "\n")
    return fp.load(file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("crank-rocker")


def by_hand(size: float) -> fp.State:
    """The coupler by the intersection of two circles, in the assembly mode of home."""
    pin = CRANK * np.stack([-np.sin(ANGLES), np.cos(ANGLES)], axis=1)
    way = np.array([GROUND, 0.0]) - pin
    far, long = np.linalg.norm(way, axis=1), np.linalg.norm(COUPLER)
    along = (long**2 - ROCKER**2 + far**2) / (2 * far)
    relative = np.arctan2(way[:, 1], way[:, 0]) + np.arccos(along / long) - np.arctan2(COUPLER[1], COUPLER[0])
    c, s, zero = np.cos(relative), np.sin(relative), np.zeros_like(relative)
    rotation = np.moveaxis(np.array([[c, -s, zero], [s, c, zero], [zero, zero, zero + 1.0]]), 2, 0)
    return fp.State(position=size * np.column_stack([pin, zero]), rotation=rotation)


def around(speed: float, acceleration: float) -> fp.ActuatorMotion:
    """The whole revolution, sample by sample."""
    one = np.ones((len(ANGLES), 1))
    return fp.ActuatorMotion(
        time=np.arange(len(ANGLES), dtype=float), position=ANGLES[:, None], velocity=speed * one, acceleration=acceleration * one
    )


@pytest.mark.parametrize("size", [1.0, 0.02, 50.0])
def test_a_crank_goes_all_around_in_every_size(folder: Path, size: float) -> None:
    """Positions by hand, both ways, and the same Jacobian's number everywhere."""
    robot, at = crank_rocker(folder, size), by_hand(size)
    for found in (fp.forward_kinematics(robot, ANGLES[:, None]), fp.point_motion(robot, around(1.0, 0.0), "platform")):
        assert np.abs(found.position.values - at.position).max() < CLOSED * size
        assert np.abs(found.rotation.values - at.rotation).max() < CLOSED
    q = fp.inverse_kinematics(robot, at).actuator_position.values[:, 0]
    assert np.abs(np.angle(np.exp(1j * (q - ANGLES)))).max() < CLOSED
    assert np.abs(fp.conditioning(robot, at).condition_number.values - 1.0).max() < CLOSED


def test_forces_all_around_are_the_same_from_platform_and_actuators_in_every_size(folder: Path) -> None:
    """Torques go with the square of the size; forward dynamics gives the acceleration back."""
    known = None
    for size in (1.0, 0.02, 50.0):
        robot = crank_rocker(folder, size)
        motion = fp.platform_motion(robot, around(2.0, 5.0))
        force = fp.inverse_dynamics(robot, around(2.0, 5.0)).force.values / size**2
        known = force if known is None else known
        bound = FORCES * np.abs(known).max()
        assert np.abs(force - known).max() < bound
        assert np.abs(fp.inverse_dynamics(robot, motion).force.values / size**2 - known).max() < bound
        state = fp.State(
            position=motion.position, rotation=motion.rotation, velocity=motion.velocity, angular_velocity=motion.angular_velocity
        )
        back = fp.forward_dynamics(robot, state, force * size**2).acceleration.values
        assert np.abs(back - motion.acceleration).max() < FORCES * np.abs(motion.acceleration).max()


def test_a_pose_off_the_way_of_the_coupler_says_what_it_misses(folder: Path) -> None:
    robot, at = crank_rocker(folder, 1.0), by_hand(1.0)
    with pytest.raises(
        fp.FlexapodError, match=r"the platform cannot be brought to this pose: .* misses by .* .of the robot's size"
    ):
        fp.inverse_kinematics(robot, fp.State(position=at.position[50] + [0.0, 0.05, 0.0], rotation=at.rotation[50]))
    with pytest.raises(fp.FlexapodError, match="the robot cannot reach this pose: it cannot follow translation along z"):
        fp.inverse_kinematics(robot, fp.State(position=at.position[50] + [0.0, 0.0, 0.05], rotation=at.rotation[50]))


@cache
def in_two_legs(tmp: Path) -> fp.Robot:
    """The same mechanism, its coupler carried by a crank leg and a rocker leg."""
    spin = "inertia: {diagonal: [0.02, 0.02, 0.02]}"
    file = tmp / "two-legs.yaml"
    file.write_text(f"""flexapod: 1
name: crank-rocker
source: written for this test
gravity: [0, -9.81, 0]
plane: xy
characteristic_length: {GROUND}
home: {{position: [0, {CRANK}, 0]}}
platform: {{mass: {MASSES["coupler"]}, com: [0.1, 0, 0], {spin}}}
legs:
  each:
    crank:
      joints:
        a: {{type: revolute, from: base, to: crank, axis: [0, 0, 1], actuated: true}}
        b: {{type: revolute, from: crank, to: platform, at: [0, {CRANK}, 0], axis: [0, 0, 1], friction: {{viscous: 0.1}}}}
      bodies: {{crank: {{mass: {MASSES["crank"]}, com: [0.1, 0, 0], {spin}}}}}
    rocker:
      joints:
        d: {{type: revolute, from: base, at: [{GROUND}, 0, 0], to: rocker, axis: [0, 0, 1]}}
        c: {{type: revolute, from: rocker, at: [0, {ROCKER}, 0], to: platform, on: {[*COUPLER.tolist(), 0.0]}, axis: [0, 0, 1]}}
      bodies: {{rocker: {{mass: {MASSES["rocker"]}, com: [0.1, {ROCKER}, 0], {spin}}}}}
""")
    return fp.load(file)


def test_two_legs_that_carry_a_coupler_go_all_around(folder: Path) -> None:
    """Positions by hand and the forces of the mechanism in one leg, also where the coupler's own directions of motion vanish."""
    robot, one, at = in_two_legs(folder), crank_rocker(folder, 1.0), by_hand(1.0)
    found = fp.forward_kinematics(robot, ANGLES[:, None])
    assert np.abs(found.position.values - at.position).max() < CLOSED
    assert np.abs(found.rotation.values - at.rotation).max() < CLOSED
    q = fp.inverse_kinematics(robot, at).actuator_position.values[:, 0]
    assert np.abs(np.angle(np.exp(1j * (q - ANGLES)))).max() < CLOSED
    same = [fp.inverse_dynamics(each, around(2.0, 5.0), friction=False).force.values for each in (robot, one)]
    assert np.abs(same[0] - same[1]).max() < FORCES * np.abs(same[1]).max()
    rough = fp.inverse_dynamics(robot, around(2.0, 5.0)).force.values
    for friction, force in ((False, same[0]), (True, rough)):
        linear = fp.regressor(robot, around(2.0, 5.0), friction=friction)
        assert np.abs(linear.regressor.values @ linear.value.values - force).max() < FORCES * np.abs(force).max()


@pytest.mark.compiled
def test_a_run_of_two_legs_goes_around_several_times(folder: Path) -> None:
    """The crank is at both its dead points along x four times and more; the run does not stop there."""
    robot = in_two_legs(folder)
    home = fp.State(position=robot.home.position)
    found = fp.simulate(robot, home, drive="force", force=[8.0], duration=0.8, step=1e-3, friction=False)
    assert "stopped" not in found.attrs
    assert abs(float(found.actuator_position[-1, 0])) > 4 * np.pi
    assert float(np.abs(found.energy_residual).max()) < RUN * float(found.kinetic_energy.max())


def test_a_platform_on_a_crank_beside_another_leg(tmp_path: Path) -> None:
    """Two degrees of freedom: the crank's end moves along x here and along y there, and closes the loops at every angle."""
    start = float(np.arctan2(0.1, -0.1))
    (tmp_path / "five.yaml").write_text(f"""flexapod: 1
name: five
source: written for this test
gravity: [0, -9.81, 0]
plane: xy
characteristic_length: 0.3
home: {{position: [0, 0.5, 0]}}
platform: {{mass: 2, inertia: {{diagonal: [0.1, 0.1, 0.1]}}}}
legs:
  each:
    A:
      joints:
        motor: {{type: revolute, from: base, at: [-0.3, 0, 0], to: crank, axis: [0, 0, 1], actuated: true, start: 110 deg}}
        elbow: {{type: revolute, from: crank, to: rod, at: [0.4, 0, 0], axis: [0, 0, 1], start: -80 deg}}
        pin: {{type: revolute, from: rod, to: platform, at: [0.45, 0, 0], axis: [0, 0, 1]}}
      bodies: {{crank: {{mass: 1}}, rod: {{mass: 1}}}}
    B:
      joints:
        pivot: {{type: revolute, from: base, at: [0.5, 0.1, 0], to: rocker, axis: [0, 0, 1], actuated: true, start: {start}}}
        pin: {{type: revolute, from: rocker, to: platform, at: [{np.hypot(0.1, 0.1)}, 0, 0], on: [0.4, -0.3, 0], axis: [0, 0, 1]}}
      bodies: {{rocker: {{mass: 1.5}}}}
""")
    robot = fp.load(tmp_path / "five.yaml")
    q = fp.inverse_kinematics(robot, fp.State(position=robot.home.position)).actuator_position.values
    rotated = q + np.linspace(0.0, 1.0, 20)[:, None] * [0.0, 1.5]  # past a half revolution, where B is along x
    at = fp.forward_kinematics(robot, rotated)
    end = at.position.values + at.rotation.values @ np.array([0.4, -0.3, 0.0])
    arm = np.hypot(0.1, 0.1) * np.stack([np.cos(rotated[:, 1]), np.sin(rotated[:, 1])], axis=1)
    assert np.abs(end[:, :2] - [0.5, 0.1] - arm).max() < CLOSED


def test_two_drives_of_one_degree_of_freedom_may_not_contradict_each_other(folder: Path) -> None:
    """Crank and rocker driven: their coordinates must fit, in kinematics and in forces."""
    text = (in_two_legs(folder).description.path or Path()).read_text(encoding="utf-8")
    file = folder / "two-drives.yaml"
    file.write_text(text.replace("to: rocker, axis: [0, 0, 1]", "to: rocker, axis: [0, 0, 1], actuated: true"), encoding="utf-8")
    robot = fp.load(file)
    q = fp.inverse_kinematics(robot, by_hand(1.0)).actuator_position.values
    fp.forward_kinematics(robot, q)
    off = q[40] + [0.0, 0.02]
    with pytest.raises(fp.FlexapodError, match=r"the loops tie rocker to the others, and it misses by 0\.02 rad"):
        fp.forward_kinematics(robot, off)
    rest = np.zeros((1, 2))
    with pytest.raises(fp.FlexapodError, match="the actuators contradict each other"):
        fp.inverse_dynamics(robot, fp.ActuatorMotion(time=[0.0], position=off[None], velocity=rest, acceleration=rest))


@pytest.mark.parametrize("pitch", [0.2, 0.005])
def test_a_press_reaches_its_whole_stroke(tmp_path: Path, pitch: float) -> None:
    """A motor that turns 100 times and more along the stroke."""
    (tmp_path / "press.yaml").write_text(f"""flexapod: 1
name: press
source: written for this test
gravity: [0, 0, -9.81]
characteristic_length: 0.1
home: {{position: [0, 0, 0]}}
platform: {{body: ram.ram}}
legs:
  each:
    ram:
      joints:
        guide: {{type: prismatic, from: base, to: ram, axis: [0, 0, 1], limits: {{stroke: [-0.1, 0.1]}}}}
        shaft: {{type: revolute, from: base, to: rotor, at: [0.2, 0, 0], axis: [0, 0, 1], actuated: true}}
        bearing: {{type: revolute, from: base, to: nut, axis: [0, 0, 1]}}
        thread: {{type: screw, from: nut, to: ram, axis: [0, 0, 1], pitch: {pitch}}}
      bodies: {{ram: {{mass: 8}}, nut: {{mass: 2, inertia: {{diagonal: [0.01, 0.01, 0.02]}}}}, rotor: {{mass: 1}}}}
couplings:
  gear: {{ram.shaft: 1, ram.bearing: -5}}
""")
    robot, z = fp.load(tmp_path / "press.yaml"), np.linspace(-0.1, 0.1, 9)
    at = fp.State(position=np.column_stack([0 * z, 0 * z, z]), rotation=np.tile(np.eye(3), (9, 1, 1)))
    q = fp.inverse_kinematics(robot, at).actuator_position.values[:, 0]
    rotations = -2 * np.pi * 5 * z / pitch
    assert np.abs(q - rotations).max() < CLOSED * np.abs(rotations).max()
    assert np.abs(fp.forward_kinematics(robot, rotations[:, None]).position.values - at.position).max() < CLOSED
    assert fp.workspace(robot, grid={"z": (-0.09, 0.09, 7)}).valid.values.all()
