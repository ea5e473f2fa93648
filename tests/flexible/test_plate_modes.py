"""Frequencies of plates: the converged tables of the hexagon, textbook plates, rates of convergence, no locking."""

import numpy as np
import pytest
from bodies import HEXAGON

from flexapod.flexible import plate, plate_convergence, regular_outline
from flexapod.flexible.mesh import plate_mesh
from flexapod.flexible.normal_modes import normal_modes
from flexapod.flexible.plate_mindlin import BUBBLE, reference_reduction, side_moments
from flexapod.flexible.plate_model import PlateMaterial
from flexapod.flexible.plates import THEORIES
from flexapod.flexible.polygon import plate_loops

TABLE = {
    "kirchhoff": [189.287, 189.287, 316.437, 404.188, 477.116, 705.440, 705.440, 761.350, 761.350, 1197.31],
    "mindlin": [188.553, 188.553, 315.914, 399.856, 475.576, 701.663, 701.663, 753.335, 753.335, 1181.74],
}
"""Converged frequencies of the hexagon [rad/s]; origin: tests/data/flexible/README.md."""

DEFAULT = 1e-3
"""Agreed error of the default mesh; measured 3e-4 (Mindlin) and 3e-5 (Kirchhoff)."""

LIMIT = 5e-5
"""Extrapolated limits against the table, which has six digits and its own error of a few 1e-5 (Mindlin)."""

RIGID = 1e-8
"""omega^2 of rigid motions against the first elastic one."""

MATERIAL = PlateMaterial(h=0.015, E=2e10, nu=0.3, rho=7500.0)
LOOPS = plate_loops(HEXAGON["outline"], [])
SQUARE = {"outline": [[0, 0], [1, 0], [1, 1], [0, 1]], "young": 2e11, "poisson": 0.3, "density": 7800.0}
PRINTED = 5e-5
"""[kg]: a mass with four decimals."""
AREA = 1e-13
"""Relative: a sum over triangles."""
ORTHONORMAL = 1e-11
"""Of modal masses; found 2e-15."""
SHIFTED = 1e-8
"""Of omega^2 with and without rigid motions in the eigenproblem; found 4e-11."""
NAVIER = 1e-5
"""Of frequencies of a pinned Kirchhoff plate; found 5e-7."""
WAVES = 2e-4
"""Of frequencies of a pinned Mindlin plate; found 6e-5."""
LEISSA = 5e-4
"""Of frequency parameters with five digits, the first of which are Leissa's; found 3e-5."""
THICK, THIN = 1e-2, 2e-3
"""Of frequencies, on a coarse mesh: shear of a plate of h/a = 0.01, found 2.5e-3; no locking at 1e-4, found 6e-4."""
CORNERS = 5e-3
"""Of frequencies of two elements: re-entrant corners are singular; found 3.5e-3."""
MASSES = 1e-12
"""Relative: two sums over triangles."""
MOMENTS = 1e-13
"""Of moments and gradients of the size of 1: a few products."""


def factor(thickness: float) -> float:
    """sqrt(D / rho h) of SQUARE, so that omega a^2 / factor is the textbooks' frequency parameter."""
    return float(np.sqrt(2e11 * thickness**2 / (12.0 * (1.0 - 0.09) * 7800.0)))


@pytest.mark.parametrize("theory", TABLE)
def test_hexagon_with_the_default_mesh(theory: str) -> None:
    body = plate(**HEXAGON, theory=theory)
    assert np.abs(body.angular_frequency / TABLE[theory] - 1.0).max() < DEFAULT
    assert body.mass == pytest.approx(73.0709, abs=PRINTED)
    assert body.mass == pytest.approx(7500.0 * 0.015 * 0.375 * np.sqrt(3.0), rel=AREA)
    assert np.allclose(body.M_ee, np.eye(10), rtol=0, atol=ORTHONORMAL)
    assert np.array_equal(body.K_ee, np.diag(np.diag(body.K_ee)))


@pytest.mark.parametrize(("theory", "size", "least"), [("kirchhoff", 0.25, 2.9), ("mindlin", 0.125, 2.7)])
def test_convergence_rates(theory: str, size: float, least: float) -> None:
    """Frequencies fall to the table, at the rate that the corners (120 degrees, free) allow: about 3 for the singular modes.

    Modes without a singular part converge faster, up to the elements' own 8 (Argyris) and 4 (MITC7).
    """
    found = plate_convergence(**HEXAGON, theory=theory, mesh_size=size)
    assert (np.diff(found.angular_frequency, axis=0) < 0.0).all()
    assert np.nanmin(found.rate) > least
    assert np.nanmax(found.rate) < 8.5
    assert np.abs(found.extrapolated / TABLE[theory] - 1.0).max() < LIMIT
    assert found.degrees_of_freedom[0] < found.degrees_of_freedom[1] < found.degrees_of_freedom[2]


@pytest.mark.parametrize("theory", TABLE)
def test_rigid_modes_are_separate(theory: str) -> None:
    """Energy of the rigid motions, the three lowest of all modes, and the momentum of the elastic ones."""
    mesh = plate_mesh(LOOPS, 0.12, [0.005, 0.02] if theory == "mindlin" else [])
    model = THEORIES[theory](mesh, MATERIAL, LOOPS[0], "free", 0)
    omega2, V = normal_modes(model.K, model.M, model.R, 3)
    rigid = np.linalg.solve(model.R.T @ (model.M @ model.R), model.R.T @ (model.K @ model.R))
    assert np.abs(np.linalg.eigvals(rigid)).max() < RIGID * omega2[0]
    assert np.abs(V.T @ (model.M @ model.R)).max() < RIGID
    shift = 0.1 * omega2[0]
    lowest = normal_modes((model.K + shift * model.M).tocsc(), model.M, np.zeros((model.K.shape[0], 0)), 4)[0] - shift
    assert np.abs(lowest[:3]).max() < RIGID * omega2[0]
    assert lowest[3] == pytest.approx(omega2[0], rel=SHIFTED)


def test_pinned_square_kirchhoff() -> None:
    """Navier: omega = pi^2 (m^2 + n^2) sqrt(D / rho h) / a^2."""
    body = plate(**SQUARE, thickness=0.002, theory="kirchhoff", boundary="pinned", modes=6)
    exact = np.pi**2 * np.array([2.0, 5.0, 5.0, 8.0, 10.0, 10.0])
    assert np.allclose(body.angular_frequency / factor(0.002), exact, rtol=NAVIER, atol=0)


@pytest.mark.parametrize("h", [0.01, 0.1])
def test_pinned_square_mindlin(h: float) -> None:
    """The same waves solve the Mindlin plate, three unknown amplitudes each: w sin sin, beta_x cos sin, beta_y sin cos."""
    body = plate(**SQUARE, thickness=h, boundary="pinned", modes=6)
    E, nu, rho = 2e11, 0.3, 7800.0
    D, S = E * h**3 / (12.0 * (1.0 - nu**2)), 5.0 / 6.0 * E / 2.6 * h
    exact = []
    for m, n in ((1, 1), (1, 2), (2, 1), (2, 2), (1, 3), (3, 1)):
        a, b = m * np.pi, n * np.pi
        K = np.array(
            [
                [S * (a * a + b * b), -S * a, -S * b],
                [-S * a, D * (a * a + 0.5 * (1 - nu) * b * b) + S, 0.5 * D * (1 + nu) * a * b],
                [-S * b, 0.5 * D * (1 + nu) * a * b, D * (b * b + 0.5 * (1 - nu) * a * a) + S],
            ]
        )
        exact.append(np.sqrt(np.linalg.eigvals(K / np.array([rho * h, rho * h**3 / 12, rho * h**3 / 12])[:, None]).real.min()))
    assert np.allclose(body.angular_frequency, exact, rtol=WAVES, atol=0)


@pytest.mark.parametrize(
    ("boundary", "parameters"),
    [("clamped", [35.985, 73.394, 73.394, 108.22]), ("free", [13.468, 19.596, 24.270, 34.801])],
)
def test_clamped_and_free_square(boundary: str, parameters: list[float]) -> None:
    """omega a^2 sqrt(rho h / D): A. W. Leissa, J. Sound Vib. 31, 1973, with later, more exact digits; 5e-4 covers them."""
    body = plate(**SQUARE, thickness=0.001, theory="kirchhoff", boundary=boundary, modes=4)
    assert np.allclose(body.angular_frequency / factor(0.001), parameters, rtol=LEISSA, atol=0)


def test_no_locking() -> None:
    """From 1/100 to 1/10000 of the side, Mindlin goes to Kirchhoff; the same coarse mesh is used for all."""
    errors = []
    for h in (1e-2, 1e-3, 1e-4):
        body = plate(**SQUARE, thickness=h, boundary="clamped", modes=4, mesh_size=0.1)
        thin = plate(**SQUARE, thickness=h, theory="kirchhoff", boundary="clamped", modes=4)
        errors.append(np.abs(body.angular_frequency / thin.angular_frequency - 1.0).max())
    assert errors[0] < THICK
    assert errors[2] < THIN


def test_two_theories_agree_on_a_thin_plate_with_holes() -> None:
    """An L-shaped plate with a hole: two elements without a common line of code."""
    thin = {
        "outline": [[0, 0], [1, 0], [1, 0.4], [0.4, 0.4], [0.4, 1], [0, 1]],
        "holes": [0.08 * regular_outline(8, 1.0) + [0.2, 0.2]],
        "thickness": 5e-4, "young": 7e10, "poisson": 0.33, "density": 2700.0, "modes": 6,
    }  # fmt: skip
    a, b = plate(**thin, theory="mindlin"), plate(**thin, theory="kirchhoff")
    assert np.allclose(a.angular_frequency, b.angular_frequency, rtol=CORNERS, atol=0)
    assert a.mass == pytest.approx(b.mass, rel=MASSES)


def test_the_reduction_keeps_gradients_and_side_moments() -> None:
    """Pi keeps the eight moments of every slope shape, and it keeps the gradients of quadratics, so shear can vanish."""
    X = np.array([[0.2, 0.5, 0.1], [0.3, 0.2, 0.7]])
    expected = _moments_of_slopes()
    for axis in range(2):
        found = side_moments(lambda points, axis=axis: reference_reduction(points)[axis])
        assert np.allclose(found, expected[axis], rtol=0, atol=MOMENTS)
    corners = np.array([[0.0, 1.0, 0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 1.0, 0.0, 0.5, 0.5]])
    gradients = (lambda x, y: (2 * x, 0 * y), lambda x, y: (y, x), lambda x, y: (0 * x, 2 * y), lambda x, y: (1 + 0 * x, 0 * y))
    for gradient in gradients:
        values = np.array(gradient(*corners))
        field = sum(np.einsum("i,icq->cq", values[axis], reference_reduction(X)[axis, : BUBBLE - 1]) for axis in range(2))
        assert np.allclose(field, gradient(*X), rtol=0, atol=MOMENTS)


def _moments_of_slopes() -> list[np.ndarray]:
    import skfem

    element = skfem.ElementTriP2B()
    result = []
    for axis in range(2):

        def slope(points: np.ndarray, axis: int = axis) -> np.ndarray:
            values = np.zeros((BUBBLE, 2, points.shape[1]))
            for i in range(BUBBLE):
                values[i, axis] = element.lbasis(points, i)[0]
            return values

        result.append(side_moments(slope))
    return result
