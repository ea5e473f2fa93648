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
AT_THE_TIP = 1e-9
"""Moment [N m] where it vanishes, of 3 and 5 N m at the root."""
STRESS_AT_THE_TIP = 1e-3
"""The same as stress [Pa], of 6e6 Pa."""
HALF_A_CELL = 2e-3
"""Farthest fibre by the centres of cells of 0.1 mm, some 30 to 60 mm away."""
LARGE_BEND = 1e-10
"""Of the moment and its stress: Newton's method ends at rounding; found 8e-16."""
AXIAL = 1e-8
"""Axial force [N] that vanishes, of the moment [N m]: EA is 1e5 times EI / m^2, and so is the rounding of lengths."""
SPATIAL = {"planar": False, "words": "stiffening: false, poisson: 0.3, "}


def tip_loaded(robot: fp.Robot, load: np.ndarray) -> np.ndarray:
    return np.linalg.solve(robot.beams["1"][0].body.K_ee, load)


def test_cantilever_in_space() -> None:
    """F/A, 6 F L / (b h^2) in both planes, torque, on a rectangle 10 x 20 mm."""
    robot = beam_alone(elements=1, **SPATIAL)
    e = tip_loaded(robot, np.array([100.0, 3.0, 5.0, 0.7, 0.0, 0.0]))
    found = fp.beam_stress(robot, e)
    assert found.axial_force.values[0] == pytest.approx([100.0, 100.0], rel=FORMULA)
    assert found.moment_z.values[0] == pytest.approx([3.0, 0.0], rel=FORMULA, abs=AT_THE_TIP)
    assert found.moment_y.values[0] == pytest.approx([-5.0, 0.0], rel=FORMULA, abs=AT_THE_TIP)
    assert found.torque.values[0] == pytest.approx([0.7, 0.7], rel=FORMULA)
    peak = 100.0 / 2e-4 + 6 * 3.0 / (0.02 * 0.01**2) + 6 * 5.0 / (0.01 * 0.02**2)
    assert found.attrs["peak"] == pytest.approx(peak, rel=FORMULA)
    assert (found.attrs["peak_element"], found.attrs["peak_end"]) == ("1.arm.beam1", "root")


def test_round_tube_adds_planes_as_vectors() -> None:
    robot = beam_alone(elements=1, section="{shape: tube, outer: 0.02, inner: 0.01}", **SPATIAL)
    found = fp.beam_stress(robot, tip_loaded(robot, np.array([0, 3.0, 4.0, 0, 0, 0])))
    inertia = np.pi * (0.02**4 - 0.01**4) / 64
    assert found.stress.values[0, 0] == pytest.approx(5.0 * 0.01 / inertia, rel=FORMULA)


def test_t_section_pulls_and_pushes_by_its_own_fibres() -> None:
    """A T 60 x 100 mm under axial force and bending in both planes: flange above, web below the centroid."""
    robot = beam_alone(elements=1, section="{shape: t, width: 0.06, height: 0.1, flange: 0.008, web: 0.006}", **SPATIAL)
    section, (P, Fy, Fz) = fp.flexible.Section.t(width=0.06, height=0.1, flange=0.008, web=0.006), (5000.0, 3.0, 200.0)
    found = fp.beam_stress(robot, tip_loaded(robot, np.array([P, Fy, Fz, 0.0, 0.0, 0.0])))
    z0 = (0.06 * 0.008 * 0.096 + 0.006 * 0.092 * 0.046) / section.area  # centroid above the web's end
    fibres = [P / section.area - Fy * y / section.iz - Fz * (z - z0) / section.iy for y, z in
              ((0.03, 0.1), (-0.03, 0.1), (0.003, 0.0), (-0.003, 0.0))]  # fmt: skip
    assert found.stress.values[0, 0] == pytest.approx(np.abs(fibres).max(), rel=FORMULA)
    assert found.bending_stress.values[0, 0] == pytest.approx(np.abs(np.array(fibres) - P / section.area).max(), rel=FORMULA)


def test_a_section_by_numbers_with_its_fibres() -> None:
    """The numbers of a rectangle 10 x 20 mm have its stress; without fibres there is none (see `test_bad_input`)."""
    numbers = "{shape: general, area: 2e-4, iy: 6.666666666666667e-9, iz: 1.6666666666666667e-9, torsion: 4.57e-9"
    robot = beam_alone(elements=1, section=f"{numbers}, fibre_y: 5 mm, fibre_z: 10 mm}}", **SPATIAL)
    found = fp.beam_stress(robot, tip_loaded(robot, np.array([100.0, 3.0, 5.0, 0.0, 0.0, 0.0])))
    peak = 100.0 / 2e-4 + 6 * 3.0 / (0.02 * 0.01**2) + 6 * 5.0 / (0.01 * 0.02**2)
    assert found.attrs["peak"] == pytest.approx(peak, rel=FORMULA)


@pytest.mark.parametrize(("force", "axis", "moment"), [((3.0, 0.0), 0, "iz"), ((0.0, 3.0), 1, "iy")])
def test_l_section_about_its_principal_axes(force: tuple[float, float], axis: int, moment: str) -> None:
    """The farthest fibre of an L 60 x 100 mm along each principal axis of its cells."""
    robot = beam_alone(elements=1, section="{shape: l, width: 0.06, height: 0.1, wall: 0.006}", **SPATIAL)
    y, z = np.meshgrid((np.arange(600) + 0.5) * 1e-4, (np.arange(1000) + 0.5) * 1e-4)
    cells = np.stack([y, z])[:, (y < 0.006) | (z < 0.006)]
    cells -= cells.mean(axis=1, keepdims=True)
    far = np.abs(np.linalg.eigh(cells @ cells.T)[1].T @ cells).max(axis=1)[axis]
    found = fp.beam_stress(robot, tip_loaded(robot, np.array([0.0, *force, 0.0, 0.0, 0.0])))
    I = getattr(fp.flexible.Section.l(width=0.06, height=0.1, wall=0.006), moment)
    assert found.stress.values[0, 0] == pytest.approx(3.0 * far / I, rel=HALF_A_CELL)


def test_tapered_beam_has_the_stress_of_its_own_sections() -> None:
    """At the ends of the elements, not at their middles: 6 F (L - x) / (h w(x)^2)."""
    robot = beam_alone(elements=4, words="stiffening: false, tip_section: {shape: rectangle, width: 0.005, height: 0.02}, ")
    e = chain_of(robot, 2.0)
    found = fp.beam_stress(robot, e)
    x = np.arange(5) / 4
    exact = 6 * 2.0 * (1 - x) / (0.02 * (0.01 - 0.005 * x) ** 2)
    assert found.stress.values[:, 0] == pytest.approx(exact[:-1], rel=FORMULA)
    assert found.stress.values[:, 1] == pytest.approx(exact[1:], rel=FORMULA, abs=STRESS_AT_THE_TIP)


def chain_of(robot: fp.Robot, force: float) -> np.ndarray:
    """Elastic coordinates under a small force across the tip: each element with the force and the moment beyond it."""
    loads = [np.array([0.0, force, force * (1.0 - (k + 1) / 4)]) for k in range(4)]
    return np.concatenate([np.linalg.solve(beam.body.K_ee, load) for beam, load in zip(robot.beams["1"], loads, strict=True)])


def test_exact_elements_in_a_large_bend() -> None:
    """A pure moment that bends eight elements by 90 degrees: M everywhere, no axial force."""
    robot = beam_alone(elements=8, words="theory: exact, poisson: 0.3, ")
    EI = 70e9 * 0.02 * 0.01**3 / 12
    M = np.pi / 2 * EI
    e, _ = chain(robot.beams["1"][0], 8).static(np.zeros(3), M, loads=2)
    times = xr.Dataset({"elastic": (("time", "elastic_coordinate"), np.stack([0.5 * e, e]))}, {"time": [0.0, 2.0]})
    found = fp.beam_stress(robot, times)
    assert found.moment_z.values[1] == pytest.approx(np.full((8, 2), M), rel=LARGE_BEND)
    assert np.abs(found.axial_force.values[1]).max() < AXIAL * M
    assert found.attrs["peak_time"] == 2.0
    assert found.attrs["peak"] == pytest.approx(6 * M / (0.02 * 0.01**2), rel=LARGE_BEND)


def test_bad_input() -> None:
    with pytest.raises(fp.FlexapodError, match="five-bar has no beams"):
        fp.beam_stress(fp.load("five-bar"), np.zeros(3))
    robot = beam_alone(elements=1, section="{shape: general, area: 1e-4, iy: 1e-9, iz: 1e-9}")
    with pytest.raises(fp.FlexapodError, match="outer fibres are not known"):
        fp.beam_stress(robot, np.zeros(3))
    with pytest.raises(fp.FlexapodError, match="has 4 elastic coordinates, beam-alone has 3"):
        fp.beam_stress(robot, np.zeros((2, 4)))
