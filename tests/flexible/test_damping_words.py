"""Damping and sections by the words of a robot file: ratios of modes, sections by integrals over their area, tapered beams."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import trapezoid

import flexapod as fp
from flexapod.flexible import FlexibleBodyError, Section, beam
from flexapod.robot.beams import cross_section

BAR = Section.rectangle(width=0.01, height=0.02)
RATIO = 1e-9
"""Modes of a six by six problem."""

FILE = """
flexapod: 1
name: one-beam
source: tests
gravity: [0, 0, 0]
plane: xy
home: {position: [0.5, 0, 0]}
platform: {body: "1.tip"}
legs:
  each:
    "1":
      table:
        - {body: hub, mu: 1, sigma: 0, inertial: {ZZ: 1e-3}}
        - {body: arm, sigma: 2, flexible: {type: beam, length: 0.5, young: 70e9, density: 2700, WORDS}}
        - {body: tip, sigma: 2, d: 0.5}
"""
RECTANGLE = "section: {shape: rectangle, width: 0.01, height: 0.02}"
ROUNDING = 1e-12
"""Of the largest entry: sums of a few products, or the same integral by Gauss points."""
FIRST = 1e-4
"""Of a ratio: the first frequency of two or four elements against eight; found 2e-6."""
ABOUT = 0.3
"""1/n^2 is the leading term of n elements; found 0.22 at four."""
FOUR = 1e-3
"""Of a ratio: four elements of a robot; found 3e-5."""
CELLS = 1e-9
"""Relative: sums over half a million cells whose edges are those of the walls."""
ORDER = 0.2
"""Allowed distance of a measured order from two."""


def load(folder: Path, words: str) -> fp.Robot:
    file = folder / "one-beam.yaml"
    file.write_text(FILE.replace("WORDS", words))
    return fp.load(file)


def ratios(body: fp.flexible.FlexibleBody) -> np.ndarray:
    omega, V = body._spectrum()
    return np.asarray(np.diag(V.T @ body.D_ee @ V) / (2 * omega))


def test_rayleigh_and_loss_factor() -> None:
    b = beam(length=0.5, section=BAR, material="steel")
    omega = b.angular_frequency
    assert ratios(b.with_rayleigh(mass=2.0, stiffness=1e-5)) == pytest.approx(1.0 / omega + 0.5e-5 * omega, rel=RATIO)
    assert ratios(b.with_loss_factor(0.02)) == pytest.approx(np.full(6, 0.01), rel=RATIO)
    with pytest.raises(FlexibleBodyError, match="rayleigh must not be negative"):
        b.with_rayleigh(mass=-1.0)


def test_words_of_the_file(tmp_path: Path) -> None:
    """Each word reaches the element; two laws at once are refused with the place."""
    plain = load(tmp_path, RECTANGLE).beams["1"][0].body
    found = load(tmp_path, f"rayleigh: {{mass: 3, stiffness: 1e-4}}, {RECTANGLE}").beams["1"][0].body
    assert np.abs(found.D_ee - 3 * plain.M_ee - 1e-4 * plain.K_ee).max() < ROUNDING * np.abs(found.D_ee).max()
    found = load(tmp_path, f"loss_factor: 0.04, {RECTANGLE}").beams["1"][0].body
    assert ratios(found) == pytest.approx(np.full(3, 0.02), rel=RATIO)
    found = load(tmp_path, f"elements: 2, loss_factor: 0.04, {RECTANGLE}").beams["1"][0].body
    whole = beam(length=0.5, section=BAR, young=70e9, density=2700, planar=True, elements=8)
    first = whole.with_rayleigh(stiffness=float(found.D_ee[0, 0] / found.K_ee[0, 0]))
    assert ratios(first)[0] == pytest.approx(0.02, rel=FIRST)
    with pytest.raises(fp.RobotFileError, match=r"loss_factor.*cannot be given together with damping"):
        load(tmp_path, f"damping: 0.01, loss_factor: 0.04, {RECTANGLE}")
    with pytest.raises(fp.RobotFileError, match=r"stiffening.*cannot be false with theory exact"):
        load(tmp_path, f"theory: exact, stiffening: false, poisson: 0.3, {RECTANGLE}")


def test_damping_of_several_elements_is_said_to_be_theirs(tmp_path: Path) -> None:
    """The beam's first mode has about 1/n^2 of the ratio; the word that is advised gives the whole of it."""
    with pytest.warns(
        fp.RobotFileWarning, match=r"damping: applies to the modes of each of 4 .* about 0.0013.*loss_factor: 0.04"
    ):
        four = load(tmp_path, f"elements: 4, damping: 0.02, {RECTANGLE}")
    still = fp.ActuatorMotion(time=[0.0], position=[[0.0]], velocity=[[0.0]], acceleration=[[0.0]])
    assert float(fp.natural_frequencies(four, still).damping[0, 0]) == pytest.approx(0.02 / 16, rel=ABOUT)
    advised = load(tmp_path, f"elements: 4, loss_factor: 0.04, {RECTANGLE}")
    assert float(fp.natural_frequencies(advised, still).damping[0, 0]) == pytest.approx(0.02, rel=FOUR)


def test_a_tube_without_a_bore_is_a_round_bar(tmp_path: Path) -> None:
    found = [load(tmp_path, f"section: {{shape: tube, outer: 0.02{inner}}}").beams["1"][0].body for inner in ("", ", inner: 0")]
    assert np.array_equal(found[0].K_ee, found[1].K_ee)


SIZES = {"width": 0.06, "height": 0.1}
SHAPES = {
    "box": (Section.box(**SIZES, wall=0.004), lambda y, z: (np.abs(y) > 0.026) | (np.abs(z) > 0.046)),
    "t": (Section.t(**SIZES, flange=0.008, web=0.006), lambda y, z: (z > 0.042) | (np.abs(y) < 0.003)),
    "l": (Section.l(**SIZES, wall=0.006), lambda y, z: (z < -0.044) | (y < -0.024)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_sections_by_their_area(shape: str) -> None:
    """Area and principal second moments by a grid of cells whose edges are those of the walls."""
    found, inside = SHAPES[shape]
    y, z = np.meshgrid((np.arange(600) + 0.5) * 1e-4 - 0.03, (np.arange(1000) + 0.5) * 1e-4 - 0.05)
    mask = inside(y, z)
    y, z, cell = y[mask], z[mask], 1e-8
    area = len(y) * cell
    y, z = y - y.mean(), z - z.mean()
    tensor = cell * np.array([[z @ z, y @ z], [y @ z, y @ y]]) + np.eye(2) * area * 1e-8 / 12
    assert found.area == pytest.approx(area, rel=CELLS)
    expected = np.linalg.eigvalsh(tensor)[::-1] if shape == "l" else np.diag(tensor)
    assert [found.iy, found.iz] == pytest.approx(expected, rel=CELLS, abs=0)


def test_torsion_of_a_thin_box_and_a_square_tube() -> None:
    """Bredt: a thin square box has J = t a^3."""
    assert Section.box(width=0.1, height=0.1, wall=0.001).torsion == pytest.approx(0.001 * 0.099**3, rel=ROUNDING, abs=0)


def test_tapered_beam(tmp_path: Path) -> None:
    """Elements have the sizes at their middles; the deflection of a wedge converges to the closed form with the square."""
    tip = "tip_section: {shape: rectangle, width: 0.004, height: 0.02}"
    spec = load(tmp_path, f"elements: 4, {RECTANGLE}, {tip}").legs[0].links[1].body.flexible
    assert cross_section(spec, 0.125).area == pytest.approx(0.02 * 0.00925)
    # width w(x) = a - b x: compliance of the tip = integral of (L - x)^2 / EI(x)
    x = np.linspace(0, 0.5, 20001)
    EI = 70e9 * 0.02 * (0.01 - 0.012 * x) ** 3 / 12
    exact = trapezoid((0.5 - x) ** 2 / EI, x)
    errors = []
    for n in (4, 8, 16):
        middle = [cross_section(spec, (k + 0.5) / n).iz * 70e9 for k in range(n)]
        edges = 0.5 * np.arange(n + 1) / n
        own = sum(((0.5 - a) ** 3 - (0.5 - b) ** 3) / 3 / bend for a, b, bend in zip(edges[:-1], edges[1:], middle, strict=True))
        errors.append(abs(own / exact - 1))
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=ORDER)
    with pytest.raises(fp.RobotFileError, match="must have the shape of section, rectangle, is tube"):
        load(tmp_path, f"{RECTANGLE}, tip_section: {{shape: tube, outer: 0.01}}")
    with pytest.raises(fp.RobotFileError, match="must give the same sizes as section"):
        load(tmp_path, f"{RECTANGLE}, tip_section: {{shape: rectangle, width: 0.01}}")


@pytest.mark.parametrize(("elements", "error"), [(1, 2e-4), (2, 3e-6), (4, 3e-8)])
def test_tapered_element_is_exact_in_statics(tmp_path: Path, elements: int, error: float) -> None:
    """Compliance and mass of a wedge from 10 to 5 mm; the errors are those of four Gauss points."""
    words = f"elements: {elements}, {RECTANGLE}, tip_section: {{shape: rectangle, width: 0.005, height: 0.02}}"
    beams, l = load(tmp_path, words).beams["1"], 0.5 / elements
    moved = rotated = 0.0
    for k, part in enumerate(beams):
        beyond = 0.5 - (k + 1) * l
        _, v, theta = np.linalg.solve(part.body.K_ee, [0.0, 1.0, beyond])
        moved, rotated = moved + v + theta * beyond, rotated + theta
    x = np.linspace(0, 0.5, 20001)
    exact = trapezoid((0.5 - x) ** 2 / (70e9 * 0.02 * (0.01 - 0.01 * x) ** 3 / 12), x)
    assert moved == pytest.approx(exact, rel=error)
    assert sum(part.body.mass for part in beams) == pytest.approx(2700 * 0.02 * 0.0075 * 0.5, rel=ROUNDING)


def test_tapered_beam_in_space_and_with_shear(tmp_path: Path) -> None:
    """A uniform beam written as tapered has the same matrices, in space, with shear and reduced to modes."""
    for words in ("theory: timoshenko, poisson: 0.3", "elements: 4, modes: 2, poisson: 0.3", "theory: exact, poisson: 0.3"):
        for plane in ("plane: xy", ""):
            (tmp_path / "plain.yaml").write_text(FILE.replace("plane: xy", plane).replace("WORDS", f"{words}, {RECTANGLE}"))
            tapered = f"{words}, {RECTANGLE}, tip_{RECTANGLE}"
            (tmp_path / "tapered.yaml").write_text(FILE.replace("plane: xy", plane).replace("WORDS", tapered))
            one, two = (fp.load(tmp_path / f"{name}.yaml").beams["1"][0] for name in ("plain", "tapered"))
            for name in ("K_ee", "M_ee", "I_rr", "MS_de"):
                a, b = np.asarray(getattr(one.body, name)), np.asarray(getattr(two.body, name))
                assert np.abs(a - b).max() <= ROUNDING * np.abs(a).max()
            assert one.foreshortening is not None
            assert two.foreshortening is not None
            for name in ("B", "first", "second"):
                a, b = getattr(one.foreshortening, name), getattr(two.foreshortening, name)
                assert np.abs(a - b).max() <= ROUNDING * np.abs(a).max()


def test_loss_factor_of_a_tapered_beam(tmp_path: Path) -> None:
    """Half the loss factor is the ratio at the first frequency of the wedge, not of its middle section."""
    tip = "tip_section: {shape: rectangle, width: 0.004, height: 0.02}"
    found = load(tmp_path, f"elements: 4, loss_factor: 0.04, {RECTANGLE}, {tip}").beams["1"][0].body
    rate = float(found.D_ee[0, 0] / found.K_ee[0, 0])
    whole = load(tmp_path, f"elements: 8, modes: 6, {RECTANGLE}, {tip}").beams["1"][0].body
    assert rate * whole.angular_frequency[0] / 2 == pytest.approx(0.02, rel=FIRST)


def test_mass_damping_of_several_elements_is_refused(tmp_path: Path) -> None:
    """It would damp each element's motion against its own root, so that finer beams had less of it."""
    with pytest.raises(fp.RobotFileError, match=r"rayleigh.mass: .*4 elements.*modes"):
        load(tmp_path, f"elements: 4, rayleigh: {{mass: 3, stiffness: 1e-4}}, {RECTANGLE}")
    load(tmp_path, f"elements: 4, rayleigh: {{stiffness: 1e-4}}, {RECTANGLE}")
    body = load(tmp_path, f"elements: 4, modes: 2, rayleigh: {{mass: 3}}, {RECTANGLE}").beams["1"][0].body
    assert np.abs(body.D_ee - 3 * body.M_ee).max() < ROUNDING * np.abs(body.D_ee).max()
