r"""The lowest modes of K x = omega^2 M x by Lanczos iteration with blocks of vectors.

The operator is :math:`A = K^{-1} M`, symmetric in the product :math:`x^T M y`; its largest eigenvalues are
:math:`\theta = 1/\omega^2`. The rows of Q (m, n) are an M-orthonormal basis, :math:`T = Q M A Q^T` is the projection. A block of
vectors passes through the factors of K together, in a fraction of the time of one after the other, and finds equal frequencies
at once. Every block is made orthogonal to the whole basis: no frequency is found twice.

Source: R. G. Grimes, J. G. Lewis, H. D. Simon, SIAM Journal on Matrix Analysis 15(1), 1994; restart: K. Wu, H. Simon, same
journal 22(2), 2000; purification: B. Nour-Omid, B. N. Parlett, T. Ericsson, P. S. Jensen, Mathematics of Computation 48, 1987.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from flexapod.flexible.checked_arrays import Floats

Sparse = sparse.csc_array
Solve = Callable[[Floats], Floats]
"""Displacements K^-1 f under loads (n,) or (n, k)."""

BLOCK = 8
"""Vectors that pass through the factors together; beyond, time per vector hardly falls and more vectors are needed."""

CONVERGED = 1e-10
"""Residual of a mode, of its 1/omega^2; frequencies have its square."""

ROUNDING = 1e-15
"""Residual that rounding leaves, of the largest 1/omega^2."""

DEPENDENT = 1e-12
"""Part of a block, in the norm of M, below which a vector is no new direction."""

MADE_OF_ROUNDING = 0.1
"""Norm below which a direction of norm one is found when it is measured again, if it was a difference of equal vectors."""


def lowest_modes(M: Sparse, inverse: Solve, count: int, *, definite: bool = False) -> Floats:
    """The `count` lowest modes (n, count), ascending; fewer where fewer have inertia.

    Start and result pass through ``inverse(M x)``: where M is singular, what is not in the range of that operator is no part of a
    mode but would stay in the iteration as rounding lets it grow (purification). The result need not, where M is known to be
    `definite`.

    Checked by: tests/flexible/test_block_lanczos.py.
    """

    def image(X: Floats) -> Floats:
        """A x of rows x (b, n)."""
        return inverse((X @ M).T).T

    theta, modes = _ritz_vectors(M, image, count)
    for k in range(0, 0 if definite else len(theta), 2 * BLOCK):
        some = slice(k, k + 2 * BLOCK)
        modes[some] = image(modes[some]) / theta[some, None]
    return modes.T


def _ritz_vectors(M: Sparse, image: Solve, count: int) -> tuple[Floats, Floats]:
    """theta (count,), descending, and vectors (count, n) once residuals are small; beyond `most` vectors the best are kept."""
    n, most, kept = M.shape[0], 4 * count + 8 * BLOCK, count + 2 * BLOCK
    Q, T = np.empty((most + BLOCK, n)), np.zeros((most + BLOCK, most + BLOCK))
    random = np.random.default_rng(0)

    def start(m: int) -> Floats:
        return _new_directions(M, image(random.standard_normal((BLOCK, n))), Q[:m], 0)[0]

    X, m, near, test = start(0), 0, 0, 2 * count
    while True:
        last, m = m, m + len(X)
        Q[last:m] = X
        X, B, T[last:m, :m] = _new_directions(M, image(X), Q[:m], near)
        near = last
        if len(X) == 0:  # all modes that the start contains are found: more of an equal frequency may remain
            X, near = start(m), 0
        if m < test and len(X):
            continue
        theta, Y = np.linalg.eigh(T[:m, :m])  # of the lower triangle
        theta, Y = theta[::-1], Y[:, ::-1]
        left = np.linalg.norm(Y[last:].T @ B, axis=1)[:count]
        if len(X) == 0 or (left <= CONVERGED * theta[:count] + ROUNDING * theta[0]).all():
            return theta[:count], Y[:, :count].T @ Q[:m]
        if m + BLOCK > most:
            Q[:kept], T[:kept, :kept] = Y[:, :kept].T @ Q[:m], np.diag(theta[:kept])
            m, near = kept, 0
        test = m + BLOCK


def _new_directions(M: Sparse, W: Floats, Q: Floats, near: int) -> tuple[Floats, Floats, Floats]:
    """W = C Q + B X with rows of X (r, n) M-orthonormal and orthogonal to those of Q (m, n): X, B (b, r), C (b, m).

    By the three-term recurrence W has parts along the rows from `near` on; the others are removed once more for rounding.
    """
    WM = W @ M
    least = DEPENDENT * float(np.sqrt(np.einsum("kn,kn->k", W, WM).max(initial=0.0)))
    C = np.zeros((len(W), len(Q)))
    C[:, near:] = WM @ Q[near:].T
    X, B = _orthonormal(M, W - C[:, near:] @ Q[near:], least)
    back = (X @ M) @ Q.T
    X, again = _orthonormal(M, X - back @ Q, MADE_OF_ROUNDING)
    return X, B @ again, C + B @ back


def _orthonormal(M: Sparse, W: Floats, least: float) -> tuple[Floats, Floats]:
    """W = B X with X M X^T = 1, without directions of a norm up to `least`: X (r, n), B (b, r)."""
    size2, U = np.linalg.eigh((W @ M) @ W.T)
    new = size2 > least**2
    size, U = np.sqrt(size2[new]), U[:, new]
    return (U / size).T @ W, U * size
