"""Shortening of a bent element: textbook matrix, and its moments by quadrature of the shapes' own derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from flexapod.flexible import Section
from flexapod.flexible.beam_element import BeamElement
from flexapod.flexible.materials import Material
from flexapod.flexible.twisting import tip_twisting

STEEL = Material(name="steel", young=210e9, density=7850.0, poisson=0.3)
BAR = Section.rectangle(width=0.1, height=0.07)
LENGTH = 0.6
ROUNDING = 1e-12
"""Polynomials of degree six by two quadratures."""
SMALL = 0.02
"""Size of the rotations: the fourth order is 1e-3 of the second."""
DIFFERENCE = 1e-7
"""Central differences of polynomials of order one with a step of 1e-5."""
FOURTH = 5e-3
"""Of the second order: the fourth, and 2000 pieces; found 4e-3."""
VANISHES = 1e-5
"""Of rotations squared: entries that vanish."""


def made(*, planar: bool, shear: bool) -> BeamElement:
    return BeamElement(length=LENGTH, section=BAR, material=STEEL, planar=planar, shear=shear)


def test_textbook_matrix() -> None:
    """1/(30 l) [36, 3l, -36, 3l; 4l^2, -3l, -l^2; 36, -3l; 4l^2] (Przemieniecki)."""
    a = LENGTH
    half = np.array([[36, 3 * a, -36, 3 * a], [0, 4 * a**2, -3 * a, -(a**2)], [0, 0, 36, -3 * a], [0, 0, 0, 4 * a**2]]) / (30 * a)
    B = made(planar=True, shear=False).foreshortening().B
    assert np.abs(B[np.ix_([1, 2, 4, 5], [1, 2, 4, 5])] - (half + np.triu(half, 1).T)).max() < ROUNDING * 60
    assert not B[[0, 3]].any()


@pytest.mark.parametrize("shear", [False, True])
@pytest.mark.parametrize("planar", [False, True])
def test_against_the_shapes(planar: bool, shear: bool) -> None:
    """s(x), and the moments of x/l s(l) - s(x) over the mass, from slopes by differences of the displacement shapes."""
    element = made(planar=planar, shear=shear)
    q = np.random.default_rng(1).standard_normal(2 * len(element.coordinates()))
    grid = np.linspace(0.0, LENGTH, 401)
    points, weight = np.polynomial.legendre.leggauss(6)
    step, h = 1e-5, grid[1]
    x = (grid[:-1, None] + 0.5 * h * (points + 1)).ravel()
    ahead, behind = (element.shapes(x + s * step)[0] @ q for s in (1, -1))
    slope = ((ahead - behind) / (2 * step))[:, 1:]
    squared = np.sum(slope**2, axis=1).reshape(len(grid) - 1, -1)
    s = np.concatenate([[0.0], np.cumsum(0.5 * h * squared @ weight)])
    found = element.foreshortening()
    assert q @ found.B @ q == pytest.approx(s[-1], rel=DIFFERENCE)
    inner = grid / LENGTH * s[-1] - s
    mass = STEEL.density * BAR.area
    simpson = np.ones(401)
    simpson[1:-1:2], simpson[2:-1:2] = 4, 2
    assert q @ found.first @ q == pytest.approx(mass * h / 3 * simpson @ inner, rel=DIFFERENCE)
    assert q @ found.second @ q == pytest.approx(mass * h / 3 * simpson @ (grid * inner), rel=DIFFERENCE)


@pytest.mark.parametrize("shear", [False, True])
def test_bending_and_twisting_together(shear: bool) -> None:
    """Against the beam with the same curvatures, integrated as rotations: R' = R hat(kappa), r' = R x, to second order."""
    element, rng = made(planar=False, shear=shear), np.random.default_rng(3)
    e = rng.standard_normal(6) * [0.0, LENGTH, LENGTH, 1.0, 1.0, 1.0]
    Q = tip_twisting(element)
    assert Q is not None

    def tip(size: float) -> np.ndarray:
        """v, w and the three turns about x, y, z; the curvatures by differences of the shapes."""
        q, h = np.concatenate([np.zeros(6), size * e]), LENGTH / 2000
        x = (np.arange(2000) + 0.5) * h
        _, ahead = element.shapes(x + h / 2)
        _, behind = element.shapes(x - h / 2)
        R, r = Rotation.identity(), np.zeros(3)
        for kappa in ((ahead - behind) / h) @ q:
            r = r + h * (R * Rotation.from_rotvec(kappa * h / 2)).as_matrix()[:, 0]
            R = R * Rotation.from_rotvec(kappa * h)
        return np.concatenate([r[1:], R.as_euler("XYZ")])

    even = (tip(SMALL) + tip(-SMALL)) / 2.0  # what is odd in e is linear, and cubic
    assert even == pytest.approx(SMALL**2 / 2.0 * np.einsum("cij,i,j->c", Q, e, e), rel=FOURTH, abs=VANISHES * SMALL**2)
