r"""Joint loads that depend on the friction they cause: Newton's method, one leg after the other eliminated.

Letters: y_i loads of leg i (normal forces of guides, reaction forces of bearings), f_i the joint forces that load it, z what
the legs have in common (forces along the legs; in forward dynamics of general legs also the platform's acceleration). Forces are
affine in both,

.. math:: A\,z + \sum_i B_i\,y_i = c,\qquad f_i = P_i + L_i\,y_i + K_i\,z,\qquad y_i = Y_i(f_i)

and all coefficients stay outside the loop. A step solves the linearised loads of a leg by themselves,
:math:`\delta y_i = (1 - Y_i' L_i)^{-1}(Y_i - y_i + Y_i' K_i\,\delta z)`, and puts them into the first equation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import casadi as ca

from flexapod.arrays import SX
from flexapod.kernels.tape.program import Program
from flexapod.kernels.tape.roles import Iterates

CLOSE = 1e-6
"""Change of a load over the largest load from which a step is the last one: it squares the error, which is then below 1e-12."""

LIMIT = 60
"""Steps after which friction counts as not converging: joints then lock themselves. Usual are three."""


@dataclass(frozen=True)
class LegLoading:
    """The affine maps of a leg.

    Args:
        B: (n, k); P: (m,); L: (m, k); K: (m, n).
        loads: of the forces (m,) on the leg's joints: Y (k,), weights w (k,) and slopes w Y' (k, m); weights save divisions.
    """

    B: SX
    P: SX
    L: SX
    K: SX
    loads: Callable[[SX], tuple[SX, SX, SX]]

    def forces(self, y: SX | None, z: SX) -> SX:
        """(m,) at loads (k,) and z (n,)."""
        own = ca.mtimes(self.K, z)
        return self.P + (own if y is None else ca.mtimes(self.L, y) + own)

    @property
    def count(self) -> int:
        """Number of loads."""
        return int(self.B.shape[1])


def coupled_loads(b: Iterates, A: SX | None, c: SX, legs: Sequence[LegLoading]) -> tuple[list[SX], SX, SX]:
    """Loads of every leg, z (n,), and whether they converged (1 or 0).

    Args:
        b: program or body of a loop.
        A: (n, n), regular without exchange of rows; None for the unit matrix; c: (n,).

    Start: loads without the friction they cause. Checked by: tests/equations/test_friction.py.
    """
    counts = [leg.count for leg in legs]

    def balanced(right: SX) -> SX:
        return right if A is None else eliminate(A, right)

    z = balanced(c)
    if not legs:
        return [], z, ca.SX(1)
    loads = [leg.loads(leg.forces(None, z))[0] for leg in legs]
    z = balanced(c - sum((ca.mtimes(leg.B, y) for leg, y in zip(legs, loads, strict=True)), ca.SX.zeros(c.shape)))
    given = [*(m for leg in legs for m in (leg.B, leg.P, leg.L, leg.K)), *([] if A is None else [A]), c]

    def step(_: Program, y: SX, z: SX, entries: SX) -> tuple[list[SX], SX]:
        *maps, right = _filled(given, entries)
        matrix = None if A is None else maps.pop()
        inside = []
        for k, leg in enumerate(legs):
            B, P, L, K = maps[4 * k : 4 * k + 4]
            inside.append(LegLoading(B, P, L, K, leg.loads))
        return _step(matrix, right, inside, split(y, counts), z)

    shared = [ca.vertcat(*[m.nz[:] for m in given])]
    (y, z), converged, _ = b.iterate(step, start=[ca.vertcat(*loads), z], shared=shared, limit=LIMIT, tolerance=CLOSE)
    return split(y, counts), z, converged


def _step(A: SX | None, c: SX, legs: Sequence[LegLoading], y: Sequence[SX], z: SX) -> tuple[list[SX], SX]:
    """Next loads and z, and the change of the loads over the largest."""
    n = z.numel()
    matrix, right = (ca.SX.eye(n), c - z) if A is None else (ca.SX(A), c - ca.mtimes(A, z))
    own, across, left, sizes = [], [], [], []
    for leg, y_i in zip(legs, y, strict=True):
        value, weight, slope = leg.loads(leg.forces(y_i, z))
        left.append(value - y_i)
        sizes.append(value)
        solved = eliminate(ca.diag(weight) - ca.mtimes(slope, leg.L), ca.horzcat(weight * left[-1], ca.mtimes(slope, leg.K)))
        own.append(solved[:, 0])
        per_z = solved[:, 1:]
        across.append(per_z)
        matrix = matrix + ca.mtimes(leg.B, per_z)
        right = right - ca.mtimes(leg.B, y_i + own[-1])
    dz = eliminate(matrix, right)
    following = [y_i + o + ca.mtimes(a, dz) for y_i, o, a in zip(y, own, across, strict=True)]
    change, size = (ca.mmax(ca.fabs(ca.vertcat(*parts))) for parts in (left, sizes))
    return [ca.vertcat(*following), z + dz], change / ca.fmax(size, 1e-300)


def eliminate(A: SX, b: SX) -> SX:
    """Solve A x = b by Gauss elimination without exchange of rows; b (n, k), zeros of A are used."""
    n = A.shape[0]
    if n == 0:
        return b
    rows = [[A[i, j] for j in range(n)] for i in range(n)]
    right = [b[i, :] for i in range(n)]
    inverse = []
    for j in range(n):
        inverse.append(1 / rows[j][j])
        for i in range(j + 1, n):
            if rows[i][j].is_zero():
                continue
            factor = rows[i][j] * inverse[j]
            for k in range(j + 1, n):
                rows[i][k] = rows[i][k] - factor * rows[j][k]
            right[i] = right[i] - factor * right[j]
    for j in reversed(range(n)):
        for k in range(j + 1, n):
            right[j] = right[j] - rows[j][k] * right[k]
        right[j] = right[j] * inverse[j]
    return ca.vertcat(*right)


def _filled(matrices: Sequence[SX], entries: SX) -> list[SX]:
    """Matrices of the same patterns with other entries; the body of a loop knows them by symbols."""
    result: list[SX] = []
    at = 0
    for matrix in matrices:
        size = matrix.nnz()
        result.append(ca.SX(matrix.sparsity(), entries[at : at + size]))
        at += size
    return result


def split(y: SX, counts: Sequence[int]) -> list[SX]:
    """The loads of every leg."""
    ends = [sum(counts[:k]) for k in range(len(counts) + 1)]
    return [y[start:end] for start, end in pairwise(ends)]
