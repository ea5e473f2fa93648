r"""Estimators of :math:`y = Y\beta + e`: weighted least squares, instrumental variables, robust regression, in bounded memory.

.. math:: \hat\beta = (Z^T W Y)^{-1} Z^T W y,\qquad
          \operatorname{cov} = \hat s^2\,(Z^T W Y)^{-1}\,Z^T W Z\,(Y^T W Z)^{-1}

Letters: W inverse covariance of the residuals between actuators (they are uncorrelated in time after decimation), Z instruments
(Y itself for least squares), s^2 the residual variance that is left. Sums run over blocks of samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from flexapod.arrays import Array
from flexapod.errors import FlexapodError
from flexapod.kernels.gram import Gram

Method = Literal["ols", "wls", "iv", "robust"]
METHODS: tuple[Method, ...] = ("ols", "wls", "iv", "robust")
Block = tuple[Array, Array, Array | None]
"""Y (n, a, P), y (n, a), Z (n, a, P) or None."""
HUBER = 1.345
"""Constant of Huber's weight: 95 % efficiency for normal noise."""
ROUNDS = 8
"""Passes of the robust weights."""
EXACT = 1e-14
"""Residual over the data below which they are exact: rounding."""
REWEIGHTED = 2
"""Passes in which the residual covariance follows the estimate."""
CORRELATED = 0.1
"""Correlation of residuals of two actuators beyond which they are weighted together."""
SAMPLE = 6_000
"""Samples from which the residual covariance of long data is found."""


@dataclass(frozen=True, kw_only=True)
class Normal:
    """Sums of a pass over the data: N = Z^T W Y, M = Z^T W Z, r = Z^T W (y - Y about), and y^T W y of `rows` rows."""

    N: Array
    M: Array
    r: Array
    s: float
    rows: int
    samples: int
    about: Array | None = None


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """An estimate with its error.

    Args:
        root: of the weights that were used; None for the identity.
        beta: (P,) parameters, covariance (P, P).
        noise: (a, a) covariance of the residuals of the actuators.
        condition: of Y with scaled columns.
        rows: equations used.
        information: (P, P) inverse of the covariance.
    """

    beta: Array
    covariance: Array
    noise: Array
    condition: float
    rows: int
    information: Array
    root: Array | None = None

    @property
    def sigma(self) -> Array:
        """(P,) standard errors."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))


Blocks = Callable[[int | None], Iterator[Block]]
"""Data anew for every pass: all of it, or about as many samples as given, spread over all of it."""


def estimate(blocks: Blocks, method: Method) -> Estimate:
    """Estimate from blocks of data.

    Args:
        blocks: gives the data anew for every pass.
        method: ``"ols"`` weighs all actuators alike, ``"wls"`` by their residuals, ``"iv"`` with the instruments of the blocks,
            ``"robust"`` with Huber's weights on top of ``"wls"``.

    Checked by: tests/identification/test_estimators.py.
    """
    some = list(blocks(SAMPLE))
    start = solve(accumulate(iter(some), None))
    noise = residual_noise(iter(some), start)
    for _ in range(0 if method == "ols" else REWEIGHTED):  # the first residuals still contain errors of the first estimate
        start = solve(accumulate(iter(some), whitening(noise), about=start))
        noise = residual_noise(iter(some), start)
    root = None if method == "ols" else whitening(noise)
    clip = (start, noise) if method == "robust" else None
    normal = accumulate(blocks(None), root, method == "iv", clip, start)
    beta = solve(normal)
    for _ in range(ROUNDS if method == "robust" else 0):
        spread = residual_noise(iter(some), beta, robust=True)
        root, before = whitening(spread), beta
        normal = accumulate(blocks(None), root, False, (beta, spread), beta)
        beta = solve(normal)
        if np.max(np.abs(beta - before) / (np.abs(beta) + 1e-300)) < 1e-8:
            break
    return finish(normal, beta, residual_noise(iter(some), beta, robust=method == "robust"), root)


def finish(normal: Normal, beta: Array, noise: Array, root: Array | None) -> Estimate:
    """Covariance and condition of a solution; `noise` is that of its residuals, `root` the weights that were used."""
    left = noise if root is None else root @ noise @ root.T
    s2 = max(float(np.trace(left)) / len(noise), EXACT**2 * normal.s / normal.rows, 1e-250)
    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(normal.N)), 1e-300))
    inverse = np.linalg.inv(normal.N * np.outer(scale, scale)) * np.outer(scale, scale)
    covariance = s2 * inverse @ normal.M @ inverse.T
    scaled = normal.M * np.outer(scale, scale)
    sizes = np.linalg.eigvalsh((scaled + scaled.T) / 2)
    condition = float(np.sqrt(sizes[-1] / max(sizes[0], 1e-300)))
    return Estimate(
        beta=beta,
        covariance=covariance,
        noise=noise,
        condition=condition,
        rows=normal.rows,
        information=_inverse(covariance),
        root=root,
    )


def follow_derivative(found: Estimate, blocks: list[Block]) -> Estimate:
    """The same estimate with the covariance of an equation that is not linear.

    Args:
        blocks: some of the data, with the derivative in the place of Y, and Y or the instruments as Z.
    """
    part = accumulate(iter(blocks), found.root, True)
    whole = found.rows / part.rows
    normal = replace(part, N=whole * part.N, M=whole * part.M, rows=found.rows)
    return replace(finish(normal, found.beta, found.noise, found.root), condition=found.condition)


def _inverse(A: Array) -> Array:
    """Inverse of a covariance with entries of very different size."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(A), 1e-300))
    return np.asarray(np.linalg.pinv(A * np.outer(scale, scale), hermitian=True) * np.outer(scale, scale))


def accumulate(
    blocks: Iterator[Block],
    root: Array | None,
    instruments: bool = False,
    clip: tuple[Array, Array] | None = None,
    about: Array | None = None,
) -> Normal:
    """Sums of a pass.

    Args:
        root: (a, a) with W = root^T root; None for the identity.
        clip: estimate and noise from which Huber's weights follow.
        about: (P,) estimate that the right side is taken about, y - Y about: its sums then lose no digits to what is known.
    """
    rows, samples, s = 0, 0, 0.0
    sums: Gram | None = None
    other: list[Array] = []
    correlated = root is not None and bool(np.count_nonzero(root - np.diag(np.diag(root))))
    for Y, y, Z in blocks:
        n, a, P = Y.shape
        if sums is None:
            sums = Gram(P, a, np.ones(a) if root is None or correlated else np.diag(root), about)
        s += float(np.sum((y if root is None else y @ root.T) ** 2))
        if clip is not None:
            weight = np.sqrt(huber(y - Y @ clip[0], clip[1]))
            Y, y = Y * weight[:, :, None], y * weight
        if instruments and Z is not None:
            part = _with_instruments(Y, Z, y if about is None else y - Y @ about, root)
            other = part if not other else [old + new for old, new in zip(other, part, strict=True)]
        elif root is not None and correlated:
            sums.add(root @ Y, y @ root.T)
        else:
            sums.add(Y, y)
        rows, samples = rows + n * a, samples + n
    if sums is None:
        raise FlexapodError(
            "data: no sample is left to estimate from; all were left out (slow, decimated or outliers): measure longer, or relax "
            "these options"
        )
    G = sums.matrix()
    N, M, r = other or (G[:-1, :-1], G[:-1, :-1], G[:-1, -1])
    return Normal(N=N, M=M, r=r, s=s, rows=rows, samples=samples, about=about)


def _with_instruments(Y: Array, Z: Array, y: Array, root: Array | None) -> list[Array]:
    """Z^T W Y, Z^T W Z and Z^T W y of a block."""
    if root is not None:
        Y, Z, y = root @ Y, root @ Z, y @ root.T
    z = Z.reshape(-1, Z.shape[2])
    return [z.T @ Y.reshape(z.shape), z.T @ z, z.T @ y.ravel()]


def solve(normal: Normal) -> Array:
    """Solution of the normal equations, columns scaled, with one step of refinement."""
    scale = 1.0 / np.sqrt(np.maximum(np.abs(np.diag(normal.N)), 1e-300))
    A = normal.N * np.outer(scale, scale)
    try:
        x = np.linalg.solve(A, normal.r * scale)
        x = x + np.linalg.solve(A, normal.r * scale - A @ x)
    except np.linalg.LinAlgError:
        raise FlexapodError(
            "identification: the data determine no unique estimate (singular equations); excite the robot more, or set "
            "legs='alike'"
        ) from None
    return np.asarray(x * scale if normal.about is None else normal.about + x * scale)


def residual_noise(blocks: Iterator[Block], beta: Array, robust: bool = False) -> Array:
    """(a, a) covariance of residuals; robust: from medians, uncorrelated."""
    found = np.concatenate([y - Y @ beta for Y, y, _ in blocks])
    if robust:
        return np.diag((1.4826 * np.median(np.abs(found), axis=0)) ** 2 + 1e-300)
    return np.asarray(found.T @ found / max(len(found) - len(beta) / found.shape[1], 1.0)) + 1e-300 * np.eye(found.shape[1])


def whitening(noise: Array) -> Array:
    """(a, a) root with root noise root^T = 1; diagonal where residuals of actuators are hardly correlated."""
    sizes = np.sqrt(np.diag(noise))
    floor = max(1e-9 * float(sizes.max()), 1e-150)
    sizes = np.maximum(sizes, floor)
    correlation = noise / np.outer(sizes, sizes)
    off = np.abs(correlation - np.diag(np.diag(correlation)))
    if float(off.max(initial=0.0)) < CORRELATED:
        return np.diag(1.0 / sizes)
    values, vectors = np.linalg.eigh(correlation)
    values = np.maximum(values, 1e-6)
    return np.asarray((vectors / np.sqrt(values)).T / sizes)


def huber(residual: Array, noise: Array) -> Array:
    """(n, a) Huber's weights: 1 within 1.345 standard deviations, falling with the distance beyond."""
    size = np.abs(residual) / np.sqrt(np.diag(noise))
    return np.asarray(np.where(size <= HUBER, 1.0, HUBER / np.maximum(size, HUBER)))


def essential(found: Estimate, least: float) -> list[int]:
    """Parameters whose t-ratio is at least `least`, found by leaving out the weakest one after the other.

    Each time the rest is estimated anew from the same sums; Gautier and Khalil's essential parameters.
    """
    kept = list(range(len(found.beta)))
    right = found.information @ found.beta
    while len(kept) > 1:
        part = found.information[np.ix_(kept, kept)]
        covariance = np.linalg.inv(part)
        beta = covariance @ right[kept]
        ratio = np.abs(beta) / np.sqrt(np.maximum(np.diag(covariance), 1e-300))
        weakest = int(np.argmin(ratio))
        if ratio[weakest] >= least:
            break
        del kept[weakest]
    return kept
