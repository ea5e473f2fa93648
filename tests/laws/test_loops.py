"""Laws of robots whose loops run inside or through several legs, or whose base floats: only the general model supports them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import flexapod as fp
from flexapod.robot.leg_positions import link_poses
from support.robots import LOOPS, robot_named

IDENTITY = 1e-9
"""Relative: two solves, loops closed to 1e-12 of the robot's size."""
DIFFERENCE = 2e-6
"""Relative: central differences over 1e-4 s."""
STEP = 1e-4
STRAIGHT = 1e-8
"""Of the way of the centre of mass; the integration leaves 1e-12, loops are closed to 1e-12."""
BALANCE = 1e-11
"""Of the kinetic energy: what 300 steps of 1 ms leave."""
HELD = [name for name in LOOPS if name != "hexapod-floating"]


def moving(name: str, seed: int = 3) -> tuple[fp.Robot, fp.ActuatorMotion]:
    """A robot and five states of its actuators near home."""
    robot, random = robot_named(name), np.random.default_rng(seed)
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    q = fp.inverse_kinematics(robot, home).actuator_position.values
    size = np.where(np.array(robot.actuator_units) == "rad", 0.1, 0.1 * robot.characteristic_length)
    q, v, a = (shift + scale * size * random.uniform(-1, 1, (5, len(q))) for shift, scale in ((q, 1.0), (0.0, 5.0), (0.0, 30.0)))
    return robot, fp.ActuatorMotion(time=np.arange(5.0), position=q, velocity=v, acceleration=a)


def later(motion: fp.ActuatorMotion, h: float) -> fp.ActuatorMotion:
    """The same actuators a moment later, each state for itself."""
    position = motion.position + h * motion.velocity + h**2 / 2 * motion.acceleration
    return fp.ActuatorMotion(
        time=motion.time, position=position, velocity=motion.velocity + h * motion.acceleration, acceleration=motion.acceleration
    )


def states(robot: fp.Robot, motion: fp.ActuatorMotion) -> fp.State:
    """The platform of every sample."""
    found = fp.platform_motion(robot, motion)
    names = ("position", "rotation", "velocity", "angular_velocity")
    return fp.State(**{name: getattr(found, name) for name in names})


@pytest.mark.parametrize("name", HELD)
def test_forward_after_inverse_is_the_identity(name: str) -> None:
    robot, motion = moving(name)
    force = fp.inverse_dynamics(robot, motion, friction=False).force.values
    at = states(robot, motion)
    again = fp.forward_dynamics(robot, at, force, friction=False).actuator_acceleration.values
    np.testing.assert_allclose(again, motion.acceleration, rtol=0, atol=IDENTITY * np.abs(motion.acceleration).max())
    M = fp.mass_matrix(robot, at, coordinates="actuator").values
    np.testing.assert_allclose(M, np.swapaxes(M, 1, 2), rtol=0, atol=IDENTITY * np.abs(M).max())
    assert np.linalg.eigvalsh(M).min() > 0


@pytest.mark.parametrize("name", HELD)
def test_power_is_the_rate_of_energy(name: str) -> None:
    """What the actuators give is what weight and motion gain."""
    robot, motion = moving(name)
    force = fp.inverse_dynamics(robot, motion, friction=False).force.values
    power = np.sum(force * motion.velocity, axis=1)
    ends = [fp.energy(robot, states(robot, later(motion, h))) for h in (-STEP, STEP)]
    whole = [(end.kinetic + end.potential).values for end in ends]
    np.testing.assert_allclose((whole[1] - whole[0]) / (2 * STEP), power, rtol=0, atol=DIFFERENCE * np.abs(power).max())


@pytest.mark.parametrize("name", HELD)
def test_energy_of_all_bodies(name: str) -> None:
    """Kinetic energy from bodies that are followed by differences: masses and tensors of the file, nothing of the equations."""
    robot, motion = moving(name)
    bodies = [fp.inverse_kinematics(robot, states(robot, later(motion, h)), bodies=True) for h in (-STEP, 0.0, STEP)]
    before, at, after = ((b.body_position.values, b.body_rotation.values) for b in bodies)
    found = np.zeros(len(motion.time))
    for k, name_ in enumerate(bodies[1].body.values):
        body = robot.bodies_by_name[str(name_)]
        for i in range(len(found)):
            v = (after[0][i, k] - before[0][i, k]) / (2 * STEP)
            w = Rotation.from_matrix(after[1][i, k] @ before[1][i, k].T).as_rotvec() / (2 * STEP)
            R = at[1][i, k] @ body.body_axes.T
            I, S = R @ body.inertia @ R.T, R @ body.first_moment
            found[i] += body.mass * v @ v / 2 + v @ np.cross(w, S) + w @ I @ w / 2
    at_state = states(robot, motion)
    if robot.description.file.platform.body is None and "platform" not in bodies[1].body.values:
        v, w, R = at_state.velocity, at_state.angular_velocity, at_state.rotation
        p = robot.platform
        for i in range(len(found)):
            I, S = R[i] @ p.inertia @ R[i].T, R[i] @ p.first_moment
            found[i] += p.mass * v[i] @ v[i] / 2 + v[i] @ np.cross(w[i], S) + w[i] @ I @ w[i] / 2
    np.testing.assert_allclose(fp.energy(robot, at_state).kinetic.values, found, rtol=DIFFERENCE)


@pytest.mark.parametrize("name", ["hexapod-floating"])
def test_momentum_of_a_floating_base_stays(name: str) -> None:
    """Without weight the actuators move hull and platform against each other: the centre of all goes straight on."""
    robot = robot_named(name)
    start = fp.State(position=robot.home.position, velocity=[0.1, 0.0, 0.2], angular_velocity=[0.1, 0.2, 0.3])
    result = fp.simulate(robot, start, drive="force", force=[0.5, 0, 0, -0.5, 0, 0], duration=0.3, step=1e-3)
    assert "stopped" not in result.attrs
    mass, moment = robot.platform.mass, robot.platform.mass * result.position.values
    moment = moment + result.rotation.values @ robot.platform.first_moment
    counts = np.cumsum([len(leg.moving) for leg in robot.legs])[:-1]
    for k, row in enumerate(result.joint_position.values):
        for leg, q in zip(robot.legs, np.split(row, counts), strict=True):
            for link, (R, p) in zip(leg.links, link_poses(leg, q), strict=True):
                if link.body is not None:
                    moment[k] += link.body.mass * p + R @ link.body.first_moment
                    mass += link.body.mass if k == 0 else 0.0
    centre, t = moment / mass, result.time.values[:, None]
    straight = centre[:1] + (centre[-1:] - centre[:1]) * t / t[-1]
    assert float(np.abs(centre - straight).max()) < STRAIGHT * float(np.abs(centre[-1] - centre[0]).max())
    exchanged = float(result.kinetic_energy.max())
    assert float(np.abs(result.energy_residual).max()) < BALANCE * exchanged
    assert float(np.abs(result.supplied_work).max()) > 1e-3 * exchanged
