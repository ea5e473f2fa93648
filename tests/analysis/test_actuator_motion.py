"""Motions given by the actuators: poses by continuation, twist and acceleration exact, converted for every verb."""

import re
from dataclasses import replace

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.poses.pose_reasons import PoseNotFoundError
from flexapod.analysis.verbs.sampling import random_states
from flexapod.motions.motion import sampled
from support.robots import RIGID

SAME = 1e-9  # of the largest entry of the quantity; measured below 1e-11


def motion_of(robot, samples=41, amplitude=0.1, duration=2.0):
    """Sines of the actuators about home, within what the sampling box moves them; consistent for redundant robots."""
    home = np.concatenate([leg.home for leg in robot.legs])[list(robot.driven)]
    drawn = random_states(robot, 40, seed=2)
    reach = fp.inverse_kinematics(robot, fp.State(position=drawn["position"], rotation=drawn["rotation"]), joints=False)
    size = amplitude * np.abs(reach["actuator_position"].values - home).max(axis=0)
    phase = np.arange(len(home)) * 0.7

    def formula(time):
        angle = 2.0 * time[:, None] + phase
        return fp.ActuatorMotion(
            time=time,
            position=home + size * (np.sin(angle) - np.sin(phase)),
            velocity=2.0 * size * np.cos(angle),
            acceleration=-4.0 * size * np.sin(angle),
        )

    return sampled(formula, duration, samples)


def near(a, b):
    np.testing.assert_allclose(a, b, rtol=0, atol=SAME * max(1.0, np.abs(b).max()))


@pytest.mark.parametrize("name", [n for n in RIGID if n != "planar-4-prr"])
def test_inverse_kinematics_returns_the_actuators_motion(name):
    robot = fp.load(name)
    motion = motion_of(robot)
    moved = fp.platform_motion(robot, motion)
    assert isinstance(moved, fp.Motion)
    back = fp.inverse_kinematics(robot, moved, joints=False)
    near(back["actuator_position"].values, motion.position)
    near(back["actuator_velocity"].values, motion.velocity)
    near(back["actuator_acceleration"].values, motion.acceleration)
    direct = fp.inverse_kinematics(robot, motion, joints=False)
    near(direct["actuator_acceleration"].values, motion.acceleration)
    assert direct["actuator_position"].dims == ("time", "actuator")


@pytest.mark.parametrize("name", ["stewart-3-3", "hexa", "delta", "five-bar"])
def test_rates_are_the_derivatives_of_the_poses(name):
    """Central differences: halving the step divides the error by four."""
    robot = fp.load(name)
    middle, errors = 0.9, []
    formula = motion_of(robot).formula
    for h in (2e-3, 1e-3):
        time = middle + h * np.arange(-1, 2)
        found = fp.platform_motion(robot, formula(time))
        w = (found.rotation[2] - found.rotation[0]) / (2 * h) @ found.rotation[1].T
        slopes = np.concatenate(
            [
                (found.position[2] - found.position[0]) / (2 * h) - found.velocity[1],
                np.array([w[2, 1], w[0, 2], w[1, 0]]) - found.angular_velocity[1],
                (found.velocity[2] - found.velocity[0]) / (2 * h) - found.acceleration[1],
                (found.angular_velocity[2] - found.angular_velocity[0]) / (2 * h) - found.angular_acceleration[1],
            ]
        )
        errors.append(np.abs(slopes).max())
    assert errors[0] < 1e-3
    assert 3.0 < errors[0] / errors[1] < 5.0, errors


def test_redundant_actuators_return_the_platform_motion():
    robot = fp.load("planar-4-prr")
    t = np.linspace(0, 1, 31)
    moved = fp.Motion.planar(
        time=t,
        x=0.04 * np.sin(3 * t),
        y=0.03 * np.sin(2 * t),
        angle=0.1 * np.sin(t),
        rates=np.column_stack([0.12 * np.cos(3 * t), 0.06 * np.cos(2 * t), 0.1 * np.cos(t)]),
        accelerations=np.column_stack([-0.36 * np.sin(3 * t), -0.12 * np.sin(2 * t), -0.1 * np.sin(t)]),
    )
    legs = fp.inverse_kinematics(robot, moved, joints=False)
    motion = fp.ActuatorMotion(time=t, **{k: legs[f"actuator_{k}"].values for k in ("position", "velocity", "acceleration")})
    back = fp.platform_motion(robot, motion)
    for name in ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration"):
        near(getattr(back, name), getattr(moved, name))
    wrong = replace(motion, velocity=motion.velocity + np.array([0.1, 0, 0, 0]))
    with pytest.raises(fp.FlexapodError) as error:
        fp.platform_motion(robot, wrong)
    assert re.search(
        r"forward kinematics of planar-4-prr, sample 0 \(t = 0 s\): the rates of the actuators contradict each other: "
        r"no platform motion fits all 4; actuator \w+ misses by 0\.0\d+ of the best fit\. All 31 samples fail",
        str(error.value),
    ), str(error.value)


def test_continuation_along_a_long_motion_stays_on_the_branch():
    """20 s of large sines: every pose returns its actuators, the determinant keeps its sign, poses do not jump."""
    robot = fp.load("stewart-3-3")
    motion = motion_of(robot, samples=4001, amplitude=0.7, duration=20.0)
    found = fp.forward_kinematics(robot, motion)
    at = fp.State(position=found["position"].values, rotation=found["rotation"].values)
    near(fp.inverse_kinematics(robot, at, joints=False)["actuator_position"].values, motion.position)
    signs = np.sign(np.linalg.det(fp.jacobian(robot, at)["jacobian"].values))
    assert np.all(signs == signs[0])
    steps = np.linalg.norm(np.diff(found["position"].values, axis=0), axis=1)
    speed = np.linalg.norm(found["velocity"].values, axis=1).max()
    assert steps.max() < 1.1 * speed * 20.0 / 4000


def test_five_bar_keeps_the_mode_of_its_guess_along_a_motion():
    robot = fp.load("five-bar")
    motion = motion_of(robot, amplitude=0.5)
    above = fp.platform_motion(robot, motion)
    below = fp.platform_motion(robot, motion, guess=fp.State(position=[0, 0.08, 0]))
    assert above.position[:, 1].min() > 0.2 > below.position[:, 1].max()


def test_a_motion_into_a_singularity_is_refused_with_its_time():
    """Cranks of the five-bar turn outwards until the distal links are straight: no pose beyond."""
    robot = fp.load("five-bar")
    home = np.array([leg.home[0] for leg in robot.legs])
    t = np.linspace(0, 1, 101)
    motion = fp.ActuatorMotion(
        time=t, position=home + np.outer(t, [1.0, -1.0]), velocity=np.tile([1.0, -1.0], (101, 1)), acceleration=np.zeros((101, 2))
    )
    with pytest.raises(PoseNotFoundError) as error:
        fp.platform_motion(robot, motion)
    first = error.value.sample
    left, right = motion.position[:, 0], motion.position[:, 1]
    apart = np.hypot(0.2 + 0.25 * (np.cos(right) - np.cos(left)), 0.25 * (np.sin(right) - np.sin(left)))
    assert apart[first - 1] < 0.5 < apart[first], "the elbows come farther apart than two links of 0.25 m"
    assert f"five-bar, sample {first} (t = {t[first]:g} s): no pose was found with these actuator coordinates" in str(error.value)
    masked = fp.forward_kinematics(robot, motion, on_error="mask")
    assert masked["valid"].values.tolist() == [i < first for i in range(101)]


def test_formula_is_kept():
    robot = fp.load("hexaslide")
    motion = motion_of(robot)
    moved = fp.platform_motion(robot, motion)
    time = np.array([0.1234, 1.777])
    other = moved.formula(time)
    legs = fp.inverse_kinematics(robot, other, joints=False)
    wanted = motion.formula(time)
    near(legs["actuator_position"].values, wanted.position)
    near(legs["actuator_acceleration"].values, wanted.acceleration)


@pytest.mark.parametrize("name", ["stewart-3-3", "delta", "planar-4-prr"])
def test_state_from_actuators(name):
    robot = fp.load(name)
    drawn = random_states(robot, 20, seed=4)
    at = fp.State(**{k: drawn[k] for k in ("position", "rotation", "velocity", "angular_velocity")})
    legs = fp.inverse_kinematics(robot, fp.Motion(time=np.arange(20.0), **drawn), joints=False)
    back = fp.State.from_actuators(robot, legs["actuator_position"].values, legs["actuator_velocity"].values)
    for key in ("position", "rotation", "velocity", "angular_velocity"):
        near(getattr(back, key), getattr(at, key))
    one = fp.State.from_actuators(robot, legs["actuator_position"].values[0], guess=at.__class__(position=at.position[0]))
    assert one.single
    near(one.position, at.position[0])
    assert not one.velocity.any()


def test_messages():
    robot = fp.load("delta")
    with pytest.raises(fp.InputError, match=r"motion: expected a Motion, an ActuatorMotion or a State, got 1\.0"):
        fp.platform_motion(robot, 1.0)
    motion = fp.ActuatorMotion(time=[0.0], position=[[0.0] * 6], velocity=[[0.0] * 6], acceleration=[[0.0] * 6])
    with pytest.raises(fp.InputError, match="actuator_position: the motion has 6 actuators, delta has 3"):
        fp.platform_motion(robot, motion)
    two = fp.State(position=[[0, 0, -0.75], [0, 0, -0.7]])
    none = np.zeros((2, 3))
    motion = fp.ActuatorMotion(time=[0.0, 1.0], position=none, velocity=none, acceleration=none)
    with pytest.raises(fp.InputError, match="guess: continuation along a motion starts from one pose"):
        fp.platform_motion(robot, motion, guess=two)
