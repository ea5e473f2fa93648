"""The tests' own formulation with multipliers against the reference of DualEMPS, and against itself: energy, redundant rows."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from beam_robots import DATA, model, random_state
from multipliers import ClosedState, Multipliers

REFERENCE = json.loads((DATA / "dualemps.json").read_text())
ORDER = ["13.u", "13.v", "13.theta", "23.u", "23.v", "23.theta", "16.u", "16.v", "16.theta"]
STATES = 1e-8
"""As the reference suggests; found 1e-10: closing the loops moves u by 1e-16 m, and the beams have 1e8 N/m."""

FREQUENCIES = 1e-4
"""The reference prints six digits."""

BALANCE = 1e-10
"""Power balance, of the sum of absolute terms."""
CLOSED = 1e-14
"""Gap [m, rad] of joints that Newton's method closes; found 2e-16."""
SLIP = 1e-12
"""Of the largest velocity; found 1e-15."""
PASSIVE = 1e-13
"""Angles [rad] of passive joints of the reference; found 9e-16."""
IDENTITY = 1e-11
"""Of the largest elastic acceleration, over two solves; found 3e-14."""


def order(m: Multipliers) -> list[int]:
    names = [n.split(".") for n in m.robot.elastic_names]
    return [next(i for i, name in enumerate(names) if name[-2:] == wanted.split(".")) for wanted in ORDER]


@cache
def reference_state(case: int) -> ClosedState:
    s, m = REFERENCE["states"][case], model("dualemps")
    at, e, ed = order(m), np.zeros(9), np.zeros(9)
    e[at], ed[at] = s["x"][2:], s["xdot"][2:]
    return m.closed_state(np.array(s["x"][:2]), e, np.array(s["xdot"][:2]), ed, np.ones(9))


def share(found: np.ndarray, expected: list[float]) -> float:
    return float(np.abs(found - np.array(expected)).max() / np.abs(expected).max())


@pytest.mark.parametrize("case", range(len(REFERENCE["states"])))
def test_states_of_the_reference(case: int) -> None:
    s, m, state = REFERENCE["states"][case], model("dualemps"), reference_state(case)
    at, expected = order(m), s["nofriction"]
    assert np.allclose([state.joints["1.q12"], state.joints["2.q22"]], s["passive_q12_q22_q25"][:2], rtol=0, atol=PASSIVE)
    drive = m.inverse(state, np.array(s["qa_ddot"]))
    assert share(drive.force, expected["tau"]) < STATES
    assert share(drive.elastic[at], expected["qe_ddot"]) < STATES
    moved = m.direct(state, np.array(expected["forward_tau"]))
    assert share(moved.actuators, expected["forward_qa_ddot"]) < STATES
    assert share(moved.elastic[at], expected["forward_qe_ddot"]) < STATES


def test_frequencies_of_one_element() -> None:
    printed = REFERENCE["frequencies_hz_locked_actuators_q11_q21_0"]["one_element_as_printed"]
    m = model("dualemps")
    rest = m.closed_state(np.zeros(2), np.zeros(9), np.zeros(2), np.zeros(9), np.ones(9))
    assert np.allclose(m.frequencies(rest, 6), printed, rtol=FREQUENCIES, atol=0)


@pytest.mark.parametrize("name", ["dualemps-2", "planar-3-rrr", "tripteron-flexible", "gough-stewart-beams"])
def test_closed_states(name: str) -> None:
    """Every joint is closed and stays closed; direct after inverse is the identity; the reactions of the joints do no work."""
    m = model(name)
    for seed in range(2):
        s, wanted = random_state(name, seed)
        assert s.gap < CLOSED
        assert s.slip < SLIP * np.abs(s.v).max()
        drive = m.inverse(s, wanted)
        moved = m.direct(s, drive.force)
        assert np.abs(moved.actuators - wanted).max() < IDENTITY * np.abs(drive.elastic).max()
        assert np.abs(moved.elastic - drive.elastic).max() < IDENTITY * np.abs(drive.elastic).max()
        rates, work = m.energy_rates(s, drive.all), drive.force @ m.actuator_rates(s)
        assert abs(rates.sum() - work) < BALANCE * (np.abs(rates).sum() + abs(work))


def test_the_comparison_can_fail() -> None:
    """A tenth of a per cent of stiffness is noticed."""
    m, state = Multipliers(model("dualemps").robot), reference_state(1)
    points = m.maximal.flexed[0].points
    object.__setattr__(points, "K", points.K * 1.001)
    s = REFERENCE["states"][1]
    assert share(m.inverse(state, np.array(s["qa_ddot"])).force, s["nofriction"]["tau"]) > 1e3 * STATES
