r"""Modes of sparse finite element matrices: free, supported, and Craig-Bampton component modes.

K stiffness, M mass (n, n), sparse and symmetric; R (n, r) the rigid displacements, K R = 0 (r = 0: a supported body); C (b, n)
the interface displacements, C x. Every basis is mass-normalised, M-orthogonal to R, and diagonalises K.

M may be singular (lumped masses without rotary inertia). Directions without inertia follow the others statically: modes are those
of 1/omega^2, M x = K x / omega^2, and what has 1/omega^2 = 0 there is K-orthogonal to all of them, which is static condensation.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from flexapod.flexible.block_lanczos import Solve, Sparse, lowest_modes
from flexapod.flexible.checked_arrays import Floats
from flexapod.flexible.errors import FlexibleBodyError

DENSE = 300
"""Degrees of freedom up to which the dense eigenproblem is faster; it gives all modes."""

NO_INERTIA = 1e-13
"""Modes whose 1/omega^2 is below this part of the largest have no inertia beyond rounding."""

MARGIN_MODES = 3
"""Modes beyond those asked for that callers may want, so that a pair of equal frequencies is not cut in two."""


def normal_modes(
    K: Sparse, M: Sparse, R: Floats, count: int, extra: int = 0, *, definite: bool = False
) -> tuple[Floats, Floats]:  # fmt: skip
    """The lowest elastic modes: omega^2 (count + extra,), ascending, and V (n, count + extra); fewer extra ones if need be.

    Args:
        definite: M is known to be positive definite, which saves a step.

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
    frame = MeanFrame(M, R)
    if _small(M, count, r):
        Q = _complement(frame.anchor)
        return rayleigh_ritz(K, M, frame, _dense_modes(K, M, Q, count, extra, "the elastic degrees of freedom"))
    return rayleigh_ritz(K, M, frame, lowest_modes(M, _free_flexibility(K, frame), count + extra, definite=definite))


def all_modes(K: Sparse, M: Sparse, R: Floats) -> tuple[Floats, Floats]:
    """Every elastic mode that has inertia, by dense matrices: omega^2, ascending, and V; see `normal_modes`.

    Checked by: tests/flexible/test_massless.py.
    """
    _refuse_loose_parts(K, R)
    frame = MeanFrame(M, R)
    Q = _complement(frame.anchor)
    return rayleigh_ritz(K, M, frame, _dense_modes(K, M, Q, 0, Q.shape[1], "the elastic degrees of freedom"))


class MeanFrame:
    """The frame that elastic motion is measured from: no displacement x with anchor^T x = 0 moves it.

    The anchor of a rigid motion is its momentum M r; a motion without inertia (the spin of a straight line of point masses) has
    none and is anchored by its own displacements instead.
    """

    def __init__(self, M: Sparse, R: Floats) -> None:
        sized = R / np.abs(R).max(axis=0, initial=0.0) if R.shape[1] else R
        values, vectors = np.linalg.eigh(sized.T @ (M @ sized))
        self.R: Floats = sized @ vectors
        self.anchor: Floats = M @ self.R
        still = values <= NO_INERTIA * values.max(initial=0.0)
        self.anchor[:, still] = self.R[:, still] * float(np.mean(M.diagonal()))
        self.inverse = np.linalg.inv(self.anchor.T @ self.R)

    def without_rigid(self, X: Floats) -> Floats:
        """X without its rigid part, twice for rounding."""
        for _ in range(2):
            X = X - self.R @ (self.inverse @ (self.anchor.T @ X))
        return X

    def balanced(self, load: Floats) -> Floats:
        """A load less the inertia of the rigid motion that it starts (inertia relief)."""
        result: Floats = load - self.anchor @ (self.inverse.T @ (self.R.T @ load))
        return result


def rayleigh_ritz(K: Sparse, M: Sparse, frame: MeanFrame, basis: Floats) -> tuple[Floats, Floats]:
    """omega^2 and modes in the span of `basis` (n, m) after its rigid part is removed.

    Dependent directions and those that are rigid but for rounding are dropped, measured by the mass with a filling, as it may be
    singular; independent ones without inertia are condensed statically.
    """
    W = _filled(K, M)
    X = frame.without_rigid(basis)
    left = np.einsum("nk,nk->k", X, W @ X)
    elastic = left > NO_INERTIA * np.einsum("nk,nk->k", basis, W @ basis)
    if not elastic.any():
        raise FlexibleBodyError(
            "The reduction has no elastic shape: with one interface and no modes the body is rigid; ask for modes."
        )
    X = X[:, elastic] / np.sqrt(left[elastic])
    size, rotation = np.linalg.eigh(X.T @ (W @ X))
    keep = size > NO_INERTIA * size[-1]
    X = frame.without_rigid(X @ (rotation[:, keep] / np.sqrt(size[keep])))
    mass, stiffness = X.T @ (M @ X), X.T @ (K @ X)
    compliance, vectors = linalg.eigh(mass, stiffness)
    moving = compliance > NO_INERTIA * compliance[-1]
    if not moving.all():
        X = X @ (vectors[:, moving] / np.sqrt(compliance[moving]))
        mass, stiffness = X.T @ (M @ X), X.T @ (K @ X)
    values, vectors = linalg.eigh(stiffness, mass)
    return values, X @ vectors


def _filled(K: Sparse, M: Sparse) -> Sparse:
    """The mass with K's diagonal in the mean proportion of the degrees of freedom with mass: positive, also for lumped masses."""
    mass, stiffness = M.diagonal(), K.diagonal()
    some = mass > 0.0
    ratio = float(mass[some].sum() / stiffness[some].sum())
    return sparse.csc_array(M + sparse.diags_array(ratio * stiffness))


def _small(M: Sparse, count: int, held: int) -> bool:
    """Whether the dense eigenproblem is in place: few degrees of freedom, or many modes of those with inertia."""
    moving = int(np.count_nonzero(M.diagonal() > 0.0))
    return M.shape[0] <= DENSE or count > moving // 3 or count + MARGIN_MODES + held > moving


def craig_bampton(K: Sparse, M: Sparse, R: Floats, C: Floats, count: int) -> tuple[Floats, Floats]:
    r"""Craig-Bampton component modes, made orthogonal: omega^2 (b - r + count,) and modes.

    The basis are the b static deflections under unit displacements of the interfaces, ``min x^T K x, C x = 1_j``, and `count`
    modes with the interfaces held. Rigid motion, which the deflections contain, is removed. Static deflections under interface
    forces in balance with each other are exact in this basis, and so are all modes once `count` reaches all degrees of freedom
    with inertia; coordinates beyond these have none and are condensed.

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
    try:
        rows = scale * sparse.csc_array(C)
        bordered = splu(sparse.block_array([[K, rows.T], [rows, None]], format="csc"))
    except RuntimeError:
        raise FlexibleBodyError(_MECHANISM) from None

    def held(load: Floats) -> Floats:
        solution: Floats = bordered.solve(np.concatenate([load, np.zeros((b, *load.shape[1:]))]))[:n]
        return solution

    static = bordered.solve(np.vstack([np.zeros((n, b)), scale * np.eye(b)]))[:n]
    if count == 0:
        fixed = np.zeros((n, 0))
    elif _small(M, count, b):
        fixed = _dense_modes(K, M, _complement(C.T), count, 0, "the degrees of freedom beside the interfaces")
    else:
        fixed = lowest_modes(M, held, count)
    return rayleigh_ritz(K, M, MeanFrame(M, R), np.hstack([static, fixed]))


def residual_modes(K: Sparse, M: Sparse, R: Floats, C: Floats, count: int) -> tuple[Floats, Floats]:
    r"""Free modes with residual flexibility, made orthogonal: omega^2 (at most b + count,) and modes.

    The basis are `count` free modes and the b deflections of the free body under unit loads :math:`C^T 1_j` at the interfaces, in
    balance with their rigid inertia: what the missing modes would add statically. Free modes stay exact, and so do deflections
    under interface loads.

    Source: R. H. MacNeal, Computers and Structures 1, 1971; S. Rubin, AIAA Journal 13(8), 1975.
    Checked by: tests/flexible/test_normal_modes.py.
    """
    if len(C) == 0:
        raise FlexibleBodyError("method residual needs at least one interface.")
    _, V = normal_modes(K, M, R, count)
    frame = MeanFrame(M, R)
    solve = _free_flexibility(K, frame)
    return rayleigh_ritz(K, M, frame, np.hstack([V, solve(C.T)]))


def _complement(A: Floats) -> Floats:
    """Orthonormal basis (n, n - r) of the x with A^T x = 0, A (n, r) of full rank."""
    n, r = A.shape
    result: Floats = np.asarray(linalg.qr(A, mode="full")[0][:, r:] if r else np.eye(n), dtype=np.float64)
    return result


def _dense_modes(K: Sparse, M: Sparse, Q: Floats, count: int, extra: int, what: str) -> Floats:
    """The lowest modes in the span of Q (n, m) by 1/omega^2 of M against K, so that M may be singular; `count` at least."""
    mass, stiffness = Q.T @ (M @ Q), Q.T @ (K @ Q)
    try:
        compliance, vectors = linalg.eigh(mass, stiffness)
    except linalg.LinAlgError:
        raise FlexibleBodyError(_MECHANISM) from None
    some = K.diagonal() > 0.0
    scale = max(compliance[-1], (M.diagonal()[some] / K.diagonal()[some]).max())  # the mass may be in rigid motions alone
    moving = int((compliance > NO_INERTIA * scale).sum())
    if count > moving:
        raise FlexibleBodyError(f"modes must be at most {moving}, {what} with inertia, is {count}.")
    result: Floats = Q @ vectors[:, ::-1][:, : min(count + extra, moving)]
    return result


_MECHANISM = (
    "The stiffness leaves the body a motion without energy that is not a rigid one: look for parts that are not connected, "
    "or nodes that are not where the matrices were made."
)


def _refuse_loose_parts(K: Sparse, R: Floats) -> None:
    """Refuse parts that move rigidly against each other: the ranks of R of the parts that K couples must add up to that of R."""
    from scipy.sparse.csgraph import connected_components

    number, part = connected_components(K, directed=False)
    if number == 1 or R.shape[1] == 0:
        return
    sized = R / np.abs(R).max(axis=0)
    ways = sum(int(np.linalg.matrix_rank(sized[part == k], tol=1e-9)) for k in range(number))
    if ways > R.shape[1]:
        raise FlexibleBodyError(_MECHANISM)


def _free_flexibility(K: Sparse, frame: MeanFrame) -> Solve:
    """The inverse of K on the elastic space (inertia relief): loads in balance with their rigid inertia, rigid part removed.

    K is factored with r well placed degrees of freedom held, which changes the answer by a rigid motion only.
    """
    n, r = frame.R.shape
    held = linalg.qr(frame.R.T, mode="r", pivoting=True)[1][:r] if r else np.zeros(0, dtype=int)
    free = np.setdiff1d(np.arange(n), held)
    try:
        factor = splu(
            sparse.csc_array(K[:, free][free, :]), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )  # fmt: skip
    except RuntimeError:
        raise FlexibleBodyError(_MECHANISM) from None

    def solve(load: Floats) -> Floats:
        x = np.zeros(load.shape)
        x[free] = factor.solve(frame.balanced(load)[free])
        return frame.without_rigid(x)

    return solve
