"""The package's elastodynamic model (independent coordinates, recursion) against maximal coordinates with multipliers."""

from __future__ import annotations

import numpy as np
import pytest
from beam_robots import model, random_state, robot
from package_models import elastic_part, evaluate, inputs_of

ROBOTS = [
    "dualemps", "dualemps-2", "planar-3-rrr", "planar-3-rrr-springs", "tripteron-flexible", "gough-stewart-beams",
    "gough-stewart+platform", "gough-stewart-beams+platform",
]  # fmt: skip
"""Planar and spatial beams, one and several elements, shear and damping, springs, over-constrained, flexible platform."""

AGREEMENT = 1e-9
"""Of the largest entry; found 1e-11: beams of 1e8 N/m make forces of 1e-8 N from the last digits of their coordinates."""

BALANCE = 1e-10
"""Of the sum of absolute terms; found 1e-12."""

STATES = 3


def off(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("name", ROBOTS)
def test_inverse_model(name: str) -> None:
    """Actuator forces, elastic and platform accelerations; power of the actuators is what the energies gain and damping takes."""
    m = model(name)
    for seed in range(STATES):
        s, wanted = random_state(name, seed)
        expected = m.inverse(s, wanted)
        found = evaluate(name, "inverse", {**inputs_of(name, s), "actuator_acceleration": wanted})
        assert off(found["force"], expected.force) < AGREEMENT
        assert off(elastic_part(name, found["coordinate_acceleration"]), expected.elastic) < AGREEMENT
        if robot(name).elastic_plan.carrier is None:
            assert off(found["coordinate_acceleration"][:6], np.append(expected.platform, expected.angular)) < AGREEMENT
        rates, power = m.energy_rates(s, expected.all), found["power"]
        assert abs(power.sum() - rates.sum()) < BALANCE * (np.abs(rates).sum() + np.abs(power).sum())


@pytest.mark.parametrize("name", ROBOTS)
def test_direct_model(name: str) -> None:
    m, random = model(name), np.random.default_rng(5)
    for seed in range(STATES):
        s, _ = random_state(name, seed)
        force = random.uniform(-50, 50, len(m.driven))
        expected = m.direct(s, force)
        found = evaluate(name, "forward", {**inputs_of(name, s), "force": force})
        assert off(found["actuator_acceleration"], expected.actuators) < AGREEMENT
        assert off(elastic_part(name, found["coordinate_acceleration"]), expected.elastic) < AGREEMENT


def test_the_comparison_can_fail() -> None:
    """One element with a millionth more mass is noticed."""
    name = "planar-3-rrr"
    s, wanted = random_state(name, 0)
    heavy = robot(name).with_parameters({"legs.A.distal.flexible.density": 2700 * (1 + 1e-6)})
    found = evaluate(name, "inverse", {**inputs_of(name, s), "actuator_acceleration": wanted}, heavy)
    assert off(found["force"], model(name).inverse(s, wanted).force) > AGREEMENT
