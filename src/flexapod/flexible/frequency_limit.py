r"""Reduction of a structure up to a frequency limit, with a bound of the error.

K stiffness, M mass (n, n), dense; C (b, n) interface displacements, C x. With Psi the static deflections under unit interface
displacements and all modes phi_k with held interfaces (Craig and Bampton), the dynamic stiffness seen at the interfaces is

.. math:: S(\omega) = \Psi^T (K - \omega^2 M)\Psi - \sum_k \frac{\omega^4\, p_k p_k^T}{\omega_k^2 - \omega^2},\qquad
          p_k = \Psi^T M \phi_k

Reduced to some modes, S is too stiff by the missing part E of the sum. Where these modes lie above `limit`,

.. math:: \omega^4 R \;\le\; E(\omega) \;\le\; \frac{\omega^4}{1 - \omega^2/\omega_{m+1}^2}\,R,\qquad
          R = \Psi^T M F M \Psi - \sum_{k\le m} \frac{p_k p_k^T}{\omega_k^2}

F: flexibility with held interfaces, so that R takes one static solution and none of the missing modes. Krylov vectors
F M Psi, (F M)^2 Psi, ... instead of modes match S about omega = 0 (Padé); their E is bounded by the residual r of the loads
M Psi, :math:`E \le \omega^4 r^T F r / (1 - \omega^2/\omega_1^2)`, below the first held frequency.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from flexapod.arrays import Array
from flexapod.flexible.checked_arrays import Floats
from flexapod.flexible.errors import FlexibleBodyError

METHODS = ("craig-bampton", "krylov")

DEPENDENT = 1e-10
"""Krylov vectors below this part of their size after orthogonalisation add nothing."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Reduced:
    """A reduced structure.

    Attributes:
        basis: (n, b + m) static deflections, then inner vectors: x = basis (C x, eta).
        M, K: (b + m, b + m).
        omega: (m,) frequencies of the inner vectors with held interfaces [rad/s]; above: the first that is missing; first: of
            the structure.
        rest: (b, b) R of the module's head for Craig-Bampton; None for Krylov.
        loads, inner, flexibility: what the residual of Krylov vectors needs.
    """

    basis: Floats
    M: Floats
    K: Floats
    omega: Floats
    above: float
    first: float
    rest: Floats | None
    loads: Floats
    inner: Floats
    flexibility: Floats
    mass: Floats
    stiffness: Floats

    @property
    def interfaces(self) -> int:
        """b."""
        return int(self.basis.shape[1] - self.inner.shape[1])

    def stiffness_at(self, omega: float) -> Floats:
        """Dynamic stiffness (b, b) at the interfaces of the reduced structure."""
        b, A = self.interfaces, self.K - omega**2 * self.M
        result: Floats = A[:b, :b] - A[:b, b:] @ np.linalg.solve(A[b:, b:], A[b:, :b]) if len(A) > b else A
        return result

    def missing(self, omega: float) -> Floats:
        """Upper bound E (b, b) of the error of the reduction in the dynamic stiffness; infinite where nothing is known."""
        end = self.above if self.rest is not None else self.first
        if omega >= end:
            return np.full((self.interfaces,) * 2, np.inf)
        if self.rest is not None:
            return omega**4 / (1.0 - (omega / end) ** 2) * self.rest
        A = self.inner.T @ (self.stiffness - omega**2 * self.mass) @ self.inner
        left = self.loads - (self.stiffness - omega**2 * self.mass) @ (self.inner @ np.linalg.solve(A, self.inner.T @ self.loads))
        bound: Floats = omega**4 / (1.0 - (omega / end) ** 2) * left.T @ self.flexibility @ left
        return bound


def reduce_to(K: Array, M: Array, C: Array, limit: float, method: str = "craig-bampton") -> Reduced:
    """The structure reduced to what it needs up to an angular frequency.

    Args:
        K, M: (n, n) symmetric, M not negative; K positive with held interfaces. C: (b, n), rows independent.
        limit: [rad/s]. Craig-Bampton keeps all modes with held interfaces up to it; Krylov as many vectors as it takes until the
            frequencies of the next ones lie above it.
        method: craig-bampton or krylov.

    Source: R. R. Craig, M. C. C. Bampton, AIAA Journal 6(7), 1968. Checked by: tests/flexible/test_frequency_limit.py.
    """
    if method not in METHODS:
        raise FlexibleBodyError(f"method must be one of {', '.join(METHODS)}, is {method!r}.")
    if not 0.0 < limit < np.inf:
        raise FlexibleBodyError(f"limit must be a positive frequency [rad/s], is {limit:g}.")
    K, M, C = (np.asarray(x.toarray() if hasattr(x, "toarray") else x, dtype=np.float64) for x in (K, M, C))
    b = len(C)
    Q = np.asarray(linalg.qr(C.T, mode="full")[0])[:, b:]
    inner = Q.T @ K @ Q
    try:
        factor = linalg.cho_factor(inner)
    except linalg.LinAlgError:
        raise FlexibleBodyError(
            "With held interfaces the structure can still move, or is unstable: it has no reduction."
        ) from None
    start = np.linalg.lstsq(C, np.eye(b), rcond=None)[0]
    Psi = start - Q @ linalg.cho_solve(factor, Q.T @ (K @ start))
    F = Q @ linalg.cho_solve(factor, Q.T)
    compliance, shapes = linalg.eigh(Q.T @ M @ Q, inner)
    with np.errstate(divide="ignore"):
        omega = 1.0 / np.sqrt(np.clip(compliance[::-1], 0.0, None))
    first = float(omega[0]) if len(omega) else np.inf
    kept = int((omega <= limit).sum())
    loads = M @ Psi
    if method == "craig-bampton":
        V = (Q @ shapes[:, ::-1][:, :kept]) * omega[:kept]
        V = V / np.sqrt(np.einsum("nk,nk->k", V, M @ V))
        p = V.T @ loads
        rest = loads.T @ F @ loads - (p / omega[:kept, None] ** 2).T @ p
        above = float(omega[kept]) if kept < len(omega) else np.inf
        found, rest = omega[:kept], (rest + rest.T) / 2.0
    else:
        V, found = _krylov(K, M, F, loads, limit)
        rest, above = None, first
    basis = np.hstack([Psi, V])
    return Reduced(
        basis=basis, M=basis.T @ M @ basis, K=basis.T @ K @ basis, omega=found, above=above, first=first, rest=rest, loads=loads,
        inner=V, flexibility=F, mass=M, stiffness=K,
    )  # fmt: skip


def _krylov(K: Floats, M: Floats, F: Floats, loads: Floats, limit: float) -> tuple[Floats, Floats]:
    """Vectors F M Psi, (F M)^2 Psi, ... orthonormal in K, until a block brings no frequency below the limit; and frequencies."""
    n = len(K)
    V, block, below = np.zeros((n, 0)), F @ loads, -1
    while True:
        for _ in range(2):
            block = block - V @ (V.T @ (K @ block))
        size = np.sqrt(np.clip(np.einsum("nk,nk->k", block, K @ block), 0.0, None))
        scale = np.sqrt(np.clip(np.einsum("nk,nk->k", F @ loads, loads), 0.0, None)).max(initial=0.0) if V.shape[1] == 0 else 1.0
        values, vectors = np.linalg.eigh(block.T @ K @ block) if block.shape[1] else (np.zeros(0), np.zeros((0, 0)))
        keep = values > (DEPENDENT * max(scale, size.max(initial=0.0))) ** 2
        if not keep.any() or V.shape[1] >= n:
            break
        block = block @ (vectors[:, keep] / np.sqrt(values[keep]))
        V = np.hstack([V, block])
        now = int((_frequencies(M, V) <= limit).sum())
        if now == below:
            break
        below, block = now, F @ (M @ block)
    return V, _frequencies(M, V)


def _frequencies(M: Floats, V: Floats) -> Floats:
    """Frequencies [rad/s] in the span of V, orthonormal in K."""
    with np.errstate(divide="ignore"):
        result: Floats = 1.0 / np.sqrt(np.clip(np.linalg.eigvalsh(V.T @ M @ V)[::-1], 0.0, None))
    return result
