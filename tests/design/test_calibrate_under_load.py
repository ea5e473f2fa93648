"""Elasto-geometric calibration, and calibration from actuator readings alone."""

import numpy as np
import pytest

import flexapod as fp
from flexapod.analysis.verbs.sampling import random_states

STIFFNESS = np.array([1.0e6, 1.2e6, 0.9e6, 1.5e6, 1.1e6, 0.8e6])
EXACT = 1e-9
"""[m] as for calibration without loads."""
STIFF = 1e-9
"""Relative: deflections of 1e-4 m, found to rounding; found 1e-13."""


@pytest.fixture(scope="module")
def drawing() -> fp.Robot:
    return fp.load("stewart-3-3")


def loaded(real: fp.Robot, n: int, seed: int) -> dict[str, np.ndarray]:
    """Readings at which the real robot, on springs in its actuators, is at random poses under random loads."""
    found = random_states(real, n, seed=seed)
    at = fp.State(position=found["position"], rotation=found["rotation"])
    wrench = np.random.default_rng(seed).uniform(-1.0, 1.0, (n, 6)) * [2000, 2000, 5000, 500, 500, 500]
    force = fp.inverse_dynamics(real, at, wrench=wrench, friction=False).force.values
    legs = fp.inverse_kinematics(real, at, joints=False).actuator_position.values
    return {
        "actuator_position": legs + force / STIFFNESS, "position": at.position, "rotation": at.rotation, "wrench": wrench,
    }  # fmt: skip


def test_geometry_and_stiffness_from_loaded_poses(drawing: fp.Robot) -> None:
    hip = np.add(drawing.parameter("legs.B.hip.at"), (2e-3, 1e-3, 0.0)).tolist()
    real = drawing.with_parameters({"legs.A.slide.zero": 5.001, "legs.C.slide.zero": 4.999, "legs.B.hip.at": hip})
    parameters = ["legs.*.slide.zero", "legs.B.hip.at"]
    found = fp.calibrate(drawing, loaded(real, 12, 4), parameters, validate=False)
    assert found.values == pytest.approx([float(real.parameter(p)) for p in found.paths], abs=EXACT)
    assert 1 / found.compliance == pytest.approx(STIFFNESS, rel=STIFF)
    assert found.table.unit.values[-1] == "m/N"


def test_commands_hold_the_pose_under_load(drawing: fp.Robot) -> None:
    found = fp.calibrate(drawing, loaded(drawing, 8, 5), ["legs.*.slide.zero"], validate=False)
    at = fp.State(position=drawing.home.position)
    load = np.array([0, 0, -5000.0, 0, 0, 0])
    force = fp.inverse_dynamics(drawing, at, wrench=load, friction=False).force.values
    assert found.commands(at, load).compensation.values == pytest.approx(force / STIFFNESS, abs=EXACT)
    without = {k: v for k, v in loaded(drawing, 8, 5).items() if k != "wrench"}
    rigid = fp.calibrate(drawing, without, ["legs.*.slide.zero"], validate=False)
    with pytest.raises(fp.InputError, match="compliance was not calibrated"):
        rigid.commands(at, load)


def test_readings_alone_with_a_held_point(drawing: fp.Robot) -> None:
    """A ball at the platform's edge sits in a socket, somewhere: offsets follow from readings at many orientations."""
    real = drawing.with_parameters({"legs.A.slide.zero": 5.001, "legs.D.slide.zero": 4.998})
    random = random_states(real, 20, seed=9)
    point, socket = np.array([0.4, 0.2, 0.3]), drawing.home.position + np.array([0.3, 0.1, 0.35])
    at = fp.State(position=socket - random["rotation"] @ point, rotation=random["rotation"])
    data = {"actuator_position": fp.inverse_kinematics(real, at, joints=False).actuator_position.values, "fixed_point": point}
    found = fp.calibrate(drawing, data, ["legs.*.slide.zero"])
    assert found.values == pytest.approx([float(real.parameter(p)) for p in found.paths], abs=EXACT)
    with pytest.raises(fp.NotIdentifiableError, match="determined by the measurements") as caught:  # not the place of the base
        fp.calibrate(drawing, data, ["legs.*.slide.zero", "legs.*.hip.at"])
    assert caught.value.rank <= 24 - 6
