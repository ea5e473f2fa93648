"""Data that look wrong are recognised by name; good data are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from measured import exact, noisy, series

import flexapod as fp
from flexapod.identification.bad_data import suspicions
from flexapod.identification.problem import Options


@pytest.fixture(scope="module")
def good() -> tuple[fp.Robot, fp.Measurement]:
    robot = fp.load("hexapod")
    motion = series(robot, 6.0, 200.0, size=0.01, seed=3, lowest=0.4)
    return robot, noisy(motion, exact(robot, motion)[1], force_noise=0.1)


def kinds(robot: fp.Robot, data: fp.Measurement) -> list[str]:
    return [s.kind for s in suspicions(robot, data, Options())]


def text(robot: fp.Robot, data: fp.Measurement) -> str:
    with pytest.raises(fp.BadDataError) as caught:
        fp.identify(robot, data)
    return str(caught.value)


def test_good_data_raise_no_suspicion(good: tuple[fp.Robot, fp.Measurement]) -> None:
    robot, data = good
    assert kinds(robot, data) == []
    heavy = robot.with_parameters({"platform.mass": 8.0})  # a wrong file is no wrong measurement
    assert kinds(heavy, data) == []


def test_time_gaps(good: tuple[fp.Robot, fp.Measurement]) -> None:
    robot, data = good
    keep = np.r_[0:300, 340:1200]
    broken = fp.Measurement(time=data.time[keep], position=data.position[keep], force=data.force[keep])
    assert kinds(robot, broken) == ["gap"]
    assert "1 gap in time, about 40 samples missing; the longest is 0.205 s after t = 1.495 s" in text(robot, broken)


@pytest.mark.parametrize(("factor", "unit"), [(1000.0, "mm"), (100.0, "cm")])
def test_units_of_positions(good: tuple[fp.Robot, fp.Measurement], factor: float, unit: str) -> None:
    robot, data = good
    message = text(robot, replace(data, position=data.position * factor))
    said = message.split("given in ")[1].split(" instead of m?")[0].split(" or ")
    assert unit in said, message


@pytest.mark.parametrize(("factor", "unit"), [(1e-3, "kN"), (1e3, "mN"), (1 / 9.81, "kgf")])
def test_units_of_forces(good: tuple[fp.Robot, fp.Measurement], factor: float, unit: str) -> None:
    robot, data = good
    message = text(robot, replace(data, force=data.force * factor))
    assert f"given in {unit} instead of N?" in message
    assert "times those of the robot file" in message


@pytest.mark.parametrize(("factor", "unit"), [(1e3, "ms"), (1e6, "us")])
def test_units_of_time(factor: float, unit: str) -> None:
    """Without the check the residuals are as small as ever, and the inertias a million times too large."""
    robot = fp.load("five-bar")
    motion = series(robot, 4.0, 200.0, size=0.1, seed=1)
    data = noisy(motion, exact(robot, motion)[1], force_noise=0.01)
    assert kinds(robot, data) == []
    message = text(robot, fp.Measurement(time=data.time * factor, position=data.position, force=data.force))
    assert f"given in {unit} instead of s?" in message


def test_swapped_actuators(good: tuple[fp.Robot, fp.Measurement]) -> None:
    robot, data = good
    order = [0, 4, 2, 3, 1, 5]
    message = text(robot, replace(data, force=data.force[:, order]))
    assert "swapped: columns of forces look swapped (B holds E, E holds B)" in message


def test_reversed_actuator(good: tuple[fp.Robot, fp.Measurement]) -> None:
    robot, data = good
    sign = np.array([1.0, 1.0, -1.0, 1.0, 1.0, 1.0])
    assert "reversed: force of actuator C has the opposite sign" in text(robot, replace(data, force=data.force * sign))


def test_saturated_force(good: tuple[fp.Robot, fp.Measurement]) -> None:
    robot, data = good
    top = np.quantile(data.force[:, 3], 0.9)
    cut = data.force.copy()
    cut[:, 3] = np.minimum(cut[:, 3], top)
    message = text(robot, replace(data, force=cut))
    assert "saturated: force of actuator D stays at its largest value" in message
    found = fp.identify(robot, replace(data, force=cut), legs="alike", on_bad="report")
    assert [s.kind for s in found.suspicions] == ["saturated"]


def test_too_little_excitation(good: tuple[fp.Robot, fp.Measurement]) -> None:
    robot, _ = good
    motion = series(robot, 3.0, 200.0, size=1e-6, seed=3)
    still = noisy(motion, exact(robot, motion)[1], force_noise=0.1)
    assert "excitation: " in text(robot, still)
    slow = series(robot, 3.0, 200.0, size=2e-3, seed=3, lowest=0.01)
    message = text(robot, noisy(slow, exact(robot, slow)[1], force_noise=0.1))
    assert "excitation: the motion does not distinguish the parameters: condition number" in message


def test_dead_channel(good: tuple[fp.Robot, fp.Measurement]) -> None:
    robot, data = good
    dead = data.force.copy()
    dead[:, 5] = 1.0
    assert "force or current of actuator F never changes: a channel that is not connected?" in text(
        robot, replace(data, force=dead)
    )
