"""EMPS: one axis with its published parameters and controller, simulated, written in the benchmark's layout, read and
identified."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from measured import DATA

import flexapod as fp

MASS, VISCOUS, COULOMB, OFFSET = 95.1089, 203.5034, 20.3935, -3.1648
KP, KV, GAIN, LIMIT, RATE = 160.18, 243.45, 35.1507, 10.0, 1000.0
RESOLUTION = 1e-6
"""Of the encoder [m]."""
MASS_ERROR, FRICTION_ERROR = 1e-3, 1e-2
"""What the issue of the benchmark asks for."""
SIGMAS = 4
"""Standard errors: one estimate is that far away in one case of 16 000."""
ROUNDING = 1e-15
"""Relative: one product."""


@pytest.fixture(scope="module")
def result() -> dict[str, np.ndarray]:
    """Position loop with velocity feedback: v = kv (kp (q_ref - q) - q'), held for 1 ms, limited to 10 V; start at rest."""
    robot = fp.load(DATA / "emps.yaml")
    t = np.arange(0.0, 10.0, 1e-3)
    w, a = 2 * np.pi * np.array([0.25, 0.5, 1.0]), np.array([0.06, 0.03, 0.008])
    reference = (a * (1 - np.cos(w * t[:, None]))).sum(axis=1)
    still = np.zeros((len(t), 1))  # no rate of the reference: the loop feeds back the speed itself
    motion = fp.ActuatorMotion(time=t, position=reference[:, None], velocity=still, acceleration=still)
    control = fp.JointControl(kp=KP * KV * GAIN, kd=KV * GAIN, rate=RATE, resolution=RESOLUTION, limit=LIMIT * GAIN)
    options = {"duration": float(t[-1]), "step": 2.5e-4, "output_step": 1e-3, "progress": False}
    found = fp.simulate(robot, motion, controller=control, force=np.array([-OFFSET]), **options)
    voltage = (found.force.values[:, 0] + OFFSET) / GAIN
    position = np.round(found.actuator_position.values[:, 0] / RESOLUTION) * RESOLUTION
    return {"t": found.time.values, "qm": position, "qg": reference, "vir": voltage, "gtau": np.array([GAIN])}


def check(found: fp.Identification) -> None:
    mass, viscous, coulomb = found.estimate
    assert mass == pytest.approx(MASS, rel=MASS_ERROR)
    assert viscous == pytest.approx(VISCOUS, rel=FRICTION_ERROR)
    assert coulomb == pytest.approx(COULOMB, rel=FRICTION_ERROR)
    assert found.offset is not None
    assert found.offset[0] == pytest.approx(OFFSET, rel=FRICTION_ERROR)


def test_identified_from_the_benchmarks_layout(result: dict[str, np.ndarray], tmp_path: Path) -> None:
    from scipy.io import savemat

    path = tmp_path / "DATA_EMPS.mat"
    savemat(path, {name: values[:, None] for name, values in result.items()})
    robot = fp.load(DATA / "emps.yaml")
    data = fp.read_measurement(path, robot)
    assert data.source == "DATA_EMPS.mat"
    guess = robot.with_parameters({"legs.1.carriage.mass": 70.0, "legs.1.screw.friction.viscous": 100.0})
    found = fp.identify(guess, data, cutoff=60.0, decimate=10, offset=True, delay="find", least_speed=0.01)
    check(found)
    assert abs(found.delay) < 1.0 / RATE, "the force is held for a sample: half a period at most"
    again = fp.identify(
        guess, data, cutoff=60.0, decimate=10, offset=True, least_speed=0.01, method="iv", instruments="reference"
    )
    assert again.estimate[0] == pytest.approx(MASS, abs=SIGMAS * again.sigma[0])
    saved = fp.load(found.save(tmp_path / "emps_found.yaml"))
    assert "identified from DATA_EMPS.mat by wls" in saved.description.file.source
    assert saved.parameter("legs.1.screw.friction.coulomb") == pytest.approx(found.estimate[2])


def test_same_columns_as_a_table(result: dict[str, np.ndarray], tmp_path: Path) -> None:
    rows = np.column_stack([result[name] if name != "gtau" else np.full(len(result["t"]), GAIN) for name in result])
    path = tmp_path / "emps.csv"
    np.savetxt(path, rows, delimiter=",", header=",".join(result), comments="", fmt="%.17g")
    robot = fp.load(DATA / "emps.yaml")
    data = fp.read_measurement(path, robot)
    np.testing.assert_array_equal(data.position[:, 0], result["qm"])
    np.testing.assert_allclose(data.force[:, 0], GAIN * result["vir"], rtol=ROUNDING)
    short = tmp_path / "short.csv"
    np.savetxt(short, rows[:, :4], delimiter=",", header="t,qm,qg,vir", comments="")
    with pytest.raises(fp.InputError, match="an EMPS file has t, qm, qg, vir and gtau; gtau missing"):
        fp.read_measurement(short, robot)
