"""Stiffening of plates: drawn-in joints of a strip against the beam's, buckling of a square plate, a plate that cannot unroll."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.linalg import eigh

from flexapod.flexible import FlexibleBody, FlexibleBodyError, from_modes, plate, save_modes
from flexapod.flexible.body_from_root import rooted_body

LENGTH, WIDTH, THICK = 1.0, 0.05, 0.002
HELD = 0.05
"""A strip that is held at points: what gives way around them."""
STRIP = 1e-4
"""A strip with nu = 0 bends as a beam does (found 3e-6 Kirchhoff)."""
BUCKLES = 2e-3
"""Load of a square plate with eight forces per edge instead of a line load (found 1.3e-3; with sixteen 2e-4)."""
UNROLLS = 1e-5
"""Energy of a strip that is bent by four times its thickness: cubic displacements follow its drawn-in length (found 4e-6)."""
AIRY = 1e-3
"""Membrane energy by displacements, from above, and by stresses, from below (found 8e-5)."""
TILT = 1e-5
"""Of the height: the fourth order of a tilt of 2e-3 rad; found 4e-7."""


@cache
def strip() -> FlexibleBody:
    corners = [[-LENGTH / 2, -WIDTH / 2], [LENGTH / 2, -WIDTH / 2], [LENGTH / 2, WIDTH / 2], [-LENGTH / 2, WIDTH / 2]]
    return plate(
        outline=corners, thickness=THICK, young=70e9, poisson=0.0, density=2700, theory="kirchhoff", modes=2, stiffening=True,
        mesh_size=0.05, interfaces={"left": (-LENGTH / 2, 0), "right": (LENGTH / 2, 0), "above": (0, 0, 0.1)},
    )  # fmt: skip


def beam_mode(root: float) -> tuple[float, float]:
    """Of a mode of the free beam, mass-normalised: integral of w'^2 dx, and of x dm times what the slope draws in."""
    x = np.linspace(0.0, 1.0, 20001)
    s = (np.cosh(root) - np.cos(root)) / (np.sinh(root) - np.sin(root))
    slope = root * (np.sinh(root * x) - np.sin(root * x) - s * (np.cosh(root * x) + np.cos(root * x)))
    mass = 2700 * LENGTH * WIDTH * THICK
    drawn = np.concatenate([[0.0], np.cumsum((slope[1:] ** 2 + slope[:-1] ** 2) / 2 * np.diff(x))]) / mass
    return float(drawn[-1]), float(trapezoid((x - 0.5) * drawn, x) * mass)


def test_a_strip_draws_in_as_a_beam_does() -> None:
    """Joints of a bent strip come together by the integral of w'^2 / 2; the spin about z feels the moved mass."""
    body = strip()
    between = np.asarray(body.interfaces["right"].Q)[0] - np.asarray(body.interfaces["left"].Q)[0]
    for k, root in enumerate((4.730040744862704, 7.853204624095838)):
        drawn, moment = beam_mode(root)
        assert between[k, k] == pytest.approx(-drawn, rel=STRIP)
        assert np.asarray(body.T_ee)[k, k, 0, 0] == pytest.approx(-moment, rel=STRIP)


def test_a_point_above_the_plate_comes_down_as_it_tilts() -> None:
    """An antisymmetric mode tilts the middle by phi_r e: height z (1 - cos)."""
    point, e = strip().interfaces["above"], np.array([0.0, 1e-4])
    tilt = np.linalg.norm(np.asarray(point.Phi_r) @ e)
    assert tilt > 1e-3
    assert point.position(e)[2] - 0.1 == pytest.approx(-0.1 * (1 - np.cos(tilt)), rel=TILT, abs=0)


def test_a_strip_unrolls_without_stretching() -> None:
    """Cylindrical bending has no membrane energy; the linear energy is all."""
    body, e = strip(), np.array([2e-3, 1e-3])
    assert body.potential_energy(e) == pytest.approx(body.unstiffened().potential_energy(e), rel=UNROLLS)


def test_the_tip_of_a_strip_moves_in_its_plane_as_a_beam_does() -> None:
    """Held at a point of its end: E A / L along it, 3 E I / L^3 across it."""
    corners = [[0.0, -WIDTH / 2], [LENGTH, -WIDTH / 2], [LENGTH, WIDTH / 2], [0.0, WIDTH / 2]]
    arguments = {"outline": corners, "thickness": THICK, "young": 70e9, "poisson": 0.0, "density": 2700, "theory": "kirchhoff"}
    ends = {"root": (0.0, 0.0), "tip": (LENGTH, 0.0)}
    body = plate(**arguments, modes=2, method="craig-bampton", interfaces=ends, stiffening=True, root="root")
    found = rooted_body(body, "root", ["tip"])
    assert found.components == (("u", "v", "w", "thx", "thy", "thz"),)
    flexibility = np.linalg.inv(found.body.K_ee)
    assert 1.0 / flexibility[0, 0] == pytest.approx(70e9 * WIDTH * THICK / LENGTH, rel=HELD)
    assert 1.0 / flexibility[1, 1] == pytest.approx(3.0 * 70e9 * THICK * WIDTH**3 / 12.0 / LENGTH**3, rel=HELD)
    with pytest.raises(FlexibleBodyError, match=r"root 'foot' needs an interface of that name; there are root, tip"):
        plate(**arguments, interfaces=ends, stiffening=True, root="foot")


@cache
def square(forces: int) -> FlexibleBody:
    side = (np.arange(forces) + 0.5) / forces - 0.5
    points = {f"left{i}": (-0.5, y) for i, y in enumerate(side)} | {f"right{i}": (0.5, y) for i, y in enumerate(side)}
    return plate(
        outline=[[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]], thickness=0.01, young=210e9, poisson=0.3, density=7800,
        theory="kirchhoff", modes=8, boundary="pinned", interfaces=points, stiffening=True,
    )  # fmt: skip


def buckling_force(forces: int) -> float:
    """Least compression per length along x at which the pinned square plate bends out [N/m]."""
    body = square(forces)
    loads = {name: (1.0 / forces if name.startswith("left") else -1.0 / forces, 0.0, 0.0) for name in body.interfaces}
    return float(1.0 / eigh(-body.geometric_stiffness(loads), body.K_ee, eigvals_only=True).max())


def test_a_square_plate_buckles_at_the_textbook_load() -> None:
    """Pinned on four sides, compressed along one: N = 4 pi^2 D / b^2 (G. H. Bryan, 1891)."""
    D = 210e9 * 0.01**3 / (12 * (1 - 0.3**2))
    assert buckling_force(8) == pytest.approx(4 * np.pi**2 * D, rel=BUCKLES)


def test_a_pinned_plate_stiffens_as_it_bends() -> None:
    """Free edges in the plane: a square plate bent by w0 has von Karman's energy, here by Airy's function."""
    body, e = square(8), np.zeros(8)
    e[0] = 1.0
    w0 = 2.0 / np.sqrt(7800 * 0.01)  # of sin sin, mass-normalised
    stretch = body.potential_energy(e) - body.unstiffened().potential_energy(e)
    assert stretch == pytest.approx(free_edge_energy(w0), rel=AIRY)


def free_edge_energy(w0: float) -> float:
    """Membrane energy [J] of w0 cos(pi x) cos(pi y) on a unit square with stress-free edges, by Airy's function.

    Complementary energy of phi = (1/4 - x^2)^2 (1/4 - y^2)^2 p(x, y), p even polynomials: its maximum over p is the energy.
    """
    x, w = np.polynomial.legendre.leggauss(40)
    x, w = x / 2, w / 2
    X, Y = np.meshgrid(x, x, indexing="ij")
    W = np.outer(w, w)
    E, nu, h = 210e9, 0.3, 0.01
    edge = np.polynomial.Polynomial([1 / 16, 0, -1 / 2, 0, 1])
    basis = [edge * np.polynomial.Polynomial.basis(2 * k) for k in range(5)]
    shapes = [(f, g) for f in basis for g in basis]

    def part(n: int, m: int) -> np.ndarray:
        return np.array([(f.deriv(n) if n else f)(X) * (g.deriv(m) if m else g)(Y) for f, g in shapes])

    xx, yy, xy = part(2, 0), part(0, 2), part(1, 1)
    flexibility = (
        np.einsum("aij,bij,ij->ab", xx, xx, W) + np.einsum("aij,bij,ij->ab", yy, yy, W)
        - nu * (np.einsum("aij,bij,ij->ab", xx, yy, W) + np.einsum("aij,bij,ij->ab", yy, xx, W))
        + 2 * (1 + nu) * np.einsum("aij,bij,ij->ab", xy, xy, W)
    ) / (E * h)  # fmt: skip
    w_x = -w0 * np.pi * np.sin(np.pi * X) * np.cos(np.pi * Y)
    w_y = -w0 * np.pi * np.cos(np.pi * X) * np.sin(np.pi * Y)
    given = np.einsum("aij,ij->a", yy, W * w_x**2 / 2) + np.einsum("aij,ij->a", xx, W * w_y**2 / 2)
    given -= np.einsum("aij,ij->a", xy, W * w_x * w_y)
    return float(given @ np.linalg.solve(flexibility, given) / 2)


def test_saved_and_read(tmp_path: Path) -> None:
    body = strip()
    save_modes(body, tmp_path / "strip.npz")
    again = from_modes(tmp_path / "strip.npz")
    assert again.stiffened
    assert np.array_equal(np.asarray(again.interfaces["right"].Q), np.asarray(body.interfaces["right"].Q))
    assert np.array_equal(np.asarray(again.stretch), np.asarray(body.stretch))
    assert again.truncated(1).interfaces["left"].Q.shape == (3, 1, 1)  # type: ignore[union-attr]
    with pytest.raises(FlexibleBodyError, match="belongs to the interface points of the file"):
        from_modes(tmp_path / "strip.npz", interfaces={"left": (-LENGTH / 2, 0, 0)})


def test_what_is_refused() -> None:
    body = strip()
    with pytest.raises(FlexibleBodyError, match="has no interface 'top'; it has left, right, above"):
        body.geometric_stiffness({"top": (0, 0, 1)})
    with pytest.raises(FlexibleBodyError, match="make it with stiffening=True"):
        body.unstiffened().geometric_stiffness({"left": (1, 0, 0)})
    with pytest.raises(FlexibleBodyError, match="misses 'right'"):
        body.unstiffened().with_stiffening({"left": np.zeros((3, 2, 2))})
