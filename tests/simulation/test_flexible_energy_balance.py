"""Energy of simulations with a flexible platform: other formulas for each entry, conservation without damping, heat with it."""

from __future__ import annotations

import numpy as np
from flexible_simulations import STIFF, UNDAMPED, poses_with_rests, ringing, small_robot
from scipy.integrate import trapezoid

import flexapod as fp
from support.flexible_robots import rigid

CONSERVED = 1e-10
"""Of the largest kinetic energy: 0.1 s of ringing at tolerances of 1e-12."""
SAME = 1e-13
"""Relative: sums over bodies against a mass matrix."""
STORED = 1e-13
"""Relative: energy of springs from differences of lengths."""
HEIGHTS = 1e-10
"""[J] Differences of energies against another zero."""
FOLLOWED = 5e-3
"""[m] A stiff PD controller with a rigid model, under a load of 300 N."""
COARSE = 0.2
"""Of the heat: the trapezoidal rule over samples that do not resolve the modes."""
BOOKS = 1e-8
"""Of the energy exchanged at tolerances of 1e-10, every entry integrated for itself."""


def state_of(result: object) -> fp.State:
    names = ("position", "rotation", "velocity", "angular_velocity", "elastic", "elastic_velocity")
    return fp.State(**{name: result[name].values for name in names})


def test_energies_agree_with_mass_matrix_and_bodies() -> None:
    """Kinetic energy by shape moments and by V^T M V / 2; potential energy summed over bodies elsewhere; strain e K e / 2."""
    robot = small_robot(UNDAMPED)
    start, springs = ringing(robot)
    result = fp.simulate(robot, start, controller=springs, duration=0.05, output_step=0.005, watch=(), method="dopri")
    other = fp.energy(robot, state_of(result))
    np.testing.assert_allclose(result.kinetic_energy, other.kinetic, rtol=SAME)
    stored = 0.5 * 2e6 * ((result.actuator_position.values - springs.free) ** 2).sum(axis=1)
    np.testing.assert_allclose(result.elastic_energy, other.elastic + stored, rtol=STORED)
    gravity = (other.potential - other.elastic).values
    np.testing.assert_allclose(np.diff(result.potential_energy), np.diff(gravity), rtol=0, atol=HEIGHTS)


def test_an_undamped_robot_keeps_its_energy() -> None:
    robot = small_robot(UNDAMPED)
    start, springs = ringing(robot)
    result = fp.simulate(
        robot, start, controller=springs, duration=0.1, output_step=0.005, watch=(), method="dopri", rtol=1e-12, atol=1e-14
    )
    assert result.dissipated_energy[-1] < CONSERVED * result.kinetic_energy.max()
    assert not np.any(result.supplied_work)
    assert np.abs(result.energy_residual).max() < CONSERVED * result.kinetic_energy.max()
    assert np.ptp(result.kinetic_energy.values) > 0.1 * result.kinetic_energy.max(), "energy goes back and forth"


def test_damping_turns_into_heat_what_is_missing() -> None:
    """A load that changes, control by a rigid model, damping: every entry is integrated for itself and the books close."""
    robot = small_robot(10.0, STIFF)

    def load(t: np.ndarray) -> np.ndarray:
        return np.outer(np.sin(40 * np.pi * t), [200.0, -100.0, 300.0, 10.0, 20.0, -10.0])

    result = fp.simulate(
        robot, poses_with_rests(), controller=fp.FeedForwardPD(kp=2e6, kd=2e4, model=rigid()), wrench=load, duration=0.3,
        output_step=0.002, method="dopri", rtol=1e-10, atol=1e-12,
    )  # fmt: skip
    assert "stopped" not in result.attrs
    assert np.abs(result.position - poses_with_rests().formula(result.time.values).position).max() < FOLLOWED
    assert float(result.dissipated_energy[-1]) > 1e-4
    assert abs(float(result.external_work[-1])) > 1e-4
    assert np.all(np.diff(result.dissipated_energy) >= 0)
    body = robot.flexible_platform
    rate = np.einsum("ni,ij,nj->n", result.elastic_velocity, body.D_ee, result.elastic_velocity)
    assert np.abs(trapezoid(rate, result.time) - result.dissipated_energy[-1]) < COARSE * result.dissipated_energy[-1]  # e' D e'
    scale = np.abs(result.supplied_work).sum("actuator").max() + np.abs(result.external_work).max() + result.dissipated_energy[-1]
    assert np.abs(result.energy_residual).max() < BOOKS * scale
