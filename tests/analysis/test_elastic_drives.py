"""Elastic drives under a given platform motion: statics by hand, motors that follow the path when simulated, refusals."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import flexapod as fp
from flexapod.robot.catalogue import catalogue

FREQUENCY = 2 * np.pi * 5
ROTOR = 2.0
STATIC = 1e-10
"""Static forces against the robot with rigid drives, of the largest."""

FOLLOWS = 1e-7
"""Distance [m] between a simulation driven by the forces and the path over a period: the spline through samples 0.5 ms apart, the
integrator's steps of 1 ms; without the rates of the springs it is millimetres."""
PRINTED = 1e-3
"""Forces [N] written with three decimals."""
PERIOD = 1e-11
"""Work of a period, of the largest power times 1 s: a spline of degree seven through 801 samples; found 2e-15."""
FREQUENCIES = 1e-12
"""Relative: two derivations of small motions, three degrees of freedom."""


def robot_with(drive: str) -> fp.Robot:
    """`planar-4-prr` without its west leg, weight in its plane: three drives for three degrees of freedom."""
    text = fp.catalogue()["planar-4-prr"].read_text()
    text = re.sub(r"    west:.*\n", "", text).replace("gravity: [0, 0, -9.81]", "gravity: [0, -9.81, 0]")
    text = text.replace("actuated: true,", f"actuated: true, {drive}").replace("name: planar-4-prr", "name: planar-3-prr")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.yaml"
        path.write_text(text)
        return fp.load(path)


def circle(robot: fp.Robot, time: np.ndarray) -> fp.Motion:
    """20 mm by 10 mm at 5 Hz."""
    w, still = FREQUENCY, np.zeros((len(time), 3))
    p, v = still.copy(), still.copy()
    p[:, 0], p[:, 1] = 0.02 * np.sin(w * time), 0.01 * np.cos(w * time)
    v[:, 0], v[:, 1] = 0.02 * w * np.cos(w * time), -0.01 * w * np.sin(w * time)
    return fp.Motion(
        time=time, position=p + robot.home.position, rotation=np.tile(np.eye(3), (len(time), 1, 1)), velocity=v,
        angular_velocity=still, acceleration=-w * w * p, angular_acceleration=still,
    )  # fmt: skip


def test_held_at_home() -> None:
    """Statics gives 2.144, 20.99 and -10.81 N, whatever the springs."""
    rigid, soft = robot_with("inertia: 2,"), robot_with("stiffness: 1e6, inertia: 2,")
    home = fp.State(position=rigid.home.position, rotation=rigid.home.rotation)
    found = fp.inverse_dynamics(soft, home, friction=False)
    expected = fp.inverse_dynamics(rigid, home, friction=False).force.values
    assert np.allclose(found.force, [2.144, 20.993, -10.805], rtol=0, atol=PRINTED)
    assert np.abs(found.force.values - expected).max() <= STATIC * np.abs(expected).max()
    assert np.allclose(found.elastic, -expected / 1e6)


def test_simulated_motors_follow_the_path() -> None:
    stiffness = 1e4
    soft = robot_with(f"stiffness: {stiffness:g}, inertia: {ROTOR:g},")
    time = np.arange(-0.02, 0.42, 5e-4)
    motion = circle(soft, time)
    found = fp.inverse_dynamics(soft, motion, friction=False)
    moved = fp.inverse_kinematics(robot_with("inertia: 2,"), motion)
    start = int(np.argmin(np.abs(time)))
    s, sd = found.elastic.values[start], found.elastic_velocity.values[start]
    q, v = moved.actuator_position.values[start], moved.actuator_velocity.values[start]
    force = make_interp_spline(time, found.force.values, k=7)
    state = fp.State.from_actuators(soft, q - s, velocity=v - sd, elastic=s, elastic_velocity=sd)
    result = fp.simulate(soft, state, drive="force", force=lambda t: force(t), duration=0.2, step=1e-3, friction=False)
    assert np.abs(result.position.values - circle(soft, result.time.values).position).max() < FOLLOWS


def test_power_is_that_of_the_motors() -> None:
    """Power of the motors less the change of all energies vanishes: rotors, links and springs."""
    soft = robot_with("stiffness: 1e5, inertia: 2,")
    time = np.linspace(0, 0.2, 801)
    found = fp.inverse_dynamics(soft, circle(soft, time), friction=False)
    work = make_interp_spline(time, found.power.values.sum(axis=1), k=7).antiderivative()
    period = work(0.2) - work(0.0)  # one full period: all energies return
    assert abs(period) < PERIOD * np.abs(found.power.values).max()


def test_refusals() -> None:
    soft = robot_with("stiffness: 1e6, inertia: 2,")
    motion = circle(soft, np.linspace(0, 0.01, 5))
    with pytest.raises(fp.InputError, match="has 5 samples, and the rates of the drive springs need at least 8"):
        fp.inverse_dynamics(soft, motion, friction=False)
    with pytest.raises(fp.InputError, match="the platform's motion determines the drive springs"):
        fp.inverse_dynamics(soft, circle(soft, np.linspace(0, 0.1, 50)), friction=False, elastic=np.zeros(3))
    with_friction_law = robot_with("stiffness: 1e6, inertia: 2, friction: {viscous: 3},")
    with pytest.raises(fp.InputError, match="friction of rail: depends on the rate of a motor behind a spring"):
        fp.inverse_dynamics(with_friction_law, circle(soft, np.linspace(0, 0.1, 50)))


def test_prestress_of_a_rigid_robot_with_fewer_degrees_of_freedom(tmp_path: Path) -> None:
    """The rigid delta on actuators of a stiffness, against the same delta whose motors drive through springs and are locked."""
    stiffness, state = 300.0, fp.State(position=[0.05, 0.02, -0.7])
    text = catalogue()["delta"].read_text().replace("actuated: true,", f"actuated: true, stiffness: {stiffness}, inertia: 1,")
    (tmp_path / "delta.yaml").write_text(text, encoding="utf-8")
    rigid, springs = fp.load("delta"), fp.load(tmp_path / "delta.yaml")
    ours = fp.natural_frequencies(rigid, state, actuators=[stiffness] * 3)
    truth = fp.natural_frequencies(springs, state, actuators="locked")
    np.testing.assert_allclose(ours.frequency, truth.frequency, rtol=FREQUENCIES)
    without = fp.natural_frequencies(rigid, state, actuators=[stiffness] * 3, prestress=False)
    assert np.abs(without.frequency - ours.frequency).max() > 0.01
    floating = rigid.with_parameters({"gravity": [0, 0, 0]})
    plain, also = (fp.natural_frequencies(floating, state, actuators=[stiffness] * 3, prestress=p) for p in (True, False))
    np.testing.assert_allclose(plain.frequency, also.frequency, rtol=FREQUENCIES)


REACTIONS = 1e-10
"""Of the largest reaction: the links move as those of rigid drives do, so that all joints carry the same."""


def test_reactions_are_those_of_rigid_drives() -> None:
    """Reactions by the forward model at the forces and springs that were found, against Newton-Euler without springs."""
    time = np.linspace(0.0, 0.2, 81)
    rigid, soft = robot_with("inertia: 2,"), robot_with("stiffness: 1e4, inertia: 2,")
    expected = fp.inverse_dynamics(rigid, circle(rigid, time), friction=False, reactions=True)
    found = fp.inverse_dynamics(soft, circle(soft, time), friction=False, reactions=True)
    assert list(found.joint.values) == list(expected.joint.values)
    size = float(np.nanmax(np.abs(expected.reaction_force)))
    links = [name for name in expected.joint.values if not str(name).endswith("rail")]  # moments there are about the motor
    for name, joints in (("reaction_force", list(expected.joint.values)), ("reaction_moment", links)):
        ours, theirs = found[name].sel(joint=joints).values, expected[name].sel(joint=joints).values
        assert np.nanmax(np.abs(ours - theirs)) < REACTIONS * size
    assert np.abs(found.force.values - expected.force.values).max() > 0.1  # N: the motors move otherwise


def test_a_motor_without_mass_behind_a_spring_is_named(tmp_path: Path) -> None:
    """Nothing determines its acceleration; runs stopped at their start for a step that did not converge."""
    text = fp.catalogue()["3-rps"].read_text(encoding="utf-8").replace("start: 0.61,", "start: 0.61, stiffness: 2e5,")
    (tmp_path / "3-rps.yaml").write_text(text, encoding="utf-8")
    robot = fp.load(tmp_path / "3-rps.yaml")
    state = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    why = "actuator slide of 3-rps drives through a spring and has no mass on its own side"
    with pytest.raises(fp.InputError, match=f"forward dynamics: {why}"):
        fp.forward_dynamics(robot, state, np.zeros(3))
    with pytest.raises(fp.InputError, match=f"simulate: {why}"):
        fp.simulate(robot, state, drive="force", force=np.zeros(3), duration=0.01)
    with pytest.raises(fp.InputError, match=f"stepper: {why}"):
        fp.stepper(robot, step=1e-4)
