r"""Modes of sparse finite element matrices: free, supported, and Craig-Bampton component modes.

K stiffness, M mass (n, n), sparse and symmetric; R (n, r) the rigid displacements, K R = 0 (r = 0: a supported body); C (b, n)
the interface displacements, C x. Every basis is mass-normalised, M-orthogonal to R, and diagonalises K.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from flexapod.flexible.arrays import Floats
from flexapod.flexible.errors import FlexibleBodyError

Sparse = sparse.csc_array
Solve = Callable[[Floats], Floats]

DENSE = 300
"""Up to this number of degrees of freedom the dense eigenproblem is faster and gives all modes."""

NO_INERTIA = 1e-13
"""Modes whose 1/omega^2 is below this part of the largest have no inertia beyond rounding."""


def normal_modes(K: Sparse, M: Sparse, R: Floats, count: int, spare: int = 0) -> tuple[Floats, Floats]:
    """The lowest elastic modes: omega^2 (count + spare,), ascending, and V (n, count + spare); fewer spare ones if need be.

    Raises:
        FlexibleBodyError: more modes than elastic degrees of freedom, or a mechanism besides R.

    Checked by: tests/flexible/test_normal_modes.py.
    """
    n, r = R.shape
    if count > n - r:
        raise FlexibleBodyError(f"modes must be at most {n - r}, the number of elastic degrees of freedom, is {count}.")
    if count == 0:
        return np.zeros(0), np.zeros((n, 0))
    _refuse_loose_parts(K, R)
    if n <= DENSE or count > n // 3:
        return _dense_modes(K, M, R, count, spare)
    return rayleigh_ritz(K, M, R, _lowest(K, M, _free_flexibility(K, M, R), count + spare))


def rayleigh_ritz(K: Sparse, M: Sparse, R: Floats, basis: Floats) -> tuple[Floats, Floats]:
    """omega^2 and modes in the span of `basis` (n, m) after its rigid part is removed; dependent directions are dropped."""
    X = _without_rigid(M, R, basis)
    X = X / np.sqrt(np.einsum("nk,nk->k", X, M @ X))
    mass, turn = np.linalg.eigh(X.T @ (M @ X))
    keep = mass > NO_INERTIA * mass[-1]
    X = X @ (turn[:, keep] / np.sqrt(mass[keep]))
    X = _without_rigid(M, R, X)
    values, vectors = linalg.eigh(X.T @ (K @ X), X.T @ (M @ X))
    return values, X @ vectors


def craig_bampton(K: Sparse, M: Sparse, R: Floats, C: Floats, count: int) -> tuple[Floats, Floats]:
    r"""Craig-Bampton component modes, made orthogonal: omega^2 (b - r + count,) and modes.

    The basis are the b static deflections under unit displacements of the interfaces, ``min x^T K x, C x = 1_j``, and `count`
    modes with the interfaces held. Rigid motion, which the deflections contain, is removed. Static deflections under interface
    forces in balance with each other are exact in this basis.

    Source: R. R. Craig, M. C. C. Bampton, AIAA Journal 6(7), 1968. Checked by: tests/flexible/test_normal_modes.py.
    """
    n, b = K.shape[0], len(C)
    if b == 0:
        raise FlexibleBodyError("method craig-bampton needs at least one interface.")
    if R.shape[1] and np.linalg.matrix_rank(C @ R) < R.shape[1]:
        raise FlexibleBodyError(
            "method craig-bampton needs interfaces that hold the body: with them fixed it can still move as a rigid body."
        )
    if count > n - b:
        raise FlexibleBodyError(f"modes must be at most {n - b}, the degrees of freedom beside the interfaces, is {count}.")
    scale = float(np.mean(K.diagonal())) / float(np.abs(C).max())
    bordered = splu(sparse.block_array([[K, scale * sparse.csc_array(C.T)], [scale * sparse.csc_array(C), None]], format="csc"))

    def held(load: Floats) -> Floats:
        solution: Floats = bordered.solve(np.concatenate([load, np.zeros(b)]))[:n]
        return solution

    static = bordered.solve(np.vstack([np.zeros((n, b)), scale * np.eye(b)]))[:n]
    fixed = _lowest(K, M, held, count) if count else np.zeros((n, 0))
    values, V = rayleigh_ritz(K, M, R, np.hstack([static, fixed]))
    return values, V


def _dense_modes(K: Sparse, M: Sparse, R: Floats, count: int, spare: int) -> tuple[Floats, Floats]:
    """All modes by 1/omega^2 of M against K on the complement of R, so that M may be singular; the lowest `count` of them."""
    n, r = R.shape
    Q = linalg.qr(M @ R, mode="full")[0][:, r:] if r else np.eye(n)
    mass, stiffness = Q.T @ (M @ Q), Q.T @ (K @ Q)
    try:
        compliance, vectors = linalg.eigh(mass, stiffness)
    except linalg.LinAlgError:
        raise FlexibleBodyError(_MECHANISM) from None
    moving = int((compliance > NO_INERTIA * compliance[-1]).sum())
    if count > moving:
        raise FlexibleBodyError(f"modes must be at most {moving}, the elastic degrees of freedom with inertia, is {count}.")
    return rayleigh_ritz(K, M, R, Q @ vectors[:, ::-1][:, : min(count + spare, moving)])


_MECHANISM = (
    "The stiffness leaves the body a motion without energy that is not a rigid one: look for parts that are not connected, "
    "or nodes that are not where the matrices were made."
)


def _refuse_loose_parts(K: Sparse, R: Floats) -> None:
    """The parts that K couples may move rigidly in no more ways than the whole body: their ranks of R add up to that of R."""
    from scipy.sparse.csgraph import connected_components

    number, part = connected_components(K, directed=False)
    if number == 1 or R.shape[1] == 0:
        return
    sized = R / np.abs(R).max(axis=0)
    ways = sum(int(np.linalg.matrix_rank(sized[part == k], tol=1e-9)) for k in range(number))
    if ways > R.shape[1]:
        raise FlexibleBodyError(_MECHANISM)


def _free_flexibility(K: Sparse, M: Sparse, R: Floats) -> Solve:
    """The inverse of K on the elastic space (inertia relief): loads in balance with their rigid inertia, rigid part removed.

    K is factored with r well placed degrees of freedom held, which changes the answer by a rigid motion only.
    """
    n, r = R.shape
    held = linalg.qr(R.T, mode="r", pivoting=True)[1][:r] if r else np.zeros(0, dtype=int)
    free = np.setdiff1d(np.arange(n), held)
    try:
        factor = splu(
            sparse.csc_array(K[:, free][free, :]), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )  # fmt: skip
    except RuntimeError:
        raise FlexibleBodyError(_MECHANISM) from None
    MR = M @ R
    inverse = np.linalg.inv(R.T @ MR) if r else np.zeros((0, 0))

    def solve(load: Floats) -> Floats:
        x = np.zeros(n)
        x[free] = factor.solve((load - MR @ (inverse @ (R.T @ load)))[free])
        result: Floats = x - R @ (inverse @ (MR.T @ x))
        return result

    return solve


def _lowest(K: Sparse, M: Sparse, inverse: Solve, count: int) -> Floats:
    """The `count` lowest modes by Lanczos iteration on `inverse` (eigsh, shift-invert at zero)."""
    n = K.shape[0]
    start = inverse(np.random.default_rng(0).standard_normal(n))
    operator = LinearOperator((n, n), matvec=lambda load: inverse(np.ravel(load)), dtype=np.float64)
    try:
        values, vectors = eigsh(K, count, M=M, sigma=0.0, OPinv=operator, v0=start)
    except ArpackError as problem:
        raise FlexibleBodyError(f"The modes did not converge: {problem}.") from None
    result: Floats = vectors[:, np.argsort(values)]
    return result


def _without_rigid(M: Sparse, R: Floats, X: Floats) -> Floats:
    """X minus its rigid part, M-orthogonally, twice for rounding."""
    if R.shape[1] == 0:
        return X
    MR = M @ R
    inverse = np.linalg.inv(R.T @ MR)
    for _ in range(2):
        X = X - R @ (inverse @ (MR.T @ X))
    return X
