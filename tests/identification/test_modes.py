"""Parameters from natural frequencies: DualEMPS against Table 3, recovered numbers, shapes, and peaks of a response."""

from __future__ import annotations

import numpy as np
import pytest

import flexapod as fp
from flexapod.identification.modes import modal_assurance, modes_of_response

TABLE_3 = (14.0, 25.0, 48.0, 93.0, 108.0)
"""Briot, Khalil 2014, Table 3 [Hz], measured to 1 Hz; the sixth needs more than one element per beam."""
YOUNG = ["legs.1.13.flexible.young", "legs.2.23.flexible.young"]
RECOVERED = 1e-3
"""Of moduli: frequencies that are exact, with a prior of 30 %."""
ROUNDING = 1e-15
"""Of ones: quotients of a few products."""
PEAK = 1e-3
"""Of a frequency: the other mode bends the response around a peak."""
DAMPING = 0.1
"""Of a ratio: the same, by the width of the peak."""


def test_table_3_of_dualemps() -> None:
    robot = fp.load("dualemps")
    names = [*YOUNG, "legs.1.14.inertial.M", "legs.1.17.inertial.ZZ"]
    found = fp.identify_modes(robot, TABLE_3, names)
    error = [np.abs(f - found.measured) for f in (found.before, found.after)]
    assert error[1].max() <= 1.0, "all within the resolution of the measurement"
    assert np.sum(error[1] ** 2) < np.sum(error[0] ** 2)
    resolution = dict(zip(names, found.resolution, strict=True))
    assert resolution["legs.1.14.inertial.M"] > 0.8, "the mass between the beams is determined"
    assert resolution["legs.1.17.inertial.ZZ"] < 0.1, "the inertia of the tip is not: it stays at the file's number"
    assert len(found.combinations) == 3
    assert "determined: " in found.table()
    assert found.robot.parameter(YOUNG[0]) == pytest.approx(found.estimate[0])


@pytest.mark.full
def test_changed_stiffness_is_recovered() -> None:
    robot = fp.load("dualemps")
    changed = robot.with_parameters({YOUNG[0]: 6.5e10, YOUNG[1]: 8.0e10})
    home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
    exact = fp.natural_frequencies(changed, home, prestress=False)
    found = fp.identify_modes(robot, exact.frequency.values[:5], YOUNG, sigma=0.01, spread=0.3)
    np.testing.assert_allclose(found.estimate, [6.5e10, 8.0e10], rtol=RECOVERED)
    names = [str(n) for n in exact.coordinate.values]
    shapes = exact["shape"].values.T[:5]
    paired = fp.identify_modes(
        robot, exact.frequency.values[:5], YOUNG, sigma=0.01, spread=0.3, shapes=shapes, shape_coordinates=names
    )
    np.testing.assert_allclose(paired.estimate, [6.5e10, 8.0e10], rtol=RECOVERED)
    assert paired.mac is not None
    assert np.all(np.diag(paired.mac) > 0.9)


def test_modal_assurance() -> None:
    shapes = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
    np.testing.assert_allclose(modal_assurance(shapes, -2.0 * shapes), np.eye(2), rtol=0, atol=ROUNDING)


def test_peaks_of_a_response() -> None:
    f = np.linspace(1.0, 60.0, 6000)
    w = 2 * np.pi * f
    modes = [(14.0, 0.01, 1.0), (35.0, 0.02, -2.0)]
    H = sum(a / ((2 * np.pi * f0) ** 2 - w**2 + 2j * z * 2 * np.pi * f0 * w) for f0, z, a in modes)
    frequencies, damping = modes_of_response(f, H, 2)
    np.testing.assert_allclose(frequencies, [14.0, 35.0], rtol=PEAK)
    np.testing.assert_allclose(damping, [0.01, 0.02], rtol=DAMPING)
    with pytest.raises(fp.InputError, match="2 peaks, 3 requested"):
        modes_of_response(f, H, 3)


def test_refusals() -> None:
    robot = fp.load("dualemps")
    with pytest.raises(fp.InputError, match="ascending order"):
        fp.identify_modes(robot, [25.0, 14.0], YOUNG)
    with pytest.raises(fp.InputError, match="must be one positive number"):
        fp.identify_modes(robot, [14.0], ["home.position"])
