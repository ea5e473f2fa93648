"""A simulation whose energy balance breaks ends there, with the reason; sound simulations, and robots at rest, do not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import flexapod as fp
from flexapod.simulation.results.energy_guard import BROKEN, until_broken

TIMES = np.linspace(0.0, 1.0, 11)


def result_of(residual: np.ndarray, kinetic: np.ndarray, work: np.ndarray, potential: float = 0.0) -> dict[str, object]:
    none = np.zeros(11)
    return {
        "position": (("axis",), np.zeros((11, 3)), "m"), "kinetic_energy": ((), kinetic, "J"),
        "potential_energy": ((), none + potential, "J"), "elastic_energy": ((), none, "J"),
        "supplied_work": (("actuator",), work[:, None] * [1.0, 0.0], "J"), "external_work": ((), none, "J"),
        "dissipated_energy": ((), none, "J"), "energy_residual": ((), residual, "J"),
    }  # fmt: skip


@pytest.mark.parametrize(("part", "cut"), [(0.99, 11), (1.01, 11), (2.02, 6)])
def test_the_bound(part: float, cut: int) -> None:
    """Ten per cent of what was exchanged, kinetic energy and work together."""
    energy = TIMES.copy()
    residual = np.where(TIMES >= 0.5, part * BROKEN * TIMES, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.ValidityWarning)
        found, times, reason = until_broken("robot", result_of(residual, energy, energy), TIMES)  # type: ignore[arg-type]
    assert len(times) == cut
    assert all(len(values) == cut for _, values, _ in found.values())
    assert bool(reason) == (cut < 11)
    if reason:
        assert reason.startswith("the energy balance is broken: 0.101 J are missing of 1 J exchanged (bound 10%)")


def test_numbers_that_are_none() -> None:
    energy = np.where(TIMES > 0.75, np.nan, TIMES)
    with pytest.warns(fp.ValidityWarning, match=r"the simulation of robot stopped at t = 0\.8 s: the energy balance is broken"):
        _, times, _ = until_broken("robot", result_of(energy - TIMES, energy, TIMES), TIMES)  # type: ignore[arg-type]
    assert len(times) == 9


def test_rounding_at_rest_is_no_break() -> None:
    rest = result_of(1e-12 * TIMES, np.zeros(11), np.zeros(11), potential=500.0)
    assert until_broken("robot", rest, TIMES)[2] == ""  # type: ignore[arg-type]
    nothing = result_of(np.zeros(11), np.zeros(11), np.zeros(11))
    assert until_broken("robot", nothing, TIMES)[2] == ""  # type: ignore[arg-type]


def test_a_step_too_long_for_its_controller() -> None:
    """RK4 with gains that vibrate faster than it steps feeds energy in: the simulation ends early and says why."""
    robot = fp.load("five-bar")
    start = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    home = fp.inverse_kinematics(robot, start).actuator_position.values
    still = np.tile(home, (2, 1))
    motion = fp.ActuatorMotion(time=[0.0, 1.0], position=still + 1e-3, velocity=0.0 * still, acceleration=0.0 * still)
    law = fp.PD(kp=1e6, kd=10.0)
    with pytest.warns(fp.ValidityWarning, match="stopped at t = .* the energy balance is broken"):
        result = fp.simulate(robot, motion, controller=law, start=start, duration=1.0, step=2e-3, output_step=2e-3)
    assert result.attrs["stopped"].startswith("the energy balance is broken")
    assert result.attrs["stopped_at"] == pytest.approx(float(result.time[-1]))
    assert float(result.time[-1]) < 1.0
