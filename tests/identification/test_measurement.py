"""Measured data: tables by the names of actuators or by numbers, datasets, simulated campaigns, and their messages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from measured import DATA, series

import flexapod as fp

WHOLE = 1e-6
"""Of an encoder's step of 1e-5 m: a product and a quotient of some 1e4 steps."""
FOLLOWS = 1e-3
"""[m] The controller follows."""


def write(path: Path, columns: dict[str, np.ndarray]) -> Path:
    np.savetxt(path, np.column_stack(list(columns.values())), delimiter=",", header=",".join(columns), comments="", fmt="%.17g")
    return path


def test_columns_by_name_or_number(tmp_path: Path) -> None:
    robot = fp.load("five-bar")
    t = np.arange(10.0)
    names = {f"{k}_{n}": np.full(10, 0.1 * i) for i, n in enumerate(robot.actuators) for k in ("q", "f", "qr")}
    numbers = {f"{k}_{i + 1}": np.full(10, 0.1 * i) for i in range(2) for k in ("q", "i")}
    one = fp.read_measurement(write(tmp_path / "a.csv", {"t": t, **names}), robot)
    two = fp.read_measurement(write(tmp_path / "b.csv", {"time": t, **numbers}), robot)
    np.testing.assert_array_equal(one.position, two.position)
    assert one.reference is not None
    assert two.force is None
    assert two.current is not None


def test_messages(tmp_path: Path) -> None:
    robot, t = fp.load("five-bar"), np.arange(10.0)
    with pytest.raises(fp.InputError, match=r"there is no file .*none\.csv"):
        fp.read_measurement(tmp_path / "none.csv", robot)
    with pytest.raises(fp.InputError, match="no column of time; name it t"):
        fp.read_measurement(write(tmp_path / "a.csv", {"x": t}), robot)
    with pytest.raises(fp.InputError, match="positions of the actuators are missing; expected columns q_left, q_right, has t, x"):
        fp.read_measurement(write(tmp_path / "b.csv", {"t": t, "x": t}), robot)
    with pytest.raises(fp.InputError, match="column q_right is missing beside q_left"):
        fp.read_measurement(write(tmp_path / "c.csv", {"t": t, "q_left": t}), robot)
    with pytest.raises(fp.InputError, match="forces or currents are missing"):
        fp.read_measurement(write(tmp_path / "d.csv", {"t": t, "q_left": t, "q_right": t}), robot)


def test_simulated_campaign() -> None:
    robot = fp.load(DATA / "emps.yaml")
    motion = series(robot, 1.0, 1000.0, size=0.005, seed=2)
    data = fp.simulated_measurement(robot, motion, resolution=1e-5, force_noise=0.3)
    assert np.abs(data.position / 1e-5 - np.round(data.position / 1e-5)).max() < WHOLE, "steps of the encoder"
    assert np.abs(data.position - data.reference).max() < FOLLOWS
    with pytest.raises(fp.InputError, match="too short for a measurement"):
        fp.simulated_measurement(robot, motion, rate=5.0)
