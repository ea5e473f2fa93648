"""Friction by joint loads with many coordinates: accelerations of forward dynamics, methods, energy, followed actuators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flexapod as fp
from support.loaded_robots import home, moving, soft_delta

SAME = 1e-11
"""Of accelerations of 350 rad/s^2, relative: fixed points end at 1e-12 of the largest load; found 5e-15."""
RATE = 1e-6
"""Relative: adaptive steps at 1e-9 against CVODE at 1e-10; found 4e-8."""
HEAT = 1e-9
"""Energy [J] left over of 1.3 mJ of heat; found 3e-13 and 4e-12."""
FORCE = np.array([-8.0, -9.0, -7.0])
RUN = {"drive": "force", "force": FORCE, "duration": 1e-3, "output_step": 5e-4}


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> fp.Robot:
    found = soft_delta(tmp_path_factory.mktemp("beams"))
    assert len(found.elastic_plan.columns) > 24, "more than compiled steps take"
    return found


@pytest.fixture(scope="module")
def start(robot: fp.Robot) -> fp.State:
    return moving(robot, [1.0, -0.5, 0.2])


@pytest.fixture(scope="module")
def exact(robot: fp.Robot, start: fp.State) -> Any:
    return fp.simulate(robot, start, method="cvode", rtol=1e-10, atol=1e-12, **RUN)


def accelerations(robot: fp.Robot, now: Any, force: np.ndarray, **options: Any) -> np.ndarray:
    """Of the actuators, by forward dynamics at a sample of a simulation."""
    state = fp.State.from_actuators(
        robot, now.actuator_position.values, now.actuator_velocity.values, elastic=now.elastic.values,
        elastic_velocity=now.elastic_velocity.values,
    )  # fmt: skip
    return fp.forward_dynamics(robot, state, force, **options).actuator_acceleration.values


def test_accelerations_are_those_of_forward_dynamics(robot: fp.Robot, exact: Any) -> None:
    for k in range(3):
        now = exact.isel(time=k)
        wanted, size = accelerations(robot, now, FORCE), np.abs(now.actuator_acceleration.values).max()
        assert np.abs(now.actuator_acceleration.values - wanted).max() < SAME * size
        assert np.abs(accelerations(robot, now, FORCE, friction=False) - wanted).max() > 1e-3 * size
    assert np.all(np.diff(exact.dissipated_energy.values) > 0.0)
    assert np.abs(exact.energy_residual.values).max() < HEAT


@pytest.mark.full
@pytest.mark.parametrize(
    ("method", "options"),
    [("rk4", {"step": 1e-5}), ("dopri", {"rtol": 1e-9, "atol": 1e-11}), ("implicit", {"step": 5e-5}), ("radau", {"step": 2e-5})],
)
def test_all_methods_take_the_same_friction(
    robot: fp.Robot, start: fp.State, exact: Any, method: str, options: dict[str, float]
) -> None:
    result = fp.simulate(robot, start, method=method, **options, **RUN)
    assert result.attrs["method"] == method
    assert "stopped" not in result.attrs
    for name in ("actuator_velocity", "dissipated_energy"):
        size = np.abs(exact[name].values).max()
        assert np.abs(result[name].values - exact[name].values).max() < RATE * size, name


def test_a_stepper_and_a_study_take_the_same_steps(robot: fp.Robot, start: fp.State) -> None:
    result = fp.simulate(robot, start, step=5e-4, **RUN)
    assert result.attrs["method"] == "implicit"
    assert np.all(np.diff(result.dissipated_energy.values) > 0.0)
    for k in range(3):
        now, size = result.isel(time=k), np.abs(result.actuator_acceleration.values).max()
        assert np.abs(accelerations(robot, now, FORCE) - now.actuator_acceleration.values).max() < SAME * size
    steps = fp.stepper(robot, start, step=5e-4)
    steps.force[:] = FORCE
    assert steps.advance(2), steps.reason
    assert np.abs(steps.parts["velocity"] - result.velocity.values[-1]).max() < SAME
    study = fp.simulate_study(robot, start, starts=start, force=FORCE, duration=1e-3, step=5e-4)
    assert np.abs(study.velocity.values[0, -1] - result.velocity.values[-1]).max() < SAME


def test_followed_actuators_feel_it(robot: fp.Robot) -> None:
    t = np.linspace(0.0, 2e-3, 5)
    rate = np.tile([1.0, -0.5, 0.2], (5, 1))
    motion = fp.ActuatorMotion(time=t, position=home(robot) + t[:, None] * rate, velocity=rate, acceleration=0.0 * rate)
    result = fp.simulate(robot, motion, drive="actuators", duration=1e-3, step=5e-4, output_step=5e-4)
    now = result.isel(time=1)
    back = accelerations(robot, now, now.force.values)
    assert np.abs(back - now.actuator_acceleration.values).max() < SAME * 350.0
    assert np.abs(accelerations(robot, now, now.force.values, friction=False)).max() > 1.0
