"""Plan of the closing algorithm: which closing equations are solved for which coordinates, chosen once per structure.

Cut every leg at its platform joint. Of a leg's m rows, as many as its coordinates can meet are solved for its
`dependents` (a small block); the rows left over, with the dependents eliminated, constrain the platform. Among those, as
many as are independent are kept (over-constrained robots repeat some) and solved for `platform_dependents`. What is not
solved for is independent. Choices are made by pivoting at a generic configuration near home, so that blocks are well
conditioned there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flexapod.arrays import Array
from flexapod.robot.geometry import Pose
from flexapod.robot.leg_positions import closure, leg_rows
from flexapod.robot.mobility import RANK, generic_configuration, loop_jacobian
from flexapod.robot.model import Leg

WORKABLE = 1e-4
"""Smallest singular value of a dimensionless block at home with which an inherited plan is kept."""


@dataclass(frozen=True, kw_only=True)
class LegPlan:
    """Choices of one leg: indices of its rows and of its moving coordinates."""

    rows: tuple[int, ...]
    dependents: tuple[int, ...]
    leftover: tuple[int, ...]

    def free(self, count: int) -> tuple[int, ...]:
        """Coordinates that are not solved for."""
        return tuple(i for i in range(count) if i not in self.dependents)


@dataclass(frozen=True, kw_only=True)
class ClosingPlan:
    """Choices of a robot.

    Args:
        legs: per leg.
        constraints: which of all leftover rows (legs in order) are kept, independent of each other.
        platform_dependents: components of the platform twist (0-2 linear, 3-5 angular) that they are solved for.
    """

    legs: tuple[LegPlan, ...]
    constraints: tuple[int, ...]
    platform_dependents: tuple[int, ...]

    @property
    def platform_independent(self) -> tuple[int, ...]:
        """Components of the platform twist that may be chosen."""
        return tuple(i for i in range(6) if i not in self.platform_dependents)


def closing_plan(legs: tuple[Leg, ...], home: Pose, length: float) -> ClosingPlan:
    """The plan of a robot.

    Args:
        length: makes metres and radians comparable.
    """
    if all(leg.architecture != "general" for leg in legs):
        whole = LegPlan(rows=(0, 1, 2), dependents=(0, 1, 2), leftover=())
        return ClosingPlan(legs=(whole,) * len(legs), constraints=(), platform_dependents=())
    coordinates, platform = generic_configuration(legs, home, length, seed=7)
    plans, constraints = [], []
    for leg, q in zip(legs, coordinates, strict=True):
        B, P = scaled_block(leg, q, platform, length)
        rigid = [k for k, i in enumerate(leg.moving) if not leg.links[i].elastic]
        dependents = [rigid[k] for k in pivots(B[:, rigid])]
        rows = pivots(B[:, dependents].T)
        left = [i for i in range(len(B)) if i not in rows]
        plans.append(LegPlan(rows=tuple(rows), dependents=tuple(dependents), leftover=tuple(left)))
        block = np.linalg.solve(B[np.ix_(rows, dependents)], P[rows]) if rows else np.zeros((0, 6))
        constraints.append(P[left] - B[np.ix_(left, dependents)] @ block)
    G = np.vstack(constraints) if constraints else np.zeros((0, 6))
    kept = pivots(G.T)
    return ClosingPlan(legs=tuple(plans), constraints=tuple(kept), platform_dependents=tuple(pivots(G[kept])))


def platform_plan(legs: tuple[Leg, ...], home: Pose, length: float) -> ClosingPlan:
    """The plan where loops close inside legs or between them: no leg is solved by itself; which twists the platform may have."""
    q, platform = generic_configuration(legs, home, length, seed=7)
    _, J = loop_jacobian(legs, q, platform)
    J = J * np.array([length if leg.links[i].kind == "P" else 1.0 for leg in legs for i in leg.moving] + [length] * 3 + [1.0] * 3)
    _, s, vt = np.linalg.svd(J)
    twists = vt[int(np.sum(s > RANK * s[0])) :, -6:]
    free = pivots(twists)
    bound = tuple(k for k in range(6) if k not in free)
    none = LegPlan(rows=(), dependents=(), leftover=())
    return ClosingPlan(legs=(none,) * len(legs), constraints=tuple(range(len(bound))), platform_dependents=bound)


def scaled_block(leg: Leg, q: Array, platform: Pose, length: float) -> tuple[Array, Array]:
    """Closing rows of a leg with respect to its coordinates and to the platform twist, made dimensionless."""
    _, J, P = closure(leg, q, platform)
    rows = np.array([1.0 if row[0] == "axes" else 1.0 / length for row in leg_rows(leg)])[:, None]
    columns = np.array([length if leg.links[i].kind == "P" else 1.0 for i in leg.moving])
    return rows * J * columns, rows * P * np.array([length] * 3 + [1.0] * 3)


def working_mode(leg: Leg, plan: LegPlan, home: Pose, length: float) -> int:
    """Sign of the determinant of a leg's block at home: it distinguishes the leg's branches. 0 where home is singular."""
    if not plan.rows:
        return 0
    B, _ = scaled_block(leg, leg.home, home, length)
    block = B[np.ix_(plan.rows, plan.dependents)]
    size = float(np.prod(np.linalg.norm(block, axis=0)))
    determinant = float(np.linalg.det(block))
    return 0 if abs(determinant) <= RANK * size else int(np.sign(determinant))


def fits(plan: ClosingPlan, legs: tuple[Leg, ...], home: Pose, length: float) -> bool:
    """A plan made for another parameter set is valid for this one too: same rows and coordinates, blocks well conditioned."""
    if len(plan.legs) != len(legs):
        return False
    for leg, chosen in zip(legs, plan.legs, strict=True):
        rows = len(leg_rows(leg))
        if len(chosen.rows) + len(chosen.leftover) != rows or max(chosen.dependents, default=-1) >= len(leg.moving):
            return False
        B, _ = scaled_block(leg, leg.home, home, length)
        block = B[np.ix_(chosen.rows, chosen.dependents)]
        if len(block) and np.linalg.svd(block, compute_uv=False)[-1] < WORKABLE:
            return False
    return True


def pivots(matrix: Array, groups: Sequence[Sequence[int]] | None = None) -> list[int]:
    """Columns that span the matrix, by column-pivoted Gram-Schmidt, in rising order; as many as its rank.

    Args:
        groups: columns to choose from: as many as possible of the first group, then of the next; all of them if left out.
    """
    work, chosen = np.array(matrix, dtype=np.float64), list[int]()
    if work.size == 0:
        return chosen
    largest = float(np.max(np.linalg.norm(work, axis=0)))
    for group in [range(work.shape[1])] if groups is None else groups:
        while group and largest > 0.0 and len(chosen) < min(work.shape):
            norms = np.linalg.norm(work[:, list(group)], axis=0)
            # the first of equally good columns, so that the choice does not depend on rounding
            best = int(np.flatnonzero(norms >= (1.0 - 1e-6) * norms.max())[0])
            if norms[best] <= RANK * largest:
                break
            column = group[best]
            chosen.append(column)
            direction = work[:, column] / norms[best]
            work = work - np.outer(direction, direction @ work)
            work[:, column] = 0.0
    return sorted(chosen)
