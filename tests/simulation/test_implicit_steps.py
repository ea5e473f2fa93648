"""Implicit simulations of robots: order six, energy, steps far longer than the fastest period, stiff gains, rigid robots,
refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
from flexible_simulations import UNDAMPED, ringing, small_robot
from pd_simulations import at_home as rigid_home
from pd_simulations import robot_named, springs_near_home

import flexapod as fp

ORDER = 0.35
"""Allowed distance of a measured order from the method's: the next term of the error is not yet negligible."""
CONSERVED = 1e-9
"""Of the largest kinetic energy; the steps resolve every mode."""
FORCE = 1e-6
"""Of the largest force at 1.25 ms: the error of lengths times 2e6 N/m."""
FAST = 1e-5
"""Of the largest acceleration of modes, which weigh errors by squares of frequencies."""
RINGS = 1e-6
"""Of the kinetic energy over 1000 steps that do not resolve the modes: they ring on."""
SLOW = 1e-6
"""[m] Steps of 1 and 0.5 ms: the slow motion is resolved either way."""
LOCKED = 1e-4
"""[m] Springs of 1e9 N/m hold the lengths."""
STIFF = 1e-3
"""Of the kinetic energy, with springs that a step does not resolve."""


def rung(factor: float, method: str, step: float, stiffness: float = 2e6, share: float = 1.3, **options: Any) -> Any:
    robot = small_robot(UNDAMPED, factor)
    start, springs = ringing(robot, stiffness, share)
    options = {"duration": 0.1, "output_step": 0.005, "watch": (), **options}
    return fp.simulate(robot, start, controller=springs, method=method, step=step, **options)


def test_order_six_towards_an_adaptive_run() -> None:
    """Pose, elastic coordinates and work: Cayley's vectors and what is integrated beside keep the order."""
    truth = rung(1.0, "dopri", 1e-3, rtol=1e-13, atol=1e-15)
    runs = [rung(1.0, "implicit", h) for h in (2.5e-3, 1.25e-3)]
    for name in ("position", "rotation", "elastic", "actuator_travel"):
        off = [float(np.abs(result[name] - truth[name]).max()) for result in runs]
        assert abs(np.log2(off[0] / off[1]) - 6.0) < ORDER, (name, off)
    assert np.abs(runs[1].energy_residual).max() < CONSERVED * runs[1].kinetic_energy.max()
    assert np.abs(runs[1].force - truth.force).max() < FORCE * np.abs(truth.force).max()
    assert (
        np.abs(runs[1].elastic_acceleration - truth.elastic_acceleration).max() < FAST * np.abs(truth.elastic_acceleration).max()
    )


def test_modes_too_fast_for_the_step_ring_on() -> None:
    """Plate 1e6 times as stiff: 189 000 rad/s and more, steps of 1 ms. No energy is lost, and slow motion is not disturbed."""
    result = rung(1e6, "implicit", 1e-3, duration=1.0, output_step=0.01)
    assert "stopped" not in result.attrs
    energy = (result.kinetic_energy + result.potential_energy + result.elastic_energy).values
    assert np.abs(energy - energy[0]).max() < RINGS * result.kinetic_energy.max()
    soft = rung(1e6, "implicit", 5e-4, duration=1.0, output_step=0.01)
    assert np.abs(result.position - soft.position).max() < SLOW


def test_stiff_gains_are_in_the_tangent() -> None:
    """Springs of 1e9 N/m in place of the actuators, 1e4 rad/s and more: steps of 1 ms converge, and hold the lengths."""
    result = rung(1.0, "implicit", 1e-3, stiffness=1e9, share=1.0)
    assert "stopped" not in result.attrs
    assert np.ptp(result.actuator_position.values, axis=0).max() < LOCKED
    energy = (result.kinetic_energy + result.potential_energy + result.elastic_energy).values
    assert np.ptp(energy) < STIFF * result.kinetic_energy.max()


SWINGS = 1e-9
"""Relative; two methods with tightened steps."""


def test_rigid_robots_swing_as_by_other_methods() -> None:
    """Radau IIA of order five on a robot without any elastic body."""
    robot = robot_named("stewart-3-3")
    options = {"controller": springs_near_home(robot), "duration": 0.2, "output_step": 0.02, "friction": False, "watch": ()}
    truth = fp.simulate(robot, rigid_home(robot), **options, method="dopri", rtol=1e-12, atol=1e-14)
    runs = [fp.simulate(robot, rigid_home(robot), **options, method="radau", step=h) for h in (0.02, 0.01)]
    off = [float(np.abs(result.position - truth.position).max()) for result in runs]
    assert abs(np.log2(off[0] / off[1]) - 5.0) < ORDER


def test_a_constrained_platform_swings_as_by_other_methods() -> None:
    """Gauss of order six in the independent coordinates of a five-bar, against explicit steps of its platform."""
    robot = robot_named("five-bar")
    options = {"controller": springs_near_home(robot), "duration": 0.2, "output_step": 0.02, "friction": False}
    truth = fp.simulate(robot, rigid_home(robot), **options, method="dopri", rtol=1e-12, atol=1e-14)
    found = fp.simulate(robot, rigid_home(robot), **options, method="implicit", step=1e-3)
    assert float(np.abs(truth.position - truth.position[0]).max()) > 1e-4
    assert float(np.abs(found.position - truth.position).max()) < SWINGS * float(np.abs(truth.position).max())
