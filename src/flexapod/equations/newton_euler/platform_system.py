r"""The platform's six equations for the unknown forces of the legs (Kim Eqs. 25-26).

.. math:: \sum_i \begin{bmatrix} n_i\\ r_i\times n_i\end{bmatrix} x_i = W_P-\sum_i \bar W_i

W_P is what the platform needs beyond the external wrench, bars are the legs' wrenches with all unknowns zero, about the
platform frame origin. Lengths are measured by the characteristic length, so that the rows compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import casadi as ca

from flexapod.arrays import SX
from flexapod.equations.newton_euler.leg import LegModel
from flexapod.equations.newton_euler.wrench import Wrench
from flexapod.kernels.tape.roles import Iterates
from flexapod.spatial import Vec
from flexapod.spatial.gram_schmidt import GramSchmidt, unit_column

SINGULAR = 1e-9
"""Sine between the wrench of a leg and those of the others below which the pose is singular."""


class PlatformSystem(Protocol):
    """Solves the platform's equations."""

    def solve(self, missing: Wrench) -> list[list[SX]]:
        """Unknowns per leg that give the platform the missing wrench (about its frame origin)."""

    @property
    def inverse(self) -> SX:
        """(unknowns of all legs, 6): them per force and moment of the missing wrench."""


def at_platform(column: SX, arm: Vec, length: SX) -> SX:
    """A wrench (6,) about a point at `arm` from the platform origin, moved to the origin; moments over the length."""
    force = column[:3]
    return ca.vertcat(force, (column[3:] + ca.cross(arm.expr, force)) / length)


def scaled(wrench: Wrench, length: SX) -> SX:
    """(6,) force, then moment over the length."""
    return ca.vertcat(wrench.force.expr, wrench.moment.expr / length)


class AxialSystem:
    """Six closed-form legs: six axial forces, T_1 of Kim Eq. (26), solved by Gram-Schmidt.

    Checked by: tests/equations/test_newton_euler.py.
    """

    def __init__(self, b: Iterates, legs: Sequence[LegModel], origin: Vec, length: SX) -> None:
        self._length = length
        columns = [at_platform(c, leg.closing.centre - origin, length) for leg in legs for c in leg.columns()]
        self._factor = GramSchmidt(columns)
        b.fail_if(
            ca.logic_not(self._factor.smallest_pivot >= SINGULAR * SINGULAR),
            "singular pose: the legs cannot hold the platform in every direction",
        )

    def solve(self, missing: Wrench) -> list[list[SX]]:
        """Axial forces, one per leg."""
        return [[x] for x in ca.vertsplit(self._factor.solve(scaled(missing, self._length)))]

    @property
    def inverse(self) -> SX:
        """(6, 6) axial forces per force and moment."""
        found = self._factor.inverse_of()
        return ca.horzcat(found[:, :3], found[:, 3:] / self._length)


class GeneralSystem:
    r"""Actuator forces and constraint wrenches of any robot.

    With N the kept constraint wrenches and K (6, k) the platform's degrees of freedom, N^T K = 0:

    .. math:: K^T A\,\tau = K^T W,\qquad N\lambda = W-A\tau

    Square: exact; more actuators than DOF: the smallest forces. Constraint wrenches that are not kept are zero; what
    they would share is undetermined and masked elsewhere.

    Checked by: tests/equations/test_newton_euler.py.
    """

    def __init__(
        self, b: Iterates, legs: Sequence[LegModel], origin: Vec, length: SX, kept: Sequence[int], dof: Sequence[int]
    ) -> None:
        self._length, self._kept = length, list(kept)
        self._actuators = [sum(link.actuated for link in leg.leg.links) for leg in legs]
        self._constraints, self._A, held = [], [], []
        for leg, driven in zip(legs, self._actuators, strict=True):
            columns = [at_platform(c, leg.closing.centre - origin, length) for c in leg.columns()]
            self._A += columns[:driven]
            held += columns[driven:]
            self._constraints.append(len(columns) - driven)
        self._N = GramSchmidt([held[i] for i in self._kept])
        self._K = self._N.complement([unit_column(k) for k in dof])
        rows = [ca.vertcat(*[ca.dot(k, a) for a in self._A]) for k in self._K]
        self._redundant = len(self._A) > len(self._K)
        table = ca.horzcat(*rows).T
        self._factor = GramSchmidt(rows if self._redundant else [table[:, j] for j in range(len(self._A))])
        pivot = ca.fmin(self._factor.smallest_pivot, self._N.smallest_pivot)
        b.fail_if(
            ca.logic_not(pivot >= SINGULAR * SINGULAR), "singular pose: the legs cannot hold the platform in every direction"
        )

    def solve(self, missing: Wrench) -> list[list[SX]]:
        """Per leg its actuator forces, then its constraint wrenches."""
        W = scaled(missing, self._length)
        right = [ca.dot(k, W) for k in self._K]
        dual = self._factor.dual(right) if self._redundant else None
        forces = ca.vertsplit(self._factor.solve(ca.vertcat(*right)) if dual is None else dual)
        rest = W
        for a, tau in zip(self._A, forces, strict=True):
            rest = rest - a * tau
        held: list[SX] = [ca.SX(0)] * sum(self._constraints)
        for index, size in zip(self._kept, ca.vertsplit(self._N.solve(rest)), strict=True):
            held[index] = size
        result, i, j = [], 0, 0
        for driven, count in zip(self._actuators, self._constraints, strict=True):
            result.append([*forces[i : i + driven], *held[j : j + count]])
            i, j = i + driven, j + count
        return result

    @property
    def inverse(self) -> SX:
        """Actuator forces and constraint wrenches per force and moment."""
        columns = []
        for k in range(6):
            unit = unit_column(k)
            found = self.solve(Wrench(force=Vec(unit[:3], "W"), moment=Vec(unit[3:], "W")))
            columns.append(ca.vertcat(*[x for leg in found for x in leg]))
        return ca.horzcat(*columns)
