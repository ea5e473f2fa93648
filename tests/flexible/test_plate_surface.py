"""Surface stress of plates against plate formulas: a sine on a pinned square, and a bent strip."""

from __future__ import annotations

import numpy as np
import pytest

from flexapod.flexible.plate_surface import plate_surface, von_mises

SQUARE = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]
E, NU, H, RHO = 210e9, 0.3, 0.01, 7800.0
CENTRE = {"kirchhoff": 1e-3, "mindlin": 4e-3}
"""Of the largest stress over all points: curvatures of quintic and quadratic elements, shear of a plate with h/b = 0.01."""


@pytest.mark.parametrize("theory", CENTRE)
def test_first_mode_of_a_pinned_square(theory: str) -> None:
    """w = w0 cos cos: M_x = D pi^2 (1 + nu) w0 cos cos, M_xy = (1 - nu) D pi^2 w0 sin sin, sigma = 6 M / h^2 (Navier)."""
    found = plate_surface(
        outline=SQUARE, thickness=H, young=E, poisson=NU, density=RHO, theory=theory, modes=1, boundary="pinned"
    )  # fmt: skip
    x, y = np.pi * found.points[:, :2].T
    w0 = 2.0 / np.sqrt(RHO * H)
    D = E * H**3 / (12 * (1 - NU**2))
    size = 6 / H**2 * D * np.pi**2 * w0
    bent = (1 + NU) * np.cos(x) * np.cos(y)
    twisted = -(1 - NU) * np.sin(x) * np.sin(y)
    exact = size * np.stack([bent, bent, twisted], axis=1)
    stress = found.stress(np.ones((1, 1)))[0]
    sign = np.sign(stress[np.abs(stress[:, 0]).argmax(), 0])
    assert np.abs(sign * stress - exact).max() < CENTRE[theory] * size * (1 + NU)
    equal = np.sqrt(exact[:, 0] ** 2 + 3 * exact[:, 2] ** 2)
    assert np.abs(von_mises(stress) - equal).max() < 2 * CENTRE[theory] * size * (1 + NU)


def test_a_strip_bends_as_a_beam() -> None:
    """nu = 0: sigma = E h / 2 w'' at the middle of the first free mode, zero across."""
    length, width, h = 1.0, 0.05, 0.002
    corners = [[-length / 2, -width / 2], [length / 2, -width / 2], [length / 2, width / 2], [-length / 2, width / 2]]
    found = plate_surface(outline=corners, thickness=h, young=70e9, poisson=0.0, density=2700.0, theory="kirchhoff", modes=1)
    root = 4.730040744862704
    s = (np.cosh(root) - np.cos(root)) / (np.sinh(root) - np.sin(root))
    x = found.points[:, 0] + 0.5
    bend = root**2 * (np.cosh(root * x) - np.cos(root * x) - s * (np.sinh(root * x) - np.sin(root * x)))
    exact = 70e9 * h / 2 * bend / np.sqrt(2700 * length * width * h)
    stress = found.stress(np.ones((1, 1)))[0]
    sign = np.sign(stress[np.abs(stress[:, 0]).argmax(), 0]) * np.sign(exact[np.abs(exact).argmax()])
    assert np.abs(sign * stress[:, 0] - exact).max() < 1e-3 * np.abs(exact).max()
    assert np.abs(stress[:, 1:]).max() < 1e-3 * np.abs(exact).max()
