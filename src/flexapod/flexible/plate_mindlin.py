r"""Mindlin plate by the MITC7 triangle: free of shear locking down to any thickness.

.. math::
    K = \int \kappa^T D \kappa + \tfrac56 G h\,|\nabla w - \Pi\beta|^2\,dA, \qquad
    M = \int \rho h\,w^2 + \tfrac{\rho h^3}{12} |\beta|^2\,dA,
    \kappa = (\beta_{x,x}, \beta_{y,y}, \beta_{x,y} + \beta_{y,x})

w is quadratic, beta quadratic with a cubic bubble. Pi carries beta to the Nedelec space of gradients of quadratics: it keeps the
moments along the sides and the mean over the triangle, so that the shear can vanish without stopping the bending.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from flexapod.flexible.checked_arrays import Floats, Integers
from flexapod.flexible.mesh import TriangleMesh
from flexapod.flexible.plate_model import (
    Fields,
    PlateMaterial,
    PlateModel,
    ScaledMesh,
    congruence,
    field_matrix,
    locate,
    null_space,
    scaled,
    selection,
)

if TYPE_CHECKING:
    from skfem import Basis  # type: ignore[import-untyped]

DEGREE = 6
"""Quadrature exact for the square of the cubic bubble."""

SHEAR_FACTOR = 5.0 / 6.0
BUBBLE = 7
"""Shape functions of one slope: six quadratics and the bubble."""


def mindlin_model(mesh: TriangleMesh, material: PlateMaterial, outline: Floats, boundary: str, refine: int = 0) -> PlateModel:
    """Matrices of a Mindlin plate; `boundary` holds the outline: free, pinned (w = 0 and no slope along the edge) or clamped.

    Source: F. Brezzi, M. Fortin, R. Stenberg, Math. Models Methods Appl. Sci. 1, 1991.
    Checked by: tests/flexible/test_plate_modes.py.
    """
    import skfem

    inner = scaled(mesh, refine)
    L = inner.radius
    basis_w = skfem.Basis(inner.skfem, skfem.ElementTriP2(), intorder=DEGREE)
    basis_b = skfem.Basis(inner.skfem, skfem.ElementTriP2B(), intorder=DEGREE)
    numbers, n = _numbers(basis_w, basis_b)
    w, x, y = numbers
    slope, shear = _gradients(basis_b) / L, _shear_slopes(inner, basis_b)
    curvatures = [
        field_matrix(slope[:, 0], x, n),
        field_matrix(slope[:, 1], y, n),
        field_matrix(slope[:, 1], x, n) + field_matrix(slope[:, 0], y, n),
    ]
    gradient = _gradients(basis_w) / L
    shears = [
        field_matrix(gradient[:, c], w, n) - field_matrix(shear[0, :, c], x, n) - field_matrix(shear[1, :, c], y, n)
        for c in range(2)
    ]
    weights = np.asarray(basis_w.dx).ravel() * L**2
    points = inner.physical(np.asarray(basis_w.global_coordinates()))
    quadrature = _fields(basis_w, basis_b, numbers, n, points)
    G_h = SHEAR_FACTOR * material.E / (2.0 * (1.0 + material.nu)) * material.h
    inertia = material.rho * material.h * np.diag([1.0, material.h**2 / 12.0, material.h**2 / 12.0])
    first = basis_w.nodal_dofs[0]
    vertices = Fields(
        points=inner.physical(inner.skfem.p),
        w=selection(first, n),
        beta_x=selection(basis_w.N + basis_b.nodal_dofs[0], n),
        beta_y=selection(basis_w.N + basis_b.N + basis_b.nodal_dofs[0], n),
    )
    return PlateModel(
        K=congruence(curvatures, material.bending(), weights) + congruence(shears, G_h * np.eye(2), weights),
        M=congruence([quadrature.w, quadrature.beta_x, quadrature.beta_y], inertia, weights),
        R=_rigid(inner, basis_w, basis_b),
        vertices=vertices,
        triangles=inner.skfem.t.T.astype(np.int64),
        quadrature=quadrature,
        weights=weights,
        at=lambda where: _fields_at(inner, basis_w, basis_b, where),
        supports=_supports(inner, basis_w, basis_b, outline, boundary),
        rotary=True,
        gradient=(field_matrix(gradient[:, 0], w, n), field_matrix(gradient[:, 1], w, n)),
        curvatures=curvatures,
        mesh=inner,
        degree=DEGREE,
    )


def _numbers(basis_w: Basis, basis_b: Basis) -> tuple[tuple[Integers, Integers, Integers], int]:
    """Numbers of the degrees of freedom per element of w, beta_x and beta_y, and how many there are in all."""
    slopes = basis_w.N + basis_b.element_dofs
    return (basis_w.element_dofs, slopes, slopes + basis_b.N), int(basis_w.N + 2 * basis_b.N)


def _gradients(basis: Basis) -> Floats:
    """(d, 2, e, q) gradients of the shape functions in the plane xi."""
    return np.stack([np.broadcast_to(b[0].grad, (2, *basis.dx.shape)) for b in basis.basis])


def _values(basis: Basis) -> Floats:
    return np.stack([np.broadcast_to(np.asarray(b[0]), basis.dx.shape) for b in basis.basis])


def _fields(basis_w: Basis, basis_b: Basis, numbers: tuple[Integers, Integers, Integers], n: int, points: Floats) -> Fields:
    w, x, y = numbers
    slope = _values(basis_b)
    return Fields(
        points=points,
        w=field_matrix(_values(basis_w), w, n),
        beta_x=field_matrix(slope, x, n),
        beta_y=field_matrix(slope, y, n),
    )


def _fields_at(inner: ScaledMesh, basis_w: Basis, basis_b: Basis, points: Floats) -> Fields:
    """Deflection and slopes at any points of the plate."""
    import skfem

    n = int(basis_w.N + 2 * basis_b.N)
    parts = []
    for element, X in locate(inner, points):
        rule = (X[:, None], np.ones(1))
        one_w = skfem.Basis(inner.skfem, skfem.ElementTriP2(), elements=np.array([element]), quadrature=rule)
        one_b = skfem.Basis(inner.skfem, skfem.ElementTriP2B(), elements=np.array([element]), quadrature=rule)
        parts.append(_fields(one_w, one_b, _numbers(one_w, one_b)[0], n, points[:1]))
    return Fields(
        points=points,
        w=sparse.vstack([p.w for p in parts], format="csr"),
        beta_x=sparse.vstack([p.beta_x for p in parts], format="csr"),
        beta_y=sparse.vstack([p.beta_y for p in parts], format="csr"),
    )


# -- the operator Pi ------------------------------------------------------------------------------------
def _shear_slopes(inner: ScaledMesh, basis: Basis) -> Floats:
    """Pi of the slope shapes: (2, d, 2, e, q) as [component of beta, shape, component of Pi beta].

    Pi commutes with the covariant map J^-T (.) of a triangle, so it is done once on the reference triangle:
    ``Pi(phi e_k) = J^-T sum_l J_kl Pi_ref(phi e_l)``.
    """
    mapping = inner.skfem.mapping()
    J, inverse = np.asarray(mapping.A), np.asarray(mapping.invA)  # (2, 2, e)
    table = reference_reduction(np.asarray(basis.X))
    slopes: Floats = np.einsum("cme,kle,licq->kimeq", inverse, J, table, optimize=True)
    return slopes


def reference_reduction(X: Floats) -> Floats:
    """Pi_ref(phi_i e_l) at points X (2, q) of the reference triangle: (2, 7, 2, q) as [l, i, component, q].

    Checked by: tests/flexible/test_plate_modes.py::test_the_reduction_keeps_gradients_and_side_moments.
    """
    import skfem

    element = skfem.ElementTriP2B()
    moments_of_space = side_moments(_nedelec)
    result = []
    for axis in range(2):

        def slope(points: Floats, axis: int = axis) -> Floats:
            values = np.zeros((BUBBLE, 2, points.shape[1]))
            for i in range(BUBBLE):
                values[i, axis] = element.lbasis(points, i)[0]
            return values

        coefficients = np.linalg.solve(moments_of_space, side_moments(slope))
        result.append(np.einsum("ki,kcq->icq", coefficients, _nedelec(X)))
    return np.stack(result)


def _nedelec(X: Floats) -> Floats:
    """The eight vector fields of the Nedelec space of degree two: all linear ones and (-y, x) times x and y. (8, 2, q)."""
    x, y = X
    one, zero = np.ones_like(x), np.zeros_like(x)
    linear = [[one, zero], [x, zero], [y, zero], [zero, one], [zero, x], [zero, y]]
    return np.array([*linear, [-x * y, x * x], [-y * y, x * y]])


def side_moments(field: Callable[[Floats], Floats]) -> Floats:
    """The eight moments of vector fields (d, 2, q) on the reference triangle: (8, d).

    Mean and first moment of the tangential part along each side, mean over the triangle.
    """
    from skfem.quadrature import get_quadrature  # type: ignore[import-untyped]
    from skfem.refdom import RefTri  # type: ignore[import-untyped]

    s, weight = np.polynomial.legendre.leggauss(4)
    s, weight = 0.5 * (s + 1.0), 0.5 * weight
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    rows = []
    for a, b in ((0, 1), (1, 2), (0, 2)):
        along = corners[b] - corners[a]
        tangential = np.einsum("dcq,c->dq", field(corners[a][:, None] + along[:, None] * s), along)
        rows += [tangential @ weight, tangential @ (weight * s)]
    X, areas = get_quadrature(RefTri, DEGREE)
    mean = field(X) @ areas
    return np.stack([*rows, mean[:, 0], mean[:, 1]])


# -- rigid motions and supports ---------------------------------------------------------------------------
def _rigid(inner: ScaledMesh, basis_w: Basis, basis_b: Basis) -> Floats:
    """Degrees of freedom of w = 1, w = y (about x) and w = -x (about y); the bubbles stay zero."""
    x, y = inner.physical(np.asarray(basis_w.doflocs)).T
    plain = np.concatenate([basis_b.nodal_dofs.ravel(), basis_b.facet_dofs.ravel()])
    R = np.zeros((basis_w.N + 2 * basis_b.N, 3))
    R[: basis_w.N] = np.stack([np.ones_like(x), y, -x], axis=1)
    R[basis_w.N + plain, 2] = -1.0
    R[basis_w.N + basis_b.N + plain, 1] = 1.0
    return R


def _supports(inner: ScaledMesh, basis_w: Basis, basis_b: Basis, outline: Floats, boundary: str) -> sparse.csc_array:
    """Displacements allowed: pinned, w = 0 and beta.t = 0 along the outline; clamped, w = 0 and beta = 0."""
    n = int(basis_w.N + 2 * basis_b.N)
    tangents: dict[tuple[int, int], list[Floats]] = {}
    facets = inner.outline_facets(outline) if boundary != "free" else np.zeros(0, dtype=np.int64)
    for facet in facets:
        ends = inner.skfem.facets[:, facet]
        a, b = inner.skfem.p[:, ends].T
        t = (b - a) / np.linalg.norm(b - a)
        places = [(basis_w.nodal_dofs[0, v], basis_b.nodal_dofs[0, v]) for v in ends]
        places.append((basis_w.facet_dofs[0, facet], basis_b.facet_dofs[0, facet]))
        for place in places:
            tangents.setdefault((int(place[0]), int(place[1])), []).append(t)
    blocks = []
    for (w, b), along in sorted(tangents.items()):
        slopes = np.eye(2) if boundary == "clamped" else np.array(along)
        dofs = np.array([w, basis_w.N + b, basis_w.N + basis_b.N + b])
        rows = np.vstack([[1.0, 0.0, 0.0], np.hstack([np.zeros((len(slopes), 1)), slopes])])
        blocks.append((dofs, rows))
    return null_space(n, blocks)
