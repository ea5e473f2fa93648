r"""Fixed points y = g(y) of many samples at once by Anderson's acceleration with two differences, in numbers.

The same method as `equations.newton_euler.fixed_point` has inside a kernel, for maps that a kernel does not hold.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array

CONVERGED = 1e-13
"""Largest last change of a sample over its largest entry; one more pass follows."""
LIMIT = 60
"""Passes after which a sample counts as not converging."""
DEPENDENT = 1e-20
"""Square of the sine between the two differences below which the older one says nothing new."""


def fixed_points(g: Callable[[Array], Array], start: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Fixed points y (n, k), and whether each sample has converged.

    Args:
        g: map of (n, k); samples do not depend on each other.

    Checked by: tests/analysis/test_general_dynamics.py.
    """
    y, done = start, np.zeros(len(start), dtype=bool)
    before: tuple[Array, Array] | None = None
    new = (np.zeros_like(start), np.zeros_like(start))
    for _ in range(LIMIT):
        value = g(y)
        f = value - y
        old = new
        new = new if before is None else (f - before[0], value - before[1])
        before = f, value
        with np.errstate(invalid="ignore"):
            steady = np.abs(f).max(axis=1, initial=0.0) <= CONVERGED * np.abs(value).max(axis=1, initial=0.0)
        lost = np.asarray(~np.isfinite(value).all(axis=1))
        following = np.where(lost[:, None], 0.0, value - _correction(f, new, old))
        y = np.where(done[:, None], y, following)
        if np.all(done | lost):
            break
        done = done | (steady & ~lost)
    return y, done


def _correction(f: Array, new: tuple[Array, Array], old: tuple[Array, Array]) -> Array:
    """Least squares of f by the differences, newest first, applied to those of g."""
    size = np.sum(new[0] * new[0], axis=1)
    inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0)
    overlap = np.sum(new[0] * old[0], axis=1) * inverse
    rest = old[0] - new[0] * overlap[:, None]
    left, before = np.sum(rest * rest, axis=1), np.sum(old[0] * old[0], axis=1)
    t_old = np.divide(np.sum(rest * f, axis=1), left, out=np.zeros_like(left), where=left > DEPENDENT * before)
    t_new = np.sum(new[0] * f, axis=1) * inverse - overlap * t_old
    return np.asarray(new[1] * t_new[:, None] + old[1] * t_old[:, None])
