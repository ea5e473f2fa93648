r"""Factorisations of LAPACK whose matrix, right side and pivots stay in memory that is made once.

.. math:: M = L L^T, \qquad A = P L U, \qquad M x = b

SciPy's functions return new pivots with every call; a step function must not. The same routines are called here by their
addresses, which SciPy gives to compiled code.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from flexapod.arrays import Array, Complex


def routine(name: str) -> Callable[..., None]:
    """A LAPACK routine of SciPy by its address; all arguments are pointers."""
    from scipy.linalg import cython_lapack

    addresses: dict[str, Any] = dict(cython_lapack.__pyx_capi__)
    capsule = addresses[name]
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(None)(pointer_of(capsule, name_of(capsule)))


class Factor:
    """A square matrix, factored where it lies, and a right side that becomes the solution.

    Args:
        matrix: (n, n) in column order; symmetric positive definite if real (Cholesky), any if complex (LU).
        right: (n,) of the same type.

    Write `matrix`, call `factor`; write `right`, call `solve`. Both return LAPACK's status, 0 where all is well.

    Checked by: tests/simulation/test_factor_in_place.py.
    """

    def __init__(self, matrix: Array | Complex, right: Array | Complex) -> None:
        n = len(right)
        if not matrix.flags.f_contiguous or matrix.shape != (n, n) or matrix.dtype != right.dtype:
            raise ValueError(f"expected a matrix ({n}, {n}) in column order, of the type of its right side")
        self.matrix, self.right, self._pivots = matrix, right, np.zeros(n, dtype=np.intc)
        self._info, size, one = ctypes.c_int(0), ctypes.byref(ctypes.c_int(n)), ctypes.byref(ctypes.c_int(1))
        at, to, pivots = (ctypes.c_void_p(a.ctypes.data) for a in (matrix, right, self._pivots))
        info = ctypes.byref(self._info)
        self._arguments: tuple[tuple[Any, ...], tuple[Any, ...]]
        if np.iscomplexobj(matrix):
            plain = ctypes.c_char_p(b"N")
            self._factor, self._solve = routine("zgetrf"), routine("zgetrs")
            self._arguments = (size, size, at, size, pivots, info), (plain, size, one, at, size, pivots, to, size, info)
        else:
            lower = ctypes.c_char_p(b"L")
            self._factor, self._solve = routine("dpotrf"), routine("dpotrs")
            self._arguments = (lower, size, at, size, info), (lower, size, one, at, size, to, size, info)

    def factor(self) -> int:
        """Factor the matrix."""
        self._factor(*self._arguments[0])
        return self._info.value

    def solve(self) -> int:
        """Solve for the right side."""
        self._solve(*self._arguments[1])
        return self._info.value
