"""Materials by name, each with the source of its numbers."""

from __future__ import annotations

from dataclasses import dataclass

from flexapod.calls import check_text, checked
from flexapod.errors import did_you_mean
from flexapod.flexible.checked_arrays import positive
from flexapod.flexible.errors import FlexibleBodyError


@dataclass(frozen=True, kw_only=True)
class Material:
    """An elastic material: Young's modulus [Pa], Poisson's ratio, density [kg/m^3]; `shear` [Pa] if not E / 2(1 + nu).

    Args:
        name: of the material.
        young: [Pa]; density: [kg/m^3]; poisson: its ratio.
        shear: [Pa]; from the other two if left out.
        source: where the numbers come from.

    Checked by: tests/flexible/test_section_and_material.py.
    """

    name: str
    young: float
    density: float
    poisson: float | None = None
    shear: float | None = None
    source: str = ""

    def __post_init__(self) -> None:
        positive("young", self.young, "pascals")
        positive("density", self.density, "kg/m^3")
        if self.poisson is not None and not -1.0 < self.poisson < 0.5:
            raise FlexibleBodyError(f"poisson must be above -1 and below 0.5, is {self.poisson!r}; metals have about 0.3.")
        if self.shear is not None:
            positive("shear", self.shear, "pascals")

    def shear_modulus(self) -> float:
        """G = E / 2(1 + nu), or `shear` where it is given [Pa]."""
        if self.shear is not None:
            return self.shear
        if self.poisson is None:
            raise FlexibleBodyError("Torsion and shear need poisson (or shear) of the material.")
        return self.young / (2.0 * (1.0 + self.poisson))


_EUROCODE = "EN 1993-1-1, 3.2.6 (E, nu); EN 1991-1-1, table A.4 (density)"
_ASM = "ASM Aerospace Specification Metals data sheet, typical values"
_TSAI = "S. W. Tsai, H. T. Hahn, Introduction to Composite Materials, 1980: T300/5208, E and nu along the fibres, G12"

MATERIALS = {
    m.name: m
    for m in (
        Material(name="steel", young=210e9, poisson=0.3, density=7850.0, source=_EUROCODE),
        Material(name="aluminium-2024-t3", young=73.1e9, poisson=0.33, density=2780.0, source=_ASM),
        Material(name="aluminium-6061-t6", young=68.9e9, poisson=0.33, density=2700.0, source=_ASM),
        Material(name="aluminium-7075-t6", young=71.7e9, poisson=0.33, density=2810.0, source=_ASM),
        Material(name="titanium-6al-4v", young=113.8e9, poisson=0.342, density=4430.0, source=_ASM + " (annealed)"),
        Material(name="cfrp-unidirectional", young=181e9, poisson=0.28, shear=7.17e9, density=1600.0, source=_TSAI),
    )
}
"""The materials that have names. cfrp is for beams along its fibres; it is not isotropic."""


@checked(name=check_text)
def material(name: str) -> Material:
    """A material by its name.

    Args:
        name: a key of `MATERIALS`, e.g. ``steel``.
    Returns:
        `Material`, SI units.
    Raises:
        FlexibleBodyError: unknown name; the text lists the nearest.
    """
    if name in MATERIALS:
        return MATERIALS[name]
    hint = did_you_mean(name, MATERIALS, ".", before="; ", cutoff=0.3)
    raise FlexibleBodyError(f"No material is called {name!r}{hint} There are {', '.join(MATERIALS)}.")
