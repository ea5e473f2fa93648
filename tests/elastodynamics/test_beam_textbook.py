"""Beams against textbooks: statics exact with any number of elements, frequencies of thick beams, words of robot files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from beam_robots import DATA
from mass_points import MassPoints, beam_element, rectangle_torsion

import flexapod as fp
from flexapod.flexible import MATERIALS, FlexibleBody, Section, beam, material
from flexapod.robot.beams import ElasticElement

STEEL, LENGTH = material("steel"), 0.8
BAR = Section.rectangle(width=0.02, height=0.03)
THICK = Section.rectangle(width=0.2, height=0.1)
STATIC = 1e-9
"""Closed forms; the stiffness of a chain of elements has condition 1e6."""

ROUNDING = 1e-12
"""Polynomials by two quadratures, of the geometric mean of the diagonal entries."""
NOTHING = 1e-20
"""Deflections [m, rad] that a load does not make."""
TRUNCATED = 1e-12
"""Relative: what the series leave out; found 7e-14."""
PARTS = 0.1
"""Relative: the corners where flanges and web meet carry torque too; found 8 %."""

SECOND, FOURTH, FINEST = 0.02, 0.2, 7e-4
"""Deviation from the rates 2 and 4 with 16 to 64 and 8 to 16 elements (found 0.01 and 0.12); error of 64 elements, third mode."""


def tip(body: FlexibleBody, load: np.ndarray) -> np.ndarray:
    """Displacement and rotation (6,) of the tip under generalized forces at the elastic coordinates."""
    end, q = body.interfaces["tip"], np.linalg.solve(body.K_ee, load)
    assert end.Phi_r is not None
    return np.concatenate([end.Phi_d @ q, end.Phi_r @ q])


@pytest.mark.parametrize("elements", [1, 3])
@pytest.mark.parametrize("section", [BAR, Section.tube(outer=0.05, inner=0.04)])
def test_pull_and_twist(section: Section, elements: int) -> None:
    """F L / EA along the beam, T L / GJ about it, and nothing else."""
    b = beam(length=LENGTH, section=section, material="steel", elements=elements)
    end = b.interfaces["tip"]
    assert end.Phi_r is not None
    assert section.torsion is not None
    pull, twist = tip(b, 100.0 * end.Phi_d[0]), tip(b, 5.0 * end.Phi_r[0])
    assert pull == pytest.approx([100.0 * LENGTH / (STEEL.young * section.area), 0, 0, 0, 0, 0], rel=STATIC, abs=NOTHING)
    assert twist == pytest.approx(
        [0, 0, 0, 5.0 * LENGTH / (STEEL.shear_modulus() * section.torsion), 0, 0], rel=STATIC, abs=NOTHING
    )


@pytest.mark.parametrize("elements", [1, 2, 5])
@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
def test_own_weight(theory: str, elements: int) -> None:
    """Weight by the consistent moments MS_de (Briot 2014, Eq. 68): q L^4 / 8EI + q L^2 / 2 kappa G A, q L^3 / 6EI."""
    b = beam(length=LENGTH, section=THICK, material="steel", theory=theory, elements=elements)
    q = 9.81 * STEEL.density * THICK.area
    for axis, rotation, bend, sign in ((1, 5, THICK.iz, 1.0), (2, 4, THICK.iy, -1.0)):
        found = tip(b, 9.81 * b.MS_de[axis])
        shear = LENGTH**2 / (2 * 5 / 6 * STEEL.shear_modulus() * THICK.area) if theory == "timoshenko" else 0.0
        assert found[axis] == pytest.approx(q * (LENGTH**4 / (8 * STEEL.young * bend) + shear), rel=STATIC)
        assert found[rotation] == pytest.approx(sign * q * LENGTH**3 / (6 * STEEL.young * bend), rel=STATIC)
    along = tip(b, 9.81 * b.MS_de[0])
    assert along[0] == pytest.approx(q * LENGTH**2 / (2 * STEEL.young * THICK.area), rel=STATIC)


def test_end_moment_with_shear() -> None:
    """M L^2 / 2EI and M L / EI: a moment makes no shear, so that both theories agree."""
    for theory in ("euler-bernoulli", "timoshenko"):
        b = beam(length=LENGTH, section=THICK, material="steel", theory=theory, elements=2, planar=True)
        end = b.interfaces["tip"]
        assert end.Phi_r is not None
        found = tip(b, 7.0 * end.Phi_r[2])
        assert found[1] == pytest.approx(7.0 * LENGTH**2 / (2 * STEEL.young * THICK.iz), rel=STATIC)
        assert found[5] == pytest.approx(7.0 * LENGTH / (STEEL.young * THICK.iz), rel=STATIC)


# -- frequencies of thick beams: Timoshenko's equations solved along the beam -----------------------------------------
def transfer(section: Section, omega: float) -> np.ndarray:
    """(v, theta, V, M) at the end by that at the root: v' = theta + V / kappa G A, theta' = M / EI, V' = -rho A omega^2 v,
    M' = -V - rho I omega^2 theta."""
    EI, GA = STEEL.young * section.iz, 5 / 6 * STEEL.shear_modulus() * section.area
    A, inertia = STEEL.density * section.area * omega**2, STEEL.density * section.iz * omega**2
    system = np.array([[0, 1, 1 / GA, 0], [0, 0, 0, 1 / EI], [-A, 0, 0, 0], [0, -inertia, -1, 0]])
    units = np.array([LENGTH, 1.0, EI / LENGTH**2, EI / LENGTH])
    return np.asarray(scipy.linalg.expm(system * LENGTH * units / units[:, None]))


END = {"clamped": (slice(2, 4), slice(2, 4)), "free": (slice(2, 4), slice(0, 2))}
"""V = M = 0 at the end; what is unknown at the root: V, M where it is clamped, v, theta where it is free."""


def unit(section: Section) -> float:
    return float(np.sqrt(STEEL.young * section.iz / (STEEL.density * section.area)) / LENGTH**2)


def exact_frequencies(section: Section, boundary: str, count: int) -> np.ndarray:
    """The lowest roots of Timoshenko's frequency equation, bracketed on a grid much finer than their distance."""

    def condition(omega: float) -> float:
        return float(np.linalg.det(transfer(section, omega)[END[boundary]]))

    grid = unit(section) * np.arange(1.0, 150.0, 0.5)
    values = [condition(w) for w in grid]
    found = [
        scipy.optimize.brentq(condition, grid[k], grid[k + 1], rtol=1e-14)
        for k in range(len(grid) - 1)
        if values[k] * values[k + 1] < 0
    ]
    assert len(found) >= count
    return np.array(found[:count])


def bending_frequencies(section: Section, boundary: str, elements: int, count: int) -> np.ndarray:
    """Of the element, without the modes in which the tip moves along the beam."""
    b = beam(
        length=LENGTH, section=section, material="steel", planar=True, elements=elements, boundary=boundary,
        theory="timoshenko", modes=2 * count,
    )  # fmt: skip
    along, across = np.abs(b.interfaces["tip"].Phi_d[:2])
    return b.angular_frequency[along < 1e-6 * across][:count]


SLENDER_ROOT = {"clamped": 1.8751, "free": 4.73004}


@pytest.mark.parametrize("boundary", END)
def test_thick_beam(boundary: str) -> None:
    """Four times as long as thick: from above to the roots of Timoshenko's frequency equation.

    Elements shorter than thick turn their sections linearly along x: the error falls with the square of their length.
    """
    exact = exact_frequencies(THICK, boundary, 3)
    assert exact[0] < 0.99 * SLENDER_ROOT[boundary] ** 2 * unit(THICK)
    errors = np.array([bending_frequencies(THICK, boundary, n, 3) / exact - 1 for n in (16, 32, 64)])
    assert (errors > 0).all()
    assert errors[-1].max() < FINEST
    assert np.allclose(np.log2(errors[1] / errors[2]), 2.0, rtol=0, atol=SECOND)


@pytest.mark.parametrize("boundary", END)
def test_slender_beam_with_shear(boundary: str) -> None:
    """Elements much longer than thick do not lock: they converge like the cubic ones, with the fourth power."""
    section = Section.rectangle(width=0.001, height=0.02)
    exact = exact_frequencies(section, boundary, 2)
    errors = np.array([bending_frequencies(section, boundary, n, 2) / exact - 1 for n in (4, 8, 16)])
    assert (errors > 0).all()
    assert np.allclose(np.log2(errors[1] / errors[2]), 4.0, rtol=0, atol=FOURTH)


# -- words of robot files ----------------------------------------------------------------------------------------------
SECTIONS = {
    "rectangle": "{shape: rectangle, width: 0.01, height: 0.025}",
    "tube": "{shape: tube, outer: 0.03, inner: 0.02}",
    "i": "{shape: i, width: 0.03, height: 0.04, flange: 0.004, web: 0.003}",
    "general": "{shape: general, area: 3e-4, iy: 2e-8, iz: 1e-8, torsion: 1.5e-8}",
}


def elements_of(folder: Path, name: str, words: str, old: str) -> tuple[fp.Robot, ElasticElement]:
    text = (DATA / f"{name}.yaml").read_text()
    assert old in text
    file = folder / f"{name}.yaml"
    file.write_text(text.replace(old, words))
    robot = fp.load(file)
    return robot, robot.beams[robot.legs[0].name][0]


@pytest.mark.parametrize("theory", ["euler-bernoulli", "timoshenko"])
@pytest.mark.parametrize("shape", SECTIONS)
@pytest.mark.parametrize("planar", [True, False])
def test_element_of_a_robot_file(tmp_path: Path, planar: bool, shape: str, theory: str) -> None:
    """Mass matrix of the deformed element, stiffness and damping as by quadrature of the tests' own shapes: all moments."""
    name, old = (
        ("planar-3-rrr", "section: {shape: rectangle, width: 0.006, height: 0.02}, young: 70 GPa")
        if planar
        else ("tripteron-flexible", "section: {shape: tube, outer: 0.03, inner: 0.024}, young: 70 GPa, poisson: 0.33")
    )
    words = f"elements: 2, theory: {theory}, damping: 0.03, section: {SECTIONS[shape]}, young: 70 GPa, poisson: 0.33"
    robot, element = elements_of(tmp_path, name, words, old)
    spec = next(k.body.flexible for k in robot.legs[0].links if k.body is not None and k.body.flexible is not None)
    own, found = beam_element(spec, planar), element.body
    size = np.sqrt(np.outer(np.diag(own.K), np.diag(own.K)))
    assert np.abs(found.K_ee - own.K).max() < ROUNDING * own.K.max()
    assert (np.abs(found.K_ee - own.K) / size).max() < ROUNDING
    assert np.abs(found.D_ee - own.D).max() < ROUNDING * own.D.max()
    q = np.random.default_rng(1).uniform(-0.02, 0.02, len(own.K))
    M = deformed_mass(own, q)
    scale = np.sqrt(np.outer(np.diag(M), np.diag(M)))
    wanted = np.diag(M) > 1e-12 * np.diag(M).max()
    pairs = np.ix_(wanted, wanted)
    assert (np.abs(found.mass_matrix(q) - M)[pairs] / scale[pairs]).max() < ROUNDING


def test_short_elements_with_shear_are_refused(tmp_path: Path) -> None:
    """A beam of 0.25 m, 0.02 m thick: 12 elements are longer than thick, 13 are not; without shear any number is right."""
    old = "section: {shape: rectangle, width: 0.006, height: 0.02}, young: 70 GPa"

    def beam_of(elements: int, theory: str) -> None:
        square = "section: {shape: rectangle, width: 0.02, height: 0.02}, young: 70 GPa, poisson: 0.33"
        words = f"elements: {elements}, theory: {theory}, {square}"
        elements_of(tmp_path, "planar-3-rrr", words, old)

    beam_of(12, "timoshenko")
    beam_of(13, "euler-bernoulli")
    with pytest.raises(fp.FlexapodError, match=r"elements of 0\.01923 m are shorter than the beam is thick .* `elements: 12`"):
        beam_of(13, "timoshenko")


def deformed_mass(points: MassPoints, q: np.ndarray) -> np.ndarray:
    """Sum of m J^T J with J = (1, -hat(r), Phi) at r = r0 + Phi q."""
    r = points.r0 + points.Phi @ q
    arms = np.array([[[0, z, -y], [-z, 0, x], [y, -x, 0]] for x, y, z in r])
    J = np.concatenate([np.tile(np.eye(3), (len(r), 1, 1)), arms, points.Phi], axis=2)
    return np.einsum("p,pxi,pxj->ij", points.mass, J, J)


# -- sections and materials ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("ratio", [1.0, 1.3, 2.0, 5.0, 12.5])
def test_torsion_of_rectangles_by_the_other_series(ratio: float) -> None:
    """Saint-Venant's series across the long and across the short side are different sums with the same value."""
    found = Section.rectangle(width=ratio, height=1.0).torsion
    assert found == pytest.approx(rectangle_torsion(ratio, 1.0), rel=TRUNCATED)


def test_i_section_by_parts() -> None:
    """Rectangles by Steiner's theorem; torsion near the sum of its parts; shear by the web's share."""
    b, h, f, t = 0.08, 0.12, 0.008, 0.006
    s = Section.i(width=b, height=h, flange=f, web=t)
    flange, web = Section.rectangle(width=b, height=f), Section.rectangle(width=t, height=h - 2 * f)
    assert s.area == pytest.approx(2 * flange.area + web.area, rel=ROUNDING)
    assert s.iy == pytest.approx(2 * (flange.iy + flange.area * ((h - f) / 2) ** 2) + web.iy, rel=ROUNDING)
    assert s.iz == pytest.approx(2 * flange.iz + web.iz, rel=ROUNDING)
    assert flange.torsion is not None
    assert web.torsion is not None
    assert s.torsion == pytest.approx(2 * flange.torsion + web.torsion, rel=PARTS)
    assert s.shear_z == pytest.approx(web.area / s.area, rel=ROUNDING)


HANDBOOK = {
    "steel": (210e9, 0.3, 7850.0, "EN 1993"),
    "aluminium-2024-t3": (73.1e9, 0.33, 2780.0, "ASM"),
    "aluminium-6061-t6": (68.9e9, 0.33, 2700.0, "ASM"),
    "aluminium-7075-t6": (71.7e9, 0.33, 2810.0, "ASM"),
    "titanium-6al-4v": (113.8e9, 0.342, 4430.0, "ASM"),
    "cfrp-unidirectional": (181e9, 0.28, 1600.0, "Tsai"),
}
"""E [Pa], nu, density [kg/m^3] as the named sources print them."""


def test_materials_and_their_sources() -> None:
    assert set(HANDBOOK) == set(MATERIALS)
    for name, (young, poisson, density, source) in HANDBOOK.items():
        m = material(name)
        assert (m.young, m.poisson, m.density) == (young, poisson, density)
        assert source in m.source
