"""Complex interval arithmetic: discs (midpoint, radius) whose radii are rounded outwards, as arrays.

A disc contains every value that its expression takes on the discs it is made of, rounding included. With the unit roundoff u,
fl(a + b) errs by at most u |a + b| and fl(a b) by at most sqrt(5) u |a b| (Brent, Percival, Zimmermann 2007); the constants
below are larger and cover the rounding of the radii themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexapod.arrays import Array, Complex

U = 2.0**-53
UP = 1.0 + 32 * U
"""Radii are multiplied by this after each operation: a dozen roundings upwards."""
TINY = 1e-290
"""Added to radii: covers underflow."""


@dataclass(frozen=True)
class Disc:
    """Discs: midpoints (complex) and radii of one shape, or of shapes that broadcast."""

    mid: Complex
    rad: Array

    def __add__(self, o: Disc) -> Disc:
        mid = self.mid + o.mid
        return Disc(mid, (self.rad + o.rad + 4 * U * np.abs(mid)) * UP + TINY)

    def __sub__(self, o: Disc) -> Disc:
        mid = self.mid - o.mid
        return Disc(mid, (self.rad + o.rad + 4 * U * np.abs(mid)) * UP + TINY)

    def __mul__(self, o: Disc) -> Disc:
        a, b = np.abs(self.mid), np.abs(o.mid)
        rad = (a + self.rad) * o.rad + self.rad * b + 8 * U * (a * b)
        return Disc(self.mid * o.mid, rad * UP + TINY)

    def __neg__(self) -> Disc:
        return Disc(-self.mid, self.rad)

    def __getitem__(self, index: Any) -> Disc:
        return Disc(self.mid[index], self.rad[index])

    def over(self, o: Disc) -> Disc:
        """Quotient; a divisor that may be zero gives an infinite radius."""
        size = np.abs(o.mid) * (1.0 - 8 * U)
        mid = 1.0 / o.mid
        with np.errstate(divide="ignore", invalid="ignore"):
            rad = np.where(size > o.rad * UP, o.rad / (size * (size - o.rad * UP)), np.inf)
        return self * Disc(mid, (rad + 8 * U * np.abs(mid)) * UP + TINY)

    def inside(self, o: Disc) -> NDArray[np.bool_]:
        """Whether each disc certainly lies in the other."""
        return np.asarray((np.abs(self.mid - o.mid) * UP + self.rad) * UP + TINY <= o.rad)

    def largest(self) -> Array:
        """Upper bound of the magnitude."""
        return np.asarray((np.abs(self.mid) + self.rad) * UP + TINY)

    def excludes_zero(self) -> NDArray[np.bool_]:
        """Whether 0 is certainly outside."""
        return np.asarray(np.abs(self.mid) > self.rad * UP + 4 * U * np.abs(self.mid))


def exact(values: ArrayLike) -> Disc:
    """Numbers without error."""
    mid = np.asarray(values, dtype=np.complex128)
    return Disc(mid, np.zeros(mid.shape))


def around(values: Array, relative: float) -> Disc:
    """Numbers with a relative error."""
    mid = np.asarray(values, dtype=np.complex128)
    return Disc(mid, np.abs(mid) * relative * UP)


def stack(parts: list[Disc], axis: int) -> Disc:
    """Discs along a new axis."""
    return Disc(np.stack([p.mid for p in parts], axis=axis), np.stack([p.rad for p in parts], axis=axis))


def point_matrix_product(Y: Complex, A: Disc) -> Disc:
    """Y A of a matrix of numbers (.., n, n) and one of discs (.., n, m): any order of summation, any use of fused operations."""
    n = Y.shape[-1]
    size = np.abs(Y)
    rad = size @ (A.rad + (16 * n + 16) * U * np.abs(A.mid))
    return Disc(Y @ A.mid, rad * (1.0 + (16 * n + 64) * U) + TINY)
