r"""One beam element from x = 0 to l: shape functions and stiffness of both ends' coordinates.

Coordinates of an end: (u, v, theta) in the plane xy, or (u, v, w, thx, thy, thz). Axial and torsion linear; bending cubic.
With the shear parameter Phi = 12 E I / (kappa G A l^2) the cubics are exact for end loads (Timoshenko); Phi = 0 is
Euler-Bernoulli (Hermite). In the xz plane dw/dx = -thy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexapod.flexible.checked_arrays import Floats
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.materials import Material
from flexapod.flexible.section import Section

GAUSS_POINTS = 4
"""Exact for degree seven; the products of two cubics have degree six."""

PLANAR = ("u", "v", "theta")
SPATIAL = ("u", "v", "w", "thx", "thy", "thz")


@dataclass(frozen=True, kw_only=True, eq=False)
class Foreshortening:
    """Matrices (n, n) of forms 1/2 q^T (.) q: B [1/m, 1, m] the shortening of the whole element; moments over the mass of what
    inner points are drawn in less than in proportion, `first` the integral of Q dm, `second` that of x Q dm."""

    B: Floats
    first: Floats
    second: Floats

    def of_tip(self) -> Foreshortening:
        """Matrices by the coordinates of the tip, the root held."""
        N = len(self.B) // 2
        return Foreshortening(B=self.B[N:, N:], first=self.first[N:, N:], second=self.second[N:, N:])


@dataclass(frozen=True, kw_only=True)
class BeamElement:
    """Length l [m], section, material, planar or spatial, with shear deformation or without.

    A tapered element has its sections at the Gauss points as `cuts`, and `section` at its middle: its stiffness follows from
    equilibrium and is exact under loads at its ends, its shapes are those of the middle section.
    Frequencies converge with l^4; with shear and elements shorter than the beam is thick with l^2, as theta is linear there.
    Checked by: tests/flexible/test_beam.py, tests/elastodynamics/test_beam_textbook.py.
    """

    length: float
    section: Section
    material: Material
    planar: bool
    shear: bool
    cuts: tuple[Section, ...] = ()

    def sections(self) -> tuple[Section, ...]:
        """Sections at the Gauss points."""
        return self.cuts or (self.section,) * GAUSS_POINTS

    def masses(self) -> Floats:
        """Mass [kg] of each Gauss point."""
        area = np.array([cut.area for cut in self.sections()])
        return np.asarray(self.material.density * self.length * gauss_points()[1] * area)

    def coordinates(self) -> tuple[str, ...]:
        """Names of one end's coordinates."""
        return PLANAR if self.planar else SPATIAL

    def shapes(self, x: Floats) -> tuple[Floats, Floats]:
        """Displacement of the centre line and rotation of the section at x (p,): Phi_d, Phi_r (p, 3, 2 d), proximal end first.

        Source: J. S. Przemieniecki, Theory of Matrix Structural Analysis, 1968. Checked by: tests/flexible/test_beam.py.
        """
        s = x / self.length
        d = len(self.coordinates())
        Phi_d, Phi_r = np.zeros((len(x), 3, 2 * d)), np.zeros((len(x), 3, 2 * d))
        linear = (1.0 - s, s)
        N_y, slope_y = _bending_shapes(s, self.length, self._shear_parameter("y"))
        bend, rotation = (1, 2) if self.planar else (1, 5)
        for end in range(2):
            Phi_d[:, 0, end * d] = linear[end]
            for column, k in ((end * d + bend, 2 * end), (end * d + rotation, 2 * end + 1)):
                Phi_d[:, 1, column] = N_y[k]
                Phi_r[:, 2, column] = slope_y[k]
        if not self.planar:
            N_z, slope_z = _bending_shapes(s, self.length, self._shear_parameter("z"))
            for end in range(2):
                Phi_r[:, 0, end * d + 3] = linear[end]
                for column, k, sign in ((end * d + 2, 2 * end, 1.0), (end * d + 4, 2 * end + 1, -1.0)):
                    Phi_d[:, 2, column] = sign * N_z[k]
                    Phi_r[:, 1, column] = -sign * slope_z[k]
        return Phi_d, Phi_r

    def stiffness(self) -> Floats:
        """(2 d, 2 d) stiffness of both ends' coordinates. Checked by: tests/flexible/test_beam.py."""
        E, d = self.material.young, len(self.coordinates())
        K = np.zeros((2 * d, 2 * d))
        pull = np.array([[1.0, -1.0], [-1.0, 1.0]]) / self.length
        K[np.ix_([0, d], [0, d])] = E * self._even([cut.area for cut in self.cuts] or self.section.area) * pull
        bend, rotation = (1, 2) if self.planar else (1, 5)
        numbers = [bend, rotation, d + bend, d + rotation]
        K[np.ix_(numbers, numbers)] = self._bending("y")
        if not self.planar:
            if self.section.torsion is None:
                raise FlexibleBodyError("A spatial beam needs the torsion constant of its section.")
            torsion = self._even([cut.torsion or 0.0 for cut in self.cuts] or self.section.torsion)
            K[np.ix_([3, d + 3], [3, d + 3])] = self.material.shear_modulus() * torsion * pull
            sign = np.array([1.0, -1.0, 1.0, -1.0])
            numbers = [2, 4, d + 2, d + 4]
            K[np.ix_(numbers, numbers)] = sign[:, None] * self._bending("z") * sign
        return K

    def _even(self, values: float | list[float]) -> float:
        """The constant of a uniform element that stretches or twists as much as this one."""
        return 1.0 / float(gauss_points()[1] @ (1.0 / np.array(values))) if isinstance(values, list) else float(values)

    def _bending(self, along: str) -> Floats:
        """(4, 4) for (v1, th1, v2, th2) in the plane of x and `along`; tapered by the compliance of the tip, root held."""
        E, length = self.material.young, self.length
        if not self.cuts:
            bend = self.section.iz if along == "y" else self.section.iy
            return _bending_stiffness(E * bend, length, self._shear_parameter(along))
        s, weight = gauss_points()
        rotated = length * weight / np.array([E * (cut.iz if along == "y" else cut.iy) for cut in self.cuts])  # by a unit moment
        arm = length * (1.0 - s)
        slid = 0.0
        if self.shear:
            areas = [cut.area * (cut.shear_y if along == "y" else cut.shear_z) for cut in self.cuts]
            slid = length / (self.material.shear_modulus() * self._even(areas))
        F = np.array([[rotated @ arm**2 + slid, rotated @ arm], [rotated @ arm, rotated.sum()]])
        rigid = np.array([[-1.0, -length, 1.0, 0.0], [0.0, -1.0, 0.0, 1.0]])  # the tip seen from the root
        return np.asarray(rigid.T @ np.linalg.inv(F) @ rigid)

    def foreshortening(self) -> Foreshortening:
        r"""Foreshortening by bending, by both ends' coordinates q.

        With s(x) the integral of v'^2 + w'^2 from the root to x, s(l) = q^T B q. An element whose axial strain is the same all
        along moves its inner points along x by 1/2 (x/l s(l) - s(x)) = 1/2 q^T Q(x) q besides the linear displacement.

        Source: J. S. Przemieniecki, Theory of Matrix Structural Analysis, 1968, section 15.3 (B = 1/(30 l) [36, 3 l; 3 l, 4 l^2]
        at one end without shear). Checked by: tests/flexible/test_foreshortening.py.
        """
        s, weight = gauss_points()
        whole = self._slopes_squared(s, weight)
        parts = [at * whole - at * self._slopes_squared(at * s, weight) for at in s]
        first = sum((m * Q for m, Q in zip(self.masses(), parts, strict=True)), np.zeros_like(whole))
        second = sum((m * at * Q for m, at, Q in zip(self.masses(), s, parts, strict=True)), np.zeros_like(whole))
        return Foreshortening(B=whole, first=first, second=self.length * second)

    def _slopes_squared(self, s: Floats, weight: Floats) -> Floats:
        """(2 d, 2 d) sum of l weight N'^T N' at x = l s, both planes."""
        d = len(self.coordinates())
        B = np.zeros((2 * d, 2 * d))
        bend, rotation = (1, 2) if self.planar else (1, 5)
        planes = [([bend, rotation, d + bend, d + rotation], [1.0, 1.0, 1.0, 1.0], "y")]
        if not self.planar:
            planes.append(([2, 4, d + 2, d + 4], [1.0, -1.0, 1.0, -1.0], "z"))
        for numbers, sign, along in planes:
            slope = np.array(sign)[:, None] * np.array(_bending_slopes(s, self.length, self._shear_parameter(along)))
            B[np.ix_(numbers, numbers)] = self.length * (slope * weight) @ slope.T
        return B

    def _shear_parameter(self, along: str) -> float:
        if not self.shear:
            return 0.0
        bend, kappa = (self.section.iz, self.section.shear_y) if along == "y" else (self.section.iy, self.section.shear_z)
        return 12.0 * self.material.young * bend / (kappa * self.material.shear_modulus() * self.section.area * self.length**2)


def gauss_points() -> tuple[Floats, Floats]:
    """Places from 0 to 1 and weights."""
    x, weight = np.polynomial.legendre.leggauss(GAUSS_POINTS)
    return 0.5 * (x + 1.0), 0.5 * weight


def _bending_shapes(s: Floats, length: float, Phi: float) -> tuple[list[Floats], list[Floats]]:
    """Deflection and rotation of the section for (v1, th1, v2, th2)."""
    whole = 1.0 / (1.0 + Phi)
    deflection = [
        whole * (1.0 - 3.0 * s**2 + 2.0 * s**3 + Phi * (1.0 - s)),
        whole * length * (s - 2.0 * s**2 + s**3 + 0.5 * Phi * (s - s**2)),
        whole * (3.0 * s**2 - 2.0 * s**3 + Phi * s),
        whole * length * (s**3 - s**2 + 0.5 * Phi * (s**2 - s)),
    ]
    rotation = [
        whole * 6.0 * (s**2 - s) / length,
        whole * (1.0 - 4.0 * s + 3.0 * s**2 + Phi * (1.0 - s)),
        whole * 6.0 * (s - s**2) / length,
        whole * (3.0 * s**2 - 2.0 * s + Phi * s),
    ]
    return deflection, rotation


def _bending_slopes(s: Floats, length: float, Phi: float) -> list[Floats]:
    """Derivative by x of the deflections of `_bending_shapes`."""
    whole = 1.0 / (1.0 + Phi)
    return [
        whole * (6.0 * (s**2 - s) - Phi) / length,
        whole * (1.0 - 4.0 * s + 3.0 * s**2 + 0.5 * Phi * (1.0 - 2.0 * s)),
        whole * (6.0 * (s - s**2) + Phi) / length,
        whole * (3.0 * s**2 - 2.0 * s + 0.5 * Phi * (2.0 * s - 1.0)),
    ]


def _bending_stiffness(EI: float, length: float, Phi: float) -> Floats:
    """(4, 4) for (v1, th1, v2, th2)."""
    a, b = 6.0 * length, length**2
    rows = [
        [12.0, a, -12.0, a],
        [a, (4.0 + Phi) * b, -a, (2.0 - Phi) * b],
        [-12.0, -a, 12.0, -a],
        [a, (2.0 - Phi) * b, -a, (4.0 + Phi) * b],
    ]
    return EI / (length**3 * (1.0 + Phi)) * np.array(rows)
