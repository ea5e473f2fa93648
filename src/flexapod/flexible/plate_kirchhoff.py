r"""Kirchhoff plate by the Argyris triangle: w of degree five, continuously differentiable, so that bending energy is exact.

.. math:: K = \int \kappa^T D \kappa\,dA, \quad \kappa = (w_{xx}, w_{yy}, 2 w_{xy}), \qquad M = \int \rho h\,w^2\,dA

Without rotary inertia, as the theory has it. Degrees of freedom: w and its first and second derivatives at the vertices, the
normal derivative at the middle of the sides. Converges so fast that 96 triangles give ten frequencies of a hexagon to 3e-5.
"""

from __future__ import annotations

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

DEGREE = 10
"""Quadrature exact for the square of a polynomial of degree five."""


def kirchhoff_model(mesh: TriangleMesh, material: PlateMaterial, outline: Floats, boundary: str, refine: int = 0) -> PlateModel:
    """Matrices of a Kirchhoff plate; `boundary` holds the outline: free, pinned or clamped.

    Source: J. H. Argyris, I. Fried, D. W. Scharpf, Aeronautical Journal 72, 1968. Checked by: tests/flexible/test_plate_modes.py.
    """
    import skfem

    inner = scaled(mesh, refine)
    L = inner.radius
    basis = skfem.Basis(inner.skfem, skfem.ElementTriArgyris(), intorder=DEGREE)
    n = int(basis.N)
    hessian = np.stack([np.asarray(b[0].hess) for b in basis.basis]) / L**2  # (21, 2, 2, e, q)
    curvatures = [hessian[:, 0, 0], hessian[:, 1, 1], 2.0 * hessian[:, 0, 1]]
    B = [field_matrix(c, basis.element_dofs, n) for c in curvatures]
    points = inner.physical(np.asarray(basis.global_coordinates()))
    quadrature = _fields(inner, basis, points, n)
    weights = np.asarray(basis.dx).ravel() * L**2
    inertia = np.array([[material.rho * material.h]])
    nodal = basis.nodal_dofs
    vertices = Fields(
        points=inner.physical(inner.skfem.p),
        w=selection(nodal[0], n),
        beta_x=selection(nodal[1], n, 1.0 / L),
        beta_y=selection(nodal[2], n, 1.0 / L),
    )
    return PlateModel(
        K=congruence(B, material.bending(), weights),
        M=congruence([quadrature.w], inertia, weights),
        R=_rigid(inner, basis),
        vertices=vertices,
        triangles=inner.skfem.t.T.astype(np.int64),
        quadrature=quadrature,
        weights=weights,
        at=lambda where: _fields_at(inner, where, n),
        supports=_supports(inner, basis, outline, boundary),
        rotary=False,
        gradient=(quadrature.beta_x, quadrature.beta_y),
        curvatures=B,
        mesh=inner,
        degree=DEGREE,
    )


def _fields(inner: ScaledMesh, basis: Basis, points: Floats, n: int) -> Fields:
    """Deflection and slopes at the points of a basis."""
    value = np.stack([np.broadcast_to(np.asarray(b[0]), basis.dx.shape) for b in basis.basis])
    slope = np.stack([np.broadcast_to(b[0].grad, (2, *basis.dx.shape)) for b in basis.basis]) / inner.radius
    dofs = basis.element_dofs
    return Fields(
        points=points,
        w=field_matrix(value, dofs, n),
        beta_x=field_matrix(slope[:, 0], dofs, n),
        beta_y=field_matrix(slope[:, 1], dofs, n),
    )


def _fields_at(inner: ScaledMesh, points: Floats, n: int) -> Fields:
    """Deflection and slopes at any points of the plate."""
    import skfem

    parts = []
    for element, X in locate(inner, points):
        rule = (X[:, None], np.ones(1))
        single = skfem.Basis(inner.skfem, skfem.ElementTriArgyris(), elements=np.array([element]), quadrature=rule)
        parts.append(_fields(inner, single, points[:1], n))
    return Fields(
        points=points,
        w=sparse.vstack([p.w for p in parts], format="csr"),
        beta_x=sparse.vstack([p.beta_x for p in parts], format="csr"),
        beta_y=sparse.vstack([p.beta_y for p in parts], format="csr"),
    )


def _rigid(inner: ScaledMesh, basis: Basis) -> Floats:
    """Degrees of freedom of w = 1, w = y (about x) and w = -x (about y)."""
    L = inner.radius
    x, y = inner.physical(inner.skfem.p).T
    normal = _facet_normals(inner)
    R = np.zeros((basis.N, 3))
    w, w_x, w_y = basis.nodal_dofs[:3]
    R[w] = np.stack([np.ones_like(x), y, -x], axis=1)
    R[w_x, 2] = -L
    R[w_y, 1] = L
    R[basis.facet_dofs[0], 1] = L * normal[1]
    R[basis.facet_dofs[0], 2] = -L * normal[0]
    return R


def _facet_normals(inner: ScaledMesh) -> Floats:
    """(2, facets) the directions of scikit-fem's middle derivatives: by the order of the vertices, outward on the boundary."""
    mesh = inner.skfem
    ends = mesh.p[:, np.sort(mesh.facets, axis=0)]
    along = ends[:, 1] - ends[:, 0]
    normal: Floats = np.stack([-along[1], along[0]]) / np.linalg.norm(along, axis=0)
    edge = mesh.boundary_facets()
    outward = ends[:, :, edge].mean(axis=1) - mesh.p[:, mesh.t[:, mesh.f2t[0, edge]]].mean(axis=1)
    normal[:, edge] *= np.sign(np.sum(normal[:, edge] * outward, axis=0))
    return normal


def _supports(inner: ScaledMesh, basis: Basis, outline: Floats, boundary: str) -> sparse.csc_array:
    """Displacements allowed: pinned, w = 0 along the outline; clamped, w = 0 and grad w = 0."""
    conditions: dict[int, list[Floats]] = {}
    blocks: list[tuple[Integers, Floats]] = []
    facets = inner.outline_facets(outline) if boundary != "free" else np.zeros(0, dtype=np.int64)
    for facet in facets:
        ends = inner.skfem.facets[:, facet]
        a, b = inner.skfem.p[:, ends].T
        t = (b - a) / np.linalg.norm(b - a)
        rows = [_vertex_row(), _vertex_row(slope=t), _vertex_row(bend=(t, t))]
        if boundary == "clamped":
            m = np.array([t[1], -t[0]])
            rows += [_vertex_row(slope=m), _vertex_row(bend=(t, m))]
            blocks.append((basis.facet_dofs[:, facet], np.ones((1, 1))))
        for vertex in ends:
            conditions.setdefault(int(vertex), []).extend(rows)
    blocks += [(basis.nodal_dofs[:, vertex], np.array(rows)) for vertex, rows in sorted(conditions.items())]
    return null_space(int(basis.N), blocks)


def _vertex_row(slope: Floats | None = None, bend: tuple[Floats, Floats] | None = None) -> Floats:
    """Condition on (w, w_x, w_y, w_xx, w_xy, w_yy): w = 0, or a derivative along `slope`, or the mixed one along `bend`."""
    if slope is not None:
        return np.array([0.0, slope[0], slope[1], 0.0, 0.0, 0.0])
    if bend is not None:
        s, t = bend
        return np.array([0.0, 0.0, 0.0, s[0] * t[0], s[0] * t[1] + s[1] * t[0], s[1] * t[1]])
    return np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
