"""The package's elastodynamic model (independent coordinates, recursion) against maximal coordinates with multipliers."""

from __future__ import annotations

import numpy as np
import pytest
from beam_robots import model, random_state, robot
from package_models import elastic_part, evaluate, inputs_of

from flexapod.equations.elastodynamics.closing import elastic_closing
from support.plain import plain_kernel

ROBOTS = [
    "dualemps-2", "planar-3-rrr", "planar-3-rrr-springs", "tripteron-flexible", "gough-stewart-beams",
    "gough-stewart+platform", "gough-stewart-beams+platform", "planar-3-rrr+modes", "gough-stewart-beams+modes",
]  # fmt: skip
"""Planar and spatial beams, one and several elements, shear and damping, springs, over-constrained, flexible platform,
reduced beams."""

AGREEMENT = 1e-9
"""Of the largest entry; found 1e-11: beams of 1e8 N/m make forces of 1e-8 N from the last digits of their coordinates."""

BALANCE = 1e-10
"""Of the sum of absolute terms; found 1e-12."""

CLOSED = 1e-12
"""Coordinates [m, rad] and rates; a few roundings of sums of lengths."""

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


WAYS = [
    ("dualemps-4", "links"), ("dualemps-4", "articulated"), ("planar-3-rrr-springs", "articulated"),
    ("planar-3-rrr-springs", "projected"), ("tripteron-flexible", "articulated"), ("tripteron-flexible", "projected"),
    ("gough-stewart-beams+platform", "articulated"), ("planar-3-rrr+modes", "articulated"), ("planar-3-rrr+modes", "projected"),
]  # fmt: skip
"""Beside the usual way: elimination leg by leg where legs are short, articulated bodies where they are long."""


@pytest.mark.parametrize(("name", "way"), WAYS)
def test_every_way_to_solve(name: str, way: str) -> None:
    """Elimination leg by leg, articulated bodies, and the projected equation."""
    m, (s, wanted) = model(name), random_state(name, 7)
    inverse, force = m.inverse(s, wanted), np.linspace(-20, 30, len(m.driven))
    found = evaluate(name, f"inverse.{way}", {**inputs_of(name, s), "actuator_acceleration": wanted})
    assert off(found["force"], inverse.force) < AGREEMENT
    assert off(elastic_part(name, found["coordinate_acceleration"]), inverse.elastic) < AGREEMENT
    direct = m.direct(s, force)
    found = evaluate(name, f"forward.{way}", {**inputs_of(name, s), "force": force})
    assert off(found["actuator_acceleration"], direct.actuators) < AGREEMENT
    assert off(elastic_part(name, found["coordinate_acceleration"]), direct.elastic) < AGREEMENT


@pytest.mark.parametrize("name", ["planar-3-rrr", "tripteron-flexible"])
def test_closing(name: str) -> None:
    """All coordinates of a state from the independent ones, started at home; where loops tie deformations together, these too."""
    r, (s, _) = robot(name), random_state(name, 1)
    program, given = elastic_closing(r), inputs_of(name, s)
    columns, first = r.elastic_plan.columns, len(r.elastic_plan.columns) - len(r.coordinates)
    free = [k - first for k in r.elastic_plan.independent]
    assert min(free) >= 0
    assert len(free) == len(columns) - len(r.elastic_plan.bound)
    start = np.concatenate([leg.home for leg in r.legs])
    start[free] = given["joint_position"][free]
    inputs = {
        "joint_position": start, "independent_velocity": given["joint_velocity"][free],
        "position": r.home.position, "rotation": r.home.rotation,
    }  # fmt: skip
    found = plain_kernel(program)(
        parameters=[r.values[p.name] for p in program.signature.parameters],
        **{i.name: inputs[i.name] for i in program.signature.inputs},
    )
    assert np.abs(found["closed_position"] - given["joint_position"]).max() < CLOSED
    assert np.abs(found["closed_velocity"] - given["joint_velocity"]).max() < CLOSED
    assert np.abs(found["platform_position"] - s.p[0]).max() < CLOSED
    assert np.abs(found["platform_rotation"] - s.R[0]).max() < CLOSED


def test_the_comparison_can_fail() -> None:
    """One element with a millionth more mass is noticed."""
    name = "planar-3-rrr"
    s, wanted = random_state(name, 0)
    heavy = robot(name).with_parameters({"legs.A.distal.flexible.density": 2700 * (1 + 1e-6)})
    found = evaluate(name, "inverse", {**inputs_of(name, s), "actuator_acceleration": wanted}, heavy)
    assert off(found["force"], model(name).inverse(s, wanted).force) > AGREEMENT
