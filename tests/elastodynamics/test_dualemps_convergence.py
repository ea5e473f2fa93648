"""DualEMPS with 1 to 16 elements per beam: frequencies against published ones, multipliers, and their rate of convergence."""

from __future__ import annotations

import json

import numpy as np
import pytest
from beam_robots import DATA, model
from package_models import dualemps_frequencies

import flexapod as fp

PRINTED = json.loads((DATA / "dualemps.json").read_text())["frequencies_hz_locked_actuators_q11_q21_0"]
FREQUENCIES = 1e-4
"""The reference prints five to six digits."""

SAME = 1e-8
"""Eigenvalues of both formulations; found 4e-10."""

VERB = 1e-7
"""The verb's eigenvalues share their digits with stretching modes; found 1e-9 with two elements, 3e-8 with sixteen."""

RATE = 0.05
"""Of the fourth power between 4 and 8 elements; found 0.03 (mode 6), with Richardson's limit of 8 and 16 elements as exact."""


def by_multipliers(elements: int) -> np.ndarray:
    m = model("dualemps" if elements == 1 else f"dualemps-{elements}")
    none = np.zeros(9 * elements)
    return m.frequencies(m.closed_state(np.zeros(2), none, np.zeros(2), none, np.ones(9 * elements)), 6)


def test_one_element() -> None:
    assert np.allclose(dualemps_frequencies(1), PRINTED["one_element_as_printed"], rtol=FREQUENCIES, atol=0)


@pytest.mark.parametrize("elements", [1, 2, 4, 8])
def test_both_formulations(elements: int) -> None:
    assert np.allclose(dualemps_frequencies(elements), by_multipliers(elements), rtol=SAME, atol=0)


def test_convergence() -> None:
    """From above, with the fourth power of the element's length, to the printed values."""
    found = [dualemps_frequencies(n) for n in (2, 4, 8)]
    finest = by_multipliers(16)
    exact = finest - (found[-1] - finest) / 15
    assert np.allclose(exact, PRINTED["converged_32_elements"], rtol=FREQUENCIES, atol=0)
    errors = np.array([*found, finest]) / exact - 1
    assert (errors > 0).all()
    assert np.allclose(np.log2(errors[1] / errors[2]), 4, rtol=0, atol=RATE)


def test_verb_with_two_elements() -> None:
    """`natural_frequencies` of the robot at home."""
    robot = model("dualemps-2").robot
    found = fp.natural_frequencies(robot, fp.State(position=robot.home.position, rotation=robot.home.rotation))
    assert np.allclose(found.frequency.values[:6], dualemps_frequencies(2), rtol=VERB, atol=0)
