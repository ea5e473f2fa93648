r"""Small vibrations from matrices: M x'' + D x' + K x = 0 under C x = 0, for batches.

.. math:: x = Z y,\ C Z = 0,\qquad (\omega^2\, Z^TMZ - Z^TKZ)\,y = 0,\qquad
          (\lambda^2\, Z^TMZ + \lambda\, Z^TDZ + Z^TKZ)\,y = 0

The first gives frequencies and shapes, the second the eigenvalues of the damped motion. One place for all flexible robots.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexapod.arrays import Array

NEUTRAL = 1e-11
"""omega^2, of the largest one, below which a mode counts as neutral (a free motion): rounding of the eigenvalues is 1e-14."""


ROUNDING = 1e-12
"""Lowest eigenvalue of a stiffness with unit diagonal down to which an equilibrium counts as stable."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Vibration:
    """Modes of n samples.

    Args:
        omega_squared: (n, k) [1/s^2], ascending; negative where the equilibrium is unstable, exactly 0 where neutral.
        shapes: (n, m, k) columns, mass-normalised, the largest entry positive.
        damping: (n, k) share of critical damping, of the mode by itself: y^T D y / (2 |omega|).
        eigenvalues: (n, 2k) of the damped motion [1/s], by ascending modulus.
        asymmetry: (n,) antisymmetric part of K, of its largest entry; only the symmetric part is used.
    """

    omega_squared: Array
    shapes: Array
    damping: Array
    eigenvalues: NDArray[np.complex128]
    asymmetry: Array

    @property
    def frequency(self) -> Array:
        """[Hz]; of an unstable mode minus its growth rate over 2 pi."""
        result: Array = np.sign(self.omega_squared) * np.sqrt(np.abs(self.omega_squared)) / (2.0 * np.pi)
        return result


def vibration(M: Array, K: Array, D: Array, constraint: Array | None = None) -> Vibration:
    """Modes of the equation.

    Args:
        M, K, D: (n, m, m); M positive definite.
        constraint: (n, r, m) rows C of full rank that vanish, or None.

    Source: Briot 2014, section 5 (natural frequencies). Checked by: tests/analysis/test_vibration.py.
    """
    n, m = M.shape[:2]
    Z = np.broadcast_to(np.eye(m), (n, m, m)) if constraint is None else null_space(constraint, inertial_sizes(M))
    Zt = np.swapaxes(Z, 1, 2)
    M_y, K_y, D_y = Zt @ M @ Z, Zt @ K @ Z, Zt @ D @ Z
    scale = np.abs(K_y).max(axis=(1, 2), initial=0.0)
    skewed = np.abs(K_y - np.swapaxes(K_y, 1, 2)).max(axis=(1, 2), initial=0.0) / np.where(scale > 0, scale, 1.0)
    L_inv = np.linalg.inv(np.linalg.cholesky(M_y))
    Lt = np.swapaxes(L_inv, 1, 2)
    K_s, D_s = L_inv @ K_y @ Lt, L_inv @ D_y @ Lt
    K_s = symmetric(K_s)
    omega2, vectors = np.linalg.eigh(K_s)
    neutral = np.abs(omega2) <= NEUTRAL * np.abs(omega2).max(axis=1, keepdims=True)
    omega2 = np.where(neutral, 0.0, omega2)
    shapes = Z @ (Lt @ vectors)
    largest = np.take_along_axis(shapes, np.abs(shapes).argmax(axis=1)[:, None, :], axis=1)
    shapes = shapes * np.where(largest < 0, -1.0, 1.0)
    modal = np.einsum("nik,nij,njk->nk", vectors, D_s, vectors)
    damping = np.where(omega2 != 0.0, modal / (2.0 * np.sqrt(np.where(omega2 != 0.0, np.abs(omega2), 1.0))), 0.0)
    return Vibration(omega_squared=omega2, shapes=shapes, damping=damping, eigenvalues=_damped(K_s, D_s), asymmetry=skewed)


def symmetric(K: Array) -> Array:
    """Symmetric part (n, k, k) of a stiffness: that of a semi-tangential moment, where one acts; else the stiffness itself.

    Checked by: tests/analysis/test_cartesian_stiffness.py.
    """
    return (K + np.swapaxes(K, 1, 2)) / 2.0


def is_definite(K: Array) -> NDArray[np.bool_]:
    """Whether each stiffness matrix (n, k, k) has no negative eigenvalue beyond rounding; False where its entries are not finite.

    Checked by: tests/analysis/test_unstable_equilibria.py.
    """
    size = np.sqrt(np.abs(np.einsum("nii->ni", K)))
    size = np.where(size > 0.0, size, 1.0)
    even = K / size[:, :, None] / size[:, None, :]
    good = np.isfinite(even).all(axis=(1, 2))
    result = np.zeros(len(K), dtype=bool)
    result[good] = np.linalg.eigvalsh(symmetric(even[good])).min(axis=1, initial=1.0) > -ROUNDING
    return result


def null_space(C: Array, sizes: Array) -> Array:
    """Basis (n, m, m - r) of C x = 0, orthonormal in x / sizes.

    Args:
        sizes: (n, m) of the coordinates, as `inertial_sizes`: in metres, radians and root kg times metres as they are,
            rounding of the large entries of C would be stiffness along the soft directions of a small robot.

    Checked by: tests/analysis/test_vibration.py.
    """
    even = C * sizes[:, None, :]
    rows = np.abs(even).max(axis=2, initial=0.0, keepdims=True)
    _, _, Vh = np.linalg.svd(even / np.where(rows > 0.0, rows, 1.0), full_matrices=True)
    return np.asarray(sizes[:, :, None] * np.swapaxes(Vh[:, C.shape[1] :], 1, 2))


def inertial_sizes(M: Array) -> Array:
    """Sizes (n, m) of coordinates that have the same kinetic energy at the same rate: 1 / sqrt(M_kk), or 1 without mass."""
    mass = np.einsum("nii->ni", M)
    return np.asarray(1.0 / np.sqrt(np.where(mass > 0.0, mass, 1.0)))


def _damped(K: Array, D: Array) -> NDArray[np.complex128]:
    """Eigenvalues (n, 2k) of y'' + D y' + K y = 0."""
    n, k = K.shape[:2]
    A = np.zeros((n, 2 * k, 2 * k))
    A[:, :k, k:] = np.eye(k)
    A[:, k:, :k], A[:, k:, k:] = -K, -D
    return sorted_eigenvalues(A)


def sorted_eigenvalues(A: Array) -> NDArray[np.complex128]:
    """Eigenvalues (n, k) by ascending modulus, of a pair the one with negative imaginary part first."""
    values = np.linalg.eigvals(A).astype(complex)
    size = np.abs(values)
    near = np.round(size / np.maximum(size.max(axis=1, keepdims=True), 1e-300), 10)
    order = np.lexsort((values.imag, near), axis=1)
    return np.take_along_axis(values, order, axis=1)
