r"""The platform's six equations for what the legs leave unknown (Kim Eqs. 25-26).

.. math:: \sum_i \begin{bmatrix} n_i\\ r_i\times n_i\end{bmatrix} x_i = W_P-\sum_i \bar W_i

W_P is what the platform needs beyond the external wrench, bars are the legs' wrenches with all unknowns zero, about the
platform frame origin. Lengths are measured by the characteristic length, so that the rows compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import casadi as ca

from flexapod.equations.newton_euler.gram_schmidt import GramSchmidt
from flexapod.equations.newton_euler.leg import LegModel
from flexapod.equations.newton_euler.wrench import Wrench
from flexapod.kernels.program import Program
from flexapod.spatial import Vec

SINGULAR = 1e-9
"""Sine between the wrench of a leg and those of the others below which the pose is singular."""


class PlatformSystem(Protocol):
    """Solves the platform's equations."""

    def solve(self, missing: Wrench) -> list[list[Any]]:
        """Unknowns per leg that give the platform the missing wrench (about its frame origin)."""


def at_platform(column: Any, arm: Vec, length: Any) -> Any:
    """A wrench (6,) about a point at `arm` from the platform origin, moved to the origin; moments over the length."""
    force = column[:3]
    return ca.vertcat(force, (column[3:] + ca.cross(arm.expr, force)) / length)


def scaled(wrench: Wrench, length: Any) -> Any:
    """(6,) force, then moment over the length."""
    return ca.vertcat(wrench.force.expr, wrench.moment.expr / length)


class AxialSystem:
    """Six closed-form legs: six axial forces, T_1 of Kim Eq. (26), solved by Gram-Schmidt.

    Checked by: tests/equations/test_newton_euler.py.
    """

    def __init__(self, b: Program, legs: Sequence[LegModel], origin: Vec, length: Any) -> None:
        self._length = length
        columns = [at_platform(c, leg.closing.centre - origin, length) for leg in legs for c in leg.columns()]
        self._factor = GramSchmidt(columns)
        b.fail_if(
            ca.logic_not(self._factor.smallest_pivot >= SINGULAR * SINGULAR),
            "singular pose: the legs cannot hold the platform in every direction",
        )

    def solve(self, missing: Wrench) -> list[list[Any]]:
        """One axial force per leg."""
        return [[x] for x in self._factor.solve(scaled(missing, self._length))]
