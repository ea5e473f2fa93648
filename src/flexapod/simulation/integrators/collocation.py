r"""Collocation methods for stiff vibrations: Gauss (no numerical damping) and Radau IIA (damps what a step cannot resolve).

With s stages at nodes c, a step of length h from y_0 is

.. math:: Y_i = y_0 + h\sum_j a_{ij}\,f(Y_j),\qquad y_1 = y_0 + h\sum_j b_j\,f(Y_j)

Both are A-stable. Gauss has order 2s, is symmetric and keeps quadratic invariants: the energy of a linear vibration to
rounding, that of a nonlinear one without drift, at any step. Its error is one of phase: with y = h omega, a step turns the
phase by y (1 - y^{2s}/c_s), c_1 = 12, c_2 = 720, c_3 = 100 800. Radau has order 2s - 1 and damps y >> 1 completely.

Source: Hairer, Wanner, Solving Ordinary Differential Equations II, sections IV.5, IV.8.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import legendre, polynomial
from numpy.typing import NDArray

from flexapod.arrays import Array


@dataclass(frozen=True, kw_only=True, eq=False)
class Collocation:
    """A method: coefficients A (s, s), weights b (s,), nodes c (s,), and the eigenvalues of A that its linear algebra needs.

    Args:
        real: (eigenvalue, row (s,) into its coordinate, column (s,) back) of each real eigenvalue of A.
        pairs: the same, complex, of one eigenvalue of each conjugate pair.
    """

    name: str
    A: Array
    b: Array
    c: Array
    real: tuple[tuple[float, Array, Array], ...]
    pairs: tuple[tuple[complex, NDArray[np.complex128], NDArray[np.complex128]], ...]

    @property
    def stages(self) -> int:
        """Number of stages."""
        return len(self.c)


@cache
def gauss(stages: int) -> Collocation:
    """Gauss collocation of order 2 stages.

    Checked by: tests/simulation/test_collocation.py.
    """
    roots, _ = legendre.leggauss(stages)
    return _collocation(f"gauss-{2 * stages}", (1.0 + roots) / 2.0)


@cache
def radau(stages: int) -> Collocation:
    """Radau IIA collocation of order 2 stages - 1; its last node is the end of the step.

    Checked by: tests/simulation/test_collocation.py.
    """
    # nodes: roots of P_s(2 c - 1) - P_{s-1}(2 c - 1)
    series = np.zeros(stages + 1)
    series[-2:] = -1.0, 1.0
    roots = np.sort(legendre.legroots(series).real)
    roots[-1] = 1.0
    return _collocation(f"radau-{2 * stages - 1}", (1.0 + roots) / 2.0)


def _collocation(name: str, c: Array) -> Collocation:
    """The method of given nodes: integrals of the Lagrange polynomials."""
    s = len(c)
    A, b = np.empty((s, s)), np.empty(s)
    for j in range(s):
        others = np.delete(c, j)
        basis = polynomial.polyfromroots(others) / np.prod(c[j] - others)
        integral = polynomial.polyint(basis)
        A[:, j], b[j] = polynomial.polyval(c, integral), polynomial.polyval(1.0, integral)
    values, columns = np.linalg.eig(A)
    rows = np.linalg.inv(columns)
    real = [k for k in range(s) if abs(values[k].imag) < 1e-12]
    pairs = [k for k in range(s) if values[k].imag >= 1e-12]
    return Collocation(
        name=name, A=A, b=b, c=c,
        real=tuple((float(values[k].real), rows[k].real.copy(), columns[:, k].real.copy()) for k in real),
        pairs=tuple((complex(values[k]), rows[k].copy(), columns[:, k].copy()) for k in pairs),
    )  # fmt: skip


METHODS = {"implicit": gauss(3), "radau": radau(3)}
"""Methods of `simulate` by name."""
