"""The page of Briot 2014: verdicts follow from numbers and can turn; the filter and the run without friction do what they say."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.views.papers.briot_runs import accelerations, frictionless, low_pass, simulated, timing, torques
from flexapod.views.papers.briot_tables import finer, operators, over_the_workspace, table_1, table_2, table_3
from flexapod.views.papers.items import AGREES, DIFFERS, INPUT

RATE = 500.0
"""Samples per second [1/s]."""

PASSED, STOPPED = 1e-3, 0.02
"""A Butterworth filter of order 4, run twice, has gain 1 / (1 + (tan(pi f / rate) / tan(pi 100 / rate))^8): 1 - 5e-7 at 14 Hz,
below 1e-3 at 200 Hz; ends of the record disturb."""


@pytest.fixture(scope="module")
def robot() -> fp.Robot:
    return fp.load("dualemps")


def test_low_pass() -> None:
    """What is slower than 100 Hz stays, without delay; what is faster goes; at 100 Hz a half is left."""
    t = np.arange(2000) / RATE
    inside = slice(200, -200)
    slow, edge, fast = (np.sin(2 * np.pi * f * t) for f in (14.0, 100.0, 200.0))
    np.testing.assert_allclose(low_pass(t, slow)[inside], slow[inside], atol=PASSED)
    assert np.abs(low_pass(t, fast)[inside]).max() < STOPPED
    np.testing.assert_allclose(low_pass(t, edge)[inside], 0.5 * edge[inside], atol=PASSED)


def test_tables_are_inputs_and_can_differ(robot: fp.Robot) -> None:
    assert table_1(robot).verdict == table_2(robot).verdict == INPUT
    assert table_1(robot.with_parameters({"legs.1.16.d": 0.066})).verdict == DIFFERS
    assert table_2(robot.with_parameters({"legs.2.24.inertial.M": 0.2})).verdict == DIFFERS
    thicker = {"legs.1.16.flexible.section.width": 0.0041}
    assert table_2(robot.with_parameters(thicker)).verdict == DIFFERS  # 80.4 g instead of 78.4 g


def test_table_3_and_a_softer_robot(robot: fp.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    """The finer model is near the converged frequencies of an independent computation; a softer beam gets another verdict."""
    from flexapod.views.papers import briot_tables

    two = finer(2)
    monkeypatch.setattr(briot_tables, "finer", lambda: two)
    found = table_3(robot)
    assert found.verdict == AGREES
    converged = (14.181, 24.525, 45.908, 89.795, 105.371, 188.518)  # 32 elements; tests/data/elastodynamics/dualemps.json
    ours = [float(row[5]) for row in found.parts[0].rows]
    assert ours == pytest.approx(converged, rel=0.015)  # two elements: the fifth is 1.3 % high
    soft = {"legs.1.13.flexible.young": 60e9}
    assert table_3(robot.with_parameters(soft)).verdict == DIFFERS


def test_workspace_and_operators(robot: fp.Robot) -> None:
    assert over_the_workspace(robot).verdict == AGREES
    found = operators(robot)
    assert found.verdict == AGREES
    before, inverse, direct = ([int(x) for x in row[2:4]] for row in found.parts[0].rows[1:])
    assert sum(before) < min(sum(inverse), sum(direct)) < 1287 + 1555


def test_run_of_the_square(robot: fp.Robot) -> None:
    """Our own checks hold; without friction in its passive joints the robot rings at its first frequency."""
    square = simulated(robot, fp.motions.dualemps_square())
    free = simulated(frictionless(robot), fp.motions.dualemps_square())
    assert square.holds
    assert free.holds
    assert accelerations(square, free).verdict.endswith(f"without: {AGREES}")
    assert accelerations(square, square).verdict.endswith(DIFFERS)  # joints that stick do not ring at a measured frequency
    for k, where in enumerate(("Fig. 10", "Fig. 11")):
        assert torques(square, k, where).verdict == AGREES
    assert timing(robot).verdict == AGREES
