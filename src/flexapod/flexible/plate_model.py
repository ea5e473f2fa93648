r"""Common parts of both plate elements: fields as sparse matrices, rigid motions, and values at any point.

A bending field of a plate is the deflection w along z and the slopes beta, which are the gradient of w (Kirchhoff) or independent
(Mindlin). A point at height z is displaced by ``(-z beta_x, -z beta_y, w)``: the rotation vector is (beta_y, -beta_x, 0).
Every field is a sparse matrix from the degrees of freedom to its values at points, so a stiffness reads ``B^T C B``.

Elements are built in the plane xi = (x - centre) / radius: polynomials of degree five need numbers of order one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from flexapod.flexible.checked_arrays import Floats, Integers
from flexapod.flexible.errors import FlexibleBodyError
from flexapod.flexible.mesh import TriangleMesh
from flexapod.flexible.polygon import distance

Matrix = sparse.csr_array


@dataclass(frozen=True, kw_only=True)
class PlateMaterial:
    """Thickness h [m], Young's modulus E [Pa], Poisson's ratio nu, density rho [kg/m^3]."""

    h: float
    E: float
    nu: float
    rho: float

    def bending(self) -> Floats:
        """(3, 3) moments per curvature xx, yy, 2 xy: D [[1, nu, 0], [nu, 1, 0], [0, 0, (1 - nu)/2]], D = E h^3 / 12(1 - nu^2)."""
        D = self.E * self.h**3 / (12.0 * (1.0 - self.nu**2))
        return D * np.array([[1.0, self.nu, 0.0], [self.nu, 1.0, 0.0], [0.0, 0.0, 0.5 * (1.0 - self.nu)]])

    def membrane(self) -> Floats:
        """(3, 3) forces per length and strain xx, yy, 2 xy."""
        return self.bending() * 12.0 / self.h**2


@dataclass(frozen=True, kw_only=True, eq=False)
class Fields:
    """Sparse matrices (points, dofs) to the deflection and the slopes at points (p, 2)."""

    points: Floats
    w: Matrix
    beta_x: Matrix
    beta_y: Matrix


@dataclass(frozen=True, kw_only=True, eq=False)
class ScaledMesh:
    """A mesh for scikit-fem in the plane xi, x = centre + radius xi."""

    skfem: Any
    centre: Floats
    radius: float

    def physical(self, xi: Floats) -> Floats:
        """Points (2, ...) of the plane xi as points (p, 2) of the plate."""
        result: Floats = self.centre + self.radius * xi.reshape(2, -1).T
        return result

    def outline_facets(self, outline: Floats) -> Integers:
        """Numbers of the boundary facets on the outline; edges of holes are left out."""
        facets = self.skfem.boundary_facets()
        middle = self.physical(self.skfem.p[:, self.skfem.facets[:, facets]].mean(axis=1))
        result: Integers = facets[distance(middle, [outline]) < 1e-9 * self.radius]
        return result


@dataclass(frozen=True, kw_only=True, eq=False)
class PlateModel:
    """Finite element matrices of a plate.

    Attributes:
        K, M: (n, n) stiffness and consistent mass. R: (n, 3) rigid motions along z, about x and about y through the origin.
        vertices: fields at the mesh's vertices; triangles between them. quadrature: fields at the integration points, which
            carry the areas `weights` (q,) [m^2]. at: fields at any points (p, 2).
        supports: (n, f) basis of the displacements that the boundary allows. rotary: whether the slopes carry inertia.
        gradient: of w along x and y at the integration points. curvatures: xx, yy, 2 xy there. mesh, degree: what the
            points belong to.
    """

    K: sparse.csc_array
    M: sparse.csc_array
    R: Floats
    vertices: Fields
    triangles: Integers
    quadrature: Fields
    weights: Floats
    at: Callable[[Floats], Fields]
    supports: sparse.csc_array
    rotary: bool
    gradient: tuple[Matrix, Matrix]
    curvatures: list[Matrix]
    mesh: ScaledMesh
    degree: int


def scaled(mesh: TriangleMesh, refine: int) -> ScaledMesh:
    """The mesh in the plane xi, each triangle divided into four, `refine` times."""
    import skfem  # type: ignore[import-untyped]

    centre = 0.5 * (mesh.points.min(axis=0) + mesh.points.max(axis=0))
    radius = float(np.linalg.norm(mesh.points - centre, axis=1).max())
    points = (mesh.points - centre) / radius
    inner = skfem.MeshTri(np.ascontiguousarray(points.T), np.ascontiguousarray(mesh.triangles.T))
    return ScaledMesh(skfem=inner.refined(refine) if refine else inner, centre=centre, radius=radius)


def field_matrix(values: Floats, dofs: Integers, n: int) -> Matrix:
    """Sparse matrix of a field from its local values (d, e, q) and the numbers of the degrees of freedom (d, e): (e q, n)."""
    _, e, q = values.shape
    rows = np.broadcast_to(np.arange(e * q).reshape(1, e, q), values.shape)
    columns = np.broadcast_to(dofs[:, :, None], values.shape)
    return sparse.coo_array((values.ravel(), (rows.ravel(), columns.ravel())), shape=(e * q, n)).tocsr()


def selection(dofs: Integers, n: int, factor: float = 1.0) -> Matrix:
    """Sparse matrix that picks degrees of freedom, times a factor: (len(dofs), n)."""
    m = len(dofs)
    return sparse.coo_array((np.full(m, factor), (np.arange(m), dofs)), shape=(m, n)).tocsr()


def congruence(B: list[Matrix], C: Floats, weights: Floats) -> sparse.csc_array:
    """``sum_ab B_a^T (C_ab weights) B_b``: a stiffness or mass matrix from fields at the integration points."""
    total = sparse.csc_array((B[0].shape[1], B[0].shape[1]))
    weight = sparse.diags_array(weights)
    for a, b in zip(*np.nonzero(C), strict=True):
        total = total + (B[a].T @ weight @ B[b]) * C[a, b]
    return sparse.csc_array(0.5 * (total + total.T))


def locate(mesh: ScaledMesh, points: Floats) -> list[tuple[int, Floats]]:
    """Element and reference coordinates (2,) of every point (p, 2).

    Raises:
        FlexibleBodyError: a point that is not on the plate.

    Checked by: tests/flexible/test_plate.py::test_a_point_off_the_plate_is_refused.
    """
    p, t = mesh.skfem.p, mesh.skfem.t
    origin = p[:, t[0]]
    J = np.stack([p[:, t[1]] - origin, p[:, t[2]] - origin], axis=1).transpose(2, 0, 1)
    found = []
    for point in points:
        xi = (point - mesh.centre) / mesh.radius
        X = np.linalg.solve(J, (xi[:, None] - origin).T[:, :, None])[:, :, 0]
        depth = np.minimum(X.min(axis=1), 1.0 - X.sum(axis=1))
        element = int(depth.argmax())
        if depth[element] < -1e-6:
            raise FlexibleBodyError(f"The point ({point[0]:g}, {point[1]:g}) m is not on the plate.")
        found.append((element, X[element]))
    return found


def null_space(n: int, blocks: list[tuple[Integers, Floats]]) -> sparse.csc_array:
    """Basis (n, f) of the x with ``rows x[dofs] = 0`` for every block (dofs (d,), rows (r, d)); blocks share no dofs."""
    held = np.concatenate([dofs for dofs, _ in blocks]) if blocks else np.zeros(0, dtype=np.int64)
    free = np.setdiff1d(np.arange(n), held)
    rows, columns, values = [free], [np.arange(len(free))], [np.ones(len(free))]
    count = len(free)
    for dofs, conditions in blocks:
        _, s, Vt = np.linalg.svd(conditions)
        rank = int((s > 1e-9 * s.max(initial=0.0)).sum())
        for vector in Vt[rank:]:
            rows.append(dofs)
            columns.append(np.full(len(dofs), count))
            values.append(vector)
            count += 1
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.coo_array(entries, shape=(n, count)).tocsc()
