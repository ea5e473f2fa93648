"""`stepper` takes the same steps as `simulate`, keeps its memory still, and says why a step fails."""

import pickle
import tracemalloc

import numpy as np
import pytest

import flexapod as fp
from flexapod.simulation.integrators.explicit_steps import ExplicitSteps
from flexapod.simulation.stepper import home_start

SAME = 1e-13
"""The same compiled steps; the start may differ by a rounding."""
LEGS = 1e-9
"""Iterations on the loops and of the implicit step end within their tolerances, by other kernels."""

LOOPS = 1e-12
"""Loops are closed to rounding at every stage, by other kernels in dense algebra."""


@pytest.mark.parametrize("name", ["stewart-3-3", "five-bar"])
def test_steps_are_those_of_simulate(name: str) -> None:
    robot = fp.load(name)
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    force = 1.02 * fp.inverse_dynamics(robot, home, friction=False).force.values + 0.01
    result = fp.simulate(robot, home, force=force, duration=0.05, step=1e-3, watch=("stroke",))
    robot_steps = fp.stepper(robot, step=1e-3)
    robot_steps.force[:] = force
    assert robot_steps.advance(50)
    for part in ("position", "velocity", "angular_velocity"):
        assert np.abs(robot_steps.parts[part] - result[part].values[-1]).max() <= SAME * max(
            1.0, np.abs(result[part].values).max()
        )
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
@pytest.mark.parametrize(("name", "watch"), [("dualemps", ()), ("dualemps-8", ("stroke", "singular"))])
def test_flexible_legs_step_too(name: str, watch: tuple[str, ...]) -> None:
    """Also with more coordinates than one kernel is compiled for (`dualemps-8` has 78): the same steps, in memory of its own."""
    robot = fp.load(name)
    steps = fp.stepper(robot, watch=watch)
    steps.force[:] = [0.5, 1.0]
    assert steps.advance(20), steps.reason
    force = np.array([0.5, 1.0])
    result = fp.simulate(robot, home_start(robot), drive="force", force=force, duration=0.02, step=1e-3, watch=watch)
    n = len(result.joint_position.values[-1])
    assert np.abs(steps.parts["joint_position"][:n] - result.joint_position.values[-1]).max() <= LEGS
    for part in ("position", "velocity", "angular_velocity"):
        assert np.abs(steps.parts[part] - result[part].values[-1]).max() <= LEGS * max(1.0, np.abs(result[part].values).max())
    tracemalloc.start()
    steps.advance()  # numbers that the stepper keeps are traced from here
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    steps.advance(4)
    grown, peak = (now - before for now in tracemalloc.get_traced_memory())
    tracemalloc.stop()
    assert grown < 200  # a Python number
    assert peak < 2000  # views and Python numbers on the way, no arrays: one stage of dualemps-8 has 1.8 kB, one matrix 45 kB
    after = steps.state.copy()
    steps.reset()
    steps.advance(25)
    assert np.abs(steps.state - after).max() <= SAME * np.abs(after).max()


@pytest.mark.parametrize("large", [False, True])
def test_explicit_steps_of_robots_with_loops(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one kernel, and in dense algebra as where there are more coordinates than one kernel is compiled for."""
    robot = fp.load("delta-parallelograms")
    start = home_start(robot)
    force = 1.1 * fp.inverse_dynamics(robot, start, friction=False).force.values[0] + 0.1
    with monkeypatch.context() as patch:
        if large:
            patch.setattr("flexapod.simulation.integrators.numeric_rows.is_large", lambda _: True)
        steps = fp.stepper(robot, method="rk4")
    assert isinstance(steps._steps, ExplicitSteps) is large
    steps.force[:] = force
    assert steps.advance(10), steps.reason
    result = fp.simulate(robot, start, drive="force", force=force, duration=0.01, step=1e-3, method="rk4")
    assert np.abs(result.velocity.values[-1]).max() > 1e-3
    for part in ("position", "velocity", "angular_velocity"):
        assert np.abs(steps.parts[part] - result[part].values[-1]).max() <= LOOPS * max(1.0, np.abs(result[part].values).max())


def test_bad_options_are_refused() -> None:
    with pytest.raises(fp.InputError, match="step: expected"):
        fp.stepper(fp.load("five-bar"), step=0.0)
    with pytest.raises(fp.InputError, match="method"):
        fp.stepper(fp.load("five-bar"), method="dopri")
    with pytest.raises(fp.InputError, match="watch: expected 'stroke' or 'singular', got 'strokes'"):
        fp.stepper(fp.load("five-bar"), watch=("strokes",))


def test_a_stepper_travels_with_its_numbers() -> None:
    robot = fp.load("stewart-3-3")
    stepper = fp.stepper(robot, wrench=True)
    stepper.force[:] = 100.0
    assert stepper.wrench is not None
    stepper.wrench[2] = -50.0
    assert stepper.advance(5)
    again = pickle.loads(pickle.dumps(stepper))
    assert again.time == stepper.time
    assert again.advance(5)
    assert stepper.advance(5)
    assert np.array_equal(again.state, stepper.state)


def test_a_prepared_call_says_that_it_stays() -> None:
    with pytest.raises(fp.FlexapodError, match="a prepared call belongs to its process; pickle the kernel"):
        pickle.dumps(fp.kernel(fp.load("stewart-3-3"), "jacobian").prepare())
