"""Sections against textbook values and direct integration; materials against each other and their checks."""

import numpy as np
import pytest

from flexapod.flexible import MATERIALS, FlexibleBodyError, Material, Section, beam, material

ROUNDING = 1e-12
"""Relative: a few products."""
TABLE = 6e-4
"""Of a b^3: the book's coefficients have three or four digits."""
THIN = 1e-4
"""Relative: a strip of 1e-4 of its width, whose ends cost 0.63 of that."""
GRID = 1e-3
"""Relative: cells across the circles' edges, a million cells."""
CELLS = 2e-3
"""Relative: the middles of a million cells; found 1e-6."""
PRINTED = 5e-4
"""Cowper's coefficients have three digits."""
ROUNDED = 5e-3
"""Of 81 GPa, two digits."""


def moments(y: np.ndarray, z: np.ndarray, inside: np.ndarray) -> tuple[float, float, float]:
    """Area, iy, iz by the midpoint rule on a grid of cells."""
    cell = (y[1] - y[0]) * (z[1] - z[0])
    Y, Z = np.meshgrid(y, z, indexing="ij")
    return float(inside.sum() * cell), float((Z**2 * inside).sum() * cell), float((Y**2 * inside).sum() * cell)


def grid(width: float, height: float, n: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    step = (np.arange(n) + 0.5) / n - 0.5
    return width * step, height * step


def test_rectangle() -> None:
    s = Section.rectangle(width=0.004, height=0.05)
    assert s.area == pytest.approx(2e-4, rel=ROUNDING)
    assert s.iz == pytest.approx(0.05 * 0.004**3 / 12.0, rel=ROUNDING, abs=0)
    assert s.iy == pytest.approx(0.004 * 0.05**3 / 12.0, rel=ROUNDING, abs=0)


def test_torsion_of_rectangles() -> None:
    """Timoshenko, Goodier, Theory of Elasticity: J / a b^3 = 0.1406 (square), 0.229 (2:1), 0.312 (10:1), 1/3 (thin)."""
    for ratio, value in ((1.0, 0.1406), (2.0, 0.229), (10.0, 0.312)):
        assert Section.rectangle(width=ratio, height=1.0).torsion == pytest.approx(value * ratio, abs=TABLE * ratio)
    assert Section.rectangle(width=1.0, height=THIN).torsion == pytest.approx(1e-12 / 3.0, rel=THIN, abs=0)
    assert Section.rectangle(width=2.0, height=1.0).torsion == Section.rectangle(width=1.0, height=2.0).torsion


def test_tube_and_i_by_integration() -> None:
    y, z = grid(0.1, 0.1)
    r2 = y[:, None] ** 2 + z[None, :] ** 2
    tube = Section.tube(outer=0.1, inner=0.06)
    assert np.allclose((tube.area, tube.iy, tube.iz), moments(y, z, (r2 < 0.05**2) & (r2 > 0.03**2)), rtol=GRID, atol=0)
    assert tube.torsion == pytest.approx(tube.iy + tube.iz, rel=ROUNDING, abs=0)
    y, z = grid(0.08, 0.12)
    profile = Section.i(width=0.08, height=0.12, flange=0.012, web=0.008)
    inside = (np.abs(z)[None, :] > 0.048) | (np.abs(y)[:, None] < 0.004)
    assert np.allclose((profile.area, profile.iy, profile.iz), moments(y, z, inside), rtol=CELLS, atol=0)


def test_shear_coefficients_of_tubes() -> None:
    """Cowper 1966 at nu = 0.3: 0.886 for a bar, 0.531 for a thin tube."""
    assert Section.tube(outer=0.1).shear_y == pytest.approx(0.886, abs=PRINTED)
    assert Section.tube(outer=0.1, inner=0.0999).shear_y == pytest.approx(0.531, abs=PRINTED)


@pytest.mark.parametrize(
    ("shape", "sizes", "text"),
    [
        ("rectangle", {"width": 0.0, "height": 1.0}, "width must be a positive number of metres"),
        ("tube", {"outer": 0.1, "inner": 0.1}, "inner must be from 0 to less than outer"),
        ("i", {"width": 0.1, "height": 0.1, "flange": 0.05, "web": 0.01}, "flange less than half of height"),
        ("general", {"area": 1.0, "iy": -1.0, "iz": 1.0}, "iy must be a positive number of m\\^4"),
    ],
)
def test_wrong_sections(shape: str, sizes: dict[str, float], text: str) -> None:
    with pytest.raises(FlexibleBodyError, match=text):
        getattr(Section, shape)(**sizes)


def test_whole_numbers_make_a_section() -> None:
    """Sizes may be integers, in Python as in a file."""
    one, other = (
        beam(length=2, section=Section.general(area=unit, iy=unit, iz=unit, torsion=unit), material="steel").K_ee
        for unit in (1, 1.0)
    )
    assert np.array_equal(one, other)


def test_materials() -> None:
    """Speed of sound in bars [m/s], a property of the pair E, rho: about 5.1 km/s for the metals, above 10 for carbon fibre."""
    for name, m in MATERIALS.items():
        speed = np.sqrt(m.young / m.density)
        assert m.source
        assert m.name == name
        assert (10000.0 < speed < 11000.0) if "cfrp" in name else (4900.0 < speed < 5300.0)
    assert material("steel").shear_modulus() == pytest.approx(81e9, rel=ROUNDED)
    assert material("cfrp-unidirectional").shear_modulus() == 7.17e9


def test_wrong_materials() -> None:
    with pytest.raises(FlexibleBodyError, match=r"No material is called 'alu'; did you mean 'aluminium-7075-t6'\? There are "):
        material("alu")
    with pytest.raises(FlexibleBodyError, match=r"No material is called 'stel'; did you mean 'steel'\? There are "):
        material("stel")
    with pytest.raises(FlexibleBodyError, match=r"poisson must be above -1 and below 0\.5"):
        Material(name="rubber", young=1e6, density=1000.0, poisson=0.5)
    with pytest.raises(FlexibleBodyError, match="Torsion and shear need poisson"):
        Material(name="given", young=1e9, density=1000.0).shear_modulus()
