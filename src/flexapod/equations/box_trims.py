r"""Undecided boxes trimmed along one axis: a box proven inside, boxes proven outside at its ends, and what is left undecided.

With t in the cube [-1, 1]^3 of a box, a limit lies between l + w.t and h + w.t (`flexapod.equations.shells.affine_limits`). Along
axis j it is certainly kept where :math:`w_j t_j \ge \sum_{k\ne j}|w_k| - l`, and certainly broken where
:math:`w_j t_j < -\sum_{k\ne j}|w_k| - h`. All limits together leave

.. math:: [o_1, o_2] \supseteq [i_1, i_2]:\quad t_j \notin [o_1, o_2]\ \text{outside},\quad t_j \in [i_1, i_2]\ \text{inside}

and the axis is taken that leaves least between them. Every part is again a box with sides along the axes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.shells import affine_limits
from flexapod.kernels.tape.program import Program

if TYPE_CHECKING:
    from flexapod.kernels.tape.control_flow import Builder

ROUNDING = 1e-9
"""Distance by which ends of parts are moved to the safe side: rounding of a few operations on numbers up to 1."""

LEAST = 1e-300
"""Number in place of a slope of zero: the limit then decides about all or nothing along that axis."""

FARTHEST = 2.0
"""Ends beyond the box are moved here."""


def shell_trims(strokes: int, cones: int, cubic: bool) -> Program:
    """Parts of undecided boxes: `axis`, `ends` (4,) = o_1, i_1, i_2, o_2 on it, and fractions `certain`, `possible`.

    Where nothing is inside, i_1 = i_2. Inputs `at`, `radius` (3,): middle and half widths; parameters as those of
    `flexapod.equations.shells.shells`.

    Checked by: tests/analysis/test_pave.py.
    """
    b = Program("shell_trims")
    columns = affine_limits(b, strokes, cones, cubic, own_size=True)

    def trim(_: Builder, __: SX, ends: SX, limit: SX) -> tuple[list[SX], list[SX]]:
        return [ca.vertcat(*[_narrowed(ends[4 * j : 4 * j + 4], limit, j) for j in range(3)])], []

    whole = ca.SX([-1, -1, 1, 1])
    (ends,), _ = b.scan(trim, columns.size2(), carry=[ca.vertcat(whole, whole, whole)], each=[columns])
    best, axis, certain, possible = whole, ca.SX(0), ca.SX(0), ca.SX(1)
    for j in range(3):
        o1, i1, i2, o2 = (ends[4 * j + k] for k in range(4))
        o1, o2 = ca.fmax(o1 - ROUNDING, -1), ca.fmin(o2 + ROUNDING, 1)
        i1, i2 = ca.fmax(i1, -1) + ROUNDING, ca.fmin(i2, 1) - ROUNDING
        none = ca.logic_not(i1 < i2)
        i1, i2 = ca.if_else(none, o2, i1), ca.if_else(none, o2, i2)
        inside, maybe = (i2 - i1) / 2, ca.fmax(o2 - o1, 0) / 2
        better = maybe - inside < possible - certain
        best = ca.if_else(better, ca.vertcat(o1, i1, i2, o2), best)
        axis, certain = ca.if_else(better, j, axis), ca.if_else(better, inside, certain)
        possible = ca.if_else(better, maybe, possible)
    b.output("axis", axis)
    b.output("ends", best)
    b.output("certain", certain)
    b.output("possible", possible)
    return b


def _narrowed(ends: SX, limit: SX, j: int) -> SX:
    """The ends along axis j under one limit more."""
    w = limit[2 + j]
    others = sum((ca.fabs(limit[2 + k]) for k in range(3) if k != j), ca.SX(0))
    size, up = ca.fmax(ca.fabs(w), LEAST), w >= 0
    sure = ca.fmin(ca.fmax((others - limit[0]) / size, -FARTHEST), FARTHEST)
    maybe = ca.fmin(ca.fmax((-others - limit[1]) / size, -FARTHEST), FARTHEST)
    return ca.vertcat(
        ca.if_else(up, ca.fmax(ends[0], maybe), ends[0]),
        ca.if_else(up, ca.fmax(ends[1], sure), ends[1]),
        ca.if_else(up, ends[2], ca.fmin(ends[2], -sure)),
        ca.if_else(up, ends[3], ca.fmin(ends[3], -maybe)),
    )
