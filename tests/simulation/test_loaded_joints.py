"""Friction by joint loads while something deforms: accelerations of forward dynamics, energy, forces of followed actuators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import flexapod as fp
from support.loaded_robots import home, moving, soft_tripod

SAME = 1e-11
"""Of accelerations of some m/s^2: fixed points end at 1e-12 of the largest load."""
BALANCE = 1e-9
"""Energy [J] left over of 0.25 J supplied, by 500 steps of Runge-Kutta 4; it is 1e-12 where nothing else is wrong."""
RATE = 1e-7
"""Relative: 100 steps of Runge-Kutta 4 of 0.1 ms against an adaptive method of 1e-11."""
FORCE = np.array([30.0, 20.0, 10.0])


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> fp.Robot:
    """The 3-RPS with elastic drives; every joint has friction by its load."""
    return soft_tripod(tmp_path_factory.mktemp("loads"))


@pytest.mark.parametrize("method", ["rk4", pytest.param(None, marks=pytest.mark.full)])
def test_accelerations_are_those_of_forward_dynamics(robot: fp.Robot, method: str | None) -> None:
    start = moving(robot, [0.2, -0.1, 0.05])
    result = fp.simulate(robot, start, drive="force", force=FORCE, duration=0.05, step=1e-4, output_step=0.01, method=method)
    assert result.attrs["method"] == (method or "dopri")
    assert "stopped" not in result.attrs
    for k in (0, 2, 4):
        now = result.isel(time=k)
        state = fp.State.from_actuators(
            robot, now.actuator_position.values, now.actuator_velocity.values, elastic=now.elastic.values,
            elastic_velocity=now.elastic_velocity.values,
        )  # fmt: skip
        wanted = fp.forward_dynamics(robot, state, FORCE).actuator_acceleration.values
        without = fp.forward_dynamics(robot, state, FORCE, friction=False).actuator_acceleration.values
        assert np.abs(now.actuator_acceleration.values - wanted).max() < SAME
        assert np.abs(without - wanted).max() > 0.3
    assert np.abs(result.energy_residual.values).max() < BALANCE
    assert result.dissipated_energy.values[-1] > 0.04


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("cvode", {"rtol": 1e-11, "atol": 1e-13}),
        ("implicit", {"step": 1e-3}),
        pytest.param("radau", {"step": 5e-4}, marks=pytest.mark.full),
    ],
)
def test_all_methods_take_the_same_friction(robot: fp.Robot, method: str, options: dict[str, float]) -> None:
    start = moving(robot, [0.2, -0.1, 0.05])
    given = {"drive": "force", "force": FORCE, "duration": 0.01, "output_step": 5e-3}
    result = fp.simulate(robot, start, step=1e-4, method="rk4", **given)
    found = fp.simulate(robot, start, method=method, **options, **given)
    for name in ("actuator_position", "actuator_velocity", "elastic", "force", "dissipated_energy"):
        assert np.abs(found[name].values - result[name].values).max() < RATE * np.abs(result[name].values).max(), name
    assert found.dissipated_energy.values[-1] > 5e-3


@pytest.mark.full
@pytest.mark.parametrize(("method", "step"), [("rk4", 1e-4), ("implicit", 1e-3)])
def test_a_stepper_takes_the_same_steps(robot: fp.Robot, method: str, step: float) -> None:
    start = moving(robot, [0.2, -0.1, 0.05])
    result = fp.simulate(robot, start, drive="force", force=FORCE, duration=0.01, step=step, output_step=0.01, method=method)
    steps = fp.stepper(robot, start, step=step, method=method)
    steps.force[:] = FORCE
    assert steps.advance(round(0.01 / step)), steps.reason
    assert np.abs(steps.parts["velocity"] - result.velocity.values[-1]).max() < SAME


def test_followed_actuators_feel_it(robot: fp.Robot) -> None:
    q, t = home(robot), np.linspace(0.0, 0.02, 41)
    wave = np.sin(2 * np.pi * 5 * t)[:, None] * np.array([0.01, -0.01, 0.02])
    rate, second = (np.gradient(x, t, axis=0, edge_order=2) for x in (wave, np.gradient(wave, t, axis=0, edge_order=2)))
    motion = fp.ActuatorMotion(time=t, position=q + wave, velocity=rate, acceleration=second)
    result = fp.simulate(robot, motion, drive="actuators", duration=0.01, step=1e-4, output_step=5e-3, method="rk4")
    now = result.isel(time=1)
    state = fp.State.from_actuators(
        robot, now.actuator_position.values, now.actuator_velocity.values, elastic=now.elastic.values,
        elastic_velocity=now.elastic_velocity.values,
    )  # fmt: skip
    back = fp.forward_dynamics(robot, state, now.force.values)
    assert np.abs(back.actuator_acceleration.values - now.actuator_acceleration.values).max() < SAME


def test_loads_that_nothing_determines(tmp_path: Path) -> None:
    text = fp.catalogue()["dualemps"].read_text(encoding="utf-8").replace("coulomb: 0.02,", "coulomb: 0.02, reaction: 0.01,")
    (tmp_path / "flat.yaml").write_text(text, encoding="utf-8")
    flat = fp.load(tmp_path / "flat.yaml")
    text = "joint 1.q12 depends on a reaction that is statically indeterminate with rigid bodies; set friction=False, or give"
    with pytest.raises(fp.FlexapodError, match=text):
        fp.simulate(flat, fp.State.from_actuators(flat, home(flat)), drive="force", force=np.zeros(2), duration=0.01)
