"""Surface stress of plates against plate formulas: a sine on a pinned square, and a bent strip."""

from __future__ import annotations

import numpy as np
import pytest

from flexapod.flexible.plate_surface import plate_surface, von_mises

SQUARE = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]
E, NU, H, RHO = 210e9, 0.3, 0.01, 7800.0
CENTRE = {"kirchhoff": 1e-3, "mindlin": 4e-3}
"""Of the largest stress over all points: curvatures of quintic and quadratic elements, shear of a plate with h/b = 0.01."""
BEAM = 1e-5
"""Of the largest stress: quintic elements of a strip without Poisson's ratio; found 2e-7."""


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
    assert np.abs(sign * stress[:, 0] - exact).max() < BEAM * np.abs(exact).max()
    assert np.abs(stress[:, 1:]).max() < BEAM * np.abs(exact).max()


SAINT_VENANT = 1e-3
"""Of the mean stress, in the middle fifth of a strip twenty times longer than wide (found 1e-5)."""


@pytest.mark.parametrize(("forces", "part"), [((-1000.0, 1000.0), 1.0), ((0.0, 1000.0), 0.5)])
def test_a_pulled_strip(forces: tuple[float, float], part: float) -> None:
    """sigma = F / b h between two equal forces; pulled at one end alone, the middle accelerates half of the mass."""
    length, width, h = 1.0, 0.05, 0.002
    corners = [[-length / 2, -width / 2], [length / 2, -width / 2], [length / 2, width / 2], [-length / 2, width / 2]]
    ends = {"left": [-length / 2, 0.0, 0.0], "right": [length / 2, 0.0, 0.0]}
    found = plate_surface(outline=corners, thickness=h, young=70e9, poisson=0.3, density=2700.0, modes=1, interfaces=ends)
    assert found.pairs is None
    stress = found.membrane(np.zeros((1, 1)), np.array([[[f, 0.0] for f in forces]]))[0]
    x, mean = found.points[:, 0], 1000.0 / (width * h)
    near = np.abs(x) < length / 10
    exact = mean * (part + (0.0 if part == 1.0 else x[near] / length))
    assert np.abs(stress[near, 0] - exact).max() < SAINT_VENANT * mean
    assert np.abs(stress[near, 1:]).max() < SAINT_VENANT * mean


STRETCHED = 0.05
"""Midpoint rule over the triangles, as for bending."""


@pytest.mark.full
def test_stretching_carries_its_energy() -> None:
    """A stiffened plate: stresses of the middle plane have the energy of von Karman's strains; zero to first order."""
    from flexapod.flexible import plate

    words = {"outline": SQUARE, "thickness": H, "young": E, "poisson": NU, "density": RHO, "modes": 4}
    joints = {"a": [-0.4, -0.4, 0.0], "b": [0.4, -0.4, 0.0], "c": [0.0, 0.4, 0.0]}
    body, found = plate(**words, interfaces=joints, stiffening=True), plate_surface(**words, interfaces=joints, stiffening=True)
    e = np.array([[0.01, 0.03, 0.0, 0.02]])
    x, y, xy = found.membrane(e, np.zeros((1, 3, 2)))[0].T
    density = (x**2 + y**2 - 2 * NU * x * y + 2 * (1 + NU) * xy**2) * H / (2 * E)
    assert body.nodes is not None
    corners = body.nodes.r0[body.nodes.triangles][:, :, :2]
    (ax, ay), (bx, by) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
    stretched = body.elastic_energies(e)[0] - body.unstiffened().elastic_energies(e)[0]
    assert stretched > 0
    assert density @ (np.abs(ax * by - ay * bx) / 2) == pytest.approx(stretched, rel=STRETCHED)
    assert found.membrane(2 * e, np.zeros((1, 3, 2))) == pytest.approx(4 * found.membrane(e, np.zeros((1, 3, 2))))
