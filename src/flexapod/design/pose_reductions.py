r"""Criteria of the Jacobian: condition, distance to singular poses, stiffness, deflection, frequency; and their gradients.

With S = diag(L, L, L, 1, 1, 1), N a basis of the twists that the constraints G allow (orthonormal in scaled twists), A = J S N:

.. math:: \kappa = \sigma_1(A)/\sigma_k(A),\qquad d\sigma_i = u_i^T\,dA\,v_i,\qquad dN = -(G S)^+\,d(G S)\,N,\qquad
          C = S N\,(A^T k A)^{-1} N^T S,\qquad d\lambda = x^T(dK - \lambda\,dM)\,x

Letters: J actuator rates per twist, k stiffness of the actuators, C compliance, M mass matrix, x modes with x^T M x = 1. Values
and slopes take outputs as in `reductions`; the worst pose counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array
from flexapod.design.reductions import Options, Outputs

SINGULAR = 1e15
"""Condition number from which a matrix has no inverse."""


def _scale(options: Options) -> Array:
    return np.array([options["length"]] * 3 + [1.0] * 3)


def _allowed(o: Outputs, options: Options) -> Array:
    """N (.., 6, k) in scaled twists."""
    J = o["jacobian"]
    rows = list(options["constraints"])
    if not rows:
        return np.broadcast_to(np.eye(6), (*J.shape[:-2], 6, 6))
    G = o["constraint_jacobian"][..., rows, :] * _scale(options)
    return np.asarray(np.swapaxes(np.linalg.svd(G)[2][..., len(rows) :, :], -1, -2))


def _reduced(o: Outputs, options: Options) -> Array:
    """A (.., a, k) of actuator rates per scaled, allowed twist."""
    return np.asarray((o["jacobian"] * _scale(options)) @ _allowed(o, options))


def _basis_dot(o: Outputs, dot: Outputs, N: Array, options: Options) -> Array:
    """dN (d, 6, k) at one pose."""
    rows = list(options["constraints"])
    if not rows:
        return np.zeros((len(dot["jacobian"]), *N.shape))
    G, dG = o["constraint_jacobian"][rows] * _scale(options), dot["constraint_jacobian"][:, rows] * _scale(options)
    return np.asarray(-np.linalg.pinv(G) @ dG @ N)


def _at_pose(o: Outputs, dot: Outputs, t: int) -> tuple[dict[str, Array], dict[str, Array]]:
    return {k: v[t] for k, v in o.items() if np.ndim(v)}, {k: v[:, t] for k, v in dot.items() if np.ndim(v) > 1}


def _reduced_dot(o: Outputs, dot: Outputs, options: Options) -> tuple[Array, Array, Array, Array]:
    """N, dN, A, dA at one pose."""
    N = _allowed(o, options)
    dN = _basis_dot(o, dot, N, options)
    J, dJ = o["jacobian"] * _scale(options), dot["jacobian"] * _scale(options)
    return N, dN, J @ N, dJ @ N + J @ dN


def _units(options: Options) -> Array:
    """Rows of prismatic actuators over the length: dimensionless."""
    return np.where(np.asarray(options["angular"]), 1.0, 1.0 / options["length"])[:, None]


def condition(o: Outputs, options: Options) -> Array:
    """Largest condition number."""
    s = np.linalg.svd(_reduced(o, options) * _units(options), compute_uv=False)
    with np.errstate(divide="ignore"):
        return np.asarray((s[..., 0] / s[..., -1]).max(axis=1))


def condition_slope(o: Outputs, dot: Outputs, options: Options) -> Array:
    """Slope of the criterion `condition`."""
    s = np.linalg.svd(_reduced(o, options) * _units(options), compute_uv=False)
    o, dot = _at_pose(o, dot, int((s[:, 0] / s[:, -1]).argmax()))
    _, _, A, dA = _reduced_dot(o, dot, options)
    U, s, Vt = np.linalg.svd(A * _units(options), full_matrices=False)
    first, last = (np.einsum("i,dij,j->d", U[:, k], dA * _units(options), Vt[k]) for k in (0, -1))
    return np.asarray(first / s[-1] - s[0] * last / s[-1] ** 2)


def _unit_rows(o: Outputs, options: Options) -> Array:
    J = o["jacobian"] * _scale(options)
    rows = list(options["constraints"])
    J = np.concatenate([J, o["constraint_jacobian"][..., rows, :] * _scale(options)], axis=-2) if rows else J
    return np.asarray(J)


def distance(o: Outputs, options: Options) -> Array:
    """Smallest distance to a singular pose of type 2: smallest singular value of unit rows."""
    J = _unit_rows(o, options)
    return np.asarray(np.linalg.svd(J / np.linalg.norm(J, axis=-1, keepdims=True), compute_uv=False)[..., -1].min(axis=1))


def distance_slope(o: Outputs, dot: Outputs, options: Options) -> Array:
    """Slope of the criterion `distance`."""
    J = _unit_rows(o, options)
    s = np.linalg.svd(J / np.linalg.norm(J, axis=-1, keepdims=True), compute_uv=False)
    o, dot = _at_pose(o, dot, int(s[:, -1].argmin()))
    J, dJ = _unit_rows(o, options), _unit_rows(dot, options)
    size = np.linalg.norm(J, axis=-1, keepdims=True)
    unit = J / size
    d = (dJ - unit * (unit * dJ).sum(axis=-1, keepdims=True)) / size
    U, _, Vt = np.linalg.svd(unit)
    return np.asarray(np.einsum("i,dij,j->d", U[:, 5], d, Vt[5]))


def _compliance(o: Outputs, options: Options) -> Array:
    """C (.., 6, 6); NaN where singular."""
    A = _reduced(o, options)
    K = np.swapaxes(A, -1, -2) @ (A * options["stiffness"])
    bad: NDArray[np.bool_] = np.asarray(np.logical_not(np.linalg.cond(K) < SINGULAR))
    X = np.linalg.inv(np.where(bad[..., None, None], np.eye(K.shape[-1]), K))
    SN = _scale(options)[:, None] * _allowed(o, options)
    return np.asarray(np.where(bad[..., None, None], np.nan, SN @ X @ np.swapaxes(SN, -1, -2)))


def _compliance_dot(o: Outputs, dot: Outputs, options: Options) -> Array:
    """dC (d, 6, 6) at one pose."""
    N, dN, A, dA = _reduced_dot(o, dot, options)
    k, S = options["stiffness"], _scale(options)[:, None]
    X = np.linalg.inv(k * A.T @ A)
    dK = k * (np.swapaxes(dA, 1, 2) @ A + A.T @ dA)
    half = S * dN @ X @ (S * N).T
    return np.asarray(half + np.swapaxes(half, 1, 2) - (S * N) @ X @ dK @ X @ (S * N).T)


def stiffness(o: Outputs, options: Options) -> Array:
    """Smallest stiffness of a translation under a force; 0 where singular."""
    return stiffness_of(_compliance(o, options))


def stiffness_of(C: Array) -> Array:
    """Smallest stiffness (n,) of a translation under a force, from compliances C (n, m, 6, 6); 0 where they are NaN."""
    C = C[..., :3, :3]
    bad: NDArray[np.bool_] = np.asarray(np.logical_not(np.isfinite(C).all(axis=(-1, -2))))
    yields = np.linalg.eigvalsh(np.where(bad[..., None, None], np.eye(3), C))[..., -1]
    return np.asarray(np.where(bad, 0.0, 1.0 / yields).min(axis=1))


def stiffness_slope(o: Outputs, dot: Outputs, options: Options) -> Array:
    """Slope of the criterion `stiffness`."""
    C = _compliance(o, options)[..., :3, :3]
    t = int(np.linalg.eigvalsh(C)[:, -1].argmax())
    yields, modes = np.linalg.eigh(C[t])
    dC = _compliance_dot(*_at_pose(o, dot, t), options)[:, :3, :3]
    return np.asarray(-np.einsum("i,dij,j->d", modes[:, -1], dC, modes[:, -1]) / yields[-1] ** 2)


def deflection(o: Outputs, options: Options) -> Array:
    """Largest displacement under the load."""
    return deflection_of(_compliance(o, options), options)


def deflection_of(C: Array, options: Options) -> Array:
    """Largest displacement (n,) under the load, from compliances C (n, m, 6, 6)."""
    moved = C @ np.asarray(options["load"], dtype=np.float64)
    return np.asarray(np.linalg.norm(moved[..., :3], axis=-1).max(axis=1))


def deflection_slope(o: Outputs, dot: Outputs, options: Options) -> Array:
    """Slope of the criterion `deflection`."""
    load = np.asarray(options["load"], dtype=np.float64)
    moved = (_compliance(o, options) @ load)[:, :3]
    t = int(np.linalg.norm(moved, axis=-1).argmax())
    change = (_compliance_dot(*_at_pose(o, dot, t), options) @ load)[:, :3]
    return np.asarray(change @ moved[t] / np.linalg.norm(moved[t]))


def _small_motion(o: Outputs, options: Options) -> tuple[Array, Array]:
    """K and M (.., k, k) in the platform's independent twists."""
    T = o["basis"]
    A = o["jacobian"] @ T
    return np.asarray(np.swapaxes(A, -1, -2) @ (A * options["stiffness"])), np.asarray(
        np.swapaxes(T, -1, -2) @ o["mass_matrix"] @ T
    )


def _eigenvalues(o: Outputs, options: Options) -> Any:
    K, M = _small_motion(o, options)
    L = np.linalg.cholesky(M)
    A = np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, K), -1, -2))
    return np.linalg.eigh((A + np.swapaxes(A, -1, -2)) / 2), L


def frequency(o: Outputs, options: Options) -> Array:
    """Lowest natural frequency on springs in the actuators."""
    lowest = _eigenvalues(o, options)[0][0][..., 0]
    return np.asarray((np.sqrt(np.maximum(lowest, 0.0)) / (2 * np.pi)).min(axis=1))


def frequency_slope(o: Outputs, dot: Outputs, options: Options) -> Array:
    """Slope of the criterion `frequency`."""
    t = int(_eigenvalues(o, options)[0][0][:, 0].argmin())
    o, dot = _at_pose(o, dot, t)
    (values, modes), L = _eigenvalues(o, options)
    x = np.linalg.solve(L.T, modes[:, 0])
    T, dT, J, k = o["basis"], dot["basis"], o["jacobian"], options["stiffness"]
    A, dA = J @ T, dot["jacobian"] @ T + J @ dT
    dK = k * (np.swapaxes(dA, 1, 2) @ A + A.T @ dA)
    half = np.swapaxes(dT, 1, 2) @ o["mass_matrix"] @ T
    dM = half + np.swapaxes(half, 1, 2) + T.T @ dot["mass_matrix"] @ T
    change = np.einsum("i,dij,j->d", x, dK - values[0] * dM, x)
    return np.asarray(change / (8 * np.pi**2 * (np.sqrt(values[0]) / (2 * np.pi))))
