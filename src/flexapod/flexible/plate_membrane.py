r"""Geometric stiffness of a plate: the effect of in-plane loads at its interfaces, and of its spin, on its bending.

Bending by w draws the plate in: its in-plane displacement of second order :math:`u_2 = \tfrac12 e^T q\,e` makes the membrane
strain :math:`\mathrm{sym}\nabla u_2 + \tfrac12\nabla w\,\nabla w^T` as small as the plate allows. A load f with its membrane
forces N (plane stress) works on it

.. math:: f\cdot u_2 = -\tfrac12 \int \nabla w^T N\,\nabla w\,dA = -\tfrac12 e^T K_G(f)\,e

so that unit loads give all that is needed of :math:`u_2`: at every interface :math:`Q_a = -K_G(1_a)`, and by loads dm times
(x, 0), (0, y), (y, x)/2 the second moments of :math:`u_2` over the mass. A free plate balances its loads by its inertia: u_2 has
no mean displacement and no mean rotation. What strain remains, where the plate cannot unroll, has the energy
:math:`\tfrac12\sum_r (\tfrac12 e^T A_r e)^2` (von Karman).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from flexapod.flexible.checked_arrays import Floats
from flexapod.flexible.plate_model import Matrix, PlateMaterial, PlateModel, congruence, field_matrix, locate, selection

NEGLIGIBLE = 1e-4
"""Energies of stretching below this part of the largest are not kept: 21 of 55 remain for ten modes of a hexagon, 0.2 % of the
energy is missing at most over random states of equal energies per mode."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Membrane:
    """Plane stress on the mesh of a plate, displacements (u_x, u_y) cubic on the triangles.

    Attributes:
        strains: xx, yy, 2 xy at the integration points, from the (2n,) degrees of freedom. K, M: (2n, 2n) stiffness and mass.
        R: (2n, 3) rigid motions. places: (p, n) values of the shapes at the interfaces, turns: (p, 2n) mean rotation
            about z within a thickness of them: a couple at a point of a membrane would turn it by any amount.
        inside, corners: (q, n), (v, n) values at the integration points and at the vertices. spins: (q, 2n) rotation about z
            at the integration points.
    """

    strains: list[Matrix]
    K: sparse.csc_array
    M: sparse.csc_array
    R: Floats
    places: Matrix
    rotations: Matrix
    inside: Matrix
    corners: Matrix
    spins: Matrix


def membrane(model: PlateModel, material: PlateMaterial, masses: Floats, points: Floats) -> Membrane:
    """The membrane of a plate with point masses (m, 3) as (x, y, mass), and its shapes at points (p, 2)."""
    import skfem  # type: ignore[import-untyped]

    mesh = model.mesh
    basis = skfem.Basis(mesh.skfem, skfem.ElementTriP3(), intorder=model.degree)
    n, dofs = int(basis.N), basis.element_dofs
    value = np.stack([np.broadcast_to(np.asarray(b[0]), basis.dx.shape) for b in basis.basis])
    slope = np.stack([np.broadcast_to(b[0].grad, (2, *basis.dx.shape)) for b in basis.basis]) / mesh.radius
    u, u_x, u_y = (field_matrix(each, dofs, n) for each in (value, slope[:, 0], slope[:, 1]))
    none = sparse.csr_array(u.shape)
    strains = [sparse.hstack(pair, format="csr") for pair in ((u_x, none), (none, u_y), (u_y, u_x))]
    mass = congruence([u], np.array([[material.rho * material.h]]), model.weights)
    if len(masses):
        at = values_at(model, n, masses[:, :2])
        mass = mass + at.T @ sparse.diags_array(masses[:, 2]) @ at
    x, y = mesh.physical(np.asarray(basis.doflocs)).T
    one, zero = np.ones(n), np.zeros(n)
    spins = sparse.hstack([-0.5 * u_y, 0.5 * u_x], format="csr")
    return Membrane(
        strains=strains,
        K=congruence(strains, material.membrane(), model.weights),
        M=sparse.block_diag([mass, mass], format="csc"),
        R=np.stack([np.concatenate(c) for c in ((one, zero), (zero, one), (-y, x))], axis=1),
        places=values_at(model, n, points),
        rotations=_rotations(model, spins, points, material.h),
        inside=u,
        corners=selection(basis.nodal_dofs[0], n),
        spins=spins,
    )


def values_at(model: PlateModel, n: int, points: Floats) -> Matrix:
    """Values (p, n) of the cubic shapes at points (p, 2)."""
    import skfem

    rows = []
    for element, X in locate(model.mesh, points):
        rule = (X[:, None], np.ones(1))
        one = skfem.Basis(model.mesh.skfem, skfem.ElementTriP3(), elements=np.array([element]), quadrature=rule)
        rows.append(
            field_matrix(np.stack([np.broadcast_to(np.asarray(b[0]), one.dx.shape) for b in one.basis]), one.element_dofs, n)
        )
    return sparse.vstack(rows, format="csr") if rows else sparse.csr_array((0, n))


def _rotations(model: PlateModel, spins: Matrix, points: Floats, radius: float) -> Matrix:
    """Mean rotation (p, 2n) about z around points (p, 2): within a radius, at least half the size of the triangle."""
    own, per = model.quadrature.points, len(model.weights) // len(model.triangles)
    rows = np.zeros((len(points), len(own)))
    for k, (element, _) in enumerate(locate(model.mesh, points)):
        size = np.sqrt(2.0 * model.weights[element * per : (element + 1) * per].sum())
        away = np.linalg.norm(own - points[k], axis=1)
        near = away <= max(radius, 0.5 * size, float(away.min()))
        rows[k, near] = model.weights[near] / model.weights[near].sum()
    return sparse.csr_array(sparse.csr_array(rows) @ spins)


def balanced(plane: Membrane, loads: Floats) -> Floats:
    """Loads (2n, k) with the inertia forces of the accelerations that they give the free plate."""
    MR = plane.M @ plane.R
    result: Floats = loads - MR @ np.linalg.solve(plane.R.T @ MR, plane.R.T @ loads)
    return result


def membrane_forces(plane: Membrane, material: PlateMaterial, loads: Floats) -> Floats:
    """Forces per length N_xx, N_yy, N_xy (3, q, k) at the integration points under balanced loads (2n, k)."""
    result: Floats = np.einsum("ab,bqk->aqk", material.membrane(), _strain(plane, loads))
    return result


def _strain(plane: Membrane, loads: Floats) -> Floats:
    """Strain xx, yy, 2 xy (3, q, k) under balanced loads (2n, k)."""
    u = _displacements(plane, loads)
    return np.stack([B @ u for B in plane.strains])


def _displacements(plane: Membrane, loads: Floats) -> Floats:
    """Displacements (2n, k) under balanced loads (2n, k), but for a rigid motion."""
    n = len(loads) // 2
    y = -plane.R[:n, 2]
    held = [int(y.argmin()), n + int(y.argmin()), int(y.argmax())]  # against rigid motions; no reactions, loads are balanced
    free = np.setdiff1d(np.arange(2 * n), held)
    u = np.zeros_like(loads)
    u[free] = splu(sparse.csc_array(plane.K[free][:, free])).solve(np.ascontiguousarray(loads[free]))
    return u


def shapes_in_plane(plane: Membrane, root: int) -> Floats:
    """Displacements (2n, 3p - 3) in the plane under forces along x and y and couples at every place but that of number `root`,
    which holds the plate; without mean displacement and rotation, of unit modal mass.

    Checked by: tests/flexible/test_plate_membrane.py.
    """
    at, rotations = plane.places.toarray(), plane.rotations.toarray()
    none = np.zeros_like(at)
    units = np.stack([np.hstack([at, none]), np.hstack([none, at]), rotations], axis=1)  # (p, 3, 2n): along x, y, about z
    tips = [k for k in range(len(at)) if k != root]
    if not tips:
        return np.zeros((len(plane.R), 0))
    loads = np.vstack([units[k] for k in tips])
    hold = np.linalg.solve((units[root] @ plane.R).T, (loads @ plane.R).T)  # reactions of the root
    MR = plane.M @ plane.R
    u = _displacements(plane, (loads - hold.T @ units[root]).T)
    u = u - plane.R @ np.linalg.solve(plane.R.T @ MR, MR.T @ u)
    result: Floats = u / np.sqrt(np.einsum("nk,nk->k", u, plane.M @ u))
    return result


def stretch_matrices(model: PlateModel, plane: Membrane, material: PlateMaterial, V: Floats, omega: Floats) -> Floats:
    r"""A_r (R, N, N) of the membrane energy that remains when the plate has drawn in freely.

    Pairs of modes strain the plate by :math:`\tfrac12(\nabla w_i\nabla w_k^T)^{sym}`, and by the displacement that balances
    it; the energy of all pairs is a square form, whose principal parts above `NEGLIGIBLE` of the largest are kept.

    Checked by: tests/flexible/test_plate_membrane.py.
    """
    C, N = material.membrane(), V.shape[1]
    i, k = np.triu_indices(N)
    left = stretching(model, plane, material, V)
    energy = np.einsum("aqp,ab,q,bqs->ps", left, C, model.weights, left, optimize=True)
    size = np.where(i == k, 1.0, 2.0) / (omega[i] * omega[k])  # of e_i e_k where every mode has the same energy
    values, vectors = np.linalg.eigh(energy * size[:, None] * size[None, :])
    kept = values > NEGLIGIBLE * values.max(initial=0.0)
    A = np.zeros((int(kept.sum()), N, N))
    A[:, i, k] = (vectors[:, kept] * np.sqrt(values[kept])).T * np.where(i == k, 2.0, 1.0) * (omega[i] * omega[k])
    A[:, k, i] = A[:, i, k]
    return A


def stretching(model: PlateModel, plane: Membrane, material: PlateMaterial, V: Floats) -> Floats:
    """Strain xx, yy, 2 xy (3, q, pairs) that pairs of modes (`np.triu_indices`) leave in the plate, per product of the two."""
    w_x, w_y = (g @ V for g in model.gradient)
    i, k = np.triu_indices(V.shape[1])
    given = np.stack([w_x[:, i] * w_x[:, k], w_y[:, i] * w_y[:, k], w_x[:, i] * w_y[:, k] + w_y[:, i] * w_x[:, k]]) / 2.0
    stress = np.einsum("ab,bqp->aqp", material.membrane(), given) * model.weights[None, :, None]
    loads = -sum((B.T @ s for B, s in zip(plane.strains, stress, strict=True)), np.zeros((len(plane.R), len(i))))
    result: Floats = given + _strain(plane, loads)
    return result


def joint_loads(plane: Membrane) -> Floats:
    """Unit loads (2n, 2p) in the plane at the places of a membrane, all along x, then all along y, balanced by inertia."""
    at = plane.places.toarray().T
    return balanced(plane, np.hstack([np.vstack([at, np.zeros_like(at)]), np.vstack([np.zeros_like(at), at])]))


def quadratic_displacements(
    model: PlateModel, material: PlateMaterial, plane: Membrane, places: Floats, V: Floats, omega: Floats,
    *, U: Floats | None = None,
) -> tuple[Floats, Floats, Floats, Floats]:  # fmt: skip
    """Q, Q_r (p, 3, N, N) at places (p, 3), T_ee (N, N, 3, 3), and the matrices of `stretch_matrices`.

    Args:
        plane: the membrane, with its shapes at the places.
        places: (p, 3); at a height z a point also comes down as the plate tilts, by z |beta|^2 / 2.
        V: (n, N) modes as degrees of freedom of the plate; omega: (N,) their angular frequencies.
        U: (2n, k) displacements in the plane, k more coordinates; they turn parts of the plate by psi about z, which draws
            these in by psi^2 / 2.

    Checked by: tests/flexible/test_plate_membrane.py.
    """
    p, k, n = len(places), 0 if U is None else U.shape[1], len(plane.R) // 2
    N = V.shape[1] + k
    x, y, none = plane.R[n:, 2], -plane.R[:n, 2], np.zeros(n)
    spins = np.stack([np.concatenate(c) for c in ((x, none), (none, y), (y / 2, x / 2))], axis=1)
    loads = [joint_loads(plane), balanced(plane, plane.rotations.toarray().T), balanced(plane, plane.M @ spins)]
    forces = membrane_forces(plane, material, np.hstack(loads))
    K_G = np.zeros((forces.shape[2], N, N))
    K_G[:, : N - k, : N - k] = _geometric(model, forces, V)
    if U is not None:
        psi = plane.spins @ U
        K_G[:, N - k :, N - k :] = np.einsum("qf,q,qi,qk->fik", forces[0] + forces[1], model.weights, psi, psi, optimize=True)
    Q = np.zeros((p, 3, N, N))
    Q[:, 0], Q[:, 1] = -K_G[:p], -K_G[p : 2 * p]
    Q_r = np.zeros_like(Q)
    Q_r[:, 2] = -K_G[2 * p : 3 * p]
    tilt = model.at(places[:, :2]) if p else None
    for slope in () if tilt is None else (tilt.beta_x @ V, tilt.beta_y @ V):
        Q[:, 2, : N - k, : N - k] -= places[:, 2, None, None] * slope[:, :, None] * slope[:, None, :]
    T = np.zeros((N, N, 3, 3))
    T[:, :, 0, 0], T[:, :, 1, 1], T[:, :, 0, 1] = -K_G[3 * p :]
    T[:, :, 1, 0] = T[:, :, 0, 1]
    left = stretch_matrices(model, plane, material, V, omega)
    return Q, Q_r, T, np.pad(left, [(0, 0), (0, k), (0, k)])


def _geometric(model: PlateModel, forces: Floats, V: Floats) -> Floats:
    """K_G (k, N, N) of membrane forces (3, q, k): integral of grad w^T N grad w dA."""
    w_x, w_y = (g @ V for g in model.gradient)
    result = []
    for xx, yy, xy in np.moveaxis(forces * model.weights[None, :, None], 2, 0):
        mixed = (w_x * xy[:, None]).T @ w_y
        result.append((w_x * xx[:, None]).T @ w_x + (w_y * yy[:, None]).T @ w_y + mixed + mixed.T)
    K_G = np.array(result).reshape(-1, V.shape[1], V.shape[1])
    even: Floats = (K_G + K_G.transpose(0, 2, 1)) / 2.0
    return even
