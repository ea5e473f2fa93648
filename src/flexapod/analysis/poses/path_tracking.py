"""Solution paths of a family of polynomial systems, in batches: paths that have ended leave, the others go on.

Letters: x homogeneous solutions (N, n) complex; p parameters (N, m) complex.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array, Complex, Rows

if TYPE_CHECKING:
    from flexapod.equations.homotopy.tracker import System
    from flexapod.kernels.kernel import Kernel
    from flexapod.kernels.tape.program import Program


ARRIVED, STUCK, TOO_LONG = 1, 2, 3
"""Ends of a path: at t = 1, with a step too small, after too many steps."""


@dataclass(frozen=True, kw_only=True)
class TrackingControl:
    """Step control of path tracking.

    Args:
        correction: largest first Newton step after a prediction, relative.
        contraction: largest second step, relative to the first.
        smallest, first, longest: steps of the path's parameter t.
        steps: after so many a path is given up.
    """

    correction: float = 0.05
    contraction: float = 0.05
    smallest: float = 1e-10
    first: float = 0.05
    longest: float = 0.25
    steps: int = 3000

    def tighter(self) -> TrackingControl:
        """Shorter and more exact steps, for paths that failed or met another."""
        return TrackingControl(
            correction=0.03 * self.correction,
            contraction=self.contraction,
            smallest=1e-2 * self.smallest,
            first=0.3 * self.first,
            longest=self.longest,
            steps=2 * self.steps,
        )


@dataclass(frozen=True, kw_only=True)
class Ends:
    """Ends of paths: points x (N, n), how they ended (N,), t (N,), steps (N,), squared size of the last Newton step (N,)."""

    x: Complex
    code: NDArray[np.int64]
    t: Array
    steps: NDArray[np.int64]
    last: Array

    def put(self, index: Rows, others: Ends) -> None:
        """Replace some of them."""
        for name in ("x", "code", "t", "steps", "last"):
            getattr(self, name)[index] = getattr(others, name)


class Tracker:
    """The compiled tracker of one family."""

    def __init__(self, system: Callable[[], System], key: str) -> None:
        from flexapod.kernels.cache import cached_kernel

        def program() -> Program:
            from flexapod.equations.homotopy.tracker import tracker

            return tracker(system())

        self._kernel: Kernel = cached_kernel(f"homotopy|{key}", program)

    def track(
        self, x: Complex, p0: Complex, p1: Complex, control: TrackingControl, *, rows: NDArray[np.int64] | None = None
    ) -> Ends:
        """Follow paths from solutions x of p0 to solutions of p1.

        Args:
            rows: (N,) row of p0 and p1 of each path; row by row if left out.
        """
        from flexapod.equations.homotopy.tracker import POLISH, state_size

        N, n = x.shape
        rows = np.arange(N) if rows is None else rows
        state = np.zeros((N, state_size(n)))
        state[:, : 2 * n] = _pairs(x / np.linalg.norm(x, axis=1, keepdims=True))
        state[:, 4 * n : 6 * n] = state[:, : 2 * n]
        state[:, 8 * n + 2], state[:, 8 * n + 3], state[:, 8 * n + 4] = control.first, -1.0, POLISH
        limits = np.empty((N, 4))
        limits[:] = control.correction**2, control.contraction**2, control.smallest, control.longest
        active, p_0, d_p = np.arange(N), _pairs(p0)[rows], _pairs(p1 - p0)[rows]
        run, constants = self._kernel.executable.run, self._kernel.constants()
        current, ahead, final, status = state, np.empty_like(state), np.empty_like(state), np.empty(N, dtype=np.int32)
        while count := len(active):
            run([current, p_0, d_p, limits[:count]], constants, [ahead[:count]], status[:count])
            current, ahead = ahead[:count], current
            ended = (current[:, 8 * n + 5] != 0.0) | (current[:, 8 * n + 6] >= control.steps) | (status[:count] != 0)
            if ended.any():
                final[active[ended]] = current[ended]
                stay = ~ended
                active, current, p_0, d_p = active[stay], current[stay], p_0[stay], d_p[stay]
        final[~np.isfinite(final).all(axis=1), 8 * n + 5] = STUCK
        final = np.nan_to_num(final)
        code = final[:, 8 * n + 5].astype(np.int64)
        return Ends(
            x=final[:, :n] + 1j * final[:, n : 2 * n],
            code=np.where(code == 0, TOO_LONG, code),
            t=final[:, 8 * n],
            steps=final[:, 8 * n + 6].astype(np.int64),
            last=final[:, 8 * n + 8],
        )


def _pairs(z: Complex) -> Array:
    return np.ascontiguousarray(np.concatenate([z.real, z.imag], axis=1))


def projective_gap(x: Complex, y: Complex) -> Array:
    """Sine of the angle between complex lines, squared: (N, M) for x (N, n) and y (M, n)."""
    x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    y = y / np.linalg.norm(y, axis=-1, keepdims=True)
    product = x @ np.conj(np.swapaxes(y, -1, -2))
    gap = 1.0 - (product.real**2 + product.imag**2)
    near = np.nonzero(gap < 1e-8)  # cancellation: those pairs once more, by the part of one that is normal to the other
    u, v = x[near[:-1]], y[(*near[:-2], near[-1])]
    rest = u - product[near][:, None] * v
    gap[near] = (np.abs(rest) ** 2).sum(axis=-1)
    return np.asarray(gap)
