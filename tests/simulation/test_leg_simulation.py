"""Simulations of robots with flexible legs: DualEMPS on its square, friction, two methods, forces replayed, vibration,
refusals."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import flexapod as fp
from flexapod.motions.papers import dualemps_square

DATA = Path(__file__).parents[1] / "data" / "elastodynamics"
ORDER = ["13.u", "13.v", "13.theta", "23.u", "23.v", "23.theta", "16.u", "16.v", "16.theta"]
PEAK = 1e-4
"""Of the peak over 5 s at steps of 1 or 2 ms; found 6e-5: these do not resolve vibrations of 0.4 to 4 kHz."""
FINE = 2e-5
"""The same at steps of 0.25 ms; found 8e-6 for forces, 6e-7 for deflections."""
TIP = 2e-3
"""Acceleration of the tip at 0.25 ms, which weighs a vibration by the square of its frequency; found 7e-4."""
BALANCE_LEFT = 1e-10
"""Energy that is not accounted for, of the largest kinetic energy; found 1e-13."""
WITH_FRICTION = 1e-4
"""Four times smaller steps with friction; found 1e-5: the tanh of 1e-3 rad/s is passed in a few steps."""
CLOSED = 1e-11
"""Order 6, steps of 2.3 degrees of the vibration; found 2e-13."""
CREEP = 1e-6
"""What is left of the first vibration after 2 s."""
RING = 2e-6
"""Second order in an amplitude of 1e-6 rad; found 4e-7."""
REPLAY = 2e-8
"""Of the largest: a cubic spline of forces known at 10 kHz; found 3e-9."""
GIVEN = 1e-12
"""[s], and of the largest length and rate: the motion of the reference, by the same formula."""
SPLINE = 1e-9
"""[N] A cubic spline at its own samples, evaluated at sums of steps."""
HEAT = 1e-9
"""Relative: what is lost is a difference of energies."""


@cache
def robot() -> fp.Robot:
    return fp.load("dualemps")


@cache
def square(method: str, friction: bool, step: float) -> Any:
    return fp.simulate(
        robot(), dualemps_square(), drive="actuators", duration=5.0, step=step, output_step=0.01, method=method, friction=friction
    )  # type: ignore[call-overload, unused-ignore]


@cache
def reference() -> dict[str, np.ndarray]:
    with np.load(DATA / "dualemps-square.npz") as file:
        return dict(file)


def off(found: Any, expected: Any) -> float:
    return float(np.abs(np.asarray(found) - np.asarray(expected)).max() / np.abs(np.asarray(expected)).max())


def energy_left(result: Any) -> float:
    return float(np.abs(result.energy_residual).max() / result.kinetic_energy.max())


def test_square_motion() -> None:
    """Forces, deflections and acceleration of the tip of the first 5 s; energy accounted for."""
    result, known = square("implicit", False, 2.5e-4), reference()
    assert off(square("implicit", False, 2e-3).force, known["force"]) < PEAK
    np.testing.assert_allclose(result.time, known["time"], rtol=0, atol=GIVEN)
    assert off(np.concatenate([result.actuator_position, result.actuator_velocity], axis=1), known["actuators"][:, :4]) < GIVEN
    assert off(result.force, known["force"]) < FINE
    order = [ORDER.index(name) for name in robot().elastic_names]
    assert off(result.elastic, known["elastic"][:, order]) < FINE
    motion = fp.ActuatorMotion(
        time=result.time.values, position=result.actuator_position.values, velocity=result.actuator_velocity.values,
        acceleration=result.actuator_acceleration.values,
    )  # fmt: skip
    given = {key: result[key].values for key in ("elastic", "elastic_velocity", "elastic_acceleration")}
    tip = fp.point_motion(robot(), motion, "1.17.tip", **given)
    local = np.einsum("tji,tj->ti", tip.rotation.values, tip.acceleration.values)[:, :2]
    assert off(local, known["tip"]) < TIP
    assert energy_left(result) < BALANCE_LEFT
    assert "stopped" not in result.attrs


def test_a_wrong_robot_is_noticed() -> None:
    """A hundredth more mass on the tip: beyond the tolerance."""
    heavy = robot().with_parameters({"legs.1.17.inertial.M": 0.177 * 1.01})
    result = fp.simulate(heavy, dualemps_square(), drive="actuators", duration=5.0, step=2e-3, output_step=0.01, friction=False)
    assert off(result.force, reference()["force"]) > PEAK


def test_two_methods_agree() -> None:
    a, b = square("implicit", False, 1e-3), square("radau", False, 1e-3)
    assert off(b.force, a.force) < PEAK
    assert off(b.elastic, a.elastic) < PEAK
    assert energy_left(b) < BALANCE_LEFT


def test_friction() -> None:
    """Step by step smaller, the same; what is lost is in the energy balance; drives feel at least their Coulomb friction."""
    coarse, fine = square("implicit", True, 2e-3), square("implicit", True, 5e-4)
    assert off(coarse.force, fine.force) < WITH_FRICTION
    assert energy_left(fine) < BALANCE_LEFT
    assert fine.dissipated_energy.values[-1] > 25.0 * 0.2, "25 N over 0.2 m, and viscous friction"
    assert np.all(np.diff(fine.dissipated_energy.values) > -1e-12), "friction takes, never gives"
    assert off(square("implicit", False, 2e-3).force, fine.force) > 0.3, "friction matters"


def test_inverse_dynamics_integrates_elastic_coordinates() -> None:
    """`elastic="simulate"` gives the forces of the simulation, friction included where asked."""
    whole = dualemps_square()
    first = fp.ActuatorMotion(
        time=whole.time[:151], position=whole.position[:151], velocity=whole.velocity[:151], acceleration=whole.acceleration[:151]
    )
    found = fp.inverse_dynamics(robot(), first, elastic="simulate", friction=False)
    assert found.attrs["elastic"] == "simulate"
    assert off(found.force, square("implicit", False, 2e-3).force[:151]) < PEAK


def quick() -> fp.ActuatorMotion:
    """5 mm and back by polynomials without jumps of acceleration, in 0.1 s."""

    def at(t: np.ndarray) -> fp.ActuatorMotion:
        s = np.clip(t / 0.1, 0.0, 1.0)
        p = np.polynomial.Polynomial([0, 0, 0, 1]) * np.polynomial.Polynomial([1, -1]) ** 3
        values = [
            p.deriv(k)(s)[:, None] * np.array([0.3, -0.2]) / 0.1**k if k else p(s)[:, None] * np.array([0.3, -0.2])
            for k in range(3)
        ]
        return fp.ActuatorMotion(time=t, position=values[0], velocity=values[1], acceleration=values[2])

    return at(np.linspace(0, 0.1, 1001))


def test_forces_found_drive_the_same_motion() -> None:
    """The direct model under the forces of the inverse one: actuators and deflections come back."""
    result = fp.simulate(robot(), quick(), drive="actuators", duration=0.1, step=1e-4, friction=False)
    spline = CubicSpline(result.time.values, result.force.values)
    again = fp.simulate(robot(), fp.State.from_actuators(robot(), [0, 0]), force=spline, duration=0.1, step=1e-4, friction=False)
    assert off(again.actuator_position, result.actuator_position) < REPLAY
    assert off(again.elastic, result.elastic) < REPLAY
    np.testing.assert_allclose(again.force, result.force, rtol=0, atol=SPLINE)
    assert energy_left(again) < BALANCE_LEFT


def test_released_mode_rings_at_its_frequency() -> None:
    """Locked actuators, a small first mode: after one period of `natural_frequencies` it is back, after half it is opposite."""
    r = robot()
    still = fp.State.from_actuators(r, [0, 0])
    modes = fp.natural_frequencies(r, still).isel(mode=0)
    e = modes["shape"].sel(coordinate=list(r.elastic_names)).values
    e *= 1e-6 / np.abs(e).max()
    start = fp.State.from_actuators(r, [0, 0], elastic=e)
    period = 1.0 / modes.frequency.item()
    held = fp.ActuatorMotion(
        time=[0.0, period], position=np.zeros((2, 2)), velocity=np.zeros((2, 2)), acceleration=np.zeros((2, 2))
    )
    result = fp.simulate(r, held, drive="actuators", start=start, duration=period, step=period / 200, friction=False)
    assert off(result.elastic.values[-1], e) < RING
    assert off(result.elastic.values[100], -e) < RING
    assert energy_left(result) < BALANCE_LEFT


def test_mass_dropped_on_a_damped_spring() -> None:
    """Gravity along a drive of one spring: the closed form of one degree of freedom, heat in the energy balance, force of the
    locked drive."""
    r, k, d, m, g = fp.load(DATA / "spring-drive.yaml"), 5000.0, 30.0, 3.0, 9.81
    start = fp.State.from_actuators(r, [0.0], elastic=[0.0])
    none = np.zeros((2, 1))
    held = fp.ActuatorMotion(time=[0.0, 0.5], position=none, velocity=none, acceleration=none)
    result = fp.simulate(r, held, drive="actuators", start=start, duration=0.5, step=1e-3)
    delta = d / (2 * m)
    w = np.sqrt(k / m - delta**2)
    t = result.time.values
    e = -m * g / k * (1 - np.exp(-delta * t) * (np.cos(w * t) + delta / w * np.sin(w * t)))
    ed = -g / w * np.exp(-delta * t) * np.sin(w * t)
    assert off(result.elastic.values[:, 0], e) < CLOSED
    assert off(result.elastic_velocity.values[:, 0], ed) < CLOSED
    assert off(result.force.values[:, 0], -k * e - d * ed) < CLOSED
    assert off(result.position.values[:, 2] - 0.2, e) < CLOSED
    assert energy_left(result) < BALANCE_LEFT
    lost = -m * g * e[-1] - k * e[-1] ** 2 / 2 - m * ed[-1] ** 2 / 2
    np.testing.assert_allclose(result.dissipated_energy.values[-1], lost, rtol=HEAT)


def test_friction_holds_a_drive_that_is_pushed_too_little() -> None:
    """10 N above the weight against 40 N of Coulomb friction: the tanh law creeps at 1e-3 m/s artanh(10 / 40); 60 N move it."""
    r = fp.load(DATA / "spring-drive.yaml").with_parameters({"legs.A.rail.friction.coulomb": 40.0})
    start, weight = fp.State.from_actuators(r, [0.0]), 3.0 * 9.81
    stuck = fp.simulate(r, start, force=[weight + 10.0], duration=2.0, step=1e-3)
    np.testing.assert_allclose(stuck.actuator_velocity.values[-1], 1e-3 * np.arctanh(10 / 40), rtol=CREEP)
    assert np.abs(stuck.energy_residual).max() < BALANCE_LEFT * stuck.supplied_work.sum("actuator").values[-1]
    loose = fp.simulate(r, start, force=[weight + 60.0], duration=2.0, step=5e-5, output_step=0.1)
    np.testing.assert_allclose(loose.velocity.values[-1, 2], 2.0 * (60 - 40) / 5, rtol=CREEP * 1e3, err_msg="both masses as one")
    assert energy_left(loose) < BALANCE_LEFT


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"drive": "actuators", "method": "cvode", "save": "run"}, "save: needs the steps of the other methods"),
    ({"drive": "actuators", "controller": fp.PD(kp=1.0, kd=1.0)}, "controller: with drive='actuators' the actuators follow"),
    ({"drive": "actuators", "step": 1e-3, "output_step": 2.5e-3}, "output_step must be a whole multiple of the step, it is 2.5"),
]


@pytest.mark.parametrize(("given", "text"), REFUSED)
def test_refusals(given: dict[str, Any], text: str) -> None:
    with pytest.raises(fp.errors.InputError, match=text):
        fp.simulate(robot(), dualemps_square(), **given)


def test_motions_that_are_refused() -> None:
    home, none = robot().home, np.zeros((2, 3))
    platform = fp.Motion(
        time=[0.0, 1.0], position=np.tile(home.position, (2, 1)), rotation=np.tile(home.rotation, (2, 1, 1)), velocity=none,
        angular_velocity=none, acceleration=none, angular_acceleration=none,
    )  # fmt: skip
    with pytest.raises(fp.errors.InputError, match="drive='actuators' of dualemps needs an ActuatorMotion, got Motion"):
        fp.simulate(robot(), platform, drive="actuators")
    with pytest.raises(fp.errors.InputError, match="elastic='simulate': the load acts at the platform's origin"):
        fp.inverse_dynamics(robot(), dualemps_square(), elastic="simulate", wrench=np.zeros(6), axes="platform")
