"""Flexible plates: polygon outline, holes, point masses; Mindlin or Kirchhoff; normal or Craig-Bampton modes.

The plate lies in the plane z = 0 of the body frame, in the coordinates of its outline; only bending is elastic, but for a
stiffened plate that is a link (`root`), whose tips also move and turn in its plane. Free plates use the mean frame: elastic
modes carry no momentum, MS_de = 0 and beta = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import block_diag
from threadpoolctl import threadpool_limits

from flexapod.calls import check_text, checked
from flexapod.flexible.body import FlexibleBody, Interface, body_from_integrals
from flexapod.flexible.body_cache import cached_body
from flexapod.flexible.checked_arrays import Floats, checked_integer, floats, positive
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.mesh import plate_mesh
from flexapod.flexible.mode_order import orientation, weighted_polynomials
from flexapod.flexible.normal_modes import craig_bampton, normal_modes, residual_modes
from flexapod.flexible.plate_kirchhoff import kirchhoff_model
from flexapod.flexible.plate_membrane import Membrane, membrane, quadratic_displacements, shapes_in_plane, values_at
from flexapod.flexible.plate_mindlin import mindlin_model
from flexapod.flexible.plate_model import Fields, Matrix, PlateMaterial, PlateModel
from flexapod.flexible.polygon import area, plate_loops
from flexapod.flexible.rounding import without_rounding
from flexapod.flexible.shape_integrals import Nodes, shape_integrals

THEORIES = {"mindlin": mindlin_model, "kirchhoff": kirchhoff_model}
BOUNDARIES = ("free", "pinned", "clamped")
METHODS = ("normal", "craig-bampton", "residual")

DEFAULT_SIZE = {"mindlin": 0.062, "kirchhoff": 0.155}
"""Default side of the triangles per root of the plate's area, for ten modes: 3e-4 and 3e-5 on a hexagon."""

LAYERS = 3
LAYER_DEPTH = 1.5
"""Layers along the edges of a Mindlin plate, and their depth in thicknesses: the edge layer decays by 1/e in h / sqrt(10)."""

EXTRA_MODES = 3
"""Modes computed beyond those asked for, so that a group of equal frequencies is not cut before it is oriented."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PlateProblem:
    """Checked arguments of a plate: loops, material, theory, boundary, point masses (p, 3), size and refinement of the mesh."""

    loops: list[Floats]
    material: PlateMaterial
    theory: str
    boundary: str
    masses: Floats
    size: float
    refine: int

    def model(self) -> PlateModel:
        """Mesh and finite element matrices; Mindlin plates thinner than the mesh get layers along their edges."""
        depth = min(LAYER_DEPTH * self.material.h, self.size)
        layered = self.theory == "mindlin" and self.material.h < self.size
        depths = [depth * (j / LAYERS) ** 2 for j in range(1, LAYERS + 1)] if layered else []
        mesh = plate_mesh(self.loops, self.size, depths)
        return THEORIES[self.theory](mesh, self.material, self.loops[0], self.boundary, self.refine)


@checked(theory=check_text, boundary=check_text, method=check_text)
def plate(
    *,
    outline: ArrayLike,
    thickness: float,
    young: float,
    poisson: float,
    density: float,
    theory: str = "mindlin",
    modes: int = 10,
    holes: Sequence[ArrayLike] = (),
    point_masses: Sequence[Sequence[float]] = (),
    boundary: str = "free",
    method: str = "normal",
    mesh_size: float | None = None,
    refine: int = 0,
    interfaces: Mapping[str, Sequence[float]] | None = None,
    damping: float | ArrayLike = 0.0,
    stiffening: bool = False,
    root: str | None = None,
    cache: bool = True,
) -> FlexibleBody:
    """A flexible plate.

    Args:
        outline: corners (n, 2) in order [m], either orientation; a simple polygon.
        thickness [m], young [Pa], poisson, density [kg/m^3]: of the plate.
        theory: mindlin (shear and rotary inertia) or kirchhoff (thin).
        modes: elastic modes; for craig-bampton the modes with held interfaces, beside the interface deflections.
        holes: outlines of holes. point_masses: (x, y, mass) on the plate [m, m, kg].
        boundary: of the outline: free, pinned (no deflection) or clamped; holes stay free.
        method: normal, or craig-bampton with w and both slopes at every interface as interface displacements, or residual: normal
            modes beside the deflections under a force and both moments at every interface.
        mesh_size: side of the triangles [m]; by default from the area and the number of modes.
        refine: times each triangle is divided into four.
        interfaces: name to (x, y) or (x, y, z) [m], z being the height of a point rigidly fixed above the plate.
        damping: modal damping ratios, or a matrix (N, N).
        stiffening: whether loads in its plane at the interfaces, and its spin, change its bending stiffness.
        root: interface that a stiffened plate is held at as a link: three more coordinates per other interface are its
            displacements and its rotation in the plane, under forces and couples there.
        cache: whether to keep the result on disk.
    Returns:
        The body in mass-normalised modes, degenerate ones oriented by the rule of `mode_order`.

    Source: Long 2014, section 6.1. Checked by: tests/flexible/test_plate.py, tests/flexible/test_plate_modes.py.
    """
    given = plate_problem(
        outline=outline, thickness=thickness, young=young, poisson=poisson, density=density, theory=theory, modes=modes,
        holes=holes, point_masses=point_masses, boundary=boundary, mesh_size=mesh_size, refine=refine,
    )  # fmt: skip
    points = {str(name): _point(name, place) for name, place in (interfaces or {}).items()}
    if method not in METHODS:
        raise FlexibleBodyError(f"method must be one of {', '.join(METHODS)}, is {method!r}.")
    if root is not None and (root not in points or not stiffening):
        what = "stiffening" if root in points else f"an interface of that name; there are {', '.join(points) or 'none'}"
        raise FlexibleBodyError(f"root {root!r} needs {what}.")
    arguments = {
        "loops": [loop.tolist() for loop in given.loops], "material": [thickness, young, poisson, density], "theory": theory,
        "modes": modes, "masses": given.masses.tolist(), "boundary": boundary, "method": method, "size": given.size,
        "refine": refine, "interfaces": [[name, place.tolist()] for name, place in points.items()], "stiffening": stiffening,
        "root": root,
    }  # fmt: skip

    def make() -> FlexibleBody:
        return _solve(given, modes, method, points, stiffening, root)

    with threadpool_limits(1, user_api="blas"):  # thousands of small products: threads would spend their time on waiting
        body = without_rounding(cached_body("plate", arguments, make) if cache else make())
        return body if np.ndim(damping) == 0 and damping == 0.0 else body.with_damping(damping)


# -- arguments ------------------------------------------------------------------------------------------
def plate_problem(
    *, outline: ArrayLike, thickness: float, young: float, poisson: float, density: float, theory: str, modes: int,
    holes: Sequence[ArrayLike] = (), point_masses: Sequence[Sequence[float]] = (), boundary: str = "free",
    mesh_size: float | None = None, refine: int = 0,
) -> PlateProblem:  # fmt: skip
    """The checked arguments of `plate`."""
    loops = plate_loops(outline, holes)
    if theory not in THEORIES:
        raise FlexibleBodyError(f"theory must be mindlin or kirchhoff, is {theory!r}.")
    if boundary not in BOUNDARIES:
        raise FlexibleBodyError(f"boundary must be one of {', '.join(BOUNDARIES)}, is {boundary!r}.")
    if isinstance(poisson, bool | str) or not -1.0 < poisson < 0.5:
        raise FlexibleBodyError(f"poisson must be above -1 and below 0.5, is {poisson!r}; metals have about 0.3.")
    material = PlateMaterial(
        h=positive("thickness", thickness, "metres"), E=positive("young", young, "pascals"), nu=float(poisson),
        rho=positive("density", density, "kg/m^3"),
    )  # fmt: skip
    masses = floats("point_masses", np.reshape(point_masses, (0, 3)) if len(point_masses) == 0 else point_masses, (None, 3))
    if masses[:, 2].min(initial=0.0) < 0.0:
        raise FlexibleBodyError(f"point_masses must not be negative, but one is {masses[:, 2].min():g} kg.")
    checked_integer("modes", modes, 0)
    checked_integer("refine", refine, 0)
    scale = np.sqrt(sum(area(loop) for loop in loops))
    usual = DEFAULT_SIZE[theory] * scale * (10.0 / max(modes, 10)) ** 0.25
    size = usual if mesh_size is None else positive("mesh_size", mesh_size, "metres")
    if size < 2e-3 * scale and mesh_size is None:
        raise FlexibleBodyError(f"modes: {modes} modes need a mesh finer than 2e-3 of the plate's size; ask for fewer.")
    if size < 2e-3 * scale:
        raise FlexibleBodyError(f"mesh_size {size:g} m is below 2e-3 of the plate's size: the mesh would be enormous.")
    return PlateProblem(
        loops=loops, material=material, theory=theory, boundary=boundary, masses=masses, size=float(size), refine=refine
    )  # fmt: skip


def _point(name: str, place: Sequence[float]) -> Floats:
    """An interface's place as (3,)."""
    given = floats(f"interface {name}", place, (None,))
    if len(given) not in (2, 3):
        raise FlexibleBodyError(f"interface {name} must be (x, y) or (x, y, z), has {len(given)} numbers.")
    return np.concatenate([given, np.zeros(3 - len(given))])


# -- modes and the body ----------------------------------------------------------------------------------
def plate_modes(given: PlateProblem, count: int, method: str, places: Floats) -> tuple[Floats, Floats, PlateModel]:
    """omega^2, the modes as degrees of freedom of the whole plate (n, N), extra ones included, and the model."""
    model = given.model()
    T, M = model.supports, model.M
    if len(given.masses):
        w = model.at(given.masses[:, :2]).w
        M = M + w.T @ sparse.diags_array(given.masses[:, 2]) @ w
    R = model.R if given.boundary == "free" else np.zeros((M.shape[0], 0))
    K_f, M_f = sparse.csc_array(T.T @ model.K @ T), sparse.csc_array(T.T @ M @ T)
    R_f = T.T @ R
    if method != "normal":
        once = np.array(list(dict.fromkeys(map(tuple, places[:, :2].round(12)))))  # two joints at one place are held once
        held = model.at(once)
        C = sparse.vstack([held.w, held.beta_x, held.beta_y]) @ T
        moved = np.abs(C).sum(axis=1) > 1e-9
        reduce = craig_bampton if method == "craig-bampton" else residual_modes
        omega2, V = reduce(K_f, M_f, R_f, C.toarray()[moved], count)
    else:
        most = K_f.shape[0] - R_f.shape[1]
        if count > most:
            raise FlexibleBodyError(f"modes must be at most {most}, the degrees of freedom of this mesh, is {count}; refine it.")
        omega2, V = normal_modes(K_f, M_f, R_f, count, EXTRA_MODES, definite=model.rotary)
    return omega2, T @ V, model


def oriented_modes(given: PlateProblem, count: int, method: str, places: Floats) -> tuple[Floats, Floats, PlateModel, Nodes]:
    """omega^2 (N,), the modes (n, N) in the order and orientation of `mode_order`, the model, and its nodes with these modes."""
    if method != "normal" and len(places) == 0:
        held = (
            ""
            if given.boundary == "free"
            else f" off its outline, which `boundary: {given.boundary}` holds; write `boundary: free`"
        )
        raise FlexibleBodyError(f"method {method} needs at least one interface{held}.")
    omega2, V, model = plate_modes(given, count, method, places)
    Q, omega2 = orientation(omega2, _functionals(given, model) @ V)
    if method == "normal":
        Q, omega2 = Q[:, :count], omega2[:count]
    V = V @ Q
    return omega2, V, model, _nodes(given, model, V)


def _functionals(given: PlateProblem, model: PlateModel) -> Floats:
    """The functionals of `mode_order` along z as rows for degrees of freedom: (number, n); there are none in the plane."""
    heavy = [(fields, mass) for fields, mass, _ in _parts(given, model) if mass.any()]
    points = np.concatenate([np.hstack([fields.points, np.zeros((len(mass), 1))]) for fields, mass in heavy])
    weighted = weighted_polynomials(points, np.concatenate([mass for _, mass in heavy]))
    result: Floats = (sparse.vstack([fields.w for fields, _ in heavy]).T @ weighted).T
    return result


def _solve(
    given: PlateProblem, count: int, method: str, points: Mapping[str, Floats], stiffening: bool, root: str | None
) -> FlexibleBody:
    places = np.array(list(points.values())).reshape(-1, 3)
    omega2, V, model, nodes = oriented_modes(given, count, method, places)
    if not stiffening:
        return body_from_integrals(
            shape_integrals(nodes), K_ee=np.diag(omega2), interfaces=_interfaces(model, points, V), nodes=nodes
        )  # fmt: skip
    plane = membrane(model, given.material, given.masses, places[:, :2])
    U = np.zeros((len(plane.R), 0)) if root is None else shapes_in_plane(plane, list(points).index(root))
    curving, rotating, T_ee, stretch = quadratic_displacements(
        model, given.material, plane, places, V, np.sqrt(omega2), U=U
    )  # fmt: skip
    found = {}
    for k, (name, point) in enumerate(_interfaces(model, points, V).items()):
        assert point.Phi_r is not None
        shift, rotation = _in_plane(plane.places[[k]], U)[0], np.vstack([np.zeros((2, U.shape[1])), plane.rotations[[k]] @ U])
        found[name] = Interface(
            r0=point.r0, Phi_d=np.hstack([point.Phi_d, shift]), Phi_r=np.hstack([point.Phi_r, rotation]), Q=curving[k],
            Q_r=rotating[k],
        )  # fmt: skip
    nodes = _with_plane(given, model, nodes, plane, U)
    return body_from_integrals(
        shape_integrals(nodes), K_ee=block_diag(np.diag(omega2), U.T @ (plane.K @ U)), interfaces=found, nodes=nodes,
        T_ee=T_ee, stretch=stretch,
    )  # fmt: skip


def _interfaces(model: PlateModel, points: Mapping[str, Floats], V: Floats) -> dict[str, Interface]:
    """Points with their shapes of bending."""
    if not points:
        return {}
    places = np.array(list(points.values()))
    shapes = _displacements(model.at(places[:, :2]), V, places[:, 2])
    return {name: Interface(r0=places[k], Phi_d=shapes[0][k], Phi_r=shapes[1][k]) for k, name in enumerate(points)}


def _with_plane(given: PlateProblem, model: PlateModel, nodes: Nodes, plane: Membrane, U: Floats) -> Nodes:
    """Nodes with displacements in the plane U as coordinates behind the modes."""
    if not U.shape[1]:
        return nodes
    assert nodes.Phi_r is not None
    parts = [plane.corners, plane.inside]
    if len(given.masses):
        parts.append(values_at(model, plane.places.shape[1], given.masses[:, :2]))
    shifts = np.concatenate([_in_plane(at, U) for at in parts])
    return replace(
        nodes, Phi_d=np.concatenate([nodes.Phi_d, shifts], axis=2),
        Phi_r=np.concatenate([nodes.Phi_r, np.zeros_like(shifts)], axis=2),
    )  # fmt: skip


def _in_plane(at: Matrix, U: Floats) -> Floats:
    """Displacements (p, 3, k) of points with shape values (p, n)."""
    n = at.shape[1]
    return np.stack([at @ U[:n], at @ U[n:], np.zeros((at.shape[0], U.shape[1]))], axis=1)


def _displacements(fields: Fields, V: Floats, height: Floats) -> tuple[Floats, Floats]:
    """Phi_d, Phi_r (p, 3, N) of points at a height above the middle plane: Phi_d = (-z beta_x, -z beta_y, w)."""
    w, beta_x, beta_y = fields.w @ V, fields.beta_x @ V, fields.beta_y @ V
    z = height[:, None]
    return np.stack([-z * beta_x, -z * beta_y, w], axis=1), np.stack([beta_y, -beta_x, np.zeros_like(w)], axis=1)


def _parts(given: PlateProblem, model: PlateModel) -> list[tuple[Fields, Floats, float]]:
    """Vertices, integration points and point masses: their fields, masses [kg] and squared radii of inertia [m^2]."""
    h = given.material.h
    parts = [(model.vertices, np.zeros(len(model.vertices.points)), 0.0)]
    parts.append((model.quadrature, given.material.rho * h * model.weights, h * h / 12.0))
    if len(given.masses):
        parts.append((model.at(given.masses[:, :2]), given.masses[:, 2], 0.0))
    return parts


def _nodes(given: PlateProblem, model: PlateModel, V: Floats) -> Nodes:
    """Vertices for pictures, integration points with their mass, point masses.

    The mass of an integration point is spread over the thickness. Its rotation is that of the inertia: none for Kirchhoff.
    """
    parts = _parts(given, model)
    mass = np.concatenate([m for _, m, _ in parts])
    n = len(mass)
    r0, spread, Phi_d, Phi_r = (np.zeros((n, 3, *more)) for more in ((), (3,), (V.shape[1],), (V.shape[1],)))
    end = 0
    for fields, m, thick in parts:
        rows, end = slice(end, end + len(m)), end + len(m)
        r0[rows, :2], spread[rows, 2, 2], Phi_d[rows, 2] = fields.points, thick, fields.w @ V
        if model.rotary or thick == 0.0:
            Phi_r[rows, 0], Phi_r[rows, 1] = fields.beta_y @ V, -(fields.beta_x @ V)
    for shapes in (Phi_d, Phi_r):
        shapes.setflags(write=False)
    return Nodes(r0=r0, mass=mass, Phi_d=Phi_d, Phi_r=Phi_r, spread=spread, triangles=model.triangles)
