"""Controllers: exact following, steady errors through the stated gains, sampling, delay, encoders, limits, functions."""

import numpy as np
import pytest
from pd_simulations import PD_CONTROL, at_home, pd_motion, pd_simulation, robot_named

import flexapod as fp
from flexapod.motions import through_poses

FOLLOWS = 1e-8  # [m] with the exact model, continuous
KP, KD = 400.0, 40.0
AT_REST = 1e-6
"""[m/s] After 2 s, forty time constants of kp = 400, kd = 40."""
STATED = 0.01
"""Of the steady error: the model is linear in it."""
HELD = 0.5
"""[N] of 206 N: the sag changes the angles of the legs."""
INTEGRATED = 0.02
"""Of the sag without integration: what is left after 3 s."""
ORDER = 0.35
"""Allowed distance of a measured order from one: the next term of the error is not yet negligible."""
SAME = 1e-12
"""Relative: the same command, 4 ms later."""
WHOLE = 1e-9
"""Of an encoder's step of 1e-4 m: roundings of lengths of metres."""
POSITION = 1e-13
"""[m] Two programs of the same steps: a few roundings of metres."""
FORCE = 1e-10
"""[N] The same, times kp = 1e5 N/m and kd = 2e3 N s/m."""


def visit(name: str) -> fp.Motion:
    """A motion through poses with rests around home."""
    robot = robot_named(name)
    p, R, size = robot.home.position, robot.home.rotation, 0.03 * robot.characteristic_length
    c, s = np.cos(0.06), np.sin(0.06)
    rotation = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    places = [p, p + size * np.array([1, 0, 0.5]), p + size * np.array([0, -1, 0.3]), p]
    rotations = np.array([R, rotation @ R, rotation.T @ R, R])
    return through_poses(positions=np.array(places), orientations=rotations, durations=0.4, rests=0.1)


@pytest.mark.parametrize("name", ["gough-stewart", "hexaslide"])
def test_computed_torque_follows(name: str) -> None:
    robot, motion = robot_named(name), visit(name)
    result = fp.simulate(
        robot, motion, controller=fp.ComputedTorque(kp=KP, kd=KD), step=1e-3, output_step=0.01, friction=False, watch=()
    )
    wanted = motion.formula(result.time.values)
    assert float(np.ptp(wanted.position[:, 0])) > 1e-3
    assert np.max(np.abs(result.position.values - wanted.position)) < FOLLOWS
    assert np.max(np.abs(result.rotation.values - wanted.rotation)) < FOLLOWS


@pytest.mark.parametrize("name", ["gough-stewart", "hexaslide"])
def test_wrong_masses_leave_the_stated_error(name: str) -> None:
    """At rest A_model kp e = g_plant - g_model: with all masses 10 % too small, e = 0.1 (A_model kp)^-1 g."""
    robot = robot_named(name)
    heavy = [path for path in robot.parameters if path.split(".")[-1] in ("mass", "inertia", "first_moment")]
    model = scaled_masses(robot, 0.9, heavy)
    result = fp.simulate(
        robot, still(robot, 2.0), controller=fp.ComputedTorque(kp=KP, kd=KD, model=model), step=1e-3, friction=False, watch=()
    )
    state = at_home(robot)
    A = fp.mass_matrix(model, state).values
    g = fp.gravity_force(robot, state).values - fp.gravity_force(model, state).values
    error = -np.linalg.solve(A * KP, g)[:3]  # gravity_force is what the motion demands: it pulls the platform the other way
    found = result.position.values[-1] - robot.home.position
    assert np.linalg.norm(result.velocity.values[-1]) < AT_REST
    assert np.linalg.norm(found - error) < STATED * np.linalg.norm(error)


def scaled_masses(robot: fp.Robot, factor: float, paths: list[str]) -> fp.Robot:
    """A variant whose masses are all multiplied."""
    changes = {}
    for path in paths:
        if path.endswith(".mass") and not path.startswith("legs.template"):
            changes[path] = factor * float(robot.parameter(path))
    return robot.with_parameters(changes)


def still(robot: fp.Robot, duration: float) -> fp.Motion:
    zero = np.zeros((2, 3))
    return fp.Motion(
        time=[0.0, duration], position=np.tile(robot.home.position, (2, 1)), rotation=np.tile(robot.home.rotation, (2, 1, 1)),
        velocity=zero, angular_velocity=zero, acceleration=zero, angular_acceleration=zero,
    )  # fmt: skip


def test_feed_forward_follows_and_pd_sags() -> None:
    robot, motion = robot_named("bench-6ups"), pd_motion()
    forward = fp.simulate(robot, motion, controller=fp.FeedForwardPD(kp=1e5, kd=2e3), duration=1.0, output_step=0.05)
    wanted = motion.formula(forward.time.values).position
    assert np.max(np.abs(forward.position.values - wanted)) < FOLLOWS
    assert np.max(np.abs(pd_simulation(duration=1.0).position.values - wanted)) > 1e-3


def test_pid_removes_the_sag() -> None:
    robot = robot_named("bench-6ups")
    options = {"duration": 3.0, "step": 2e-3}
    pd = fp.simulate(robot, still(robot, 3.0), controller=fp.PD(kp=1e5, kd=4e3), **options)
    pid = fp.simulate(robot, still(robot, 3.0), controller=fp.PID(kp=1e5, ki=4e5, kd=4e3), **options)
    sag = [float(np.linalg.norm(result.position.values[-1] - robot.home.position)) for result in (pd, pid)]
    # at rest every leg carries 205.549 N: its length is short by force / kp
    short = robot_lengths(pd) - robot_lengths(pid)
    assert np.allclose(pd.force.values[-1], 205.549, rtol=0, atol=HELD)
    assert np.all(short < -0.9 * 205.549 / 1e5)
    assert sag[1] < INTEGRATED * sag[0]


def robot_lengths(result: object) -> np.ndarray:
    return result.actuator_position.values[-1]


def test_sampled_controller_converges_to_the_continuous_one() -> None:
    """Hold costs half a period of delay: the difference falls with the period, first order."""
    continuous = pd_simulation(duration=0.6, step=5e-4)
    gaps = []
    for rate in (250.0, 500.0, 1000.0):
        sampled = fp.simulate(
            robot_named("bench-6ups"), pd_motion(), controller=fp.PD(kp=1e5, kd=2e3, rate=rate), duration=0.6, step=5e-4,
            output_step=0.05,
        )  # fmt: skip
        gaps.append(float(np.max(np.abs(sampled.position - continuous.position))))
    orders = np.log2(np.array(gaps[:-1]) / np.array(gaps[1:]))
    assert np.all(np.abs(orders - 1.0) < ORDER), gaps


def test_forces_are_held_between_samples_and_delayed() -> None:
    robot, motion = robot_named("bench-6ups"), pd_motion()
    options = {"duration": 0.05, "step": 5e-4, "output_step": 5e-4}
    now = fp.simulate(robot, motion, controller=fp.PD(kp=1e5, kd=2e3, rate=500.0), **options)
    late = fp.simulate(robot, motion, controller=fp.PD(kp=1e5, kd=2e3, rate=500.0, delay=0.004), **options)
    force = now.force.values[:-1].reshape(-1, 4, 6)
    assert np.all(force == force[:, :1])
    assert len(np.unique(force[:, 0, 0])) == len(force)
    assert not np.any(late.force.values[:8])  # two periods of nothing
    assert np.allclose(late.force.values[8], now.force.values[0], rtol=SAME, atol=0)


def test_encoders_and_limits() -> None:
    robot = robot_named("bench-6ups")
    coarse = fp.simulate(
        robot, still(robot, 1.0), controller=fp.PD(kp=1e5, kd=0.0, rate=1000.0, resolution=1e-4), duration=0.02, step=1e-3,
        output_step=1e-3,
    )  # fmt: skip
    steps = coarse.force.values[:-1] / (1e5 * 1e-4)
    home = np.floor(coarse.actuator_position.values[0] / 1e-4 + 0.5) - coarse.actuator_position.values[0] / 1e-4
    assert np.allclose((steps + home) - np.rint(steps + home), 0.0, rtol=0, atol=WHOLE)
    limited = fp.simulate(robot, still(robot, 1.0), controller=fp.PD(kp=1e5, kd=2e3, limit=150.0), duration=0.3, step=1e-3)
    assert np.max(np.abs(limited.force.values)) <= 150.0
    assert float(limited.position.values[-1, 2]) < robot.home.position[2] - 0.01  # 206 N are needed to stay


def test_a_function_controls_like_the_compiled_one() -> None:
    robot, motion = robot_named("bench-6ups"), pd_motion()
    reference = fp.inverse_kinematics(robot, motion.formula(np.arange(0, 0.1001, 1e-3)), joints=False)

    def control(time: float, sample: dict) -> np.ndarray:
        k = round(time / 1e-3)
        e = reference.actuator_position.values[k] - sample["actuator_position"]
        ed = reference.actuator_velocity.values[k] - sample["actuator_velocity"]
        return 1e5 * e + 2e3 * ed

    ours = fp.simulate(robot, motion, controller=control, duration=0.1, step=1e-3)
    compiled = fp.simulate(robot, motion, controller=fp.PD(kp=1e5, kd=2e3, rate=1000.0), duration=0.1, step=1e-3)
    assert np.allclose(ours.position, compiled.position, rtol=0, atol=POSITION)
    assert np.allclose(ours.force[:-1], compiled.force[:-1], rtol=0, atol=FORCE)  # the last sample of a simulation starts no step


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delay": 0.01}, "belong to a sampled controller"),
        ({"rate": 100.0, "delay": 0.005}, "whole number of sampling periods"),
        ({"rate": -1.0}, "samples per second above 0"),
        ({"delay": 10**30}, "belong to a sampled controller"),
        ({"rate": float("inf")}, "expected finite numbers"),
    ],
)
def test_impossible_controllers_are_refused(options: dict, words: str) -> None:
    with pytest.raises(fp.InputError, match=words):
        fp.PD(kp=1.0, kd=1.0, **options)


def test_controllers_need_a_motion() -> None:
    robot = robot_named("bench-6ups")
    with pytest.raises(fp.InputError, match="follows a motion"):
        fp.simulate(robot, at_home(robot), controller=PD_CONTROL, duration=1.0)
