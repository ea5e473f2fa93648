"""Cross-sections of beams. The beam runs along x; `width` is the size along y, `height` along z.

iz = integral of y^2 bends v (in the xy plane), iy = integral of z^2 bends w (in the xz plane); torsion is
Saint-Venant's constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexapod.flexible.checked_arrays import positive
from flexapod.flexible.errors import FlexibleBodyError

POISSON_OF_TUBES = 0.3
"""Cowper's shear coefficient of a tube depends weakly on Poisson's ratio; this value is used for all."""

ZETA_5 = 1.0369277551433699
"""Riemann's zeta(5)."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A cross-section: area [m^2], second moments iy, iz and torsion constant [m^4], shear coefficients along y and z.

    Args:
        area: [m^2].
        iy, iz: second moments about y and z [m^4]; torsion: its constant [m^4].
        shear_y, shear_z: shear coefficients along y and z.

    Checked by: tests/flexible/test_section_and_material.py, tests/elastodynamics/test_beam_textbook.py.
    """

    area: float
    iy: float
    iz: float
    torsion: float | None = None
    shear_y: float = 5.0 / 6.0
    shear_z: float = 5.0 / 6.0

    def __post_init__(self) -> None:
        positive("area", self.area, "m^2")
        positive("iy", self.iy, "m^4")
        positive("iz", self.iz, "m^4")
        positive("shear_y", self.shear_y)
        positive("shear_z", self.shear_z)
        if self.torsion is not None:
            positive("torsion", self.torsion, "m^4")

    @classmethod
    def rectangle(cls, *, width: float, height: float) -> Section:
        r"""Full rectangle. Torsion by Saint-Venant's series, long side a, short side b:

        .. math:: J = a b^3 \left[ \tfrac13 - \tfrac{64}{\pi^5} \tfrac ba \sum_{n = 1, 3, ...}
                  \tfrac{\tanh(n \pi a / 2b)}{n^5} \right],\qquad
                  \tanh x = 1 - \tfrac{2}{e^{2x} + 1},\quad \sum \tfrac{1}{n^5} = \tfrac{31}{32} \zeta(5)

        Summed in the second form, which reaches rounding within a dozen terms.
        """
        w, h = positive("width", width, "metres"), positive("height", height, "metres")
        a, b = max(w, h), min(w, h)
        n = np.arange(1, 24, 2)
        decay = np.exp(-n * np.pi * a / b)
        series = 31.0 / 32.0 * ZETA_5 - float(np.sum(2.0 * decay / (1.0 + decay) / n**5))
        J = a * b**3 * (1.0 / 3.0 - 64.0 / np.pi**5 * b / a * series)
        return cls(area=w * h, iy=w * h**3 / 12.0, iz=h * w**3 / 12.0, torsion=J)

    @classmethod
    def tube(cls, *, outer: float, inner: float = 0.0) -> Section:
        """Round tube or bar by its diameters [m]. Shear coefficient: G. R. Cowper, J. Appl. Mech. 33, 1966."""
        D = positive("outer", outer, "metres")
        if isinstance(inner, bool | str) or not 0.0 <= inner < D:
            raise FlexibleBodyError(f"inner must be from 0 to less than outer = {D:g} m, is {inner!r}.")
        bend = np.pi * (D**4 - inner**4) / 64.0
        m2, nu = (inner / D) ** 2, POISSON_OF_TUBES
        square = (1.0 + m2) ** 2
        shear = 6.0 * (1.0 + nu) * square / ((7.0 + 6.0 * nu) * square + (20.0 + 12.0 * nu) * m2)
        area = np.pi * (D**2 - inner**2) / 4.0
        return cls(area=area, iy=bend, iz=bend, torsion=2.0 * bend, shear_y=shear, shear_z=shear)

    @classmethod
    def i(cls, *, width: float, height: float, flange: float, web: float) -> Section:
        """I section: two flanges `width` x `flange` across y, a web of thickness `web` along z. Torsion: sum of s t^3 / 3."""
        w, h = positive("width", width, "metres"), positive("height", height, "metres")
        f, t = positive("flange", flange, "metres"), positive("web", web, "metres")
        if t >= w or 2.0 * f >= h:
            raise FlexibleBodyError(f"web must be less than width and flange less than half of height, are {t:g} and {f:g} m.")
        clear = h - 2.0 * f
        area = 2.0 * w * f + clear * t
        iy = (w * h**3 - (w - t) * clear**3) / 12.0
        iz = (2.0 * f * w**3 + clear * t**3) / 12.0
        J = (2.0 * w * f**3 + (h - f) * t**3) / 3.0
        return cls(area=area, iy=iy, iz=iz, torsion=J, shear_y=5.0 / 6.0 * 2.0 * w * f / area, shear_z=clear * t / area)

    @classmethod
    def box(cls, *, width: float, height: float, wall: float) -> Section:
        """Hollow rectangle of even wall. Torsion by Bredt's formula for thin walls; shear by the walls along the load."""
        w, h, t = positive("width", width, "metres"), positive("height", height, "metres"), positive("wall", wall, "metres")
        if 2.0 * t >= min(w, h):
            raise FlexibleBodyError(f"wall must be less than half of width and height, is {t:g} m.")
        inner_w, inner_h = w - 2.0 * t, h - 2.0 * t
        area = w * h - inner_w * inner_h
        mean = (w - t) * (h - t)
        return cls(
            area=area, iy=(w * h**3 - inner_w * inner_h**3) / 12.0, iz=(h * w**3 - inner_h * inner_w**3) / 12.0,
            torsion=2.0 * t * mean**2 / (w + h - 2.0 * t), shear_y=2.0 * w * t / area, shear_z=2.0 * h * t / area,
        )  # fmt: skip

    @classmethod
    def t(cls, *, width: float, height: float, flange: float, web: float) -> Section:
        """T section: a flange `width` x `flange` across y, a web of thickness `web` along z below it; the axis is its centroid.

        Torsion: sum of s t^3 / 3. The shear centre, at the flange, is taken at the centroid: loads along y do not twist it.
        """
        w, h = positive("width", width, "metres"), positive("height", height, "metres")
        f, t = positive("flange", flange, "metres"), positive("web", web, "metres")
        if t >= w or f >= h:
            raise FlexibleBodyError(f"web must be less than width and flange less than height, are {t:g} and {f:g} m.")
        area, (_, iy, iz, _) = _rectangles([(w, f, 0.0, h - f / 2.0), (t, h - f, 0.0, (h - f) / 2.0)])
        J = (w * f**3 + (h - f / 2.0) * t**3) / 3.0
        return cls(area=area, iy=iy, iz=iz, torsion=J, shear_y=5.0 / 6.0 * w * f / area, shear_z=(h - f) * t / area)

    @classmethod
    def l(cls, *, width: float, height: float, wall: float) -> Section:  # noqa: E743
        """Angle section: legs `width` and `height` of thickness `wall`. y and z are its principal axes, iy the larger moment.

        The principal axes are turned against the legs (45 degrees for equal legs). Torsion: sum of s t^3 / 3; the shear centre,
        at the corner, is taken at the centroid.
        """
        w, h, t = positive("width", width, "metres"), positive("height", height, "metres"), positive("wall", wall, "metres")
        if t >= min(w, h):
            raise FlexibleBodyError(f"wall must be less than width and height, is {t:g} m.")
        area, (_, iy, iz, iyz) = _rectangles([(w, t, w / 2.0, t / 2.0), (t, h - t, t / 2.0, t + (h - t) / 2.0)])
        mean, swing = (iy + iz) / 2.0, float(np.hypot((iy - iz) / 2.0, iyz))
        J = (w + h - t) * t**3 / 3.0
        shear = 5.0 / 6.0 * max(w, h) * t / area
        return cls(area=area, iy=mean + swing, iz=mean - swing, torsion=J, shear_y=shear, shear_z=shear)

    @classmethod
    def general(
        cls,
        *,
        area: float,
        iy: float,
        iz: float,
        torsion: float | None = None,
        shear_y: float = 5.0 / 6.0,
        shear_z: float = 5.0 / 6.0,
    ) -> Section:
        """Any section with y and z as principal axes through its centre, by its constants."""
        return cls(area=area, iy=iy, iz=iz, torsion=torsion, shear_y=shear_y, shear_z=shear_z)


def _rectangles(parts: list[tuple[float, float, float, float]]) -> tuple[float, tuple[tuple[float, float], float, float, float]]:
    """Area, and centroid, iy, iz, iyz about it, of rectangles (size along y, size along z, centre y, centre z)."""
    b, h, y, z = np.array(parts).T
    a = b * h
    area = float(a.sum())
    cy, cz = float(a @ y) / area, float(a @ z) / area
    iy = float(np.sum(b * h**3 / 12.0 + a * (z - cz) ** 2))
    iz = float(np.sum(h * b**3 / 12.0 + a * (y - cy) ** 2))
    return area, ((cy, cz), iy, iz, float(np.sum(a * (y - cy) * (z - cz))))


def outer_points(shape: str, sizes: Mapping[str, float]) -> NDArray[np.float64]:
    """Corners (p, 2) of a section, y and z from its centroid; of an L section in principal axes, and its mirror images.

    Args:
        shape: rectangle, box, i, t, l, or general with the distances fibre_y and fibre_z, whose corners are those of a rectangle.
        sizes: by their names of the class methods of `Section`.

    Checked by: tests/analysis/test_beam_stress.py.
    """
    w, h = (2.0 * sizes["fibre_y"], 2.0 * sizes["fibre_z"]) if shape == "general" else (sizes["width"], sizes["height"])
    signs = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    if shape == "t":
        f, t = sizes["flange"], sizes["web"]
        below = _rectangles([(w, f, 0.0, h - f / 2.0), (t, h - f, 0.0, (h - f) / 2.0)])[1][0][1]
        return np.array([[y, z - below] for y, z in ((w / 2, h), (-w / 2, h), (t / 2, 0.0), (-t / 2, 0.0))])
    if shape != "l":
        return signs * [w / 2.0, h / 2.0]
    t = sizes["wall"]
    centre, iy, iz, iyz = _rectangles([(w, t, w / 2.0, t / 2.0), (t, h - t, t / 2.0, t + (h - t) / 2.0)])[1]
    corners = np.array([[0.0, 0.0], [w, 0.0], [w, t], [t, h], [0.0, h]]) - centre
    axes = np.linalg.eigh(np.array([[iz, iyz], [iyz, iy]]))[1]  # of the integrals of y^2, y z, z^2: the smaller, iz, first
    return np.concatenate([corners @ axes * sign for sign in signs])
