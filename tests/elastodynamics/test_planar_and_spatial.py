"""Beams in the plane and in space: the same frequencies, theories in their order, textbook values."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
import scipy.linalg
import scipy.optimize

import flexapod as fp
from flexapod.equations.elastodynamics.dynamics import elastic_mass_matrix

CATALOGUE = Path(fp.__file__).parent / "robots"
YOUNG, POISSON, DENSITY, LENGTH, HEIGHT, LOAD = 70e9, 0.33, 2700.0, 0.5, 0.02, 0.4
THEORIES = ("euler-bernoulli", "timoshenko")
SLENDER, THICK = 0.01, 0.05
"""Widths in the plane [m]: h/L = 0.02 and 0.1."""

ROUNDING = 1e-9
"""Eigenvalues of the same matrices bordered by the other plane's; the condition of the chains is up to 1e6 (found 4e-12)."""

FOUR_ELEMENTS = 1e-4
"""Error of four elements in the first mode, from above (found 2e-6; Timoshenko's 1e-5)."""
SOFTER = 1e-4
"""Of the first frequency: shear takes more, in the slender beam too."""
PRINTED = 1e-3
"""Frequencies [Hz] written with three decimals."""

BEAM = """
flexapod: 1
name: one-beam
title: a beam on a motor, a load at its tip
source: textbook
gravity: [0, 0, 0]
plane: xy
characteristic_length: 0.5
home: {position: [0.5, 0, 0]}
platform: {mass: MASS, inertia: {diagonal: [1e-9, 1e-9, 1e-9]}}
legs:
  each:
    A:
      joints:
        motor: {type: revolute, from: base, to: link, axis: [0, 0, 1], actuated: true}
        clamp: {type: fixed, from: link, to: platform, at: [0.5, 0, 0]}
      bodies:
        link: BEAM
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("planar-and-spatial")


def load(folder: Path, text: str, planar: bool) -> fp.Robot:
    file = folder / "robot.yaml"
    file.write_text(text if planar else text.replace("plane: xy\n", ""))
    return fp.load(file)


def link(theory: str, elements: int, width: float) -> str:
    return (
        f"{{flexible: {{type: beam, length: {LENGTH}, elements: {elements}, theory: {theory}, section: {{shape: rectangle, "
        f"width: {width}, height: {HEIGHT}}}, young: {YOUNG}, poisson: {POISSON}, density: {DENSITY}}}}}"
    )


@cache
def cantilever(folder: Path, planar: bool, theory: str, elements: int, width: float, mass: float = LOAD) -> np.ndarray:
    """Frequencies [Hz] with the motor locked, ascending: the robot's mass matrix at rest and the stiffness of its elements."""
    robot = load(folder, BEAM.replace("MASS", str(mass)).replace("BEAM", link(theory, elements, width)), planar)
    program = elastic_mass_matrix(robot)
    f = ca.Function("mass", [program.input_symbols, program.parameter_symbols], [program.results])
    given = {"joint_position": robot.legs[0].home, "position": robot.home.position, "rotation": robot.home.rotation}
    column = [np.ravel(given.get(i.name, np.zeros(i.shape))) for i in program.signature.inputs]
    found = np.array(f(np.concatenate(column), [robot.values[p.name] for p in program.signature.parameters]))[:, 0]
    n = len(robot.independent)
    own = [robot.independent.index(name) for name in robot.elastic_names]
    M = found[: n * n].reshape(n, n)[np.ix_(own, own)]
    K = scipy.linalg.block_diag(*[beam.body.K_ee for beam in robot.beams["A"]])
    return np.sqrt(scipy.linalg.eigh(K, M, eigvals_only=True)) / (2 * np.pi)


def within(flat: np.ndarray, space: np.ndarray) -> float:
    """Largest distance of a frequency of the plane from the nearest one of space, relative."""
    return float((np.abs(flat[:, None] - space[None, :]).min(axis=1) / flat).max())


@pytest.mark.parametrize("theory", THEORIES)
@pytest.mark.parametrize(("elements", "width"), [(1, SLENDER), (3, SLENDER), (3, THICK)])
def test_every_mode_of_the_plane_is_one_of_space(folder: Path, elements: int, width: float, theory: str) -> None:
    flat, space = (cantilever(folder, planar, theory, elements, width) for planar in (True, False))
    assert (len(flat), len(space)) == (3 * elements, 6 * elements)
    assert within(flat, space) < ROUNDING


@pytest.mark.parametrize("planar", [True, False])
@pytest.mark.parametrize("width", [SLENDER, THICK])
def test_euler_and_bernoulli_bound_timoshenko(folder: Path, width: float, planar: bool) -> None:
    """Shear makes softer, rotary inertia heavier: no mode of Timoshenko's beams lies above."""
    stiff, soft = (cantilever(folder, planar, theory, 3, width) for theory in THEORIES)
    assert (soft <= stiff * (1 + ROUNDING)).all()
    assert soft[0] < stiff[0] * (1 - SOFTER)


def tip_condition(omega: float, theory: str, width: float, mass: float) -> float:
    """V = m omega^2 v, M = 0 at the tip of a beam clamped at its root, by the exact transfer of (v, theta, V, M) along it."""
    A, I = HEIGHT * width, HEIGHT * width**3 / 12
    soft = 1 / (5 / 6 * YOUNG / (2 * (1 + POISSON)) * A) if theory == "timoshenko" else 0.0
    rotated = DENSITY * I * omega**2 if theory == "timoshenko" else 0.0
    system = np.array([[0, 1, soft, 0], [0, 0, 0, 1 / (YOUNG * I)], [-DENSITY * A * omega**2, 0, 0, 0], [0, -rotated, -1, 0]])
    end = scipy.linalg.expm(system * LENGTH)
    rows = np.array([end[2] - mass * omega**2 * end[0], end[3]])
    return float(np.linalg.det(rows[:, 2:]))


@pytest.mark.parametrize("width", [SLENDER, THICK])
@pytest.mark.parametrize("planar", [True, False])
def test_clamped_beam_with_a_load(folder: Path, planar: bool, width: float) -> None:
    """First root of the frequency equation of both theories; from above, as mass and stiffness are consistent.

    Source: S. P. Timoshenko, Vibration Problems in Engineering, 1937: v' = theta + V / kappa G A, theta' = M / EI,
    V' = -rho A omega^2 v, M' = -V - rho I omega^2 theta.
    """
    for theory in THEORIES:
        found = cantilever(folder, planar, theory, 4, width, LOAD)
        guess = 2 * np.pi * cantilever(folder, True, theory, 4, width, LOAD)[0]
        exact = scipy.optimize.brentq(tip_condition, 0.9 * guess, 1.1 * guess, args=(theory, width, LOAD), rtol=1e-13)
        error = 2 * np.pi * found / exact - 1.0
        assert -ROUNDING < error[np.abs(error).argmin()] < FOUR_ELEMENTS


@pytest.mark.full
@pytest.mark.parametrize("theory", THEORIES)
def test_planar_4_prr_with_flexible_links(folder: Path, theory: str) -> None:
    """The redundant, in space over-constrained robot by its verb: 102.462 and 468.002 Hz in both models (102.445, 467.976)."""
    text = re.sub(r"link: \{mass.*\n", f"link: {link(theory, 1, SLENDER)}\n", (CATALOGUE / "planar-4-prr.yaml").read_text())
    found = []
    for planar in (True, False):
        robot = load(folder, text, planar)
        home = fp.State(position=robot.home.position, rotation=robot.home.rotation)
        found.append(fp.natural_frequencies(robot, home, prestress=False).frequency.values)
    assert within(*found) < ROUNDING
    assert found[0][[0, 4]] == pytest.approx([102.462, 468.002] if theory == THEORIES[0] else [102.445, 467.976], abs=PRINTED)
