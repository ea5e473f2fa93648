"""Linear systems of many samples, with detection of singular ones.

Rows and columns are brought to size 1 first, so that metres, radians and newtons do not decide; then the reciprocal condition
number in the 1-norm, from the inverse, distinguishes rank from rounding.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array

MASSLESS = "the mass matrix is singular, as a moving part has no mass: an actuator that drives through a spring needs `inertia`"
"""Reason why a mass matrix is singular."""

LEFT = 1e-6
"""Error of a left inverse, of 1: rounding stays below 1e-10, a lost rank gives 1."""

SINGULAR = 1e-14
"""Reciprocal condition number of the balanced matrix below which a system counts as singular: rounding of its entries is 1e-16,
stiff beams beside soft ones reach 1e-11."""


def solved(A: Array, b: Array) -> Array:
    """x (n, m, k) of A x = b for A (n, m, m) and b (n, m, k), or (n, m) for b (n, m); NaN where A is singular or not finite.

    Checked by: tests/analysis/test_linear_solve.py.
    """
    columns = b if b.ndim == 3 else b[..., None]
    result = np.full(columns.shape, np.nan)
    good = np.isfinite(columns).all(axis=(1, 2)) & regular(A)
    if np.all(good):
        result = np.linalg.solve(A, columns)
    elif np.any(good):
        result[good] = np.linalg.solve(A[good], columns[good])
    return result if b.ndim == 3 else result[..., 0]


def inverted(A: Array) -> Array:
    """Inverses (n, m, m); NaN where singular or not finite."""
    return solved(A, np.broadcast_to(np.eye(A.shape[-1]), A.shape))


def regular(A: Array) -> NDArray[np.bool_]:
    """Whether each of the square matrices (n, m, m) is finite and not singular."""
    m = A.shape[1]
    result: NDArray[np.bool_] = np.asarray(np.isfinite(A).all(axis=(1, 2)))
    if m == 0 or not np.any(result):
        return result
    part = A if result.all() else A[result]
    rows = np.abs(part).max(axis=2, keepdims=True)
    part = part / np.where(rows > 0.0, rows, 1.0)
    columns = np.abs(part).max(axis=1, keepdims=True)
    part /= np.where(columns > 0.0, columns, 1.0)
    inverse = _inverse(part)
    size = np.abs(part).sum(axis=1).max(axis=1) * np.abs(inverse).sum(axis=1).max(axis=1)
    result[result] = np.isfinite(size) & (size < 1.0 / SINGULAR)
    return result


def _inverse(A: Array) -> Array:
    try:
        return np.asarray(np.linalg.inv(A))
    except np.linalg.LinAlgError:
        found = np.full_like(A, np.nan)
        for k, matrix in enumerate(A):
            if np.linalg.matrix_rank(matrix) == len(matrix):
                found[k] = np.linalg.inv(matrix)
        return found


def left_inverse(A: Array) -> Array:
    """Inverses (n, k, m), or left inverses where rows repeat; NaN where columns depend on each other: a singular loop."""
    if A.shape[1] == A.shape[2]:
        return inverted(A)
    result = pseudo_inverse(A)
    with np.errstate(invalid="ignore"):
        off = np.abs(result @ A - np.eye(A.shape[2])).max(axis=(1, 2), initial=0.0)
    result[~(off < LEFT)] = np.nan
    return result


def pseudo_inverse(A: Array) -> Array:
    """Pseudo-inverses (n, k, m) of A (n, m, k); NaN for samples that are not numbers."""
    result = np.full((len(A), A.shape[2], A.shape[1]), np.nan)
    good = np.all(np.isfinite(A), axis=(1, 2))
    result[good] = np.linalg.pinv(A[good])
    return result
