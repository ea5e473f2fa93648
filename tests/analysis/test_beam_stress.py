"""Stress in beams against formulas, from elastic coordinates that the element's own stiffness gives: no kernel is compiled."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import flexapod as fp

sys.path.insert(0, str(Path(__file__).parents[1] / "elastodynamics"))
from beam_alone import beam_alone
from element_chain import chain

FORMULA = 1e-9
"""Solutions of small systems with condition 1e6."""
SPATIAL = {"planar": False, "words": "stiffening: false, poisson: 0.3, "}


def tip_loaded(robot: fp.Robot, load: np.ndarray) -> np.ndarray:
    return np.linalg.solve(robot.beams["1"][0].body.K_ee, load)


def test_cantilever_in_space() -> None:
    """F/A, 6 F L / (b h^2) in both planes, torque, on a rectangle 10 x 20 mm."""
    robot = beam_alone(elements=1, **SPATIAL)
    e = tip_loaded(robot, np.array([100.0, 3.0, 5.0, 0.7, 0.0, 0.0]))
    found = fp.beam_stress(robot, e)
    assert found.axial_force.values[0] == pytest.approx([100.0, 100.0], rel=FORMULA)
    assert found.moment_z.values[0] == pytest.approx([3.0, 0.0], rel=FORMULA, abs=1e-9)
    assert found.moment_y.values[0] == pytest.approx([-5.0, 0.0], rel=FORMULA, abs=1e-9)
    assert found.torque.values[0] == pytest.approx([0.7, 0.7], rel=FORMULA)
    peak = 100.0 / 2e-4 + 6 * 3.0 / (0.02 * 0.01**2) + 6 * 5.0 / (0.01 * 0.02**2)
    assert found.attrs["peak"] == pytest.approx(peak, rel=FORMULA)
    assert (found.attrs["peak_element"], found.attrs["peak_end"]) == ("1.arm.beam1", "root")


def test_round_tube_adds_planes_as_vectors() -> None:
    robot = beam_alone(elements=1, section="{shape: tube, outer: 0.02, inner: 0.01}", **SPATIAL)
    found = fp.beam_stress(robot, tip_loaded(robot, np.array([0, 3.0, 4.0, 0, 0, 0])))
    inertia = np.pi * (0.02**4 - 0.01**4) / 64
    assert found.stress.values[0, 0] == pytest.approx(5.0 * 0.01 / inertia, rel=FORMULA)


def test_exact_elements_in_a_large_bend() -> None:
    """A pure moment that bends eight elements by 90 degrees: M everywhere, no axial force."""
    robot = beam_alone(elements=8, words="theory: exact, poisson: 0.3, ")
    EI = 70e9 * 0.02 * 0.01**3 / 12
    M = np.pi / 2 * EI
    e, _ = chain(robot.beams["1"][0], 8).static(np.zeros(3), M, loads=2)
    times = xr.Dataset({"elastic": (("time", "elastic_coordinate"), np.stack([0.5 * e, e]))}, {"time": [0.0, 2.0]})
    found = fp.beam_stress(robot, times)
    assert found.moment_z.values[1] == pytest.approx(np.full((8, 2), M), rel=1e-8)
    assert np.abs(found.axial_force.values[1]).max() < 1e-6 * M
    assert found.attrs["peak_time"] == 2.0
    assert found.attrs["peak"] == pytest.approx(6 * M / (0.02 * 0.01**2), rel=1e-6)


def test_bad_input() -> None:
    with pytest.raises(fp.FlexapodError, match="five-bar has no beams"):
        fp.beam_stress(fp.load("five-bar"), np.zeros(3))
    robot = beam_alone(elements=1, section="{shape: general, area: 1e-4, iy: 1e-9, iz: 1e-9}")
    with pytest.raises(fp.FlexapodError, match="outer fibres are not known"):
        fp.beam_stress(robot, np.zeros(3))
    with pytest.raises(fp.FlexapodError, match="has 4 elastic coordinates, beam-alone has 3"):
        fp.beam_stress(robot, np.zeros((2, 4)))
