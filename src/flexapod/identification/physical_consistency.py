r"""Physical consistency of parameters: positive mass and a positive definite pseudo-inertia, by a linear matrix inequality.

.. math:: \min_\theta\;(K\theta-\hat\beta)^T H (K\theta-\hat\beta) + \lambda\,|D^{-1}(\theta-\theta_0)|^2,\qquad
          \begin{bmatrix}\tfrac12\operatorname{tr}(I)\,1 - I & m c\\ (m c)^T & m\end{bmatrix}\succeq\varepsilon

Letters: K base combinations, H information of the estimate, theta_0 the file's numbers (CAD), D their sizes. Friction
coefficients and rotor inertias are not negative. Bodies whose numbers in the file are regrouped base parameters are left free.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import SX, Array
from flexapod.errors import FlexapodError, InputError

SMALLEST = 1e-6
"""Smallest eigenvalue of a pseudo-inertia, as a fraction of the body's size: strictly positive beyond the solver's tolerance."""
PRIOR = 1e-6
"""Default weight of the file's numbers: decides what the data leave open, and moves what they determine by less than 1e-3
sigma."""
INERTIAL = 10


def pseudo_inertia(theta: Sequence[SX] | Array) -> Any:
    """(4, 4) pseudo-inertia of (m, mx, my, mz, xx, yy, zz, xy, xz, yz) about the frame origin."""
    m, x, y, z, xx, yy, zz, xy, xz, yz = (theta[k] for k in range(INERTIAL))
    t = (xx + yy + zz) / 2
    return [[t - xx, -xy, -xz, x], [-xy, t - yy, -yz, y], [-xz, -yz, t - zz, z], [x, y, z, m]]


def is_physical(theta: Array) -> bool:
    """A body of these ten parameters exists (positive semidefinite pseudo-inertia, up to rounding)."""
    P = np.array(pseudo_inertia(theta))
    return bool(np.linalg.eigvalsh(P)[0] >= -1e-12 * max(np.abs(P).max(), 1e-300))


def physical_estimate(
    beta: Array, information: Array, K: Array, prior: Array, bodies: Mapping[str, NDArray[np.int64]],
    positive: NDArray[np.int64], *, weight: float = PRIOR,
) -> Array:  # fmt: skip
    """The physically consistent theta nearest to an estimate in the metric of its information.

    Args:
        beta: (base,) estimate; information: (base, base).
        K: (base, parameters).
        prior: (parameters,) numbers of the file.
        bodies: positions of the ten parameters of every body that must exist.
        positive: positions of parameters that are not negative.
        weight: of the prior, in standard errors of a change by its own size.

    Source: Wensing, Kim, Slotine, Linear matrix inequalities for physically consistent inertial parameter identification (2018).
    Checked by: tests/identification/test_physical.py.
    """
    try:
        cp: Any = importlib.import_module("cvxpy")
    except ImportError:
        raise InputError("physical=True needs the package cvxpy: pip install 'flexapod[identification]'") from None
    size = parameter_sizes(prior, bodies)
    size[size == 0] = size[size > 0].min(initial=1.0)
    x = cp.Variable(len(prior))  # theta in units of the sizes
    root = _root(information)
    scale = max(float(np.abs(root).max()), 1e-300)
    misfit = (root @ (K * size)) / scale
    right = root @ beta / scale
    loss = cp.sum_squares(misfit @ x - right) + weight / scale**2 * cp.sum_squares(x - prior / size)
    constraints = []
    for places in bodies.values():
        own = size[places]
        length = np.sqrt(max(own[4:].max() / max(own[0], 1e-300), 1e-12))
        D = np.diag([1 / length] * 3 + [1.0]) / np.sqrt(max(own[0], 1e-300))
        rows = pseudo_inertia([x[int(k)] * float(s) for k, s in zip(places, own, strict=True)])
        P = cp.bmat([[cp.reshape(cp.Expression.cast_to_const(e), (1, 1), order="C") for e in row] for row in rows])
        constraints.append(D @ P @ D >> SMALLEST * np.eye(4))
    if len(positive):
        constraints.append(x[positive] >= 0)
    problem = cp.Problem(cp.Minimize(loss), constraints)
    try:
        problem.solve(solver=cp.CLARABEL)
    except cp.SolverError as error:
        raise FlexapodError(f"physically consistent estimate: the solver failed ({error}); raise the prior") from None
    if x.value is None:
        raise FlexapodError(
            f"physically consistent estimate: {problem.status}; no physically possible parameters fit the data: raise the prior, "
            "or check data and robot file"
        )
    return np.asarray(x.value) * size


def _root(information: Array) -> Array:
    """R with R^T R = information, columns of very different size."""
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))).T * scale)


def parameter_sizes(prior: Array, bodies: Mapping[str, NDArray[np.int64]]) -> Array:
    """Size of every parameter: its own in the file, for bodies what their mass and extent make plausible; 0 where the file
    has 0."""
    size = np.abs(prior).astype(np.float64)
    for places in bodies.values():
        m = size[places[0]]
        if m > 0:
            second = max(float(size[places[4:]].max()), 1e-4 * m)
            length = np.sqrt(second / m)
            size[places] = [m, *[m * length] * 3, *[m * length**2] * 6]
    return size
