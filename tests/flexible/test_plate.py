"""Plates as bodies: rigid data, point masses, interfaces, component modes, and what is refused."""

import numpy as np
import pytest
from bodies import HEXAGON

from flexapod.flexible import FlexibleBodyError, plate, regular_outline
from flexapod.flexible.mesh import plate_mesh
from flexapod.flexible.plate_kirchhoff import kirchhoff_model
from flexapod.flexible.plate_model import PlateMaterial
from flexapod.flexible.polygon import plate_loops

ROUNDING = 1e-11
"""Relative, and of shapes of the size of 1: sums over the elements."""
SQUARE = {
    "outline": [[0, 0], [1, 0], [1, 1], [0, 1]], "thickness": 0.01, "young": 2e11, "poisson": 0.3, "density": 7800.0,
    "theory": "kirchhoff",
}  # fmt: skip
CORNERS = {name: tuple(corner) for name, corner in zip("ABCDEF", regular_outline(6, 0.5), strict=True)}
VANISHES = 1e-14
"""[kg m], and ten times it [kg m^2]: entries that vanish."""
POINT = 1e-4
"""Of a frequency: the deflection under a point mass is singular; found 6e-5."""
SHEAR, SLOPES = 0.03, 1e-3
"""Of the largest rotation: shear of a Mindlin plate, and one-sided differences over 1e-4 m."""
STATICS = 1e-9
"""Relative: solves of stiffness matrices of a free plate; found 2e-14."""
SIXTEEN = 5e-3
"""Of four frequencies with sixteen component modes; found 1e-3."""
MOVED, MOVED_SHAPES = 1e-4, 1e-3
"""Of frequencies and of shapes: coordinates of 30 m make another mesh; found 1e-6 and 4e-6."""
MOVED_INERTIA = 1e-9
"""Relative: a moment about the centre from one 1e4 times larger about the origin; found 1e-11."""


@pytest.mark.parametrize("theory", ["mindlin", "kirchhoff"])
def test_rigid_data(theory: str) -> None:
    """A rectangle a x b x h with a rectangular hole, away from the origin: boxes by the textbook and Steiner."""
    a, b, h, rho = 0.8, 0.5, 0.02, 2700.0
    shift = np.array([0.3, -0.2])
    box = np.array([[0, 0], [a, 0], [a, b], [0, b]]) + shift
    hole = np.array([[0.1, 0.1], [0.3, 0.1], [0.3, 0.2], [0.1, 0.2]]) + shift
    body = plate(outline=box, holes=[hole], thickness=h, young=7e10, poisson=0.33, density=rho, theory=theory, modes=1)

    def brick(lx: float, ly: float, centre: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        m = rho * lx * ly * h
        c = np.array([*centre, 0.0])
        own = m / 12.0 * np.diag([ly**2 + h**2, lx**2 + h**2, lx**2 + ly**2])
        return m, m * c, own + m * (c @ c * np.eye(3) - np.outer(c, c))

    whole, cut = brick(a, b, shift + np.array([a / 2, b / 2])), brick(0.2, 0.1, shift + np.array([0.2, 0.15]))
    assert body.mass == pytest.approx(whole[0] - cut[0], rel=ROUNDING)
    assert np.allclose(body.MS_r, whole[1] - cut[1], rtol=ROUNDING, atol=VANISHES)
    assert np.allclose(body.I_rr, whole[2] - cut[2], rtol=ROUNDING, atol=10 * VANISHES)


def test_a_point_mass_lowers_the_frequency_as_the_series_says() -> None:
    """Pinned square with a mass at (x, y): 1 / (m omega^2) = sum phi_mn(x, y)^2 / (omega_mn^2 - omega^2), Navier's modes."""
    from scipy.optimize import brentq

    x, y, m = 0.37, 0.52, 20.0
    coarse, body = (plate(**SQUARE, boundary="pinned", modes=1, point_masses=[(x, y, m)], refine=k) for k in (0, 1))
    mu = 78.0
    bare = np.pi**2 * np.sqrt(2e11 * 1e-4 / (12 * 0.91 * 7800.0))
    k = np.arange(1, 200)
    omega2 = (bare * (k[:, None] ** 2 + k[None, :] ** 2)) ** 2
    shape2 = 4.0 / mu * np.sin(k[:, None] * np.pi * x) ** 2 * np.sin(k[None, :] * np.pi * y) ** 2

    def balance(omega: float) -> float:
        return float(1.0 / (m * omega**2) - np.sum(shape2 / (omega2 - omega**2)))

    exact = brentq(balance, 0.2 * 2 * bare, 0.999 * 2 * bare)
    errors = [abs(b.angular_frequency[0] / exact - 1.0) for b in (coarse, body)]
    assert errors[1] < POINT
    assert errors[0] > 3.0 * errors[1], "the deflection under a point load is singular: rate 2"
    assert body.angular_frequency[0] < 0.85 * 2 * bare
    assert body.mass == pytest.approx(78.0 + m, rel=ROUNDING)


@pytest.mark.parametrize("theory", ["mindlin", "kirchhoff"])
def test_interface_shapes_are_derivatives_of_each_other(theory: str) -> None:
    """Rotations against differences of the deflection (Kirchhoff exactly; Mindlin up to shear), heights against rotations."""
    step = 1e-4
    places = {"M": (0.1, 0.07), "x": (0.1 + step, 0.07), "y": (0.1, 0.07 + step), "top": (0.1, 0.07, 0.05)}
    body = plate(**HEXAGON, theory=theory, modes=5, interfaces=places)
    at = body.interfaces
    w_x = (at["x"].Phi_d[2] - at["M"].Phi_d[2]) / step
    w_y = (at["y"].Phi_d[2] - at["M"].Phi_d[2]) / step
    rotation = at["M"].Phi_r
    assert rotation is not None
    assert at["top"].Phi_r is not None
    tolerance = SHEAR * np.abs(rotation).max() if theory == "mindlin" else SLOPES * np.abs(rotation).max()
    assert np.abs(rotation[0] - w_y).max() < tolerance
    assert np.abs(rotation[1] + w_x).max() < tolerance
    assert np.allclose(rotation[2], 0.0)
    lever = np.cross(rotation, [0.0, 0.0, 0.05], axis=0)
    assert np.allclose(at["top"].Phi_d, at["M"].Phi_d + lever, rtol=0, atol=ROUNDING)
    assert np.allclose(at["top"].r0, [0.1, 0.07, 0.05])


def test_component_modes_of_a_plate_are_statically_exact() -> None:
    """Balanced forces at the six corners: the component modes deflect as the whole model, ten normal modes less."""
    force = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    data = HEXAGON | {"theory": "kirchhoff", "mesh_size": 0.125, "interfaces": CORNERS}
    component, normal = plate(**data, method="craig-bampton", modes=0), plate(**data, modes=10)
    found = []
    for body in (component, normal):
        W = np.array([body.interfaces[name].Phi_d[2] for name in CORNERS])
        found.append(force @ W @ np.linalg.solve(body.K_ee, W.T @ force))
    loops = plate_loops(HEXAGON["outline"], [])
    model = kirchhoff_model(plate_mesh(loops, 0.125), PlateMaterial(h=0.015, E=2e10, nu=0.3, rho=7500.0), loops[0], "free")
    load = model.at(np.array(list(CORNERS.values()))).w.T @ force
    scale = 1.0 / np.sqrt(model.K.diagonal())
    K = scale[:, None] * model.K.toarray() * scale
    exact = (scale * load) @ np.linalg.lstsq(K, scale * load, rcond=1e-12)[0]
    assert len(component.M_ee) == 18 - 3
    assert found[0] == pytest.approx(exact, rel=STATICS, abs=0)
    assert found[1] < 0.98 * exact, "normal modes leave out compliance, so the check can fail"


def test_component_modes_contain_the_low_normal_modes() -> None:
    body = plate(**HEXAGON, theory="kirchhoff", method="craig-bampton", modes=16, interfaces={"A": (0.5, 0.0), "B": (-0.1, 0.3)})
    free = plate(**HEXAGON, theory="kirchhoff", modes=4)
    assert (body.angular_frequency[:4] >= free.angular_frequency * (1.0 - 1e-9)).all()
    assert np.allclose(body.angular_frequency[:4], free.angular_frequency, rtol=SIXTEEN, atol=0)
    assert np.abs(body.MS_de).max() < ROUNDING


def test_the_frame_does_not_matter() -> None:
    """The same plate drawn elsewhere and turned: same frequencies, same deflections at the same material point."""
    c, s = np.cos(0.7), np.sin(0.7)
    rotation = np.array([[c, -s], [s, c]])
    outline = np.array([[0, 0], [0.9, 0.1], [1.0, 0.6], [0.2, 0.7]])
    data = {"thickness": 0.01, "young": 2e11, "poisson": 0.3, "density": 7800.0, "theory": "kirchhoff", "modes": 3}
    one = plate(outline=outline, interfaces={"A": (0.9, 0.1)}, **data)
    other = plate(outline=outline @ rotation.T + [30.0, -20.0], interfaces={"A": rotation @ [0.9, 0.1] + [30.0, -20.0]}, **data)
    assert np.allclose(one.angular_frequency, other.angular_frequency, rtol=MOVED, atol=0)
    assert np.allclose(np.abs(one.interfaces["A"].Phi_d[2]), np.abs(other.interfaces["A"].Phi_d[2]), rtol=MOVED_SHAPES, atol=0)
    assert np.allclose(one.rigid().inertia_com[2, 2], other.rigid().inertia_com[2, 2], rtol=MOVED_INERTIA, atol=0)


def test_a_point_off_the_plate_is_refused() -> None:
    with pytest.raises(FlexibleBodyError, match=r"The point \(0\.5, 0\.2\) m is not on the plate"):
        plate(**HEXAGON, theory="kirchhoff", modes=1, mesh_size=0.3, interfaces={"A": (0.5, 0.2)})


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"outline": [[0, 0], [1, 1], [1, 0], [0, 1]]}, "outline crosses itself"),
        ({"holes": [[[2, 2], [3, 2], [2, 3]]]}, "hole 0 must lie inside the outline"),
        ({"thickness": -0.01}, "thickness must be a positive number of metres, is -0.01"),
        ({"thickness": "thin"}, "thickness must be a positive number"),
        ({"young": 0.0}, "young must be a positive number of pascals"),
        ({"density": float("nan")}, "density must be a positive number"),
        ({"poisson": 0.5}, "poisson must be above -1 and below 0.5"),
        ({"theory": "love"}, "theory must be mindlin or kirchhoff"),
        ({"boundary": "glued"}, "boundary must be one of free, pinned, clamped"),
        ({"method": "guyan"}, "method must be one of normal, craig-bampton, residual"),
        ({"method": "craig-bampton"}, "needs at least one interface.$"),
        ({"method": "craig-bampton", "boundary": "clamped"}, "interface off its outline, which `boundary: clamped` holds; write"),
        ({"modes": -1}, "modes must be a whole number, at least 0"),
        ({"modes": 5000}, "modes must be at most .* the degrees of freedom of this mesh"),
        ({"mesh_size": -1.0}, "mesh_size must be a positive number of metres"),
        ({"mesh_size": 1e-6}, "the mesh would be enormous"),
        ({"point_masses": [(0, 0, -1.0)]}, "point_masses must not be negative"),
        ({"point_masses": [(0, 0)]}, r"point_masses must have the shape \(any, 3\)"),
        ({"interfaces": {"A": (0.1,)}}, r"interface A must be \(x, y\) or \(x, y, z\)"),
    ],
)
def test_wrong_plates(change: dict[str, object], text: str) -> None:
    arguments = HEXAGON | {"theory": "kirchhoff", "modes": 2, "mesh_size": 0.3} | change
    with pytest.raises(FlexibleBodyError, match=text):
        plate(**arguments)  # type: ignore[arg-type]
