r"""Sparse square systems solved front by front, for any values: only the pattern decides what is done in which order.

A front is a set of rows S with the columns P that appear in no other rows, C = A_SP (m, k). The rows' combinations orthogonal
to C go on without P,

.. math:: n^T C = 0,\qquad n^T A_{S\cdot}\,x = n^T b_S

and P follows from the front's own rows once all other unknowns are known, by least squares that leave nothing over. C has full
rank wherever A is regular, so that no row is preferred and no pivot can fail: as safe as a dense orthogonal solution. Small
fronts have their n from a cross product; of others one column at a time is reflected into one row (Householder). In a robot a
front is a rod between two joints, a leg or an inner loop; what is left at the end couples the platform.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import casadi as ca

from flexapod.arrays import SX
from flexapod.spatial.linear import solve
from flexapod.spatial.vector import minus, negative, plus, times

Line = dict[int, SX]
"""Entries of a row by column; those of the right side lie behind the columns of the matrix."""


@dataclass(frozen=True, kw_only=True)
class Front:
    """Rows as they were when their own columns were taken out of the others."""

    rows: list[Line]
    own: list[int]


def solve_fronts(A: SX, B: SX) -> SX:
    """A^-1 B, (n, n) and (n, k), sparse; dense where something is to compute.

    Singular where A is. Checked by: tests/equations/test_front_solve.py.
    """
    n, count = A.shape[0], B.shape[1]
    lines = [dict[int, SX]() for _ in range(n)]
    for matrix, offset in ((ca.sparsify(A), 0), (ca.sparsify(B), n)):
        for i, j in zip(*matrix.sparsity().get_triplet(), strict=True):
            lines[i][offset + j] = matrix[i, j]
    fronts = []
    while lines:
        rows, own = _next(lines, n)
        front, freed = _eliminated([lines[i] for i in rows], own)
        fronts.append(front)
        lines = [line for i, line in enumerate(lines) if i not in rows] + freed
    X = [dict[int, SX]() for _ in range(n)]
    for front in reversed(fronts):
        _substitute(front, X, n)
    result = ca.SX(n, count)
    for i, found in enumerate(X):
        for j, value in found.items():
            result[i, j] = value
    return result


def _next(lines: list[Line], n: int) -> tuple[list[int], list[int]]:
    """Rows and own columns of the front that costs least; the first column is the one to reflect where it is large."""
    support: dict[int, set[int]] = {}
    for i, line in enumerate(lines):
        for j in line:
            if j < n:
                support.setdefault(j, set()).add(i)
    own = {j: [other for other, found in support.items() if found <= rows] for j, rows in support.items()}

    def cost(j: int) -> tuple[float, int, int]:
        """Operations on the rows, entries that were zero, which later fronts pay for, counted in."""
        rows, m, k = [lines[i] for i in support[j]], len(support[j]), len(own[j])
        width = len(set().union(*rows))
        if _is_small(m, k):
            return 2.0 * (m - k) * m * (width - k) / k, m * width, j
        filled = m * width - sum(len(line) for line in rows)
        return 4.0 * (m * (width - 1) + filled), m * width, j

    first = min(support, key=cost)
    return sorted(support[first]), [first, *sorted(set(own[first]) - {first})]


def _is_small(m: int, k: int) -> bool:
    """Fronts of m rows and k columns that are taken as a whole."""
    return m == k <= 3 or (m, k) in ((2, 1), (3, 2))


def _eliminated(rows: list[Line], own: list[int]) -> tuple[Front, list[Line]]:
    """The front, and combinations of its rows without its own columns, as many as there are more rows."""
    m, k = len(rows), len(own)
    if not _is_small(m, k):
        first, *others = _reflected(rows, own[0])
        return Front(rows=[first], own=own[:1]), others
    front, C = Front(rows=rows, own=own), [ca.vertcat(*[line.get(j, ca.SX(0)) for line in rows]) for j in own]
    if m == k:
        return front, []
    normal = ca.vertcat(-C[0][1], C[0][0]) if m == 2 else ca.cross(C[0], C[1])
    return front, [_combined(rows, normal, own)]


def _combined(rows: list[Line], factors: SX, own: list[int]) -> Line:
    found: Line = {}
    for i, line in enumerate(rows):
        for j, value in line.items():
            if j not in own:
                product = times(factors[i], value)
                found[j] = plus(found[j], product) if j in found else product
    return found


def _reflected(rows: list[Line], own: int) -> list[Line]:
    r"""Rows after Householder's reflection of a column that all of them have; only the first one has it then.

    .. math:: v = x + \operatorname{copysign}(|x|, x_1)\,e_1,\qquad H = 1 - v v^T/(|x|\,v_1)
    """
    x = [line[own] for line in rows]
    length = ca.copysign(ca.sqrt(ca.dot(ca.vertcat(*x), ca.vertcat(*x))), x[0])
    v = [x[0] + length, *x[1:]]
    scale = 1 / (length * v[0])
    result: list[Line] = [{own: -length}, *({} for _ in rows[1:])]
    for j in sorted({j for line in rows for j in line} - {own}):
        products = [times(each, line[j]) for each, line in zip(v, rows, strict=True) if j in line]
        along = times(functools.reduce(plus, products), scale)
        for each, line, rotated in zip(v, rows, result, strict=True):
            rotated[j] = minus(line[j], times(each, along)) if j in line else times(negative(each), along)
    return result


def _substitute(front: Front, X: list[Line], n: int) -> None:
    """The front's own unknowns from its rows and the unknowns known already."""
    rows, own = front.rows, front.own
    right = []
    for line in rows:
        found: Line = {j - n: value for j, value in line.items() if j >= n}
        for j, value in line.items():
            if j < n and j not in own:
                for i, known in X[j].items():
                    found[i] = minus(found[i], times(value, known)) if i in found else times(negative(value), known)
        right.append(found)
    used = sorted({j for line in right for j in line})
    if not used:
        return
    C = ca.vertcat(*[ca.horzcat(*[line.get(j, ca.SX(0)) for j in own]) for line in rows])
    R = ca.vertcat(*[ca.horzcat(*[line.get(j, ca.SX(0)) for j in used]) for line in right])
    found_own = _least_squares(C, R)
    for i, column in enumerate(own):
        X[column] = {j: found_own[i, k] for k, j in enumerate(used)}


def _least_squares(C: SX, R: SX) -> SX:
    """Solution of a front with as many rows as columns, or one more."""
    if C.shape == (2, 1):
        return ca.mtimes(C.T, R) / ca.dot(C, C)
    if C.shape == (3, 2):
        a, b = C[:, 0], C[:, 1]
        normal = ca.cross(a, b)
        dual = ca.horzcat(ca.cross(b, normal), ca.cross(normal, a))
        return ca.mtimes(dual.T, R) / ca.dot(normal, normal)
    return solve(C, R)
