r"""Six leg forces from a wrench without any plane of joints: orthogonalisation by Gram and Schmidt.

Every scaled leg vector D has the vertical component 1, so that the vertical force gives
:math:`\kappa_1 = F_z - \sum_{j>1}\kappa_j`; the other five columns, less the first, are made orthogonal one after the other
(modified Gram-Schmidt with the right-hand side as last column, which is as stable as Householder's method).
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from flexapod.equations.minimal.vectors import Scalar, total
from flexapod.kernels.tape.program import Program
from flexapod.spatial.gram_schmidt import GramSchmidt

SINGULAR = 1e-11
"""Length of a column across the ones before it that counts as zero (slopes and arms are of the order of 1)."""


def gram_schmidt(b: Program, columns: Sequence[Sequence[Scalar]], vertical: Scalar, rows: Sequence[Scalar]) -> list[Scalar]:
    """The six kappa.

    Args:
        b: takes the check for singular poses.
        columns: per leg, five entries beside the vertical one, which is 1.
        vertical: sum of all kappa.
        rows: right-hand side of the five entries.

    Checked by: tests/equations/test_minimal.py.
    """
    first = columns[0]
    left = [[x - x1 for x, x1 in zip(column, first, strict=True)] for column in columns[1:]]
    left.append([r - vertical * x1 for r, x1 in zip(rows, first, strict=True)])
    *across, right = (ca.vertcat(*column) for column in left)
    factor = GramSchmidt(across)
    regular = ca.SX(1)
    for size in factor.squares:
        regular = ca.logic_and(regular, size > SINGULAR * SINGULAR)
    b.fail_if(ca.logic_not(regular), "singular pose: the legs cannot hold the platform")
    kappa = ca.vertsplit(factor.solve(right))
    return [vertical - total(kappa), *kappa]
