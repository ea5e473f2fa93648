"""The flat shell element: rigid motions, constant strains and curvatures, plates in closed form, a beam in its plane."""

import numpy as np
import pytest
from scipy.linalg import eigh

from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.matrices import rigid_motions
from flexapod.flexible.shell_element import ShellElement

E, NU, RHO = 70e9, 0.3, 2700.0
ROUNDING = 1e-12
"""A few sums of products, of the largest entry."""
PLANE = np.array([[0.0, 0.0, 0.0], [1.1, 0.1, 0.0], [0.9, 1.2, 0.0], [-0.1, 0.8, 0.0]])
WARPED = PLANE + np.array([[0, 0, 0.02], [0, 0, -0.03], [0, 0, 0.01], [0, 0, -0.01]])
Q = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
Q *= np.sign(np.linalg.det(Q))
SOLVED = 1e-9
"""Of the largest: solves of stiffness matrices of a mesh; found 3e-11."""
LINEAR_MASS = 0.025
"""Linear mass raises frequencies by (k l)^2 / 12 along each axis, 2.6 % here."""
COUPLE = 0.01
"""Of the deflection: one layer of rectangles is exact in pure bending; found 1e-5."""


def element(corners: np.ndarray, h: float = 0.1, kappa: float | None = 5 / 6, **more: float) -> ShellElement:
    shear = None if kappa is None else kappa * E / (2 * (1 + NU)) * h
    return ShellElement(
        corners=corners, young=E, poisson=NU, thickness=h, mass_per_area=RHO * h, shear=shear, **more,  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize("corners", [PLANE, PLANE[:3], WARPED, WARPED @ Q.T], ids=["quad", "triangle", "warped", "turned"])
@pytest.mark.parametrize("offset", [0.0, 0.05])
def test_rigid_motions_have_no_energy_and_the_right_mass(corners: np.ndarray, offset: float) -> None:
    shell = element(corners, offset=offset)
    K, M, R = shell.stiffness(), shell.mass(), rigid_motions(corners, 6)
    assert np.abs(K @ R).max() <= ROUNDING * np.abs(K).max() * np.abs(R).max() * 6
    values = np.linalg.eigvalsh(K / np.abs(K).max())
    assert np.sum(np.abs(values) < ROUNDING) == 6  # and nothing else is free
    assert values.min() > -ROUNDING
    x, y = shell.flat[:, :2].T
    area = 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    rigid = R.T @ M @ R
    assert np.allclose(np.diag(rigid)[:3], RHO * 0.1 * area, rtol=ROUNDING, atol=0)


def grid(nx: int, ny: int, a: float, b: float, triangles: bool, skew: float = 0.0) -> tuple[np.ndarray, list[list[int]]]:
    """Corners (n, 3) and elements of a rectangle; inner corners moved by `skew` of the spacing."""
    x, y = np.meshgrid(np.linspace(0, a, nx + 1), np.linspace(0, b, ny + 1), indexing="ij")
    inside = (x > 0) & (x < a) & (y > 0) & (y < b)
    x = x + np.where(inside, skew * a / nx * np.sin(7 * x + 3 * y), 0.0)
    y = y + np.where(inside, skew * b / ny * np.cos(5 * x - 2 * y), 0.0)
    number = np.arange(x.size).reshape(x.shape)
    quads = [[number[i, j], number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]] for i in range(nx) for j in range(ny)]
    cells = [part for q in quads for part in ([q[0], q[1], q[2]], [q[0], q[2], q[3]])] if triangles else quads
    return np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], axis=1), cells


def assembled(points: np.ndarray, cells: list[list[int]], **more: float | None) -> tuple[np.ndarray, np.ndarray]:
    K, M = np.zeros((6 * len(points), 6 * len(points))), np.zeros((6 * len(points), 6 * len(points)))
    for cell in cells:
        shell = element(points[cell], **more)  # type: ignore[arg-type]
        at = (6 * np.array(cell)[:, None] + np.arange(6)).ravel()
        K[np.ix_(at, at)] += shell.stiffness()
        M[np.ix_(at, at)] += shell.mass()
    return K, M


@pytest.mark.parametrize("triangles", [False, True])
@pytest.mark.parametrize("kappa", [5 / 6, None])
def test_constant_strain_and_curvature_are_exact(triangles: bool, kappa: float | None) -> None:
    """Patch test on a distorted mesh: given at the edge, the field inside follows, and its energy is that of the formula."""
    h, a, b = 0.05, 1.2, 0.9
    points, cells = grid(3, 3, a, b, triangles, skew=0.2)
    K, _ = assembled(points, cells, h=h, kappa=kappa)
    x, y, _ = points.T
    edge = (x == 0) | (x == a) | (y == 0) | (y == b)
    D, Dm = E * h**3 / 12 / (1 - NU**2), E * h / (1 - NU**2)
    u = np.zeros((2, len(points), 6))
    u[0, :, 2], u[0, :, 3], u[0, :, 4] = x * x / 2 + 0.3 * x * y - y * y / 5, 0.3 * x - 0.4 * y, -(x + 0.3 * y)  # rx = w_y
    u[1, :, 0], u[1, :, 1], u[1, :, 5] = 1e-3 * x + 4e-4 * y, 2e-4 * y, -2e-4  # rz = (v_x - u_y)/2
    wanted = [
        0.5 * D * a * b * (1 + 0.16 - 2 * NU * 0.4 + (1 - NU) / 2 * 0.6**2),
        0.5 * Dm * a * b * (1e-6 + 4e-8 + 2 * NU * 2e-7 + (1 - NU) / 2 * (4e-4) ** 2),
    ]
    for field, energy in zip(u, wanted, strict=True):
        held = np.repeat(edge, 6)
        flat = field.ravel()
        free = ~held
        inside = -np.linalg.solve(K[np.ix_(free, free)], K[np.ix_(free, held)] @ flat[held])
        assert np.abs(inside - flat[free]).max() <= SOLVED * np.abs(flat).max()
        assert 0.5 * flat @ K @ flat == pytest.approx(energy, rel=SOLVED)


def supported(n: int, h: float, triangles: bool, kappa: float | None) -> float:
    """First angular frequency of a square plate of side 1 on hard simple supports."""
    points, cells = grid(n, n, 1.0, 1.0, triangles)
    K, M = assembled(points, cells, h=h, kappa=kappa)
    x, y, _ = points.T
    held = np.zeros((len(points), 6), dtype=bool)
    held[:, [0, 1, 5]] = True
    held[(x == 0) | (x == 1), 2] = held[(y == 0) | (y == 1), 2] = True
    held[(x == 0) | (x == 1), 3] = held[(y == 0) | (y == 1), 4] = True
    bend, tilt = (np.flatnonzero(~held.ravel() & np.isin(np.arange(held.size) % 6, k)) for k in ([2], [3, 4]))
    K_c = K[np.ix_(bend, bend)] - K[np.ix_(bend, tilt)] @ np.linalg.solve(K[np.ix_(tilt, tilt)], K[np.ix_(tilt, bend)])
    return float(np.sqrt(eigh(K_c, M[np.ix_(bend, bend)], eigvals_only=True, subset_by_index=[0, 0])[0]))


def exact(h: float, kappa: float | None) -> float:
    """Navier's solution without rotary inertia: D k^4 / (1 + D k^2 / kappa G h), k^2 = 2 pi^2."""
    D, k2 = E * h**3 / 12 / (1 - NU**2), 2 * np.pi**2
    soft = 0.0 if kappa is None else D * k2 / (kappa * E / (2 * (1 + NU)) * h)
    return float(np.sqrt(D * k2**2 / (1 + soft) / (RHO * h)))


@pytest.mark.parametrize("triangles", [False, True])
@pytest.mark.parametrize(("h", "kappa"), [(1e-3, None), (1e-3, 5 / 6), (0.2, 5 / 6)], ids=["kirchhoff", "thin", "thick"])
def test_plates_converge_with_the_square_of_the_size(triangles: bool, h: float, kappa: float | None) -> None:
    error = [abs(supported(n, h, triangles, kappa) / exact(h, kappa) - 1) for n in (4, 8)]
    assert error[1] < LINEAR_MASS
    assert np.log2(error[0] / error[1]) > 1.7


def test_four_corners_bend_in_their_plane_like_a_beam() -> None:
    """Incompatible modes: one layer of rectangles is exact in pure bending; a tip load differs by the beam's theory."""
    length, depth, h = 10.0, 1.0, 0.1
    points, cells = grid(10, 1, length, depth, triangles=False)
    K, _ = assembled(points, cells, h=h)
    free = np.flatnonzero(np.repeat(points[:, 0] > 0, 6))
    load = np.zeros(6 * len(points))
    tip = np.flatnonzero(points[:, 0] == length)
    load[6 * tip] = [1.0, -1.0]  # a couple
    u = np.zeros(6 * len(points))
    u[free] = np.linalg.solve(K[np.ix_(free, free)], load[free])
    bending = E * h * depth**3 / 12
    assert u[6 * tip + 1].mean() == pytest.approx(-depth * length**2 / (2 * bending) * -1, rel=COUPLE)


def test_elements_without_area_or_folded_are_refused() -> None:
    with pytest.raises(FlexibleBodyError, match="encloses no area"):
        element(np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])).stiffness()
    with pytest.raises(FlexibleBodyError, match="folded"):
        element(np.array([[0.0, 0, 0], [1, 0, 0], [0.2, 0.2, 0], [0, 1, 0]])).stiffness()
