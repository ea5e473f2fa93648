"""`stepper` takes the same steps as `simulate`, keeps its memory still, and says why a step fails."""

import tracemalloc

import numpy as np
import pytest

import flexapod as fp

SAME = 1e-13
"""The same compiled steps; the start may differ by a rounding."""


@pytest.mark.parametrize("name", ["stewart-3-3", "five-bar"])
def test_steps_are_those_of_simulate(name: str) -> None:
    robot = fp.load(name)
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    force = 1.02 * fp.inverse_dynamics(robot, home, friction=False).force.values + 0.01
    run = fp.simulate(robot, home, force=force, duration=0.05, step=1e-3, watch=("stroke",))
    robot_steps = fp.stepper(robot, step=1e-3)
    robot_steps.force[:] = force
    assert robot_steps.advance(50)
    for part in ("position", "velocity", "angular_velocity"):
        assert np.abs(robot_steps.parts[part] - run[part].values[-1]).max() <= SAME * max(1.0, np.abs(run[part].values).max())
    assert robot_steps.time == pytest.approx(0.05)
    after = robot_steps.state.copy()
    robot_steps.reset()
    assert robot_steps.advance(50)
    assert np.array_equal(robot_steps.state, after)


def test_nothing_is_allocated() -> None:
    steps = fp.stepper(fp.load("five-bar"), step=1e-4)
    steps.advance(10)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    steps.advance(200)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 2000  # a few Python numbers, no arrays


def test_a_failed_step_keeps_the_state() -> None:
    robot = fp.load("stewart-3-3")
    steps = fp.stepper(robot, step=1e-2)
    steps.force[:] = 5000.0
    while steps.advance():
        assert steps.time < 5.0
    assert "leaves its stroke" in steps.reason
    assert np.isfinite(steps.state).all()


@pytest.mark.full
def test_flexible_legs_step_too() -> None:
    robot = fp.load("dualemps")
    steps = fp.stepper(robot)
    steps.force[:] = [0.5, 1.0]
    assert steps.advance(20)
    from flexapod.bridges.fmu.flexible_legs import home_motion

    run = fp.simulate(robot, home_motion(robot), drive="force", force=np.array([0.5, 1.0]), duration=0.02, step=1e-3)
    n = len(run.joint_position.values[-1])
    assert np.abs(steps.parts["joint_position"][:n] - run.joint_position.values[-1]).max() <= 1e-12


def test_bad_options_are_refused() -> None:
    with pytest.raises(fp.InputError, match="step: expected"):
        fp.stepper(fp.load("five-bar"), step=0.0)
    with pytest.raises(fp.InputError, match="method"):
        fp.stepper(fp.load("five-bar"), method="dopri")
