r"""Far complex poses of six legs: Newton's method with residuals in extended precision.

A finite solution with a small bilinear norm e.e has a Jacobian with a condition of 1e8 and more. Newton's method in double then
ends at steps of 1e-7 and cannot distinguish such a solution from a singular one. With residuals of

.. math:: f_i = (D_i \cdot D_i - s_i\, e\cdot e) / 2,\qquad D_i = g + W_i e,\qquad f_7 = e\cdot g

in extended precision (64 bits of mantissa where the machine has them) its steps fall quadratically; corrections are solved for in
double. Letters as in `flexapod.equations.homotopy.tracker.six_legs`; N solutions, x (N, 8), parameters p (N, 42).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from flexapod.arrays import Array, Complex

PASSES = 5
"""Newton steps."""


def refined(x: Complex, p: Complex) -> tuple[Complex, Array]:
    """Solutions after Newton's steps, and the squared size of the last one, relative to the solution.

    Checked by: tests/analysis/test_assembly_modes.py.
    """
    wide: Any = x.astype(np.clongdouble)
    last = np.full(len(x), np.inf)
    m, n, s = (v.astype(np.clongdouble) for v in (p[:, :18].reshape(-1, 6, 3), p[:, 18:36].reshape(-1, 6, 3), p[:, 36:]))
    for _ in range(PASSES):
        wide = wide / np.sqrt((np.abs(wide) ** 2).sum(axis=1, keepdims=True))
        e, g = wide[:, :4], wide[:, 4:]
        D = g[:, None] + _lever(m, n, np.broadcast_to(e[:, None], (len(x), 6, 4)))
        norm = (e * e).sum(axis=1)
        f = np.concatenate([((D * D).sum(axis=2) - s * norm[:, None]) / 2, (e * g).sum(axis=1)[:, None]], axis=1)
        by_e = -_lever(m, n, D) - s[..., None] * e[:, None]  # W^T = -W
        rows = np.concatenate([np.concatenate([by_e, D], axis=2), np.concatenate([g, e], axis=1)[:, None]], axis=1)
        patch = np.concatenate([rows, np.conj(wide)[:, None]], axis=1).astype(np.complex128)
        right = np.concatenate([f, np.zeros((len(x), 1))], axis=1).astype(np.complex128)
        try:
            step = -np.linalg.solve(patch, right[..., None])[..., 0]
        except np.linalg.LinAlgError:
            return x, last
        wide, last = wide + step, (np.abs(step) ** 2).sum(axis=1)
    return wide.astype(np.complex128), np.nan_to_num(last, nan=np.inf)


def _lever(m: Any, n: Any, e: Any) -> Any:
    """W e, (N, 6, 4)."""
    v = e[..., 1:]
    cross = n[..., [1, 2, 0]] * v[..., [2, 0, 1]] - n[..., [2, 0, 1]] * v[..., [1, 2, 0]]
    return np.concatenate([-(m * v).sum(axis=-1, keepdims=True), m * e[..., :1] - cross], axis=-1)
